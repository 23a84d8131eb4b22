#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What answering ListProcesses with 2,000 rows costs keplerd, with and without details: CPU time and memory.

usage: dbus_rows.py KEPLERD        on a written host and a private bus; needs dbus-daemon and python3-gi
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
        clock = (~pid << 3) | 2  # its CPU clock
        for details in (False, True):
            options = {"limit": GLib.Variant("u", ROWS), "details": GLib.Variant("b", details)}
            assert len(client.list("Processes", **options)) == ROWS
            before, used = anonymous_kib(pid), time.clock_gettime(clock)
            for _ in range(CALLS):
                client.list("Processes", **options)
            cost = (time.clock_gettime(clock) - used) / CALLS
            print(f"details {'on ' if details else 'off'}: {cost * 1e3:.1f} ms CPU a call, {cost / ROWS * 1e6:.1f} us a row; "
                  f"anonymous memory {before} KiB before, {anonymous_kib(pid)} KiB after {CALLS} calls")
        client.close()
        daemon.stop()
    host.remove()


if __name__ == "__main__":
    main()
