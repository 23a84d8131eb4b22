#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerctl run on a terminal; and, as root, in scopes that are the kernel's own cgroups.

usage: run_kernel_test.py KEPLERD KEPLERCTL
"""
import json
import os
import pathlib
import pty
import signal
import subprocess
import unittest

from cgroup2 import cgroup_root
from exporter_host import wait_until
from open_files import open_files
from run_host import KEPLERCTL, KEPLERD, WithAManager
from written_host import Daemon

STORM = 300
AFTERWARDS = 50_000  # microseconds of CPU time: the end of keplerctl's own process in the scope


def connections(process):
    """How many sockets it has open."""
    return sum(name.startswith("socket:") for name in open_files(process.pid))


def sleeps(process):
    stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    return stat.rpartition(") ")[2].startswith("S")


class Terminal:
    """A shell script with job control on a terminal of its own."""

    def __init__(self, script, environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for number in (signal.SIGINT, signal.SIGQUIT):  # ignored if the test runs in the background
                signal.signal(number, signal.SIG_DFL)
            os.execvpe("bash", ["bash", "-c", f"set -m; {script}"], environment | {"TERM": "dumb"})

    def expect(self, text):
        """Reads until there is this text, and returns what was in front of it."""
        seen = b""
        while text.encode() not in seen:
            seen += os.read(self.fd, 1)
        return seen.decode(errors="replace")

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)  # the processes on it are hung up
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class OnATerminal(WithAManager):
    def open(self, script):
        environment = self.environment() | {"RUN": f"{KEPLERCTL} --varlink=/nonexistent run"}
        terminal = Terminal(script, environment)
        self.addCleanup(terminal.close)
        terminal.type("first\n")
        # Not a shell, which may miss a signal while it starts a program.
        terminal.expect("got:first\r\n")
        return terminal

    def test_an_interrupt_ends_the_command_and_the_report_follows(self):
        terminal = self.open("$RUN sed -u s/^/got:/; echo status=$?")
        terminal.type("\x03")
        self.assertIn("     Exit status: 130\r\n", terminal.expect("status=130\r\n"))

    def stop_and_continue(self, command):
        terminal = self.open(command)
        terminal.type("\x1a")
        terminal.expect("stopped=148\r\n")
        terminal.type("word\n")
        terminal.expect("got:word\r\n")
        terminal.type("\x04")
        return terminal

    def test_it_can_be_stopped_and_continued(self):
        terminal = self.stop_and_continue("$RUN sed -u s/^/got:/; echo stopped=$?; fg; echo status=$?")
        self.assertIn("         Command: sed -u s/^/got:/\r\n", terminal.expect("status=0\r\n"))

    def test_a_shell_in_it_has_job_control(self):
        terminal = self.stop_and_continue(
            "$RUN bash -c 'set -m; sed -u s/^/got:/; echo stopped=$?; fg; exit 7'; echo status=$?")
        terminal.expect("status=7\r\n")


class OnThisKernel(WithAManager):
    def setUp(self):
        root = cgroup_root()
        if root is None or os.geteuid() != 0:
            self.skipTest("no cgroup2, or not root")
        self.root = root / f"keplerd-run-test-{os.getpid()}"
        try:
            self.root.mkdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made here: {error}")
        self.addCleanup(self.remove_groups)
        self.cgroup = str(self.root)
        super().setUp()
        # Of itself, keplerd keeps no process that has ended.
        self.start_daemon("[Sampling]\nInterval=200ms\n[Workloads]\nTerminatedMax=0\n")

    def start_daemon(self, config):
        self.daemon = Daemon(KEPLERD, self.host, "--source", "simulated", "--cgroupfs", self.root, here=True, config=config)
        self.addCleanup(self.daemon.stop)
        self.daemon.status()

    def remove_groups(self):
        for directory in (*self.root.iterdir(), self.root):
            if directory.is_dir():
                directory.rmdir()

    def cpu_time(self, scope):
        """When the scope is over."""
        used = pathlib.Path(f"{self.requests}.{scope}")
        while not used.exists():
            self.assertIsNone(self.manager.poll())
        return int(used.read_text().split()[1])

    def start(self, name, *command, options=()):
        return subprocess.Popen(
            [KEPLERCTL, "--varlink", self.daemon.socket, "-j", "run", f"--unit={name}", *options, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())

    def report(self, process):
        output, errors = process.communicate(timeout=120)
        self.assertEqual((process.returncode, output), (0, ""), errors)
        return json.loads(errors)["run"]

    def expect_whole(self, report, scope):
        """The CPU time is that which the kernel counted."""
        self.assertNotIn("problem", report)
        left_out = self.cpu_time(scope) - report["cpuUsec"]
        self.assertGreaterEqual(left_out, 0)
        self.assertLess(left_out, AFTERWARDS)

    def test_short_processes_are_whole(self):
        report = self.report(self.start("storm", "sh", "-c", f"for i in $(seq {STORM}); do /bin/true; done"))
        self.expect_whole(report, "storm.scope")
        # Each takes some 500 us, most of it to start.
        self.assertGreater(report["cpuUsec"], STORM * 100)
        self.assertGreater(report["energyMicrojoules"], 0)

    def test_programs_that_have_ended_are_listed_however_little_they_used(self):
        script = "for program in md5sum sha1sum; do head -c 500000000 /dev/zero | $program >/dev/null; done"
        report = self.report(self.start("programs", "sh", "-c", script))
        used = {program["comm"]: program["energyMicrojoules"] for program in report["processes"]}
        self.assertLessEqual({"md5sum", "sha1sum"}, set(used))
        self.assertEqual(sum(used.values()) + report.get("otherMicrojoules", 0), report["energyMicrojoules"])

    def run_over_a_restart(self, number):
        burn = "for i in $(seq 300000); do :; done"
        go_on = pathlib.Path(self.host.root, "go-on")
        os.mkfifo(go_on)
        over = pathlib.Path(self.host.root, "over")
        process = self.start("restarted", "sh", "-c",
                             f"{burn}; echo >&2; read x <{go_on}; until [ -e {over} ]; do :; done")
        process.stderr.readline()
        connected, accepted = connections(process), connections(self.daemon.process)
        self.daemon.stop(number)
        wait_until(lambda: connections(process) < connected, "the loss of keplerd")
        self.start_daemon("[Sampling]\nInterval=200ms\n")
        # Programs that end before keplerd is followed again are not kept. Counted on keplerd's side: a socket of
        # keplerctl may be that of a refused attempt. When keplerctl sleeps, it has sent its request; after two
        # replies, keplerd has handled it.
        wait_until(lambda: connections(self.daemon.process) == accepted and sleeps(process), "the connection to the new keplerd")
        for _ in range(2):
            self.daemon.status()
        go_on.write_text("\n")
        # In the scope: it may have used some before, which is restored.
        wait_until(lambda: any(row["comm"] == "sh" and row["unit"].endswith("/restarted.scope") and row["unitMicrojoules"] > 0
                               for row in self.daemon.rows("processes").values() if "unit" in row), "energy of the program")
        over.touch()
        report = self.report(process)
        self.assertEqual(report["problem"],
                         "keplerd was restarted during the run: what was used until it ran again may be missing")
        self.assertGreater(report["energyMicrojoules"], 0)
        self.assertLessEqual(report["cpuUsec"], self.cpu_time("restarted.scope"))
        return report

    def test_a_restart_of_keplerd_meanwhile_is_reported(self):
        report = self.run_over_a_restart(signal.SIGTERM)
        self.assertIn("sh", [program["comm"] for program in report["processes"]])

    def test_a_crash_of_keplerd_meanwhile_is_reported(self):
        self.run_over_a_restart(signal.SIGKILL)

    def test_a_command_that_is_over_at_once_is_whole(self):
        report = self.report(self.start("short", "true"))
        self.expect_whole(report, "short.scope")

    def test_parallel_runs_have_their_own_energy_and_no_more_than_the_host(self):
        before = self.daemon.status()["host"]["energyMicrojoules"]
        burn = "for i in $(seq 200000); do :; done"
        runs = [self.start(name, "sh", "-c", burn) for name in ("a", "b", "c")]
        reports = [self.report(run) for run in runs]
        for report, name in zip(reports, "abc"):
            self.expect_whole(report, f"{name}.scope")
            self.assertGreater(report["energyMicrojoules"], 0)
        used = self.daemon.status()["host"]["energyMicrojoules"] - before
        self.assertLess(sum(report["energyMicrojoules"] for report in reports), used)

    def test_what_still_runs_is_named(self):
        # Until its exec, the child of the shell is "sh", too.
        script = """sleep 1000 >/dev/null 2>&1 &
                    until read -r comm < /proc/$!/comm && [ "$comm" = sleep ]; do :; done
                    echo $! >&2; exec true"""
        process = self.start("left", "sh", "-c", script)
        pid = int(process.stderr.readline())
        report = self.report(process)
        os.kill(pid, signal.SIGKILL)
        self.cpu_time("left.scope")
        self.assertEqual(report["stillRunning"], [f"sleep (PID {pid})"])

    def test_what_is_waited_for_is_whole_and_the_status_is_that_of_the_command(self):
        child = "for i in $(seq 100000); do :; done"
        process = self.start("waited", "sh", "-c", f"({child}) >/dev/null 2>&1 & exit 5", options=["--wait"])
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 5)
        report = json.loads(errors)["run"]
        self.expect_whole(report, "waited.scope")
        self.assertNotIn("stillRunning", report)

    def test_a_wait_ends_with_a_signal_and_the_report_is_made(self):
        process = self.start("endless", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >&2", options=["--wait"])
        pid = int(process.stderr.readline())
        processes = self.root / "endless.scope/cgroup.procs"
        while processes.read_text().count("\n") != 2:  # the command runs
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        report = self.report(process)
        self.assertEqual(report["stillRunning"], [f"sleep (PID {pid})"])
        os.kill(pid, signal.SIGKILL)
        self.cpu_time("endless.scope")

    def test_what_leaves_the_scope_is_counted_elsewhere(self):
        other = self.root / "other"
        other.mkdir()
        leave = f"echo $$ > {other}/cgroup.procs; for i in $(seq 100000); do :; done"
        report = self.report(self.start("leaver", "sh", "-c", leave))
        self.expect_whole(report, "leaver.scope")
        outside = int((other / "cpu.stat").read_text().split()[1])
        self.assertGreater(outside, report["cpuUsec"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
