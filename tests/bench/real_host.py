#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What keplerd costs on this very machine, with real processes in real cgroups, beside the bare reads of the same
information. As root. See docs/performance.md.

usage: real_host.py PROGRAMS "PROCESSES GROUPS ACTIVE"...
"""
import contextlib
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 15
MIB = 2**20


def cgroup_root():
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 "):
            return pathlib.Path(fields.split()[4])
    sys.exit("no cgroup2 here")


@contextlib.contextmanager
def load(programs, processes, groups, active):
    """So many processes, while it lasts."""
    pids = pathlib.Path("/proc/sys/kernel/pid_max")
    if int(pids.read_text()) < processes + 10000:
        pids.write_text(str(processes + 50000))
    directory = cgroup_root() / "keplerd-bench.slice"
    process = subprocess.Popen([programs / "bench_load", directory, str(processes), str(groups), str(active)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", "no such load on this machine"
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


def samples(programs):
    """What one sample costs, and what the bare reads do; half a second apart."""
    running = {}
    for what in ("floor", "tick"):
        running[what] = subprocess.Popen([programs / "bench_tick", what, str(SECONDS)], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True)
        time.sleep(0.5)
    return {what: json.loads(process.communicate()[0].splitlines()[-1]) for what, process in running.items()}


class Daemon:
    """keplerd as a user would have it, on a simulated source."""

    def __init__(self, programs, interval, *options):
        self.directory = tempfile.TemporaryDirectory(prefix="keplerd-bench-")
        place = pathlib.Path(self.directory.name)
        (place / "keplerd.conf").write_text("")
        self.address = f"unix:{place}/run/org.keplerd.Energy"
        self.control = [programs / "keplerctl", "--varlink", self.address]
        self.process = subprocess.Popen(
            [programs / "keplerd", "--config", place / "keplerd.conf", "--bus", "none", "--source", "simulated",
             "--runtime-dir", place / "run", "--state-dir", place / "state", "--interval", interval, *options],
            stderr=subprocess.DEVNULL)
        while not (place / "run/org.keplerd.Energy").exists():
            assert self.process.poll() is None, "keplerd has ended"
            time.sleep(0.1)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.directory.cleanup()

    def subscribe(self):
        return subprocess.Popen([*self.control, "--json=short", "monitor"], stdout=subprocess.DEVNULL)

    def read(self, file):
        return pathlib.Path(f"/proc/{self.process.pid}/{file}").read_text()

    def number(self, file, name):
        return int(re.search(rf"^{name}:\s*(\d+)", self.read(file), re.MULTILINE)[1])

    def sequence(self):
        return json.loads(subprocess.run([*self.control, "--json=short", "status"], check=True, capture_output=True,
                                         text=True).stdout)["sequence"]

    def measure(self, seconds):
        clock = (~self.process.pid << 3) | 2  # its CPU clock
        first, begin, cpu = self.sequence(), time.monotonic(), time.clock_gettime(clock)
        wakes = self.number("status", "voluntary_ctxt_switches")
        time.sleep(seconds)
        cpu, span = time.clock_gettime(clock) - cpu, time.monotonic() - begin
        wakes = self.number("status", "voluntary_ctxt_switches") - wakes
        return {"core": cpu / span, "wakes": wakes / span, "samples": (self.sequence() - first) / span,
                "anonymous": self.number("smaps_rollup", "Anonymous") * 1024}


def whole(programs, interval, subscribed, seconds=SECONDS):
    daemon = Daemon(programs, interval)
    subscriber = daemon.subscribe() if subscribed else None
    time.sleep(3)
    try:
        return daemon.measure(seconds)
    finally:
        if subscriber:
            subscriber.terminate()
            subscriber.wait()
        daemon.end()


def show(programs, size):
    processes, groups, active = map(int, size.split())
    with load(programs, processes, groups, active):
        cost = samples(programs)
        floor, tick = cost["floor"], cost["tick"]
        print(f"{processes} processes in {groups} cgroups, {active} active:")
        print(f"  a sample: {tick['medianNsec'] / 1e6:.2f} ms of CPU, {tick['allocations']} allocations; "
              f"the bare reads: {floor['medianNsec'] / 1e6:.2f} ms; {tick['medianNsec'] / floor['medianNsec']:.2f} times",
              flush=True)
        for interval, subscribed in (("1s", True), ("1s", False), ("10ms", True)):
            took = whole(programs, interval, subscribed)
            print(f"  keplerd every {interval}, {'one status subscriber' if subscribed else 'nobody listens'}: "
                  f"{100 * took['core']:.2f} % of a core, {took['samples']:.1f} samples/s, {took['wakes']:.1f} wake-ups/s, "
                  f"{took['anonymous'] / MIB:.1f} MiB anonymous", flush=True)


def main():
    programs = pathlib.Path(sys.argv[1])
    for size in sys.argv[2:]:
        show(programs, size)


if __name__ == "__main__":
    main()
