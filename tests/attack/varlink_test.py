#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd while users of the host attack its socket: it keeps sampling, answers honest callers, and stays within its
memory limit. Needs root, to be those users. How fast it is then is measured by scripts/bench --attack.

usage: varlink_test.py KEPLERD
"""
import json
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import varlink_attacks as attacks
from attackers import Attackers
from stage import EVE, EVERY_SECOND, JOE, LIMIT, SUBUIDS, Stage, ask, cgroup_root, close, connect, forget_peak, peak
from written_host import read_message

KEPLERD = sys.argv.pop(1)
MIB = 1 << 20
GROUPS = 2000
CONTAINERS = 1_000_013_824  # 65,536 users each from here on
# What 64 connections of one user may have: 64 KiB of calls, 256 KiB of output and, on top of that, one reply each.
OF_A_USER = 64 * MIB


class Attacked(unittest.TestCase):
    config = EVERY_SECOND
    groups, real = 0, False

    @classmethod
    def setUpClass(cls):
        cls.stage = Stage(groups=cls.groups, real=cls.real)
        cls.addClassCleanup(cls.stage.remove)
        cls.stage.work()

    def setUp(self):
        self.daemon = self.stage.daemon(KEPLERD, self.config)
        self.addCleanup(lambda: self.assertEqual(self.daemon.stop(), 0, "a clean end: sanitizers found nothing"))
        self.root, self.eve = self.connect(0), self.connect(EVE)
        for stream in (self.root, self.eve):
            ask(stream, "GetStatus")
        self.attackers = Attackers()
        self.addCleanup(self.attackers.end)
        forget_peak(self.daemon.process.pid)
        self.before = peak(self.daemon.process.pid)

    def connect(self, uid):
        stream = connect(self.daemon, uid)
        self.addCleanup(close, stream)
        return stream

    def attack(self, attack, *arguments, uid=JOE):
        self.attackers.start(uid, attack, self.daemon.socket, *arguments)

    def expect_well(self, most):
        """Honest callers are answered, on old connections and on new ones, and two more samples are taken meanwhile; all
        of it within LIMIT, which is generous: scripts/bench --attack measures."""
        begin = time.monotonic()
        sequence = ask(self.root, "GetStatus")["parameters"]["sequence"]
        follower = self.connect(0)
        follower.write(attacks.call("Monitor", more=True))
        follower.flush()
        while json.loads(read_message(follower))["parameters"]["sequence"] < sequence + 2:
            pass
        for stream in (self.eve, self.connect(EVE), self.root, self.connect(0)):
            self.assertGreater(ask(stream, "GetStatus")["parameters"]["sequence"], 0)
        self.assertLess(time.monotonic() - begin, LIMIT)
        self.assertLess(peak(self.daemon.process.pid) - self.before, most)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Floods(Attacked):
    groups = GROUPS

    def test_pipelined_lists(self):
        self.attack(attacks.pipelined_lists)
        self.expect_well(OF_A_USER)

    def test_whole_lists(self):
        self.attack(attacks.whole_lists)
        self.expect_well(2 * OF_A_USER)

    def test_connections_that_do_not_read(self):
        self.attack(attacks.deaf)
        self.attack(attacks.deaf_followers, uid=SUBUIDS - 1)
        self.expect_well(2 * OF_A_USER)

    def test_one_byte_at_a_time(self):
        self.attack(attacks.dripping)
        self.expect_well(OF_A_USER)

    def test_garbage(self):
        self.attack(attacks.garbage)
        self.expect_well(OF_A_USER)


@unittest.skipUnless(os.geteuid() == 0 and os.access(cgroup_root() or "", os.W_OK), "needs root, and cgroups")
class Stalls(Attacked):
    # Enough that a loop that sorted them for each call of each connection would block everyone else for long.
    groups, real = 10_000, True

    def test_pipelined_lists_of_many_cgroups(self):
        self.attack(attacks.pipelined_lists)
        self.expect_well(2 * OF_A_USER)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Places(Attacked):
    def test_subordinate_users_are_their_login(self):
        for i in range(4):
            self.attack(attacks.holding, uid=SUBUIDS + i)
        self.expect_well(OF_A_USER)

    def test_users_that_no_login_owns_are_one(self):
        # Of those that systemd-nspawn takes for containers: UIDS-GIDS.md.
        for i in range(5):
            self.attack(attacks.holding, uid=CONTAINERS + 65_536 * i)
        self.expect_well(OF_A_USER)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Processes(unittest.TestCase):
    def check(self, public, expected):
        stage = Stage(processes=1000)
        self.addCleanup(stage.remove)
        stage.work()
        with stage.daemon(KEPLERD, f"{EVERY_SECOND}[Access]\nPublic={public}\n") as daemon, Attackers() as attackers:
            root, joe, eve = (connect(daemon, uid) for uid in (0, JOE, EVE))
            for stream in (root, joe, eve):
                self.addCleanup(close, stream)
            sequence = ask(root, "GetStatus")["parameters"]["sequence"]
            forget_peak(daemon.process.pid)
            before = peak(daemon.process.pid)
            attackers.start(JOE, attacks.whole_lists, daemon.socket, "processes", 60)
            while ask(root, "GetStatus")["parameters"]["sequence"] < sequence + 3:
                pass
            for stream, rows in zip((joe, eve), expected):
                reply = ask(stream, "List", more=True, kind="processes")
                self.assertEqual(reply.get("error") or "row" in reply["parameters"], rows)
            self.assertLess(peak(daemon.process.pid) - before, 2 * OF_A_USER)
            self.assertEqual(daemon.stop(), 0)

    def test_of_who_may_see_none(self):
        self.check("none", ["org.varlink.service.PermissionDenied"] * 2)

    def test_of_who_may_see_his_own(self):
        self.check("own", [True, False])


if __name__ == "__main__":
    unittest.main(verbosity=2)
