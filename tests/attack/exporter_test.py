#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-exporter while many connections attack it from many addresses: honest clients are served. What one client can do,
and the exact limits, are in tests/integration/exporter_test.py.

usage: exporter_test.py KEPLERD KEPLERD_EXPORTER
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import http_attacks as attacks
from attackers import Attackers
from exporter_host import Exporter
from stage import EVERY_SECOND, Stage, forget_peak, get, peak

KEPLERD, EXPORTER = sys.argv.pop(1), sys.argv.pop(1)
MIB = 1 << 20
HONEST, AMONG_THEM = "127.0.0.1", "127.0.0.2"
# Of cost 12: 256 times the work of one of cost 4.
WEB = ("basic_auth_users:\n  joe: $2y$12$WplY1yIRfnoNA9l1ad3QWO" + "." * 31 + "\n"
       "  ann: $2y$04$WplY1yIRfnoNA9l1ad3QWOrdU0orHonLNWlqn/pr/CDrVS9ZQOYVm\n"
       "  eve: $2y$04$WplY1yIRfnoNA9l1ad3QWOrdU0orHonLNWlqn/pr/CDrVS9ZQOYVm\n")  # "secret"


class Exporters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = Stage(units=500)
        cls.addClassCleanup(cls.stage.remove)
        cls.stage.files.write("web.yml", WEB)
        cls.stage.work()
        cls.daemon = cls.stage.daemon(KEPLERD, EVERY_SECOND)
        cls.addClassCleanup(cls.daemon.stop)

    def export(self, *options, **asked):
        self.exporter = Exporter(EXPORTER, self.daemon.socket, self.stage.files.root / "exporter.log", "--serve=all",
                                 "--processes=0", *options).start()
        self.addCleanup(lambda: self.assertEqual(self.exporter.close(), 0, "a clean end: sanitizers found nothing"))
        self.attackers = Attackers()
        self.addCleanup(self.attackers.end)
        self.assertEqual(get(self.exporter.port, **asked), 200)
        forget_peak(self.exporter.process.pid)
        self.before = peak(self.exporter.process.pid)

    def attack(self, attack, *arguments):
        self.attackers.start(0, attack, self.exporter.port, *arguments)

    def expect_well(self, most, **asked):
        statuses = [get(self.exporter.port, source, **asked) for source in [HONEST] * 3 + [AMONG_THEM] * 5]
        self.assertEqual(statuses, [200] * 8)
        self.assertLess(peak(self.exporter.process.pid) - self.before, most)

    def test_thousands_of_connections_that_drip(self):
        self.export()
        self.attack(attacks.dripping, 2300, 1.0)
        self.expect_well(64 * MIB)

    def test_thousands_of_connections_that_are_silent(self):
        self.export()
        self.attack(attacks.silent, 2300)
        self.expect_well(64 * MIB)

    def test_connections_that_do_not_read(self):
        self.export()
        self.attack(attacks.deaf, 248)
        self.expect_well(128 * MIB)

    def test_thousands_of_connections_that_do_not_read(self):
        self.export()
        self.attack(attacks.deaf, 1500)
        self.expect_well(160 * MIB)

    def test_queries_of_thousands_of_arguments(self):
        self.export()
        self.attack(attacks.many_arguments)
        self.expect_well(32 * MIB)

    def test_who_comes_for_the_first_time_while_another_address_guesses(self):
        web = f"--web-config={self.stage.files.root / 'web.yml'}"
        self.export(web, password=("eve", "secret"))
        self.attack(attacks.guessing, 1)
        self.assertEqual(get(self.exporter.port, HONEST, password=("ann", "secret")), 200, "for the first time")
        self.expect_well(32 * MIB, password=("ann", "secret"))

    def test_who_is_known_while_many_addresses_guess(self):
        web = f"--web-config={self.stage.files.root / 'web.yml'}"
        self.export(web, password=("eve", "secret"))
        self.attack(attacks.guessing, 50, 100)
        self.expect_well(32 * MIB, password=("eve", "secret"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
