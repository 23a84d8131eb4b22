#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd-history with 1,000 VMs and 2,000 units, all of which draw in every minute: what recording a minute costs, the size of
the database after a year, and the time of a year's report with one price, with two prices a day, and with the carbon intensity of
each hour; and how long another client waits meanwhile.

usage: history.py BIN_DIRECTORY [DIRECTORY]

The database, of some 300 MB, is made in DIRECTORY, by default a temporary one.
"""
import json
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from listening import listens  # noqa: E402

BIN = pathlib.Path(sys.argv[1])
VMS, UNITS = 1000, 2000
MINUTES = 60
SECOND, HOUR = 1_000_000, 3_600_000_000
YEAR_BEGIN = 1_735_689_600_000_000  # 2025-01-01 00:00 UTC
DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
RATES = {
    "one price": "[Cost]\nCurrency=EUR\nPrice=0.32\n[Carbon]\nIntensity=380\n",
    "two prices a day": "[Cost]\nCurrency=EUR\nPrice=0.32\nPrice=0.24 22:00-06:00\n",
    "an intensity each hour": "[Carbon]\nIntensity={csv}\n",
}


def microjoules(number, hour):
    """What a workload draws in an hour of the day: VMs 5 to 50 W, units 10 mW to 2 W."""
    milliwatts = 5000 + number * 45 if number <= VMS else 10 + number % 200 * 10
    return milliwatts * 3600 * (100 + hour * 7 % 13)


def integer(value):
    """As in keplerd-history(8), DATABASE."""
    packed = bytearray()
    while value >= 0x80:
        packed.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(packed) + bytes([value])


def packed(times, hours):
    """The energies of all workloads in so many times these hours."""
    return b"".join(integer(1) + integer(times * sum(microjoules(number, hour) for hour in hours)) + integer(0)
                    for number in range(1, VMS + UNITS + 1))


def start(directory, *options):
    daemon = subprocess.Popen([BIN / "keplerd-history", "--state-dir", directory / "state", "--runtime-dir", directory / "run",
                               "--bus", "none", "--config", "/dev/null", "--cost-config", directory / "cost.conf", *options],
                              env={"TZ": "UTC"}, stderr=subprocess.DEVNULL)
    while not listens(directory / "run/org.keplerd.History"):
        assert daemon.poll() is None, "keplerd-history has ended"
        time.sleep(0.01)
    return daemon


def stop(daemon):
    daemon.terminate()
    assert daemon.wait() == 0


def fill(file):
    """A year of hours, days and months, each part of the next; their energy is the sum of what is in them."""
    hours = [packed(1, [hour]) for hour in range(24)]
    of_hour = [sum(microjoules(number, hour) for number in range(1, VMS + UNITS + 1)) for hour in range(24)]
    day_energies, months = packed(1, range(24)), {days: packed(days, range(24)) for days in set(DAYS_OF_MONTHS)}
    number, begin = 1, YEAR_BEGIN
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA synchronous = OFF")

        def add(step, begin, end, drawn, part_of, energies):
            nonlocal number
            database.execute("INSERT INTO spans VALUES (?, ?, ?, ?, ?, 7200, 0, ?, 0, ?)",
                             (number, step, begin, end, end - begin, drawn, part_of))
            database.execute("INSERT INTO energies VALUES (?, ?)", (number, energies))
            number += 1
            return number - 1

        for workload in range(1, VMS + UNITS + 1):
            kind, name = ("vms", f"vm-{workload}") if workload <= VMS else ("units", f"/system.slice/unit-{workload}.service")
            database.execute("INSERT INTO workloads VALUES (?, ?, ?, 0, ?, ?, 1, '', '')",
                             (workload, kind, name, name, YEAR_BEGIN + 8760 * HOUR))
        for days in DAYS_OF_MONTHS:
            month = add(4, begin, begin + days * 24 * HOUR, days * sum(of_hour), None, months[days])
            for _ in range(days):
                day = add(3, begin, begin + 24 * HOUR, sum(of_hour), month, day_energies)
                for hour in range(24):
                    add(2, begin, begin + HOUR, of_hour[hour], day, hours[hour])
                    begin += HOUR
        database.execute("INSERT INTO last_reading VALUES (1, ?, 'i', 0, 0, 0, 0)", (begin,))


class FakeKeplerd(threading.Thread):
    """Sends a sample each second: what keplerd sends to keplerd-history each minute."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen()
        self.sent = 0

    def rows(self, kind, sample):
        for number in range(1, VMS + 1) if kind == "vms" else range(VMS + 1, VMS + UNITS + 1):
            name = f"vm-{number}" if kind == "vms" else f"/system.slice/unit-{number}.service"
            yield {"id": name, "name": name, "kind": kind, "ownerUid": 0, "sinceUsec": YEAR_BEGIN,
                   "activeMicrojoules": sample * microjoules(number, 0) // 60, "idleMicrojoules": 0}

    def run(self):
        streams = {}
        while len(streams) < 5:
            connection, _ = self.server.accept()
            call = json.loads(connection.makefile("rb").read1(1 << 16).rstrip(b"\0"))
            streams[call["parameters"]["kind"]] = connection
        while True:
            time.sleep(1 - time.time() % 1)
            self.sent += 1
            sample = {"sequence": self.sent, "instanceId": "i", "realtimeUsec": int(time.time()) * SECOND,
                      "accounts": {"idle": self.sent, "kernel": 0, "unattributed": 0,
                                   "workloads": self.sent * sum(microjoules(n, 0) // 60 for n in range(1, VMS + UNITS + 1))}}
            try:
                for kind, connection in streams.items():
                    rows = list(self.rows(kind, self.sent)) if kind in ("vms", "units") else []
                    connection.sendall(json.dumps({"continues": True, "parameters": sample | {"rows": rows}}).encode() + b"\0")
            except OSError:  # keplerd-history has ended
                return


def ask(directory, method, parameters):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(directory / "run/org.keplerd.History"))
        connection.sendall(json.dumps({"method": f"org.keplerd.History.{method}", "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            reply += connection.recv(1 << 20)
        return json.loads(reply[:-1])["parameters"]


def costs(daemon):
    """CPU seconds, and bytes that were written to files."""
    fields = pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
    io = dict(line.split(": ") for line in pathlib.Path(f"/proc/{daemon.pid}/io").read_text().splitlines())
    return (int(fields[11]) + int(fields[12])) / 100, int(io["wchar"])


def record(directory):
    """A reading a second instead of one a minute, and a write after each fifth."""
    keplerd = FakeKeplerd(directory / "keplerd")
    keplerd.start()
    daemon = start(directory, "--varlink", directory / "keplerd", "--interval", "1")
    while keplerd.sent < 3:
        time.sleep(0.1)
    before, first = costs(daemon), keplerd.sent
    while keplerd.sent < first + MINUTES:
        time.sleep(5 - time.time() % 5 + 0.5)
        ask(directory, "GetStatus", {})
    minutes = keplerd.sent - first
    cpu, written = (after - begun for after, begun in zip(costs(daemon), before))
    stop(daemon)
    print(f"recording a minute: {cpu / minutes * 1000:.0f} ms of CPU time, {written / minutes / 1e3:.0f} kB written")


def longest_wait(directory, done):
    """How long a client waits that asks again and again."""
    longest = 0
    while not done.is_set():
        began = time.monotonic()
        ask(directory, "GetStatus", {})
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.002)
    return longest


def measure(directory, daemon, name, by):
    done, waits = threading.Event(), []
    waiter = threading.Thread(target=lambda: waits.append(longest_wait(directory, done)))
    waiter.start()
    before, began = costs(daemon)[0], time.monotonic()
    report = ask(directory, "Report", {"fromUsec": YEAR_BEGIN, "toUsec": YEAR_BEGIN + 8760 * HOUR, "by": by})
    seconds, cpu = time.monotonic() - began, costs(daemon)[0] - before
    done.set()
    waiter.join()
    rows = VMS if by == "vm" else UNITS
    assert "meanRateUsec" not in report and len(report["rows"]) == rows, report.keys()
    print(f"a year's report by {by}, {name}: {seconds:.2f} s, {cpu:.2f} s of CPU time; another client waits for "
          f"{waits[0] * 1000:.0f} ms at most")


def main(directory):
    (directory / "cost.conf").write_text("")
    record(directory)
    for file in (directory / "state").iterdir():
        file.unlink()
    stop(start(directory, "--varlink", directory / "none"))  # makes the tables
    fill(directory / "state/history.sqlite")
    print(f"a year: {(directory / 'state/history.sqlite').stat().st_size / 1e6:.0f} MB")
    hours = (f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(YEAR_BEGIN / 1e6 + hour * 3600))},{300 + hour % 97}\n"
             for hour in range(8760))
    (directory / "grid.csv").write_text("datetime,carbon intensity\n" + "".join(hours))
    daemon = start(directory, "--varlink", directory / "none")
    for name, text in RATES.items():
        for by in ("vm", "unit"):
            (directory / "cost.conf").write_text(text.format(csv=directory / "grid.csv") + f"# {by}\n")
            measure(directory, daemon, name, by)
    stop(daemon)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as made:
        main(pathlib.Path(made))
