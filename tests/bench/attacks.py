#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How fast keplerd and keplerd-exporter answer honest clients while others attack them (tests/attack), and what that
costs. As root. See docs/performance.md, Attacks.

usage: attacks.py PROGRAMS SOURCE [--seconds N] [--groups N] [ATTACK...]
"""
import argparse
import contextlib
import pathlib
import re
import socket
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "attack")]

import bus_attacks  # noqa: E402
import http_attacks  # noqa: E402
import varlink_attacks  # noqa: E402
from attackers import Attackers  # noqa: E402
from cgroup2 import cgroup_root  # noqa: E402
from exporter_host import Exporter  # noqa: E402
from private_bus import Client, PrivateBus  # noqa: E402
from running import run, uptime  # noqa: E402
from stage import EVERY_SECOND, JOE, SUBUIDS, Stage, bus_policy, deaf_polkit, forget_peak, get, peak  # noqa: E402

INTERVAL = 1.0  # seconds
EVERY = 0.05  # between two calls of root
LONGEST = 120  # that one is waited for
MIB = 2**20
HONEST, AMONG_THEM = "127.0.0.1", "127.0.0.2"
SECRET = "$2y$10$WplY1yIRfnoNA9l1ad3QWOqpcEpiOk6rYz200MA28OkRe.IZ9Gjo6"  # "secret"
QUESTION = varlink_attacks.call("GetStatus")


class Asker(threading.Thread):
    """Asks keplerd for its status at fixed times; an answer's latency is from that time on, so that what comes late makes
    those behind it late, too."""

    def __init__(self, path, seconds, anew):
        super().__init__(daemon=True)
        self.path, self.seconds, self.anew = path, seconds, anew
        self.latencies, self.failed = [], 0
        self.connection = None
        self.start()

    def run(self):
        begin = time.monotonic()
        for i in range(round(self.seconds / EVERY)):
            due = begin + i * EVERY
            time.sleep(max(0, due - time.monotonic()))
            try:
                self.ask()
                self.latencies.append(time.monotonic() - due)
            except OSError:
                self.failed += 1
                self.connection = None

    def ask(self):
        if self.connection is None or self.anew:
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.settimeout(LONGEST)
            self.connection.connect(self.path)
        self.connection.sendall(QUESTION)
        answer = b""
        while not answer.endswith(b"\0"):
            part = self.connection.recv(1 << 16)
            if not part:
                raise ConnectionResetError
            answer += part
        if self.anew:
            self.connection.close()

    def text(self):
        if not self.latencies:
            return "never"
        ordered = sorted(self.latencies)
        values = (ordered[len(ordered) // 2], ordered[(99 * len(ordered) - 1) // 100], ordered[-1])
        return " / ".join(milliseconds(value) for value in values) + (f" ({self.failed} failed)" if self.failed else "")


def milliseconds(seconds):
    return f"{1000 * seconds:.{1 if seconds < 0.01 else 0}f}"


class Follower(threading.Thread):
    """When each sample was taken, by Monitor."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(path)
        self.connection.sendall(varlink_attacks.call("Monitor", more=True))
        self.samples = []  # sequence, seconds
        self.start()

    def run(self):
        rest = b""
        with contextlib.suppress(OSError):
            while got := self.connection.recv(1 << 16):
                *messages, rest = (rest + got).split(b"\0")
                for message in messages:
                    values = [re.search(rb'"%s":(\d+)' % name, message) for name in (b"sequence", b"monotonicUsec")]
                    if all(values):
                        self.samples.append((int(values[0][1]), int(values[1][1]) / 1e6))

    def within(self, begin, end):
        """How many samples were taken, and how many of them were late by more than half an interval."""
        taken = [sample for sample in self.samples if begin <= sample[1] <= end]
        if not taken:
            return 0, "all"
        late = 0
        for (one, at), (other, then) in zip(taken, taken[1:]):
            # Where reports were left out, the time between two of them is that of all the samples in between.
            late += other - one if then - at > (other - one) * INTERVAL + INTERVAL / 2 else 0
        return taken[-1][0] - taken[0][0] + 1, late + (end - taken[-1][1] > 1.5 * INTERVAL)


class Cost:
    """A process's CPU time and memory from now on."""

    def __init__(self, process):
        self.pid, self.clock = process.pid, (~process.pid << 3) | 2
        self.begin, self.used = time.monotonic(), time.clock_gettime(self.clock)
        forget_peak(self.pid)

    def text(self):
        used, span = time.clock_gettime(self.clock) - self.used, time.monotonic() - self.begin
        return f"{100 * used / span:.0f} % | {peak(self.pid) / MIB:.0f} MiB"


def watch(daemon, seconds):
    """What root gets for so long."""
    follower = Follower(daemon.socket)
    time.sleep(0.2)
    begin, cost = time.clock_gettime(time.CLOCK_MONOTONIC), Cost(daemon.process)
    askers = [Asker(daemon.socket, seconds, anew) for anew in (False, True)]
    time.sleep(seconds)
    end, spent = time.clock_gettime(time.CLOCK_MONOTONIC), cost.text()
    samples, late = follower.within(begin, end)
    return askers, f"{samples} | {late} | {spent}"


class Varlink:
    """What users do to the socket, on a host where joe has made many cgroups."""
    TITLE = "varlink, {groups:,} cgroups of the attacker's"
    ATTACKS = {
        "nothing": [],
        "pipelined_lists": [(JOE, varlink_attacks.pipelined_lists)],
        "four_subuids": [(SUBUIDS + i, varlink_attacks.pipelined_lists) for i in range(4)],
        "whole_lists": [(JOE, varlink_attacks.whole_lists)],
        "deaf": [(JOE, varlink_attacks.deaf)],
        "pinning": [(JOE, varlink_attacks.pinning)] + [(SUBUIDS + i, varlink_attacks.pinning) for i in range(3)],
        "dripping": [(JOE, varlink_attacks.dripping)],
        "garbage": [(JOE, varlink_attacks.garbage)],
    }
    config = EVERY_SECOND

    def __init__(self, options):
        self.options = options

    def stage(self):
        return Stage(groups=self.options.groups, real=True)

    @contextlib.contextmanager
    def daemon(self, stage):
        with stage.daemon(self.options.programs / "keplerd", self.config) as daemon:
            yield daemon, daemon.socket

    def run(self, wanted):
        names = [name for name in self.ATTACKS if name in wanted]
        if not names:
            return
        print(f"\n{self.TITLE.format(groups=self.options.groups)}; root's status each {1000 * EVERY:.0f} ms, ms at 50 % / 99 % "
              "/ most (goal: 100 at 99 %); late: samples by more than half an interval (goal: 1 at most)\n"
              "| attack | on one connection | on new ones | samples | late | a core | memory, most |\n|---|---|---|---|---|---|---|",
              flush=True)
        with self.stage() as stage:
            stage.work()
            for name in names:
                with self.daemon(stage) as (daemon, target), Attackers() as attackers:
                    daemon.status()
                    time.sleep(3)
                    for uid, attack, *arguments in self.ATTACKS[name]:
                        attackers.start(uid, attack, target, *arguments)
                    askers, rest = watch(daemon, self.options.seconds)
                    attackers.end()
                    for asker in askers:
                        asker.join()
                    print(f"| `{name}` | {' | '.join(asker.text() for asker in askers)} | {rest} |", flush=True)


class Processes(Varlink):
    TITLE = "varlink, Public=none, 5,000 processes"
    ATTACKS = {"nothing": [], "processes_of_none": [(JOE, varlink_attacks.whole_lists, "processes")]}
    config = f"{EVERY_SECOND}[Access]\nPublic=none\n"

    def stage(self):
        return Stage(processes=5000)


class Bus(Varlink):
    TITLE = "D-Bus, with a polkit that does not answer; root asks on varlink"
    ATTACKS = {
        "nothing": [],
        "big_questions": [(JOE, bus_attacks.big_questions, 1000)],
        "small_questions": [(JOE, bus_attacks.big_questions, None, 100)] * 4,
        "property_floods": [(JOE, bus_attacks.property_floods)],
        "deaf_property_floods": [(JOE, bus_attacks.deaf_property_floods)],
    }

    def stage(self):
        return Stage(groups=200)

    @contextlib.contextmanager
    def daemon(self, stage):
        root = stage.files.root
        with PrivateBus(root / "bus", bus_policy(self.options.source)) as bus, deaf_polkit(bus, root), \
                stage.daemon(self.options.programs / "keplerd", self.config, bus=bus.address) as daemon:
            client = Client(bus)
            client.wait_for_service()
            client.close()
            yield daemon, bus.address


class Http:
    ATTACKS = {
        "nothing": [],
        "http_dripping": [(http_attacks.dripping, 2300)],
        "http_silent": [(http_attacks.silent, 1000)],
        "http_deaf": [(http_attacks.deaf, 1000)],
        "http_arguments": [(http_attacks.many_arguments,)],
        "http_guessing": [(http_attacks.guessing, 1)],
        "http_guessing_50": [(http_attacks.guessing, 50, 100)],
    }

    def __init__(self, options):
        self.options = options

    def run(self, wanted):
        names = [name for name in self.ATTACKS if name in wanted]
        if not names:
            return
        print("\nkeplerd-exporter, a page of 1,000 units; a scrape from another address until it succeeds, ms at 50 % / most "
              "(goal: 1,000), and five at once from an address of the attack's (goal: 5, within 1 s)\n"
              "| attack | another address | of five, least | a core | memory, most |\n|---|---|---|---|---|", flush=True)
        users = "".join(f"  user{i}: {SECRET}\n" for i in range(1000))
        with Stage(units=1000) as stage:
            stage.work()
            stage.files.write("web.yml", f"basic_auth_users:\n  joe: {SECRET}\n{users}")
            with stage.daemon(self.options.programs / "keplerd") as daemon:
                for name in names:
                    self.attack(stage, daemon, name)

    def attack(self, stage, daemon, name):
        guesses = "guessing" in name
        options = [f"--web-config={stage.files.root / 'web.yml'}"] if guesses else []
        exporter = Exporter(self.options.programs / "keplerd-exporter", daemon.socket, stage.files.root / "exporter.log",
                            "--serve=all", "--processes=0", *options).start()
        known = ("user0", PASSWORD) if guesses else None
        try:
            assert get(exporter.port, password=known) == 200, "no scrape before the attack"
            with Attackers() as attackers:
                for attack, *arguments in self.ATTACKS[name]:
                    attackers.start(0, attack, exporter.port, *arguments)
                cost = Cost(exporter.process)
                spans, least, i = [], 5, 0
                end = time.monotonic() + self.options.seconds
                while time.monotonic() < end:
                    i += 1
                    spans.append(until_served(exporter.port, (f"user{i % 1000}", PASSWORD) if guesses else None))
                    least = min(least, five(exporter.port, known))
                    time.sleep(1)
                spans.sort()
                print(f"| `{name}` | {milliseconds(spans[len(spans) // 2])} / {milliseconds(spans[-1])} | {least} | {cost.text()} |",
                      flush=True)
        finally:
            exporter.close()


PASSWORD = "secret"


def until_served(port, password):
    """Seconds."""
    begin = time.monotonic()
    while time.monotonic() < begin + LONGEST:
        with contextlib.suppress(OSError):
            if get(port, HONEST, password=password) == 200:
                break
        time.sleep(0.01)
    return time.monotonic() - begin


def five(port, password):
    """How many of five scrapes succeed within a second."""
    served = []

    def scrape():
        with contextlib.suppress(OSError):
            if get(port, AMONG_THEM, password=password, timeout=5) == 200:
                served.append(time.monotonic())
    limit = time.monotonic() + 1
    threads = [threading.Thread(target=scrape, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(at < limit for at in served)


def main():
    places = (Varlink, Processes, Bus, Http)
    names = list(dict.fromkeys(name for place in places for name in place.ATTACKS))
    parser = argparse.ArgumentParser(prog="scripts/bench --attack", usage="%(prog)s [--seconds N] [--groups N] [ATTACK...]")
    parser.add_argument("programs", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("source", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, default=30, help="of each attack, by default 30")
    parser.add_argument("--groups", type=int, default=20_000, help="cgroups of the attacker's, by default 20,000")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"by default all of: {', '.join(names)}")
    options = parser.parse_intermixed_args()
    options.programs, options.source = options.programs.resolve(), options.source.resolve()
    if unknown := set(options.attacks) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if cgroup_root() is None:
        raise SystemExit("no cgroup2 here")
    uptime()
    for place in places:
        wanted = set(options.attacks) & set(place.ATTACKS) if options.attacks else set(place.ATTACKS)
        place(options).run(wanted | {"nothing"} if wanted else wanted)
    uptime()


if __name__ == "__main__":
    run(main)
