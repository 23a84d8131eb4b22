#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every query of the dashboard for many hosts returns data, of the recording rules and of what keplerd-exporter exports.

promtool evaluates them for two hosts, of which one is not measured, with a VM that migrates and one that ends.

usage: fleet_dashboard_test.py SOURCE_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PROMETHEUS = SOURCE / "exporter/prometheus"
VARIABLES = {"$job": ".*", "$vm": ".*", "$__range": "59m", "$price": "0.25"}
WEB, OLD = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-2222-3333-4444-555555555555"


def vm_series(instance, uuid, name, values):
    return {"series": f'kepler_vm_cpu_joules_total{{job="k", instance="{instance}", vm_id="{uuid}", vm_name="{name}", '
                      'state="running", zone="package"}', "values": values}


def series():
    for instance, quality in (("a", "measured"), ("b", "estimated")):
        labels = f'job="k", instance="{instance}"'
        yield {"series": f"keplerd_host_joules_total{{{labels}}}", "values": "0+3000x120"}
        yield {"series": f'keplerd_account_joules_total{{{labels}, account="idle"}}', "values": "0+3000x120"}
        yield {"series": f'keplerd_source_info{{{labels}, source="x", quality="{quality}"}}', "values": "1x120"}
        yield {"series": f"keplerd_up{{{labels}}}", "values": "1x120"}
    yield vm_series("a", WEB, "web", "0+1000x60 stale")
    yield vm_series("b", WEB, "web", "_x60 0+1000x60")
    yield vm_series("a", OLD, "old", "0+1000x90 stale")


def main():
    dashboard = json.loads((PROMETHEUS.parent / "grafana/keplerd-fleet.json").read_text())
    queries = []
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            assert "$" not in query, query
            queries.append(query)
    assert len(queries) > 10
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    files = [str(PROMETHEUS / name) for name in ("keplerd.rules.yml", "keplerd-fleet.rules.yml")]
    tests = [{"expr": f"count({query}) > bool 0", "eval_time": "2h", "exp_samples": [{"labels": "{}", "value": 1}]} for query in queries]
    # One line for the VM that has migrated, with the energy of both hosts.
    energy = next(query for query in queries if query.startswith("topk(50, sum_over_time(vm:keplerd_vm_kwh:increase5m[59m]) *"))
    tests.append({"expr": f"{energy} * 3.6e6", "eval_time": "2h", "exp_samples": [
        {"labels": f'{{vm_id="{WEB}", vm_name="web"}}', "value": 60000}]})
    test = {"rule_files": files, "evaluation_interval": "5m",
            "tests": [{"interval": "1m", "input_series": list(series()), "promql_expr_test": tests}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(test, file)  # which is YAML, too
        file.flush()
        sys.exit(subprocess.run(["promtool", "test", "rules", file.name], check=False).returncode)


if __name__ == "__main__":
    main()
