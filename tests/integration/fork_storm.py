# SPDX-License-Identifier: Apache-2.0
"""200 processes a second, compilers, and rows that are followed meanwhile and must add up to what the host used actively."""
import json
import os
import random
import re
import time


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def fork(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def storm(per_second=200):
    """Processes that live for milliseconds."""
    begun, done = time.monotonic(), 0
    while True:
        if done >= (time.monotonic() - begun) * per_second:
            time.sleep(0.002)
            continue
        os.waitpid(fork(lambda: burn(0.002)), 0)
        done += 1


def build(seed):
    """A compiler after the other, each with an assembler."""
    times = random.Random(seed)

    def compile_one():
        burn(times.uniform(0.05, 0.4))
        os.waitpid(fork(lambda: burn(0.03)), 0)
    while True:
        os.waitpid(fork(compile_one), 0)
        times.random()


class Rows:
    """Those of one kind, kept up to date by Monitor."""

    def __init__(self, connection, kind):
        self.socket, self.received = connection, b""
        message = {"method": "org.keplerd.Energy.Monitor", "parameters": {"kind": kind}, "more": True}
        self.socket.sendall(json.dumps(message).encode() + b"\0")
        self.rows, self.tick = {}, {}

    def next(self):
        """Until the next sample is complete."""
        while True:
            while b"\0" not in self.received:
                received = self.socket.recv(1 << 20)
                assert received, "keplerd closed the connection"
                self.received += received
            message, _, self.received = self.received.partition(b"\0")
            reply = json.loads(message)
            assert "error" not in reply, reply
            self.tick = reply["parameters"]
            for gone in self.tick.get("removed", ()):
                del self.rows[gone]
            for row in self.tick.get("rows", ()):
                self.rows[row["id"]] = row
            if not self.tick.get("partial"):
                return

    def close(self):
        self.socket.close()


def wrong_sums(status, units, processes):
    """All sums of one sample that are not exact, and the energy of processes without rows."""
    accounts, host = status["accounts"], status["host"]
    active = host["energyMicrojoules"] - host["idleMicrojoules"]
    other = sum(unit["otherMicrojoules"] for unit in units.values()) + status["outsideOtherMicrojoules"]
    shown = sum(process["unitMicrojoules"] for process in processes.values())
    sums = {"active": (host["activeMicrojoules"], active),
            "accounts": (sum(accounts.values()), host["energyMicrojoules"]),
            "idle": (accounts["idle"], host["idleMicrojoules"]),
            "processes and other": (shown + other + accounts["kernel"] + accounts["unattributed"], active)}
    members = dict.fromkeys(units, 0)
    for process in processes.values():
        if "unit" in process:
            members[process["unit"]] += process["unitMicrojoules"]
    for unit in units.values():
        sums[unit["id"]] = unit["ownMicrojoules"], unit["otherMicrojoules"] + members[unit["id"]]
    return {what: values for what, values in sums.items() if values[0] != values[1]}, other


def exported_watts(series):
    """By zone, in millionths: of all processes and `other`, and of the host."""
    sums = {}
    for line, value in series.items():
        if match := re.match(r'kepler_(process|node)_cpu_(active_)?watts\{.*zone="(.*?)"', line):
            if match[1] == "process" or match[2]:
                key = match[3], match[1]
                sums[key] = sums.get(key, 0) + round(float(value) * 1e6)
    return sums


def next_sample(units, processes, status):
    """The status of the next sample of which the rows of both kinds are there; None if it was missed."""
    units.next()
    for rows in (units, processes):
        while rows.tick["sequence"] < max(units.tick["sequence"], processes.tick["sequence"]):
            rows.next()
    found = status()
    return found if found["sequence"] == units.tick["sequence"] == processes.tick["sequence"] else None
