#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-exporter as a program: what it exposes to which clients, and how it handles clients that misbehave.

usage: exporter_test.py KEPLERD KEPLERD_EXPORTER SOURCE_DIRECTORY
"""
import base64
import gzip
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

from exporter_host import VM, Exporter, WorkingHost, machine_scope, names, parse, wait_until
from written_host import Daemon

KEPLERD, EXPORTER, SOURCE = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
HASH = "$2y$04$WplY1yIRfnoNA9l1ad3QWOrdU0orHonLNWlqn/pr/CDrVS9ZQOYVm"  # "secret"
OFTEN, ON_DEMAND = "[Sampling]\nInterval=100ms\n", "[Sampling]\nInterval=0\nStaleness=0\n"
STRANGER = 65534


def login(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class OnAWorkingHost(unittest.TestCase):
    maxDiff = None

    config = OFTEN
    options = ["--serve=all", "--processes=3"]

    def setUp(self):
        self.host = WorkingHost()
        self.addCleanup(self.host.remove)
        self.daemon = self.start_daemon()
        self.addCleanup(lambda: self.daemon.stop())
        self.daemon.status()
        self.step()
        self.exporters = 0

    def step(self):
        """Lets the host work until keplerd has sampled it."""
        self.host.step()
        first = self.daemon.status()["sequence"]
        wait_until(lambda: self.daemon.status()["sequence"] >= first + 2, "a whole window")

    def start_daemon(self):
        return Daemon(KEPLERD, self.host.files, config=self.config)

    def export(self, *options, user=None):
        self.exporters += 1
        log = self.host.files.root / f"exporter-{self.exporters}.log"
        exporter = Exporter(EXPORTER, self.daemon.socket, log, *(options or self.options), user=user)
        self.addCleanup(lambda: self.assertEqual(exporter.close(), 0, f"a clean end: {exporter.log()}"))
        return exporter.start()

    def write(self, name, text):
        self.host.files.write(name, text)
        return str(self.host.files.root / name)


class Sums(OnAWorkingHost):
    """Kepler's own rule: the power of all processes is the active power of the node."""
    config, each_window_is_busy = "[Sampling]\nInterval=1s\n", True
    options = ["--serve=all", "--processes=2"]

    def sums(self, exporter):
        """Of each family by zone, in millionths."""
        sums = {}
        for line, value in exporter.series().items():
            if match := re.match(r'kepler_(process|node)_cpu_(active_)?(watts|joules_total)\{.*zone="(.*?)"', line):
                key = match[1], bool(match[2]), match[3], match[4]
                sums[key] = sums.get(key, 0) + round(float(value) * 1e6)
        return sums

    def test_processes_and_other_are_what_the_host_used_actively_though_some_were_never_sampled(self):
        self.host.work()
        exporter = self.export()
        before = self.sums(exporter)
        for i in range(1, 4):
            self.host.files.group("/system.slice/storm.service", 10_000 * i, [])  # by who is gone already
            now = wait_until(lambda: (found := self.sums(exporter)) != before and found, "another tick of the exporter")
            for zone in ("package", "dram"):
                if self.each_window_is_busy:
                    self.assertGreater(now["node", True, "watts", zone], 0)
                self.assertEqual(now["process", False, "watts", zone], now["node", True, "watts", zone])
                grown = {who: now[who, active, "joules_total", zone] - before[who, active, "joules_total", zone]
                         for who, active in (("process", False), ("node", True))}
                self.assertGreaterEqual(grown["process"], grown["node"], "a process that comes to be shown has a past")
            before = now


class SumsOfManySamples(Sums):
    """Streams that were opened at different samples end up with the same ones."""
    config, each_window_is_busy = OFTEN, False


class Metrics(OnAWorkingHost):
    # With the error of a model whose idle power is known.
    config = f"{OFTEN}[Attribution]\nIdlePower=1\n"

    def test_the_first_question_is_answered_with_numbers(self):
        self.assertEqual(self.export().series()["keplerd_up"], "1")

    def test_numbers_are_those_of_keplerd(self):
        status, series = self.daemon.status(), self.export().series()
        self.assertEqual(float(series["keplerd_host_joules_total"]), status["host"]["energyMicrojoules"] / 1e6)
        for account, energy in status["accounts"].items():
            self.assertEqual(float(series[f'keplerd_account_joules_total{{account="{account}"}}']), energy / 1e6)
        machine = self.daemon.rows("vms")[VM]
        zones = [(line, value) for line, value in series.items()
                 if line.startswith("kepler_vm_cpu_joules_total") and VM in line]
        self.assertEqual({re.search('zone="(.*?)"', line)[1]: float(value) for line, value in zones},
                         {zone["name"]: zone["energyMicrojoules"] / 1e6 for zone in machine["zones"]})
        units = {re.search(r'[{,]id="(.*?)"', line)[1].replace(r"\\", "\\") for line in series
                 if line.startswith("keplerd_unit_cpu_joules_total")}
        self.assertEqual(units, {id_ for id_, row in self.daemon.rows("units").items() if row["kind"] == "unit"})

    def budgets(self):
        """The address of a stand-in for keplerd-history, which budget_test.py runs: it has one budget."""
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(f"{self.host.files.root}/budgets")
        listening.listen()
        reply = {"parameters": {"budgets": [{"budget": "1J/day host", "subject": "host", "usedMicrojoules": 5, "limitMicrojoules": 1000000}]}}

        def answer():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(json.dumps(reply).encode() + b"\0")
        threading.Thread(target=answer, daemon=True).start()
        return f"{self.host.files.root}/budgets"

    def test_the_manual_lists_every_metric_and_no_other(self):
        manual = (SOURCE / "docs/man/keplerd-exporter.8").read_text().replace("\\\n", "")
        metrics = re.search(r"(?s)\.Sh METRICS\n(.*?)\n\.Sh ", manual).group(1)
        described = {}
        for line in re.findall(r"(?m)^\.It Li (.*)$", metrics):
            listed, _, labels = line.partition(" Brq ")
            for name in listed.split(" , "):
                described[name] = set(filter(None, labels.split(", ")))
        rates = self.write("cost.conf", "[Cost]\nPrice=0.32\nCurrency=EUR\n[Carbon]\nIntensity=380\n")
        exporter, exposed = self.export(*self.options, "--cost-config", rates, "--history", self.budgets()), {}
        self.host.work()
        for line in wait_until(lambda: {"kepler_node_cpu_usage_ratio", "keplerd_unit_error_ratio",
                                        "keplerd_budget_used_joules"} <= names(s := exporter.series()) and s,
                               "a power and an error"):
            exposed.setdefault(re.match(r"\w+", line)[0], set()).update(re.findall(r'[{,](\w+)="', line))
        # This host has neither a graphics card nor a meter of the platform: tests/exporter/render_test.cpp has their metrics.
        elsewhere = {name for name in described if re.search("_gpu_|_platform_|^keplerd_rest_", name)}
        self.assertEqual({name: labels for name, labels in described.items() if name not in elsewhere}, exposed)

    def test_price_and_carbon_intensity_are_those_of_cost_conf(self):
        rates = self.write("cost.conf", "[Cost]\nPrice=0.32\nCurrency=EUR\n[Carbon]\nIntensity=380\n")
        series = self.export("--cost-config", rates).series()
        self.assertEqual(series['keplerd_energy_price_per_kilowatt_hour{currency="EUR"}'], "0.32")
        self.assertEqual(series["keplerd_carbon_intensity_grams_per_kilowatt_hour"], "380")

    def test_an_error_in_cost_conf_is_logged_and_the_rest_is_exported(self):
        rates = self.write("cost.conf", "[Cost]\nPrice=dear\n")
        exporter = self.export("--cost-config", rates)
        self.assertFalse(any("kilowatt" in name for name in names(exporter.series())))
        self.assertEqual(exporter.series()["keplerd_up"], "1")
        self.assertIn(f"{rates}:2: Price=dear: must be a number", exporter.log())

    def test_both_formats_are_what_they_say(self):
        exporter = self.export()
        wanted = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        status, open_metrics = exporter.get(Accept=wanted)
        self.assertEqual((status, open_metrics[-6:]), (200, b"# EOF\n"))
        self.assertEqual(parse(open_metrics.decode()).keys(), exporter.series().keys())
        zipped = gzip.decompress(exporter.get(Accept=wanted, Accept_Encoding="gzip")[1])
        self.assertEqual(re.sub(rb"(?m)^process_.*", b"", zipped), re.sub(rb"(?m)^process_.*", b"", open_metrics))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_promtool_finds_nothing(self):
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.export().get()[1], capture_output=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

    def test_names_with_anything_in_them_are_labels(self):
        evil = 'q"uo\\te{}\n# x 1\xff'
        self.host.start_machine(3, 30, evil, VM.replace("2b", "5b"))
        self.host.groups["/system.slice/e\"v\\i\nl\x1b\udcff.service"] = {}
        self.step()
        text = self.export().get()[1].decode()
        units = [line for line in parse(text) if 'name="e\\"v' in line]
        self.assertEqual(len(units), 4, "joules and watts of two zones")
        self.assertIn(r'name="e\"v\\i\\x0al\\x1b\\xff.service"', units[0])
        self.assertIn(r'vm_name="q\"uo\\te{}\\x0a# x 1ÿ"', text)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True)
            self.assertEqual((checked.returncode, checked.stderr), (0, b""))

    def test_processes_are_told_only_where_they_are_wanted_and_never_their_command_lines(self):
        for options in (["--serve=host,units,vms,containers,pods"], ["--serve=all", "--processes=0"]):
            self.assertNotIn("kepler_process_cpu_watts", names(self.export(*options).series()), options)
        self.assertIn("kepler_process_cpu_watts", names(self.export("--serve=all").series()))
        text = self.export("--serve=all", "--processes=100").get()[1].decode()
        self.assertEqual(set(re.findall(r'kepler_process_cpu_joules_total{.*?pid="(\d*)"', text)),
                         {"10", "11", "12", "13", "20", "21", ""})
        self.assertNotIn("-uuid", text)
        few = self.export("--serve=all", "--processes=2").series()
        self.assertEqual(len([line for line in few if line.startswith("kepler_process_cpu_joules_total")]), 3 * 2)

    def test_pages(self):
        exporter = self.export()
        self.assertEqual(exporter.get("/-/healthy")[0], 200)
        self.assertEqual(exporter.get("/-/ready")[0], 200)
        self.assertIn(b'<a href="/metrics">', exporter.get("/")[1])
        self.assertEqual(exporter.get("/metrics/../x")[0], 404)


class Daemons(OnAWorkingHost):
    def test_a_lost_daemon_is_told_and_found_again_with_its_counters(self):
        exporter = self.export()
        before = exporter.series()
        self.daemon.stop()
        lost = wait_until(lambda: (s := exporter.series())["keplerd_up"] == "0" and s, "keplerd_up 0")
        self.assertFalse([name for name in names(lost) if name.startswith(("keplerd_host", "kepler_node_cpu_w", "keplerd_unit"))])
        self.assertEqual(exporter.get("/-/ready")[0], 503)
        self.assertEqual(exporter.get("/-/healthy")[0], 200)
        self.daemon = self.start_daemon()
        after = wait_until(lambda: (s := exporter.series())["keplerd_up"] == "1" and s, "keplerd_up 1")
        for line, value in before.items():
            if "_total" in line and line.startswith(("keplerd_host", "keplerd_account", "keplerd_unit", "kepler_vm")):
                self.assertGreaterEqual(float(after[line]), float(value), line)
        self.assertRegex(exporter.log(), "keplerd does not answer: .*\n(?s:.*)keplerd answers\n$")

    def test_it_starts_without_a_daemon(self):
        self.daemon.stop()
        exporter = self.export()
        self.assertEqual(exporter.series()["keplerd_up"], "0")
        self.daemon = self.start_daemon()
        wait_until(lambda: exporter.series()["keplerd_up"] == "1", "keplerd")

    def test_its_own_restart_loses_no_count(self):
        exporter = self.export()
        before = exporter.series()
        self.assertEqual(exporter.restart(), 0)
        after = exporter.series()
        for line, value in before.items():
            if "_total" in line and not line.startswith(("process_", "keplerd_cpu")):
                self.assertEqual(after[line], value, line)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be a keplerd and a stranger")
class Access(OnAWorkingHost):
    def reload(self, public):
        count = self.log().count("configuration reloaded")
        self.host.files.write("keplerd.conf", f"{OFTEN}[Access]\nPublic={public}\n")
        self.daemon.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.log().count("configuration reloaded") > count, "the reload")

    def log(self):
        return (self.host.files.root / "log").read_text()

    def workloads(self, series):
        return {name for name in names(series) if re.match("kepler_(vm|pod|container|process)|keplerd_(unit|vm|account|zone)", name)}

    def test_by_default_a_stranger_sees_the_host_in_steps(self):
        series = self.export("--processes=5").series()
        self.assertEqual(self.workloads(series), set())
        self.assertEqual(float(series["keplerd_host_joules_total"]) * 10 % 1, 0)
        self.assertEqual([line for line in series if "node_cpu_joules" in line and 'zone="total",path=""' in line][1:], [])

    def test_public_decides_what_a_stranger_sees(self):
        self.reload("none")
        series = self.export("--processes=5").series()
        self.assertEqual(series["keplerd_up"], "1")
        self.assertNotIn("keplerd_host_joules_total", series)
        self.assertEqual(self.workloads(series), set())
        self.reload("all")
        series = self.export("--processes=5").series()
        self.assertNotIn("keplerd_account_joules_total", names(series))
        self.assertNotIn("keplerd_vm_part_joules_total", names(series))
        self.assertLessEqual({"kepler_vm_cpu_joules_total", "keplerd_unit_cpu_joules_total", "kepler_process_cpu_joules_total"},
                             self.workloads(series))
        for line, value in series.items():
            if "joules_total" in line:
                self.assertAlmostEqual(float(value) * 10 % 1, 0, msg=line)

    def test_serve_opens_a_kind_and_no_other(self):
        for serve, names_ in (("vms", {"kepler_vm_cpu_joules_total", "kepler_vm_cpu_watts", "keplerd_vm_info"}),
                              ("units", {"keplerd_unit_cpu_joules_total", "keplerd_unit_cpu_watts"}),
                              ("host", {"keplerd_account_joules_total", "keplerd_zone_info"})):
            exposed = self.workloads(self.export(f"--serve={serve}", "--processes=5").series())
            self.assertEqual(exposed - {"keplerd_vm_part_joules_total"}, names_)

    def test_one_who_is_no_member_of_the_group_can_serve_no_more_than_he_sees(self):
        series = self.export("--serve=all", "--processes=5", user=STRANGER).series()
        self.assertEqual(self.workloads(series), set())
        self.assertEqual(series["keplerd_up"], "1")


class OnDemand(OnAWorkingHost):
    config = ON_DEMAND

    def step(self):
        self.host.step()
        self.daemon.status()

    def test_scrapes_cause_no_sample(self):
        exporter = self.export()
        exporter.get()
        sequence = self.daemon.status()["sequence"]
        for _ in range(50):
            exporter.get()
        self.assertEqual(self.daemon.status()["sequence"], sequence + 1, "this very question's")


class Closed(OnAWorkingHost):
    def web(self, text):
        return self.export(f"--web-config={self.write('web.yml', text)}")

    def test_who_has_the_password_sees_all_and_nobody_else_anything(self):
        exporter = self.web(f"basic_auth_users:\n  joe: {HASH}\n")
        for authorization in ({}, {"Authorization": login("joe", "wrong")}, {"Authorization": login("eve", "secret")},
                              {"Authorization": "Basic !"}, {"Authorization": "Bearer secret"},
                              {"Authorization": login("joe", "x" * 5000)}):
            for path in ("/metrics", "/", "/-/healthy", "/nowhere"):
                self.assertEqual(exporter.get(path, **authorization), (401, b"Unauthorized\n"))
        status, text = exporter.get(Authorization=login("joe", "secret"))
        self.assertEqual(status, 200)
        self.assertIn("keplerd_account_joules_total", names(parse(text.decode())))

    def test_guessing_is_slowed_down_and_who_is_known_is_let_in_meanwhile(self):
        # Of cost 12: a quarter of a second each.
        exporter = self.web("basic_auth_users:\n  joe: $2y$12$WplY1yIRfnoNA9l1ad3QWO" + "." * 31 + f"\n  ann: {HASH}\n")
        self.assertEqual(exporter.get(Authorization=login("ann", "secret"))[0], 200)
        statuses = [exporter.get(Authorization=login("joe", f"guess {i}"))[0] for i in range(60)]
        self.assertEqual(set(statuses), {401, 429})
        self.assertEqual(exporter.get(Authorization=login("ann", "secret"))[0], 200)

    def test_guessing_from_one_address_leaves_passwords_to_others(self):
        exporter = self.web("basic_auth_users:\n  joe: $2y$12$WplY1yIRfnoNA9l1ad3QWO" + "." * 31 + f"\n  ann: {HASH}\n")

        def ask(source, user, password):
            connection = http.client.HTTPConnection("127.0.0.1", exporter.port, timeout=30, source_address=(source, 0))
            connection.request("GET", "/-/healthy", headers={"Authorization": login(user, password)})
            status = connection.getresponse().status
            connection.close()
            return status

        statuses = []
        while 429 not in statuses:
            statuses.append(ask("127.0.0.2", "joe", f"guess {len(statuses)}"))
            self.assertLess(len(statuses), 100)
        self.assertEqual(ask("127.0.0.1", "ann", "secret"), 200, "right, and never seen before")
        self.assertEqual(ask("127.0.0.2", "ann", "secret"), 200, "known to be right")

    def test_a_broken_file_serves_nothing(self):
        for text, complaint in (("nonsense: 1\n", ":1: unknown key 'nonsense'\n"), ("a: [\n", ":2: "),
                                ("tls_server_config:\n", ":1: 'tls_server_config' is empty\n"),
                                ("http_server_config: {http2: true}\n" * 2, ":2: duplicate key 'http_server_config'\n"),
                                ("basic_auth_users: {joe: secret}\n", ":1: the password of 'joe' is no bcrypt hash\n")):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            started = subprocess.run([EXPORTER, "--varlink", self.daemon.socket, f"--listen=127.0.0.1:{port}",
                                      "--web-config", self.write("web.yml", text)], capture_output=True, text=True, timeout=60)
            self.assertEqual(started.returncode, 78)
            self.assertTrue(started.stderr.startswith(str(self.host.files.root / "web.yml") + complaint), started.stderr)
        for text in ("tls_server_config: {cert_file: none.crt, key_file: none.key}",
                     f"tls_server_config: {{cert_file: {SOURCE}/LICENSE, key_file: {SOURCE}/LICENSE}}"):
            started = subprocess.run([EXPORTER, "--varlink", self.daemon.socket, f"--listen=127.0.0.1:{port}",
                                      "--web-config", self.write("web.yml", text)], capture_output=True, text=True, timeout=60)
            self.assertEqual(started.returncode, 1, started.stderr)


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Tls(Closed):
    def setUp(self):
        super().setUp()
        self.certificate("ca", "-x509")
        for name in ("server", "client"):
            self.certificate(name, "-x509", "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
                             "-addext", "subjectAltName=IP:127.0.0.1")
        self.certificate("eve", "-x509")

    def path(self, name):
        return str(self.host.files.root / name)

    def certificate(self, name, *options):
        made = subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                               self.path(f"{name}.key"), "-out", self.path(f"{name}.crt"), "-subj", f"/CN={name}", "-days", "2",
                               *options], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)

    def ask(self, exporter, client=None, version=None):
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        if client:
            context.load_cert_chain(self.path(f"{client}.crt"), self.path(f"{client}.key"))
        if version:
            context.minimum_version = context.maximum_version = version
        with socket.create_connection(("127.0.0.1", exporter.port), timeout=30) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as stream:
                stream.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                text = b""
                while part := stream.recv(65536):
                    text += part
        return int(text.split()[1]), text

    SERVER = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"

    def test_without_tls_nothing_is_told(self):
        exporter = self.web(self.SERVER)
        self.assertEqual(self.ask(exporter)[0], 200)
        with socket.create_connection(("127.0.0.1", exporter.port), timeout=30) as plain:
            plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                self.assertNotIn(b"keplerd", plain.recv(65536))
            except ConnectionResetError:
                pass

    def test_tls_tells_not_who_asks(self):
        self.assertNotIn(b"keplerd_account", self.ask(self.web(self.SERVER))[1])

    def test_only_the_versions_that_are_allowed(self):
        exporter = self.web(self.SERVER + "  min_version: TLS13\n")
        self.assertEqual(self.ask(exporter, version=ssl.TLSVersion.TLSv1_3)[0], 200)
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(exporter, version=ssl.TLSVersion.TLSv1_2)

    def test_a_client_certificate_that_is_demanded(self):
        exporter = self.web(self.SERVER + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n")
        status, text = self.ask(exporter, "client")
        self.assertEqual(status, 200)
        self.assertIn(b"keplerd_account", text)
        for client in (None, "eve"):
            try:
                self.assertEqual(self.ask(exporter, client)[0], 403)
            except (ssl.SSLError, ConnectionError):
                pass

    def handshake(self, exporter, *options):
        """The protocol and the cipher that openssl ends up with, or None."""
        done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{exporter.port}", "-CAfile", self.path("ca.crt"),
                               *options], input="", capture_output=True, text=True, timeout=60)
        found = re.search(r"(?m)^(?:New, )?(TLSv[\d.]+), Cipher is (\S+)", done.stdout)
        negotiated = re.search(r"(?m)^\s+Protocol\s*: (\S+)", done.stdout)
        if done.returncode != 0 or not found or found[2] == "(NONE)":
            return None
        return (negotiated[1] if negotiated else found[1]), found[2]

    def test_only_the_cipher_suites_that_are_listed_and_all_of_tls_1_3(self):
        exporter = self.web(self.SERVER + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "
                            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA]\n")
        for cipher, allowed in (("ECDHE-ECDSA-AES256-GCM-SHA384", True), ("ECDHE-ECDSA-AES128-SHA", True),
                                ("ECDHE-ECDSA-AES128-GCM-SHA256", False), ("ECDHE-ECDSA-AES256-SHA", False),
                                ("ECDHE-ECDSA-CHACHA20-POLY1305", False), ("ECDHE-ECDSA-AES128-SHA256", False)):
            found = self.handshake(exporter, "-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")
            self.assertEqual(found, ("TLSv1.2", cipher) if allowed else None, cipher)
        preferred = self.handshake(exporter, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-GCM-SHA384")
        self.assertEqual(preferred, ("TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"), "in the order of the list")
        for cipher in ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"):
            self.assertEqual(self.handshake(exporter, "-tls1_3", "-ciphersuites", cipher), ("TLSv1.3", cipher))
        self.assertEqual(self.ask(exporter)[0], 200)

    def test_without_a_list_all_cipher_suites(self):
        exporter = self.web(self.SERVER)
        for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"):
            self.assertEqual(self.handshake(exporter, "-tls1_2", "-cipher", cipher), ("TLSv1.2", cipher))

    def test_suites_that_do_not_fit_the_key_leave_tls_1_3_or_nothing(self):
        suites = self.SERVER + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n"
        exporter = self.web(suites)
        self.assertIsNone(self.handshake(exporter, "-tls1_2"))
        self.assertEqual(self.handshake(exporter, "-tls1_3")[0], "TLSv1.3")
        started = subprocess.run([EXPORTER, "--varlink", self.daemon.socket, "--listen=127.0.0.1:0", "--web-config",
                                  self.write("web.yml", suites + "  max_version: TLS12\n")], capture_output=True, text=True, timeout=60)
        self.assertEqual((started.returncode, started.stderr),
                         (1, "keplerd-exporter: none of the cipher_suites fits the key of the certificate\n"))

    def test_only_the_curves_that_are_listed(self):
        exporter = self.web(self.SERVER + "  curve_preferences: [X25519, CurveP384]\n")
        for version in ("-tls1_2", "-tls1_3"):
            # The certificate is of P-256, which is another matter.
            for curves, allowed in (("X25519:P-256", True), ("P-384:P-256", True), ("P-256", False), ("P-521:P-256", False)):
                self.assertEqual(self.handshake(exporter, version, "-curves", curves) is not None, allowed, (version, curves))

    def test_only_clients_with_a_name_that_is_listed(self):
        for name, san in (("dns", "DNS:other.example,DNS:prometheus.example"), ("ip", "IP:192.0.2.7"), ("ip6", "IP:2001:db8::7"),
                          ("mail", "email:scraper@example.org"), ("uri", "URI:spiffe://example.org/prometheus"),
                          ("upper", "DNS:PROMETHEUS.example"), ("part", "DNS:a.prometheus.example"), ("none", None)):
            self.certificate(name, "-x509", "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
                             *(["-addext", f"subjectAltName={san}"] if san else []))
        base = self.SERVER + "  client_ca_file: ca.crt\n  client_allowed_sans: [prometheus.example, 192.0.2.7, '2001:db8::7', " \
            "scraper@example.org, 'spiffe://example.org/prometheus']\n"
        exporter = self.web(base + "  client_auth_type: RequireAndVerifyClientCert\n")
        for name in ("dns", "ip", "ip6", "mail", "uri"):
            status, text = self.ask(exporter, name)
            self.assertEqual(status, 200, name)
            self.assertIn(b"keplerd_account", text)
        for name in ("client", "upper", "part", "none", None):
            status, text = self.ask(exporter, name)
            self.assertEqual(status, 403, name)
            self.assertNotIn(b"keplerd_up", text)
        given = self.web(base + "  client_auth_type: VerifyClientCertIfGiven\n")
        self.assertEqual([self.ask(given, name)[0] for name in (None, "dns", "client")], [200, 200, 403])

    def test_a_rate_limit(self):
        exporter = self.web(self.SERVER + "rate_limit: {interval: 1h, burst: 3}\n")
        self.assertEqual([self.ask(exporter)[0] for _ in range(5)], [200, 200, 200, 429, 429])


class Hostile(OnAWorkingHost):
    def connect(self, source="127.0.0.1"):
        return socket.create_connection(("127.0.0.1", self.exporter.port), timeout=30, source_address=(source, 0))

    def ask(self, client, target="/-/healthy"):
        """The status of a response that is read completely, on a kept connection; None if it is closed."""
        try:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            text = b""
            while b"\r\n\r\n" not in text:
                part = client.recv(1)
                if not part:
                    return None
                text += part
            left = int(re.search(rb"(?i)content-length: (\d+)", text)[1])
            while left > 0:
                left -= len(client.recv(left))
        except ConnectionError:
            return None
        return int(text.split()[1])

    def ask_once(self, source="127.0.0.1", target="/-/healthy"):
        with self.connect(source) as client:
            return self.ask(client, target)

    def open_ones(self, clients):
        """The connections that the exporter has not closed."""
        selector = select.poll()
        for client in clients:
            selector.register(client, select.POLLRDHUP)
        closed = {fd for fd, events in selector.poll(0) if events & (select.POLLRDHUP | select.POLLHUP | select.POLLERR)}
        return [client for client in clients if client.fileno() not in closed]

    def setUp(self):
        super().setUp()
        for unit in range(500):
            self.host.groups[f"/system.slice/{'u' * 100}{unit}.service"] = {}
        self.step()
        self.exporter = self.export()
        self.exporter.get()
        self.before = self.exporter.resident()

    def expect_well(self, most):
        begin = time.monotonic()
        self.assertEqual(self.exporter.series()["keplerd_up"], "1")
        self.assertLess(time.monotonic() - begin, 8, "it does not wait for the others")
        self.assertLess(self.exporter.resident() - self.before, most)

    def test_a_thousand_silent_clients(self):
        silent = [self.connect() for _ in range(1000)]
        self.expect_well(48 << 20)
        for client in self.open_ones(silent)[::2]:
            client.sendall(b"GET /met")
        self.expect_well(48 << 20)
        wait_until(lambda: not self.open_ones(silent), "the end of its patience", limit=40)
        for client in silent:
            client.close()
        self.expect_well(48 << 20)

    def test_connections_of_one_address_are_limited_and_those_of_others_are_not_touched(self):
        other = self.connect("127.0.0.2")
        self.assertEqual(self.ask(other), 200)
        flood = [self.connect() for _ in range(300)]
        self.assertEqual(self.ask_once(), 200, "a newcomer from the same address")
        wait_until(lambda: len(self.open_ones(flood)) <= 63, "the oldest to be closed")
        self.assertEqual(self.open_ones(flood), flood[-63:])
        self.assertEqual(self.ask(other), 200, "on the connection that it had")
        for client in [other, *flood]:
            client.close()

    def test_a_request_that_drips_is_ended_and_others_are_served_meanwhile(self):
        dripping = self.connect()
        text, sent = b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100, 0
        while self.open_ones([dripping]):
            self.assertLess(sent, 60, "a byte each half second, 10 s in all")
            try:
                dripping.sendall(text[sent:sent + 1])
            except ConnectionError:
                break
            sent += 1
            self.assertEqual(self.ask_once("127.0.0.2"), 200)
            time.sleep(0.5)
        self.assertGreater(sent, 1, "not at once")
        dripping.close()

    def test_many_arguments_are_refused_at_once(self):
        for target, status in (("/metrics?" + "&".join(["a=1"] * 64), 200), ("/metrics?" + "&".join(["a"] * 65), 400),
                               ("/metrics?" + "&" * 1500, 400), ("/metrics?" + "&".join(["a=1"] * 2000), 414),
                               ("/" + "x" * 3000, 414), ("/-/healthy?collect[]=a%00b", 200)):
            self.assertEqual(self.ask_once(target=target), status, target[:40])
        self.expect_well(16 << 20)

    def test_clients_that_ask_and_do_not_read(self):
        deaf = []
        for _ in range(300):
            client = self.connect()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            deaf.append(client)
        self.expect_well(64 << 20)
        wait_until(lambda: not self.open_ones(deaf), "the end of its patience", limit=90)
        for client in deaf:
            client.close()

    def test_a_header_of_a_megabyte(self):
        for request in (b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * (1 << 20) + b"\r\n\r\n",
                        b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 200_000 + b"\r\n",
                        b"\x16\x03\x01" + b"\0" * 1000, b"\0" * (1 << 20)):
            answer = b""
            with self.connect() as client:
                try:
                    client.sendall(request)
                    client.shutdown(socket.SHUT_WR)
                    answer = client.recv(65536)
                except OSError:
                    pass
            self.assertNotIn(b" 200 ", answer[:20])
        self.expect_well(16 << 20)

    def test_contents_that_nobody_wants(self):
        with self.connect() as client:
            client.sendall(b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\n" + b"x" * 1000)
            self.assertIn(b" 405 ", client.recv(65536)[:20])
        with self.connect() as client:
            client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: x\r\n\r\n")
            text = b""
            while b"</html>" not in text:
                part = client.recv(65536)
                self.assertTrue(part, text)
                text += part
        self.expect_well(16 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
