#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Budgets of keplerd-history with keplerd on a written host and a private bus: each crossing is reported once.

usage: budget_test.py KEPLERD KEPLERD_HISTORY KEPLERD_EXPORTER SOURCE_DIRECTORY
"""
import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from gi.repository import Gio, GLib

import history_client
from exporter_host import Exporter, WorkingHost
from private_bus import Client, PrivateBus, members, wait_until
from written_host import Daemon

KEPLERD, HISTORY, EXPORTER, SOURCE = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
NAME, PATH = "org.keplerd1.History", "/org/keplerd1/History"
VM, HOST = "10J/month vm web", "30J/month host"
CONFIG = f"[Budgets]\nBudget={VM}\nBudget={HOST}\nBudget=1MWh/day unit a b.service\n"
SERVICES = {r"keplerd-budget@vm\x20web.service", "keplerd-budget@host.service"}


class Budgets(unittest.TestCase):
    def setUp(self):
        self.host = WorkingHost()
        self.addCleanup(self.host.remove)
        self.root = self.host.files.root
        self.bus = PrivateBus(self.root / "bus")
        self.bus.start()
        self.addCleanup(self.bus.stop)
        self.client = Client(self.bus)
        self.addCleanup(self.client.close)
        self.crossings = []
        self.client.connection.signal_subscribe(None, NAME, "BudgetCrossed", PATH, None, Gio.DBusSignalFlags.NONE,
                                                lambda *values: self.crossings.append(values[5].unpack()))
        self.daemon = Daemon(KEPLERD, self.host.files, config="[Sampling]\nInterval=100ms\n")
        self.addCleanup(lambda: self.daemon.stop())
        (self.root / "history.conf").write_text(CONFIG)
        (self.root / "started").touch()
        self.start_manager()
        self.start()
        self.addCleanup(lambda: self.stop())

    def start_manager(self, *refusal):
        self.manager = subprocess.Popen(
            [sys.executable, "-B", pathlib.Path(__file__).with_name("fake_manager.py"), self.bus.address, "/", self.root / "started",
             *refusal], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop_manager)
        self.assertEqual(self.manager.stdout.readline(), "ready\n")

    def stop_manager(self):
        self.manager.kill()
        self.manager.wait()
        self.manager.stdout.close()

    def start(self):
        with open(self.root / "history.log", "a") as log:
            self.history = subprocess.Popen(
                [HISTORY, "--varlink", self.daemon.socket, "--state-dir", self.root / "history", "--bus", self.bus.address,
                 "--runtime-dir", self.root / "history-run", "--config", self.root / "history.conf", "--interval", "1"], stderr=log)
        wait_until(lambda: self.ask("GetStatus").get("lastReadingUsec"), "the first reading")

    def stop(self, number=signal.SIGTERM):
        self.history.send_signal(number)
        return self.history.wait(timeout=60)

    def ask(self, method):
        return history_client.ask(f"{self.root}/history-run/org.keplerd.History", method)

    def call(self, method, interface=NAME):
        return self.client.connection.call_sync(NAME, PATH, interface, method, None, None, 0, -1, None).unpack()[0]

    def started(self):
        return [json.loads(line)["name"] for line in (self.root / "started").read_text().splitlines()]

    def log(self):
        return (self.root / "history.log").read_text()

    def crossed(self):
        """Whether both are used up, as far as is recorded."""
        return {crossing[0] for crossing in self.crossings if crossing[1] == 100} >= {VM, HOST} or not self.ask("ListBudgets")

    def test_each_crossing_is_reported_once(self):
        self.host.work()
        wait_until(self.crossed, "100 percent of both")
        wait_until(lambda: len(self.started()) >= len(self.crossings), "the services")
        for again in (signal.SIGKILL, signal.SIGTERM):
            self.stop(again)
            self.start()
            used = {budget["budget"]: budget for budget in self.ask("ListBudgets")["budgets"]}
            wait_until(lambda: self.ask("ListBudgets")["budgets"][0]["usedMicrojoules"] > used[VM]["usedMicrojoules"],
                       "more energy")
        self.host.rest()
        self.assertEqual(sorted({(name, percent) for name, percent, *_ in self.crossings}),
                         sorted((name, percent) for name, percent, *_ in self.crossings), "none twice")
        for name, percent, now, limit, begin, end in self.crossings:
            self.assertGreaterEqual(now * 100, limit * percent, name)
            self.assertLessEqual(begin, time.time() * 1e6)
            self.assertGreater(end, time.time() * 1e6)
        wait_until(lambda: len(self.started()) >= len(self.crossings), "the services")
        self.assertEqual(set(self.started()), SERVICES)
        self.assertEqual(len(self.started()), len(self.crossings))
        environment = (self.root / r"history-run/budgets/vm\x20web.env").read_text()
        self.assertIn('KEPLERD_BUDGET="10J/month vm web"\n', environment)
        self.assertIn("KEPLERD_BUDGET_PERCENT=100\n", environment)
        self.assertIn("budget 30J/month host: 100 % used", self.log())

    def test_a_crossing_waits_while_the_service_runs(self):
        (self.root / "started.running").touch()
        self.host.work()
        wait_until(self.crossed, "100 percent of both")
        self.assertEqual(self.started(), [], "systemd would ignore it")
        (self.root / "started.running").unlink()
        wait_until(lambda: self.ask("ListBudgets") and len(self.started()) >= len(self.crossings), "all of them")
        self.host.rest()
        self.assertEqual(set(self.started()), SERVICES)

    def test_a_crossing_that_waits_is_not_forgotten_at_a_restart(self):
        (self.root / "started.running").touch()
        self.host.work()
        wait_until(self.crossed, "100 percent of both")
        self.host.rest()
        for again in (signal.SIGKILL, signal.SIGTERM):
            self.stop(again)
            self.start()
        self.assertEqual(self.started(), [])
        (self.root / "started.running").unlink()
        wait_until(lambda: self.ask("ListBudgets") and len(self.started()) >= len(self.crossings), "all of them")
        self.assertEqual(len(self.started()), len(self.crossings), "each once")
        self.assertEqual(set(self.started()), SERVICES)
        self.assertFalse((self.root / "history/waiting-crossings").exists())

    def test_without_its_name_nothing_is_announced(self):
        self.stop()
        self.client.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                                         GLib.Variant("(su)", (NAME, 4)), None, 0, -1, None)
        self.start()
        wait_until(lambda: self.ask("GetStatus") and "no name on D-Bus: another program has it" in self.log(), "the refusal")
        self.host.work()
        wait_until(lambda: self.ask("ListBudgets") and "30J/month host: 100 % used" in self.log(), "a crossing")
        self.host.rest()
        wait_until(lambda: len(self.started()) >= 1, "services are started nevertheless")
        self.assertEqual(self.crossings, [])

    def test_varlink_and_dbus_list_the_same(self):
        listed = self.ask("ListBudgets")["budgets"]
        self.assertEqual([budget["budget"] for budget in listed], [VM, HOST, "1MWh/day unit a b.service"])
        self.host.rest()
        fields = ("budget", "subject", "usedMicrojoules", "limitMicrojoules", "fromUsec", "toUsec")
        wait_until(lambda: self.call("ListBudgets") == [tuple(budget[field] for field in fields) + ("",)
                                                        for budget in self.ask("ListBudgets")["budgets"]], "the same")

    def test_the_exporter_has_them(self):
        self.host.rest()
        exporter = Exporter(EXPORTER, self.daemon.socket, self.root / "exporter.log", "--serve=budgets",
                            "--history", f"{self.root}/history-run/org.keplerd.History").start()
        self.addCleanup(exporter.close)
        limit = f'keplerd_budget_limit_joules{{budget="{VM}",subject="vm web"}} 10\n'
        # The first scrape asks for them, the page of a later sample has them.
        wait_until(lambda: limit in exporter.get()[1].decode(), "the budgets")

    def test_introspection_is_what_is_documented(self):
        shown = members(self.call("Introspect", "org.freedesktop.DBus.Introspectable"))
        self.assertEqual(shown[NAME], members((SOURCE / "dbus/org.keplerd1.History.xml").read_text())[NAME])

    def test_a_refusal_is_logged(self):
        self.stop_manager()
        self.start_manager("Access denied")
        self.host.work()
        wait_until(lambda: self.ask("ListBudgets") and "cannot start" in self.log(), "the refusal")
        self.assertRegex(self.log(), r"cannot start keplerd-budget@[a-z\\0-9]+\.service: Access denied")

    def test_the_name_is_back_after_a_restart_of_the_bus(self):
        self.bus.stop()
        self.stop_manager()
        self.bus.start()
        self.client = Client(self.bus)

        def named():
            self.ask("GetStatus")
            reply = self.client.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                                     "NameHasOwner", GLib.Variant("(s)", (NAME,)), None, 0, -1, None)
            return reply.unpack()[0]
        wait_until(named, "the name")


if __name__ == "__main__":
    unittest.main(verbosity=2)
