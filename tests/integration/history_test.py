#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-history and keplerctl with keplerd on a written host: what is recorded is what keplerd counted, to the microjoule,
whoever is killed meanwhile.

usage: history_test.py KEPLERD KEPLERCTL KEPLERD_HISTORY      KILLS in the environment: how often it is killed
"""
import csv
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import history_client
from exporter_host import VM, WorkingHost, wait_until
from written_host import Daemon

KEPLERD, KEPLERCTL, HISTORY = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
CONFIG = "[Sampling]\nInterval=100ms\n"
KILLS = int(os.environ.get("KILLS", "15"))
NOBODY = 65534


class Recorded(unittest.TestCase):
    def setUp(self):
        self.host = WorkingHost()
        self.addCleanup(self.host.remove)
        self.root = self.host.files.root
        self.daemon = Daemon(KEPLERD, self.host.files, config=CONFIG)
        self.addCleanup(lambda: self.daemon.stop())
        self.socket = f"{self.root}/history-run/org.keplerd.History"
        self.base = self.daemon.status()["host"]["energyMicrojoules"]
        self.history = None
        self.set_costs("")
        # The state directory may be a link to another place.
        (self.root / "private").mkdir()
        (self.root / "history").symlink_to("private")
        self.start_history()
        self.addCleanup(self.stop_history)
        self.began = time.time()
        wait_until(lambda: "lastReadingUsec" in self.ask("GetStatus"), "the first reading")

    def start_history(self):
        with open(self.root / "history.log", "a") as log:
            self.history = subprocess.Popen(
                [HISTORY, "--varlink", self.daemon.socket, "--state-dir", self.root / "history",
                 "--runtime-dir", self.root / "history-run", "--config", "/dev/null", "--interval", "1",
                 "--cost-config", self.root / "cost.conf", "--bus", "none"], stderr=log)

    def set_costs(self, text):
        (self.root / "cost.conf").write_text(text)

    def stop_history(self, number=signal.SIGTERM):
        self.history.send_signal(number)
        return self.history.wait(timeout=60)

    def log(self):
        return (self.root / "history.log").read_text()

    def keplerctl(self, *words, status=0):
        done = subprocess.run([KEPLERCTL, *words[:1], "--history", self.socket, *words[1:]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def ask(self, method):
        return history_client.ask(self.socket, method)

    def report(self, *options):
        return json.loads(self.keplerctl("report", "-j", "--since", f"@{int(self.began) - 3600}", *options))["report"]

    def expect_all_recorded(self):
        """When the host rests, all that keplerd counted is recorded."""
        self.host.rest()
        counted = self.daemon.status()["host"]["energyMicrojoules"]

        def recorded():
            nonlocal counted
            counted = self.daemon.status()["host"]["energyMicrojoules"] - self.base
            return self.ask("GetStatus") != {} and self.report()["energyMicrojoules"] >= counted
        wait_until(recorded, "the last reading")
        self.assertEqual(self.report()["energyMicrojoules"], counted)
        return counted


class WhatIsRecorded(Recorded):
    def setUp(self):
        super().setUp()
        self.host.work()
        wait_until(lambda: self.report()["energyMicrojoules"] > 6_000_000, "energy")
        self.energy = self.expect_all_recorded()

    def test_reports_add_up_to_what_keplerd_counted(self):
        for by in ("unit", "slice", "user", "vm", "project", "container", "pod"):
            report = self.report("--by", by)
            rows = sum(row["energyMicrojoules"] for row in report["rows"])
            self.assertEqual(rows + sum(report["accounts"].values()), self.energy, by)
            self.assertEqual(bool(report["rows"]), by != "project", by)
            text = self.keplerctl("report", "--since", f"@{int(self.began) - 3600}", "--by", by)
            self.assertRegex(text, r"(?m)^Total .* 100.00%$")
            table = self.keplerctl("report", "--since", f"@{int(self.began) - 3600}", "--by", by, "-o", "csv")
            self.assertEqual(sum(int(row["energyMicrojoules"]) for row in csv.DictReader(io.StringIO(table))), self.energy)

    def test_the_history_of_a_machine_is_its_energy_by_id_or_name(self):
        machine = self.daemon.rows("vms")[VM]
        for subject in ([VM], ["web"], ["vm", "web"]):
            history = json.loads(self.keplerctl("history", "-j", *subject))["history"]
            self.assertEqual({(row["id"], row["name"], row["kind"]) for row in history}, {(VM, "web", "vms")})
            self.assertLessEqual(sum(row["energyMicrojoules"] for row in history), machine["energyMicrojoules"])
            self.assertGreater(sum(row["energyMicrojoules"] for row in history), 0)
        self.assertEqual(self.keplerctl("history", "nothing", status=3), "keplerctl: nothing is recorded of 'nothing'\n")

    def test_the_export_has_all_that_is_recorded(self):
        table = list(csv.DictReader(io.StringIO(self.keplerctl("history", "export"))))
        host = [row for row in table if row["kind"] == "host"]
        self.assertEqual(sum(int(row["energyMicrojoules"]) for row in host), self.energy)
        self.assertTrue({"units", "vms", "containers", "pods"} <= {row["kind"] for row in table})
        vm = sum(int(row["energyMicrojoules"]) for row in table if row["id"] == VM and row["kind"] == "vms")
        self.assertEqual(vm, sum(row["energyMicrojoules"] for row in json.loads(
            self.keplerctl("history", "-j", "--since", f"@{int(self.began) - 3600}", VM))["history"]))

    def test_a_copy_of_the_database_is_a_database(self):
        copy = self.root / "copy.sqlite"
        command = [HISTORY, "--state-dir", self.root / "history", "--copy-to", copy]
        subprocess.run(command, check=True, timeout=60)
        with sqlite3.connect(f"file:{copy}?mode=ro", uri=True) as database:
            (energy,), = database.execute("SELECT sum(idle + kernel + workloads + unattributed) FROM spans WHERE part_of IS NULL")
        self.assertEqual(energy, self.energy)
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)
        again = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((again.returncode, again.stderr), (1, f"keplerd-history: {copy}: File exists\n"))

    def test_all_steps_have_the_same_energy(self):
        for step in ("5min", "hour", "day", "month"):
            history = json.loads(self.keplerctl("history", "-j", "--step", step))["history"]
            self.assertEqual(sum(row["energyMicrojoules"] for row in history), self.energy, step)

    def test_costs_are_those_of_the_file_as_it_is_now_and_add_up(self):
        self.assertNotIn("costMicro", self.report())
        self.set_costs("[Cost]\nCurrency=EUR\nPrice=900000\n[Carbon]\nIntensity=1000000\nEmbodiedGrams=1000000\n")
        report = self.report("--by", "vm", "--functional-unit", "3")
        cost = round(self.energy * 900_000 / 3_600_000)
        self.assertAlmostEqual(report["costMicro"], cost, delta=1)
        self.assertEqual(report["currency"], "EUR")
        for name in ("costMicro", "milligramsCO2e"):
            parts = [row[name] for row in report["rows"]] + [account[name] for account in report["accountCosts"].values()]
            self.assertEqual(sum(parts), report[name])
        score = report["softwareCarbonIntensity"]
        self.assertEqual(score["operationalMilligramsCO2e"], report["milligramsCO2e"])
        self.assertEqual(score["microgramsCO2ePerUnit"],
                         ((score["operationalMilligramsCO2e"] + score["embodiedMilligramsCO2e"]) * 1000 + 1) // 3)
        text = self.keplerctl("report", "--since", f"@{int(self.began) - 3600}", "--by", "vm", "--functional-unit", "3")
        self.assertIn(" EUR", text)
        self.assertIn("for each of 3 functional units", text)
        history = json.loads(self.keplerctl("history", "-j", "--step", "hour"))["history"]
        self.assertAlmostEqual(sum(row["costMicro"] for row in history), cost, delta=2)

    def test_an_error_in_the_prices_is_reported_and_energy_is_shown(self):
        self.set_costs("[Cost]\nPrice=dear\n")
        done = subprocess.run([KEPLERCTL, "report", "-j", "--history", self.socket], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"{self.root}/cost.conf:2: Price=dear: must be a number", done.stderr)
        self.assertIn("energyMicrojoules", json.loads(done.stdout)["report"])

    def test_json_has_the_documented_fields(self):
        self.set_costs("[Cost]\nCurrency=EUR\nPrice=1\n[Carbon]\nIntensity=1\n")
        shown = self.keplerctl("history", "--json=short", "vms", "--since", f"@{int(self.began) - 3600}", "--until", "now",
                               "--step", "hour")
        self.assertEqual(shown.count("\n"), 1)
        for row in json.loads(shown)["history"]:
            self.assertLessEqual({"id": str, "name": str, "kind": str, "fromUsec": int, "toUsec": int, "energyMicrojoules": int,
                                  "activeMicrojoules": int, "idleMicrojoules": int, "recordedUsec": int, "costMicro": int,
                                  "currency": str, "milligramsCO2e": int}.items(),
                                 {name: type(value) for name, value in row.items()}.items())
            self.assertEqual(row["energyMicrojoules"], row["activeMicrojoules"] + row["idleMicrojoules"])
        report = self.report("--by", "vm")
        self.assertLessEqual({"fromUsec", "toUsec", "rows", "accounts", "energyMicrojoules", "unrecordedUsec"}, set(report))
        self.assertEqual(set(report["accounts"]), {"idle", "kernel", "unattributed", "other"})

    def test_a_graph_is_as_wide_as_the_terminal(self):
        graph = self.keplerctl("history", "--graph", "--step", "5min")
        self.assertRegex(graph, r"(?m)^ +\S+ m?W [|\u2502].")
        self.assertLessEqual(max(len(line) for line in graph.splitlines()), 100)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_others_see_nothing_of_it(self):
        self.root.chmod(0o755)
        refused, units = (
            subprocess.run([KEPLERCTL, "history", *words, "--history", self.socket], capture_output=True, text=True,
                           user=NOBODY, group=NOBODY, extra_groups=[]) for words in ([], ["units", "-j"]))
        self.assertEqual((refused.returncode, refused.stderr), (1, "keplerctl: access denied: only root and members of the group "
                                                                   "keplerd see the history of the host\n"))
        self.assertEqual(json.loads(units.stdout), {"history": []})

    def test_the_database_can_be_read_meanwhile(self):
        file = self.root / "history/history.sqlite"
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            (energy,), = database.execute("SELECT sum(idle + kernel + workloads + unattributed) FROM spans WHERE part_of IS NULL")
        self.assertEqual(energy, self.energy)
        self.assertEqual(file.stat().st_mode & 0o777 & ~0o644, 0)

    def test_without_budgets_it_is_said_where_they_are_set(self):
        self.assertEqual(self.keplerctl("budgets"), "There are no budgets (Budget=, see keplerd-history(8)).\n")
        self.assertEqual(json.loads(self.keplerctl("budgets", "-j")), {"budgets": []})

    def test_a_second_one_is_refused(self):
        second = subprocess.run([HISTORY, "--varlink", self.daemon.socket, "--state-dir", self.root / "history",
                                 "--runtime-dir", self.root / "other-run"], capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another keplerd-history uses this directory", second.stderr)


class Interrupted(Recorded):
    def test_nothing_is_lost_or_counted_twice_however_often_it_is_killed(self):
        self.host.work()
        chance = random.Random(7)
        for _ in range(KILLS):
            time.sleep(chance.random())  # any moment
            self.stop_history(signal.SIGKILL)
            self.start_history()
        self.expect_all_recorded()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small file system")
    def test_a_full_disk_loses_nothing(self):
        self.stop_history()
        small = self.root / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", small], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", small], check=True))
        (self.root / "history").unlink()
        (self.root / "history").symlink_to("small")
        self.start_history()
        wait_until(lambda: "lastReadingUsec" in self.ask("GetStatus"), "the first reading")
        self.base = self.daemon.status()["host"]["energyMicrojoules"]
        before = self.report()["energyMicrojoules"]
        (small / "filler").write_bytes(b"")
        with open(small / "filler", "ab", buffering=0) as filler, self.assertRaises(OSError):
            while True:
                filler.write(b"x" * 1024)
        self.host.work()
        wait_until(lambda: "problem" in self.ask("GetStatus"), "a full disk")
        (small / "filler").unlink()
        wait_until(lambda: "problem" not in self.ask("GetStatus"), "the end of the problem")
        self.base -= before
        self.expect_all_recorded()
        self.assertIn("history cannot be written: database: database or disk is full", self.log())
        self.assertIn("history is written again", self.log())

    def test_nothing_is_lost_where_keplerd_is_killed(self):
        self.host.work()
        for _ in range(3):
            before = self.report()["energyMicrojoules"]
            wait_until(lambda: self.report()["energyMicrojoules"] > before + 2_000_000, "energy")
            self.daemon.stop(signal.SIGKILL)
            self.daemon = Daemon(KEPLERD, self.host.files, config=CONFIG)
        self.expect_all_recorded()
        self.assertIn("keplerd does not answer", self.log())

    def test_what_is_used_while_it_does_not_run_is_recorded(self):
        self.assertEqual(self.stop_history(), 0)
        self.host.work()
        wait_until(lambda: self.daemon.status()["host"]["energyMicrojoules"] > self.base + 5_000_000, "energy")
        self.start_history()
        self.expect_all_recorded()

    def test_a_damaged_file_is_kept_and_reported(self):
        self.stop_history()
        file = self.root / "history/history.sqlite"
        file.write_bytes(b"x" * 100_000)
        self.start_history()
        wait_until(lambda: "lastReadingUsec" in self.ask("GetStatus"), "the first reading")
        kept, = file.parent.glob("history.sqlite.damaged-*")
        self.assertEqual(kept.read_bytes(), b"x" * 100_000)
        self.assertIn(f"{file} is damaged: it is kept as {kept}, and a new one is begun", self.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
