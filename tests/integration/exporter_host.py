# SPDX-License-Identifier: Apache-2.0
"""keplerd-exporter with a keplerd on a busy written host: units, machines, a container and a pod."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

from written_host import WrittenHost

VM, GONE = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01", "3b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c02"
CONTAINER, POD = "c0ffee" + "0" * 58, "8a4e8f25-1c4c-4f0d-9d0a-1f2e3d4c5b6a"
POD_SLICE = f"/kubepods.slice/kubepods-pod{POD.replace('-', '_')}.slice"


def machine_scope(number):
    return rf"/machine.slice/machine-qemu\x2d{number}\x2dweb.scope"


class WorkingHost:
    """Draws energy and runs: each step another joule of DRAM, two of the package, half of the time busy."""

    def __init__(self):
        self.files = WrittenHost()
        self.files.root.chmod(0o755)
        self.steps = 0
        self.working = threading.Event()
        self.lock = threading.Lock()
        # Group: the processes in it, with what they run.
        self.groups = {"/system.slice": {}, "/system.slice/a.service": {10: "a"}, "/system.slice/b.service": {11: "b"},
                       f"/system.slice/docker-{CONTAINER}.scope": {12: "nginx"}, "/kubepods.slice": {}, POD_SLICE: {},
                       f"{POD_SLICE}/cri-containerd-{'d' * 64}.scope": {13: "pause"}, "/machine.slice": {}}
        self.start_machine(1, 20, "web", VM)
        self.start_machine(2, 21, "gone", GONE)
        self.step()

    def start_machine(self, number, pid, name, uuid):
        self.groups |= {machine_scope(number): {}, f"{machine_scope(number)}/libvirt": {pid: "qemu-system-x86"}}
        self.files.write(f"proc/{pid}/cmdline", f"/usr/bin/qemu-system-x86_64\0-name\0guest={name}\0-uuid\0{uuid}\0-S\0")

    def end_machine(self, number, pid):
        with self.lock:
            del self.groups[machine_scope(number)], self.groups[f"{machine_scope(number)}/libvirt"]
            shutil.rmtree(self.files.root / f"proc/{pid}")
            shutil.rmtree(self.files.root / f"cgroup{machine_scope(number)}")

    def step(self):
        with self.lock:
            self.steps += 1
            n = self.steps
            self.files.zone("intel-rapl:0", "package-0", 2_000_000 * n)
            self.files.zone("intel-rapl:0:0", "dram", 1_000_000 * n)
            self.files.ticks(busy=1000 + 50 * n, idle=1000 + 50 * n)
            for group, processes in self.groups.items():
                inside = sum(len(p) for g, p in self.groups.items() if g == group or g.startswith(group + "/"))
                self.files.group(group, 20_000 * n * inside, processes)
                if group.endswith("/libvirt"):  # threads have groups of their own there
                    for thread, share in (("vcpu0", 15_000), ("emulator", 5_000)):
                        self.files.group(f"{group}/{thread}", share * n)
                        self.files.write(f"cgroup{group}/{thread}/cgroup.type", "threaded\n")
                for pid, comm in processes.items():
                    self.files.process(pid, 2 * n, comm=comm, group=group)

    def work(self):
        """In the background, twice a second, until rest()."""
        self.working.set()

        def run():
            while self.working.is_set():
                self.step()
                time.sleep(0.5)
        self.worker = threading.Thread(target=run, daemon=True)
        self.worker.start()

    def rest(self):
        if self.working.is_set():
            self.working.clear()
            self.worker.join()

    def remove(self):
        self.rest()
        self.files.remove()


class Exporter:
    """The program with a passed socket, as with systemd; the socket stays open when it is restarted."""

    def __init__(self, program, daemon_socket, log, *options, user=None):
        self.command = ["sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh", program, "--varlink", daemon_socket, *options]
        self.user = user
        self.log_file = log
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        def pass_socket():
            os.dup2(self.listening.fileno(), 3)
            os.set_inheritable(3, True)
        with open(self.log_file, "a") as log:
            self.process = subprocess.Popen(self.command, stderr=log, close_fds=False, preexec_fn=pass_socket,
                                            user=self.user, group=self.user, extra_groups=[] if self.user else None)
        return self

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def restart(self):
        status = self.stop()
        self.start()
        return status

    def close(self):
        status = self.stop()
        self.listening.close()
        return status

    def log(self):
        return pathlib.Path(self.log_file).read_text()

    def get(self, path="/metrics", **headers):
        """Status and text."""
        request = urllib.request.Request(self.url + path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def series(self):
        """The value of each, by its name and labels."""
        status, text = self.get()
        assert status == 200, (status, text)
        return parse(text.decode())

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) << 10


def parse(text):
    series = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            assert name not in series, f"twice: {name}"
            series[name] = value
    return series


def names(series):
    return {re.match(r"\w+", line)[0] for line in series}


def wait_until(condition, what, limit=60):
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)
    return value
