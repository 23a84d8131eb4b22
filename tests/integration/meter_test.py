#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A meter directory from its writer to keplerctl: examples/smart-plug with a program that answers like a plug.

usage: meter_test.py KEPLERD KEPLERCTL SOURCE_DIRECTORY
"""
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest

from written_host import Daemon, WrittenHost

KEPLERD, KEPLERCTL, SOURCE = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
WATTS = 57.25
ZONE = "plug:platform:0"


class Plug(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"power": WATTS, "is_valid": True}).encode())

    def log_message(self, *_):
        pass


class SmartPlug(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.directory = self.host.root / "root/run/keplerd-meters/plug"
        self.directory.mkdir(parents=True)
        self.directory.parent.chmod(0o755)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Plug)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{server.server_port}"

    def start_meter(self):
        self.meter = subprocess.Popen([sys.executable, "-B", SOURCE / "examples/smart-plug/plug-meter", self.address, self.directory])
        self.addCleanup(self.stop_meter)

    def stop_meter(self):
        self.meter.kill()
        self.meter.wait()

    def zones(self):
        done = subprocess.run([KEPLERCTL, "--varlink", self.daemon.socket, "-j", "zones"], capture_output=True, text=True, timeout=60)
        return {zone["id"]: zone for zone in json.loads(done.stdout)["zones"]}

    def wait_until(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.1)

    def test_its_power_is_that_of_the_zone(self):
        self.start_meter()
        self.daemon = Daemon(KEPLERD, self.host, "--root", self.host.root / "root", config="[Sampling]\nInterval=200ms\n")
        self.addCleanup(lambda: self.daemon.stop())

        def power():
            return self.zones().get(ZONE, {}).get("powerMicrowatts")
        self.wait_until(lambda: power() is not None and abs(power() - WATTS * 1e6) < 1000, "the power of the plug")
        zone = self.zones()[ZONE]
        self.assertEqual((zone["quality"], zone["inTotal"]), ("modelled", False))
        self.assertNotIn(ZONE, [z["id"] for z in self.zones().values() if z["inTotal"]])

    def test_a_meter_that_is_removed_is_no_problem(self):
        self.daemon = Daemon(KEPLERD, self.host, "--root", self.host.root / "root", config="[Sampling]\nInterval=200ms\n")
        self.addCleanup(lambda: self.daemon.stop())
        self.start_meter()  # later: it is found
        self.wait_until(lambda: ZONE in self.zones(), "the zone")
        self.stop_meter()
        for file in self.directory.iterdir():
            file.unlink()
        self.directory.rmdir()
        self.wait_until(lambda: self.zones()[ZONE].get("state") != "running", "the end of the zone")
        self.assertFalse([p for p in self.daemon.status().get("problems", []) if p["kind"] == "zone"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
