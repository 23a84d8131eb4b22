#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-exporter that nobody scrapes: its clock is set ahead by a preloaded library.

usage: pause_test.py KEPLERD KEPLERD_EXPORTER LATER_CLOCK_LIBRARY
"""
import os
import struct
import sys
import unittest

from exporter_host import Exporter, WorkingHost, names, wait_until
from open_files import open_files
from written_host import Daemon

KEPLERD, EXPORTER, LIBRARY = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
SECOND = 10**9


class Pause(unittest.TestCase):
    def setUp(self):
        self.host = WorkingHost()
        self.addCleanup(self.host.remove)
        self.daemon = Daemon(KEPLERD, self.host.files,
                             config="[Sampling]\nInterval=1s\n[Workloads]\nTerminatedMinEnergy=1mJ\n")
        self.addCleanup(self.daemon.stop)
        self.clock = self.host.files.root / "later"
        self.set_ahead(0)
        environment = ["env", f"LD_PRELOAD={LIBRARY}", f"LATER_CLOCK={self.clock}",
                       f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"]
        self.exporter = Exporter(EXPORTER, self.daemon.socket, self.host.files.root / "exporter.log", "--serve=all",
                                 "--processes=100")
        self.exporter.command = [*self.exporter.command[:4], *environment, *self.exporter.command[4:]]
        self.exporter.start()
        self.addCleanup(self.exporter.close)

    def set_ahead(self, seconds):
        with open(self.clock, "r+b" if self.clock.exists() else "wb") as file:
            file.write(struct.pack("q", seconds * SECOND))

    def streams(self):
        """How many sockets keplerd has open besides the one that it listens at and that of this test."""
        sockets = sum(name.startswith("socket:") for name in open_files(self.daemon.process.pid))
        return sockets - 1 - (self.daemon.connection is not None)

    def power(self):
        return "kepler_node_cpu_watts" in names(series := self.exporter.series()) and series

    def test_it_follows_only_while_it_is_scraped_and_the_first_scrape_afterwards_has_all(self):
        self.host.work()
        before = wait_until(self.power, "a power")
        self.assertEqual(self.streams(), 6, "one of each kind")
        self.set_ahead(9 * 60)
        after_nine = self.daemon.status()["sequence"]
        wait_until(lambda: self.daemon.status()["sequence"] >= after_nine + 6, "a tick of the exporter")
        self.assertEqual(self.streams(), 6)
        self.set_ahead(11 * 60)
        wait_until(lambda: self.streams() == 0, "the end of the streams")

        machine = 'kepler_vm_cpu_joules_total{node_name="'
        self.host.end_machine(2, 21)
        wait_until(lambda: any(row["state"] == "terminated" for row in self.daemon.rows("vms").values()), "its end")
        self.assertEqual(self.streams(), 0)
        after = self.exporter.series()
        self.assertEqual(self.streams(), 6)
        self.assertIn("kepler_node_cpu_watts", names(after))
        ended = [line for line in after if line.startswith(machine) and 'vm_name="gone"' in line and 'zone="package"' in line]
        self.assertEqual(len(ended), 1)
        self.assertIn('state="terminated"', ended[0])
        for line, value in before.items():
            if "_total" in line and "other" not in line and line in after:
                self.assertGreaterEqual(float(after[line]), float(value), line)


if __name__ == "__main__":
    unittest.main()
