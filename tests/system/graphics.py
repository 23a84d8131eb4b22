# SPDX-License-Identifier: Apache-2.0
"""A graphics card on a booted host: a meter and a usage file, as programs for cards write them, and a unit that uses it."""
from scenarios import PACKAGE, check_sums

CARD, UNIT = "testcard:gpu:0", "gpu-user.service"
POWER = 40_000_000

# 40 W; the process PID uses the card all the time.
WRITER = f"""
import os, sys, time
meter, usage, pid = "/run/keplerd-meters/testcard", "/run/keplerd-usage/testcard", sys.argv[1]
address, start = "0000:03:00.0", open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[19]
def put(path, text):
    with open(path + "~", "w") as file:
        file.write(text + "\\n")
    os.rename(path + "~", path)
for directory in (meter, usage):
    os.makedirs(directory, 0o755)
put(f"{{meter}}/quality", "measured")
put(f"{{meter}}/device", address)
began = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
while True:
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    put(f"{{usage}}/{{address}}", f"{{now}}\\n{{pid}} {{start}} {{(now - began) * 1000}}")
    put(f"{{meter}}/energy_uj", str((now - began) * {POWER // 1_000_000}))
    put(f"{{meter}}/boottime_us", str(now))
    put(f"{{meter}}/covers", "gpu")
    time.sleep(0.5)
"""


def of_card(row):
    return next((zone["energyMicrojoules"] for zone in row.get("zones", []) if zone["id"] == CARD), 0)


def card(host, report):
    """A graphics card that a unit without CPU time uses"""
    host.testbed("rapl", "halt", PACKAGE, check=False)  # if it is driven
    host.sh(f"systemd-run -q --unit={UNIT} sleep infinity")
    pid = host.property("MainPID", UNIT)
    host.wait_for_samples()
    host.sh(f"mkdir -p /run/keplerd-meters /run/keplerd-usage; cat >/run/card.py <<'END'\n{WRITER}END\n"
            f"systemd-run -q --unit=card /usr/bin/python3 /run/card.py {pid}")

    def rows():
        snapshot = host.snapshot()
        unit = next(unit for unit in snapshot["units"] if unit["name"] == UNIT)
        zone = next((zone for zone in snapshot["zones"] if zone["id"] == CARD), {})
        return snapshot, unit, zone
    before = {}

    def drawn():
        snapshot, unit, zone = rows()
        if zone.get("energyMicrojoules", 0) > 0:
            before.setdefault("host", snapshot["status"]["host"]["energyMicrojoules"])
        return of_card(unit) > 200_000_000
    host.wait_until(drawn, 60, "200 J of the card")
    snapshot, unit, zone = rows()
    report.check("the card is in no total", zone["inTotal"] is False and zone["quality"] == "measured", zone)
    report.equal("the host's energy stands still while the card draws", snapshot["status"]["host"]["energyMicrojoules"], before["host"])
    check_sums(report, snapshot, "with a card")
    report.check("who uses it has its energy", 0.9 * zone["energyMicrojoules"] < of_card(unit) <= zone["energyMicrojoules"],
                 (of_card(unit), zone["energyMicrojoules"]))
    process = next(row for row in snapshot["processes"] if row["pid"] == int(pid))
    report.equal("and so has its process", of_card(process), of_card(unit))
    slices = [of_card(row) for row in snapshot["units"] if "parent" not in row]
    report.check("all units have no more than the card", sum(slices) <= zone["energyMicrojoules"], slices)
    report.check("units shows it in a column", "GPU" in host.sh("keplerctl units --no-pager | head -20"))
    host.sh(f"systemctl stop card {UNIT}; rm -r /run/keplerd-meters/testcard /run/keplerd-usage/testcard /run/card.py")


ALL = [card]
