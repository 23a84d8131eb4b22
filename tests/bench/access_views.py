#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of unprivileged followers: 64 users with 31 busy processes each, of whom 0, 1, 16 or 64 follow their own.
keplerd's CPU time from a sample until the last of them has received it. As root, to create other users' processes.

usage: access_views.py KEPLERD
"""
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from written_host import Daemon, WrittenHost, read_message, stream_of  # noqa: E402

USERS, PROCESSES, ROUNDS, FIRST = 64, 31, 6, 20_000


def scope(user):
    return f"/user.slice/user-{user}.slice/session-{user}.scope"


def process_stat(pid, ticks):
    return f"{pid} (task) S 1 {pid} {pid} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0 100 1000000 100{' 0' * 28}\n"


class Host(WrittenHost):
    def __init__(self):
        super().__init__()
        self.root.chmod(0o755)
        self.round = 0
        for user in range(FIRST, FIRST + USERS):
            self.group(scope(user), 0, [user * 100 + i for i in range(PROCESSES)])
            for i in range(PROCESSES):
                pid = user * 100 + i
                self.process(pid, 0, group=scope(user))
                self.write(f"proc/{pid}/status", f"Name:\ttask\nUid:\t{user}\t{user}\t{user}\t{user}\n")
        self.work()

    def work(self):
        self.round += 1
        n = self.round
        self.zone("intel-rapl:0", "package-0", n * 100_000_000)
        self.ticks(1000 + 100 * n, 1000 + 100 * n)
        for user in range(FIRST, FIRST + USERS):
            for path in (f"/user.slice/user-{user}.slice", scope(user)):
                self.write(f"cgroup{path}/cpu.stat", f"usage_usec {n * 10_000 * PROCESSES}\n")
            for i in range(PROCESSES):
                self.write(f"proc/{user * 100 + i}/stat", process_stat(user * 100 + i, n))
        self.write("cgroup/user.slice/cpu.stat", f"usage_usec {n * 10_000 * PROCESSES * USERS}\n")


def follow(daemon, user):
    """A child that runs as this user and follows its processes. Returns its pid once it has received them."""
    received, notify = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        stream = stream_of(daemon.connect())
        call = {"method": "org.keplerd.Energy.Monitor", "parameters": {"kind": "processes"}, "more": True}
        stream.write(json.dumps(call).encode() + b"\0")
        stream.flush()
        while reply := json.loads(read_message(stream)):
            assert len(reply["parameters"]["rows"]) == PROCESSES, reply
            os.write(notify, b".")
    os.close(notify)
    assert os.read(received, 1) == b".", "nothing is sent to a follower"
    return child, received


def main():
    host = Host()
    with Daemon(sys.argv[1], host) as daemon:
        clock = (~daemon.process.pid << 3) | 2  # its CPU clock
        daemon.status()
        followers = []
        for count in (0, 1, 16, USERS):
            while len(followers) < count:
                followers.append(follow(daemon, FIRST + len(followers)))
            costs = []
            for _ in range(ROUNDS):
                time.sleep(1.1)  # a public tick is due
                host.work()
                before = time.clock_gettime(clock)
                daemon.status()
                for _, received in followers:
                    assert os.read(received, 1) == b"."
                costs.append(1e3 * (time.clock_gettime(clock) - before))
            print(f"{count} strangers: {sum(costs) / ROUNDS:.1f} ms CPU ({min(costs):.1f} to {max(costs):.1f})", flush=True)
        for child, _ in followers:
            os.kill(child, signal.SIGTERM)
    host.remove()


if __name__ == "__main__":
    main()
