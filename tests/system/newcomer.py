# SPDX-License-Identifier: Apache-2.0
"""The way of somebody who has read README.md only, on a booted host: its own commands, taken from it, have the results that
it promises. Where a terminal, a reader's Makefile or a second login is needed, the test stands in for the reader."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import urllib.parse
import uuid

from booted_host import PACKAGES_BUILT, SOURCE
from guests import QEMU
from scenarios import PACKAGE

README = (SOURCE / "README.md").read_text()
USER = "newcomer"
DROP_INS = "/etc/systemd/system/keplerd.service.d"
OPTIONS = "/etc/default/keplerd-exporter"
# Root needs no sudo, and the booted host has none.
PRELUDE = 'set -e\nsudo() { "$@"; }\n'


def section(title):
    """Its blocks of code, each a list of lines, and its text."""
    text = re.search(rf"(?ms)^##+ {re.escape(title)}\n(.*?)(?=^##+ |\Z)", README)[1]
    blocks = re.findall(r"(?m)(?:^    .*\n|(?<=\n)\n(?=    ))+", text)
    return [[line[4:] for line in block.splitlines() if line] for block in blocks], " ".join(text.split())


def block(title, beginning):
    """The block that begins so."""
    return next(lines for lines in section(title)[0] if lines[0].startswith(beginning))


def type_in(host, *lines, user=None):
    """As a reader types it, one line after another."""
    script = PRELUDE + "\n".join(lines).replace("./build/packages", PACKAGES_BUILT)
    return host.run(*(["su", "-", user, "-c", script] if user else ["bash", "-c", script]))


def check(report, what, result, *expected):
    report.check(f"{what}", result.returncode == 0 and all(re.search(text, result.stdout) for text in expected),
                 result.stdout[-1500:] + result.stderr[-1500:])


# Of boot sectors that spin, unless they are not started.
MACHINES = {"busy-vm": "", "quiet-vm": "-S"}


def start_machines(host):
    host.sh("".join(f"systemd-run -q --unit={name} {QEMU} {option} -name guest={name} -uuid {uuid.uuid5(uuid.NAMESPACE_DNS, name)}\n"
                    for name, option in MACHINES.items()))


def most_power(host, report):
    """README: installation, and the virtual machine that draws most"""
    install = block("Installation", "sudo scripts/install-deps package")
    report.equal("packages are built and installed as these tests do it", install[:3],
                 ["sudo scripts/install-deps package", "scripts/package deb", "sudo apt install ./build/packages/keplerd_*.deb"])
    start_machines(host)
    host.wait_for_samples()
    host.rapl("drive", PACKAGE, 50)
    host.wait_for_samples(3)
    result = type_in(host, *install[3:])
    check(report, "; ".join(install[3:]), result, "POWER")
    report.check("the first row is the machine that draws most", re.search(r"POWER.*\n.*busy-vm(.*\n)+.*quiet-vm", result.stdout),
                 result.stdout)
    host.rapl("halt", PACKAGE)


def let_a_user(host, report):
    """README: a user who may read everything"""
    host.sh(f"id -u {USER} 2>/dev/null || useradd --create-home {USER}")
    before = type_in(host, "keplerctl", "keplerctl units", user=USER)
    check(report, "without it, a user sees the host and is told so", before, "Only public values")
    report.check("and none of the system's units", "keplerd.service" not in before.stdout, before.stdout)
    command = block("Access", "sudo usermod")
    check(report, command[0], type_in(host, *(line.replace("USER", USER) for line in command)))
    check(report, "after the next login: all units, and watts of the host", type_in(host, "keplerctl units --sort=energy", "keplerctl", user=USER),
          r"keplerd\.service|busy\.service", r"Host [\d.]+ m?W")
    host.sh(f"gpasswd -d {USER} keplerd")


def scrape(host, report):
    """README: scraped by Prometheus"""
    blocks, text = section("Prometheus and Grafana")
    first, settings, configuration = blocks
    if host.run("systemctl", "is-active", "busy-vm").returncode != 0:
        start_machines(host)
    check(report, "; ".join(first), type_in(host, *first), r"(?m)^keplerd_up 1$", "keplerd_host_joules_total")
    host.sh(f"cp -p {OPTIONS} {OPTIONS}.installed; echo {shlex.quote(settings[0])} >>{OPTIONS}")
    restart = re.search(r"run `(sudo systemctl restart keplerd-exporter)`", text)[1]
    check(report, f"{settings[0]}, {restart}", type_in(host, restart))
    host.rapl("drive", PACKAGE, 50)
    query = re.search(r"`(kepler_vm_cpu_watts\{.*?\})`", text)[1]
    directory = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-prometheus."))
    (directory / "prometheus.yml").write_text("global: {scrape_interval: 1s}\n" + "\n".join(configuration) + "\n")
    leader, address = host.testbed("leader").stdout.strip(), "127.0.0.1:9091"  # cockpit.socket has Prometheus's usual port
    prometheus = subprocess.Popen(
        ["nsenter", "-t", leader, "-n", "prometheus", f"--config.file={directory}/prometheus.yml", "--log.level=error",
         f"--storage.tsdb.path={directory}/data", f"--web.listen-address={address}"])

    def ask(expression):
        answer = host.sh(f"curl -s 'http://{address}/api/v1/query?query={urllib.parse.quote(expression)}' || :")
        return json.loads(answer)["data"]["result"] if answer.startswith("{") else []
    host.wait_until(lambda: ask("keplerd_unit_cpu_watts"), 30, "a scrape")
    report.check("prometheus.yml: the target is up", [series["value"][1] for series in ask('up{job="keplerd"}')] == ["1"])
    host.wait_until(lambda: any(float(series["value"][1]) > 0 for series in ask("keplerd_host_watts")), 30, "a power")
    machines = {row["name"] for row in host.ask("vms")["virtualMachines"]}
    report.equal(f"{query}: the machines of keplerctl", {series["metric"]["vm_name"] for series in ask(query)}, machines)
    report.check("the busy one leads", max(ask(query), key=lambda series: float(series["value"][1]))["metric"]["vm_name"] == "busy-vm")
    prometheus.terminate()
    prometheus.wait()
    shutil.rmtree(directory)
    host.rapl("halt", PACKAGE)
    host.sh(f"""
        mv {OPTIONS}.installed {OPTIONS}
        systemctl disable --now keplerd-exporter.socket
        systemctl stop keplerd-exporter {' '.join(MACHINES)}""")


def no_meter(host, report):
    """README: why there is no meter"""
    command = re.search(r"reports that there is none; `(sudo keplerctl doctor)`", section("Installation")[1])[1]
    check(report, f"{command}: with a meter, nothing is wrong", type_in(host, command), "powercap")
    host.sh("""
        mkdir -p /run/nothing
        mount --bind /run/nothing /sys/class/powercap
        systemctl restart keplerd""")
    doctor = type_in(host, command)
    text = " ".join(doctor.stdout.split())
    report.check(f"{command}: without one, it says so, and why: exit status {doctor.returncode}", doctor.returncode in (1, 4)
                 and re.search("meter powercap", text), doctor.stdout)
    report.note(doctor.stdout)
    host.sh("umount /sys/class/powercap; rmdir /run/nothing; systemctl restart keplerd")
    host.wait_until(lambda: host.ask("status")["source"]["name"] == "powercap", 20, "the meter again")


def all_commands(host, report):
    """README: every other command"""
    usage, buses = section("Usage")[0]
    host.sh("rm -rf /tmp/newcomer; mkdir /tmp/newcomer; printf 'all:\\n\\tsleep 0.1\\n' >/tmp/newcomer/Makefile")
    # Without a terminal, monitor and top print their table once. record and Monitor go on until they are interrupted.
    on_and_on = {"keplerctl record", "varlinkctl call"}
    commands = [re.split(r"\s{2,}", line)[0] for line in usage] + buses
    # Other hosts there are in tests/integration/hosts_test.py.
    commands = [command for command in commands if " -H " not in command]
    for command in commands:
        endless = " ".join(command.split()[:2]) in on_and_on
        result = type_in(host, "cd /tmp/newcomer", f"timeout -s INT 2 {command}" if endless else command)
        report.check(command, result.returncode in ((0, 124, 130) if endless else (0,)), result.stdout[-500:] + result.stderr)
    drop_in = block("Access", "sudo mkdir")
    check(report, "; ".join(drop_in), type_in(host, *drop_in, "systemctl is-active keplerd"), "^active$")
    host.sh(f"rm -r {DROP_INS}; systemctl daemon-reload; systemctl restart keplerd")
    history = block("History and reports", "sudo apt install")
    for command in history:
        result = type_in(host, command)
        report.check(command, result.returncode == 0, result.stdout[-500:] + result.stderr)
    host.sh("systemctl disable --now keplerd-history; rm -r /tmp/newcomer")


ALL = [most_power, let_a_user, scrape, no_meter, all_commands]
