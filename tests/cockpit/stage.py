#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A written host that lives, with keplerd, keplerd-history, and cockpit-ws with this tree's page. Sockets have their usual paths,
in a mount namespace of its own: needs root.

usage: stage.py PROGRAMS PORT      PROGRAMS: where keplerd, keplerctl and keplerd-history are; shows the page until Ctrl-C
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "integration"))
sys.dont_write_bytecode = True
from open_files import open_files  # noqa: E402
from written_host import WrittenHost  # noqa: E402

JOE = 65534  # nobody
SOCKETS = ["/run/keplerd", "/run/keplerd-history"]
UUID = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01"
HOSTILE = ["\u202egnp.exe", "\x1b[31mred", "<img src=x onerror=alert(1)>", "ملف" * 20, "n" * 240]
# Groups, and the CPU time that each uses, in thousandths of a CPU.
GROUPS = {"/system.slice": 0, "/system.slice/db.service": 300, "/system.slice/web.service": 250, "/system.slice/cron.service": 1,
          "/machine.slice": 0, "/user.slice": 0, f"/user.slice/user-{JOE}.slice": 0,
          f"/user.slice/user-{JOE}.slice/session-3.scope": 120,
          **{f"/system.slice/small-{number}.service": 1 for number in range(60)},
          **{f"/system.slice/{name}.service": 2 for name in HOSTILE}}
MACHINES = {"shop": (UUID, 900), "mail": (UUID.replace("2b", "3b"), 400), "build-1": (UUID.replace("2b", "5b"), 200),
            "build-2": (UUID.replace("2b", "6b"), 180), "wiki": (UUID.replace("2b", "7b"), 90),
            "<b>bold\u202e</b>" + "x" * 9000: (UUID.replace("2b", "4b"), 20)}
CPUS, TICK = 8, 0.1


class LivingHost(WrittenHost):
    def __init__(self):
        super().__init__()
        self.used, self.energy, self.busy, self.idle = {}, 0, 0.0, 0.0
        self.uses = dict(GROUPS)
        for number, (name, (uuid, use)) in enumerate(MACHINES.items(), 1):
            scope = f"/machine.slice/machine-qemu-{number}.scope"
            self.uses[scope] = use
            self.machine(200 + number, name, uuid, scope)
        self.write("keplerd.conf", "[Sampling]\nInterval=1s\n[Attribution]\nSplit=usage-ratio\nShare=cpu-time\n")
        self.advance(0)
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.live, daemon=True)

    def machine(self, pid, name, uuid, scope):
        self.process(pid, 0, comm="qemu-system-x86", group=scope)
        self.write(f"proc/{pid}/cmdline", f"qemu-system-x86_64\0-name\0guest={name}\0-uuid\0{uuid}\0-S\0")
        self.write(f"proc/{pid}/status", "Name:\tqemu\nUid:\t0\t0\t0\t0\n")

    def advance(self, seconds):
        load = sum(self.uses.values()) / 1000
        self.busy += load * seconds * 100
        self.idle += (CPUS - load) * seconds * 100
        self.energy += int(seconds * (30 + 12 * load + 3 * (int(time.monotonic()) % 3)) * 1e6)
        self.zone("intel-rapl:0", "package-0", 1_000_000 + self.energy)
        self.zone("intel-rapl:0:0", "dram", 1_000_000 + self.energy // 8)
        self.ticks(int(1000 + self.busy), int(1000 + self.idle))
        for path, use in self.uses.items():
            self.used[path] = self.used.get(path, 0) + use * seconds * 1000
        for path, usec in self.used.items():
            inside = sum(value for other, value in self.used.items() if other.startswith(path + "/"))
            number = re.search(r"machine-qemu-(\d+)", path)
            self.group(path, int(usec + inside), [200 + int(number[1])] if number else ())

    def live(self):
        before = time.monotonic()
        while not self.ending.wait(TICK):
            now = time.monotonic()
            self.advance(now - before)
            before = now

    def start(self):
        self.thread.start()

    def stop(self):
        self.ending.set()
        self.thread.join()
        self.remove()


def own_namespace():
    """Runs this program again, where the sockets are its own."""
    if os.environ.get("KEPLERD_STAGE") != "here":
        os.environ["KEPLERD_STAGE"] = "here"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B", *sys.argv])
    for directory in SOCKETS:
        pathlib.Path(directory).mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", directory], check=True)


class Stage:
    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.host = LivingHost()
        self.root = self.host.root
        self.root.chmod(0o755)
        self.running = {}
        self.commands = self.root / "bin"
        self.commands.mkdir()
        shutil.copy(self.programs / "keplerctl", self.commands)
        # Instead of systemd's. What it is asked for is for a test to see, and to do.
        (self.commands / "systemctl").write_text(f"#!/bin/sh\necho \"$@\" >>{self.root}/systemctl.log\n")
        (self.commands / "systemctl").chmod(0o755)
        self.asked = self.root / "systemctl.log"
        self.asked.touch()
        self.asked.chmod(0o666)
        # Copies, because other users may not be able to read the tree.
        shutil.copytree(SOURCE / "cockpit", self.root / "data/cockpit/keplerd")
        (self.root / "cost.conf").write_text("[Cost]\nPrice=0.31\nCurrency=EUR\n[Carbon]\nIntensity=350\n")
        self.host.start()

    def start(self, name, *command, **options):
        with open(self.root / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

    def stop(self, name):
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)

    def keplerd(self):
        host = self.root
        self.start("keplerd", self.programs / "keplerd", "--config", host / "keplerd.conf", "--bus", "none", "--state-dir",
                   host / "state", "--sysfs", host / "sys", "--procfs", host / "proc", "--cgroupfs", host / "cgroup")

    def history(self):
        self.start("history", self.programs / "keplerd-history", "--state-dir", self.root / "history", "--bus", "none",
                   "--interval", "1", "--cost-config", self.root / "cost.conf")

    def cockpit(self, port, user=None):
        """Cockpit, logged in as root or as this user, at the address that is returned."""
        environment = {**os.environ, "HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root / "config"),
                       "XDG_DATA_HOME": str(self.root / "data"), "LANG": "C.UTF-8",
                       "PATH": f"{self.commands}:{os.environ['PATH']}"}
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        self.start(f"cockpit-{port}", *become, "/usr/lib/cockpit/cockpit-ws", "--local-session", "/usr/bin/cockpit-bridge",
                   "--no-tls", "--address", "127.0.0.1", "--port", port, env=environment)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return f"http://localhost:{port}/cockpit/@localhost/keplerd/index.html"
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise RuntimeError((self.root / f"cockpit-{port}.log").read_text())

    def followers(self):
        """How many connections keplerd has, apart from those of keplerd-history."""
        listed = subprocess.run(["ss", "-xH", "state", "connected", "src", f"{SOCKETS[0]}/org.keplerd.Energy"],
                                capture_output=True, text=True, check=True).stdout
        own = self.sockets_of("history")
        # The last column is the inode of the client's socket.
        return sum(f"socket:[{line.split()[-1]}]" not in own for line in listed.splitlines())

    def sockets_of(self, name):
        return set(open_files(self.running[name].pid)) if name in self.running else set()

    def end(self):
        for name in list(self.running):
            self.stop(name)
        self.host.stop()


def main():
    own_namespace()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    stage = Stage(pathlib.Path(sys.argv[1]).resolve())
    try:
        stage.keplerd()
        stage.history()
        while True:  # it ends with its only session
            print(stage.cockpit(int(sys.argv[2])), flush=True)
            stage.running[f"cockpit-{sys.argv[2]}"].wait()
    except KeyboardInterrupt:
        pass
    finally:
        stage.end()


if __name__ == "__main__":
    main()
