#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd and keplerd-exporter on this very host, with a written meter, while 200 processes a second and compilers come and
go: the rows add up to what the host used actively, in each of 60 samples and scrapes.

usage: fork_storm_test.py KEPLERD KEPLERD_EXPORTER
"""
import json
import os
import random
import re
import signal
import sys
import threading
import time
import unittest

from exporter_host import Exporter, wait_until
from written_host import Daemon, WrittenHost

KEPLERD, EXPORTER = sys.argv.pop(1), sys.argv.pop(1)
SAMPLES, INTERVAL = 60, 0.5


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def fork(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def storm(per_second=200):
    """Processes that live for milliseconds."""
    begun, done = time.monotonic(), 0
    while True:
        if done >= (time.monotonic() - begun) * per_second:
            time.sleep(0.002)
            continue
        os.waitpid(fork(lambda: burn(0.002)), 0)
        done += 1


def build(seed):
    """A compiler after the other, each with an assembler."""
    times = random.Random(seed)

    def compile_one():
        burn(times.uniform(0.05, 0.4))
        os.waitpid(fork(lambda: burn(0.03)), 0)
    while True:
        os.waitpid(fork(compile_one), 0)
        times.random()


class Rows:
    """Those of one kind, kept up to date by Monitor."""

    def __init__(self, daemon, kind):
        self.socket, self.received = daemon.connect(), b""
        message = {"method": "org.keplerd.Energy.Monitor", "parameters": {"kind": kind}, "more": True}
        self.socket.sendall(json.dumps(message).encode() + b"\0")
        self.rows, self.tick = {}, {}

    def next(self):
        """Until the next sample is complete."""
        while True:
            while b"\0" not in self.received:
                received = self.socket.recv(1 << 20)
                assert received, "keplerd closed the connection"
                self.received += received
            message, _, self.received = self.received.partition(b"\0")
            reply = json.loads(message)
            assert "error" not in reply, reply
            self.tick = reply["parameters"]
            for gone in self.tick.get("removed", ()):
                del self.rows[gone]
            for row in self.tick.get("rows", ()):
                self.rows[row["id"]] = row
            if not self.tick.get("partial"):
                return

    def close(self):
        self.socket.close()


class OnThisHost(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.joules, self.ended = 0, threading.Event()
        self.draw()
        worker = threading.Thread(target=self.draw_on)
        worker.start()
        self.addCleanup(worker.join)
        self.addCleanup(self.ended.set)
        for work in (storm, lambda: build(1), lambda: build(2)):
            pid = fork(lambda: (os.setsid(), os.nice(5), work()))
            self.addCleanup(self.end, pid)
        self.daemon = Daemon(KEPLERD, self.host, "--sysfs", self.host.root / "sys", here=True,
                             config=f"[Sampling]\nInterval={INTERVAL}s\n")
        self.addCleanup(self.daemon.stop)

    def forks(self):
        with open("/proc/stat") as file:
            return int(re.search(r"(?m)^processes (\d+)", file.read())[1])

    def draw(self):
        self.joules += 1
        self.host.zone("intel-rapl:0", "package-0", 1_000_003 * self.joules)
        self.host.zone("intel-rapl:0:0", "dram", 200_001 * self.joules)

    def draw_on(self):
        while not self.ended.wait(0.05):
            self.draw()

    def end(self, pid):
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def expect_sums(self, status, units, processes):
        accounts, host = status["accounts"], status["host"]
        active = host["energyMicrojoules"] - host["idleMicrojoules"]
        self.assertEqual(host["activeMicrojoules"], active)
        self.assertEqual(sum(accounts.values()), host["energyMicrojoules"])
        self.assertEqual(accounts["idle"], host["idleMicrojoules"])
        other = sum(unit["otherMicrojoules"] for unit in units.values()) + status["outsideOtherMicrojoules"]
        shown = sum(process["unitMicrojoules"] for process in processes.values())
        self.assertEqual(shown + other + accounts["kernel"] + accounts["unattributed"], active)
        members = dict.fromkeys(units, 0)
        for process in processes.values():
            if "unit" in process:
                members[process["unit"]] += process["unitMicrojoules"]
        for unit in units.values():
            self.assertEqual(unit["ownMicrojoules"], unit["otherMicrojoules"] + members[unit["id"]], unit["id"])
        return shown, other

    def watts(self, exporter):
        """By zone, in millionths: of all processes and `other`, and of the host."""
        sums = {}
        for line, value in exporter.series().items():
            if match := re.match(r'kepler_(process|node)_cpu_(active_)?watts\{.*zone="(.*?)"', line):
                if match[1] == "process" or match[2]:
                    key = match[3], match[1]
                    sums[key] = sums.get(key, 0) + round(float(value) * 1e6)
        return sums

    def test_rows_add_up_to_the_active_energy_in_every_sample(self):
        exporter = Exporter(EXPORTER, self.daemon.socket, self.host.root / "exporter.log", "--serve=all", "--processes=20")
        exporter.start()
        self.addCleanup(exporter.close)
        wait_until(lambda: self.watts(exporter).get(("package", "node")), "a power")
        units, processes = Rows(self.daemon, "units"), Rows(self.daemon, "processes")
        for rows in (units, processes):
            self.addCleanup(rows.close)
            rows.next()
        checked, others, active, forks = 0, [], 0, self.forks()
        while checked < SAMPLES:
            for rows in (units, processes):
                while rows.tick["sequence"] < max(units.tick["sequence"], processes.tick["sequence"]):
                    rows.next()
            status = self.daemon.status()
            if status["sequence"] == units.tick["sequence"] == processes.tick["sequence"]:
                with self.subTest(sample=status["sequence"]):
                    others.append(self.expect_sums(status, units.rows, processes.rows)[1])
                    watts = self.watts(exporter)
                    # None in a sample in which draw_on() had to wait for a CPU.
                    active += watts["package", "node"]
                    for zone in ("package", "dram"):
                        self.assertEqual(watts[zone, "process"], watts[zone, "node"], zone)
                checked += 1
            units.next()
        self.assertGreater(active, 0)
        self.assertGreater(others[-1], others[0], "some processes were in no sample")
        self.assertGreater(self.forks() - forks, 1000)


if __name__ == "__main__":
    unittest.main()
