# SPDX-License-Identifier: Apache-2.0
"""The target: keplerd on a written host where a user has created many cgroups, if requested with a bus and a polkit that
never answers. Its users: joe, who attacks; eve, who does not; root."""
import contextlib
import http.client
import json
import multiprocessing
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import time

from cgroup2 import cgroup_root
from http_attacks import basic
from users import user
from varlink_attacks import call
from written_host import Daemon, WrittenHost, read_message, stream_of

JOE, EVE = pwd.getpwnam("games").pw_uid, pwd.getpwnam("mail").pw_uid  # the bus wants users that exist
SUBUIDS, SUBUIDS_EACH = 100_000, 65_536  # joe's
IN_A_GROUP = 20_000  # processes that keplerd distinguishes
LIMIT = 30  # seconds in which honest callers are answered
SLICE = f"/user.slice/user-{JOE}.slice"
EVERY_SECOND = "[Sampling]\nInterval=1s\n"


class Stage:
    """A host that draws energy, twice a second if it is to work. `groups`: cgroups of joe's; `real`: these in the kernel's
    cgroup2 and processes in its /proc, where quiet ones cost a sample next to nothing; on a written host each is opened
    every time. `processes`: of joe's, and `units` of the system; `real` has neither."""

    def __init__(self, groups=0, real=False, processes=0, units=0):
        self.files = WrittenHost()
        self.files.root.chmod(0o755)
        self.files.write("root/etc/passwd", "".join(f"{name}:x:{uid}:{uid}::/:/bin/sh\n"
                                                    for name, uid in (("root", 0), ("joe", JOE), ("eve", EVE))))
        self.files.write("root/etc/subuid", f"joe:{SUBUIDS}:{SUBUIDS_EACH}\n")
        self.options = ["--root", self.files.root / "root"]
        self.cgroups = cgroup_root() / f"keplerd-attack-{os.getpid()}.slice" if real else None
        if self.cgroups:
            self.cgroups.mkdir()
            for place, instead in (("cgroup", self.cgroups), ("proc", "/proc")):
                shutil.rmtree(self.files.root / place)
                (self.files.root / place).symlink_to(instead)
        for i in range(groups):
            self.make(f"{SLICE}/app-{i:05}.scope")
        for i in range(units):
            self.make(f"/system.slice/{'u' * 100}{i}.service")
        for first in range(1000, 1000 + processes, IN_A_GROUP):
            crowd = range(first, min(first + IN_A_GROUP, 1000 + processes))
            self.files.group(f"{SLICE}/crowd-{first}.scope", 0, crowd)
            for pid in crowd:
                self.files.process(pid, 0, group=f"{SLICE}/crowd-{first}.scope")
                os.chown(self.files.root / f"proc/{pid}", JOE, JOE)
        self.steps = 0
        self.worker = None
        self.step()

    def make(self, path):
        if self.cgroups:
            (self.cgroups / path[1:]).mkdir(parents=True)
            return
        (self.files.root / f"cgroup{path}").mkdir(parents=True)
        (self.files.root / f"cgroup{path}/cpu.stat").write_text("usage_usec 0\n")
        (self.files.root / f"cgroup{path}/cgroup.procs").write_text("")

    def step(self):
        self.steps += 1
        self.files.zone("intel-rapl:0", "package-0", 1_000_000 * self.steps)
        if not self.cgroups:
            self.files.ticks(busy=1000 + 50 * self.steps, idle=1000 + 50 * self.steps)

    def work(self):
        """In a process of its own: this one may be another user now and then."""
        def run():
            while True:
                time.sleep(0.5)
                self.step()
        self.worker = multiprocessing.get_context("fork").Process(target=run, daemon=True)
        self.worker.start()

    def daemon(self, program, config=EVERY_SECOND, **how):
        return Daemon(program, self.files, *self.options, config=config, **how)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        if self.worker:
            self.worker.kill()
            self.worker.join()
        if self.cgroups:
            for directory, _, _ in os.walk(self.cgroups, topdown=False):
                os.rmdir(directory)
        self.files.remove()


@contextlib.contextmanager
def deaf_polkit(bus, directory):
    """A polkit that accepts questions and answers none. Returns the path of a file with its questions."""
    (directory / "polkit").write_text("wait")
    fake = pathlib.Path(__file__).resolve().parent.parent / "integration/access_test.py"
    questions = directory / "polkit.questions"
    with open(questions, "w") as output:
        process = subprocess.Popen([sys.executable, "-B", fake, "--polkit", bus.address, directory / "polkit"], stdout=output)
    try:
        while "ready" not in questions.read_text():
            assert process.poll() is None, "no polkit"
            time.sleep(0.05)
        yield questions
    finally:
        process.kill()
        process.wait()


def bus_policy(source):
    """keplerd's own, on a bus that is otherwise closed but for polkit."""
    from private_bus import CLOSED
    polkit = "org.freedesktop.PolicyKit1"
    return f"""{CLOSED}<include>{source}/dbus/org.keplerd1.conf</include><policy context="default">
        <allow own="{polkit}"/><allow send_destination="{polkit}"/></policy>"""


def connect(daemon, uid):
    """A stream of that user on which a reply may take LIMIT."""
    with user(uid):
        client = daemon.connect()
    client.settimeout(LIMIT)
    return stream_of(client)


def ask(stream, method, more=False, **parameters):
    """The first reply."""
    try:
        stream.write(call(method, more, **parameters))
        stream.flush()
        return json.loads(read_message(stream))
    except TimeoutError:
        raise AssertionError(f"no answer within {LIMIT} s") from None
    except OSError:
        raise AssertionError("the daemon has closed the connection") from None


def close(stream):
    """Whatever has become of it."""
    with contextlib.suppress(OSError):
        stream.close()


def peak(pid):
    """The peak memory of a process, in bytes."""
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) << 10


def forget_peak(pid):
    """Resets peak() (proc_pid_clear_refs(5))."""
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def get(port, source="127.0.0.1", path="/metrics", password=None, timeout=LIMIT):
    """The status of a response that is read completely, on a connection of its own from that address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=(source, 0))
    try:
        connection.request("GET", path, headers={"Authorization": basic(*password)} if password else {})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()
