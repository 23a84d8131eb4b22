# SPDX-License-Identifier: Apache-2.0
"""The RPMs, installed by rpm with their scriptlets: on Debian, whose own packages rpm does not know. What Fedora's systemd brings for
scriptlets is replaced by as little as does the same."""
from booted_host import APT, BUILD, PACKAGES_BUILT
from scenarios import PACKAGE, RULES

CONFIGURATION = "/etc/keplerd/keplerd.conf"
UNITS = "keplerd.service keplerd.socket keplerd-exporter.socket keplerd-history.service"
RELEASES = ("0.first", "1")
ALL_INSTALLED = "$(rpm -qa 'keplerd*' cockpit-keplerd)"

# Its verbs, as systemd's scriptlets call them.
HELPER = """#!/bin/sh
echo "$@" >>/run/scriptlets
verb=$1; shift
case $verb in
  install-system-units) systemctl --no-reload preset "$@" ;;
  remove-system-units) systemctl --no-reload disable --now "$@" ;;
  mark-restart-system-units) for unit in "$@"; do systemctl set-property "$unit" Markers=+needs-restart || :; done ;;
  *) exit 1 ;;
esac
"""
# What systemd's own package does at the end of each transaction.
TRIGGER = "systemctl daemon-reload; systemctl reload-or-restart --marked"


def build(host):
    """Two releases, of what was built for the .deb."""
    for release in RELEASES:
        host.sh(f"""
            cd {BUILD}/keplerd-*/
            cmake -DKEPLERD_ZSH_DIR=share/zsh/site-functions obj-* >/dev/null
            rm -rf /root/rpm-source; mkdir /root/rpm-source
            tar -C /src --exclude=./build --exclude='./build-*' --exclude=./.git -c . | tar -C /root/rpm-source -x
            sed -i 's/^Release: .*/Release: {release}/' /root/rpm-source/packaging/rpm/keplerd.spec
            /root/rpm-source/scripts/package rpm --build "$(echo "$PWD"/obj-*)" --work /root/rpm-work --output /root/rpms""")


def rpm(host, verb, *what):
    """Without dependencies: rpm's database has no library."""
    host.sh(f"rpm {verb} --nodeps {' '.join(what)}; {TRIGGER}")


def unit_states(host):
    return host.sh(f"systemctl is-enabled {UNITS} || :").split()


def install(host, report, packages):
    for user in ("keplerd-history", "keplerd"):
        host.sh(f"userdel {user}")
    rpm(host, "-i", packages[0])
    report.equal("installed: its scriptlets have made the users", host.sh("id -un keplerd; id -un keplerd-history; id -Gn keplerd-history").split(),
                 ["keplerd", "keplerd-history", "keplerd-history", "keplerd"])
    report.equal("installed: the preset decides, which is Fedora's: nothing is enabled", unit_states(host), ["disabled"] * 4)
    report.equal("installed: nothing was started", host.sh(f"systemctl is-active {UNITS} || :").split(), ["inactive"] * 4)
    verified = host.run("sh", "-c", f"rpm -V --nodeps {ALL_INSTALLED}")
    report.equal("installed: rpm --verify finds all files as they were packed", (verified.returncode, verified.stdout), (0, ""))


def upgrade(host, report, packages):
    host.sh(f"systemctl enable --now keplerd keplerd-exporter.socket keplerd-history; echo '# mine' >>{CONFIGURATION}")
    host.rapl("drive", PACKAGE, 50)
    host.wait_for_samples(4)
    before, pid = host.ask("status"), host.property("MainPID")
    report.equal("it runs as packed, and reads the meter", (before["source"]["name"], before["source"]["quality"]), ("powercap", "measured"))
    rpm(host, "-U", packages[1])
    after = host.ask("status")
    report.equal("upgraded", host.sh("rpm -q --qf '%{RELEASE}' keplerd").strip(), RELEASES[1])
    report.check("upgraded: it was started again, and no other unit was stopped", host.property("MainPID") not in (pid, "0")
                 and host.sh(f"systemctl is-active {UNITS} || :").split() == ["active"] * 4, host.sh(f"systemctl is-active {UNITS} || :"))
    report.check("upgraded: totals go on", after["host"]["energyMicrojoules"] >= before["host"]["energyMicrojoules"] > 0
                 and after["instanceId"] == before["instanceId"], (before["host"], after["host"]))
    report.equal("upgraded: the changed configuration is kept", host.sh(f"tail -n 1 {CONFIGURATION}").strip(), "# mine")
    report.equal("upgraded: what was enabled is still enabled", unit_states(host), ["enabled"] * 4)
    host.rapl("halt", PACKAGE)


def remove(host, report):
    rpm(host, "-e", ALL_INSTALLED)
    report.equal("removed: nothing runs", host.sh("ps -C keplerd,keplerd-exporter,keplerd-history -o comm= || :"), "")
    report.equal("removed: no link of a unit is left", host.sh("find /etc/systemd/system -name '*keplerd*' -not -path '*.d/*' -not -name '*.d' || :"), "")
    kept = host.sh("ls /etc/keplerd /var/lib/keplerd").split()
    report.check("removed: the changed configuration and the totals are kept", "keplerd.conf.rpmsave" in kept and "ledger.json" in kept, kept)
    report.equal("removed: nothing has failed to systemd", host.sh("systemctl list-units --failed --no-legend 'keplerd*'"), "")


def presets(host, report, packages):
    host.sh("echo 'enable keplerd.service' >/etc/systemd/system-preset/10-own.preset")
    rpm(host, "-i", packages[1])
    report.equal("with a preset of the administrator's, it is enabled", unit_states(host)[0], "enabled")
    rpm(host, "-e", ALL_INSTALLED)
    calls = host.sh("cat /run/scriptlets").splitlines()
    report.equal("scriptlets of keplerd: one call for each of three installations or upgrades, and of two removals",
                 [call.split()[0] for call in calls if call.split()[1] == "keplerd.service"],
                 ["install-system-units", "mark-restart-system-units", "remove-system-units", "install-system-units", "remove-system-units"])


def rpm_life(host, report):
    """The RPMs: installed, upgraded, removed, and installed with a preset"""
    build(host)
    packages = [f"$(ls /root/rpms/*/*-{release}.*.rpm | grep -v ipmi)" for release in RELEASES]  # ipmi: no /dev/ipmi0, no udevd
    host.testbed("rapl", "halt", PACKAGE, check=False)
    host.sh(f"""
        {APT} purge 'keplerd*' cockpit-keplerd
        mkdir -p /etc/systemd/system-preset /etc/sysconfig
        echo 'disable *' >/etc/systemd/system-preset/99-default-disable.preset
        cat >/usr/lib/systemd/systemd-update-helper <<'X'\n{HELPER}X
        chmod 755 /usr/lib/systemd/systemd-update-helper; rm -f /run/scriptlets""")
    install(host, report, packages)
    upgrade(host, report, packages)
    remove(host, report)
    presets(host, report, packages)
    host.sh(f"""
        rm -rf /etc/systemd/system-preset /usr/lib/systemd/systemd-update-helper {CONFIGURATION}* /var/lib/keplerd* /var/lib/rpm
        userdel keplerd; userdel keplerd-history; {APT} install {PACKAGES_BUILT}/*.deb; test -e {RULES}; systemctl enable --now keplerd""")
