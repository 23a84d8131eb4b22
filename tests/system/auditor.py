#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Audits a running keplerd from outside, once a second: whether a joule is lost, counted twice, or goes back. Reads the meter's
own files and keplerd's varlink socket, and shares no code with either side.

usage: auditor.py RESULT SECONDS     on the audited host, as root; SIGTERM ends it as well
RESULT: a JSON object, written again with each look: {"looks", "rows", "outages", "violations": [TEXT, ...], "counted", "metered"}
"""
import glob
import json
import os
import signal
import socket
import sys
import time

ADDRESS = "/run/keplerd/org.keplerd.Energy"
KINDS = ("zones", "units", "processes", "vms", "containers", "pods")
VIOLATIONS_KEPT = 50
MOST_WATTS = 5000  # of a zone: keplerd discards what no host could have drawn, and so does the audit
TERMINATED_MAX = 500  # the default of keplerd.conf(5)


class Outage(Exception):
    """keplerd does not answer: it was killed, or is not started yet."""


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        try:
            self.socket.connect(ADDRESS)
        except OSError as problem:
            raise Outage(problem) from problem
        self.buffer = b""

    def receive(self):
        while b"\0" not in self.buffer:
            try:
                data = self.socket.recv(1 << 20)
            except OSError as problem:
                raise Outage(problem) from problem
            if not data:
                raise Outage("closed")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """All replies."""
        request = {"method": "org.keplerd.Energy." + method, "parameters": parameters, "more": method == "List"}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\0")
        except OSError as problem:
            raise Outage(problem) from problem
        replies = []
        while True:
            reply = self.receive()
            if "error" in reply:
                raise Outage(reply["error"])
            replies.append(reply["parameters"])
            if not reply.get("continues"):
                return replies

    def status(self):
        return self.call("GetStatus")[0]

    def rows(self, kind):
        return [reply["row"] for reply in self.call("List", kind=kind) if reply.get("row")]

    def snapshot(self):
        """Everything of one sample."""
        for _ in range(20):
            status = self.status()
            lists = {kind: self.rows(kind) for kind in KINDS}
            if self.status()["sequence"] == status["sequence"]:
                return status, lists
        raise Outage("20 times, a sample was taken between two answers")


class Meter:
    """The energy of the packages and their DRAM since the start, from the counters."""

    def __init__(self):
        self.files, self.last, self.total = [], {}, 0
        for directory in glob.glob("/sys/class/powercap/intel-rapl:*"):
            with open(directory + "/name") as name:
                if name.read().startswith(("package", "dram")):
                    self.files.append(directory)
        self.read()
        self.total = 0

    def read(self):
        now = time.monotonic()
        for directory in self.files:
            try:
                with open(directory + "/energy_uj") as file:
                    value = int(file.read())
            except (OSError, ValueError):
                continue  # a fault of the meter: its energy is in the next reading
            with open(directory + "/max_energy_range_uj") as file:
                span = int(file.read())
            if directory in self.last:
                value_before, then = self.last[directory]
                possible = MOST_WATTS * 1_000_000 * (now - then)
                step = value - value_before
                if step < 0 and step + span + 1 <= possible:
                    step += span + 1  # it has wrapped; otherwise, it was reset
                if 0 <= step <= possible:
                    self.total += step
            self.last[directory] = (value, now)
        return self.total


class Audit:
    def __init__(self, result):
        self.result, self.meter = result, Meter()
        self.first = self.instance = None
        self.last, self.looks, self.rows, self.outages, self.counted = {}, 0, 0, 0, 0
        self.full, self.looked = set(), 0
        self.violations = []

    def violate(self, text):
        if len(self.violations) < VIOLATIONS_KEPT:
            self.violations.append(f"look {self.looks}: {text}")

    def equal(self, what, have, want):
        if have != want:
            self.violate(f"{what}: {have}, expected {want}")

    def look(self):
        before = self.meter.read()
        try:
            status, lists = Client().snapshot()
        except Outage:
            self.outages += 1
            return
        self.looks += 1
        self.rows += sum(map(len, lists.values()))
        self.check_sums(status, lists)
        self.check_counters(status, lists)
        total = status["host"]["energyMicrojoules"]
        if self.first is None:
            self.first = total - before
        self.counted = total - self.first
        if self.counted > self.meter.read():
            self.violate(f"counted {self.counted} uJ, more than the meter's {self.meter.total}")

    def check_sums(self, status, lists):
        accounts, units, processes = status["accounts"], lists["units"], lists["processes"]
        total = status["host"]["energyMicrojoules"]
        self.equal("the accounts", sum(accounts.values()), total)
        self.equal("the zones", sum(row["energyMicrojoules"] for row in lists["zones"] if row["inTotal"]), total)
        outside = sum(row["unitMicrojoules"] for row in processes if "unit" not in row)
        self.equal("workloads", sum(row["ownMicrojoules"] for row in units) + outside + status["outsideOtherMicrojoules"],
                   accounts["workloads"])
        inside = {}
        for row in units:
            inside[row.get("parent")] = inside.get(row.get("parent"), 0) + row["energyMicrojoules"]
        own = {}
        for row in processes:
            own[row.get("unit")] = own.get(row.get("unit"), 0) + row["unitMicrojoules"]
        for row in units:
            self.equal(f"{row['id']} and its children", row["ownMicrojoules"] + inside.get(row["id"], 0),
                       row["energyMicrojoules"])
            parts = row["otherMicrojoules"] + row.get("undividedMicrojoules", 0) + own.get(row["id"], 0)
            self.equal(f"{row['id']} and its processes", parts, row["ownMicrojoules"])
        for rows in lists.values():
            for row in rows:
                self.equal(f"active and idle of {row['id']}", row["activeMicrojoules"] + row["idleMicrojoules"],
                           row["energyMicrojoules"])

    def check_counters(self, status, lists):
        """What was published never goes back, with the same instance."""
        if status["instanceId"] != self.instance:
            if self.instance is not None:
                self.violate("another instance, although the host was not restarted")
            self.instance, self.last = status["instanceId"], {}
        now = {("host", "host"): status["host"]["energyMicrojoules"]}
        for kind, rows in lists.items():
            ids = [row["id"] for row in rows]
            if len(set(ids)) != len(ids):
                self.violate(f"an id stands twice among {kind}")
            now.update(((kind, row["id"]), row["energyMicrojoules"]) for row in rows)
        began = {(kind, row["id"]): row.get("sinceUsec", 0) for kind, rows in lists.items() for row in rows}
        for key, energy in now.items():
            if energy < self.last.get(key, 0) and not (key[0] in self.full and began.get(key, 0) > self.looked):
                self.violate(f"{key[0]} {key[1]} went back from {self.last[key]} to {energy}")
        # Of the ended ones, those with the least energy are dropped at this number: one that ends and is created again between two
        # looks may begin anew.
        self.full = {kind for kind, rows in lists.items() if sum(row.get("state") == "terminated" for row in rows) >= TERMINATED_MAX}
        self.looked = status.get("realtimeUsec", 0)
        # What is no longer listed may begin anew; VMs of the system are kept for VmRetention=.
        kept = {key: energy for key, energy in self.last.items() if key[0] == "vms"}
        self.last = kept | now

    def write(self):
        partial = self.result + ".part"
        with open(partial, "w") as file:
            json.dump({"looks": self.looks, "rows": self.rows, "outages": self.outages, "violations": self.violations,
                       "counted": self.counted, "metered": self.meter.total}, file)
        os.rename(partial, self.result)


def main():
    result, seconds = sys.argv[1], float(sys.argv[2])
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    audit, end = Audit(result), time.monotonic() + seconds
    while not stopping and time.monotonic() < end:
        due = time.monotonic() + 1
        audit.look()
        audit.write()
        time.sleep(max(0, due - time.monotonic()))


if __name__ == "__main__":
    main()
