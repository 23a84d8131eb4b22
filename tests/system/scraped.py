# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus, on the machine that runs the tests, which scrapes a booted host: while keplerd is killed again and
again, and over a power cut of the whole host."""
import ctypes
import http.server
import json
import pathlib
import shlex
import shutil
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from booted_host import SOURCE
from guests import QEMU
from scenarios import PACKAGE, check_sums

sys.path.append(str(SOURCE / "tests/integration"))
from prometheus_server import Prometheus  # noqa: E402

URL = "http://127.0.0.1:28282"
OPTIONS = "/etc/default/keplerd-exporter"
# Counted since keplerd was started, according to keplerd-exporter(8).
OF_THE_PROCESS = {"keplerd_missed_ends_total", "keplerd_cpu_seconds_total", "process_cpu_seconds_total"}


class Page(http.server.BaseHTTPRequestHandler):
    """A page of the booted host, whose network has no other way out. Each request has a thread of its own, which enters
    that network."""

    def do_GET(self):  # noqa: N802
        try:
            with open(f"/proc/{self.server.leader()}/ns/net") as network:
                if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), 0x40000000) != 0:  # CLONE_NEWNET
                    raise OSError(ctypes.get_errno(), "setns")
            with urllib.request.urlopen(URL + self.path, timeout=10) as answer:
                kind, page = answer.headers["Content-Type"], answer.read()
        except OSError as problem:
            self.server.known_leader = None
            self.send_error(502, explain=str(problem))
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


class Relay(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host):
        super().__init__(("127.0.0.1", 0), Page)
        self.host, self.known_leader = host, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Prometheus has stopped waiting: that scrape has failed, which it knows."""

    def leader(self):
        if self.known_leader is None:
            self.known_leader = self.host.testbed("leader", check=False).stdout.strip()
        return self.known_leader


class Scraping:
    """Prometheus scrapes the host once a second, for the time of a scenario. The meter stands still when it begins."""

    def __init__(self, host, serve):
        self.host, self.serve = host, serve

    def __enter__(self):
        self.host.sh(f"""
            cp -p {OPTIONS} {OPTIONS}.installed
            echo 'ARGS="--serve={self.serve}"' >>{OPTIONS}
            systemctl enable --now keplerd-exporter.socket
            systemctl restart keplerd-exporter.service""")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-prometheus."))
        self.relay, self.begin = Relay(self.host), time.time()
        self.prometheus = Prometheus(self.directory, f"127.0.0.1:{self.relay.server_address[1]}")
        self.wait_for_the_meter()
        return self

    def __exit__(self, *_):
        self.prometheus.stop()
        self.relay.shutdown()
        self.relay.server_close()
        shutil.rmtree(self.directory)
        self.host.sh(f"""
            mv {OPTIONS}.installed {OPTIONS}
            systemctl disable --now keplerd-exporter.socket; systemctl stop keplerd-exporter.service""")

    def query(self, expression):
        span = f"{int(time.time() - self.begin) + 1}s"
        return self.prometheus.query(expression.replace("SPAN", span), time.time())

    def raw(self, names):
        """The samples of each series, by its name and labels."""
        found = self.query(f'{{__name__=~"{names}", job="fast"}}[SPAN]')
        return {json.dumps(series["metric"], sort_keys=True): [float(value) for _, value in series["values"]]
                for series in found}

    def resets(self):
        """Of each series of each counter, as Prometheus counts them."""
        names = sorted(name for name in self.prometheus.ask("label/__name__/values") if name.endswith("_total"))
        return {(name, json.dumps(series["metric"], sort_keys=True)): int(series["value"][1])
                for name in names if name not in OF_THE_PROCESS for series in self.query(f'resets({name}{{job="fast"}}[SPAN])')}

    def host_microjoules(self):
        """In the newest scrape; None before the first."""
        try:
            found = self.query('keplerd_host_joules_total{job="fast"}')
        except urllib.error.URLError:
            return None
        return round(float(found[0]["value"][1]) * 1e6) if found else None

    def wait_for_the_meter(self):
        """Until everything that was drawn has been scraped, and all series of that scrape are there."""
        def scraped():
            status = self.host.ask("status")
            counted = status["host"]["energyMicrojoules"] - status.get("earlier", {}).get("energyMicrojoules", 0)
            return self.host_microjoules() == counted
        self.host.wait_for_samples()
        self.host.wait_until(scraped, 40, "a scrape of what was drawn")
        time.sleep(1.5)


# Kills keplerd at random instants, each some time after it was started. In the booted host, without the test's delays.
KILLER = """import os, random, subprocess, sys, time
chance, before = random.Random(17), None
for _ in range(int(sys.argv[1])):
    while (pid := subprocess.run(["pidof", "/usr/sbin/keplerd"], capture_output=True, text=True).stdout.split()) in ([], before):
        time.sleep(0.02)
    time.sleep(chance.uniform(0, 1.5))
    os.kill(int(pid[0]), 9)
    before = pid
"""
MACHINE = "8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e3"
SPINNERS = {"half-busy": "while :; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.03; done",
            "all-busy": "while :; do :; done"}


def cpu_times(host):
    """In microseconds, of the spinners and of all cgroups at the top."""
    def usage(paths):
        return sum(map(int, host.sh(f"sed -n 's/^usage_usec //p' {paths}").split()))
    times = {name: usage(f"/sys/fs/cgroup/system.slice/{name}.service/cpu.stat") for name in SPINNERS}
    return times | {"all": usage("/sys/fs/cgroup/*/cpu.stat")}


def kill_while_scraped(host, report, kills):
    for name, script in SPINNERS.items():
        host.sh(f"systemd-run -q --unit={name} sh -c {shlex.quote(script.replace('$', '$$'))}")
    host.sh(f"systemd-run -q --unit=scraped-vm {QEMU} -name guest=scraped -uuid {MACHINE}")
    with Scraping(host, "host,units,vms,containers,processes") as scraping:
        before, counter, restarts = host.snapshot(), host.counter(PACKAGE), int(host.property("NRestarts"))
        host.rapl("drive", PACKAGE, 50)
        times = cpu_times(host)
        host.sh(f"python3 -c {shlex.quote(KILLER)} {kills}")
        host.wait_until(lambda: host.property("ActiveState") == "active", 20, "the restart")
        host.wait_for_samples()
        times = {name: time - times[name] for name, time in cpu_times(host).items()}
        host.rapl("halt", PACKAGE)
        scraping.wait_for_the_meter()
        drawn, after = host.counter(PACKAGE) - counter, host.snapshot()
        resets, raw = scraping.resets(), scraping.raw("keplerd?_.*_joules_total")
    host.sh(f"systemctl stop scraped-vm {' '.join(SPINNERS)}")

    report.equal("each killed keplerd was started again", int(host.property("NRestarts")) - restarts, kills)
    kinds = {name.split("_")[1] for name, _ in resets}
    report.check(f"series of {sorted(kinds)}", kinds >= {"host", "account", "node", "unit", "process", "vm"})
    report.equal(f"none of {len(resets)} series of counters was reset", {key: n for key, n in resets.items() if n}, {})
    check_sums(report, after, f"after {kills} kills")

    def scraped(name, *labels):
        first = last = 0
        for key, values in raw.items():
            if f'"__name__": "{name}"' in key and all(label in key for label in labels):
                first, last = first + round(values[0] * 1e6), last + round(values[-1] * 1e6)
        return last - first
    report.equal(f"the scraped difference of the host is the meter's: {drawn / 1e6:.1f} J",
                 scraped("keplerd_host_joules_total"), drawn)
    workloads = scraped("keplerd_account_joules_total", '"account": "workloads"')
    unattributed = scraped("keplerd_account_joules_total", '"account": "unattributed"')
    report.equal(f"{workloads / 1e6:.1f} J of workloads, and nothing unattributed, although keplerd was dead in between",
                 unattributed, 0)
    report.equal("keplerd counts the same", after["status"]["accounts"]["workloads"] - before["status"]["accounts"]["workloads"],
                 workloads)
    one_sample = 50_000_000
    for name in SPINNERS:
        energy = scraped("keplerd_unit_cpu_joules_total", f'"name": "{name}.service"')
        expected = round(workloads * times[name] / times["all"])
        report.check(f"{name}: {energy / 1e6:.1f} J, {expected / 1e6:.1f} J by cpu.stat", abs(energy - expected) < one_sample)


def kills(host, report):
    """Prometheus scrapes while keplerd is killed at 10 random instants"""
    kill_while_scraped(host, report, 10)


def kills_for_long(host, report):
    """Prometheus scrapes while keplerd is killed at 200 random instants"""
    kill_while_scraped(host, report, 200)


def increase(values):
    """As Prometheus computes it, without its extrapolation."""
    return sum(now - before if now >= before else now for before, now in zip(values, values[1:]))


def power_cut(host, report):
    """A power cut, and the same root booted again, while Prometheus scrapes"""
    host.rapl("drive", PACKAGE, 100)
    time.sleep(5)
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    with Scraping(host, "host,units") as scraping:
        history = scraping.host_microjoules()
        host.sh("systemctl restart keplerd.service")  # which saves the totals
        saved = host.ask("status")
        host.rapl("drive", PACKAGE, 50)
        time.sleep(4)
        host.rapl("halt", PACKAGE)
        scraping.wait_for_the_meter()
        lost = host.ask("status")
        host.power_cycle()
        host.wait_until(lambda: host.property("ActiveState") == "active", 20, "keplerd")
        again = host.ask("status")
        host.rapl("drive", PACKAGE, 50)
        time.sleep(2)
        host.rapl("halt", PACKAGE)
        scraping.wait_for_the_meter()
        now, resets, raw = host.snapshot(), scraping.resets(), scraping.raw("keplerd?_.*_joules_total")
        counted = scraping.query('increase(keplerd_host_joules_total{job="fast"}[SPAN])')
        # Not those that have ended with the power, such as a removed card's.
        present = {json.dumps(series["metric"], sort_keys=True)
                   for series in scraping.query('{__name__=~"keplerd?_.*_joules_total",job="fast"}')}
    status, earlier = now["status"], now["status"]["earlier"]["energyMicrojoules"]
    report.equal("keplerd has started by itself, with the meter", (status["source"]["name"], status["sinceUsec"]),
                 ("powercap", saved["sinceUsec"]))
    report.check(f"its total continues as saved: {saved['host']['energyMicrojoules']}, {earlier}, {lost['host']['energyMicrojoules']} uJ",
                 saved["host"]["energyMicrojoules"] <= earlier <= lost["host"]["energyMicrojoules"])
    report.check("with another instance ID", again["instanceId"] != lost["instanceId"] and again["instanceId"] == status["instanceId"])
    check_sums(report, now, "after the power cut")
    since = status["host"]["energyMicrojoules"] - earlier
    values = next(values for key, values in raw.items() if '"keplerd_host_joules_total"' in key)
    report.equal("the exporter's counter of the host has begun at 0", round(values[-1] * 1e6), since)
    wrong = {key: raw[key] for key in present & raw.keys() if raw[key][-1] * 1e6 > since + 1}
    report.equal(f"and so have those of all {len(present)} series", wrong, {})
    report.equal("the host's is reset once", [n for (name, _), n in resets.items() if name == "keplerd_host_joules_total"], [1])
    report.equal("none more than once", {key: n for key, n in resets.items() if n > 1}, {})
    fell = {key for key, values in raw.items() if any(b < a for a, b in zip(values, values[1:]))}
    report.check(f"{len(fell)} series have been reset", len(fell) > 10)
    drawn = lost["host"]["energyMicrojoules"] - history + since
    report.equal(f"increase is what was drawn, {drawn / 1e6:.1f} J, without the {history / 1e6:.1f} J before",
                 round(increase(values) * 1e6), drawn)
    found = float(counted[0]["value"][1]) * 1e6
    # By less than 1.1 of the mean interval at either end; the time without power is in that mean.
    most = drawn * (1 + 2.2 / (len(values) - 1))
    report.check(f"Prometheus' own, which extrapolates: {found / 1e6:.1f} J, {most / 1e6:.1f} J at most, of {len(values)} scrapes",
                 drawn - 1 <= found <= most + 1)


ALL = [kills, power_cut]
LONG = {kills: kills_for_long}
