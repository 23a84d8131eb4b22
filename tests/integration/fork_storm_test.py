#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd and keplerd-exporter on this very host, with a written meter, while 200 processes a second and compilers come and
go: the rows add up to what the host used actively, in each of 60 samples and scrapes.

usage: fork_storm_test.py KEPLERD KEPLERD_EXPORTER
"""
import os
import re
import signal
import sys
import threading
import unittest

from exporter_host import Exporter, wait_until
from fork_storm import Rows, build, exported_watts, fork, next_sample, storm, wrong_sums
from written_host import Daemon, WrittenHost

KEPLERD, EXPORTER = sys.argv.pop(1), sys.argv.pop(1)
SAMPLES, INTERVAL = 60, 0.5


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

    def test_rows_add_up_to_the_active_energy_in_every_sample(self):
        exporter = Exporter(EXPORTER, self.daemon.socket, self.host.root / "exporter.log", "--serve=all", "--processes=20")
        exporter.start()
        self.addCleanup(exporter.close)
        wait_until(lambda: exported_watts(exporter.series()).get(("package", "node")), "a power")
        units, processes = Rows(self.daemon.connect(), "units"), Rows(self.daemon.connect(), "processes")
        for rows in (units, processes):
            self.addCleanup(rows.close)
            rows.next()
        checked, others, active, forks = 0, [], 0, self.forks()
        while checked < SAMPLES:
            status = next_sample(units, processes, self.daemon.status)
            if status is None:
                continue
            checked += 1
            with self.subTest(sample=status["sequence"]):
                wrong, other = wrong_sums(status, units.rows, processes.rows)
                self.assertEqual(wrong, {})
                others.append(other)
                watts = exported_watts(exporter.series())
                # None in a sample in which draw_on() had to wait for a CPU.
                active += watts["package", "node"]
                for zone in ("package", "dram"):
                    self.assertEqual(watts[zone, "process"], watts[zone, "node"], zone)
        self.assertGreater(active, 0)
        self.assertGreater(others[-1], others[0], "some processes were in no sample")
        self.assertGreater(self.forks() - forks, 1000)


if __name__ == "__main__":
    unittest.main()
