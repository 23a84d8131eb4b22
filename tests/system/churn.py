#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thousands of cgroups that appear and vanish on a booted host: nothing leaks, nothing has a wrong name, the sums are
exact at every look.

usage: churn.py [--groups N] [--seconds S] [--rate R] [SUITE]     default 5000, 180, 2000; as root
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import signal
import sys
import time

sys.dont_write_bytecode = True

TOP = "/churn.slice"
MADE = "/run/churn.json"


def forms(number):
    """The paths of one of them, outermost first, and what it is: its kind's verb, id and name."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    pod = "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]])
    slice_ = f"{TOP}/kubepods-burstable-pod{pod.replace('-', '_')}.slice"
    user = f"{TOP}/user@{number}.service"
    return [
        ([f"{TOP}/web{number}.service"], []),
        ([f"{TOP}/docker-{digest}.scope"], [("containers", digest, digest[:12])]),
        ([slice_, f"{slice_}/cri-containerd-{digest}.scope"],
         [("pods", pod, pod), ("containers", digest, digest[:12])]),
        ([user, f"{user}/app.slice", f"{user}/app.slice/job.service"], []),
        ([f"{TOP}/lxc.payload.c{number}"], [("containers", f"c{number}", f"c{number}")]),
    ][number % 5]


class Churn:
    """Runs in the booted host."""
    ROOT = pathlib.Path("/sys/fs/cgroup")

    def __init__(self, groups, seed):
        self.random = random.Random(seed)
        self.groups = [[self.ROOT / path.lstrip("/") for path in forms(n)[0]] for n in range(groups)]
        self.processes = {}  # by the number of their group
        self.live, self.made, self.births, self.busy = set(), set(), 0, 0

    def toggle(self, number):
        if number in self.live:
            self.remove(number)
        else:
            for path in self.groups[number]:
                path.mkdir()
            self.live.add(number)
            self.made.add(number)
            self.births += 1
            if self.random.random() < 0.1:
                self.start(number, self.random.uniform(0.002, 0.05))

    def start(self, number, seconds):
        child = os.fork()
        if child == 0:
            (self.groups[number][-1] / "cgroup.procs").write_text("0")
            until = time.process_time() + seconds
            while time.process_time() < until:
                pass
            os._exit(0)
        self.processes[number] = child
        self.busy += 1

    def remove(self, number):
        if number in self.processes:
            os.waitpid(self.processes.pop(number), 0)
        for path in reversed(self.groups[number]):
            path.rmdir()
        self.live.remove(number)

    def run(self, seconds, rate):
        begin, done = time.monotonic(), 0
        while (passed := time.monotonic() - begin) < seconds:
            if done >= passed * rate:
                time.sleep(0.005)
                continue
            self.toggle(self.random.randrange(len(self.groups)))
            done += 1

    def clear(self):
        for number in self.random.sample(sorted(self.live), len(self.live)):
            self.remove(number)


def run_inside(options):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    top = Churn.ROOT / TOP.lstrip("/")
    top.mkdir()
    churn = Churn(options.groups, options.seed)
    try:
        churn.run(options.seconds, options.rate)
    finally:
        churn.clear()
        top.rmdir()
    pathlib.Path(MADE).write_text(json.dumps(
        {"births": churn.births, "busy": churn.busy, "made": sorted(churn.made)}))


class Quiet:
    """A report that keeps what failed."""

    def __init__(self):
        self.passed, self.failures = 0, []

    def check(self, text, good, detail=""):
        if good:
            self.passed += 1
        else:
            self.failures.append((text, detail))

    def equal(self, text, have, want):
        self.check(text, have == want, (have, want))


def cost(host):
    """What keplerd holds: descriptors, inotify watches, KiB of its own memory, and descriptors of the cgroups below TOP."""
    pid = host.property("MainPID")
    return tuple(map(int, host.sh(f"""
        ls /proc/{pid}/fd | wc -l
        cat /proc/{pid}/fdinfo/* 2>/dev/null | grep -c ^inotify
        sed -n 's/^RssAnon:\\s*\\([0-9]*\\).*/\\1/p' /proc/{pid}/status
        ls -l /proc/{pid}/fd | grep -c {TOP}/ || :""").split()))


def look_on(host, options, sums, seen):
    """One round under constant polling: the most that keplerd held, and the number of polls. Adds the rows to `seen`."""
    from scenarios import check_sums
    host.sh("systemd-run -q --collect --unit=churn python3 -B /src/tests/system/churn.py --inside "
            f"--groups={options.groups} --seconds={options.seconds} --rate={options.rate} --seed={options.seed}")
    most, looks = (0, 0, 0, 0), 0
    while host.property("ActiveState", "churn") == "active":
        snapshot = host.snapshot("containers", "pods")
        check_sums(sums, snapshot, f"look {looks}")
        for verb in ("units", "containers", "pods"):
            seen.update((verb, row["id"], row["name"]) for row in snapshot[verb]
                        if row.get("unit", row["id"]).startswith(TOP + "/"))
        most = tuple(map(max, most, cost(host)))
        looks += 1
    return most, looks


def check_names(report, seen, made):
    """Each row is of a cgroup that existed, and has its name."""
    real = set()
    for number in made:
        paths, workloads = forms(number)
        real.update(("units", path, path.rpartition("/")[2]) for path in paths)
        real.update(workloads)
    counts = {verb: sum(row[0] == verb for row in seen) for verb in ("units", "containers", "pods")}
    report.equal(f"no wrong name among {counts}", sorted(seen - real)[:5], [])
    report.check("each form was seen", all(counts.values()))


def go(host, report, options):
    from scenarios import PACKAGE
    host.snapshot()  # as each look does: while processes are wanted, more of their files are held open
    host.wait_for_samples(3)
    before, held, seen, made, sums = cost(host), [], set(), set(), Quiet()
    host.rapl("drive", PACKAGE, 50)
    for options.seed in range(2):
        most, looks = look_on(host, options, sums, seen)
        result = json.loads(host.sh(f"cat {MADE}; rm {MADE}"))
        made.update(result["made"])
        report.note(f"{result['births']} cgroups came and went, {result['busy']} of them busy; {looks} looks; "
                    f"at most {most[0]} descriptors, {most[1]} watches, {most[2]} KiB")
        report.check("they were watched, and held open",
                     looks > 2 and most[1] > before[1] + options.groups / 4 and most[3] > 0, most)
        host.wait_for_samples(3)
        held.append(cost(host))
    host.rapl("halt", PACKAGE)
    report.equal(f"sums are exact at every look: {sums.passed} checks", sums.failures[:3], [])
    check_names(report, seen, made)
    report.note(f"descriptors, watches, KiB, descriptors of theirs: {before} before, then {held[0]}, {held[1]}")
    report.equal("no descriptor of theirs is left", held[1][3], 0)
    # Between two polls, services of the host itself may start and stop.
    report.check("no descriptor is left", abs(held[1][0] - before[0]) <= 20, (before[0], held[1][0]))
    report.check("no watch is left", abs(held[1][1] - before[1]) <= 10)
    # Ended workloads are kept, up to TerminatedMax= of each kind, so the second round may need more than the first.
    report.check("memory is bounded: at most 24 MiB", max(held[0][2], held[1][2]) <= 24 << 10)


def churn(host, report):
    """1,000 cgroups that appear and vanish"""
    go(host, report, argparse.Namespace(groups=1000, seconds=10, rate=1000))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", nargs="?", default="trixie")
    parser.add_argument("--groups", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--rate", type=float, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return run_inside(options)
    import life
    import scenarios
    options.seconds /= 2  # a round

    def many(host, report):
        """Cgroups that appear and vanish"""
        go(host, report, options)
    return life.live(options.suite, [scenarios.enable, many], verbose=True)


if __name__ == "__main__":
    sys.exit(main())
