#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The servers, as processes, and calls that are nearly right: those of their own IDL, and requests of HTTP, with something changed.
Each is answered, or its connection is closed; the programs survive, and answer a call that is right.

usage: mutated_test.py SOURCE KEPLERD KEPLERD_HISTORY KEPLERD_EXPORTER      environment: CASES (default 1500), SEED (0)
"""
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import history_client
from exporter_host import Exporter, wait_until
from listening import listens
from stage import EVERY_SECOND, LIMIT, Stage, get
from users import user

SOURCE = pathlib.Path(sys.argv.pop(1))
KEPLERD, HISTORY, EXPORTER = (sys.argv.pop(1) for _ in range(3))
CASES, SEED = int(os.environ.get("CASES", "1500")), int(os.environ.get("SEED", "0"))
NOBODY = 65534

WORDS = ["units", "vms", "containers", "pods", "processes", "zones", "host", "energy", "power", "name", "id", "separate", "equal", "size",
         "usage", "hour", "day", "month", "5min", "unit", "slice", "user", "project", "/system.slice", "", "x" * 5000, "\u0000", "\ud800",
         "\u202e", "../../etc/passwd", "%s%n", "org.keplerd.Energy", "org.varlink.service"]
NUMBERS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -2**63, 2**64, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf")]


def methods(name):
    """Of an interface: its methods with their parameters, name and type."""
    text = (SOURCE / f"varlink/{name}.varlink").read_text()
    return [(f"{name}.{method}", re.findall(r"(\w+): \??(\w+)", parameters))
            for method, parameters in re.findall(r"^method (\w+)\(([^)]*)\)", text, re.M)]


OF_VARLINK = [("org.varlink.service.GetInfo", []), ("org.varlink.service.GetInterfaceDescription", [("interface", "string")])]


class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_in(self, number):
        return self.random.randrange(number) == 0

    def value(self, kind=None, depth=0):
        """Of this type, most of the time."""
        if kind is None or self.one_in(6):
            kind = self.random.choice(["string", "int", "bool", "null", "list", "object"])
        if kind == "string":
            return self.random.choice(WORDS)
        if kind == "int":
            return self.random.choice(NUMBERS) if self.one_in(2) else self.random.randrange(2_000_000_000_000_000)
        if kind == "bool":
            return self.one_in(2)
        if kind == "list":
            return [self.value(depth=depth + 1) for _ in range(self.random.randrange(4))] if depth < 4 else []
        if kind == "object":
            return {self.random.choice(WORDS): self.value(depth=depth + 1) for _ in range(self.random.randrange(4))} if depth < 4 else {}
        return None

    def call(self, known):
        method, parameters = self.random.choice(known)
        call = {"method": method, "parameters": {name: self.value(kind) for name, kind in parameters if not self.one_in(4)}}
        if not self.one_in(3):
            call["more"] = True
        change = self.random.randrange(10)
        if change == 0:
            call["parameters"][self.random.choice(WORDS)] = self.value()
        elif change == 1:
            call[self.random.choice(["method", "parameters", "more", "oneway", "upgrade", "x"])] = self.value()
        elif change == 2:
            call.pop(self.random.choice(sorted(call)))
        elif change == 3:
            call["oneway"] = True
        text = json.dumps(call, ensure_ascii=self.one_in(2)).encode("utf-8", "surrogatepass")
        return self.bytes(text) if self.one_in(4) else text

    def bytes(self, text):
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(text) + 1)
            change = self.random.randrange(5)
            if change == 0:
                text = text[:at] + bytes([self.random.randrange(256)]) + text[at + 1:]
            elif change == 1:
                text = text[:at]
            elif change == 2:
                text = text[:at] + text[at:at + 8] * self.random.choice([2, 3000]) + text[at:]
            elif change == 3:
                text = text[:at] + self.random.choice([b"\0", b"[" * 20000, b'{"a":' * 5000, b"\xff\xfe", b"\r\n"]) + text[at:]
            else:
                text = text + text
        return text

    def mostly(self, right, wrong):
        return self.random.choice(wrong) if self.one_in(6) else right

    def request(self):
        method = self.mostly("GET", ["HEAD", "POST", "PUT", "OPTIONS", "TRACE", "G\0T", "get", ""])
        target = self.mostly("/metrics", ["/", "/-/ready", "/-/healthy", "*", "http://x/metrics", "//", "/metrics?" + "a=1&" * 99,
                                     "/%00", "/%zz", "/" + "x" * 9000, "/../..", ""])
        version = self.mostly("HTTP/1.1", ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.1.1", "http/1.1", ""])
        headers = {"Host": "x"}
        for _ in range(self.random.randrange(5)):
            name = self.random.choice(["Accept", "Accept-Encoding", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Host",
                                       "Authorization", "Range", "X" * 9000, "\u00e9", ""])
            headers[name] = self.random.choice(["application/openmetrics-text;version=1.0.0;q=0.5", "gzip;q=9", "*/*;q=", ";,;,q=,", "-1",
                                                "99999999999999999999", "chunked", "close", "100-continue", "Basic " + "A" * 3000,
                                                "bytes=0-0,-1", "", "x\r\n y"])
        text = f"{method} {target} {version}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        body = self.random.choice([b"", b"5\r\nhello\r\n0\r\n\r\n", b"x" * 100])
        text = text.encode() + body
        return self.bytes(text) if self.one_in(3) else text


def first_reply(client, end=b"\0", patient=True):
    """What comes until `end`, or until the connection is closed; if not patient, nothing after a moment."""
    received = b""
    while end not in received:
        try:
            data = client.recv(1 << 16)
        except ConnectionError:
            break
        except TimeoutError:
            if not patient:
                break
            raise AssertionError(f"neither answered nor closed within {LIMIT} s") from None
        if not data:
            break
        received += data
    return received.partition(end)[0]


def send(client, data):
    try:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it has closed the connection before


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Mutated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = Stage(units=20)
        cls.addClassCleanup(cls.stage.remove)
        cls.stage.work()

    def setUp(self):
        self.mutator = Mutator(f"{SEED} {self.id()}")
        self.daemon = self.stage.daemon(KEPLERD, EVERY_SECOND)
        self.addCleanup(lambda: self.assertEqual(self.daemon.stop(), 0, "a clean end: sanitizers found nothing"))

    def call_all(self, address, process, known):
        honest = {"method": "org.varlink.service.GetInfo", "parameters": {}}
        for case in range(CASES):
            text = self.mutator.call(known)
            with user(NOBODY if self.mutator.one_in(2) else 0), socket.socket(socket.AF_UNIX) as client:
                client.settimeout(LIMIT)
                client.connect(address)
                send(client, text + b"\0")
                reply = first_reply(client)
            if reply:
                json.loads(reply)
            if case % 50 == 0:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(LIMIT)
                    client.connect(address)
                    client.sendall(json.dumps(honest).encode() + b"\0")
                    self.assertIn("vendor", json.loads(first_reply(client))["parameters"], text)
            self.assertIsNone(process.poll(), text)

    def test_calls_of_keplerd(self):
        known = [*methods("org.keplerd.Energy"), *methods("io.systemd.Metrics"), *OF_VARLINK]
        self.assertGreater(len(known), 9)
        self.call_all(str(self.daemon.socket), self.daemon.process, known)

    def test_calls_of_the_history(self):
        root = self.stage.files.root
        with open(root / "history.log", "w") as log:
            history = subprocess.Popen([HISTORY, "--varlink", self.daemon.socket, "--state-dir", root / "history", "--bus", "none",
                                        "--runtime-dir", root / "history-run", "--interval", "1"], stderr=log)
        self.addCleanup(history.wait)
        self.addCleanup(history.kill)
        address = f"{root}/history-run/org.keplerd.History"
        wait_until(lambda: listens(address) and history_client.ask(address, "GetStatus").get("lastReadingUsec"), "a reading")
        (root / "history-run").chmod(0o755)
        self.call_all(address, history, [*methods("org.keplerd.History"), *OF_VARLINK])
        history.terminate()
        self.assertEqual(history.wait(timeout=60), 0, "a clean end: sanitizers found nothing")

    def test_requests_of_the_exporter(self):
        exporter = Exporter(EXPORTER, self.daemon.socket, self.stage.files.root / "exporter.log", "--serve=all").start()
        for case in range(CASES):
            request = self.mutator.request()
            with socket.socket() as client:
                # The rest of an incomplete request is waited for: nothing comes before this connection is closed.
                client.settimeout(0.1)
                client.connect(("127.0.0.1", exporter.port))
                send(client, request)
                status = first_reply(client, b"\r\n", patient=False)
            if status:
                self.assertRegex(status, rb"^HTTP/1\.[01] [1-5]\d\d", request)
            if case % 50 == 0:
                self.assertEqual(get(exporter.port), 200, request)
            self.assertIsNone(exporter.process.poll(), request)
        self.assertEqual(exporter.close(), 0, "a clean end: sanitizers found nothing")


if __name__ == "__main__":
    unittest.main(verbosity=2)
