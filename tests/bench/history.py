#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A year of history of 1,000 VMs and 2,000 units, as keplerd-history stores it: the size of the file, and the time of a year's
report with one price, with two prices a day, and with the carbon intensity of each hour.

usage: history.py BIN_DIRECTORY [DIRECTORY]

The database, of some 600 MB, is made in DIRECTORY, by default a temporary one.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1])
VMS, UNITS = 1000, 2000
HOUR = 3_600_000_000
YEAR_BEGIN = 1_735_689_600_000_000  # 2025-01-01 00:00 UTC
DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
RATES = {
    "one price": "[Cost]\nCurrency=EUR\nPrice=0.32\n[Carbon]\nIntensity=380\n",
    "two prices a day": "[Cost]\nCurrency=EUR\nPrice=0.32\nPrice=0.24 22:00-06:00\n",
    "an intensity each hour": "[Carbon]\nIntensity={csv}\n",
}


def start(directory):
    daemon = subprocess.Popen([BIN / "keplerd-history", "--varlink", directory / "none", "--state-dir", directory / "state",
                               "--runtime-dir", directory / "run", "--config", "/dev/null", "--cost-config",
                               directory / "cost.conf"], env={"TZ": "UTC"}, stderr=subprocess.DEVNULL)
    while not (directory / "run/org.keplerd.History").exists():
        assert daemon.poll() is None, "keplerd-history has ended"
        time.sleep(0.01)
    return daemon


def add_spans(database):
    """Hours, days and months, each part of the next; their energy is the sum of what is in them."""
    number, begin = 1_000_000, YEAR_BEGIN
    for days in DAYS_OF_MONTHS:
        month, month_begin = number, begin
        number += 1
        for _ in range(days):
            day, day_begin = number, begin
            number += 1
            for _ in range(24):
                database.execute("INSERT INTO spans VALUES (?, 2, ?, ?, ?, 7200, 0, ?, 0, ?)",
                                 (number, begin, begin + HOUR, HOUR, (VMS + UNITS) * 1000, day))
                number, begin = number + 1, begin + HOUR
            database.execute("INSERT INTO spans SELECT ?, 3, ?, ?, sum(recorded), sum(idle), 0, sum(workloads), 0, ? FROM spans "
                             "WHERE part_of = ?1", (day, day_begin, begin, month))
        database.execute("INSERT INTO spans SELECT ?, 4, ?, ?, sum(recorded), sum(idle), 0, sum(workloads), 0, NULL FROM spans "
                         "WHERE part_of = ?1", (month, month_begin, begin))


def fill(file):
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA synchronous = OFF")
        for number in range(1, VMS + UNITS + 1):
            kind, name = ("vms", f"vm-{number}") if number <= VMS else ("units", f"/system.slice/unit-{number}.service")
            database.execute("INSERT INTO workloads VALUES (?, ?, ?, 0, ?, ?, 1, '')", (number, kind, name, name, YEAR_BEGIN))
        add_spans(database)
        for step, hours in ((2, 1), (3, 24), (4, 730)):
            database.execute("INSERT INTO energy SELECT spans.number, workloads.number, ?2 * (1000 + workloads.number % 7) * 1000, 0 "
                             "FROM spans CROSS JOIN workloads WHERE step = ?1 ORDER BY 1, 2", (step, hours))
        database.execute("INSERT INTO last_reading VALUES (1, ?, 'i', 0, 0, 0, 0)", (YEAR_BEGIN + 8760 * HOUR,))


def measure(directory, words):
    began = time.monotonic()
    shown = subprocess.run([BIN / "keplerctl", "report", "-j", "--history", directory / "run/org.keplerd.History", "--since",
                            "2025-01-01", "--until", "2026-01-01", *words], capture_output=True, env={"TZ": "UTC"}, check=True)
    return time.monotonic() - began, json.loads(shown.stdout)["report"]


def main(directory):
    (directory / "cost.conf").write_text("")
    daemon = start(directory)  # makes the tables
    daemon.terminate()
    daemon.wait()
    fill(directory / "state/history.sqlite")
    print(f"{(directory / 'state/history.sqlite').stat().st_size / 1e6:.0f} MB")
    hours = (f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(YEAR_BEGIN / 1e6 + hour * 3600))},{300 + hour % 97}\n"
             for hour in range(8760))
    (directory / "grid.csv").write_text("datetime,carbon intensity\n" + "".join(hours))
    daemon = start(directory)
    for name, text in RATES.items():
        (directory / "cost.conf").write_text(text.format(csv=directory / "grid.csv"))
        measured = [measure(directory, ["--by", "vm"]) for _ in range(1)]
        assert "meanRateUsec" not in measured[0][1] and len(measured[0][1]["rows"]) == VMS
        print(f"a year's report by VM, {name}: {min(seconds for seconds, _ in measured):.2f} s")
    daemon.terminate()
    daemon.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as made:
        main(pathlib.Path(made))
