#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What keplerd has in memory, the kernel's for it included, where its documented limits are reached: MemoryMax= of its unit.
As root, in a memory cgroup of its own, with real cgroups; processes are written ones, which need no descriptors.

usage: memory_limits.py KEPLERD SOURCE [GROUPS PROCESSES]      by default 100,000 each
"""
import contextlib
import os
import pathlib
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "attack")]

import bus_attacks  # noqa: E402
import varlink_attacks  # noqa: E402
from attackers import Attackers  # noqa: E402
from private_bus import Client, PrivateBus  # noqa: E402
from stage import JOE, SUBUIDS, Stage, bus_policy, peak  # noqa: E402

MIB = 2**20


class MemoryCgroup:
    """Of version 2 or 1, whichever has the controller."""

    def __init__(self):
        name = f"keplerd-limits-{os.getpid()}"
        two, one = pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/memory")
        if (two / "cgroup.controllers").exists() and "memory" in (two / "cgroup.controllers").read_text():
            (two / "cgroup.subtree_control").write_text("+memory")
            self.path, self.peak_file, self.kernel_file = two / name, "memory.peak", None
        else:
            self.path, self.peak_file, self.kernel_file = one / name, "memory.max_usage_in_bytes", "memory.kmem.usage_in_bytes"
        self.path.mkdir()

    def wrapped(self, program, place):
        """The program, started inside it."""
        place.write_text(f'#!/bin/sh\necho $$ >{self.path}/cgroup.procs\nexec {program} "$@"\n')
        place.chmod(0o755)
        return place

    def kernel(self):
        if self.kernel_file:
            return int((self.path / self.kernel_file).read_text())
        stat = dict(line.split() for line in (self.path / "memory.stat").read_text().splitlines())
        return int(stat["kernel"])

    def peak(self):
        return int((self.path / self.peak_file).read_text())

    def remove(self):
        self.path.rmdir()


def show(what, daemon, group):
    descriptors = len(os.listdir(f"/proc/{daemon.process.pid}/fd"))
    threads = len(os.listdir(f"/proc/{daemon.process.pid}/task"))
    print(f"| {what} | {group.peak() / MIB:.0f} MiB | {peak(daemon.process.pid) / MIB:.0f} MiB | {group.kernel() / MIB:.0f} MiB | "
          f"{descriptors} | {threads} |", flush=True)


@contextlib.contextmanager
def daemon_on(stage, program, source):
    root = stage.files.root
    group = MemoryCgroup()
    try:
        with PrivateBus(root / "bus", bus_policy(source)) as bus:
            daemon = stage.daemon(group.wrapped(program, root / "wrapped"), bus=bus.address)
            try:
                client = Client(bus)
                client.wait_for_service()
                client.close()
                daemon.status()
                time.sleep(5)
                yield daemon, bus, group
            finally:
                daemon.stop()
    finally:
        time.sleep(0.2)
        group.remove()


def cgroups(program, source, count):
    stage = Stage(groups=count, real=True)
    try:
        stage.work()
        with daemon_on(stage, program, source) as (daemon, bus, group), Attackers() as attackers:
            show(f"{count:,} cgroups", daemon, group)
            for uid in [JOE] * 1 + [SUBUIDS + i for i in range(3)] + [0] * 4:
                attackers.start(uid, varlink_attacks.deaf, daemon.socket)
            time.sleep(30)
            show("512 varlink connections that ask for all of them and do not read", daemon, group)
            attackers.end()
            for uid in [0] * 4:
                attackers.start(uid, varlink_attacks.deaf_followers, daemon.socket)
            time.sleep(30)
            show("256 of root's that follow all of them and do not read", daemon, group)
            attackers.end()
            for _ in range(16):
                attackers.start(0, bus_attacks.subscriptions, bus.address, 16)
            time.sleep(30)
            show("256 D-Bus subscriptions to all kinds", daemon, group)
    finally:
        stage.remove()


def processes(program, source, count):
    stage = Stage(processes=count)
    try:
        stage.work()
        with daemon_on(stage, program, source) as (daemon, bus, group), Attackers() as attackers:
            show(f"{count:,} processes", daemon, group)
            for uid in [0] * 4:
                attackers.start(uid, varlink_attacks.whole_lists, daemon.socket, "processes")
            time.sleep(30)
            show("256 varlink connections that ask for all of them", daemon, group)
    finally:
        stage.remove()


def main():
    program, source = map(pathlib.Path, sys.argv[1:3])
    groups, tasks = map(int, sys.argv[3:5]) if len(sys.argv) > 4 else (100_000, 100_000)
    print("| what | of the cgroup, most | resident, most | the kernel's of it | descriptors | threads |\n|---|---|---|---|---|---|")
    cgroups(program.resolve(), source.resolve(), groups)
    processes(program.resolve(), source.resolve(), tasks)


if __name__ == "__main__":
    main()
