#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The auditor finds what it is there for: each kind of violation, and none in a host that adds up."""
import copy
import sys
import unittest

sys.dont_write_bytecode = True

from auditor import Audit  # noqa: E402


def row(id_, energy, **more):
    return {"id": id_, "energyMicrojoules": energy, "activeMicrojoules": energy, "idleMicrojoules": 0, **more}


STATUS = {"instanceId": "a", "host": {"energyMicrojoules": 100}, "outsideOtherMicrojoules": 5,
          "accounts": {"idle": 20, "kernel": 10, "workloads": 65, "unattributed": 5}}
LISTS = {"zones": [row("package", 80, inTotal=True), row("dram", 20, inTotal=True), row("core", 50, inTotal=False)],
         "units": [row("/a", 50, ownMicrojoules=20, otherMicrojoules=8),
                   row("/a/b", 30, ownMicrojoules=30, otherMicrojoules=30, parent="/a")],
         "processes": [row("1.1", 12, unit="/a", unitMicrojoules=12), row("2.1", 10, unitMicrojoules=10)],
         "vms": [row("uuid", 30)], "containers": [], "pods": []}


class Auditor(unittest.TestCase):
    def setUp(self):
        self.audit = Audit("/nonexistent")
        self.status, self.lists = copy.deepcopy(STATUS), copy.deepcopy(LISTS)

    def look(self):
        self.audit.check_sums(self.status, self.lists)
        self.audit.check_counters(self.status, self.lists)
        return self.audit.violations

    def test_a_host_that_adds_up_has_no_violation(self):
        self.assertEqual(self.look(), [])
        self.assertEqual(self.look(), [])

    def test_energy_that_is_not_divided_yet_is_part_of_a_unit(self):
        self.lists["units"][1].update(otherMicrojoules=25, undividedMicrojoules=5)
        self.assertEqual(self.look(), [])

    def test_each_sum_is_checked(self):
        def broken(change):
            self.setUp()
            change(self)
            return self.look()
        for change in (lambda t: t.status["accounts"].update(kernel=11),
                       lambda t: t.lists["zones"][1].update(inTotal=False),
                       lambda t: t.status.update(outsideOtherMicrojoules=6),
                       lambda t: t.lists["units"][1].pop("parent"),
                       lambda t: t.lists["processes"][0].update(unitMicrojoules=13),
                       lambda t: t.lists["vms"][0].update(activeMicrojoules=29)):
            self.assertNotEqual(broken(change), [])

    def test_what_goes_back_is_a_violation_unless_it_was_dropped(self):
        self.look()
        self.lists["containers"] = [row("c", 10)]
        self.look()
        self.lists["containers"] = []
        self.look()
        self.lists["containers"] = [row("c", 1)]
        self.assertEqual(self.look(), [])
        self.lists["containers"] = [row("c", 0)]
        self.assertEqual(self.look(), ["look 0: containers c went back from 1 to 0"])

    def test_what_ends_and_is_created_again_may_begin_anew_only_if_ended_rows_are_dropped(self):
        self.status["realtimeUsec"] = 1000
        ended = [row(f"e{i}", 20, state="terminated", sinceUsec=1) for i in range(500)]
        for many, since, wanted in ((ended, 1001, []), (ended, 1000, ["c"]), (ended[1:], 1001, ["c"])):
            self.audit = Audit("/nonexistent")
            self.lists["containers"] = [*many, row("c", 10, state="running", sinceUsec=5)]
            self.look()
            self.lists["containers"] = [*many, row("c", 1, state="running", sinceUsec=since)]
            self.assertEqual([violation.split()[3] for violation in self.look()], wanted)

    def test_a_vm_continues_even_if_it_was_not_listed_for_a_while(self):
        self.look()
        vm = self.lists["vms"].pop()
        self.look()
        self.lists["vms"] = [vm | row("uuid", 29)]
        self.assertEqual(self.look(), ["look 0: vms uuid went back from 30 to 29"])

    def test_another_instance_and_an_id_that_stands_twice_are_violations(self):
        self.look()
        self.lists["pods"] = [row("p", 1), row("p", 1)]
        self.status["instanceId"] = "b"
        self.assertEqual(len(self.look()), 2)


if __name__ == "__main__":
    unittest.main()
