#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerctl run, with keplerd on a written host and a manager that only claims to start scopes.

usage: run_test.py KEPLERD KEPLERCTL

The written host draws energy, and the scope's cgroup uses CPU time, when a command writes it.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from run_host import CONFIG, HERE, KEPLERCTL, KEPLERD, SCOPE, WithAManager
from written_host import Daemon


class Run(WithAManager):
    def drawing(self, package, usec):
        """A command after which the package's counter and the CPU time of the scope are these."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from written_host import WrittenHost; import pathlib;"
                "host = WrittenHost.__new__(WrittenHost); host.root = pathlib.Path(sys.argv[2]);"
                f"host.ticks(busy=1100, idle=1000); host.group('/user.slice', {usec}); host.group('{SCOPE}', {usec});"
                f"host.zone('intel-rapl:0', 'package-0', {package})")
        return [sys.executable, "-B", "-c", code, str(HERE), str(self.host.root)]

    def test_reports_what_its_scope_has_used(self):
        result = self.run_command("--json=short", "run", "--label=build", "--", *self.drawing(31_000_000, 1_000_000),
                                  daemon=self.start_daemon())
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        report = json.loads(result.stderr)["run"]
        self.assertEqual(report["energyMicrojoules"], 30_000_000)
        self.assertEqual(report["activeMicrojoules"], 30_000_000)
        self.assertEqual(report["cpuUsec"], 1_000_000)
        self.assertEqual(report["hostActiveMicrojoules"], 30_000_000)
        self.assertEqual(report["zones"], [{"id": "powercap:package:0", "energyMicrojoules": 30_000_000}])
        self.assertEqual((report["exitStatus"], report["label"]), (0, "build"))
        self.assertEqual(report["source"], {"name": "powercap", "quality": "measured"})
        self.assertNotIn("problem", report)

    def test_reports_cost_and_emissions_if_they_are_set(self):
        self.host.write("cost.conf", "[Cost]\nPrice=0.32\nCurrency=EUR\n[Carbon]\nIntensity=380\n")
        result = self.run_command("-j", "run", "--cost-config", self.host.root / "cost.conf", "--",
                                  *self.drawing(3_601_000_000, 1_000_000), daemon=self.start_daemon())
        report = json.loads(result.stderr)["run"]
        self.assertEqual(report["energyMicrojoules"], 3_600_000_000)
        self.assertEqual((report["costMicro"], report["currency"], report["milligramsCO2e"]), (320, "EUR", 380))

    def test_an_error_in_cost_conf_is_a_warning_and_the_command_runs(self):
        self.host.write("cost.conf", "[Cost]\nPrice=dear\n")
        file = self.host.root / "cost.conf"
        result = self.run_command("-j", "run", "--cost-config", file, "--", *self.drawing(31_000_000, 1_000_000),
                                  daemon=self.start_daemon())
        self.assertEqual(result.returncode, 0)
        warning, _, report = result.stderr.partition("\n")
        self.assertTrue(warning.startswith(f"keplerctl: {file}:2: Price=dear: must be a number"), result.stderr)
        self.assertEqual(json.loads(report)["run"]["energyMicrojoules"], 30_000_000)
        self.assertNotIn("costMicro", report)

    def test_the_second_run_of_a_unit_does_not_include_the_first(self):
        daemon = self.start_daemon()
        self.run_command("run", "--unit=a", "--", *self.drawing(31_000_000, 1_000_000), daemon=daemon)
        result = self.run_command("-j", "run", "--unit=a", "--", *self.drawing(33_000_000, 1_500_000), daemon=daemon)
        report = json.loads(result.stderr)["run"]
        self.assertEqual((report["energyMicrojoules"], report["cpuUsec"]), (2_000_000, 500_000))

    def test_only_the_scope_itself_is_waited_for(self):
        result = self.run_command("-j", "run", "--wait", "--unit=a", "--", *self.drawing(31_000_000, 1_000_000),
                                  daemon=self.start_daemon())  # its processes are in no scope
        warning, _, report = result.stderr.partition("\n")
        self.assertRegex(warning, r"^keplerctl: --wait: its cgroup is \S*, not the scope$")
        self.assertEqual(json.loads(report)["run"]["energyMicrojoules"], 30_000_000)

    def test_requests_a_scope_with_its_two_processes_and_the_properties(self):
        result = self.run_command("run", "--unit=build", "--slice=ci", "-p", "MemoryMax=1G", "-pCPUQuota=50%",
                                  "-p", "AllowedCPUs=0-1,9", "-p", "SendSIGHUP=yes", "-pKillSignal=SIGINT", "true")
        self.assertEqual(result.returncode, 0)
        request = json.loads(self.requests.read_text())
        self.assertEqual((request["name"], request["mode"]), ("build.scope", "fail"))
        properties = request["properties"]
        self.assertEqual(len(properties.pop("PIDs")), 2)
        self.assertEqual(properties, {
            "Description": "keplerctl run true", "CollectMode": "inactive-or-failed", "Slice": "ci.slice",
            "MemoryMax": 1 << 30, "CPUQuotaPerSecUSec": 500_000, "AllowedCPUs": [3, 2], "SendSIGHUP": True,
            "KillSignal": signal.SIGINT})

    def test_a_budget_that_is_exceeded_is_status_3_of_a_successful_command_only(self):
        daemon = self.start_daemon()
        over = self.run_command("run", "--max-energy=29J", "--", *self.drawing(31_000_000, 1_000_000), daemon=daemon)
        self.assertEqual(over.returncode, 3)
        self.assertIn("keplerctl: 30.0 J are more than 29.0 J (--max-energy)\n", over.stderr)
        within = self.run_command("run", "--max-energy=30J", "--", *self.drawing(61_000_000, 2_000_000), daemon=daemon)
        self.assertEqual(within.returncode, 0)
        failed = self.run_command("run", "--max-energy=1J", "--", "sh", "-c", '"$@"; exit 5', "sh",
                                  *self.drawing(91_000_000, 3_000_000), daemon=daemon)
        self.assertEqual(failed.returncode, 5)

    def test_phases_are_appended_and_summed(self):
        daemon, file = self.start_daemon(), str(self.host.root / "phases.json")
        for label, package in (("install", 31_000_000), ("remove", 33_000_000)):
            self.run_command("run", f"--label={label}", f"--append={file}", "--", *self.drawing(package, package // 30),
                             daemon=daemon)
        phases = json.loads(pathlib.Path(file).read_text())["phases"]
        self.assertEqual([(phase["label"], phase["energyMicrojoules"]) for phase in phases],
                         [("install", 30_000_000), ("remove", 2_000_000)])
        table = self.run_command("run", f"--summary={file}").stdout.splitlines()
        self.assertEqual([line.split()[:3] for line in table],
                         [["PHASE", "ENERGY", "POWER"], ["install", "30.0", "J"], ["remove", "2.00", "J"],
                          ["total", "32.0", "J"]])

    def test_a_report_can_be_a_file_and_be_compared(self):
        daemon, file = self.start_daemon(), str(self.host.root / "report.json")
        first = self.run_command("-j", "run", f"--report={file}", "--", *self.drawing(31_000_000, 1_000_000), daemon=daemon)
        self.assertEqual((first.stdout, first.stderr), ("", ""))
        second = self.run_command("run", f"--compare={file}", "--", *self.drawing(61_000_000, 2_000_000), daemon=daemon)
        self.assertIn(f"\nCompared with {file}: 30.0 J before, 30.0 J now, +0.0 %; ", second.stderr)

    def test_repeated_runs_have_a_mean(self):
        result = self.run_command("-j", "run", "-r3", "--warmup=1", "--prepare=echo prepared", "--", "echo", "run",
                                  daemon=self.start_daemon())
        self.assertEqual(result.stdout, "prepared\nrun\n" * 4)
        report = json.loads(result.stderr)["run"]
        self.assertEqual((len(report["runs"]), report["mean"]), (3, 0))

    def test_keplerd_that_ends_meanwhile_is_reported_and_the_command_goes_on(self):
        daemon = self.start_daemon()
        result = self.run_command("-j", "run", "--", "sh", "-c", f"kill {daemon.process.pid}; echo on; exit 4", daemon=daemon)
        self.assertEqual((result.returncode, result.stdout), (4, "on\n"))
        report = json.loads(result.stderr)["run"]
        self.assertNotIn("energyMicrojoules", report)
        self.assertIn("problem", report)

    def report_over_a_restart(self, drawn):
        """While keplerd does not run, the package's counter changes to this."""
        daemon = self.start_daemon()
        process = subprocess.Popen([KEPLERCTL, "--varlink", daemon.socket, "-j", "run", "--", "sh", "-c", "echo on; read -r _"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment())
        self.assertEqual(process.stdout.readline(), "on\n")
        daemon.stop(signal.SIGKILL)
        subprocess.run(self.drawing(drawn, 1_000_000), check=True)
        self.start_daemon()
        _, errors = process.communicate("\n", timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        return json.loads(errors)["run"]

    def test_what_was_used_while_keplerd_was_restarted_is_reported(self):
        report = self.report_over_a_restart(31_000_000)
        self.assertEqual(report["energyMicrojoules"], 30_000_000)
        self.assertNotIn("problem", report)

    def test_if_the_counter_was_reset_meanwhile_that_it_may_be_missing(self):
        report = self.report_over_a_restart(500)
        self.assertEqual(report["energyMicrojoules"], 0)
        self.assertIn("may be missing", report["problem"])


class Attached(WithAManager):
    """What runs already is measured, from the line that says so until it ends or a signal."""

    def setUp(self):
        super().setUp()
        self.host.group("/system.slice", 0)
        self.draw(package=5_000_000, usec=4_000_000, ticks=1300)
        self.daemon = self.start_daemon()
        self.phases = self.host.root / "phases.json"

    def draw(self, package, usec, ticks, **process):
        """Energy, with CPU time before and after: a sample between any two writes does not part them."""
        self.use(usec - 500_000, ticks - 50, **process)
        self.host.zone("intel-rapl:0", "package-0", package)
        self.use(usec, ticks, **process)

    def use(self, usec, ticks, group="/system.slice/a.service", pid=77, comm="worker"):
        self.host.ticks(busy=ticks, idle=1000)
        self.host.group(group.rpartition("/")[0], usec)
        self.host.group(group, usec, [pid])
        self.host.process(pid, usec // 10_000, comm=comm, group=group)

    def attach(self, *options):
        process = subprocess.Popen([KEPLERCTL, "--varlink", self.daemon.socket, "run", f"--append={self.phases}", *options],
                                   stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.wait, timeout=60)
        self.addCleanup(process.kill)
        self.begun = process.stderr.readline()
        for _ in range(2):  # it has asked for samples by then: keplerd takes the first of them before the second answer
            self.daemon.status()
        return process

    def end(self, process, status=0):
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, errors)
        return errors

    def phase(self):
        return json.loads(self.phases.read_text())["phases"][-1]

    def test_a_unit_has_what_it_used_since_and_a_signal_ends_it(self):
        process = self.attach("--attach=a.service", "--label=load")
        self.assertEqual(self.begun, "Measuring the unit a.service; Ctrl-C ends it\n")
        self.draw(package=35_000_000, usec=5_000_000, ticks=1400)
        process.send_signal(signal.SIGINT)
        self.assertIn("        Attached: unit a.service\n           Label: load\n          Energy: ", self.end(process))
        phase = self.phase()
        self.assertEqual(phase["attached"], {"kind": "unit", "id": "/system.slice/a.service"})
        self.assertEqual((phase["energyMicrojoules"], phase["cpuUsec"], phase["label"]), (30_000_000, 1_000_000, "load"))
        for name in ("command", "exitStatus", "processes", "stillRunning", "problem"):
            self.assertNotIn(name, phase)
        table = self.run_command("run", f"--summary={self.phases}").stdout
        self.assertIn("unit /system.slice/a.service\n", table)

    def test_a_process_by_its_pid(self):
        process = self.attach("--attach=77")
        self.assertEqual(self.begun, "Measuring the process worker; Ctrl-C ends it\n")
        self.draw(package=35_000_000, usec=5_000_000, ticks=1400)
        process.send_signal(signal.SIGTERM)
        self.end(process)
        phase = self.phase()
        self.assertEqual(phase["attached"], {"kind": "process", "id": "77.100"})
        self.assertEqual((phase["energyMicrojoules"], phase["cpuUsec"]), (30_000_000, 1_000_000))

    def test_a_virtual_machine_by_its_name(self):
        uuid, group = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01", r"/machine.slice/machine-qemu\x2d1\x2dweb.scope"
        self.host.write("proc/20/cmdline", f"/usr/bin/qemu-system-x86_64\0-name\0guest=web\0-uuid\0{uuid}\0-S\0")
        vm = {"group": group, "pid": 20, "comm": "qemu-system-x86"}
        self.draw(package=6_000_000, usec=4_000_000, ticks=1310, **vm)
        self.daemon.stop()
        self.daemon = self.start_daemon()
        process = self.attach("--attach=WEB")
        self.assertEqual(self.begun, "Measuring the virtual machine web; Ctrl-C ends it\n")
        self.draw(package=36_000_000, usec=5_000_000, ticks=1410, **vm)
        process.send_signal(signal.SIGINT)
        self.end(process)
        self.assertEqual(self.phase()["attached"], {"kind": "virtual-machine", "id": uuid})
        self.assertEqual(self.phase()["energyMicrojoules"], 30_000_000)

    def test_the_time_ends_it(self):
        result = self.run_command("-j", "run", "--attach=a.service", "--for=50ms", daemon=self.daemon)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        report = json.loads(result.stderr)["run"]
        self.assertEqual(report["energyMicrojoules"], 0)
        self.assertGreaterEqual(report["durationUsec"], 50_000)

    def test_the_end_of_the_row_ends_it(self):
        process = self.attach("--attach=a.service")
        shutil.rmtree(self.host.root / "cgroup/system.slice/a.service")
        shutil.rmtree(self.host.root / "proc/77")
        self.run_command("run", "true", daemon=self.daemon)  # takes samples
        self.assertIn("        Attached: unit a.service, ended\n", self.end(process))
        self.assertTrue(self.phase()["attached"]["ended"])

    def test_what_cannot_be_found_is_an_error(self):
        result = self.run_command("run", "--attach=nothing", daemon=self.daemon)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertTrue(result.stderr.startswith(
            "keplerctl: no unit, virtual machine, container, pod, process or zone is called 'nothing'"), result.stderr)

    def test_without_keplerd_it_is_an_error(self):
        result = self.run_command("run", "--attach=a.service")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("keplerctl: /nonexistent/socket: no such socket"), result.stderr)

    def test_a_budget_that_is_exceeded_is_status_3(self):
        process = self.attach("--attach=a.service", "--max-energy=29J")
        self.draw(package=35_000_000, usec=5_000_000, ticks=1400)
        process.send_signal(signal.SIGINT)
        self.assertIn("30.0 J are more than 29.0 J (--max-energy)\n", self.end(process, 3))


class Command(WithAManager):
    """As if it had been run directly."""

    def test_exit_statuses_are_those_of_a_shell(self):
        for command, status in ((["sh", "-c", "exit 42"], 42), (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
                                (["/nonexistent/program"], 127), (["no-such-program"], 127), (["/etc/passwd"], 126)):
            self.assertEqual(self.run_command("run", "--", *command).returncode, status, command)

    def test_what_cannot_be_started_has_a_message_and_no_report(self):
        result = self.run_command("run", "no-such-program", daemon=self.start_daemon())
        self.assertEqual(result.stderr, "keplerctl: no-such-program: No such file or directory\n")

    def test_input_output_directory_environment_and_options_pass_through(self):
        result = subprocess.run(
            [KEPLERCTL, "run", "sh", "-c", 'cat; pwd; echo "$WORD" "$@"; echo error >&2', "sh", "--json=short", "-r"],
            input="input\n", capture_output=True, text=True, cwd="/usr", env=self.environment() | {"WORD": "word"})
        self.assertEqual(result.stdout, "input\n/usr\nword --json=short -r\n")
        self.assertIn("error\n", result.stderr)

    def test_signals_are_not_blocked_or_ignored_in_it_and_no_descriptor_is_left(self):
        result = self.run_command("run", "sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l",
                                  daemon=self.start_daemon())
        direct = subprocess.run(["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd | wc -l"],
                                capture_output=True, text=True)
        self.assertEqual(result.stdout, direct.stdout)

    def start(self, *command):
        process = subprocess.Popen(
            [KEPLERCTL, "--varlink=/nonexistent", "run", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environment(), start_new_session=True)
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_a_signal_is_passed_on_and_the_report_is_made(self):
        process = self.start("sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done")
        process.terminate()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 9)
        self.assertIn("     Exit status: 9\n", errors)

    def test_an_interrupt_of_the_group_ends_the_command_and_the_report_is_made(self):
        process = self.start("sed", "-u", "s/go/ready/")  # not a shell, which may miss it while it starts a program
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("         Command: sed -u s/go/ready/\n", errors)

    def test_without_keplerd_it_runs_and_the_reason_is_given(self):
        result = self.run_command("run", "echo", "on")
        self.assertEqual((result.returncode, result.stdout), (0, "on\n"))
        self.assertTrue(result.stderr.startswith("keplerctl: not measured: /nonexistent/socket: no such socket"))

    def test_without_a_meter_it_runs_and_the_reason_is_given(self):
        self.host.write("sys/class/none", "")
        daemon = Daemon(KEPLERD, self.host, "--source", "hwmon", config=CONFIG)
        self.addCleanup(daemon.stop)
        result = self.run_command("run", "echo", "on", daemon=daemon)
        self.assertEqual((result.returncode, result.stdout), (0, "on\n"))
        self.assertTrue(result.stderr.startswith("keplerctl: not measured: no energy meter can be read"), result.stderr)

    def test_without_a_bus_it_runs_and_the_reason_is_given(self):
        daemon = self.start_daemon()
        self.bus.stop()
        result = self.run_command("run", "echo", "on", daemon=daemon)
        self.assertEqual((result.returncode, result.stdout), (0, "on\n"))
        self.assertTrue(result.stderr.startswith("keplerctl: not measured: no scope: "), result.stderr)
        self.assertEqual(result.stderr.count("no scope"), 1, "the reason is given once")
        self.assertIn("Energy: not measured: see above\n", result.stderr)

    def test_without_a_scope_nothing_else_can_be_waited_for(self):
        daemon = self.start_daemon()
        self.bus.stop()
        result = self.run_command("run", "--wait", "echo", "on", daemon=daemon)
        self.assertEqual((result.returncode, result.stdout), (0, "on\n"))
        self.assertEqual(result.stderr.splitlines()[1], "keplerctl: --wait: without a scope, only the command itself is waited for")

    @unittest.skipIf(os.path.exists(f"/run/user/{os.getuid()}/bus"), "there is a user manager")
    def test_without_a_user_manager_it_runs_and_the_reason_is_given(self):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")}
        result = subprocess.run([KEPLERCTL, "--varlink", self.start_daemon().socket, "run", "--user", "sh", "-c", "exit 7"],
                                capture_output=True, text=True, env=environment)
        self.assertEqual(result.returncode, 7)
        self.assertEqual(result.stderr.partition("\n")[0], "keplerctl: not measured: no scope: no manager of your units is "
                         "running; 'loginctl enable-linger' starts one")


class Refused(WithAManager):
    refusal = ("Access denied",)

    def test_without_rights_it_runs_and_the_reason_is_given(self):
        result = self.run_command("run", "echo", "on", daemon=self.start_daemon())
        self.assertEqual((result.returncode, result.stdout), (0, "on\n"))
        self.assertTrue(result.stderr.startswith(
            "keplerctl: not measured: no scope: the manager refuses to start a scope: Access denied\n"), result.stderr)

    def test_a_report_in_a_file_has_the_reason(self):
        report = self.host.root / "report.txt"
        result = self.run_command("run", f"--report={report}", "true", daemon=self.start_daemon())
        self.assertEqual(result.stderr, "keplerctl: not measured: no scope: the manager refuses to start a scope: Access denied\n")
        self.assertIn("Energy: not measured: no scope: the manager refuses to start a scope: Access denied\n", report.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
