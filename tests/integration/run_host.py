# SPDX-License-Identifier: Apache-2.0
"""keplerctl run with keplerd on a written host, and a manager that only claims to start scopes."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from private_bus import PrivateBus
from written_host import Daemon, WrittenHost

KEPLERD, KEPLERCTL = sys.argv.pop(1), sys.argv.pop(1)
HERE = pathlib.Path(__file__).parent
SCOPE = "/user.slice/run.scope"
# Samples are taken when keplerctl asks for them alone, never between two writes of a command.
CONFIG = "[Sampling]\nInterval=30s\n"


class WithAManager(unittest.TestCase):
    cgroup, refusal = SCOPE, ()

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.host.group("/user.slice", 0)
        self.host.group(SCOPE, 0)
        self.bus = PrivateBus(tempfile.mkdtemp(dir=self.host.root))
        self.bus.start()
        self.addCleanup(self.bus.stop)
        self.requests = self.host.root / "requests"
        self.manager = subprocess.Popen(
            [sys.executable, "-B", HERE / "fake_manager.py", self.bus.address, self.cgroup, self.requests, *self.refusal],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop_manager)
        self.assertEqual(self.manager.stdout.readline(), "ready\n")

    def stop_manager(self):
        self.manager.terminate()
        self.manager.wait()
        self.manager.stdout.close()

    def start_daemon(self):
        daemon = Daemon(KEPLERD, self.host, config=CONFIG)
        self.addCleanup(daemon.stop)
        daemon.status()
        return daemon

    def environment(self):
        return os.environ | {"DBUS_SESSION_BUS_ADDRESS": self.bus.address, "DBUS_SYSTEM_BUS_ADDRESS": self.bus.address}

    def run_command(self, *arguments, daemon=None, **options):
        address = daemon.socket if daemon else "/nonexistent/socket"
        return subprocess.run([KEPLERCTL, "--varlink", address, *arguments], capture_output=True, text=True,
                              env=self.environment(), **options)
