#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd at its start: states that would crash it or make its sums wrong, and another keplerd in the same place. What
web.yml and keplerd.conf may not say is in tests/fuzz and the unit tests of both.

usage: state_test.py KEPLERD
"""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from stage import LIMIT, Stage
from written_host import Daemon

KEPLERD = sys.argv.pop(1)
ON_DEMAND = "[Sampling]\nInterval=0\nStaleness=0\n"
HUGE = 2**60


class State(unittest.TestCase):
    def setUp(self):
        self.stage = Stage(groups=1)
        self.addCleanup(self.stage.remove)
        self.ledger = self.stage.files.root / "state/ledger.json"

    def saved(self):
        """As keplerd has saved it."""
        with self.stage.daemon(KEPLERD, ON_DEMAND) as daemon:
            daemon.status()
            self.stage.step()
            daemon.status()
            self.assertEqual(daemon.stop(), 0)
        return json.loads(self.ledger.read_text())

    def expect_set_aside(self, text):
        self.ledger.parent.mkdir(exist_ok=True)
        self.ledger.write_text(text)
        with self.stage.daemon(KEPLERD, ON_DEMAND) as daemon:
            daemon.status()
            self.stage.step()
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 1_000_000)
            self.assertEqual(daemon.stop(), 0)
        self.assertEqual(self.ledger.with_name("ledger.json.corrupt").read_text(), text)
        self.assertIn("counting starts at zero", (self.stage.files.root / "log").read_text())

    def test_a_state_that_nests_200_000_deep(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            with self.subTest(opening):
                self.expect_set_aside(opening * 200_000 + "1" + closing * 200_000)

    def test_a_member_that_nests_200_000_deep(self):
        state = self.saved()
        state["zones"] = "DEEP"
        self.expect_set_aside(json.dumps(state).replace('"DEEP"', "[" * 200_000 + "]" * 200_000))

    def test_sums_that_overflow(self):
        state = self.saved()
        zone = state["zones"][0]
        state["zones"] = [zone | {"id": f"powercap:package:{i}", "index": i, "energyMicrojoules": HUGE} for i in range(16)]
        for unit in state["units"]:
            unit["energyMicrojoules"] = [HUGE] * 16
            unit["ownMicrojoules"] = 0
        self.expect_set_aside(json.dumps(state))


class Others(unittest.TestCase):
    def test_a_second_daemon_refuses_to_share_the_state(self):
        stage = Stage()
        self.addCleanup(stage.remove)
        with stage.daemon(KEPLERD, ON_DEMAND) as daemon:
            daemon.status()
            files = stage.files.root
            (files / "state/ledger.json").unlink(missing_ok=True)
            second = subprocess.Popen(
                [KEPLERD, "--config", files / "keplerd.conf", "--bus", "none", "--sysfs", files / "sys", "--procfs",
                 files / "proc", "--cgroupfs", files / "cgroup", "--runtime-dir", files / "other-run", "--state-dir",
                 files / "state"], stderr=subprocess.PIPE, text=True)
            self.addCleanup(second.stderr.close)
            self.addCleanup(second.wait)
            self.addCleanup(second.kill)
            try:
                status = second.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                self.fail("the second keplerd runs")
            self.assertEqual(status, 1)
            self.assertIn(str(files / "state"), second.stderr.read())
            self.assertFalse((files / "state/ledger.json").exists(), "nothing has been saved")
            daemon.status()
            self.assertEqual(daemon.stop(), 0)
            self.assertTrue((files / "state/ledger.json").exists())

    def test_a_daemon_that_was_killed_leaves_its_place(self):
        stage = Stage()
        self.addCleanup(stage.remove)
        for number in (9, 15):
            with Daemon(KEPLERD, stage.files, *stage.options, config=ON_DEMAND) as daemon:
                daemon.status()
                daemon.stop(number)


if __name__ == "__main__":
    unittest.main(verbosity=2)
