# SPDX-License-Identifier: Apache-2.0
"""keplerd-history on a booted host: what it records at 50 W, and what an ordinary user sees of it."""
import json
import re
import shlex

from claims import USERS, become, start_managers, stop_managers
from scenarios import PACKAGE

SERVICE = "keplerd-history.service"
SOCKET = "/run/keplerd-history/org.keplerd.History"
NAME = "org.keplerd1.History"


def ask(host, method):
    return host.sh(f"varlinkctl -j call {SOCKET} org.keplerd.History.{method} '{{}}'", check=False)


def total(host, *options):
    return json.loads(host.sh(f"keplerctl -j report --day=today {' '.join(options)}"))["report"]


def await_recording(host):
    """Two readings, which are a minute apart."""
    host.wait_until(lambda: "lastReadingUsec" in ask(host, "GetStatus"), 180, "the time between two readings")


def recorded(host, report):
    """keplerd-history: enabled, at 50 W, and asked by root and by an ordinary user"""
    start_managers(host)
    report.equal("neither started nor enabled", (host.property("ActiveState", SERVICE), host.property("UnitFileState", SERVICE)),
                 ("inactive", "disabled"))
    host.sh(f"systemctl enable --now {SERVICE}")
    status = host.sh(f"cat /proc/{host.property('MainPID', SERVICE)}/status")
    report.check("a user of its own, with no capability", not re.search(r"^Uid:\t0\t", status, re.M)
                 and re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M), status)
    await_recording(host)
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


def budget(host, report):
    """A budget that is crossed at 50 W starts its service, once, and nobody but root and members learns of it"""
    started = "/run/budget-started"
    host.sh("mkdir -p /etc/keplerd/history.conf.d && printf '[Budgets]\\nBudget=1kJ/month host\\n' > /etc/keplerd/history.conf.d/budget.conf")
    host.sh(f"""cat > /etc/systemd/system/keplerd-budget@.service <<'END'
[Service]
Type=oneshot
ExecStart=/bin/sh -c '. "$0"; echo "$KEPLERD_BUDGET_SUBJECT $KEPLERD_BUDGET_PERCENT $KEPLERD_BUDGET_USED_MICROJOULES" >> {started}' /run/keplerd-history/budgets/%i.env
END
systemctl daemon-reload && systemctl enable --now {SERVICE}""")
    await_recording(host)
    host.rapl("drive", PACKAGE, 50)

    def crossed():
        listed = json.loads(ask(host, "ListBudgets"))["budgets"][0]
        return listed["usedMicrojoules"] >= listed["limitMicrojoules"] and host.run("cat", started).stdout.count(" 100 ") == 1
    host.wait_until(crossed, 180, "a crossed budget")
    host.rapl("halt", PACKAGE)
    lines = host.sh(f"cat {started}").splitlines()
    report.check(f"the service was started: {lines}", [line.split()[:2] for line in lines] in (
        [["host", "100"]], [["host", "80"], ["host", "100"]]) and int(lines[-1].split()[2]) >= 1_000_000_000, lines)
    report.equal("each crossing is a message in the journal",
                 len(host.sh("journalctl -q -o cat MESSAGE_ID=b47d95783c4a4e7da73cf847ff48177c").splitlines()), len(lines))
    host.sh(f"systemctl restart {SERVICE}")
    host.wait_until(lambda: "lastReadingUsec" in ask(host, "GetStatus"), 90, "the first reading")
    report.equal("not again after a restart", host.sh(f"cat {started}").splitlines(), lines)
    shown = host.sh("keplerctl budgets")
    report.check("keplerctl budgets shows that it is used up", re.search(r"(?m)^1kJ/month host .* yes$", shown), shown)
    refused = host.run(*become(next(iter(USERS))), "keplerctl", "budgets")
    report.check("not to an ordinary user", refused.returncode == 1 and "access denied" in refused.stderr, refused.stderr)
    who, call = next(iter(USERS)), ["busctl", "call", NAME, f"/{NAME.replace('.', '/')}", NAME, "ListBudgets"]
    report.check("an ordinary user may not ask over D-Bus", "Access denied" in host.run(*become(who), *call).stderr)
    member = host.run("setpriv", f"--reuid={who}", f"--regid={who}", "--groups=keplerd", *call)
    report.check("a member of the group keplerd may", "1kJ/month host" in member.stdout, member.stderr)
    other = host.run("runuser", "-u", "keplerd-history", "--", "systemctl", "--no-ask-password", "start",
                     "systemd-tmpfiles-clean.service")
    report.check("keplerd-history starts no other unit", other.returncode != 0, other.stdout)
    host.sh(f"systemctl disable --now {SERVICE}; rm -r /etc/keplerd/history.conf.d /etc/systemd/system/keplerd-budget@.service "
            f"{started}; systemctl daemon-reload")


ALL = [recorded, budget]
