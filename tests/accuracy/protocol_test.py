#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The protocol of scripts/accuracy --on-this-host: its arithmetic on the figures of a real machine, and a dry run.

usage: protocol_test.py KEPLERD PAIRS.JSON
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

import protocol
from protocol import Measured, Segment

PROGRAMS, PAIRS = pathlib.Path(sys.argv.pop(1)).parent, sys.argv.pop(1)
TOOL = pathlib.Path(__file__).resolve().parent / "on_this_host.py"
sys.path.insert(0, str(TOOL.parent.parent / "integration"))

from cgroup2 import cgroup_root  # noqa: E402


def recorded(estimate):
    """The segments of the real machine; `estimate(loads, watts, idle, truth)`: idle power and powers by load of the rule."""
    figures = json.loads(pathlib.Path(PAIRS).read_text())
    idle = figures["idleWatts"]
    runs = [((), idle)]
    runs += [((f"{run['method']}-{run['threads']}",), run["watts"]) for run in figures["solo"]]
    for pair in figures["pairs"]:
        runs.append(((f"{pair['a']}-{pair['threadsA']}", f"{pair['b']}-{pair['threadsB']}"), pair["watts"]))
    powers = {frozenset(loads): watts for loads, watts in runs}
    measured = []
    for loads, watts in runs:
        truth = protocol.truth_of(Measured(loads, watts, {}, {}), powers) or {}
        idle_of_rule, active = estimate(loads, watts, idle, truth)
        measured.append(Measured(loads, watts, {"rule": idle_of_rule}, {"rule": active}))
    return measured


def threads(load):
    return int(load.partition("-")[2])


def by_threads(loads, watts, share_of):
    return {load: watts * threads(load) / share_of for load in loads}


class Arithmetic(unittest.TestCase):
    def test_the_truth_of_a_pair_is_its_shapley_value(self):
        powers = {frozenset(): 10, frozenset("a"): 30, frozenset("b"): 20}
        truth = protocol.truth_of(Measured(("a", "b"), 36, {}, {}), powers)
        self.assertEqual(truth, {"a": 18, "b": 8})
        self.assertEqual(protocol.truth_of(Measured(("a",), 31, {}, {}), powers), {"a": 21})
        self.assertEqual(protocol.truth_of(Measured((), 10, {}, {}), powers), {})
        self.assertIsNone(protocol.truth_of(Measured(("a", "c"), 36, {}, {}), powers), "c never ran alone")

    def test_the_truths_of_a_real_machine_add_up_and_are_positive(self):
        measured = recorded(lambda loads, watts, idle, truth: (idle, truth))
        powers = protocol.mean_powers(measured)
        pairs = 0
        for one in measured:
            truth = protocol.truth_of(one, powers)
            if len(one.loads) != 2 or truth is None:
                continue
            pairs += 1
            self.assertAlmostEqual(sum(truth.values()), one.watts - 13.62)
            self.assertGreater(min(truth.values()), 0)
        self.assertGreater(pairs, 20)

    def test_an_exact_rule_has_no_error(self):
        errors = protocol.errors_of("rule", recorded(lambda loads, watts, idle, truth: (idle, truth)))
        self.assertAlmostEqual(errors.pairs, 0)
        self.assertAlmostEqual(errors.alone, 0)
        self.assertAlmostEqual(errors.idle, 0)

    def test_keplers_rule_is_as_wrong_on_a_real_machine_as_is_known(self):
        def usage_ratio(loads, watts, _idle, _truth):
            busy = min(12, sum(threads(load) for load in loads)) / 12
            return (1 - busy) * watts, by_threads(loads, busy * watts, max(1, sum(threads(load) for load in loads)))
        errors = protocol.errors_of("rule", recorded(usage_ratio))
        self.assertAlmostEqual(errors.alone, 44.9, 1)
        self.assertAlmostEqual(errors.pairs, 29.0, 1)

    def test_cpu_time_above_idle_is_exact_for_loads_alone_only(self):
        def floor(loads, watts, idle, _truth):
            return idle, by_threads(loads, watts - idle, max(1, sum(threads(load) for load in loads)))
        errors = protocol.errors_of("rule", recorded(floor))
        self.assertAlmostEqual(errors.alone, 0)
        self.assertAlmostEqual(errors.pairs, 10.7, 1)

    def test_the_plan_begins_idle_and_has_each_load_alone_before_any_pair(self):
        loads = ["a", "b", "c", "d"]
        segments = protocol.plan(loads, 1800, 60, 20, 120, 1)
        self.assertEqual(segments[0], Segment((), 60))
        self.assertEqual([one.loads for one in segments[1:5]], [(load,) for load in loads])
        self.assertEqual(len({one.loads for one in segments if len(one.loads) == 2}), 6)
        self.assertTrue(all(20 <= one.seconds <= 120 for one in segments))
        self.assertLessEqual(sum(one.seconds for one in segments), 1800)
        self.assertEqual(segments, protocol.plan(loads, 1800, 60, 20, 120, 1), "the same for the same seed")
        self.assertNotEqual(segments, protocol.plan(loads, 1800, 60, 20, 120, 2))
        self.assertEqual(len(protocol.plan(loads, 1, 1, 2, 3, 1)), 11, "at least each once")

    def test_without_idle_or_solo_runs_there_is_no_truth(self):
        def one(*loads):
            return Measured(loads, 1, {}, {})
        self.assertTrue(protocol.is_complete([one(), one("a"), one("b"), one("a", "b")]))
        self.assertFalse(protocol.is_complete([one("a"), one("b"), one("a", "b")]))
        self.assertFalse(protocol.is_complete([one(), one("a"), one("a", "b")]))

    def test_the_table_has_a_row_for_each_pair_and_each_rule(self):
        measured = [Measured((), 10, {"rule": 10}, {"rule": {}}), Measured(("a",), 30, {"rule": 12}, {"rule": {"a": 18}}),
                    Measured(("b",), 20, {"rule": 12}, {"rule": {"b": 8}}),
                    Measured(("a", "b"), 36, {"rule": 12}, {"rule": {"a": 14, "b": 10}})]
        text = protocol.table(measured, ["rule"])
        self.assertIn("| a + b                              |    18.0 + 8.0 |   14.0 + 10.0 |", text)
        self.assertIn("| rule                               |     23.1 |     13.3 |    +20.0 |", text)


@unittest.skipIf(cgroup_root() is None or os.geteuid() != 0, "no cgroup can be made here")
class OnThisHost(unittest.TestCase):
    def setUp(self):
        try:
            (cgroup_root() / f"keplerd-protocol-test-{os.getpid()}").mkdir()
            (cgroup_root() / f"keplerd-protocol-test-{os.getpid()}").rmdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made here: {error}")

    def start(self, *options, path=None):
        environment = os.environ | ({"PATH": path} if path else {})
        return subprocess.Popen([sys.executable, "-B", TOOL, PROGRAMS, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment)

    def nothing_is_left_of(self, tool):
        self.assertFalse((cgroup_root() / f"keplerd-accuracy-{tool.pid}.slice").exists())

    def test_a_dry_run_runs_the_protocol_and_says_that_it_is_simulated(self):
        tool = self.start("--dry-run")
        out, errors = tool.communicate()
        self.assertEqual((tool.returncode, errors), (0, ""))
        self.assertTrue(out.startswith("SIMULATED: "), out)
        self.assertIn("11 segments", out)
        for rule in ("usage ratio", "floor x CPU", "learned"):
            self.assertRegex(out, rf"\n\| {rule} +\| +[0-9.]+ \|")
        self.assertEqual(len(re.findall(r"\n\| \w+-\d+ \+ \w+-\d+ ", out)), 6, "all pairs: " + out)
        self.nothing_is_left_of(tool)

    def test_an_interrupted_run_leaves_nothing_behind(self):
        tool = self.start("--dry-run")
        self.assertTrue(tool.stdout.readline().startswith("SIMULATED: "))
        while "segments" not in tool.stdout.readline():
            pass
        tool.send_signal(signal.SIGINT)
        _, errors = tool.communicate()
        self.assertEqual((tool.returncode, errors), (130, "scripts/accuracy --on-this-host: interrupted\n"))
        self.nothing_is_left_of(tool)

    def test_without_stress_ng_it_refuses(self):
        tool = self.start(path="/nonexistent")
        out, errors = tool.communicate()
        self.assertEqual((tool.returncode, out), (3, ""))
        self.assertIn("stress-ng is not installed: apt install stress-ng", errors)

    @unittest.skipIf(pathlib.Path("/sys/class/powercap/intel-rapl:0").exists(), "this host has a meter")
    def test_without_a_meter_it_refuses(self):
        tools = pathlib.Path("/tmp") / f"keplerd-{os.getpid()}-tools"
        tools.mkdir()
        self.addCleanup(lambda: [(tools / "stress-ng").unlink(), tools.rmdir()])
        (tools / "stress-ng").write_text("#!/bin/sh\nexit 1\n")
        (tools / "stress-ng").chmod(0o755)
        tool = self.start(path=f"{tools}:{os.environ['PATH']}")
        out, errors = tool.communicate()
        self.assertEqual((tool.returncode, out), (3, ""))
        self.assertIn("no energy meter: ", errors)
        self.assertIn("--dry-run", errors)
        self.nothing_is_left_of(tool)


if __name__ == "__main__":
    unittest.main(verbosity=2)
