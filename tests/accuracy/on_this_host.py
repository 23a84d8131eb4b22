#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the division of energy is from the truth, on this very host: stress-ng alone and in pairs, see docs/accuracy.md.

keplerd records an idle minute, each load alone, and pairs of loads in random order; the recording is then divided under three
rules. Needs root, cgroup2, stress-ng and an energy meter, and nothing else that runs. Exit status: 0; 1: failed; 2: bad usage;
3: this host has no meter, or lacks what is needed; 130: interrupted.

usage: scripts/accuracy --on-this-host [--for TIME] [--seed N] [--dry-run]
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import protocol  # noqa: E402
from cgroup2 import cgroup_root  # noqa: E402

RULES = {"usage ratio": ("usage-ratio", "cpu-time"), "floor x CPU": ("baseline", "cpu-time"), "learned": ("baseline", "learned")}
METHODS = ("matrixprod", "fibonacci", "queens", "float64")
UNUSABLE = 3
MOST_OTHERS = 0.03  # of the CPUs, in the idle segment
SHORTEST, LONGEST, IDLE = 20, 120, 60  # seconds of a segment


class Unusable(Exception):
    """Why this cannot work on this host."""


def parse_time(text):
    found = re.fullmatch(r"(\d+)(s|min|h)?", text)
    seconds = int(found[1]) * {"s": 1, "min": 60, "h": 3600, None: 1}[found[2]] if found else 0
    if not 0 < seconds <= 7 * 86400:
        raise argparse.ArgumentTypeError(f"invalid time '{text}' (expected a value like 30min or 2h)")
    return seconds


class Loads:
    """Processes in a cgroup of each load, which are removed in the end, whatever happens."""

    def __init__(self, names, busy_loops):
        root = cgroup_root()
        if root is None:
            raise Unusable("cgroup2 is not mounted; the loads need a cgroup each")
        self.slice = root / f"keplerd-accuracy-{os.getpid()}.slice"
        self.names = names
        self.busy_loops = busy_loops
        self.processes = []

    def __enter__(self):
        try:
            self.slice.mkdir()
        except OSError as error:
            raise Unusable(f"{self.slice}: {error.strerror}; run this as root, where cgroups can be created") from error
        return self

    def __exit__(self, *_):
        self.stop()
        for group in self.slice.iterdir():
            if group.is_dir():
                group.rmdir()
        self.slice.rmdir()

    def path(self, load):
        """As keplerd names it."""
        return f"/{self.slice.name}/{load}.service"

    def start(self, load):
        method, _, threads = load.partition("-")
        group = self.slice / f"{load}.service"
        group.mkdir(exist_ok=True)
        procs = group / "cgroup.procs"
        if self.busy_loops:
            command = f"ulimit -t 60; for i in $(seq {threads}); do while :; do :; done & done; wait"
        else:
            # It ends by itself should nobody be left to end it.
            command = f"exec stress-ng --quiet --cpu {threads} --cpu-method {method} --timeout {LONGEST + 60}s"
        self.processes.append(subprocess.Popen(["sh", "-c", f"echo $$ >{procs} && {command}"], start_new_session=True,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))

    def stop(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for group in self.slice.glob("*.service"):  # what has left the session
            for pid in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        for process in self.processes:
            process.wait()
        self.processes = []
        for group in self.slice.glob("*.service"):
            deadline = time.monotonic() + 10
            while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
                time.sleep(0.01)


class Daemon:
    """A keplerd of its own, beside the one that may run as a service."""

    def __init__(self, programs, directory, source, interval):
        self.ctl = [programs / "keplerctl", "--varlink", directory / "run/org.keplerd.Energy", "--json=short"]
        for name in ("run", "state"):
            (directory / name).mkdir()
        # Without the configuration of this host: rules and sources are those of the protocol.
        (directory / "keplerd.conf").write_text("")
        self.process = subprocess.Popen(
            [programs / "keplerd", "--config", directory / "keplerd.conf", "--bus", "none", "--runtime-dir", directory / "run",
             "--state-dir", directory / "state", "--source", source, "--interval", interval],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def status(self):
        for _ in range(100):
            asked = subprocess.run([*self.ctl, "status"], capture_output=True, text=True, check=False)
            if asked.returncode == 0:
                return json.loads(asked.stdout)
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"keplerd does not answer: {asked.stderr.strip()}")

    def record(self, file):
        return subprocess.Popen([*self.ctl, "record", file, "--duration=200h", "--max-size=2G"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_meter(status, dry_run):
    source = status["source"]
    if dry_run or source.get("quality") in ("measured", "modelled"):
        return
    raise Unusable(f"no energy meter: {source.get('reason') or source['name']}. Without one there is no truth to compare with; "
                   "'keplerctl doctor' shows what is missing, and --dry-run tries the protocol with invented numbers")


def await_end(name, number, count, seconds):
    """Shows the progress on a terminal, and waits for the end of a segment."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{number} of {count}: {name}, {left:.0f} s left", end="", file=sys.stderr, flush=True)
        time.sleep(min(1, left))
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def run_segments(loads, segments):
    """The times at which each began and ended, in microseconds since 1970."""
    times = []
    for number, segment in enumerate(segments, 1):
        begun = time.time_ns() // 1000
        for load in segment.loads:
            loads.start(load)
        await_end(" and ".join(segment.loads) or "idle", number, len(segments), segment.seconds)
        times.append((begun, time.time_ns() // 1000))
        loads.stop()
    return times


def readings(programs, directory, trace, rule, every, loads):
    """Of every so many samples of a recording divided under a rule: its time, the energy of the host, its idle energy, those of the
    loads, and how busy the CPUs were."""
    split, share = RULES[rule]
    config = directory / "rule.conf"
    config.write_text(f"[Attribution]\nSplit={split}\nShare={share}\n")
    replay = subprocess.Popen([programs / "keplerd", "--config", config, "--replay", trace, "--every", str(every)], stdout=subprocess.PIPE,
                              text=True)
    paths = {loads.path(load): load for load in loads.names}
    status = None
    for line in replay.stdout:
        answer = json.loads(line)
        if "host" in answer:
            status = answer
        if "units" not in answer:
            continue
        active = {paths[unit["id"]]: unit["activeMicrojoules"] for unit in answer["units"] if unit["id"] in paths}
        host = status["host"]
        busy = host.get("windowBusyUsec", 0) / max(1, host.get("windowCpuUsec", 0))
        yield status["realtimeUsec"], host["energyMicrojoules"], host["idleMicrojoules"], active, busy
    if replay.wait() != 0:
        raise RuntimeError("the recording cannot be divided")


def measure(programs, directory, trace, every, loads, segments, times):
    """The powers of each segment, without those with too few samples; and how busy the CPUs were in the idle segment."""
    by_rule = {rule: list(readings(programs, directory, trace, rule, every, loads)) for rule in RULES}
    measured, others = [], 0
    for segment, (begun, ended) in zip(segments, times):
        settled = begun + min(10_000_000, (ended - begun) // 5)  # a load has to start, and a processor to heat up
        inside = [i for i, reading in enumerate(by_rule["learned"]) if settled <= reading[0] <= ended]
        if len(inside) < 2:
            continue
        first, last = inside[0], inside[-1]
        if not segment.loads:
            others = max(by_rule["learned"][i][4] for i in inside)
        idle, active = {}, {}
        for rule, all_readings in by_rule.items():
            a, b = all_readings[first], all_readings[last]
            usec = b[0] - a[0]
            watts = (b[1] - a[1]) / usec
            idle[rule] = (b[2] - a[2]) / usec
            active[rule] = {load: (b[3].get(load, 0) - a[3].get(load, 0)) / usec for load in segment.loads}
        measured.append(protocol.Measured(segment.loads, watts, idle, active))
    return measured, others


def names_of_loads(cpus):
    """Each method with a different number of threads, so that any two fit on the CPUs."""
    return [f"{method}-{max(1, cpus * part // 8)}" for method, part in zip(METHODS, (3, 2, 3, 4))]


def protocol_of(options, programs, directory):
    with Loads(names_of_loads(len(os.sched_getaffinity(0))), options.dry_run) as loads:
        idle, shortest, longest = (1, 0.5, 0.5) if options.dry_run else (IDLE, SHORTEST, LONGEST)
        segments = protocol.plan(loads.names, options.seconds, idle, shortest, longest, options.seed)
        with Daemon(programs, directory, "simulated" if options.dry_run else "auto", "50ms" if options.dry_run else "1s") as daemon:
            status = daemon.status()
            check_meter(status, options.dry_run)
            total = sum(segment.seconds for segment in segments)
            source = status["source"]
            if options.dry_run:
                print("SIMULATED: no meter is read, the numbers are invented and say nothing about the rules.\n")
            print(f"{len(segments)} segments, {total / 60:.0f} min; meter {source['name']}, {source['quality']}.", flush=True)
            trace = directory / "trace"
            recorder = daemon.record(trace)
            try:
                times = run_segments(loads, segments)
                if options.dry_run:
                    time.sleep(0.2)
            finally:
                recorder.send_signal(signal.SIGINT)
                recorder.wait()
        measured, others = measure(programs, directory, trace, 1 if options.dry_run else 5, loads, segments, times)
        if not protocol.is_complete(measured):
            raise RuntimeError("too few samples: the host is too busy, or --for= too short")
        if len(measured) < len(segments):
            print(f"{len(segments) - len(measured)} segments had too few samples, and are left out.")
        if others > MOST_OTHERS:
            print(f"The host was not quiet: {100 * others:.0f} % of its CPUs were busy without the loads. The errors are wrong.")
        print("\n" + protocol.table(measured, list(RULES)))


def main():
    parser = argparse.ArgumentParser(prog="scripts/accuracy --on-this-host")
    parser.add_argument("programs", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--for", type=parse_time, default=1800, dest="seconds", metavar="TIME", help="take about TIME (default: 30min)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another random order")
    parser.add_argument("--dry-run", action="store_true", help="some seconds with invented numbers, to try the protocol")
    options = parser.parse_args()
    if options.dry_run:
        options.seconds = 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    try:
        if not options.dry_run and shutil.which("stress-ng") is None:
            raise Unusable("stress-ng is not installed: apt install stress-ng")
        with tempfile.TemporaryDirectory(prefix="keplerd-accuracy-") as directory:
            protocol_of(options, options.programs.resolve(), pathlib.Path(directory))
    except Unusable as why:
        print(f"{parser.prog}: {why}", file=sys.stderr)
        return UNUSABLE
    except RuntimeError as why:
        print(f"{parser.prog}: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
