#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What keplerd-perf costs each switch of a CPU between two cgroups: two processes on one CPU wake each other in turn, with and without
counters, several times in one run. With the kernel's task clock, because this works on every host: hardware counters cost more.

usage: perf_switches.py KEPLERD-PERF [--hardware]
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from cgroup2 import cgroup_root  # noqa: E402

ROUNDS, TURNS = 7, 40_000


def enter(cgroup):
    (cgroup / "cgroup.procs").write_text(str(os.getpid()))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def nanoseconds(ours, theirs):
    """Of a switch."""
    there, back = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        enter(theirs)
        for _ in range(TURNS):
            os.read(there[0], 1)
            os.write(back[1], b"x")
        os._exit(0)
    enter(ours)
    start = time.monotonic_ns()
    for _ in range(TURNS):
        os.write(there[1], b"x")
        os.read(back[0], 1)
    taken = time.monotonic_ns() - start
    os.waitpid(child, 0)
    for end in (*there, *back):
        os.close(end)
    return taken / (2 * TURNS)


def counting(program, options, directory, config):
    counter = subprocess.Popen([program, "--config", config, *options, directory], stderr=subprocess.DEVNULL)
    while not list(pathlib.Path(directory).glob("*-0")):
        time.sleep(0.05)
    return counter


def main():
    program, options = sys.argv[1], [] if "--hardware" in sys.argv else ["--task-clock"]
    parent = cgroup_root() / "keplerdbench.slice"
    cgroups = [parent / f"{number}.service" for number in range(50)]
    parent.mkdir()
    for cgroup in cgroups:
        cgroup.mkdir()
    home = cgroup_root() / pathlib.Path("/proc/self/cgroup").read_text().split("0::/")[-1].strip()
    # By what is counted: nothing; all that runs; two cgroups; fifty.
    patterns = {"nothing": None, "all that runs": "", "2 cgroups": f"/{parent.name}/0.service /{parent.name}/1.service",
                "50 cgroups": f"/{parent.name}/*"}
    times = {name: [] for name in patterns}
    try:
        for _ in range(ROUNDS):
            for name, pattern in patterns.items():
                with tempfile.TemporaryDirectory() as directory:
                    config = pathlib.Path(directory) / "keplerd.conf"
                    config.write_text(f"[Perf]\nCgroups={pattern}\nDescriptors=200000\n[Attribution]\nShare=instructions\n")
                    output = pathlib.Path(directory) / "perf"
                    output.mkdir()
                    counter = counting(program, options, output, config) if pattern is not None else None
                    times[name].append(nanoseconds(*cgroups[:2]))
                    if counter:
                        counter.kill()
                        counter.wait()
    finally:
        (home / "cgroup.procs").write_text(str(os.getpid()))
        for cgroup in cgroups:
            cgroup.rmdir()
        parent.rmdir()
    base = statistics.median(times["nothing"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:14} {median:7.0f} ns a switch, {median - base:+6.0f} ns, {median / base:5.2f} times")


main()
