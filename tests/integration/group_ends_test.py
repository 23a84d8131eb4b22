#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Units that end between two samples, on the kernel's own cgroup2, with a written meter. Needs root.

usage: group_ends_test.py KEPLERD
"""
import ctypes
import json
import os
import pathlib
import struct
import sys
import time
import unittest

from cgroup2 import cgroup_root
from written_host import Daemon, WrittenHost, read_message, stream_of

KEPLERD = sys.argv.pop(1)
LIBC = ctypes.CDLL(None, use_errno=True)
IN_MODIFY = 2
BURNT = 0.05  # seconds of CPU time that each process uses in its unit


class Changes:
    """Those of a cgroup.events, as a service manager sees them."""

    def __init__(self, path):
        self.fd = LIBC.inotify_init1(os.O_CLOEXEC)
        assert self.fd >= 0 and LIBC.inotify_add_watch(self.fd, os.fsencode(path), IN_MODIFY) >= 0

    def await_one(self):
        assert struct.unpack_from("iI", os.read(self.fd, 4096))[1] & IN_MODIFY

    def close(self):
        os.close(self.fd)


class OnThisKernel(unittest.TestCase):
    def setUp(self):
        self.cgroup = None
        root = cgroup_root()
        if root is None:
            self.skipTest("no cgroup2 here")
        try:
            self.cgroup = root / f"keplerd-ends-test-{os.getpid()}"
            self.cgroup.mkdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made here: {error}")
        self.addCleanup(self.cgroup.rmdir)
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        slice_ = self.cgroup / "system.slice"
        slice_.mkdir()
        self.addCleanup(slice_.rmdir)

    def daemon(self):
        return Daemon(KEPLERD, self.host, "--sysfs", self.host.root / "sys", "--cgroupfs", self.cgroup, here=True)

    def settle(self, daemon):
        """Returns when keplerd has done what was to do before: its loop takes what has waited longest."""
        with stream_of(daemon.connect()) as stream:
            for _ in range(2):
                stream.write(json.dumps({"method": "org.varlink.service.GetInfo"}).encode() + b"\0")
                stream.flush()
                read_message(stream)

    def start(self, daemon, name):
        """A unit whose process uses CPU time and ends."""
        unit = self.cgroup / "system.slice" / name
        unit.mkdir()
        self.settle(daemon)
        events = Changes(unit / "cgroup.events")
        pid = os.fork()
        if pid == 0:
            (unit / "cgroup.procs").write_text("0\n")
            begun = time.process_time()
            while time.process_time() - begun < BURNT:
                pass
            os._exit(0)
        events.await_one()  # populated
        os.waitpid(pid, 0)
        return unit, events

    def run_unit(self, daemon, name):
        """As a manager does it: it removes the cgroup after it was notified that it is empty."""
        unit, events = self.start(daemon, name)
        events.await_one()  # empty: keplerd has the same event
        self.settle(daemon)
        events.close()
        unit.rmdir()

    def draw(self):
        self.host.zone("intel-rapl:0", "package-0", 5_000_000)

    def test_a_unit_that_restarts_between_samples_keeps_its_energy(self):
        with self.daemon() as daemon:
            before = daemon.status()
            for _ in range(5):
                self.run_unit(daemon, "again.service")
            self.draw()
            after = daemon.status()
            units = daemon.rows("units")
            unit, slice_ = units["/system.slice/again.service"], units["/system.slice"]
            self.assertGreaterEqual(unit["cpuUsec"], 5 * BURNT * 990_000)
            self.assertGreaterEqual(slice_["cpuUsec"], unit["cpuUsec"])
            self.assertEqual(slice_["energyMicrojoules"], slice_["ownMicrojoules"] + unit["energyMicrojoules"])
            self.assertGreater(unit["energyMicrojoules"], 50 * slice_["ownMicrojoules"])
            self.assertEqual(after["missedEnds"] - before["missedEnds"], 0)

    def test_a_unit_that_no_sample_saw_has_its_energy(self):
        with self.daemon() as daemon:
            daemon.status()
            self.run_unit(daemon, "short.service")
            self.draw()
            daemon.status()
            self.assertGreaterEqual(daemon.rows("units")["/system.slice/short.service"]["cpuUsec"], BURNT * 990_000)

    def test_the_time_of_a_unit_that_was_removed_first_is_its_slices_and_counted(self):
        with self.daemon() as daemon:
            before = daemon.status()
            daemon.process.send_signal(19)  # SIGSTOP
            unit = self.cgroup / "system.slice/brief.service"
            unit.mkdir()
            unit.rmdir()
            daemon.process.send_signal(18)  # SIGCONT
            self.draw()
            after = daemon.status()
            self.assertNotIn("/system.slice/brief.service", daemon.rows("units"))
            self.assertEqual(after["missedEnds"] - before["missedEnds"], 1)

    def test_a_storm_of_cgroups_costs_no_more_than_its_share(self):
        def cpu_time():
            fields = pathlib.Path(f"/proc/{daemon.process.pid}/schedstat").read_text().split()
            return int(fields[0]) / 1e9

        with self.daemon() as daemon:
            daemon.status()
            begun, cpu = time.monotonic(), cpu_time()
            storm = self.cgroup / "system.slice/storm"
            while time.monotonic() - begun < 5:
                storm.mkdir()
                storm.rmdir()
            spent, elapsed = cpu_time() - cpu, time.monotonic() - begun
            # 50 ms are available at once, and one part in 50 afterwards; the last turn may exceed that.
            self.assertLess(spent, 0.05 + elapsed / 50 + 0.2)
            self.assertGreater(daemon.status()["missedEnds"], 0)
            storm.mkdir()
            self.addCleanup(storm.rmdir)
            self.assertIn("/system.slice/storm", daemon.rows("units"))


if __name__ == "__main__":
    unittest.main()
