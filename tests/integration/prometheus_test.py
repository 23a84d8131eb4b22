#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes keplerd-exporter for a while, at two different rates: the resulting series.

Meanwhile the exporter is restarted, and a virtual machine ends.

usage: prometheus_test.py KEPLERD KEPLERD_EXPORTER SOURCE_DIRECTORY      SECONDS, KILLS in the environment: for
                                                                         how long, and how often keplerd is killed
"""
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import time
import unittest
import urllib.error

from exporter_host import CONTAINER, GONE, POD, Exporter, WorkingHost, wait_until
from prometheus_server import Prometheus
from written_host import Daemon

KEPLERD, EXPORTER, SOURCE = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
SECONDS = int(os.environ.get("SECONDS", "50"))
KILLS = int(os.environ.get("KILLS", "20"))

# Of the panels and variables of Kepler's dashboard, with what its variables stand for.
KEPLERS_QUERIES = """
sum by (zone) (kepler_node_cpu_watts{job="fast", zone=~".*"})
sum by (zone) (kepler_node_cpu_active_watts{job="fast", zone=~".*"})
sum by (zone) (kepler_node_cpu_idle_watts{job="fast", zone=~".*"})
count by (instance, model_name) (kepler_node_cpu_info{job="fast"})
group by (node_name, zone) (kepler_node_cpu_watts{job="fast"})
kepler_node_cpu_watts{job="fast", instance=~".*", zone=~"package"}
kepler_node_cpu_active_watts{job="fast", instance=~".*", zone=~".*"}
kepler_node_cpu_idle_watts{job="fast", instance=~".*", zone=~"dram"}
kepler_node_cpu_usage_ratio{job="fast"}
topk(10, sum by (comm, zone) (kepler_process_cpu_watts{job="fast", zone=~".*"}))
sum by (zone) (kepler_process_cpu_watts{job="fast", zone=~".*"})
kepler_process_cpu_watts{job="fast", zone=~".*", pid="10"}
count by (pid, comm) (kepler_process_cpu_watts{job="fast"})
topk(10, sum by (container_name, zone) (kepler_container_cpu_watts{job="fast", zone=~".*"}))
sum by (zone) (kepler_container_cpu_watts{job="fast", zone=~".*"})
kepler_container_cpu_watts{job="fast", zone=~".*", container_name=~".*"}
topk(10, sum by (pod_namespace, zone) (kepler_pod_cpu_watts{job="fast", zone=~".*"}))
sum by (zone) (kepler_pod_cpu_watts{job="fast", zone=~".*", pod_namespace=~".*"})
kepler_pod_cpu_watts{job="fast", pod_namespace=~".*", zone=~".*", pod_name=~".*"}
topk(10, sum by (vm_name, zone) (kepler_vm_cpu_watts{job="fast", zone=~".*"}))
sum by (zone) (kepler_vm_cpu_watts{job="fast", zone=~".*"})
kepler_vm_cpu_watts{job="fast", zone=~".*", vm_name=~"web"}
rate(kepler_node_cpu_joules_total{job="fast"}[20s])
rate(kepler_vm_cpu_joules_total{job="fast", vm_name="web"}[20s])
rate(kepler_process_cpu_seconds_total{job="fast"}[20s])
kepler_build_info{job="fast"}
""".strip().splitlines()


DASHBOARD = json.loads((SOURCE / "exporter/grafana/keplerd.json").read_text())


def dashboard_queries(panel, jobs):
    variables = {"$job": jobs, "$instance": ".*", "$vm": ".*", "$__rate_interval": "20s", "$__range": "40s",
                 "$price": "0.25", "$carbon": "380"}
    queries = [target["expr"] for target in panel.get("targets", [])]
    for name, value in variables.items():
        queries = [query.replace(name, value) for query in queries]
    if any("$" in query for query in queries):
        raise AssertionError(queries)
    return queries


class MeteredHost(WorkingHost):
    """With a meter of the whole host: each step two joules more than the zones."""

    def step(self):
        super().step()
        meter = self.files.root / "root/run/keplerd-meters/plug"
        meter.mkdir(parents=True, exist_ok=True)
        meter.parent.chmod(0o755)
        boottime = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
        for name, content in (("quality", "measured"), ("energy_uj", 5_000_000 * self.steps), ("boottime_us", boottime),
                              ("covers", "platform")):
            (meter / ".new").write_text(f"{content}\n")
            (meter / ".new").rename(meter / name)


class Scraped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = MeteredHost()
        cls.addClassCleanup(cls.host.remove)
        cls.daemon = Daemon(KEPLERD, cls.host.files, "--root", cls.host.files.root / "root",
                            config="[Sampling]\nInterval=1s\n[Workloads]\nTerminatedMinEnergy=0\n")
        cls.addClassCleanup(cls.daemon.stop)
        cls.host.work()
        cls.exporter = Exporter(EXPORTER, cls.daemon.socket, cls.host.files.root / "exporter.log", "--serve=all",
                                "--processes=20").start()
        cls.addClassCleanup(cls.exporter.close)
        wait_until(lambda: "kepler_vm_cpu_watts" in cls.exporter.get()[1].decode(), "a power")
        default = Exporter(EXPORTER, cls.daemon.socket, cls.host.files.root / "default.log").start()
        cls.addClassCleanup(default.close)
        cls.prometheus = Prometheus(cls.host.files.root, cls.exporter.url.removeprefix("http://"),
                                    default=default.url.removeprefix("http://"))
        cls.addClassCleanup(cls.prometheus.stop)
        begin = time.monotonic()
        time.sleep(SECONDS / 3)
        cls.ended = cls.exporter.restart()
        time.sleep(SECONDS / 6)
        cls.host.end_machine(2, 21)
        time.sleep(max(0, begin + SECONDS - time.monotonic()))
        cls.now, cls.span = time.time(), f"{SECONDS - 5}s"

    def query(self, expression):
        return self.prometheus.query(expression, self.now)

    def value(self, expression):
        result = self.query(expression)
        self.assertEqual(len(result), 1, expression)
        return float(result[0]["value"][1])

    def test_no_scrape_failed_even_while_the_exporter_was_restarted(self):
        self.assertEqual(self.ended, 0)
        targets = self.prometheus.ask("targets")["activeTargets"]
        self.assertEqual([target["lastError"] for target in targets], [""] * 3)
        for job, least in (("fast", SECONDS * 0.8), ("slow", SECONDS * 0.2)):
            self.assertEqual(self.value(f'min_over_time(up{{job="{job}"}}[{self.span}])'), 1)
            self.assertEqual(self.value(f'min_over_time(keplerd_up{{job="{job}"}}[{self.span}])'), 1)
            self.assertGreater(self.value(f'count_over_time(keplerd_up{{job="{job}"}}[{self.span}])'), least)
        self.assertNotRegex((self.prometheus.directory / "log").read_text(), "(?i)error|out of order|duplicate")

    def test_every_query_of_keplers_dashboard_returns_data(self):
        for query in KEPLERS_QUERIES:
            result = self.query(query)
            self.assertTrue(result, query)
            for series in result:
                self.assertGreaterEqual(float(series["value"][1]), 0, query)

    def test_every_query_of_our_dashboard_returns_data(self):
        queries = [query for panel in DASHBOARD["panels"] for query in dashboard_queries(panel, "fast|slow")]
        self.assertGreater(len(queries), 25)
        for query in queries:
            self.assertTrue(self.query(query), query)

    def test_a_panel_without_data_by_default_names_the_option_that_it_requires(self):
        for panel in (panel for panel in DASHBOARD["panels"] if panel["type"] != "row"):
            queries = dashboard_queries(panel, "default")
            if all(self.query(query) for query in queries):
                self.assertNotIn("noValue", panel["fieldConfig"]["defaults"], panel["title"])
                continue
            kinds = set(re.findall("_(vm|unit|container|pod|process|account|zone)_", " ".join(queries)))
            option = "|".join({"account": "host", "zone": "host", "process": "processes"}.get(kind, kind + "s") for kind in kinds)
            for text in (panel["description"], panel["fieldConfig"]["defaults"]["noValue"]):
                self.assertRegex(text, rf"Requires --serve=({option}),", panel["title"])

    def test_costs_and_carbon_are_the_energy_at_the_price_of_the_dashboards_variables(self):
        titles = {panel["title"]: panel for panel in DASHBOARD["panels"]}
        value = lambda title: self.value(dashboard_queries(titles[title], "fast")[0])
        energy = value("Energy in this range")
        self.assertGreater(energy, 0)
        self.assertAlmostEqual(value("Cost in this range ($currency)"), energy * 0.25, places=12)
        self.assertAlmostEqual(value("CO2e in this range"), energy * 380, places=9)

    def test_the_recording_rules_make_something_of_it(self):
        rules = (SOURCE / "exporter/prometheus/keplerd.rules.yml").read_text()
        expressions = re.findall(r"(?m)^        expr: (?:>-\n((?:          .*\n)+)|(.*)\n)", rules)
        self.assertEqual(len(expressions), rules.count("- record:"))
        for expression in expressions:
            self.assertTrue(self.query("".join(expression)), expression)

    def test_no_alert_is_raised(self):
        alerts = (SOURCE / "exporter/prometheus/keplerd.alerts.yml").read_text()
        for expression in re.findall(r"(?m)^        expr: (?:>-\n((?:          .*\n)+)|(.*)\n)", alerts):
            self.assertEqual(self.query("".join(expression)), [], expression)

    def test_the_increase_of_the_accounts_is_the_hosts(self):
        for job in ("fast", "slow"):
            host = self.value(f'increase(keplerd_host_joules_total{{job="{job}"}}[{self.span}])')
            accounts = self.value(f'sum(increase(keplerd_account_joules_total{{job="{job}"}}[{self.span}]))')
            self.assertGreater(host, 3 * SECONDS)
            self.assertAlmostEqual(accounts, host, delta=host * 1e-12)

    def test_no_counter_goes_back(self):
        counters = self.query(f'{{__name__=~"kepler.*_total", type!="other"}}[{self.span}]')
        self.assertGreater(len(counters), 100)
        for series in counters:
            values = [float(value) for _, value in series["values"]]
            self.assertEqual(values, sorted(values), series["metric"])

    def test_scrapers_of_different_rates_see_the_same_counters(self):
        seen = {}
        for series in self.query(f'{{__name__=~"kepler.*_joules_total", type!="other", job=~"fast|slow"}}[{self.span}]'):
            labels = {k: v for k, v in series["metric"].items() if k != "job"}
            seen.setdefault(json.dumps(labels, sort_keys=True), {})[series["metric"]["job"]] = {v for _, v in series["values"]}
        self.assertGreater(len(seen), 50)
        for labels, values in seen.items():
            self.assertEqual(values.keys(), {"fast", "slow"}, labels)
            self.assertLessEqual(values["slow"], values["fast"], labels)
        moved = [labels for labels, values in seen.items() if len(values["slow"]) > 3]
        self.assertGreater(len(moved), 20)

    def test_a_machine_that_ended_is_seen_by_both(self):
        wait_until(lambda: len(self.prometheus.query(f'kepler_vm_cpu_joules_total{{vm_id="{GONE}",state="terminated"}}',
                                                     time.time())) == 4, "the end of a machine")
        last = {}
        for series in self.prometheus.query(f'kepler_vm_cpu_joules_total{{vm_id="{GONE}"}}', time.time()):
            last.setdefault((series["metric"]["zone"], series["metric"]["state"]), set()).add(series["value"][1])
        # Prometheus may still return earlier samples.
        ended = {zone: values for (zone, state), values in last.items() if state == "terminated"}
        self.assertEqual({zone: len(values) for zone, values in ended.items()}, {"package": 1, "dram": 1})

    def test_parts_of_a_machine_add_up_to_it(self):
        for series in self.query('sum by (vm_id) (keplerd_vm_part_joules_total{job="fast"})'
                                 ' - sum by (vm_id) (kepler_vm_cpu_joules_total{job="fast", vm_name="web"})'):
            self.assertAlmostEqual(float(series["value"][1]), 0, places=5)

    def test_containers_and_pods_are_there(self):
        self.assertTrue(self.query(f'kepler_container_cpu_joules_total{{container_id="{CONTAINER}", runtime="docker"}} > 0'))
        self.assertTrue(self.query(f'kepler_pod_cpu_joules_total{{pod_id="{POD}"}} > 0'))


class Killed(unittest.TestCase):
    """kill -9 of keplerd, at random instants: scraped counters never decrease."""

    @classmethod
    def setUpClass(cls):
        cls.host = WorkingHost()
        cls.addClassCleanup(cls.host.remove)
        # The test is its systemd: a written host has no boot id, so that all is of one boot.
        config = "[Sampling]\nInterval=100ms\n[Workloads]\nTerminatedMinEnergy=0\n"
        cls.daemon = Daemon(KEPLERD, cls.host.files, config=config)
        cls.host.work()
        exporter = Exporter(EXPORTER, cls.daemon.socket, cls.host.files.root / "exporter.log", "--serve=all",
                            "--processes=20").start()
        cls.addClassCleanup(exporter.close)
        wait_until(lambda: "kepler_vm_cpu_watts" in exporter.get()[1].decode(), "a power")
        cls.instance = cls.daemon.status()["instanceId"]
        prometheus = Prometheus(cls.host.files.root, exporter.url.removeprefix("http://"))
        cls.addClassCleanup(prometheus.stop)
        begin, chance = time.time(), random.Random(17)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.5, 3))
            cls.daemon.stop(signal.SIGKILL)
            cls.daemon = Daemon(KEPLERD, cls.host.files, config=config)
        cls.addClassCleanup(cls.daemon.stop)
        time.sleep(5)
        now = time.time()
        cls.counters = prometheus.query(
            f'{{__name__=~"kepler_.*_total|keplerd_(host|account|vm_part)_.*_total", type!="other", job="fast"}}'
            f'[{int(now - begin)}s]', now)

    def test_no_counter_of_any_kind_ever_went_back(self):
        self.assertEqual(self.daemon.status()["instanceId"], self.instance)
        self.assertEqual({series["metric"]["__name__"].split("_")[1] for series in self.counters},
                         {"node", "process", "container", "vm", "pod", "host", "account"})
        for series in self.counters:
            values = [float(value) for _, value in series["values"]]
            self.assertGreater(len(values), KILLS / 4, series["metric"])
            self.assertEqual(values, sorted(values), series["metric"])

    def test_the_accounts_still_add_up_to_the_host(self):
        status = self.daemon.status()
        self.assertEqual(sum(status["accounts"].values()), status["host"]["energyMicrojoules"])
        self.assertEqual(status["host"]["energyMicrojoules"] % 3_000_000, 0)  # of each step of the host


class PowerCut(unittest.TestCase):
    """keplerd continues from totals that are older than what was scraped: counters begin at 0, which Prometheus
    takes for a reset. It must not count the history again."""

    @classmethod
    def setUpClass(cls):
        cls.host = WorkingHost()
        cls.addClassCleanup(cls.host.remove)
        config = "[Sampling]\nInterval=100ms\n[Workloads]\nTerminatedMinEnergy=0\n"
        start = lambda: Daemon(KEPLERD, cls.host.files, "--wal-dir", cls.host.files.root / "wal", config=config)
        (cls.host.files.root / "wal").mkdir()
        cls.host.work()
        daemon = start()
        wait_until(lambda: daemon.status()["host"]["energyMicrojoules"] > 30_000_000, "a history")
        daemon.stop()
        daemon = start()
        cls.saved = daemon.status()["host"]["energyMicrojoules"]
        exporter = Exporter(EXPORTER, daemon.socket, cls.host.files.root / "exporter.log", "--serve=all").start()
        prometheus = Prometheus(cls.host.files.root, exporter.url.removeprefix("http://"))
        cls.addClassCleanup(prometheus.stop)
        begin = time.time()

        def scraped():
            """The host's joules, NaN while there is no Prometheus yet."""
            try:
                found = prometheus.query("keplerd_host_joules_total{job='fast'}", time.time())
            except urllib.error.URLError:
                found = []
            return float(found[0]["value"][1]) if found else math.nan

        wait_until(lambda: scraped() > cls.saved / 1e6 + 9, "scrapes")
        daemon.stop(signal.SIGKILL)
        exporter.stop()
        shutil.rmtree(cls.host.files.root / "wal")
        (cls.host.files.root / "wal").mkdir()
        cls.daemon = start()
        cls.addClassCleanup(cls.daemon.stop)
        cls.restored = cls.daemon.status()
        exporter = exporter.start()
        cls.addClassCleanup(exporter.close)
        wait_until(lambda: scraped() < cls.saved / 1e6, "the reset")
        time.sleep(5)
        cls.now = time.time()
        cls.counters = prometheus.query(
            f'{{__name__=~"kepler_(node|vm|container|pod)_.*_total|keplerd_(host|account|unit|vm_part)_.*_total", job="fast"}}'
            f'[{int(cls.now - begin)}s]', cls.now)
        cls.status = cls.daemon.status()

    def test_each_counter_is_reset_once_and_begins_at_0(self):
        self.assertEqual({series["metric"]["__name__"].split("_")[1] for series in self.counters},
                         {"node", "container", "vm", "pod", "host", "account", "unit"})
        most = (self.status["host"]["energyMicrojoules"] - self.status["earlier"]["energyMicrojoules"]) / 1e6
        for series in self.counters:
            values = [float(value) for _, value in series["values"]]
            resets = sum(now < before for before, now in zip(values, values[1:]))
            self.assertLessEqual(resets, 1, (series["metric"], values))
            if "joules" in series["metric"]["__name__"]:
                # A smaller counter may have grown beyond what it was before the next scrape.
                if max(values) > most:
                    self.assertEqual(resets, 1, (series["metric"], values))
                self.assertLessEqual(values[-1], most, series["metric"])

    def test_the_total_continues_and_says_what_is_earlier(self):
        earlier = self.restored["earlier"]["energyMicrojoules"]
        self.assertGreaterEqual(earlier, self.saved)
        self.assertEqual(sum(self.restored["earlier"]["accounts"].values()), earlier)
        self.assertGreaterEqual(self.restored["host"]["energyMicrojoules"], earlier)

    def test_the_increase_is_what_was_drawn_and_not_the_history(self):
        host = next(series for series in self.counters if series["metric"]["__name__"] == "keplerd_host_joules_total")
        values = [float(value) for _, value in host["values"]]
        increase = sum(now - before if now >= before else now for before, now in zip(values, values[1:]))
        self.assertAlmostEqual(increase, max(values) - values[0] + values[-1], places=6)
        since = self.status["host"]["energyMicrojoules"] - self.restored["host"]["energyMicrojoules"]
        self.assertLessEqual(increase, max(values) - values[0] + since / 1e6 + 9)  # a step or two before the answer


if __name__ == "__main__":
    unittest.main(verbosity=2)
