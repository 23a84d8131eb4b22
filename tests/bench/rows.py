#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a list of 2,000 processes costs keplerd on varlink, and on D-Bus with and without details: CPU time and memory.

usage: rows.py KEPLERD        on a written host and a private bus; needs dbus-daemon and python3-gi
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from gi.repository import GLib  # noqa: E402
from private_bus import Client, PrivateBus  # noqa: E402
from written_host import Daemon, WrittenHost  # noqa: E402

ROWS, CALLS = 2000, 20


def anonymous_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")))


def measure(pid, name, call):
    clock = (~pid << 3) | 2  # its CPU clock
    before, used = anonymous_kib(pid), time.clock_gettime(clock)
    for _ in range(CALLS):
        call()
    cost = (time.clock_gettime(clock) - used) / CALLS
    print(f"{name}: {cost * 1e3:.1f} ms of CPU time per call, {cost / ROWS * 1e6:.1f} us per row; anonymous memory "
          f"{before} KiB before, {anonymous_kib(pid)} KiB after {CALLS} calls")


def main():
    host = WrittenHost()
    host.zone("intel-rapl:0", "package-0", 1_000_000)
    for pid in range(10, 10 + ROWS):
        host.process(pid, 100)
    with PrivateBus(host.root / "bus") as bus:
        daemon = Daemon(sys.argv[1], host, bus=bus.address, config="[Sampling]\nInterval=0\nStaleness=30s\n")
        client = Client(bus)
        client.wait_for_service()
        pid = daemon.process.pid
        assert len(daemon.rows("processes")) == ROWS
        measure(pid, "varlink", lambda: daemon.rows("processes"))
        for details in (False, True):
            options = {"limit": GLib.Variant("u", ROWS), "details": GLib.Variant("b", details)}
            assert len(client.list("Processes", **options)) == ROWS
            measure(pid, f"D-Bus, details {'on' if details else 'off'}", lambda: client.list("Processes", **options))
        client.close()
        daemon.stop()
    host.remove()


if __name__ == "__main__":
    main()
