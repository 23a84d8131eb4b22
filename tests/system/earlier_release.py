# SPDX-License-Identifier: Apache-2.0
"""From the first packages to these, and back: state, settings, sockets and totals."""
import json
import subprocess

from booted_host import APT, PACKAGES_BUILT, SOURCE, CommandFailed
from installation import sandbox
from scenarios import PACKAGE, RULES

# Of which the first packages were built.
FIRST = "a4465f4fe660665987451df082ea0104b58c7f5a"
NAMES = ("keplerd", "keplerd-exporter", "keplerd-libvirt")
SETTINGS = {"Interval": "500ms", "TerminatedMax": "77", "Public": "all"}
DROP_IN = "/etc/keplerd/keplerd.conf.d/50-earlier.conf"


def build_first(host):
    """Built once; where they lie in the booted host. Their version is made lower than that of these packages."""
    inside = f"/ccache/first-{FIRST[:7]}"
    outside = host.directory / f"ccache.{host.suite}" / f"first-{FIRST[:7]}"
    if not (outside / "built").exists():
        (outside / "source").mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", SOURCE, "archive", FIRST], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if archive.returncode != 0:
            raise CommandFailed(f"the source of the first packages: {archive.stderr.decode()} (this needs the whole history of git)")
        subprocess.run(["tar", "-C", outside / "source", "-x"], input=archive.stdout, check=True)
        host.sh(f"""
            export CCACHE_DIR=/ccache DEB_BUILD_OPTIONS='noautodbgsym nocheck'
            {inside}/source/scripts/package deb --work /root/first --output /root/first-packages
            mkdir -p {inside}/packages
            for name in {" ".join(NAMES)}; do
                dpkg-deb -R /root/first-packages/${{name}}_*.deb /root/first-tree
                sed -i -e 's/^Version: .*/&~first/' -e 's/keplerd (= [^)]*/&~first/' /root/first-tree/DEBIAN/control
                dpkg-deb -b /root/first-tree {inside}/packages/$name.deb
                rm -r /root/first-tree
            done
            touch {inside}/built""")
    return f"{inside}/packages"


def install(host, packages):
    host.sh(f"{APT} --allow-downgrades -o Dpkg::Options::=--force-confold install {packages}")


def totals(host):
    """What may only grow, by what it is of."""
    status = host.ask("status")
    rows = {("unit", row["id"]): row["energyMicrojoules"] for row in host.ask("units")["units"]}
    return {("host",): status["host"]["energyMicrojoules"], **rows}


def check_upgraded(host, report, before, status):
    host.wait_for_samples()
    after, now = totals(host), host.ask("status")
    report.equal("of the same counting", (now["instanceId"], now["sinceUsec"]), (status["instanceId"], status["sinceUsec"]))
    report.equal("no total is lost, or less", {key: energy for key, energy in before.items() if after.get(key, -1) < energy}, {})
    report.equal("the accounts add up to the host", sum(now["accounts"].values()), now["host"]["energyMicrojoules"])
    settings = dict(line.split("=", 1) for line in host.sh("keplerd --check-config").splitlines() if "=" in line)
    report.equal("the settings are as they were", {key: settings.get(key) for key in SETTINGS}, SETTINGS)
    report.equal("keplerd and its sockets are as they were",
                 [host.property("ActiveState", unit) for unit in ("keplerd.service", "keplerd.socket", "keplerd-exporter.socket")],
                 ["active"] * 3)
    metrics = host.sh("curl -sS --fail http://localhost:28282/metrics")
    report.check("the exporter is scraped", "keplerd_up 1" in metrics, metrics[:2000])
    report.equal("no complaint", [line for line in host.journal("-p", "warning", "--since=-1min").splitlines()
                                  if not line.startswith("keplerd.service: Failed to read pids.max")], [])


def upgrade_from_first(host, report):
    """Upgraded from the first packages, downgraded, and upgraded again"""
    first, these = (" ".join(f"{directory}/{name}{ending}" for name in NAMES)
                    for directory, ending in ((build_first(host), ".deb"), (PACKAGES_BUILT, "_[0-9]*.deb")))
    host.testbed("rapl", "halt", PACKAGE, check=False)
    host.sh(f"{APT} purge 'keplerd*'; mv {RULES} /root/rules.conf  # which the first packages do not know")
    install(host, first)
    host.sh(f"""
        mkdir -p {DROP_IN.rpartition("/")[0]}
        printf '[Sampling]\\nInterval={SETTINGS["Interval"]}\\n[Workloads]\\nTerminatedMax={SETTINGS["TerminatedMax"]}\\n' >{DROP_IN}
        printf '[Access]\\nPublic={SETTINGS["Public"]}\\n' >>{DROP_IN}
        systemctl enable --now keplerd keplerd-exporter.socket
        systemd-run -q --unit=ended sh -c 'i=0; while [ $i -lt 3000000 ]; do i=$((i + 1)); done'
        systemd-run -q --unit=runs sh -c 'while :; do :; done'""")
    host.rapl("drive", PACKAGE, 50)
    host.wait_until(lambda: host.property("ActiveState", "ended.service") == "inactive", 60, "the end of ended.service")
    host.wait_for_samples(4)
    status, before = host.ask("status"), totals(host)
    report.check(f"the first packages have counted {len(before)} units", before[("host",)] > 0 and len(before) > 10, before)

    install(host, these)
    report.check("upgraded", "~first" not in host.sh("dpkg-query -Wf '${Version}' keplerd"))
    check_upgraded(host, report, before, status)

    host.wait_for_samples(4)
    before = totals(host)
    install(host, first)
    host.wait_for_samples()
    kept = host.sh("ls /var/lib/keplerd")
    after = totals(host)
    lost = {key: energy for key, energy in before.items() if after.get(key, -1) < energy}
    report.check("downgraded: all totals were read, or their file is kept", not lost or "ledger.json.corrupt" in kept, (lost, kept))
    report.note(f"downgraded: {'totals are not read' if lost else 'totals are read'}; {kept.split()}; "
                + json.dumps(host.journal('-p', 'notice', '--since=-1min')))

    before = {} if lost else after
    status = host.ask("status")
    install(host, these)
    check_upgraded(host, report, before, status)
    host.rapl("halt", PACKAGE)
    host.sh(f"systemctl stop runs; rm {DROP_IN}; mv /root/rules.conf {RULES}; {APT} install {PACKAGES_BUILT}/*.deb; systemctl restart keplerd")


LONG = {sandbox: upgrade_from_first}
