#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Kepler's end-to-end tests (github.com/sustainable-computing-io/kepler, test/e2e) expect of an exporter, as tests of
keplerd with keplerd-exporter. Each test names the one it restates.

Kepler's start stress-ng on the host and sleep; these write the counters of a host, and wait until they are exported. Where
Kepler's allow 5 %, the sums here are exact.

The label `exe` of a process (TestProcessMetadataAccuracy) is empty on a host where keplerd has no CAP_SYS_PTRACE, which reading
the programs of other users' processes takes. These files can be read.

usage: kepler_behaviour_test.py KEPLERD KEPLERD_EXPORTER
"""
import pathlib
import re
import sys
import threading
import time
import unittest

from exporter_host import Exporter, wait_until
from written_host import Daemon, WrittenHost

KEPLERD, EXPORTER = sys.argv.pop(1), sys.argv.pop(1)
STEP = 0.2  # seconds between two writings of the counters
CPU = 400_000  # microseconds that two processors have in a step
ZONES = {"package": "intel-rapl:0", "dram": "intel-rapl:0:0"}
MILLION = 10**6


class LoadedHost:
    """Two processors, whose processes use a constant part of each step, and two zones, which draw more when they are busy."""

    def __init__(self):
        self.files = WrittenHost()
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.processes = {}  # pid: comm, group, microseconds in each step
        self.used, self.group_used = {}, {}
        self.energy = dict.fromkeys(ZONES, 0)
        self.busy = self.idle = 0
        self.start(10, "init", 0.02)
        self.step()
        self.worker = threading.Thread(target=self.work, daemon=True)

    def start(self, pid, comm, load):
        """A process in a service of its own, that uses `load` of one processor."""
        with self.lock:
            self.processes[pid] = (comm, f"/system.slice/{comm}-{pid}.service", round(load * CPU / 2 / 10_000) * 10_000)

    def end(self, pid):
        with self.lock:
            group = self.processes.pop(pid)[1]
            for path in (self.files.root / f"proc/{pid}", self.files.root / f"cgroup{group}"):
                for file in path.iterdir():
                    file.unlink()
                path.rmdir()

    def step(self):
        with self.lock:
            busy = sum(process[2] for process in self.processes.values())
            self.busy, self.idle = self.busy + busy, self.idle + CPU - busy
            self.energy["package"] += 500_000 + 10 * busy
            self.energy["dram"] += 100_000 + busy
            for pid, (comm, group, used) in self.processes.items():
                self.used[pid] = self.used.get(pid, 0) + used
                self.files.group(group, self.used[pid], [pid])
                program = self.files.root / f"proc/{pid}/exe"
                program.parent.mkdir(parents=True, exist_ok=True)
                if not program.is_symlink():
                    program.symlink_to(f"/usr/bin/{comm}")
                self.files.process(pid, self.used[pid] // 10_000, comm=comm, group=group)
            self.files.group("/system.slice", sum(self.used.values()))
            self.files.ticks(busy=1000 + self.busy // 10_000, idle=1000 + self.idle // 10_000)
            for name, directory in ZONES.items():
                self.files.zone(directory, name, self.energy[name])

    def work(self):
        while not self.ended.wait(STEP):
            self.step()

    def remove(self):
        self.ended.set()
        self.worker.join()
        self.files.remove()


class Scrape:
    """One answer: samples of a family by their labels."""

    def __init__(self, exporter):
        status, text = exporter.get()
        assert status == 200, (status, text)
        self.samples = []
        for line in text.decode().splitlines():
            if match := re.fullmatch(r'(\w+)(?:\{(.*)\})? (\S+)', line):
                self.samples.append((match[1], dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or "")), match[3]))
        self.time = self.all("keplerd_sample_timestamp_seconds")[0][1] if self.all("keplerd_sample_timestamp_seconds") else 0

    def all(self, name, **labels):
        """The labels and the value, in millionths, of each sample of `name` that has these labels."""
        return [(have, round(float(value) * MILLION)) for family, have, value in self.samples
                if family == name and labels.items() <= have.items()]

    def sum(self, name, **labels):
        return sum(value for _, value in self.all(name, **labels))

    def by_zone(self, name, **labels):
        sums = {}
        for have, value in self.all(name, **labels):
            sums[have["zone"]] = sums.get(have["zone"], 0) + value
        return sums

    def families(self):
        return {name for name, _, _ in self.samples}


class OnALoadedHost(unittest.TestCase):
    maxDiff = None
    rules = "[Attribution]\nSplit=usage-ratio\nShare=cpu-time\n"  # Kepler's

    @classmethod
    def setUpClass(cls):
        cls.host = LoadedHost()
        cls.addClassCleanup(cls.host.remove)
        cls.host.worker.start()
        cls.daemon = Daemon(KEPLERD, cls.host.files, config=f"[Sampling]\nInterval=1s\n{cls.rules}"
                                                              "[Workloads]\nTerminatedMinEnergy=1J\n")
        cls.addClassCleanup(lambda: cls.daemon.stop())
        cls.exporter = Exporter(EXPORTER, cls.daemon.socket, cls.host.files.root / "exporter.log", "--serve=all",
                                "--processes=100").start()
        cls.addClassCleanup(cls.exporter.close)
        wait_until(lambda: Scrape(cls.exporter).sum("kepler_node_cpu_watts") > 0, "a power")

    @classmethod
    def next(cls, after, count=1):
        """The numbers of a later tick."""
        for _ in range(count):
            last = after.time
            after = wait_until(lambda: (scrape := Scrape(cls.exporter)).time > last and scrape, "another tick")
        return after

    @classmethod
    def whole(cls):
        """The numbers of a window that has begun after now."""
        now = time.time() * MILLION
        return wait_until(lambda: (scrape := Scrape(cls.exporter)).time > now + 2.5 * MILLION and scrape, "a whole window")


class Steady(OnALoadedHost):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.host.start(20, "worker", 0.5)
        cls.host.start(21, "helper", 0.25)
        cls.first = cls.whole()
        cls.second = cls.next(cls.first)
        cls.third = cls.next(cls.second)

    def scrapes(self):
        return self.first, self.second, self.third

    # kepler_test.go

    def test_both_programs_run(self):
        """TestKeplerStarts"""
        self.assertIsNone(self.daemon.process.poll())
        self.assertIsNone(self.exporter.process.poll())

    def test_the_metrics_are_there(self):
        """TestMetricsEndpointAvailable"""
        self.assertGreater(len(self.first.families()), 20)

    def test_build_info(self):
        """TestBuildInfoPresent"""
        (labels, value), = self.first.all("kepler_build_info")
        self.assertEqual(value, MILLION)
        self.assertLessEqual({"version", "revision"}, labels.keys())
        self.assertRegex(labels["version"], r"^\d+\.\d+\.\d+")

    def test_metrics_of_the_node_and_of_processes(self):
        """TestExpectedMetricsPresent"""
        node = {f"kepler_node_cpu_{part}{unit}" for part in ("", "active_", "idle_") for unit in ("joules_total", "watts")}
        process = {f"kepler_process_cpu_{unit}" for unit in ("joules_total", "watts", "seconds_total")}
        self.assertLessEqual(node | process | {"kepler_node_cpu_usage_ratio"}, self.first.families())
        self.assertEqual({labels["pid"] for labels, _ in self.first.all("kepler_process_cpu_watts", state="running")},
                         {"10", "20", "21", ""})

    def test_each_processor_is_described(self):
        """TestCPUInfoPresent"""
        cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()  # the exporter has no option for another
        described = self.first.all("kepler_node_cpu_info")
        self.assertEqual([labels["processor"] for labels, _ in described], re.findall(r"(?m)^processor\s*: (\d+)$", cpuinfo))
        for labels, value in described:
            self.assertEqual(labels.keys(), {"processor", "vendor_id", "model_name", "physical_id", "core_id"})
            self.assertEqual(value, MILLION)

    def test_the_landing_page_leads_to_the_metrics(self):
        """TestLandingPageAvailable"""
        status, text = self.exporter.get("/")
        self.assertEqual(status, 200)
        self.assertIn(b"Kepler", text)
        self.assertIn(b'href="/metrics"', text)

    # metrics_test.go

    def test_labels(self):
        """TestMetricsHaveRequiredLabels"""
        for family, labels in (("kepler_node_cpu_watts", {"zone"}),
                               ("kepler_process_cpu_watts", {"pid", "comm", "exe", "type", "state", "zone"})):
            samples = self.first.all(family)
            self.assertTrue(samples)
            for have, _ in samples:
                self.assertLessEqual(labels, have.keys(), family)

    def test_nothing_is_negative(self):
        """TestMetricsArePositiveOrZero"""
        for scrape in self.scrapes():
            for name, labels, value in scrape.samples:
                self.assertGreaterEqual(float(value), 0, (name, labels))

    def test_it_can_be_scraped_repeatedly(self):
        """TestMetricsCountersScrapeableMultipleTimes"""
        for scrape in self.scrapes():
            self.assertGreater(scrape.sum("kepler_node_cpu_joules_total"), 0)
            self.assertGreater(scrape.sum("kepler_node_cpu_watts"), 0)
            self.assertGreater(len(scrape.all("kepler_process_cpu_watts")), 0)

    # invariants_test.go

    def test_power_of_the_node_is_active_and_idle_power(self):
        """TestNodePowerConservation"""
        for scrape in self.scrapes():
            total, active, idle = (scrape.by_zone(f"kepler_node_cpu_{part}watts") for part in ("", "active_", "idle_"))
            self.assertEqual(total.keys(), ZONES.keys())
            for zone, watts in total.items():
                self.assertGreater(watts, 0)
                self.assertLessEqual(abs(watts - active[zone] - idle[zone]), 1, "each is rounded to a microwatt")

    def test_power_of_the_processes_is_the_active_power_of_the_node(self):
        """TestProcessPowerSumsToNodeActive"""
        for scrape in self.scrapes():
            self.assertEqual(scrape.by_zone("kepler_process_cpu_watts", state="running"),
                             scrape.by_zone("kepler_node_cpu_active_watts"))

    def test_energy_increases(self):
        """TestEnergyMonotonicallyIncreases"""
        for part in ("", "active_", "idle_"):
            values = [scrape.by_zone(f"kepler_node_cpu_{part}joules_total") for scrape in self.scrapes()]
            for zone in ZONES:
                self.assertLess(values[0][zone], values[1][zone])
                self.assertLess(values[1][zone], values[2][zone])

    def test_energy_of_the_node_is_active_and_idle_energy(self):
        """TestEnergyConservation"""
        for scrape in self.scrapes():
            total, active, idle = (scrape.by_zone(f"kepler_node_cpu_{part}joules_total") for part in ("", "active_", "idle_"))
            self.assertEqual(total, {zone: active[zone] + idle[zone] for zone in ZONES})

    def test_the_usage_is_a_ratio(self):
        """TestCPUUsageRatioValid"""
        for scrape in self.scrapes():
            (_, ratio), = scrape.all("kepler_node_cpu_usage_ratio")
            self.assertGreater(ratio, 0)
            self.assertLessEqual(ratio, MILLION)

    def test_active_power_is_the_usage_of_the_power(self):
        """TestActivePowerProportionalToUsage"""
        for scrape in self.scrapes():
            ratio, active = scrape.sum("kepler_node_cpu_usage_ratio"), scrape.by_zone("kepler_node_cpu_active_watts")
            for zone, watts in scrape.by_zone("kepler_node_cpu_watts").items():
                self.assertAlmostEqual(active[zone] / watts, ratio / MILLION, places=4)

    def test_energy_of_processes_accumulates(self):
        """TestProcessEnergyAccumulates"""
        for pid in ("20", "21"):
            values = [scrape.sum("kepler_process_cpu_joules_total", pid=pid, state="running") for scrape in self.scrapes()]
            self.assertLess(values[0], values[1])
            self.assertLess(values[1], values[2])


class OfTheDefaultRules(OnALoadedHost):
    rules = ""

    def test_the_usage_is_that_of_the_processors(self):
        """TestCPUUsageRatioValid, where the active part of the energy is another"""
        self.host.start(20, "worker", 0.5)
        self.host.start(21, "helper", 0.25)
        scrape = self.whole()
        share = scrape.sum("kepler_node_cpu_active_watts") / scrape.sum("kepler_node_cpu_watts")
        self.assertGreater(abs(share - 0.375), 0.05, "the rules are Kepler's")
        self.assertEqual(scrape.sum("kepler_node_cpu_usage_ratio"), 375_000)


class Workloads(OnALoadedHost):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.baseline = cls.whole()
        cls.host.start(30, "stress-ng", 0.25)
        cls.host.start(31, "stress-ng", 0.75)
        cls.loaded = cls.whole()
        cls.later = cls.next(cls.loaded)
        cls.host.end(31)
        cls.after = cls.whole()

    def power(self, scrape, pid):
        return scrape.sum("kepler_process_cpu_watts", pid=pid, state="running")

    def test_a_new_process_is_seen(self):
        """TestStressWorkloadDetected"""
        self.assertFalse(self.baseline.all("kepler_process_cpu_watts", comm="stress-ng"))
        self.assertTrue(self.loaded.all("kepler_process_cpu_watts", comm="stress-ng", state="running"))

    def test_usage_and_power_increase_under_load(self):
        """TestPowerIncreasesUnderLoad"""
        for family in ("kepler_node_cpu_usage_ratio", "kepler_node_cpu_watts", "kepler_node_cpu_active_watts"):
            self.assertGreater(self.loaded.sum(family), 2 * self.baseline.sum(family), family)

    def test_a_process_that_ended_has_no_power(self):
        """TestPowerDecreasesAfterLoad"""
        self.assertGreater(self.power(self.loaded, "31"), 0)
        self.assertEqual(self.power(self.after, "31"), 0)
        self.assertEqual(self.after.sum("kepler_process_cpu_watts", pid="31"), 0)
        self.assertLess(self.after.sum("kepler_node_cpu_active_watts"), self.loaded.sum("kepler_node_cpu_active_watts"))

    def test_each_of_several_processes_has_a_power(self):
        """TestMultipleWorkloadsAttribution"""
        for pid in ("30", "31"):
            self.assertEqual({labels["zone"] for labels, value in self.loaded.all("kepler_process_cpu_watts", pid=pid) if value > 0},
                             ZONES.keys())

    def test_a_known_load_gets_most_of_the_power(self):
        """TestWorkloadPowerAttribution"""
        active = self.loaded.sum("kepler_node_cpu_active_watts")
        self.assertGreater(self.power(self.loaded, "30") + self.power(self.loaded, "31"), 0.9 * active)

    def test_a_process_that_ended_keeps_its_energy(self):
        """TestTerminatedWorkloadTracking"""
        ended = self.after.by_zone("kepler_process_cpu_joules_total", pid="31", state="terminated")
        self.assertEqual(ended.keys(), ZONES.keys())
        for zone, energy in self.later.by_zone("kepler_process_cpu_joules_total", pid="31", state="running").items():
            self.assertGreater(energy, 0)
            self.assertGreaterEqual(ended[zone], energy)
        self.assertFalse(self.after.all("kepler_process_cpu_joules_total", pid="31", state="running"))

    def test_sums_are_exact_under_load_and_after_it(self):
        """TestEnergyConservationUnderLoad"""
        for scrape in (self.baseline, self.loaded, self.later, self.after):
            self.assertEqual(scrape.by_zone("kepler_process_cpu_watts", state="running"),
                             scrape.by_zone("kepler_node_cpu_active_watts"))
        for before, now in ((self.loaded, self.later), (self.later, self.after)):
            for zone in ZONES:
                process, active = (now.sum(family, zone=zone) - before.sum(family, zone=zone) for family in
                                   ("kepler_process_cpu_joules_total", "kepler_node_cpu_active_joules_total"))
                self.assertEqual(process, active)

    def test_names_and_types_of_processes(self):
        """TestProcessMetadataAccuracy"""
        for pid in ("30", "31"):
            for labels, _ in self.loaded.all("kepler_process_cpu_watts", pid=pid):
                self.assertEqual((labels["comm"], labels["type"], labels["state"], labels["exe"]),
                                 ("stress-ng", "regular", "running", "/usr/bin/stress-ng"))

    def test_power_and_energy_are_in_proportion_to_cpu_time(self):
        """TestProportionalPowerAttribution"""
        self.assertAlmostEqual(self.power(self.loaded, "31") / self.power(self.loaded, "30"), 3, delta=0.75)
        for family in ("kepler_process_cpu_joules_total", "kepler_process_cpu_seconds_total"):
            low, high = (self.later.sum(family, pid=pid) for pid in ("30", "31"))
            self.assertAlmostEqual(high / low, 3, delta=0.3, msg=family)


class End(OnALoadedHost):
    def test_both_programs_end_when_they_are_asked_to(self):
        """TestKeplerGracefulShutdown"""
        self.assertEqual(self.exporter.stop(), 0)
        self.assertEqual(self.daemon.stop(), 0)
        self.assertNotRegex((self.host.files.root / "exporter.log").read_text(), "(?i)error|exception")


if __name__ == "__main__":
    unittest.main(verbosity=2)
