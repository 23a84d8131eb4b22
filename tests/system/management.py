# SPDX-License-Identifier: Apache-2.0
"""keplerd-redfish and keplerd-ipmi on a booted host: what systemd gives them. (A controller of IPMI is in bmc/management_controller.)"""
import re

REDFISH, IPMI = "keplerd-redfish.service", "keplerd-ipmi.service"
METER = "/run/keplerd-meters/redfish"
CREDENTIAL = "/etc/credstore/keplerd-redfish"
ZONE = "redfish:platform:0"


def zone(host):
    return next((zone for zone in host.ask("zones")["zones"] if zone["id"] == ZONE), {})


def write_credential(host, password):
    host.sh(f"umask 077; mkdir -p /etc/credstore; printf 'Host=127.0.0.1:8443\\nUser=keplerd\\nPassword={password}\\nInterval=1s\\n' >{CREDENTIAL}")


def redfish(host, report):
    """keplerd-redfish: without a credential, with one, and with a wrong one"""
    report.equal("neither started nor enabled", (host.property("ActiveState", REDFISH), host.property("UnitFileState", REDFISH)),
                 ("inactive", "disabled"))
    host.sh(f"systemctl start {REDFISH}")
    host.wait_until(lambda: host.property("ActiveState", REDFISH) == "failed", 30, "the end of it without a credential")
    report.equal("without a credential it ends for good", (host.property("ExecMainStatus", REDFISH), host.property("NRestarts", REDFISH)),
                 ("78", "0"))
    journal = host.sh(f"journalctl -q -o cat -u {REDFISH}")
    report.check("and says what to write", f"write {CREDENTIAL}" in journal, journal)

    host.sh("""openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bmc -addext subjectAltName=IP:127.0.0.1 \\
        -keyout /run/bmc.key -out /run/bmc.pem 2>/dev/null
        systemd-run -q --unit=bmc /usr/bin/python3 /src/tests/system/bmc/redfish_service /run/bmc.pem /run/bmc.key
        install -D -m 644 /run/bmc.pem /etc/credstore/keplerd-redfish-ca""")
    write_credential(host, "secret")
    host.sh(f"systemctl start {REDFISH}")
    host.wait_until(lambda: abs(zone(host).get("powerMicrowatts", 0) - 321_000_000) < 16_000_000, 60, "the power of the chassis")
    row = zone(host)
    report.equal("it is modelled, and not in the total", (row["quality"], row["inTotal"]), ("modelled", False))
    pid = host.property("MainPID", REDFISH)
    status = host.sh(f"cat /proc/{pid}/status")
    report.check("a user of its own, with no capability", not re.search(r"^Uid:\t0\t", status, re.M)
                 and re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M), status)
    seen = host.sh(f"cat /proc/{pid}/cmdline; tr '\\0' '\\n' </proc/{pid}/environ; cat {METER}/*/*; journalctl -q -o cat -u {REDFISH}")
    report.check("the password is in no argument, variable, file or line of the journal", "secret" not in seen, seen)
    mode = host.sh(f"stat -c '%a %U' {METER} {METER}/platform/power_uw").split()
    report.check(f"its meter is readable, and its own: {mode}", mode[0] == "755" and mode[2] == "644" and mode[1] == mode[3] != "root", mode)

    write_credential(host, "wrong")
    host.sh(f"systemctl restart {REDFISH}")
    host.wait_until(lambda: host.run("test", "-e", f"{METER}/problem").returncode == 0, 30, "the problem")
    doctor = " ".join(host.run("keplerctl", "doctor").stdout.split())
    report.check("doctor shows that the password is wrong", re.search(r"problem meter redfish .* the service refuses the user", doctor), doctor)
    host.sh(f"systemctl stop {REDFISH} bmc; rm {CREDENTIAL} /etc/credstore/keplerd-redfish-ca; rm /run/bmc.*")
    report.equal("nothing is left of it", host.run("test", "-e", METER).returncode, 1)


def ipmi(host, report):
    """keplerd-ipmi: on a host without a management controller"""
    report.equal("neither started nor enabled", (host.property("ActiveState", IPMI), host.property("UnitFileState", IPMI)),
                 ("inactive", "disabled"))
    report.check("its group has no members", re.fullmatch(r"keplerd-ipmi:x:\d+:\n", host.sh("getent group keplerd-ipmi")))
    rules = "$(dpkg -L keplerd-ipmi | grep rules.d/)"
    verified = host.run("sh", "-c", f"! udevadm verify --help >/dev/null 2>&1 || udevadm verify --no-summary {rules}")
    report.check("its udev rule is valid", verified.returncode == 0, verified.stdout + verified.stderr)
    host.sh(f"systemctl start {IPMI}")
    report.equal("it is not started without the device", (host.property("ActiveState", IPMI), host.property("ConditionResult", IPMI)),
                 ("inactive", "no"))


ALL = [redfish, ipmi]
