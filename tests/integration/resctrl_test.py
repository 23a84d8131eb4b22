#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a written resctrl tree to the energy of memory and of a processor: keplerd-resctrl and keplerd.

usage: resctrl_test.py KEPLERD-RESCTRL KEPLERD-RESCTRL-GROUPS KEPLERD
"""
import subprocess
import sys
import time
import unittest

from written_host import Daemon, WrittenHost

RESCTRL, GROUPS, KEPLERD = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
GROUP = "mon_groups/a"
DRAM, PACKAGE = "powercap:dram:0", "powercap:package:0"


class Resctrl(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.dram = self.package = 1_000_000
        self.host.zone("intel-rapl:0", "package-0", self.package)
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
        self.core_energy("0.000000", "0.000000")
        self.directory = self.host.root / "root/run/keplerd-usage/resctrl"
        self.directory.mkdir(parents=True)
        self.directory.parent.chmod(0o755)
        root = self.host.root
        self.reader = subprocess.Popen([RESCTRL, self.directory, root / "sys", root / "proc", root / "cgroup"])
        self.addCleanup(self.stop_reader)
        for file in ("memory-0", "cores-0"):
            self.wait_for(lambda lines: len(lines) == 2 and len(set(lines[0].split())) == 3, "a cgroup that is measured", file)

    def stop_reader(self):
        self.reader.kill()
        self.reader.wait()

    def counters(self, total, of_group):
        # The group's first: meanwhile, the other one moves nothing.
        for path, value in ((GROUP, of_group), ("", total)):
            for name in ("mbm_local_bytes", "mbm_total_bytes"):
                self.host.write(f"sys/fs/resctrl/{path}/mon_data/mon_L3_00/{name}", f"{value}\n")

    def core_energy(self, total, of_group):
        for path, value in ((GROUP, of_group), ("", total)):
            self.host.write(f"sys/fs/resctrl/{path}/mon_data/mon_PERF_PKG_00/core_energy", f"{value}\n")

    def lines(self, file):
        try:
            return (self.directory / file).read_text().splitlines()
        except FileNotFoundError:
            return []

    def wait_for(self, condition, what, file):
        end = time.monotonic() + 60
        while not condition(self.lines(file)):
            self.assertLess(time.monotonic(), end, what)
            self.assertIsNone(self.reader.poll())
            time.sleep(0.05)

    def window(self, daemon, zone):
        """Both services run for as long, all the time, and memory and the processor draw 40 J each; returns what each of the services
        has got of a zone."""
        self.cpu_usec, self.busy = self.cpu_usec + 500_000, self.busy + 100
        self.dram, self.package = self.dram + 40_000_000, self.package + 40_000_000
        for pid, name in ((10, "a"), (20, "b")):
            self.host.group(f"/{name}.service", self.cpu_usec, [pid])
        self.host.ticks(busy=self.busy, idle=1000)
        self.host.zone("intel-rapl:0:0", "dram", self.dram)
        self.host.zone("intel-rapl:0", "package-0", self.package)
        before, after = daemon.drawn, self.drawn(daemon)
        daemon.drawn = after
        return [after[name, zone] - before[name, zone] for name in ("a", "b")]

    def drawn(self, daemon):
        rows = daemon.rows("units")
        zones = {name: rows[f"/{name}.service"]["zones"] for name in ("a", "b")}
        energy = {(name, zone["id"]): zone["energyMicrojoules"] for name in zones for zone in zones[name]}
        host = {zone: row["energyMicrojoules"] for zone, row in daemon.rows("zones").items()}
        for zone in (DRAM, PACKAGE):
            self.assertLessEqual(energy["a", zone] + energy["b", zone], host[zone])
        self.counted = {(name, zone["id"]) for name in zones for zone in zones[name] if zone.get("counted")}
        return energy

    def daemon(self):
        return Daemon(KEPLERD, self.host, "--root", self.host.root / "root",
                      config="[Sampling]\nInterval=0\nStaleness=0\n[Attribution]\nSplit=usage-ratio\n")

    def test_memory_is_divided_by_traffic_while_it_is_known(self):
        with self.daemon() as daemon:
            daemon.drawn = self.drawn(daemon)
            self.counters(1_000_000, 750_000)
            self.wait_for(lambda lines: lines[0].endswith(" 1000000"), "the traffic", "memory-0")
            self.assertEqual(self.window(daemon, DRAM), [30_000_000, 10_000_000])
            self.assertEqual(self.counted, {("a", DRAM)}, "no energy of cores has been counted")
            self.host.write(f"sys/fs/resctrl/{GROUP}/mon_data/mon_L3_00/mbm_total_bytes", "Unavailable\n")
            self.wait_for(lambda lines: lines[0].startswith("unknown "), "the reason", "memory-0")
            self.assertEqual(self.window(daemon, DRAM), [20_000_000, 20_000_000], "by the model")
            self.assertEqual(self.counted, set())

    def test_a_processor_is_divided_by_the_energy_of_its_cores_and_the_rest_by_the_model(self):
        with self.daemon() as daemon:
            daemon.drawn = self.drawn(daemon)
            self.core_energy("32.000000", "20.000000")
            self.wait_for(lambda lines: lines[0].endswith(" 32000000"), "the energy", "cores-0")
            self.assertEqual(self.window(daemon, PACKAGE), [20_000_000 + 4_000_000, 12_000_000 + 4_000_000])
            self.assertEqual(self.counted, {("a", PACKAGE)})


class Groups(unittest.TestCase):
    """keplerd-resctrl-groups, which believes that the directories of a written tree are the kernel's."""

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        for name, pid in (("a", 10), ("b", 20)):
            self.host.group(f"/system.slice/{name}.service", 0, [pid])
            self.host.write(f"cgroup/system.slice/{name}.service/cgroup.threads", f"{pid}\n")
            self.host.write(f"proc/{pid}/cpu_resctrl_groups", "res:/\nmon:\n")
        self.host.write("sys/fs/resctrl/info/L3_MON/num_rmids", "16\n")
        self.host.write("sys/fs/resctrl/mon_groups/libvirt/tasks", "20\n")
        self.groups = self.host.root / "sys/fs/resctrl/mon_groups"
        self.config = self.host.root / "keplerd.conf"

    def run_with(self, patterns, condition):
        self.config.write_text(f"[Resctrl]\nGroups={patterns}\n")
        root = self.host.root
        process = subprocess.Popen([GROUPS, "--config", self.config, root / "sys", root / "proc", root / "cgroup"],
                                   stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while not condition() and time.monotonic() < end:
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.terminate()
        log = process.communicate()[1]
        return process.returncode, log

    def own(self):
        return [group.name for group in self.groups.iterdir() if group.name.startswith("keplerd-")]

    def test_they_are_made_for_what_is_listed_and_removed_at_the_end(self):
        status, log = self.run_with("*.service", self.own)
        self.assertEqual(status, 0, log)
        self.assertIn("1 cgroups have a monitoring group", log)
        self.assertIn("/system.slice/b.service: threads of it are in a group that somebody else has created", log)
        self.assertEqual([group.name for group in self.groups.iterdir()], ["libvirt"])
        self.assertEqual((self.groups / "libvirt/tasks").read_text(), "20\n")

    def test_threads_are_moved_into_them(self):
        names = set()
        self.run_with("a.service", lambda: names.update(self.own()) or names)
        tasks = self.groups / names.pop() / "tasks"  # as if of an earlier run
        self.host.write(tasks.relative_to(self.host.root), "")
        self.run_with("a.service", lambda: tasks.read_text() == "10\n")
        self.assertEqual(tasks.read_text(), "10\n")

    def test_a_configuration_that_is_wrong_is_refused(self):
        self.config.write_text('[Resctrl]\nGroups="a"\n')
        refused = subprocess.run([GROUPS, "--config", self.config], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("must be names of units", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
