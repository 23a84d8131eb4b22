#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of keplerd on this very machine, with real processes in real cgroups, compared with bare reads of the same
information. As root. See docs/performance.md.

usage: real_host.py PROGRAMS [--machines N]... [--vcpus N] [PROCESSES GROUPS ACTIVE]...
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from cgroup2 import cgroup_root  # noqa: E402
from running import Daemon, Subscriber, run, uptime  # noqa: E402

SECONDS = 15
MINUTE = 60  # some of the work is done once a minute
WARM_UP = 30  # more is read before that: it expects whoever started it to call, and new cgroups to change
TRACED = 10  # reports: processes that nobody asks for are read with one of these
MIB = 2**20


@contextlib.contextmanager
def room_for(processes):
    """Sets pid_max inside `with`."""
    file = pathlib.Path("/proc/sys/kernel/pid_max")
    before = int(file.read_text())
    if before < processes + 10000:
        file.write_text(str(processes + 50000))
    try:
        yield
    finally:
        if before < processes + 10000:
            file.write_text(str(before))


@contextlib.contextmanager
def load(programs, tasks, *what):
    """So many processes and threads, while it lasts."""
    with room_for(tasks):
        process = subprocess.Popen([programs / "bench_load", cgroup_root() / "keplerd-bench.slice", *map(str, what)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout.readline() == "ready\n", "no such load on this machine"
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
    cost = {what: json.loads(process.communicate()[0].splitlines()[-1]) for what, process in running.items()}
    floor, tick = cost["floor"], cost["tick"]
    print(f"  a sample: {tick['medianNsec'] / 1e6:.2f} ms of CPU, {tick['allocations']} allocations; "
          f"the bare reads: {floor['medianNsec'] / 1e6:.2f} ms; {tick['medianNsec'] / floor['medianNsec']:.2f} times", flush=True)


def show(took):
    print(f"    {100 * took['core']:.3f} % of a core, {took['wakes']:.1f} wake-ups/s, "
          f"{took['anonymous'] / MIB:.1f} MiB anonymous", flush=True)


def alone(programs, interval):
    with Daemon(programs, interval) as daemon:
        time.sleep(WARM_UP)
        print(f"  keplerd every {interval}, nobody listens:")
        show(daemon.measure(MINUTE))


def followed(programs, interval, usec, kind=None, check=None):
    """With a subscriber, which receives everything once before the measurement starts."""
    is_slow = usec >= 1_000_000
    seconds = MINUTE if is_slow else SECONDS
    with Daemon(programs, interval) as daemon:
        subscriber = Subscriber(daemon.socket, usec, kind)
        time.sleep(WARM_UP)
        print(f"  keplerd every {interval}, one subscriber of {kind or 'the host'}:")
        if check:
            check(daemon)
        subscriber.late.clear()
        show(daemon.measure(seconds))
        late = sorted(subscriber.late)
        print(f"    {len(late) / seconds:.1f} reports/s; from the sample to the subscriber: median "
              f"{statistics.median(late) / 1000:.2f} ms, 99 % within {late[(99 * len(late) - 1) // 100] / 1000:.2f} ms", flush=True)
        if is_slow:
            calls = daemon.system_calls(subscriber, TRACED)
            most = sorted(calls, key=calls.get, reverse=True)[:4]
            print(f"    {sum(calls.values()):.0f} system calls a sample: " +
                  ", ".join(f"{name} {calls[name]:.0f}" for name in most) + "...", flush=True)
        subscriber.close()


def show_processes(programs, processes, groups, active):
    print(f"{processes} processes in {groups} cgroups, {active} active:", flush=True)
    with load(programs, processes, processes, groups, active):
        samples(programs)
        followed(programs, "1s", 1_000_000)
        alone(programs, "1s")
        followed(programs, "10ms", 10_000)


def show_machines(programs, machines, of_each):
    def are_there(daemon):
        rows = daemon.ask("vms")["virtualMachines"]
        vcpus = {f"vcpu{i}" for i in range(of_each)}
        whole = [row for row in rows if vcpus <= {part["name"] for part in row["breakdown"]} and row["energyMicrojoules"] > 0]
        assert len(whole) == machines, f"{len(rows)} machines are found, {len(whole)} of them whole"

    print(f"{machines} virtual machines of {of_each} vCPUs each, all at work:", flush=True)
    with load(programs, machines * (of_each + 1), "machines", machines, machines, programs / "bench/qemu-system-x86_64",
              of_each):
        samples(programs)
        followed(programs, "1s", 1_000_000, None, are_there)
        followed(programs, "1s", 1_000_000, "vms")


def pieces(programs):
    place = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
    with tempfile.NamedTemporaryFile("r", prefix="keplerd-pieces-") as out:
        subprocess.run([programs / "bench_pieces", f"--benchmark_out={out.name}"], check=True, capture_output=True,
                       env=os.environ | place)
        took = json.load(out)
    print("Pieces of work (docs/performance.md, The guard), CPU time:")
    for piece in took["benchmarks"]:
        print(f"  {piece['name'].partition('/')[0]:18} {piece['real_time']:10.1f} us")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", usage="%(prog)s [--machines N]... [--vcpus N] [PROCESSES GROUPS ACTIVE]...")
    parser.add_argument("programs", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--machines", type=int, action="append", default=[], metavar="N", help="virtual machines")
    parser.add_argument("--vcpus", type=int, default=4, metavar="N", help="vCPUs of each virtual machine (4)")
    parser.add_argument("sizes", type=int, nargs="*", help="by default 2000 200 100, if no machines are asked for")
    options = parser.parse_intermixed_args()
    if len(options.sizes) % 3:
        parser.error("sizes are PROCESSES GROUPS ACTIVE")
    if not options.sizes and not options.machines:
        options.sizes = [2000, 200, 100]
    if cgroup_root() is None:
        raise SystemExit("no cgroup2 here")
    uptime()
    for i in range(0, len(options.sizes), 3):
        show_processes(options.programs, *options.sizes[i:i + 3])
    for machines in options.machines:
        show_machines(options.programs, machines, options.vcpus)
    pieces(options.programs)
    uptime()


if __name__ == "__main__":
    run(main)
