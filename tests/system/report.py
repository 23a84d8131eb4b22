# SPDX-License-Identifier: Apache-2.0
"""systemd-report (systemd 260 and later) finds keplerd's metrics."""
import json
import re

REPORT = "/usr/lib/systemd/systemd-report"
LINK = "/run/systemd/report/org.keplerd.Energy"


def systemd_report(host, report):
    """systemd-report"""
    report.equal("linked by the socket unit", host.sh(f"readlink -f {LINK}").strip(), "/run/keplerd/org.keplerd.Energy")
    if host.run("test", "-x", REPORT).returncode != 0:
        report.note("this release has no systemd-report")
        return
    listed = host.run(REPORT, "--no-pager", "list-sources")
    report.check("it lists keplerd as a source", "org.keplerd.Energy" in listed.stdout, listed.stdout + listed.stderr)
    energy = host.ask("status")["host"]["energyMicrojoules"]
    machines = {row["name"] for row in host.ask("vms")["virtualMachines"]}
    found = host.run(REPORT, "--no-pager", "--json=short", "metrics", "org.keplerd.Energy")
    objects = [json.loads(line) for line in found.stdout.replace("\x1e", "").splitlines() if line.startswith("{")]
    metrics = objects[0].get("metrics", objects) if len(objects) == 1 else objects
    values = {}
    for metric in metrics:
        values.setdefault(metric["name"].removeprefix("org.keplerd.Energy."), {})[metric.get("object")] = metric["value"]
    report.check(f"metrics: {sorted(values)}", {"HostEnergyMicrojoules", "ZoneEnergyMicrojoules", "UnitEnergyMicrojoules",
                                                "VirtualMachineEnergyMicrojoules"} <= values.keys(),
                 found.stdout[:400] + found.stderr[:400])
    report.check("the host's counter goes on from what keplerctl told", values.get("HostEnergyMicrojoules", {}).get(None, -1) >= energy)
    report.check("units by their names", "keplerd.service" in values.get("UnitEnergyMicrojoules", {}))
    report.equal("machines by theirs", set(values.get("VirtualMachineEnergyMicrojoules", {})), machines)
    described = host.run(REPORT, "--no-pager", "describe", "org.keplerd.Energy")
    report.check("describe tells what each is", re.search(r"org\.keplerd\.Energy\.HostPowerMicrowatts\s+gauge", described.stdout)
                 and "Energy of a virtual machine" in described.stdout, described.stdout[:600] + described.stderr[:400])


ALL = [systemd_report]
