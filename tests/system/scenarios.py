# SPDX-License-Identifier: Apache-2.0
"""What keplerd must show on a booted host. Each scenario is given the host and a report to write to, in the order of
ALL; together they are one life of an installation."""
import json
import re
import shlex
import tempfile
import time

from booted_host import ADDRESS, SOURCE

PACKAGE, CORE, DRAM = "intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:2"
STATE = "/var/lib/keplerd/ledger.json"
DROP_IN = "/etc/keplerd/keplerd.conf.d/50-test.conf"


def host_energy(host):
    return host.ask("status")["host"]["energyMicrojoules"]


def check_sums(report, snapshot, when):
    """Every invariant, to the microjoule, in one sample."""
    status, units, processes = snapshot["status"], snapshot["units"], snapshot["processes"]
    total, accounts = status["host"]["energyMicrojoules"], status["accounts"]
    report.equal(f"{when}: idle + kernel + workloads + unattributed = host", sum(accounts.values()), total)
    report.equal(f"{when}: the zones of the total add up to it", total,
                 sum(z["energyMicrojoules"] for z in snapshot["zones"] if z["inTotal"]))
    own = sum(u["ownMicrojoules"] for u in units)
    outside = sum(p["unitMicrojoules"] for p in processes if "unit" not in p)
    report.equal(f"{when}: own of all units + processes outside + other = workloads",
                 own + outside + status["outsideOtherMicrojoules"], accounts["workloads"])

    children, members = {}, {}
    for unit in units:
        if unit.get("parent"):
            children[unit["parent"]] = children.get(unit["parent"], 0) + unit["energyMicrojoules"]
    for process in processes:
        if process.get("unit"):
            members[process["unit"]] = members.get(process["unit"], 0) + process["unitMicrojoules"]
    wrong = [u["id"] for u in units if u["energyMicrojoules"] != u["ownMicrojoules"] + children.get(u["id"], 0)]
    report.equal(f"{when}: each of {len(units)} units = own + children", wrong, [])
    wrong = [u["id"] for u in units if u["ownMicrojoules"] != u["otherMicrojoules"] + members.get(u["id"], 0)]
    report.equal(f"{when}: each unit's own = other + its processes", wrong, [])
    rows = [status["host"]] + units + processes + snapshot["zones"]
    wrong = [r.get("id", "host") for r in rows
             if r["energyMicrojoules"] != r["activeMicrojoules"] + r["idleMicrojoules"]]
    report.equal(f"{when}: energy = active + idle in each row", wrong, [])


# The power of this host is what a test drives, whatever runs: a model would learn that all of it is idle.
RULES = "/usr/local/lib/keplerd/keplerd.conf.d/40-rules.conf"
KEPLERS_RULES = "[Attribution]\nSplit=usage-ratio\nShare=cpu-time\n"


def enable(host, report):
    """systemctl enable --now keplerd"""
    default = host.sh("keplerd --check-config")
    report.check("models are learned unless the configuration says otherwise",
                 "Split=auto\n" in default and "Share=auto\n" in default, default)
    host.sh(f"mkdir -p {RULES.rpartition('/')[0]}; printf %s {shlex.quote(KEPLERS_RULES)} >{RULES}")
    enabled = host.run("systemctl", "enable", "--now", "keplerd")
    report.equal("enabled and started", (enabled.returncode, host.property("ActiveState")), (0, "active"))
    report.equal("the socket too", (host.property("ActiveState", "keplerd.socket"),
                                    host.property("UnitFileState", "keplerd.socket")), ("active", "enabled"))
    report.equal("socket's access", host.sh(f"stat -c '%a %U %G' {ADDRESS}").strip(), "666 root keplerd")
    report.equal("runs as keplerd", host.sh("ps -o user= -C keplerd").strip(), "keplerd")
    verify = host.run("systemd-analyze", "verify", "--man=no", "keplerd.service", "keplerd.socket")
    report.equal("systemd-analyze verify is content", (verify.returncode, verify.stderr.strip()), (0, ""))
    status = host.ask("status")
    report.equal("the rules are those of the drop-in", (status["split"], status["share"]), ("usage-ratio", "cpu-time"))
    source = status["source"]
    report.equal("the meter is read in the sandbox, though it is root's alone",
                 (source["name"], source["quality"]), ("powercap", "measured"))


def attribute(host, report):
    """A busy unit at a known power"""
    host.sh("systemd-run -q --unit=busy --uid=nobody sh -c 'while :; do :; done'")
    host.wait_for_samples()
    total, counter, core = host_energy(host), host.counter(PACKAGE), host.counter(CORE)
    host.rapl("drive", PACKAGE, 50)
    time.sleep(6)
    status = host.ask("status")
    watts = status["host"]["powerMicrowatts"] / 1e6
    report.check(f"the host draws the 50 W that are driven: {watts:.1f} W", 42 < watts < 58)
    text = host.property("StatusText")
    report.check(f"STATUS: {text}", re.match(r"[0-9.]+ W, powercap \(measured\), [0-9]+ units, [0-9]+ processes$", text))
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    report.equal("the host's energy is the driven counter's, exactly",
                 host_energy(host) - total, host.counter(PACKAGE) - counter)

    snapshot = host.snapshot()
    units = sorted((u for u in snapshot["units"] if u["kind"] == "unit" and u["id"].endswith(".service")),
                   key=lambda u: -u["energyMicrojoules"])
    report.equal("the busy unit leads", units[0]["id"], "/system.slice/busy.service")
    joules = units[0]["energyMicrojoules"] / 1e6
    report.note(f"busy.service: {joules:.1f} J of {snapshot['status']['host']['energyMicrojoules'] / 1e6:.1f} J")
    table = host.run("keplerctl", "units").stdout
    report.check("keplerctl units shows it", "busy.service" in table, table)
    pid = int(host.property("MainPID", "busy.service"))
    rows = [p for p in snapshot["processes"] if p["pid"] == pid]
    report.equal("its process too, which is another user's", [p["unit"] for p in rows], [units[0]["id"]])
    check_sums(report, snapshot, "busy")
    report.equal("core is inside the package and not in the total", core, host.counter(CORE))


def count(host, report):
    """Counters stepped by known amounts"""
    host.wait_for_samples()
    before = host.snapshot()
    host.rapl("add", PACKAGE, 30_000_001)
    host.rapl("add", DRAM, 7_000_003)
    host.rapl("add", CORE, 5_000_005)
    host.wait_for_samples()
    after = host.snapshot()
    report.equal("package and DRAM count, core does not",
                 after["status"]["host"]["energyMicrojoules"] - before["status"]["host"]["energyMicrojoules"],
                 37_000_004)

    def zone(snapshot, name):
        return next(z["energyMicrojoules"] for z in snapshot["zones"] if z["name"] == name)
    for name, step in (("package", 30_000_001), ("dram", 7_000_003), ("core", 5_000_005), ("uncore", 0)):
        report.equal(f"zone {name}", zone(after, name) - zone(before, name), step)
    check_sums(report, after, "stepped")


def see_all(host, report):
    """Everything is read in the sandbox"""
    cgroups = host.sh("cd /sys/fs/cgroup && find . -mindepth 1 -type d -printf '/%P\\n'").split()
    units = {u["id"].replace("\\x5c", "\\") for u in host.ask("units")["units"]}
    # Those of these commands come and go.
    unseen = [c for c in cgroups if c not in units and "/run-" not in c]
    report.equal(f"each of {len(cgroups)} cgroups is a row", unseen, [])
    pids = set(host.sh("systemctl show -P MainPID dbus systemd-journald systemd-logind libvirtd").split())
    seen = {str(p["pid"]) for p in host.ask("processes")["processes"]}
    report.note(f"of {len(pids)} daemons' processes, {len(pids & seen)} have used energy")
    doctor = host.run("keplerctl", "doctor")
    report.equal("doctor finds nothing wrong", doctor.returncode, 0)


def live(host, report):
    """Watchdog, cost, journal"""
    report.equal("watchdog", host.property("WatchdogUSec"), "30s")
    first = int(host.property("WatchdogTimestampMonotonic"))
    used = int(host.property("CPUUsageNSec"))
    begin = time.monotonic()
    host.wait_until(lambda: int(host.property("WatchdogTimestampMonotonic")) > first, 20, "a watchdog ping")
    time.sleep(max(0.0, 5 - (time.monotonic() - begin)))
    seconds = time.monotonic() - begin
    cost = (int(host.property("CPUUsageNSec")) - used) / 1e6 / seconds
    resident = host.sh("ps -o rss= -C keplerd").strip()
    now = host.snapshot()
    itself = next(row for row in now["processes"] if row["pid"] == int(host.property("MainPID")))
    report.equal("keplerctl status tells what keplerd itself drew", now["status"].get("daemonMicrojoules"),
                 itself["energyMicrojoules"])
    report.note(f"{cost:.2f} ms CPU a second (with the test's own questions), {int(resident) / 1024:.1f} MiB resident")
    report.equal("never restarted", host.property("NRestarts"), "0")
    report.equal("nothing above notice in the journal", host.complaints(), [])


def rest(host, report):
    """No calls for half a minute"""
    before = host.ask("status")
    host.sh("sleep 30")
    after = host.ask("status")
    samples = after["sequence"] - before["sequence"]
    # Ten seconds at Interval=, four times UnwatchedInterval=, and the one that this call causes.
    report.check(f"it sampled {samples} times", samples <= 18, str(samples))
    report.check("and the answer is of now", after["windowUsec"] < 6_000_000 and
                 after["monotonicUsec"] - before["monotonicUsec"] >= 29_000_000, str(after))
    check_sums(report, host.snapshot("units"), "after a rest")


def varlink(host, report):
    """varlinkctl"""
    if host.run("sh", "-c", "command -v varlinkctl").returncode != 0:
        report.note("this release has no varlinkctl")
        return

    def call(*arguments):
        return host.run("varlinkctl", *arguments)
    info = call("info", ADDRESS)
    report.check("info", info.returncode == 0 and "org.keplerd.Energy" in info.stdout, info.stderr)
    text = call("introspect", ADDRESS, "org.keplerd.Energy")
    report.check("introspect", text.returncode == 0 and "method GetStatus" in text.stdout, text.stderr)
    valid = call("validate-idl", "/src/varlink/org.keplerd.Energy.varlink")
    report.equal("validate-idl", (valid.returncode, valid.stderr.strip()), (0, ""))
    text = call("introspect", ADDRESS, "io.systemd.Metrics")
    report.check("introspect what systemd-report asks", text.returncode == 0 and "method Describe" in text.stdout, text.stderr)
    metrics = call("-j", "--more", "call", ADDRESS, "io.systemd.Metrics.List", "{}")
    replies = [json.loads(r) for r in metrics.stdout.replace("\x1e", "").splitlines() if r]
    report.check(f"{len(replies)} metrics", {m["name"].rpartition(".")[2] for m in replies} >= {
        "HostEnergyMicrojoules", "ZonePowerMicrowatts", "UnitEnergyMicrojoules"}, metrics.stderr)
    methods = call("list-methods", ADDRESS, "org.keplerd.Energy")
    report.equal("list-methods", sorted(m.rpartition(".")[2] for m in methods.stdout.split()),
                 ["Get", "GetStatus", "List", "Measure", "Monitor", "Record"])
    status = call("-j", "call", ADDRESS, "org.keplerd.Energy.GetStatus", "{}")
    report.equal("call", sum(json.loads(status.stdout)["accounts"].values()),
                 json.loads(status.stdout)["host"]["energyMicrojoules"])
    rows = call("-j", "--more", "call", ADDRESS, "org.keplerd.Energy.List", '{"kind":"zones"}')
    names = [json.loads(r)["row"]["name"] for r in rows.stdout.replace("\x1e", "").splitlines() if r]
    report.equal("call --more", sorted(names), ["core", "dram", "package", "uncore"])
    page = (SOURCE / "docs/man/org.keplerd.Energy.5").read_text().replace("\\e\n", "")
    examples = [line for line in page.splitlines() if line.startswith("varlinkctl ")]
    wrong = [line for line in examples if host.run("timeout", "2", "sh", "-c", line).returncode not in (0, 124)]
    report.equal(f"the manual's {len(examples)} commands work", wrong, [])
    without = call("call", ADDRESS, "org.keplerd.Energy.List", '{"kind":"zones"}')
    # As varlinkctl says it before systemd 26x, and since.
    report.check("List without --more is refused", without.returncode != 0 and (
        "ExpectedMore" in without.stderr or "'more' flag" in without.stderr), without.stderr)
    unknown = call("call", ADDRESS, "org.keplerd.Energy.Get", '{"kind":"units","id":"/nowhere"}')
    report.check("an unknown unit is an error", unknown.returncode != 0 and "NoSuchUnit" in unknown.stderr,
                 unknown.stderr)
    stream = host.run("timeout", "3.5", "varlinkctl", "-j", "-E", "call", ADDRESS, "org.keplerd.Energy.Monitor",
                      '{"kind":"units"}')
    replies = [json.loads(r) for r in stream.stdout.replace("\x1e", "").splitlines() if r]
    sequences = [r["sequence"] for r in replies if not r.get("partial")]
    report.check(f"Monitor streams every sample: {sequences}",
                 len(sequences) >= 3 and sequences == list(range(sequences[0], sequences[0] + len(sequences))))


def restart(host, report):
    """A restart, with energy drawn meanwhile"""
    host.wait_for_samples()
    before = host.ask("status")
    host.sh("systemctl stop keplerd.service 2>/dev/null")
    host.rapl("add", PACKAGE, 20_000_003)
    host.sh("systemctl start keplerd.service")
    after = host.snapshot()
    status = after["status"]
    report.equal("the counters go on, with what was drawn meanwhile",
                 status["host"]["energyMicrojoules"], before["host"]["energyMicrojoules"] + 20_000_003)
    report.equal("all of which is in the accounts",
                 sum(status["accounts"].values()), sum(before["accounts"].values()) + 20_000_003)
    report.equal("divided by the CPU time that the kernel has counted meanwhile, so that nothing of it is unattributed",
                 status["accounts"]["unattributed"], before["accounts"]["unattributed"])
    report.equal("counting since the same moment", status["sinceUsec"], before["sinceUsec"])
    check_sums(report, after, "restarted")


def kill(host, report):
    """kill -9"""
    host.rapl("drive", PACKAGE, 80)
    time.sleep(4)
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    before = host.snapshot()
    total = before["status"]["host"]["energyMicrojoules"]
    host.rapl("add", PACKAGE, 1_000_007)
    host.sh("systemctl kill -s KILL keplerd.service")
    host.wait_until(lambda: host.property("NRestarts") == "1" and host.property("ActiveState") == "active", 20,
                    "the restart")
    after = host.snapshot()
    report.equal("nothing of the host's counter is lost, nothing goes back",
                 after["status"]["host"]["energyMicrojoules"], total + 1_000_007)
    report.equal("under the same instanceId", after["status"]["instanceId"], before["status"]["instanceId"])
    for kind in ("units", "processes"):
        energies = {row["id"]: row["energyMicrojoules"] for row in after[kind]}
        common = [row for row in before[kind] if row["id"] in energies]
        report.equal(f"none of {len(common)} {kind} goes back",
                     [row for row in common if energies[row["id"]] < row["energyMicrojoules"]], [])
    check_sums(report, after, "killed")


def kill_again(host, report):
    """kill -9, again and again"""
    kills = 8  # systemd's own limit is five in ten seconds
    before = host.ask("status")["host"]["energyMicrojoules"]
    for _ in range(kills):
        pid = host.property("MainPID")
        host.sh("systemctl kill -s KILL keplerd.service")
        host.wait_until(lambda: host.property("MainPID") not in ("0", pid)
                        and host.property("ActiveState") == "active", 20, "the restart")
    host.rapl("add", PACKAGE, 1_000_003)
    host.wait_for_samples()
    report.equal(f"{kills} times: the service and its socket are there",
                 [host.property("ActiveState", unit) for unit in ("keplerd.service", "keplerd.socket")], ["active"] * 2)
    report.equal("and measuring goes on", host.ask("status")["host"]["energyMicrojoules"], before + 1_000_003)


def kill_for_long(host, report):
    """kill -9, each second for two minutes"""
    seconds = 120
    before = host.ask("status")["host"]["energyMicrojoules"]
    restarts = int(host.property("NRestarts"))
    host.sh(f"for i in $(seq {seconds}); do systemctl kill -s KILL keplerd.service || :; sleep 1; done")
    host.wait_until(lambda: host.property("ActiveState") == "active", 20, "the restart")
    host.rapl("add", PACKAGE, 1_000_003)
    host.wait_for_samples()
    report.equal("the service and its socket are there",
                 [host.property("ActiveState", unit) for unit in ("keplerd.service", "keplerd.socket")], ["active"] * 2)
    # A second to wait, and the start.
    report.check("it was restarted all the time", int(host.property("NRestarts")) - restarts >= seconds // 5,
                 host.property("NRestarts"))
    report.equal("and measuring goes on", host.ask("status")["host"]["energyMicrojoules"], before + 1_000_003)


def configure(host, report):
    """Reload, and a broken configuration"""
    def drop_in(text):
        host.sh(f"mkdir -p {DROP_IN.rpartition('/')[0]}; printf %s {shlex.quote(text)} >{DROP_IN}")

    drop_in("[Sampling]\nInterval=banana\n")
    host.run("systemctl", "reload", "keplerd")
    host.wait_until(lambda: f"{DROP_IN}:2:" in host.journal(), 10, "the complaint in the journal")
    report.check("a bad file is named with its line, the daemon goes on",
                 host.ask("status")["intervalUsec"] == 1_000_000)
    drop_in("[Sampling]\nInterval=2s\n")
    total = host_energy(host)
    host.run("systemctl", "reload", "keplerd", check=True)
    host.wait_until(lambda: host.ask("status")["intervalUsec"] == 2_000_000, 10, "the new interval")
    report.check("a good one is taken up, the counters go on", host_energy(host) >= total > 0)

    drop_in("[Sampling]\nIntervall=1s\n")
    host.run("systemctl", "restart", "keplerd")
    time.sleep(1)
    report.equal("a broken one at start: exit status 78, once",
                 (host.property("ActiveState"), host.property("ExecMainStatus")), ("failed", "78"))
    check = host.run("keplerd", "--check-config")
    report.equal("--check-config says the same",
                 (check.returncode, f"{DROP_IN}:2:" in check.stdout + check.stderr), (78, True))
    host.sh(f"rm -r {DROP_IN.rpartition('/')[0]}; systemctl reset-failed keplerd")
    report.equal("back in order, the socket starts it", host.ask("status")["intervalUsec"], 1_000_000)
    report.equal("which is active", host.property("ActiveState"), "active")


def keep(host, report):
    """The saved totals: large ones, and a broken file"""
    def rewrite(change):
        host.sh("systemctl stop keplerd.service 2>/dev/null")
        with tempfile.NamedTemporaryFile("w") as file:
            print(change(host.sh(f"cat {STATE}")), file=file, flush=True)
            host.testbed("copy", file.name, "/run/ledger.json")
        host.sh(f"cat /run/ledger.json >{STATE}")  # whose owner stays
        host.sh("systemctl start keplerd.service")

    large = 2**53 + 1  # no double is this number

    def enlarge(text):
        state = json.loads(text)
        package = next(z for z in state["zones"] if z["name"] == "package")
        package["energyMicrojoules"] += large
        package["unattributedMicrojoules"] += large
        return json.dumps(state)
    host.wait_for_samples()
    total = host_energy(host)
    rewrite(enlarge)
    report.equal("2^53 + 1 uJ more, exactly", host_energy(host), total + large)
    reply = host.run("varlinkctl", "-j", "call", ADDRESS, "org.keplerd.Energy.GetStatus", "{}")
    if reply.returncode == 0:
        report.equal("told by varlinkctl too", json.loads(reply.stdout)["host"]["energyMicrojoules"], total + large)
    check_sums(report, host.snapshot(), "large")

    rewrite(lambda text: text[:len(text) // 2])
    report.check("a broken file is set aside, and said so",
                 f"{STATE}: " in host.journal() and host.run("test", "-s", f"{STATE}.corrupt").returncode == 0)
    report.check("counting starts at zero", host_energy(host) < total)


ALL = [enable, attribute, count, see_all, live, rest, varlink, restart, kill, kill_again, configure, keep]
# What takes longer than CI allows, and after what it comes.
LONG = {kill_again: kill_for_long}
