#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What keplerd costs beside Kepler, Alumet and Scaphandre: those that are in PATH, on the same processes and the same meter, at
the same time. Each at its defaults, and then with a sample and a scrape once a second. As root, in namespaces of its own: of
mounts, because on a host without powercap, all of them read one whose counter is driven here; and of processes, because Kepler
ends a sample at a process whose program it may not read, as in a container. See docs/performance.md.

usage: peers.py PROGRAMS [PROCESSES GROUPS ACTIVE]
"""
import argparse
import contextlib
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

from real_host import load
from running import Daemon, anonymous_bytes, run, uptime

MIB, KIB = 2**20, 2**10
ROUNDS = 12
WARM_UP = 3  # rounds
SCRAPE = 5  # s, where the period is the program's own
PORT = 28290


class Meter:
    """A package of 50 W, as the kernel's powercap shows it. It is laid over /sys, where a directory cannot be made."""

    ZONE = "intel-rapl/intel-rapl:0"

    def __init__(self, place):
        self.zone = place / "devices/powercap" / self.ZONE
        self.zone.mkdir(parents=True)
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text("262143328850\n")
        (self.zone / "energy_uj").write_text("0\n")
        links = place / "class/powercap"
        links.mkdir(parents=True)
        for name in ("intel-rapl", self.ZONE):
            (links / pathlib.Path(name).name).symlink_to(f"../../devices/virtual/powercap/{name}")
        for ours, theirs in (("devices", "/sys/devices/virtual"), ("class", "/sys/class")):
            subprocess.run(["mount", "-t", "overlay", "keplerd-meter", "-o", f"lowerdir={place / ours}:{theirs}", theirs], check=True)
        self.ended = threading.Event()
        threading.Thread(target=self.drive, daemon=True).start()

    def drive(self):
        begin = time.monotonic()
        while not self.ended.wait(0.1):
            (self.zone / "energy_uj").write_text(f"{int((time.monotonic() - begin) * 50e6)}\n")


@contextlib.contextmanager
def meter():
    if pathlib.Path("/sys/class/powercap/intel-rapl:0/energy_uj").exists():
        print("Meter: this host's own")
        yield
        return
    with tempfile.TemporaryDirectory(prefix="keplerd-peers-") as place:
        driven = Meter(pathlib.Path(place))
        print("Meter: a written one, laid over /sys")
        try:
            yield
        finally:
            driven.ended.set()
            for over in ("/sys/class", "/sys/devices/virtual"):
                subprocess.run(["umount", "--lazy", over], check=True)


def kepler(port, period, _):
    return [f"--web.listen-address=127.0.0.1:{port}", *([f"--monitor.interval={period}s"] if period else [])]


def alumet(port, period, place):
    plugins = ["--config", place / "alumet.toml", "--plugins", "rapl,procfs,prometheus-exporter"]
    subprocess.run(["alumet-agent", *plugins, "config", "regen"], check=True, capture_output=True)
    settings = ["rapl.no_perf_events=true", "prometheus-exporter.host='127.0.0.1'", f"prometheus-exporter.port={port}"]
    if period:
        often = f"poll_interval='{period}s', flush_interval='{period}s'"
        settings += [f"rapl.flush_interval='{period}s'", f"procfs.processes.refresh_interval='{period}s'",
                     f"procfs.processes.groups=[{{exe_regex='', {often}, memory_mode='quick'}}]"]
    return [*plugins, *(word for setting in settings for word in ("--config-override", f"plugins.{setting}"))]


def scaphandre(port, _period, _place):  # takes a sample with each scrape
    return ["prometheus", "-a", "127.0.0.1", "-p", str(port)]


OTHERS = {"kepler": kepler, "alumet-agent": alumet, "scaphandre": scaphandre}


def scrape(port):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read()


class Measured:
    """A program, and the port on which it is scraped; none: another one's scrape includes it."""

    def __init__(self, name, process, port=None):
        self.name, self.process, self.port = name, process, port
        self.clock = (~process.pid << 3) | 2  # its CPU clock
        self.latencies, self.size = [], 0

    def wait(self):
        for _ in range(150):
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(OSError):
                scrape(self.port)
                return True
            time.sleep(0.2)
        return False

    def begin(self):
        self.latencies.clear()
        self.cpu = time.clock_gettime(self.clock)

    def scrape(self):
        if self.port:
            begin = time.monotonic()
            self.size = len(scrape(self.port))
            self.latencies.append(time.monotonic() - begin)

    def show(self, rounds):
        cpu = (time.clock_gettime(self.clock) - self.cpu) / rounds
        answer = f"{1e3 * statistics.median(self.latencies):7.1f} ms {self.size / KIB:8.0f} KiB" if self.port else ""
        print(f"  {self.name:18}{1e3 * cpu:8.1f} ms {anonymous_bytes(self.process.pid) / MIB:8.1f} MiB {answer}", flush=True)


@contextlib.contextmanager
def started(name, *arguments, place):
    with (place / f"{pathlib.Path(name).name}.log").open("w") as log:
        process = subprocess.Popen([name, *arguments], stdout=log, stderr=subprocess.STDOUT, cwd=place)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def beside(programs, period):
    """All of them at once, each scraped once in a period (unset: SCRAPE)."""
    each = period or SCRAPE
    print(f"{f'A sample every {period} s' if period else 'At their defaults'}, scraped every {each} s:")
    with contextlib.ExitStack() as stack:
        place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keplerd-peers-")))
        daemon = stack.enter_context(Daemon(programs, "1s", source="powercap"))
        exporter = stack.enter_context(started(programs / "keplerd-exporter", "--varlink", daemon.address, "--listen",
                                               f"127.0.0.1:{PORT}", "--serve=all", "--processes=1000", place=place))
        measured = [Measured("keplerd", daemon.process), Measured("keplerd-exporter", exporter, PORT)]
        for number, (name, arguments) in enumerate(OTHERS.items(), 1):
            if not shutil.which(name):
                print(f"  {name:18}not in PATH")
                continue
            port = PORT + number
            measured.append(Measured(name, stack.enter_context(started(name, *arguments(port, period, place), place=place)), port))
        for one in list(measured):
            if one.port and not one.wait():
                last = (place / f"{one.name}.log").read_text(errors="replace").strip().rpartition("\n")[2]
                print(f"  {one.name:18}does not answer: {last}")
                measured.remove(one)
        for done in range(WARM_UP + ROUNDS):
            if done == WARM_UP:
                for one in measured:
                    one.begin()
            begin = time.monotonic()
            for one in measured:
                one.scrape()
            time.sleep(max(0.0, begin + each - time.monotonic()))
        print(f"  {'':18}{'CPU in ' + str(each) + ' s':>11}{'anonymous':>13}{'a scrape':>11}{'its size':>13}")
        for one in measured:
            one.show(ROUNDS)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --peers", usage="%(prog)s [PROCESSES GROUPS ACTIVE]")
    parser.add_argument("programs", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("sizes", type=int, nargs="*", help="by default 2000 200 100")
    options = parser.parse_args()
    if len(options.sizes) not in (0, 3):
        parser.error("sizes are PROCESSES GROUPS ACTIVE")
    processes, groups, active = options.sizes or [2000, 200, 100]
    uptime()
    print(f"{processes} processes in {groups} cgroups, {active} active", flush=True)
    with load(options.programs, processes, processes, groups, active), meter():
        for period in (None, 1):
            beside(options.programs.resolve(), period)
    uptime()


if __name__ == "__main__":
    run(main)
