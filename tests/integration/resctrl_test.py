#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a written resctrl tree to the energy of memory: keplerd-resctrl and keplerd.

usage: resctrl_test.py KEPLERD-RESCTRL KEPLERD
"""
import subprocess
import sys
import time
import unittest

from written_host import Daemon, WrittenHost

RESCTRL, KEPLERD = sys.argv.pop(1), sys.argv.pop(1)
GROUP = "mon_groups/a"
DRAM = "powercap:dram:0"


class Resctrl(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.dram = 1_000_000
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.host.zone("intel-rapl:0:0", "dram", self.dram)
        for file, text in (("online", "0"), ("cpu0/topology/physical_package_id", "0"), ("cpu0/topology/die_id", "0"),
                           ("cpu0/topology/thread_siblings_list", "0"), ("cpu0/cache/index3/id", "0")):
            self.host.write(f"sys/devices/system/cpu/{file}", f"{text}\n")
        self.cpu_usec, self.busy = 0, 1000
        for pid, name in ((10, "a"), (20, "b")):
            self.host.group(f"/{name}.service", 0, [pid])
            self.host.process(pid, 0, group=f"/{name}.service")
            self.host.write(f"cgroup/{name}.service/cgroup.threads", f"{pid}\n")
        self.host.write(f"sys/fs/resctrl/{GROUP}/tasks", "10\n")
        (self.host.root / "sys/fs/resctrl/info").mkdir(parents=True)
        self.counters(0, 0)
        self.directory = self.host.root / "root/run/keplerd-usage/resctrl"
        self.directory.mkdir(parents=True)
        self.directory.parent.chmod(0o755)
        root = self.host.root
        self.reader = subprocess.Popen([RESCTRL, self.directory, root / "sys", root / "proc", root / "cgroup"])
        self.addCleanup(self.stop_reader)
        self.wait_for(lambda lines: len(lines) == 2 and len(set(lines[0].split())) == 3, "a cgroup that is measured for a second")

    def stop_reader(self):
        self.reader.kill()
        self.reader.wait()

    def counters(self, total, of_group):
        # The group's first: meanwhile, the other one moves nothing.
        for path, value in ((GROUP, of_group), ("", total)):
            for name in ("mbm_local_bytes", "mbm_total_bytes"):
                self.host.write(f"sys/fs/resctrl/{path}/mon_data/mon_L3_00/{name}", f"{value}\n")

    def lines(self):
        try:
            return (self.directory / "memory-0").read_text().splitlines()
        except FileNotFoundError:
            return []

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition(self.lines()):
            self.assertLess(time.monotonic(), end, what)
            self.assertIsNone(self.reader.poll())
            time.sleep(0.05)

    def window(self, daemon):
        """Both services run for as long, all the time, and memory draws 40 J; returns what each of them has got of it."""
        self.cpu_usec, self.busy, self.dram = self.cpu_usec + 500_000, self.busy + 100, self.dram + 40_000_000
        for pid, name in ((10, "a"), (20, "b")):
            self.host.group(f"/{name}.service", self.cpu_usec, [pid])
        self.host.ticks(busy=self.busy, idle=1000)
        self.host.zone("intel-rapl:0:0", "dram", self.dram)
        before, after = daemon.drawn, self.drawn(daemon)
        daemon.drawn = after
        return [after[name] - before[name] for name in ("a", "b")]

    def drawn(self, daemon):
        rows = daemon.rows("units")
        energy = {name: {zone["id"]: zone["energyMicrojoules"] for zone in rows[f"/{name}.service"]["zones"]}.get(DRAM, 0)
                  for name in ("a", "b")}
        host = {zone: row["energyMicrojoules"] for zone, row in daemon.rows("zones").items()}
        self.assertLessEqual(sum(energy.values()), host[DRAM])
        return energy

    def test_memory_is_divided_by_traffic_while_it_is_known(self):
        with Daemon(KEPLERD, self.host, "--root", self.host.root / "root",
                    config="[Sampling]\nInterval=0\nStaleness=0\n[Attribution]\nSplit=usage-ratio\n") as daemon:
            daemon.drawn = self.drawn(daemon)
            self.counters(1_000_000, 750_000)
            self.wait_for(lambda lines: lines[0].endswith(" 1000000"), "the traffic")
            self.assertEqual(self.window(daemon), [30_000_000, 10_000_000])
            self.host.write(f"sys/fs/resctrl/{GROUP}/mon_data/mon_L3_00/mbm_total_bytes", "Unavailable\n")
            self.wait_for(lambda lines: lines[0].startswith("unknown "), "the reason")
            self.assertEqual(self.window(daemon), [20_000_000, 20_000_000], "by the model")


if __name__ == "__main__":
    unittest.main(verbosity=2)
