# SPDX-License-Identifier: Apache-2.0
"""keplerd in an ordinary configuration, by default on a simulated source, and its running cost."""
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from listening import listens  # noqa: E402


def uptime():
    print(subprocess.run(["uptime"], check=True, capture_output=True, text=True).stdout.strip(), flush=True)


def run(main):
    """Exits in order: child processes end, too, however this program is ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)


def number_in(pid, file, name):
    """Of a file in /proc/PID: "NAME: NUMBER"."""
    return int(re.search(rf"^{name}:\s*(\d+)", pathlib.Path(f"/proc/{pid}/{file}").read_text(), re.MULTILINE)[1])


def anonymous_bytes(pid):
    return number_in(pid, "smaps_rollup", "Anonymous") * 1024


class Subscriber(threading.Thread):
    """Follows with Monitor, as fast as keplerd samples. How late each report was: from the instant it is of to its receipt,
    both on CLOCK_MONOTONIC."""

    def __init__(self, path, interval_usec, kind):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        parameters = {"intervalUsec": interval_usec} | ({"kind": kind} if kind else {})
        call = {"method": "org.keplerd.Energy.Monitor", "parameters": parameters, "more": True}
        self.socket.sendall(json.dumps(call).encode() + b"\0")
        self.late = []  # microseconds
        self.sequence = 0  # of the last report: how many samples there were
        self.received = threading.Condition()
        self.start()

    def run(self):
        rest = b""
        try:
            while got := self.socket.recv(1 << 20):
                now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
                *messages, rest = (rest + got).split(b"\0")
                for message in messages:
                    # The rows of one report may come in several replies; only the last is not partial.
                    if b'"partial":true' in message:
                        continue
                    with self.received:
                        self.late.append(now - int(re.search(rb'"monotonicUsec":(\d+)', message)[1]))
                        self.sequence = int(re.search(rb'"sequence":(\d+)', message)[1])
                        self.received.notify()
        except OSError:
            pass  # closed

    def wait(self, reports):
        """Waits for this many more reports."""
        with self.received:
            wanted = len(self.late) + reports
            assert self.received.wait_for(lambda: len(self.late) >= wanted, timeout=120), "keplerd tells nothing"

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Daemon:
    def __init__(self, programs, interval, *options, source="simulated"):
        # As on a host: the state on a disk; the socket and the write-ahead log in memory, as /run is.
        self.directories = [tempfile.TemporaryDirectory(prefix="keplerd-bench-", dir=parent) for parent in (None, "/dev/shm")]
        disk, memory = (pathlib.Path(directory.name) for directory in self.directories)
        (disk / "keplerd.conf").write_text("")
        self.socket = memory / "run/org.keplerd.Energy"
        self.address = f"unix:{self.socket}"
        self.control = [programs / "keplerctl", "--varlink", self.address]
        self.process = subprocess.Popen(
            [programs / "keplerd", "--config", disk / "keplerd.conf", "--bus", "none", "--source", source,
             "--runtime-dir", memory / "run", "--state-dir", disk / "state", "--interval", interval, *options],
            stderr=subprocess.DEVNULL)
        while not listens(self.socket):
            assert self.process.poll() is None, "keplerd has ended"
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        for directory in self.directories:
            directory.cleanup()

    def ask(self, *verb):
        return json.loads(subprocess.run([*self.control, "--json=short", *verb], check=True, capture_output=True, text=True).stdout)

    def measure(self, seconds):
        """Makes no calls meanwhile: they would change the pace."""
        clock = (~self.process.pid << 3) | 2  # its CPU clock
        begin, cpu = time.monotonic(), time.clock_gettime(clock)
        wakes = number_in(self.process.pid, "status", "voluntary_ctxt_switches")
        time.sleep(seconds)
        cpu, span = time.clock_gettime(clock) - cpu, time.monotonic() - begin
        wakes = number_in(self.process.pid, "status", "voluntary_ctxt_switches") - wakes
        return {"core": cpu / span, "wakes": wakes / span, "anonymous": anonymous_bytes(self.process.pid)}

    def system_calls(self, subscriber, reports):
        """By name, all threads' in the course of so many reports, mean of one sample. At a rate of 1 s only: strace comes and
        goes between two. It stops the daemon at each call, so that nothing can be timed meanwhile."""
        with tempfile.NamedTemporaryFile("r", prefix="keplerd-strace-") as out:
            subscriber.wait(1)
            time.sleep(0.3)
            before = subscriber.sequence
            tracer = subprocess.Popen(["strace", "-qq", "-f", "-c", "-U", "calls,name", "-o", out.name, "-p", str(self.process.pid)])
            subscriber.wait(reports)
            time.sleep(0.3)
            samples = subscriber.sequence - before
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
            calls = re.findall(r"^ +(\d+) (\w+)$", out.read(), re.MULTILINE)
        return {name: int(number) / samples for number, name in calls if name != "total"}
