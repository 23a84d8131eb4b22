#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-perf on this host's kernel, whose task clock it counts where there are no hardware counters; and keplerd, which divides by
what such a program writes.

usage: perf_test.py KEPLERD-PERF KEPLERD
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cgroup2 import cgroup_root
from open_files import open_files
from written_host import Daemon, WrittenHost

PERF, KEPLERD = sys.argv.pop(1), sys.argv.pop(1)
SLICE = f"keplerdperf{os.getpid()}.slice"
PACKAGE = "powercap:package:0"
CPUS = os.cpu_count()
SPIN = "import time\nwhile time.process_time() < {}: pass"


def boottime():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def identity(directory):
    """Of a directory whose file system knows when it was created, unlike those of cgroups (read_identity() of lib/host)."""
    inode, created = subprocess.run(["stat", "-c", "%i %.9W", directory], capture_output=True, text=True, check=True).stdout.split()
    seconds, nanoseconds = created.split(".")
    return int(inode) ^ (int(seconds) * 1_000_000_000 + int(nanoseconds)) * 0x9e3779b97f4a7c15 % 2**64


@unittest.skipUnless(os.geteuid() == 0 and cgroup_root(), "needs root and cgroup2")
class OnThisKernel(unittest.TestCase):
    def setUp(self):
        self.slice = cgroup_root() / SLICE
        self.slice.mkdir()
        self.addCleanup(self.remove)
        for name in ("a", "b"):
            (self.slice / f"{name}.service").mkdir()
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.output = self.directory / "perf"
        self.output.mkdir()

    def remove(self):
        for cgroup in self.slice.iterdir():
            if cgroup.is_dir():
                cgroup.rmdir()
        self.slice.rmdir()

    def start(self, descriptors=4096):
        config = self.directory / "keplerd.conf"
        config.write_text(f"[Perf]\nCgroups=/{SLICE}/*\nDescriptors={descriptors}\n")
        self.program = subprocess.Popen([PERF, "--config", config, "--task-clock", self.output])
        self.addCleanup(self.stop)

    def stop(self):
        self.program.kill()
        self.program.wait()

    def counts(self):
        """By the inode of the cgroup, in nanoseconds, of all dies."""
        counts = {}
        for file in self.output.glob("instructions-*[0-9]"):  # not what is being written
            for line in file.read_text().splitlines()[1:]:
                cgroup, count, _ = line.split()
                counts[int(cgroup)] = counts.get(int(cgroup), 0) + int(count)
        return counts

    def wait_until(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            self.assertIsNone(self.program.poll())
            time.sleep(0.1)

    def inode(self, name):
        return (self.slice / name).stat().st_ino

    def usage(self, name):
        """In nanoseconds."""
        lines = (self.slice / name / "cpu.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec ")) * 1000

    def spin(self, name, seconds):
        process = subprocess.Popen([sys.executable, "-c", SPIN.format(seconds)],
                                   preexec_fn=lambda: (self.slice / name / "cgroup.procs").write_text(str(os.getpid())))
        self.assertEqual(process.wait(), 0)

    def events(self):
        return open_files(self.program.pid).count("anon_inode:[perf_event]")

    def check_clock(self, name, seconds):
        usage, count = self.usage(name), self.counts()[self.inode(name)]
        self.spin(name, seconds)
        used = self.usage(name) - usage
        self.assertGreater(used, seconds * 1e9)
        # Both clocks are those of the scheduler; perf begins and ends some microseconds apart from it at each switch.
        tolerance = 0.02 * used
        self.wait_until(lambda: self.counts().get(self.inode(name), 0) - count > used - tolerance, f"{used} ns of {name}")
        self.assertLess(self.counts()[self.inode(name)] - count, used + tolerance)

    def test_what_is_counted_of_a_cgroup_is_the_cpu_time_of_cpu_stat(self):
        self.start()
        self.wait_until(lambda: len(self.counts()) == 2, "two cgroups")
        self.check_clock("a.service", 1.0)
        self.check_clock("b.service", 0.5)
        (self.slice / "a.service/below").mkdir()
        self.spin("a.service/below", 0.2)
        (self.slice / "a.service/below").rmdir()
        self.wait_until(lambda: self.counts()[self.inode("a.service")] > 1.15e9, "what ran below")

    def test_cgroups_that_come_and_leave_take_and_give_back_their_descriptors(self):
        self.start()
        self.wait_until(lambda: len(self.counts()) == 2, "two cgroups")
        self.assertEqual(self.events(), 3 * CPUS)
        (self.slice / "late.service").mkdir()
        self.wait_until(lambda: self.inode("late.service") in self.counts(), "the third one")
        self.check_clock("late.service", 0.3)
        (self.slice / "late.service").rmdir()
        (self.slice / "b.service").rmdir()
        self.wait_until(lambda: self.events() == 2 * CPUS, "the descriptors of one cgroup")
        self.check_clock("a.service", 0.3)

    def test_no_more_descriptors_are_taken_than_configured(self):
        descriptors = max(4 * CPUS, 64)
        most = descriptors // CPUS - 1
        for number in range(most):
            (self.slice / f"{number}.service").mkdir()
        self.start(descriptors)
        self.wait_until(lambda: len(self.counts()) == most, f"{most} cgroups")
        self.assertEqual(self.events(), (1 + most) * CPUS)

    def test_a_kernel_without_hardware_counters_is_a_reason(self):
        devices = [device.name for device in pathlib.Path("/sys/bus/event_source/devices").iterdir()]
        if any(name == "cpu" or name.startswith(("cpu_", "armv")) for name in devices):
            self.skipTest("this host has counters")
        config = self.directory / "keplerd.conf"
        config.write_text("[Attribution]\nShare=instructions\n")
        subprocess.run(["timeout", "2", PERF, "--config", config, self.output], check=False)
        self.assertIn("unknown instructions: the kernel has no hardware counter", (self.output / "instructions-0").read_text())

    def test_without_anything_to_count_it_ends(self):
        config = self.directory / "keplerd.conf"
        config.write_text("[Attribution]\nShare=cpu-time\n")
        ended = subprocess.run([PERF, "--config", config, self.output], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ended.returncode, 0)
        self.assertIn("There is nothing to count", ended.stderr)


class Writer(threading.Thread):
    """As if a.service completed three of four instructions, at any time."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.directory = host.root / "root/run/keplerd-usage/perf"
        self.directory.mkdir(parents=True)
        self.directory.parent.chmod(0o755)
        self.identities = [identity(host.root / f"cgroup/{name}.service") for name in ("a", "b")]
        self.begin, self.stopped, self.written = boottime(), threading.Event(), 0
        self.write()
        self.start()

    def write(self):
        count = 1000 * self.written
        lines = [f"{boottime()} {self.begin} {4 * count}", f"{self.identities[0]} {3 * count} {self.begin}",
                 f"{self.identities[1]} {count} {self.begin}"]
        (self.directory / "instructions-0~").write_text("\n".join(lines) + "\n")
        (self.directory / "instructions-0~").rename(self.directory / "instructions-0")
        self.written += 1

    def run(self):
        while not self.stopped.wait(0.1):
            self.write()


class Divided(unittest.TestCase):
    def test_a_processor_is_divided_by_instructions_if_the_setting_says_so(self):
        host = WrittenHost()
        self.addCleanup(host.remove)
        energy, busy = 1_000_000, 1000
        host.zone("intel-rapl:0", "package-0", energy)
        for file, text in (("online", "0"), ("cpu0/topology/physical_package_id", "0"), ("cpu0/topology/die_id", "0"),
                           ("cpu0/topology/thread_siblings_list", "0")):
            host.write(f"sys/devices/system/cpu/{file}", f"{text}\n")
        for pid, name in ((10, "a"), (20, "b")):
            host.group(f"/{name}.service", 0, [pid])
            host.process(pid, 0, group=f"/{name}.service")
        host.ticks(busy=busy, idle=1000)
        writer = Writer(host)
        self.addCleanup(writer.stopped.set)
        config = "[Sampling]\nInterval=0\nStaleness=0\n[Attribution]\nSplit=usage-ratio\nShare=instructions\n"
        with Daemon(KEPLERD, host, "--root", host.root / "root", config=config) as daemon:
            def drawn():
                rows = daemon.rows("units")
                return [next(zone for zone in rows[f"/{name}.service"]["zones"] if zone["id"] == PACKAGE) for name in ("a", "b")]
            before = drawn()
            written = writer.written
            while writer.written < written + 3:
                time.sleep(0.05)
            for pid, name in ((10, "a"), (20, "b")):
                host.group(f"/{name}.service", 500_000, [pid])
            host.ticks(busy=busy + 100, idle=1000)
            host.zone("intel-rapl:0", "package-0", energy + 40_000_000)
            after = drawn()
            parts = [now["energyMicrojoules"] - then["energyMicrojoules"] for now, then in zip(after, before)]
            self.assertEqual(parts, [30_000_000, 10_000_000])
            self.assertTrue(all(zone["counted"] for zone in after))
            self.assertEqual(daemon.status()["share"], "instructions")
            writer.stopped.set()
            writer.join()


if __name__ == "__main__":
    unittest.main(verbosity=2)
