# SPDX-License-Identifier: Apache-2.0
"""The packages on a booted host: what they leave alone, what they install, and what remains after removal."""
import re

from booted_host import APT, BOOKWORM_DROP_IN, BUILD, PACKAGES_BUILT, SOURCE
from scenarios import PACKAGE, RULES

CONFIGURATION = "/etc/keplerd/keplerd.conf"
UNITS = ("keplerd.service", "keplerd.socket")


def states(host):
    return [(host.property("ActiveState", unit), host.property("UnitFileState", unit)) for unit in UNITS]


def failed(host):
    """Of keplerd: on Debian 12 podman's units fail here."""
    return host.sh("systemctl list-units --failed --no-legend 'keplerd*'")


def install(host, report):
    """Installed by apt"""
    report.equal("neither started nor enabled", states(host), [("inactive", "disabled")] * 2)
    report.equal("the user is there", host.sh("id -un keplerd; id -gn keplerd").split(), ["keplerd"] * 2)
    lint = host.run("sh", "-c", f"lintian --allow-root --fail-on error,warning {PACKAGES_BUILT}/*.changes")
    report.check("lintian finds nothing", lint.returncode == 0, lint.stdout)


# The daemon itself reads or does each of these. Run next to it, in its unit's own sandbox.
PROBE = r"""
import ctypes, glob, os, socket, sys, time

def attempt(what, action):
    try:
        action()
        print(what, "yes")
    except OSError as error:
        print(what, os.strerror(error.errno))

def read(*patterns):
    files = [file for pattern in patterns for file in glob.glob(pattern)]
    assert files, patterns
    for file in files:
        try:
            open(file, "rb").read()
        except (FileNotFoundError, ProcessLookupError):
            pass  # it ended meanwhile

def watch(directory):
    if ctypes.CDLL(None, use_errno=True).inotify_add_watch(libc.inotify_init1(0), directory.encode(), 0x100) < 0:
        raise OSError(ctypes.get_errno(), directory)

def perf():
    # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, of all processes on CPU 0: what the energy counters need, too.
    attributes = (ctypes.c_uint32 * 32)(1, 128)
    if libc.syscall(298, ctypes.byref(attributes), -1, 0, -1, 0) < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")

libc = ctypes.CDLL(None, use_errno=True)
other = next(pid for pid in os.listdir("/proc") if pid.isdigit() and os.stat("/proc/" + pid).st_uid == 0)
attempt("energy_uj", lambda: read("/sys/class/powercap/*/energy_uj"))
attempt("hwmon", lambda: os.listdir("/sys/class"))
attempt("cgroups", lambda: read("/sys/fs/cgroup/*/cpu.stat", "/sys/fs/cgroup/*/*/cgroup.procs"))
attempt("processes", lambda: read(*("/proc/[0-9]*/" + f for f in ("stat", "cgroup", "cmdline", "comm", "status"))))
attempt("threads", lambda: read("/proc/[0-9]*/task/*/schedstat", "/proc/[0-9]*/task/*/comm"))
attempt("host", lambda: read("/proc/stat", "/proc/cpuinfo", "/proc/sys/kernel/random/boot_id"))
attempt("clock", lambda: time.clock_gettime((~int(other) << 3) | 2))
attempt("names", lambda: read("/var/lib/keplerd-probe/secret"))
attempt("sessions", lambda: read("/run/user/*/keplerd-probe"))
attempt("inotify", lambda: (watch("/sys/fs/cgroup"), watch("/run")))
attempt("bus", lambda: socket.socket(socket.AF_UNIX).connect("/run/dbus/system_bus_socket"))
attempt("state", lambda: open("/var/lib/keplerd/probe", "w").close() or os.unlink("/var/lib/keplerd/probe"))
attempt("configuration", lambda: read("/etc/keplerd/keplerd.conf"))
attempt("exe", lambda: os.readlink("/proc/1/exe"))
attempt("perf", perf)
attempt("write-etc", lambda: open("/etc/keplerd/probe", "w"))
attempt("write-sys", lambda: open("/sys/fs/cgroup/cgroup.max.depth", "w"))
attempt("write-tmp-of-others", lambda: open("/run/probe", "w"))
attempt("write-sessions", lambda: open("/run/user/4711/keplerd-probe", "r+"))
attempt("home", lambda: os.stat("/root/.probe"))
attempt("internet", lambda: socket.socket(socket.AF_INET))
attempt("memory-of-others", lambda: open("/proc/1/mem", "rb"))
"""
MAY = """energy_uj hwmon cgroups processes threads host clock names sessions inotify bus state configuration""".split()
MUST_NOT = "write-etc write-sys write-tmp-of-others write-sessions home internet memory-of-others".split()


def sandbox(host, report):
    """What can be done in the unit's own sandbox"""
    host.sh("mkdir -m 700 /var/lib/keplerd-probe; install -m 600 /dev/null /var/lib/keplerd-probe/secret")
    host.sh("touch /root/.probe")
    # A user's directory that is there when the unit starts.
    host.sh("mkdir -p /run/user/4711; chmod 700 /run/user/4711; install -m 600 /dev/null /run/user/4711/keplerd-probe")
    unit = "/run/systemd/system/keplerd-probe.service"
    host.sh("cat >/usr/local/bin/keplerd-probe <<'E'\n" + PROBE + "\nE\n")
    host.sh(f"""sed -e 's|^ExecStart=.*|ExecStart=/usr/bin/python3 /usr/local/bin/keplerd-probe|' \\
        -e 's|^Type=.*|Type=oneshot\\nStandardOutput=truncate:/run/keplerd-probe.out|' \\
        -e '/^Sockets=\\|^Restart\\|^WatchdogSec=\\|^ExecReload=\\|^Alias=\\|^Also=/d' \\
        "$(systemctl show -P FragmentPath keplerd.service)" >{unit}""")

    def attempts(*drop_ins):
        host.sh("; ".join([f"mkdir -p {unit}.d", *(f"ln -s /usr/share/keplerd/drop-ins/{d} {unit}.d/" for d in drop_ins)]))
        result = host.run("sh", "-c", "systemctl daemon-reload; systemctl start keplerd-probe")
        lines = host.sh(f"rm -r {unit}.d; cat /run/keplerd-probe.out").splitlines()
        report.equal("the probe ran", (result.returncode, result.stderr), (0, ""))
        return dict(line.split(" ", 1) for line in lines)

    found = attempts()
    report.equal("everything keplerd reads", {what: found.get(what) for what in MAY}, dict.fromkeys(MAY, "yes"))
    report.equal("nothing else", [what for what in MUST_NOT if found.get(what) in (None, "yes")], [])
    report.check(f"/proc/PID/exe and perf are closed: {found.get('exe')}, {found.get('perf')}",
                 "yes" not in (found.get("exe"), found.get("perf")))
    found = attempts("perf.conf", "ptrace.conf")
    report.equal("the drop-ins open them", (found.get("exe"), found.get("perf")), ("yes", "yes"))
    report.equal("and all else stays", {what: found.get(what) for what in MAY}, dict.fromkeys(MAY, "yes"))
    host.sh(f"rm {unit} /run/keplerd-probe.out /usr/local/bin/keplerd-probe /root/.probe; rm -r /var/lib/keplerd-probe /run/user/4711/keplerd-probe; systemctl daemon-reload")


def upgrade(host, report):
    """Upgraded"""
    host.sh(f"echo '# mine' >>{CONFIGURATION}")
    host.rapl("add", PACKAGE, 9_000_001)
    host.wait_for_samples()
    before, pid = host.ask("status"), host.property("MainPID")
    socket = host.property("ActiveEnterTimestampMonotonic", "keplerd.socket")
    host.sh(f"""
        cd /root
        for package in {PACKAGES_BUILT}/*.deb; do
            dpkg-deb -R $package next
            sed -i -e 's/^Version: .*/&+next/' -e 's/keplerd (= [^)]*/&+next/' next/DEBIAN/control
            [ ! -e next{CONFIGURATION} ] || echo '# theirs' >>next{CONFIGURATION}
            dpkg-deb -b next next_$(basename $package) >/dev/null
            rm -r next
        done""")
    # As unattended upgrades are: what was changed is kept.
    apt = host.run("sh", "-c", f"{APT} -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold install "
                               "/root/next_*.deb")
    report.equal("to a higher version", (apt.returncode, host.sh("dpkg-query -Wf '${Version}' keplerd")[-5:]),
                 (0, "+next"))
    after = host.ask("status")
    report.check("it was started again", host.property("MainPID") not in (pid, "0"))
    report.equal("the socket stayed open", host.property("ActiveEnterTimestampMonotonic", "keplerd.socket"), socket)
    report.check("the counters go on", after["host"]["energyMicrojoules"] >= before["host"]["energyMicrojoules"] > 0)
    report.equal("of the same counting", (after["instanceId"], after["sinceUsec"]),
                 (before["instanceId"], before["sinceUsec"]))
    report.equal("the changed configuration is kept", host.sh(f"tail -n 1 {CONFIGURATION}").strip(), "# mine")
    report.equal("still enabled", states(host), [("active", "enabled")] * 2)


def boot_again(host):
    """All services anew, as systemd has it since Debian 13. The counters stay away meanwhile."""
    host.run("systemctl", "soft-reboot")
    host.wait_until(lambda: host.run("systemctl", "show", "-P", "SoftRebootsCount").stdout.strip() == "1"
                    and host.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"), 180,
                    "the end of the boot")


def without_meter(host, report):
    """Without any meter"""
    host.sh("umount /sys/class /sys/devices/virtual")
    if "soft-reboot" in host.run("systemctl", "--help").stdout:
        boot_again(host)
        report.check("booted again", True)
    else:
        host.sh("systemctl restart keplerd")
    status = host.ask("status")
    report.equal("it starts, and has none", (host.property("ActiveState"), status["source"]["name"]), ("active", "none"))
    report.check(f"it says so: {status['source']['reason']}", status["source"]["reason"])
    screen = host.run("keplerctl", "--no-pager").stdout
    report.check("keplerctl says so", "NOT MEASURED" in screen, screen)
    doctor = host.run("keplerctl", "--no-pager", "doctor")
    report.check("doctor tells what is missing", doctor.returncode != 0 and "meter powercap" in doctor.stdout,
                 (doctor.returncode, doctor.stdout))
    report.equal("the boot does not fail", failed(host), "")


def autopkgtest(host, report):
    """autopkgtest's tests"""
    names = re.search(r"(?m)^Tests: (.*)$", (SOURCE / "packaging/deb/tests/control").read_text()).group(1)
    for name in names.split():
        test = host.run("sh", "-c", f"cd {BUILD}/keplerd-*/ && exec debian/tests/{name}")
        report.equal(name, test.returncode, 0)
        if test.returncode != 0:
            report.note(test.stdout + test.stderr)


def left(host):
    return host.sh("""
        ps -C keplerd -o pid= || :
        systemctl list-unit-files --no-legend 'keplerd*' 'dbus-org.keplerd1*' || :
        find / -xdev -path /proc -prune -o -path /root -prune -o -path /src -prune \\
             -o -iname '*keplerd*' -print 2>/dev/null || :
        find /run -name '*keplerd*' || :""").replace(f"{BOOKWORM_DROP_IN}\n", "").split()


def remove(host, report):
    """Removed, then purged"""
    host.sh("systemctl enable --now keplerd")
    removed = host.run("sh", "-c", f"{APT} remove 'keplerd*'")
    report.equal("removed", (removed.returncode, host.sh("ps -C keplerd -o pid= || :")), (0, ""))
    kept = host.sh(f"tail -n 1 {CONFIGURATION}; ls /var/lib/keplerd/ledger.json").split("\n")
    report.equal("configuration and totals stay", kept[:2], ["# mine", "/var/lib/keplerd/ledger.json"])
    report.equal("it is no failure to systemd", failed(host), "")
    host.sh(f"{APT} purge 'keplerd*'; rm -r {RULES.partition('/keplerd.conf.d')[0]}; systemctl daemon-reload")
    report.equal("nothing is left", left(host), [])
    report.equal("but the user", host.sh("id -un keplerd").strip(), "keplerd")


ALL = [sandbox, upgrade, without_meter, autopkgtest, remove]
