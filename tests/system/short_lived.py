#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short-lived processes and units on a booted host: what no sample has seen is in the rows all the same.

usage: short_lived.py storm | samples COUNT      in the booted host: the processes; what is wrong with so many samples
"""
import json
import pathlib
import re
import shlex
import socket
import sys
import time
import urllib.request

sys.dont_write_bytecode = True

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(SOURCE / "tests/integration"))
import fork_storm  # noqa: E402

ADDRESS = "/run/keplerd/org.keplerd.Energy"
OPTIONS = "/etc/default/keplerd-exporter"
KEEP_ALL = "/etc/keplerd/keplerd.conf.d/70-keep-all.conf"
COMPILER = """printf '#include <stdio.h>\\nint main(void) { return puts("x"); }\\n' >/tmp/x.c
while :; do gcc -O2 -c -o /tmp/x.o /tmp/x.c; done"""


def exported():
    with urllib.request.urlopen("http://127.0.0.1:28282/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def samples(count):
    """Follows keplerd in the booted host."""
    def connect():
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(ADDRESS)
        return connection
    asked = connect().makefile("rwb")

    def status():
        asked.write(b'{"method":"org.keplerd.Energy.GetStatus"}\0')
        asked.flush()
        message = b""
        while not message.endswith(b"\0"):
            message += asked.read(1)
        return json.loads(message[:-1])["parameters"]
    units, processes = fork_storm.Rows(connect(), "units"), fork_storm.Rows(connect(), "processes")
    for rows in (units, processes):
        rows.next()
    while not fork_storm.exported_watts(exported()).get(("package", "node")):
        time.sleep(0.1)
    found = []
    while len(found) < count:
        if (now := fork_storm.next_sample(units, processes, status)) is None:
            continue
        wrong, other = fork_storm.wrong_sums(now, units.rows, processes.rows)
        watts = fork_storm.exported_watts(exported())
        wrong |= {f"exported {zone}": (watts.get((zone, "process")), node)
                  for (zone, what), node in watts.items() if what == "node" and watts.get((zone, "process")) != node}
        found.append({"wrong": wrong, "other": other, "watts": watts.get(("package", "node"), 0),
                      "active": now["host"]["energyMicrojoules"] - now["host"]["idleMicrojoules"]})
    print(json.dumps(found))


def storm_of(host, report, count):
    from scenarios import PACKAGE
    host.sh(f"""
        cp -p {OPTIONS} {OPTIONS}.installed
        echo 'ARGS="--serve=host,processes"' >>{OPTIONS}
        systemctl start keplerd-exporter.socket
        systemctl restart keplerd-exporter.service
        systemd-run -q --unit=storm python3 -B /src/tests/system/short_lived.py storm
        systemd-run -q --unit=compiler sh -c {shlex.quote(COMPILER)}""")
    host.rapl("drive", PACKAGE, 50)
    host.wait_for_samples()

    def forks():
        return int(re.search(r"(?m)^processes (\d+)", host.sh("cat /proc/stat"))[1])
    before = forks()
    found = json.loads(host.sh(f"python3 -B /src/tests/system/short_lived.py samples {count}"))
    after = forks()
    host.rapl("halt", PACKAGE)
    host.sh(f"""
        systemctl stop storm compiler keplerd-exporter.socket keplerd-exporter.service
        mv {OPTIONS}.installed {OPTIONS}""")
    for number, sample in enumerate(found):
        report.equal(f"sample {number}: processes + other = active = host - idle, on varlink and exported, "
                     f"{sample['watts'] / 1e6:.1f} W", sample["wrong"], {})
    drawn, unseen = (found[-1][what] - found[0][what] for what in ("active", "other"))
    report.check(f"{after - before} forks; {drawn / 1e6:.1f} J active, {unseen / 1e6:.1f} J of it of processes without rows",
                 after - before > 30 * count and drawn > 0 and unseen > 0)


def storm(host, report):
    """200 forks a second and a compiler: rows that add up in 10 samples"""
    storm_of(host, report, 10)


def storm_for_long(host, report):
    """200 forks a second and a compiler: rows that add up in 60 samples"""
    storm_of(host, report, 60)


# Some 20 ms of CPU time each.
UNITS = """i=0; while [ $i -lt 100 ]; do
    systemd-run --wait --collect --unit=short-$i sh -c 'i=0; while [ $$i -lt 20000 ]; do i=$$((i + 1)); done' 2>&1
    i=$((i + 1))
done"""
TIMES = {"ms": 1e3, "s": 1e6, "us": 1.0}


def last_reads(host, report):
    """100 short units, one after another: what is read of them before they are removed"""
    from scenarios import PACKAGE, check_sums
    host.sh(f"""
        mkdir -p {KEEP_ALL.rpartition('/')[0]}
        printf '[Workloads]\\nTerminatedMinEnergy=0\\n' >{KEEP_ALL}
        systemctl reload keplerd""")
    host.rapl("drive", PACKAGE, 50)
    host.wait_for_samples()
    before = host.snapshot()
    text = host.sh(UNITS)
    host.wait_for_samples()
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    after = host.snapshot()
    check_sums(report, after, "after 100 short units")
    used = sum(float(number) * TIMES[unit] for number, unit in re.findall(r"CPU time consumed: ([\d.]+)(ms|us|s)", text))
    rows = [row for row in after["units"] if re.fullmatch(r"short-\d+\.service", row["name"])]
    counted = sum(row["cpuUsec"] for row in rows)
    missed = after["status"]["missedEnds"] - before["status"]["missedEnds"]
    report.check(f"{missed} ends were missed; {len(rows)} of 100 units have rows, with {counted / 1e6:.2f} s of the "
                 f"{used / 1e6:.2f} s of CPU time that systemd counted, and {sum(r['energyMicrojoules'] for r in rows) / 1e6:.1f} J",
                 len(rows) + missed >= 100 and counted <= used + 100_000)
    print(f"        {missed} of 100 ends missed, {counted / used * 100:.1f} % of the units' CPU time counted in their rows", flush=True)

    def slice_time(snapshot):
        return next(row["cpuUsec"] for row in snapshot["units"] if row["id"] == "/system.slice")
    report.check("what is missing is in their slice", slice_time(after) - slice_time(before) >= used)
    host.sh(f"rm {KEEP_ALL}; systemctl reload keplerd")


ALL = [storm, last_reads]
LONG = {storm: storm_for_long}


if __name__ == "__main__":
    if sys.argv[1] == "storm":
        fork_storm.storm()
    else:
        samples(int(sys.argv[2]))
