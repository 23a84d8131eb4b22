# SPDX-License-Identifier: Apache-2.0
"""keplerctl run: commands of root and of two ordinary users, in scopes of the managers of all three."""
import json
import shlex

from access import reload
from claims import USERS, become, start_managers, stop_managers
from scenarios import PACKAGE, check_sums

WHO = ["root", *USERS]
EACH = 3
# A report cannot be compared with the row of its scope exactly, for two reasons:
# - The report is as of the sample with which the measurement ends. The process that keeps the scope until then ends after it, and
#   what that takes is energy of the scope which only the row has. Nobody can see the row as of the report's sample: it has changed
#   with the next one, when the scope is gone. END is a bound for what a process needs to end.
# - Users see energies rounded down to 0.1 J: the report of a user is the difference of two of them, both of which may be up to
#   0.1 J too low, and so may what was there before.
# What is exact is compared exactly: all rows with the meter, and the parts of each report with its total.
COARSE = 200_000
END = 50_000


def reports_of(host, who):
    return [json.loads(host.sh(f"cat /tmp/{who}-{i}.json"))["run"] for i in range(EACH)]


def scope_rows(snapshot):
    """By name; ended ones, too."""
    return {row["name"]: row for row in snapshot["units"] if row["name"].startswith("job-")}


def outside_scopes(snapshot):
    """What everything but the scopes has got: the accounts, the own energy of all other units, and processes without one."""
    accounts, status = snapshot["status"]["accounts"], snapshot["status"]
    own = sum(row["ownMicrojoules"] for row in snapshot["units"] if not row["name"].startswith("job-"))
    alone = sum(row["unitMicrojoules"] for row in snapshot["processes"] if "unit" not in row)
    return (accounts["idle"] + accounts["kernel"] + accounts["unattributed"] + own + alone
            + status["outsideOtherMicrojoules"])


def in_parallel(host, report):
    """keplerctl run: commands of root and of two ordinary users at once, at 50 W"""
    start_managers(host)
    host.wait_for_samples()
    before, counter = host.snapshot(), host.counter(PACKAGE)
    host.rapl("drive", PACKAGE, 50)
    spin = ["sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done"]
    host.sh("rm -f /tmp/*-[0-9].json\n" + "".join(
        shlex.join([*become(who), "keplerctl", "-j", "run", f"--unit=job-{who}-{i}", f"--report=/tmp/{who}-{i}.json", "--", *spin])
        + " </dev/null &\n" for who in WHO for i in range(EACH)) + "wait")
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    after = host.snapshot()
    drawn = host.counter(PACKAGE) - counter
    report.equal("the host's energy is the driven counter's, exactly", drawn,
                 after["status"]["host"]["energyMicrojoules"] - before["status"]["host"]["energyMicrojoules"])
    check_sums(report, after, "after the commands")

    rows = scope_rows(after)
    report.equal("a scope for each command", sorted(rows), sorted(f"job-{who}-{i}.scope" for who in WHO for i in range(EACH)))
    scopes = sum(row["ownMicrojoules"] for row in rows.values())
    report.equal("the scopes and the rest are the counter's difference, to the microjoule",
                 scopes + outside_scopes(after) - outside_scopes(before), drawn)
    report.check(f"the scopes got {scopes / 1e6:.1f} of {drawn / 1e6:.1f} J", scopes > drawn / 4)
    for who in WHO:
        for i, run in enumerate(reports_of(host, who)):
            row = rows.get(f"job-{who}-{i}.scope", {})
            missing = row.get("energyMicrojoules", 0) - run.get("energyMicrojoules", -1)
            report.check(f"{who}'s command {i}: {run.get('energyMicrojoules')} of {row.get('energyMicrojoules')} uJ",
                         0 <= missing <= (END if who == "root" else COARSE + END), run)
            report.equal(f"{who}'s command {i}: its status, and who owns its row", (run["exitStatus"], row.get("ownerUid")),
                         (0, USERS.get(who, 0)))
    stop_managers(host)


# Its own CPU time and that of its children, as the kernel has counted it.
STORM = """import os, resource
for _ in range(5000):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime + u.ru_stime for u in used))"""


def storm(host, report):
    """keplerctl run: 5,000 short processes"""
    host.rapl("drive", PACKAGE, 50)
    used = host.sh(f"keplerctl -j run --unit=job-storm --report=/tmp/storm.json -- python3 -c {shlex.quote(STORM)}")
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    run = json.loads(host.sh("cat /tmp/storm.json"))["run"]
    row = scope_rows(host.snapshot()).get("job-storm.scope", {})
    missing = row.get("energyMicrojoules", 0) - run["energyMicrojoules"]
    report.check(f"the report has all of its scope's energy but {missing} uJ", 0 <= missing <= END)
    parts = sum(part["energyMicrojoules"] for part in run["processes"]) + run.get("otherMicrojoules", 0)
    report.equal("programs and other are all of it", parts, run["energyMicrojoules"])
    report.check("the program that started them is listed", "python3" in [part["comm"] for part in run["processes"]], run)
    seconds = float(used)
    report.check(f"all CPU time is counted: {run['cpuUsec'] / 1e6:.2f} s, {seconds:.2f} s by the kernel's own sums",
                 0.97 * seconds <= run["cpuUsec"] / 1e6 <= 1.1 * seconds + 0.1)


def seen_early(host, report):
    """keplerctl run: commands that are sampled before they are in their scopes"""
    reload(host, "[Sampling]\nInterval=10ms\n")
    host.rapl("drive", PACKAGE, 50)
    host.sh("for i in $(seq 20); do keplerctl -j run --unit=job-early-$i --report=/tmp/early-$i.json -- "
            "python3 -c 'sum(range(10000000))'; done")
    host.rapl("halt", PACKAGE)
    runs = [json.loads(host.sh(f"cat /tmp/early-{i + 1}.json"))["run"] for i in range(20)]
    # Of some, no tick of the clock may be counted, or none after the first sample with the process.
    listed = [run for run in runs if len(run["processes"]) == 1]
    report.check(f"their programs are listed: {len(listed)} of {len(runs)}", len(listed) >= 15, runs)
    reload(host, "")


# Wall time of each, in turn, so that all see the same host.
OVERHEAD = """import subprocess, time, statistics
commands = {"true": ["true"], "systemd-run --scope true": ["systemd-run", "-q", "--scope", "true"],
            "keplerctl run true": ["keplerctl", "run", "--report=/dev/null", "--", "true"]}
times = {name: [] for name in commands}
for _ in range(30):
    for name, command in commands.items():
        begin = time.monotonic()
        subprocess.run(command, check=True)
        times[name].append(time.monotonic() - begin)
print(", ".join(f"{name}: {statistics.median(all) * 1000:.1f} ms" for name, all in times.items()))"""


def overhead(host, report):
    """keplerctl run: what it adds to a command"""
    print("        " + host.sh(f"python3 -c {shlex.quote(OVERHEAD)}").strip(), flush=True)


ALL = [in_parallel, storm, seen_early, overhead]
