#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd while users of the bus attack it over D-Bus: it keeps sampling, answers honest callers, and stays within its
memory limit. Needs root, to be those users.

usage: bus_test.py KEPLERD SOURCE_DIRECTORY
"""
import contextlib
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import bus_attacks as attacks
from attackers import Attackers
from private_bus import Client, PrivateBus
from stage import EVE, EVERY_SECOND, JOE, Stage, ask, bus_policy, close, connect, deaf_polkit, forget_peak, peak
from users import user

KEPLERD, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
MIB = 1 << 20
MOST = 128 * MIB


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Bus(unittest.TestCase):
    def setUp(self):
        self.stage = Stage(groups=200)
        self.addCleanup(self.stage.remove)
        self.stage.work()
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.bus = stack.enter_context(PrivateBus(self.stage.files.root / "bus", bus_policy(SOURCE)))
        self.questions = stack.enter_context(deaf_polkit(self.bus, self.stage.files.root))
        self.daemon = self.stage.daemon(KEPLERD, EVERY_SECOND, bus=self.bus.address)
        self.addCleanup(lambda: self.assertEqual(self.daemon.stop(), 0, "a clean end: sanitizers found nothing"))
        self.attackers = stack.enter_context(Attackers())
        self.root, self.eve = self.connect(0), self.connect(EVE)
        self.root.wait_for_service()
        self.root.list("Units")
        forget_peak(self.daemon.process.pid)
        self.before = peak(self.daemon.process.pid)

    def connect(self, uid):
        with user(uid):
            client = Client(self.bus)
        self.addCleanup(client.close)
        return client

    def attack(self, attack, *arguments, uid=JOE):
        self.attackers.start(uid, attack, self.bus.address, *arguments)

    def expect_well(self, bus=True):
        """Honest callers are answered, on varlink and on the bus, and two more samples are taken meanwhile."""
        varlink = connect(self.daemon, 0)
        self.addCleanup(close, varlink)
        sequence = ask(varlink, "GetStatus")["parameters"]["sequence"]
        for client in (self.root, self.eve, self.connect(EVE), self.connect(0)) if bus else ():
            self.assertGreater(client.get_all()["Sequence"], 0)
        while ask(varlink, "GetStatus")["parameters"]["sequence"] < sequence + 2:
            pass
        self.assertLess(peak(self.daemon.process.pid) - self.before, MOST)

    def test_big_questions_that_polkit_does_not_answer(self):
        # 300 megabytes.
        for _ in range(2):
            self.attack(attacks.big_questions, 150)
        self.expect_well()

    def test_big_questions_of_who_waits_for_answers_or_may_not_be_asked(self):
        self.attack(attacks.big_questions, 100, MIB, attacks.NO_REPLY)
        self.attack(attacks.big_questions, 100, MIB, attacks.INTERACTIVE)
        self.expect_well()

    def test_tens_of_thousands_of_small_questions(self):
        for _ in range(4):
            self.attack(attacks.big_questions, 10_000, 100)
        self.expect_well()

    def test_polkit_is_not_flooded(self):
        for _ in range(4):
            self.attack(attacks.big_questions, 500, 100)
        self.expect_well()
        asked = self.questions.read_text().count("\n") - 1
        self.assertLessEqual(asked, 2 * 4, "one open question a caller")

    def test_property_floods(self):
        self.attack(attacks.property_floods)
        self.expect_well()

    def test_property_floods_without_answers(self):
        # The bus queues calls to keplerd in order of arrival, hundreds of thousands of them: a caller on
        # the bus waits for them.
        self.attack(attacks.deaf_property_floods)
        self.expect_well(bus=False)

    def test_subscriptions_that_are_not_read(self):
        for _ in range(8):
            self.attack(attacks.subscriptions, 64)
        self.expect_well()


if __name__ == "__main__":
    unittest.main(verbosity=2)
