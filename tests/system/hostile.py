#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names that would harm a terminal or a reader, and what they must be shown as. Run in the booted host it makes
cgroups and processes that are named so, and is there until it is ended."""
import os
import pathlib
import signal
import subprocess
import sys
import time

# Each as it is, and as it must be shown.
CGROUPS = [
    (b"esc\x1b[2J\x1b]0;owned\x07", r"esc\x1b[2J\x1b]0;owned\x07"),
    (b"latin\xff\xfe\x80", r"latin\xff\xfe\x80"),
    ("c1\u009b31m".encode(), r"c1\xc2\x9b31m"),
    ("\u202egnp.exe".encode(), r"\xe2\x80\xaegnp.exe"),
    (b"literal\\x1b", r"literal\x5cx1b"),
    (b"tab\tcr\rbs\x08del\x7f", r"tab\x09cr\x0dbs\x08del\x7f"),
    (b"quote\"'\\ {\xe2\x82\xac}", "quote\"'\\ {\u20ac}"),
    (b"n" * 255, "n" * 255),
    (b"\x1b" * 255, r"\x1b" * 255),
    (b"docker-\x1b[31m.scope", r"docker-\x1b[31m.scope"),
]
COMM = (b"\x1b[31mred\r\n\xff", r"\x1b[31mred\x0d\x0a\xff")
MACHINE = (b"evil\x1b]0;owned\x07\nsecond", r"evil\x1b]0;owned\x07\x0asecond")
MACHINE_UUID = "0badc0de-0000-4000-8000-0123456789ab"
TOP = pathlib.Path("/sys/fs/cgroup/hostile")


def work():
    while True:
        until = time.monotonic() + 0.01
        while time.monotonic() < until:
            pass
        time.sleep(0.05)


def start_in(group):
    child = os.fork()
    if child == 0:
        (group / "cgroup.procs").write_text("0")
        work()
    return child


def start_called(comm):
    child = os.fork()
    if child == 0:
        pathlib.Path("/proc/self/comm").write_bytes(comm)
        work()
    return child


def main():
    children = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    TOP.mkdir()
    machine = None
    try:
        for name, _ in CGROUPS:
            group = TOP / os.fsdecode(name)
            group.mkdir()
            children.append(start_in(group))
        children.append(start_called(COMM[0]))
        machine = subprocess.Popen([b"qemu-system-x86_64", b"-name", MACHINE[0], b"-uuid", MACHINE_UUID.encode(),
                                    b"-machine", b"q35", b"-accel", b"tcg,tb-size=32", b"-m", b"64", b"-S",
                                    b"-nodefaults", b"-display", b"none"])
        signal.pause()
    finally:
        if machine:
            machine.kill()
            machine.wait()
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for name, _ in CGROUPS:
            (TOP / os.fsdecode(name)).rmdir()
        TOP.rmdir()


if __name__ == "__main__":
    main()
