#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-redfish against a service over real TLS, whose documents are written after DMTF's published schemas; and from there to
keplerctl.

usage: redfish_test.py KEPLERD_REDFISH KEPLERD KEPLERCTL
"""
import base64
import http.server
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from written_host import Daemon, WrittenHost

METER, KEPLERD, KEPLERCTL = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
PASSWORD = "#correct; horse=battery staple"
CHASSIS = "/redfish/v1/Chassis"
WAIT = 90


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_certificates(directory):
    """A certificate authority; certificates of it for this host and for another one; and another authority."""
    for ca in ("ca", "other-ca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 2, "-subj",
                f"/CN={ca}", "-keyout", directory / f"{ca}.key", "-out", directory / f"{ca}.pem")
    for name, names in (("here", "IP:127.0.0.1"), ("elsewhere", "DNS:bmc.example")):
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", directory / f"{name}.key", "-out", directory / f"{name}.csr")
        (directory / "names").write_text(f"subjectAltName={names}\n")
        openssl("x509", "-req", "-in", directory / f"{name}.csr", "-CA", directory / "ca.pem", "-CAkey", directory / "ca.key",
                "-CAcreateserial", "-days", 2, "-extfile", directory / "names", "-out", directory / f"{name}.pem")


def collection(*paths):
    return {"Members@odata.count": len(paths), "Members": [{"@odata.id": path} for path in paths]}


def service(watts, ids=("1U",)):
    documents = {"/redfish/v1/": {"@odata.type": "#ServiceRoot.v1_5_0.ServiceRoot", "RedfishVersion": "1.6.0",
                                  "Chassis": {"@odata.id": CHASSIS}},
                 CHASSIS: collection(*(f"{CHASSIS}/{one}" for one in ids))}
    for one in ids:
        path = f"{CHASSIS}/{one}"
        documents[path] = {"@odata.type": "#Chassis.v1_14_0.Chassis", "@odata.id": path, "Id": one, "ChassisType": "RackMount",
                           "Power": {"@odata.id": f"{path}/Power"},
                           "Links": {"ComputerSystems": [{"@odata.id": "/redfish/v1/Systems/437XR1138R2"}]}}
        documents[f"{path}/Power"] = {"@odata.type": "#Power.v1_6_0.Power",
                                      "PowerControl": [{"MemberId": "0", "PowerConsumedWatts": watts, "PowerCapacityWatts": 800}]}
    return documents


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        bmc = self.server.bmc
        bmc.requests.append(self.path)
        wanted = "Basic " + base64.b64encode(f"keplerd:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != wanted and self.path != "/redfish/v1/":
            return self.reply(401, b"{}")
        if bmc.answer and self.path not in bmc.spared:
            return bmc.answer(self)
        if self.path not in bmc.documents:
            return self.reply(404, b"{}")
        self.reply(200, json.dumps(bmc.documents[self.path]).encode())

    def reply(self, status, body, length=None, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        try:
            self.wfile.write(body)
            if length is not None:
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
        except OSError:
            pass  # the client has had enough

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # clients that refuse its certificate


class Bmc:
    """A management controller."""
    def __init__(self, documents, certificate):
        self.documents = documents
        self.requests = []
        self.answer = None  # takes the place of the documents, but for those that are spared
        self.spared = ()
        self.ended = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.bmc = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{certificate}.pem", f"{certificate}.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_port}"

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


class Redfish(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certificates = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-redfish-"))
        make_certificates(cls.certificates)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.certificates)

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)

    def start_bmc(self, documents, certificate="here"):
        bmc = Bmc(documents, self.certificates / certificate)
        self.addCleanup(bmc.close)
        return bmc

    def start(self, bmc, name="redfish", ca="ca", settings="", password=PASSWORD):
        """As systemd does."""
        directory = self.host.root / "root/run/keplerd-meters" / name
        directory.mkdir(parents=True)
        directory.parent.chmod(0o755)
        credentials = self.host.root / f"credentials-{name}"
        credentials.mkdir()
        (credentials / "keplerd-redfish").write_text(
            f"Host={bmc.address}\nUser=keplerd\nPassword={password}\nInterval=1s\n{settings}")
        if ca:
            shutil.copy(self.certificates / f"{ca}.pem", credentials / "keplerd-redfish-ca")
        self.log = self.host.root / f"log-{name}"
        with open(self.log, "w", encoding="utf-8") as log:
            process = subprocess.Popen([METER], stderr=log, env={
                "CREDENTIALS_DIRECTORY": str(credentials), "RUNTIME_DIRECTORY": str(directory), "https_proxy": "http://192.0.2.1:1"})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return directory

    def wait_for(self, what, value, condition=bool):
        end = time.monotonic() + WAIT
        while not condition(seen := value()):
            self.assertLess(time.monotonic(), end, f"{what}; at last {seen}\n{self.log.read_text()}")
            time.sleep(0.05)
        return seen

    def watts(self, directory, meter="platform"):
        return self.wait_for("no power", lambda: self.number(directory / meter / "power_uw"), lambda number: number is not None) / 1e6

    @staticmethod
    def number(path):
        try:
            return int(path.read_text())
        except FileNotFoundError:
            return None

    @staticmethod
    def problem_in(directory):
        try:
            return (directory / "problem").read_text().strip()
        except FileNotFoundError:
            return ""

    def problem(self, directory):
        text = self.wait_for("no problem", lambda: self.problem_in(directory))
        self.assertNotIn("staple", self.log.read_text() + text)
        self.assertIn(text, self.log.read_text())
        return text

    def test_from_the_service_to_keplerctl(self):
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        bmc = self.start_bmc(service(344.5))
        directory = self.start(bmc)
        self.assertEqual(self.watts(directory), 344.5)
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.assertAlmostEqual(self.number(directory / "platform/boottime_us") / 1e6, now, delta=30)
        daemon = Daemon(KEPLERD, self.host, "--root", self.host.root / "root")
        self.addCleanup(daemon.stop)
        keplerctl = [KEPLERCTL, "--varlink", daemon.socket, "-j", "zones"]

        def power():
            zones = json.loads(subprocess.run(keplerctl, capture_output=True, text=True, timeout=60, check=True).stdout)["zones"]
            zone = next((zone for zone in zones if zone["id"] == "redfish:platform:0"), {})
            self.assertIn(zone.get("quality"), (None, "modelled"))
            self.assertFalse(zone.get("inTotal"))
            return zone.get("powerMicrowatts")
        self.wait_for("no zone", power, lambda value: value and abs(value - 344_500_000) < 100_000)

    def test_several_chassis_add_up(self):
        directory = self.start(self.start_bmc(service(200, ("node", "drives"))))
        self.assertEqual(self.watts(directory), 400)
        self.assertEqual(self.watts(directory, "chassis1"), 200)
        self.assertEqual((directory / "chassis1/covers").read_text(), "other\n")

    def test_only_a_certificate_of_the_authority_for_this_host_is_accepted(self):
        for name, certificate, ca in (("unknown", "here", "other-ca"), ("other", "elsewhere", "ca"), ("system", "here", None)):
            with self.subTest(name):
                bmc = self.start_bmc(service(344), certificate)
                self.assertRegex(self.problem(self.start(bmc, name, ca)), "(?i)certificate|ssl")
                self.assertEqual(bmc.requests, [])

    def test_a_wrong_password_is_tried_once(self):
        bmc = self.start_bmc(service(344))
        self.assertIn("HTTP status 401: the service refuses the user or the password",
                      self.problem(self.start(bmc, password="wrong")))
        time.sleep(3)
        self.assertEqual(len([path for path in bmc.requests if path != "/redfish/v1/"]), 1)

    def test_a_service_that_fails_for_a_while_is_read_again(self):
        bmc = self.start_bmc(service(344))
        directory = self.start(bmc)
        self.watts(directory)
        bmc.answer = lambda handler: handler.reply(500, b"oops")
        self.assertIn("HTTP status 500", self.problem(directory))
        before = self.number(directory / "platform/boottime_us")
        bmc.answer = None
        self.wait_for("the problem remains", lambda: self.problem_in(directory), lambda text: not text)
        self.assertGreater(self.number(directory / "platform/boottime_us"), before)
        self.assertIn("read again", self.log.read_text())

    def test_half_an_answer_is_none(self):
        bmc = self.start_bmc(service(344))
        directory = self.start(bmc)
        self.watts(directory)
        # It ends where it would still be JSON of a smaller number.
        body = b'{"PowerControl": [{"PowerConsumedWatts": 34'
        bmc.answer = lambda handler: handler.reply(200, body, length=len(body) + 50)
        self.assertRegex(self.problem(directory), "outstanding|transfer closed|EOF|partial")
        self.assertEqual(self.watts(directory), 344)
        bmc.answer = lambda handler: handler.reply(200, body)
        self.wait_for("no other problem", lambda: self.problem_in(directory), lambda text: "not a complete JSON object" in text)

    def test_milliwatts_are_not_taken_for_watts(self):
        bmc = self.start_bmc(service(344))
        directory = self.start(bmc)
        self.watts(directory)
        bmc.documents.update(service(344_000))
        self.assertIn("possibly it is in milliwatts", self.problem(directory))
        self.assertEqual(self.watts(directory), 344)

    def test_a_huge_reply_is_not_read(self):
        bmc = self.start_bmc(service(344))
        bmc.answer = lambda handler: handler.reply(200, b" " * (64 << 20))
        self.assertIn("the reply is larger than 1024 KiB", self.problem(self.start(bmc)))

    def test_a_redirect_leads_nowhere_else(self):
        other = self.start_bmc(service(1))
        bmc = self.start_bmc(service(344))
        here, there = f"https://{bmc.address}", f"https://{other.address}"
        for name, target in (("host", f"{there}{CHASSIS}"), ("scheme", f"http://{bmc.address}{CHASSIS}"), ("file", "file:///etc/passwd"),
                             ("user", f"{here}@{other.address}{CHASSIS}"), ("path", f"{here}/login")):
            with self.subTest(name):
                bmc.answer, bmc.spared = lambda handler, to=target: handler.reply(302, b"", headers=[("Location", to)]), ["/redfish/v1/"]
                self.assertIn("is refused", self.problem(self.start(bmc, name)))
        self.assertEqual(other.requests, [])

    def test_a_redirect_within_the_service_is_followed(self):
        bmc = self.start_bmc(service(344))
        bmc.documents[CHASSIS + "/"] = bmc.documents[CHASSIS]
        bmc.answer = lambda handler: (handler.reply(308, b"", headers=[("Location", CHASSIS + "/")])
                                      if handler.path == CHASSIS else handler.reply(200, json.dumps(bmc.documents[handler.path]).encode()))
        self.assertEqual(self.watts(self.start(bmc)), 344)
        loop = self.start_bmc(service(344))
        loop.answer = lambda handler: handler.reply(308, b"", headers=[("Location", handler.path)])
        self.assertIn("too many redirects", self.problem(self.start(loop, "loop")))

    def test_a_reply_may_take_half_a_minute_but_not_forever(self):
        slow = self.start_bmc(service(344))
        hanging = self.start_bmc(service(344))
        directories = [self.start(slow, "slow"), self.start(hanging, "hanging")]
        for directory in directories:
            self.watts(directory)
        hanging.answer = lambda handler: hanging.ended.wait()
        asked = time.clock_gettime(time.CLOCK_BOOTTIME)
        before = self.number(directories[0] / "platform/boottime_us")

        def answer_late(handler):
            slow.ended.wait(30)
            handler.reply(200, json.dumps(service(355)[handler.path]).encode())
        slow.answer = answer_late
        # The time of a reading is written after its power.
        self.wait_for("no reading", lambda: [self.number(directories[0] / "platform" / name) for name in ("power_uw", "boottime_us")],
                      lambda reading: reading[0] == 355_000_000 and reading[1] > before)
        late = time.clock_gettime(time.CLOCK_BOOTTIME) - self.number(directories[0] / "platform/boottime_us") / 1e6
        self.assertGreater(late, 14, "it is of the middle of the reply")
        self.assertEqual(self.problem_in(directories[0]), "")
        self.assertRegex(self.problem(directories[1]), "(?i)timed? ?out")
        self.assertGreater(time.clock_gettime(time.CLOCK_BOOTTIME) - asked, 44)

    def test_without_a_valid_credential_it_says_what_is_missing(self):
        def run(**environment):
            done = subprocess.run([METER], capture_output=True, text=True, env=environment, timeout=60)
            return done.returncode, done.stderr
        status, text = run()
        self.assertEqual(status, 78)
        self.assertIn("write /etc/credstore/keplerd-redfish, see keplerd-redfish(8)", text)
        (self.host.root / "keplerd-redfish").write_text(f"Host=bmc\nPassword={PASSWORD}\n")
        status, text = run(CREDENTIALS_DIRECTORY=str(self.host.root))
        self.assertEqual((status, "User= is missing" in text, PASSWORD in text), (78, True, False))


if __name__ == "__main__":
    unittest.main(verbosity=2)
