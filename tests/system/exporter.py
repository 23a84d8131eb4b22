# SPDX-License-Identifier: Apache-2.0
"""keplerd-exporter on a booted host: started by the first request, and what it exposes to which clients."""
import re
import shlex

from scenarios import PACKAGE

URL = "http://127.0.0.1:28282"
DROP_IN = "/run/systemd/system/keplerd-exporter.service.d/test.conf"
OPTIONS = "/etc/default/keplerd-exporter"
# "secret", of cost 4.
HASH = "$2y$04$WplY1yIRfnoNA9l1ad3QWOrdU0orHonLNWlqn/pr/CDrVS9ZQOYVm"


def curl(host, *options, path="/metrics"):
    """Fetches a page as an unprivileged user: status and text."""
    result = host.sh(f"setpriv --reuid=nobody --regid=nogroup --clear-groups curl -s -m 20 -w '\\n%{{http_code}}' "
                     f"{shlex.join(options)} {URL}{path}", check=False)
    text, _, status = result.rpartition("\n")
    return int(status), text


def series(text):
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def scrape(host):
    return series(curl(host)[1])


def labels(found, name, label):
    """The values of a label in all series of a metric."""
    values = (re.search(rf'[{{,]{label}="((?:[^"\\]|\\.)*)"', line) for line in found if line.startswith(name + "{"))
    return {re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]), match[1]) for match in values if match}


def options(host, *arguments, settings=""):
    """Restarts it with these."""
    text = f"[Service]\n{settings}ExecStart=\nExecStart=/usr/sbin/keplerd-exporter {' '.join(arguments)}\n"
    host.sh(f"""mkdir -p {DROP_IN.rpartition("/")[0]}; printf %s {shlex.quote(text)} >{DROP_IN}
                systemctl daemon-reload; systemctl restart keplerd-exporter.service""")


def state(host, unit):
    return host.property("ActiveState", unit), host.property("UnitFileState", unit)


def unprivileged(host, report):
    """keplerd-exporter: enabled, and scraped by an unprivileged user"""
    report.equal("neither started nor enabled", [state(host, f"keplerd-exporter.{kind}") for kind in ("service", "socket")],
                 [("inactive", "indirect"), ("inactive", "disabled")])
    enabled = host.run("systemctl", "enable", "--now", "keplerd-exporter.socket")
    report.equal("enabled", (enabled.returncode, state(host, "keplerd-exporter.socket")), (0, ("active", "enabled")))
    report.equal("not started before it is asked", host.property("ActiveState", "keplerd-exporter.service"), "inactive")
    found = scrape(host)
    report.equal("the first question is answered with numbers", found.get("keplerd_up"), "1")
    report.equal("nobody is told of zones, accounts, units or machines", [
        line for line in found if re.match(r"keplerd_account|keplerd_unit|keplerd_vm|kepler_vm|kepler_process|keplerd_zone", line)], [])
    report.equal("the host is told in steps of 0.1 J", float(found["keplerd_host_joules_total"]) * 10 % 1, 0)
    report.equal("as the zone total", labels(found, "kepler_node_cpu_joules_total", "zone"), {"total"})
    pid = host.property("MainPID", "keplerd-exporter.service")
    status = host.sh(f"cat /proc/{pid}/status")
    report.check("a user of its own, with no capability", not re.search(r"^Uid:\t0\t", status, re.M)
                 and re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M), status)
    report.equal("no network of its own", host.sh(f"nsenter -t {pid} -n ip -brief link 2>/dev/null || "
                                                  f"nsenter -t {pid} -n cat /proc/net/dev | tail -n +3").split(":")[0].split()[0], "lo")
    report.check("at most some 20 MB", int(found["process_resident_memory_bytes"]) < 20 << 20,
                 found["process_resident_memory_bytes"])
    report.equal("ready, healthy, and a page for people",
                 [curl(host, path=path)[0] for path in ("/-/ready", "/-/healthy", "/")], [200] * 3)


def everything(host, report):
    """keplerd-exporter --serve=all: what keplerctl shows"""
    host.sh(f"""cp -p {OPTIONS} {OPTIONS}.installed; echo 'ARGS="--serve=all --processes=5"' >>{OPTIONS}
                systemctl restart keplerd-exporter.service""")
    host.rapl("drive", PACKAGE, 50)
    host.wait_until(lambda: float(scrape(host).get("keplerd_host_watts", 0)) > 10, 30, "the host's power")
    found = scrape(host)
    accounts = [float(value) for line, value in found.items() if line.startswith("keplerd_account_joules_total{")]
    report.check("the accounts add up to the host", len(accounts) == 4
                 and abs(sum(accounts) - float(found["keplerd_host_joules_total"])) < 1e-6, accounts)
    units = {row["id"] for row in host.ask("units")["units"] if row["kind"] == "unit"}
    exposed = labels(found, "keplerd_unit_cpu_joules_total", "id")
    # Each command of these tests is a unit of its own, which may be over by now.
    different = {unit for unit in units ^ exposed if "/run-" not in unit}
    report.check(f"{len(exposed)} units, those of keplerctl", len(different) <= 4, different)
    machines = {row["name"] for row in host.ask("vms")["virtualMachines"]}
    report.equal(f"{len(machines)} machines, those of keplerctl", labels(found, "kepler_vm_cpu_joules_total", "vm_name"), machines)
    containers = {row["name"] for row in host.ask("containers")["containers"]}
    report.equal(f"{len(containers)} containers, those of keplerctl",
                 labels(found, "kepler_container_cpu_joules_total", "container_name"), containers)
    report.equal("five processes and the others", len(labels(found, "kepler_process_cpu_joules_total", "pid")), 6)
    report.check("processors", any(line.startswith("kepler_node_cpu_info{") for line in found))
    host.sh("systemctl restart keplerd-exporter.service")
    again = scrape(host)
    back = [line for line, value in again.items() if "_total" in line and line in found and not line.startswith("process_")
            and 'type="other"' not in line and float(value) < float(found[line])]
    report.equal("no counter goes back when it is restarted", back, [])
    host.sh(f"mv {OPTIONS}.installed {OPTIONS}")
    host.rapl("halt", PACKAGE)


def faults(host, report):
    """keplerd-exporter: keplerd away and back, a password, a broken web.yml"""
    host.sh("systemctl stop keplerd.socket keplerd.service")
    report.equal("without keplerd it says so, and nothing of the host", [
        line for line in scrape(host).items() if line[0].startswith(("keplerd_up", "keplerd_host"))], [("keplerd_up", "0")])
    report.equal("not ready", curl(host, path="/-/ready")[0], 503)
    host.sh("systemctl start keplerd.socket keplerd.service")
    host.wait_until(lambda: scrape(host).get("keplerd_up") == "1", 15, "keplerd again")
    host.sh(f"printf 'basic_auth_users:\\n  joe: {HASH}\\n' >/etc/keplerd/web.yml; chmod 600 /etc/keplerd/web.yml")
    credential = "LoadCredential=web.yml:/etc/keplerd/web.yml\n"
    options(host, "--web-config=${CREDENTIALS_DIRECTORY}/web.yml", settings=credential)
    report.equal("nobody without a password, nor with a wrong one",
                 [curl(host)[0], curl(host, "-u", "joe:wrong")[0]], [401, 401])
    status, text = curl(host, "-u", "joe:secret")
    report.check("all with it", status == 200 and labels(series(text), "keplerd_unit_cpu_joules_total", "id"), (status, text[:200]))
    host.sh("echo 'basic_auth_user: {}' >/etc/keplerd/web.yml; systemctl restart keplerd-exporter.service", check=False)
    report.equal("a broken web.yml serves nobody, and is not tried again",
                 (host.property("ExecMainStatus", "keplerd-exporter.service"), host.property("NRestarts", "keplerd-exporter.service")),
                 ("78", "0"))
    host.sh(f"""rm -r /etc/keplerd/web.yml {DROP_IN.rpartition("/")[0]}; systemctl daemon-reload
                systemctl reset-failed 'keplerd-exporter*'; systemctl restart keplerd-exporter.socket""")
    report.equal("well again", scrape(host).get("keplerd_up"), "1")
    # Its own messages and systemd's, except for what systemd 262 says about each unit here.
    journal = host.sh("journalctl -q --no-pager -o cat -p warning -u keplerd-exporter.service | grep -v 'Failed to read pids.max'",
                      check=False).splitlines()
    report.equal("nothing else in the journal", [line for line in journal if not line.startswith((
        "keplerd does not answer: ", "keplerd-exporter.service: Failed with result 'exit-code'", "Failed to start keplerd-exporter.service",
        "keplerd-exporter.service: Failed to read pids.max for"))], [])  # the testbed has no such controller
    host.sh("systemctl disable --now keplerd-exporter.socket; systemctl stop keplerd-exporter.service")


ALL = [unprivileged, everything, faults]
