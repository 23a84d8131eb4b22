# SPDX-License-Identifier: Apache-2.0
"""keplerd-history on a booted host: what it records at 50 W, and what an ordinary user sees of it."""
import json
import re
import shlex

from claims import USERS, become, start_managers, stop_managers
from scenarios import PACKAGE

SERVICE = "keplerd-history.service"
SOCKET = "/run/keplerd-history/org.keplerd.History"


def total(host, *options):
    return json.loads(host.sh(f"keplerctl -j report --day=today {' '.join(options)}"))["report"]


def recorded(host, report):
    """keplerd-history: enabled, at 50 W, and asked by root and by an ordinary user"""
    start_managers(host)
    report.equal("neither started nor enabled", (host.property("ActiveState", SERVICE), host.property("UnitFileState", SERVICE)),
                 ("inactive", "disabled"))
    host.sh(f"systemctl enable --now {SERVICE}")
    status = host.sh(f"cat /proc/{host.property('MainPID', SERVICE)}/status")
    report.check("a user of its own, with no capability", not re.search(r"^Uid:\t0\t", status, re.M)
                 and re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M), status)
    host.wait_until(lambda: "lastReadingUsec" in host.sh(f"varlinkctl -j call {SOCKET} org.keplerd.History.GetStatus '{{}}'"),
                    90, "the first reading")
    before, counter = total(host)["energyMicrojoules"], host.counter(PACKAGE)
    who = next(iter(USERS))
    host.sh(shlex.join([*become(who), "systemd-run", "-q", "--user", "--unit=busy", "sh", "-c", "while :; do :; done"]))
    host.rapl("drive", PACKAGE, 50)
    host.wait_until(lambda: total(host)["energyMicrojoules"] > before + 500_000_000, 180, "a minute at 50 W")
    host.rapl("halt", PACKAGE)
    drawn = host.counter(PACKAGE) - counter
    for by in ("unit", "slice", "user", "vm"):
        divided = total(host, f"--by={by}")
        report.equal(f"by {by}: the rows and the accounts are the total", divided["energyMicrojoules"],
                     sum(row["energyMicrojoules"] for row in divided["rows"]) + sum(divided["accounts"].values()))
    host.wait_until(lambda: total(host)["energyMicrojoules"] >= before + drawn, 90, "all that was drawn")
    report.equal("what was drawn is recorded, to the microjoule", total(host)["energyMicrojoules"] - before, drawn)
    refused = host.run(*become(who), "keplerctl", "history")
    report.check("an ordinary user does not see the host", refused.returncode == 1 and "access denied" in refused.stderr, refused.stderr)
    own = json.loads(host.run(*become(who), "keplerctl", "-j", "report", "--day=today").stdout)["report"]
    report.check(f"but {len(own['rows'])} units of his own", own["rows"] and all(row.get("ownerUid") == USERS[who] for row in own["rows"])
                 and "energyMicrojoules" not in own, own)
    member = host.run("setpriv", f"--reuid={who}", f"--regid={who}", "--groups=keplerd", "keplerctl", "history")
    report.equal("a member of the group keplerd sees the host", member.returncode, 0)
    host.sh(f"systemctl restart {SERVICE}")
    report.equal("a restart changes nothing", total(host)["energyMicrojoules"] - before, drawn)
    host.sh(f"systemctl disable --now {SERVICE}")
    stop_managers(host)
    report.equal("no errors in the journal", host.sh(f"journalctl -q -p warning -u {SERVICE}"), "")


ALL = [recorded]
