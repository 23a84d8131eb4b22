# SPDX-License-Identifier: Apache-2.0
"""A host written as files, and a keplerd that reads it and samples on demand."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from listening import listens


class WrittenHost:
    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-integration-"))
        self.write("proc/sys/kernel/random/boot_id", "0f0f\n")
        self.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n")
        (self.root / "cgroup").mkdir()
        self.ticks(busy=1000, idle=1000)

    def remove(self):
        shutil.rmtree(self.root)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # Replaced atomically: keplerd may be reading it.
        new = self.root / f"new-{os.getpid()}-{threading.get_ident()}"
        new.write_bytes(text.encode(errors="surrogateescape"))
        new.replace(file)

    def ticks(self, busy, idle):
        self.write("proc/stat", f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 {busy} 0 0 {idle} 0 0 0 0 0 0\n")

    def zone(self, directory, name, energy, reach=262143328850):
        top = directory.split(":")
        path = "/".join(":".join(top[:i]) for i in range(1, len(top) + 1))
        for file, text in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", reach)):
            self.write(f"sys/devices/virtual/powercap/{path}/{file}", f"{text}\n")
        link = self.root / "sys/class/powercap" / directory
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(f"../../devices/virtual/powercap/{path}")

    def group(self, path, usec, pids=()):
        self.write(f"cgroup{path}/cpu.stat", f"usage_usec {usec}\nuser_usec {usec}\nsystem_usec 0\n")
        self.write(f"cgroup{path}/cgroup.procs", "".join(f"{pid}\n" for pid in pids))

    def process(self, pid, ticks, comm="task", start=100, group="/"):
        rest = f"S 1 {pid} {pid} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} 1000000 100" + " 0" * 28
        self.write(f"proc/{pid}/stat", f"{pid} ({comm}) {rest}\n")
        self.write(f"proc/{pid}/cgroup", f"0::{group}\n")
        self.write(f"proc/{pid}/comm", f"{comm}\n")


class Daemon:
    """keplerd on a written host, or on this very one with its own files; ends with `with`."""

    def __init__(self, program, host, *options, config="[Sampling]\nInterval=0\nStaleness=0\n", bus="none", here=False):
        if not here:
            options += ("--sysfs", host.root / "sys", "--procfs", host.root / "proc", "--cgroupfs", host.root / "cgroup")
        host.write("keplerd.conf", config)
        (host.root / "state").mkdir(exist_ok=True)
        self.socket = str(host.root / "run/org.keplerd.Energy")
        self.log = open(host.root / "log", "a+")
        self.process = subprocess.Popen(
            [program, "--config", host.root / "keplerd.conf", "--bus", bus, "--runtime-dir", host.root / "run",
             "--state-dir", host.root / "state", *options], stderr=self.log)
        while not listens(self.socket):
            assert self.process.poll() is None, pathlib.Path(host.root / "log").read_text()
            time.sleep(0.01)
        self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.log.close()
        if self.connection is not None:
            self.connection.close()
        return self.process.wait(timeout=60)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket)
        return connection

    def call(self, method, more=False, **parameters):
        if self.connection is None:
            self.connection = stream_of(self.connect())
        message = {"method": f"org.keplerd.Energy.{method}", "parameters": parameters, "more": more}
        self.connection.write(json.dumps(message).encode() + b"\0")
        self.connection.flush()
        replies = []
        while True:
            reply = json.loads(read_message(self.connection))
            assert "error" not in reply, reply
            replies.append(reply["parameters"])
            if not reply.get("continues"):
                return replies if more else replies[0]

    def status(self):
        return self.call("GetStatus")

    def rows(self, kind):
        return {reply["row"]["id"]: reply["row"] for reply in self.call("List", more=True, kind=kind) if "row" in reply}

    def resident(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0


def stream_of(connection):
    with connection:  # the stream keeps it open
        return connection.makefile("rwb")


def read_message(stream):
    message = bytearray()
    while (byte := stream.read(1)) != b"\0":
        assert byte, "the daemon closed the connection"
        message += byte
    return message
