# SPDX-License-Identifier: Apache-2.0
"""Access control on a booted host: root, a member of the group, a user with units, an unprivileged user; over varlink
and D-Bus. While the guests run: joe's units are guests.user_units'."""
import json
import shlex

from bus import MANAGER, NAME, PATH
from booted_host import ADDRESS
from scenarios import PACKAGE

JOE = 4711
JOES_SLICE = f"/user.slice/user-{JOE}.slice"
DROP_IN = "/etc/keplerd/keplerd.conf.d/60-access.conf"
RULES = "/etc/polkit-1/rules.d/60-keplerd-test.rules"
BECOME = {"root": [],
          "a member": ["setpriv", "--reuid=games", "--regid=games", "--groups=keplerd"],
          "joe": ["setpriv", "--reuid=joe", "--regid=joe", "--init-groups"],
          "nobody": ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]}
KINDS = {"units": "ListUnits", "vms": "ListVirtualMachines", "containers": "ListContainers",
         "processes": "ListProcesses", "zones": "ListZones"}

# Polls 1000 times a second for this long, on varlink and on the bus, and prints the host's energies that it got, by
# their time.
POLL = """
import json, socket, sys, time
from gi.repository import Gio, GLib
stream = socket.socket(socket.AF_UNIX)
stream.connect(sys.argv[1])
stream = stream.makefile("rwb")
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
told = [{}, {}]
asked = 0
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    stream.write(b'{"method":"org.keplerd.Energy.GetStatus"}\\0')
    stream.flush()
    message = b""
    while not message.endswith(b"\\0"):
        message += stream.read(1)
    status = json.loads(message[:-1])["parameters"]
    told[0][status["monotonicUsec"]] = status["host"]["energyMicrojoules"]
    all_ = bus.call_sync("org.keplerd1", "/org/keplerd1", "org.freedesktop.DBus.Properties", "GetAll",
                         GLib.Variant("(s)", ("org.keplerd1.Manager",)), None, 0, -1, None).unpack()[0]
    told[1][all_["MonotonicUSec"]] = all_["HostEnergy"]
    asked += 1
    time.sleep(0.001)
print(json.dumps([asked, *[sorted(t.items()) for t in told]]))
"""


def on_varlink(host, who, kind):
    reply = host.run(*BECOME[who], "keplerctl", "--json=short", kind)
    if reply.returncode != 0:
        return reply.stderr.strip()
    return {row["id"]: row for row in next(iter(json.loads(reply.stdout).values()))}


def on_the_bus(host, who, kind):
    reply = host.run(*BECOME[who], "busctl", "--json=short", "--allow-interactive-authorization=no", "call", NAME, PATH,
                     MANAGER, KINDS[kind], "a{sv}", "1", "limit", "u", "100000")
    if reply.returncode != 0:
        return reply.stderr.strip()
    return {row[0]: row for row in json.loads(reply.stdout)["data"][0]}


def reload(host, text):
    host.sh(f"""
        mkdir -p {DROP_IN.rpartition('/')[0]}
        printf %s {shlex.quote(text)} >{DROP_IN}
        systemctl reload keplerd""")


def user_of(host, pid):
    return host.run("ps", "-o", "euid=", "-p", str(pid)).stdout.strip()


def is_joes(unit):
    return unit == JOES_SLICE or unit.startswith(JOES_SLICE + "/")


def table(host, report):
    """What every user sees by default"""
    for who in BECOME:
        seen = {kind: on_varlink(host, who, kind) for kind in KINDS}
        full = who in ("root", "a member")
        status = json.loads(host.run(*BECOME[who], "keplerctl", "--json=short", "status", check=True).stdout)
        report.equal(f"{who}: accounts", "accounts" in status, full)
        report.equal(f"{who}: zones", bool(seen["zones"]), full)
        report.equal(f"{who}: the system's virtual machines and containers",
                     ({"busy1"} <= {v["name"] for v in seen["vms"].values()}, bool(seen["containers"])), (full, full))
        if full:
            report.check(f"{who}: others' processes and units", len(seen["processes"]) > 10 and
                         {"/system.slice/busy.service", JOES_SLICE} <= set(seen["units"]))
        else:
            want = str(JOE) if who == "joe" else host.sh("id -u nobody").strip()
            users = {pid: user_of(host, pid) for pid in (row["pid"] for row in seen["processes"].values())}
            wrong = {pid: user for pid, user in users.items() if user not in (want, "")}
            report.equal(f"{who}: only own processes, {len(users)}", (bool(users), wrong), (True, {}))
            report.equal(f"{who}: only own units", [u for u in seen["units"] if not (who == "joe" and is_joes(u))], [])
            fields = [f for rows in seen.values() for row in rows.values() for f, v in row.items()
                      if f.endswith("Microjoules") and v % 100_000]
            report.equal(f"{who}: steps of 0.1 J", (fields, status["host"]["energyMicrojoules"] % 100_000), ([], 0))
        for kind in KINDS:
            on_bus = set(on_the_bus(host, who, kind))
            # Workloads that began or ended in between, such as these commands, do not count as a difference.
            later = set(on_varlink(host, who, kind))
            report.equal(f"{who}: {kind} on the bus as on varlink, {len(on_bus)}", (set(seen[kind]) & later) - on_bus, set())
            if not full and kind != "processes":
                report.equal(f"{who}: and no more of them", on_bus - later, set())
        if not full:
            users = [user_of(host, id_.partition(".")[0]) for id_ in on_the_bus(host, who, "processes")]
            report.equal(f"{who}: only own processes on the bus, {len(users)}", set(users) - {want, ""}, set())
    joe = on_varlink(host, "joe", "units")
    report.check("joe sees his own units", "spin.service" in {row["name"] for row in joe.values()}, sorted(joe))


def polling(host, report):
    """An unprivileged user polling 1000 times a second"""
    host.rapl("drive", PACKAGE, 60)
    apart = 940_000  # a second, minus how early a sample may be
    for interval in ("1s", "100ms", "10ms"):
        reload(host, f"[Sampling]\nInterval={interval}\n")
        host.wait_for_samples()
        before = host.ask("status")
        asked, *polled = json.loads(host.run(*BECOME["joe"], "/usr/bin/python3", "-c", POLL, ADDRESS, "5",
                                             check=True).stdout)
        after = host.ask("status")
        samples = after["sequence"] - before["sequence"]
        for where, values in zip(("varlink", "D-Bus"), polled):
            times = [when for when, _ in values]
            gaps = [b - a for a, b in zip(times, times[1:])]
            energies = [energy for _, energy in values]
            report.check(f"Interval={interval}, {where}: {asked} questions, {samples} samples, {len(times)} values",
                         3 <= len(times) <= 7 and min(gaps) >= apart, gaps)
            report.check("in steps of 0.1 J, never backwards",
                         all(e % 100_000 == 0 for e in energies) and energies == sorted(energies), energies)
        report.equal("the same on both", {k for k, _ in polled[0]} - {k for k, _ in polled[1]}, set())
    host.rapl("halt", PACKAGE)

    reload(host, "[Sampling]\nInterval=0\n")
    before = host.ask("status")["sequence"]
    asked, *polled = json.loads(host.run(*BECOME["joe"], "/usr/bin/python3", "-c", POLL, ADDRESS, "3", check=True).stdout)
    samples = host.ask("status")["sequence"] - before
    # One is caused by the call itself, and one may guard against counters that wrap.
    report.check(f"Interval=0: {asked} questions of a stranger cause no sample: {samples}", samples <= 2)
    host.sh(f"rm {DROP_IN}; systemctl reload keplerd")


def clients(host, report):
    """keplerd's own tools, as an unprivileged user"""
    def run(*command):
        return host.run(*BECOME["joe"], *command)
    # spin.service draws most of joe's units only while something is drawn at all.
    host.rapl("drive", PACKAGE, 60)
    host.wait_for_samples()
    watts = run("/usr/bin/python3", "/src/examples/desktop-watts", "--once")
    host.rapl("halt", PACKAGE)
    lines = [line.split() for line in watts.stdout.splitlines()]
    report.check(f"examples/desktop-watts: {watts.stdout.strip().splitlines()}", watts.returncode == 0 and
                 ["host", "spin.service"] == sorted({line[-1] for line in lines} & {"host", "spin.service"}), watts.stderr)
    for verb in ("status", "units", "vms", "processes", "zones"):
        shown = run("keplerctl", verb)
        report.check(f"keplerctl {verb} says what it is", shown.returncode == 0 and
                     "Only public values" in shown.stdout and "=" not in shown.stdout.splitlines()[-1], shown.stdout)
    other = run("keplerctl", "show", "busy.service")
    report.equal(f"keplerctl show: {other.stderr.strip()}", other.returncode, 3)
    doctor = run("keplerctl", "doctor")
    report.check("keplerctl doctor", doctor.returncode == 0 and "usermod -aG keplerd" in doctor.stdout, doctor.stdout)
    tree = run("busctl", "call", NAME, PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    report.check("nobody else's objects", tree.returncode != 0 and "denied" in tree.stderr.lower(), tree.stdout)


def rules(host, report):
    """Public=none, host, all"""
    reload(host, "[Access]\nPublic=none\n")
    refused = on_varlink(host, "joe", "units")
    report.check(f"none, varlink: {refused}", "only root and members of the group keplerd" in refused)
    refused = on_the_bus(host, "joe", "units")
    report.check(f"none, D-Bus: {refused}", "Access denied" in refused)
    power = host.run(*BECOME["joe"], "busctl", "get-property", NAME, PATH, MANAGER, "HostPower")
    report.check("none, a property", power.returncode != 0 and "Access denied" in power.stderr, power.stderr)
    report.check("none: a member sees all", len(on_varlink(host, "a member", "processes")) > 10)
    reload(host, "[Access]\nPublic=host\n")
    for where in (on_varlink, on_the_bus):
        report.equal("host", [where(host, "joe", kind) for kind in KINDS], [{}] * len(KINDS))
    reload(host, "[Access]\nPublic=all\n")
    for where in (on_varlink, on_the_bus):
        report.check("all", all({"busy1"} <= {v["name"] if isinstance(v, dict) else v[1] for v in rows.values()} if kind ==
                     "vms" else rows for kind in KINDS for rows in [where(host, "joe", kind)]))
    host.sh(f"rm {DROP_IN}; systemctl reload keplerd")


def polkit(host, report):
    """polkit"""
    if host.run("sh", "-c", "command -v pkaction").returncode != 0:
        report.note("there is no polkit here")
        return
    action = host.run("pkaction", "--verbose", "--action-id", "org.keplerd1.read-details")
    report.check("the action", "implicit active:   auth_admin_keep" in action.stdout, action.stdout + action.stderr)
    few = len(on_the_bus(host, "joe", "processes"))
    host.sh(f"""
        mkdir -p {RULES.rpartition('/')[0]}
        cat >{RULES} <<'END'
polkit.addRule(function(action, subject) {{
    if (action.id == "org.keplerd1.read-details" && subject.user == "joe") return polkit.Result.YES;
}});
END""")
    host.wait_until(lambda: len(on_the_bus(host, "joe", "processes")) > few + 10, 20, "polkit's new rule")
    report.check("a rule gives joe everything on the bus", "/system.slice/busy.service" in on_the_bus(host, "joe", "units"))
    report.check("and nobody else", "/system.slice/busy.service" not in on_the_bus(host, "nobody", "units"))
    report.check("nor on varlink", "/system.slice/busy.service" not in on_varlink(host, "joe", "units"))
    host.sh(f"rm {RULES}")


ALL = [table, polling, clients, rules, polkit]
