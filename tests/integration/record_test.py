#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerctl record and keplerd --replay: what was recorded is divided again into the same energies, to the microjoule.

usage: record_test.py KEPLERD KEPLERCTL
"""
import json
import os
import random
import signal
import subprocess
import sys
import unittest

from written_host import Daemon, WrittenHost

KEPLERD, KEPLERCTL = sys.argv.pop(1), sys.argv.pop(1)
ON_DEMAND = "[Sampling]\nInterval=0\nStaleness=0\n"
UNITS = ["/system.slice", "/system.slice/a.service", "/system.slice/b.service", "/c.scope"]


class Recording(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.file = str(self.host.root / "trace")
        self.random = random.Random(5)
        self.package, self.outside, self.cpus = 5, 0, [[1000, 1000], [1000, 1000]]
        self.usage = dict.fromkeys(UNITS, 0)
        self.host.process(10, 0, group="/system.slice/a.service")
        self.write()

    def write(self):
        self.host.zone("intel-rapl:0", "package-0", self.package)
        for unit, usage in self.usage.items():
            self.host.group(unit, usage, [10] if unit.endswith("a.service") else [])
        self.host.process(11, self.outside)
        lines = [f"cpu{n} {busy} 0 0 {idle} 0 0 0 0 0 0" for n, (busy, idle) in enumerate(self.cpus)]
        total = f"cpu  {sum(c[0] for c in self.cpus)} 0 0 {sum(c[1] for c in self.cpus)} 0 0 0 0 0 0"
        self.host.write("proc/stat", "\n".join([total, *lines]) + "\n")

    def step(self):
        self.package += self.random.randrange(20_000, 900_000)
        a, b, c = (self.random.randrange(20_000) for _ in range(3))
        self.usage["/system.slice/a.service"] += a
        self.usage["/system.slice/b.service"] += b
        self.usage["/system.slice"] += a + b
        self.usage["/c.scope"] += c
        self.outside += self.random.randrange(2)
        for cpu in self.cpus:
            cpu[0] += self.random.randrange(3)
            cpu[1] += self.random.randrange(3)
        self.write()

    def record(self, daemon, *options):
        return subprocess.Popen([KEPLERCTL, "--varlink", daemon.socket, "record", self.file, *options],
                                stderr=subprocess.PIPE, text=True)

    def samples(self):
        if not os.path.exists(self.file):
            return 0
        with open(self.file, encoding="ascii") as lines:
            return sum(line.endswith("\n") and '"monotonicUsec"' in line for line in lines)

    def begin(self, daemon, *options):
        """Samples until one is recorded."""
        before, recorder = self.samples(), self.record(daemon, *options)
        while self.samples() == before:
            self.assertIsNone(recorder.poll())
            daemon.status()
        return recorder

    def end(self, daemon, recorder, wanted):
        """Once all samples so far are written."""
        while self.samples() < wanted:
            self.assertIsNone(recorder.poll())
            daemon.status()
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=60)[1]
        self.assertEqual(recorder.returncode, 0, said)
        return said

    def replay(self, *options):
        done = subprocess.run([KEPLERD, "--config", self.host.root / "keplerd.conf", "--replay", self.file, *options],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def expect_same(self, daemon):
        units, zones, status = daemon.rows("units"), daemon.rows("zones"), daemon.status()
        again_status, again_zones, again_units = self.replay()
        for part in ("energyMicrojoules", "activeMicrojoules", "idleMicrojoules"):
            self.assertEqual(again_status["host"][part], status["host"][part])
        for same in ("accounts", "split", "share", "idle"):
            self.assertEqual(again_status[same], status[same])
        self.assertEqual([zone["energyMicrojoules"] for zone in again_zones["zones"]],
                         [zone["energyMicrojoules"] for zone in zones.values()])
        self.assertEqual({unit["id"] for unit in again_units["units"]}, set(UNITS))
        for unit in again_units["units"]:
            for part in ("energyMicrojoules", "ownMicrojoules", "cpuUsec"):
                self.assertEqual(unit[part], units[unit["id"]][part], unit["id"])

    def test_by_keplers_rule_a_replay_has_the_same_energies(self):
        with Daemon(KEPLERD, self.host, config=ON_DEMAND + "[Attribution]\nSplit=usage-ratio\nShare=cpu-time\n") as daemon:
            recorder = self.begin(daemon)
            self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
            for _ in range(150):
                self.step()
                daemon.status()
            said = self.end(daemon, recorder, self.samples() + 2)
            self.assertRegex(said, rf"^{self.file}: \d+ samples recorded, \d+ bytes in total\n$")
            self.expect_same(daemon)
            self.assertEqual(len(self.replay("--every", "50")) % 3, 0)

    def test_by_what_it_learns_a_replay_has_the_same_energies(self):
        # The model keeps sums of windows shorter than half a second, which would begin before the recording.
        with Daemon(KEPLERD, self.host, config="[Sampling]\nInterval=600ms\n") as daemon:
            recorder = self.begin(daemon)
            while self.samples() < 12 or daemon.status()["split"] != "baseline":
                self.step()
            self.end(daemon, recorder, self.samples() + 2)
            self.expect_same(daemon)

    def test_a_recording_goes_on_behind_its_last_complete_line(self):
        with Daemon(KEPLERD, self.host) as daemon:
            for _ in range(2):
                recorder = self.begin(daemon)
                for _ in range(5):
                    self.step()
                    daemon.status()
                self.end(daemon, recorder, self.samples() + 5)
                with open(self.file, "a", encoding="ascii") as file:
                    file.write('{"monotonicUsec":12')
                self.step()
                daemon.status()  # not recorded
            recorded = self.replay_of_torn()
            self.assertLess(recorded, daemon.status()["host"]["energyMicrojoules"])
            self.assertGreater(recorded, 0)
        with open(self.file, encoding="ascii") as file:
            self.assertEqual(file.read().count('"begins":true'), 2)

    def replay_of_torn(self):
        done = subprocess.run([KEPLERD, "--config", self.host.root / "keplerd.conf", "--replay", self.file],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("the line is incomplete, and is left out", done.stderr)
        return json.loads(done.stdout.splitlines()[0])["host"]["energyMicrojoules"]

    def test_an_anonymized_one_names_nothing_and_is_not_continued(self):
        with Daemon(KEPLERD, self.host) as daemon:
            self.end(daemon, self.begin(daemon, "--anonymize"), 3)
            with open(self.file, encoding="ascii") as file:
                text = file.read()
            self.assertIn('.service":', text)
            self.assertIn('"/system.slice":', text)
            for name in ("/a.service", "/b.service", "/c.scope", '"host":'):
                self.assertNotIn(name, text)
            for option in ((), ("--anonymize",)):
                refused = self.record(daemon, *option)
                while refused.poll() is None:
                    daemon.status()
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.communicate()[1], "cannot be continued|are not continued")
            with open(self.file, encoding="ascii") as file:
                self.assertEqual(file.read(), text)

    def test_it_ends_when_the_time_or_the_file_is_full(self):
        with Daemon(KEPLERD, self.host) as daemon:
            for limit in ("--duration=300ms", "--max-size=2K"):
                if os.path.exists(self.file):
                    os.remove(self.file)
                with self.record(daemon, limit) as recorder:
                    while recorder.poll() is None:
                        daemon.status()
                self.assertEqual(recorder.returncode, 0)
            self.assertLessEqual(os.stat(self.file).st_size, 2048)
            self.assertEqual(len(self.replay()), 3)

    def test_a_damaged_trace_is_reported_with_its_line(self):
        self.host.write("keplerd.conf", "")
        for text, error in (('{"trace":"org.keplerd.Trace1","cpus":[],"zones":[]}\nx\n', "2: not JSON"),
                            ("\0" * 100 + "\n", "1: not JSON")):
            self.host.write("trace", text)
            done = subprocess.run([KEPLERD, "--config", self.host.root / "keplerd.conf", "--replay", self.file],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", f"keplerd: {self.file}:{error}\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
