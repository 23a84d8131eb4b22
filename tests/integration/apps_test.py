#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerctl apps: two users' sessions on a written host, with desktop files, without, and with hostile names and files.

usage: apps_test.py KEPLERD KEPLERCTL KEPLERD_HISTORY
"""
import json
import os
import subprocess
import sys
import unittest

from exporter_host import wait_until
from written_host import Daemon, WrittenHost

KEPLERD, KEPLERCTL, HISTORY = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
USERS = (1000, 1001)
HOSTILE = "app-\u202eevil\x1b[2J\n" + "x" * 150 + "-9.scope"


def slice_of(user):
    return f"/user.slice/user-{user}.slice"


def apps_of(user):
    return f"{slice_of(user)}/user@{user}.service/app.slice"


@unittest.skipUnless(os.geteuid() == 0, "other users' sessions are shown to root")
class OnAHost(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.root = self.host.root
        self.root.chmod(0o755)
        self.steps = 0
        # Group: microseconds of CPU time in a step, without what is below it.
        self.groups = {"/user.slice": 0, "/system.slice": 0, "/system.slice/cron.service": 5_000}
        for user in USERS:
            self.groups |= {slice_of(user): 0, f"{slice_of(user)}/session-1.scope": 10_000,
                            f"{slice_of(user)}/user@{user}.service": 1_000, apps_of(user): 0,
                            f"{apps_of(user)}/app-gnome-org.example.Editor-1.scope": 30_000,
                            f"{apps_of(user)}/app-gnome-org.example.Editor-2.scope": 20_000,
                            f"{apps_of(user)}/app-missing@1.service": 4_000}
        self.groups[f"{apps_of(1000)}/{HOSTILE}"] = 3_000
        self.groups[f"{apps_of(1000)}/app-fifo-1.scope"] = 2_000
        self.write_desktop_files()
        self.step()
        self.daemon = Daemon(KEPLERD, self.host, config="[Sampling]\nInterval=100ms\n")
        self.addCleanup(self.daemon.stop)
        self.daemon.status()
        self.step()

    def write_desktop_files(self):
        entry = "[Desktop Entry]\nType=Application\nName=Editor\nName[de]=Schreiber \x1b[2J\n"
        self.host.write("data/applications/org.example.Editor.desktop", entry)
        self.host.write("home/applications/missing.desktop", "[Desktop Entry]\nName=At home\n")
        os.mkfifo(self.root / "fifo")
        (self.root / "data/applications/fifo.desktop").symlink_to(self.root / "fifo")
        for folder in ("data", "home"):
            (self.root / folder).chmod(0o755)

    def step(self):
        self.steps += 1
        self.host.zone("intel-rapl:0", "package-0", 30_000_000 * self.steps)
        self.host.ticks(busy=1000 + 100 * self.steps, idle=1000)
        for group in self.groups:
            inside = sum(usec for name, usec in self.groups.items() if name == group or name.startswith(group + "/"))
            self.host.group(group, inside * self.steps)

    def keplerctl(self, *words, user=None, locale="de_DE.UTF-8", history="/nonexistent"):
        done = subprocess.run([KEPLERCTL, "apps", f"--varlink={self.daemon.socket}", f"--history={history}", *words],
                              capture_output=True, text=True, timeout=60, user=user, group=user,
                              extra_groups=None if user is None else [],
                              env={"XDG_DATA_HOME": f"{self.root}/home", "XDG_DATA_DIRS": f"{self.root}/data", "LC_ALL": locale})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, **of):
        return json.loads(self.keplerctl("--json=short", **of))["apps"]

    def energies(self):
        """Of the users' slices."""
        return {user: self.daemon.rows("units")[slice_of(user)]["energyMicrojoules"] for user in USERS}


class Apps(OnAHost):
    def test_root_sees_the_apps_of_all_users_and_they_add_up(self):
        wait_until(lambda: min(self.energies().values()) > 0, "energy of both users")
        rows, energies = self.rows(), self.energies()
        for user in USERS:
            own = [row for row in rows if row["ownerUid"] == user]
            self.assertEqual(sum(row["energyMicrojoules"] for row in own), energies[user])
            editor, = [row for row in own if row["id"] == f"user-{user}/org.example.Editor"]
            self.assertEqual((editor["name"], editor["instances"], editor["kind"]), (r"Schreiber \x1b[2J", 2, "app"))
            units = self.daemon.rows("units")
            self.assertEqual(editor["energyMicrojoules"], sum(
                units[f"{apps_of(user)}/app-gnome-org.example.Editor-{n}.scope"]["energyMicrojoules"] for n in (1, 2)))
        table = self.keplerctl("--all")
        self.assertRegex(table, r"USER +NAME\n")
        self.assertNotRegex(table, "[\x1b\u202e]")
        # What is in another user's home is not read.
        self.assertEqual({row["name"] for row in rows if row["id"].endswith("/missing")}, {"missing"})

    def test_hostile_names_and_files_are_bounded_and_harmless(self):
        wait_until(lambda: self.energies()[1000] > 0, "energy")
        names = {row["name"] for row in self.rows()}
        self.assertIn("fifo", names)
        evil, = [name for name in names if "evil" in name]
        self.assertRegex(evil, r"^[ -~]{1,400}$")

    def test_a_user_sees_his_own_apps_only(self):
        def seen():
            return self.rows(user=1000)
        wait_until(lambda: any(row["energyMicrojoules"] > 0 for row in seen()), "a public tick with energy")
        rows = seen()
        self.assertEqual({row["ownerUid"] for row in rows}, {1000})
        self.assertIn("user-1000", {row["id"] for row in rows})
        self.assertEqual({row["name"] for row in rows if row["id"] == "user-1000/missing"}, {"At home"})
        self.assertFalse(any("user" in row for row in rows))
        self.assertNotIn("USER", self.keplerctl(user=1000))

    def test_names_are_those_of_the_locale(self):
        wait_until(lambda: self.energies()[1000] > 0, "energy")
        self.assertIn("Editor", {row["name"] for row in self.rows(locale="C.UTF-8")})


class Today(OnAHost):
    def test_the_energy_of_today_is_that_of_the_history(self):
        (self.root / "history").mkdir()
        socket = f"{self.root}/history-run/org.keplerd.History"
        history = subprocess.Popen([HISTORY, "--varlink", self.daemon.socket, "--state-dir", self.root / "history", "--runtime-dir",
                                    self.root / "history-run", "--config", "/dev/null", "--interval", "1", "--cost-config",
                                    "/dev/null", "--bus", "none"], stderr=subprocess.DEVNULL)
        self.addCleanup(history.wait)
        self.addCleanup(history.terminate)

        def editor():
            self.step()
            rows = json.loads(self.keplerctl("--json=short", history=socket))["apps"]
            return next(row for row in rows if row["id"] == "user-1000/org.example.Editor")
        wait_until(lambda: editor().get("todayMicrojoules", 0) > 0, "recorded energy")
        row = editor()
        self.assertLessEqual(row["todayMicrojoules"], row["energyMicrojoules"])
        self.assertIn("TODAY", self.keplerctl(history=socket))


if __name__ == "__main__":
    unittest.main()
