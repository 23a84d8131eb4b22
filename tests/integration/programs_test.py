#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerd and keplerctl as programs, on a written host.

usage: programs_test.py KEPLERD KEPLERCTL
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

from written_host import Daemon, WrittenHost, read_message, stream_of

KEPLERD, KEPLERCTL = sys.argv.pop(1), sys.argv.pop(1)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class OnAWrittenHost(unittest.TestCase):
    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.host.zone("intel-rapl:0:0", "dram", 500)
        self.host.group("/system.slice", 0)
        self.host.group("/system.slice/a.service", 0, [10])
        self.host.process(10, 0, group="/system.slice/a.service")

    def draw(self, package, times=1):
        """The package draws to this counter, and a.service runs for 300 ms of a CPU, its process for 200; so many times."""
        self.host.zone("intel-rapl:0", "package-0", package)
        self.host.ticks(busy=1000 + 30 * times, idle=1000 + 70 * times)
        self.host.group("/system.slice", 300_000 * times)
        self.host.group("/system.slice/a.service", 300_000 * times, [10])
        self.host.process(10, 20 * times, group="/system.slice/a.service")

    def expect_sums(self, daemon):
        """Sums as any reader can check them, with nothing sampled in between."""
        status, units, processes = daemon.status(), daemon.rows("units"), daemon.rows("processes")
        self.assertEqual(sum(status["accounts"].values()), status["host"]["energyMicrojoules"])
        outside = sum(row["unitMicrojoules"] for row in processes.values() if "unit" not in row)
        self.assertEqual(sum(row["ownMicrojoules"] for row in units.values()) + outside + status["outsideOtherMicrojoules"],
                         status["accounts"]["workloads"])
        contained = sum(row["energyMicrojoules"] for kind in ("containers", "pods") for row in daemon.rows(kind).values()
                        if "parent" not in row)
        self.assertEqual(contained + status["outsideContainersMicrojoules"], status["accounts"]["workloads"])
        for unit in units.values():
            children = sum(row["energyMicrojoules"] for row in units.values() if row.get("parent") == unit["id"])
            members = sum(row["unitMicrojoules"] for row in processes.values() if row.get("unit") == unit["id"])
            self.assertEqual(unit["energyMicrojoules"], unit["ownMicrojoules"] + children)
            self.assertEqual(unit["ownMicrojoules"], unit["otherMicrojoules"] + members)

    def test_a_query_samples_and_divides_exactly(self):
        with Daemon(KEPLERD, self.host) as daemon:
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 0)
            self.draw(2_000_001)
            status = daemon.status()
            self.assertEqual(status["host"]["energyMicrojoules"], 1_000_001)
            self.assertEqual(status["accounts"], {"idle": 700_001, "kernel": 0, "workloads": 300_000, "unattributed": 0})
            self.assertEqual(daemon.rows("units")["/system.slice/a.service"]["otherMicrojoules"], 100_000)
            self.assertEqual(daemon.rows("processes")["10.100"]["energyMicrojoules"], 200_000)
            self.expect_sums(daemon)

    def test_keplerctl_tells_what_the_daemon_tells(self):
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            self.draw(2_000_001)
            command = [KEPLERCTL, "--varlink", daemon.socket, "--json=short"]
            status = json.loads(run(*command, "status").stdout)
            self.assertEqual(status["host"]["energyMicrojoules"], 1_000_001)
            self.assertEqual(status["source"], {"name": "powercap", "quality": "measured", "reason": None})
            self.assertEqual({zone["id"] for zone in json.loads(run(*command, "zones").stdout)["zones"]},
                             {"powercap:package:0", "powercap:dram:0"})
            units = json.loads(run(*command, "units").stdout)["units"]
            self.assertEqual({unit["id"] for unit in units}, {"/system.slice", "/system.slice/a.service"})
            self.assertEqual(run(*command, "show", "no-such").returncode, 3)

    def test_another_idle_policy_is_shown_and_nothing_of_it_is_counted(self):
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            self.draw(2_000_001)
            before = daemon.status()["accounts"]
            command = [KEPLERCTL, "--varlink", daemon.socket, "--json=short"]
            for policy in ("separate", "equal", "size", "usage"):
                listed = json.loads(run(*command, "units", f"--idle={policy}").stdout)
                self.assertEqual(listed["policy"], {"idle": policy, "hostMicrowatts": 0}, "nothing was drawn since")
                self.assertTrue(all(unit["policyIdleMicrowatts"] == 0 for unit in listed["units"]))
            self.assertEqual(daemon.status()["accounts"], before)
            self.expect_sums(daemon)

    def test_keplerctl_reports_that_its_output_could_not_be_written(self):
        for unit in range(100):
            self.host.group(f"/u{unit}.service", 0)
        with Daemon(KEPLERD, self.host) as daemon:
            for verb in ("units", "status"):  # far more, and less, than a stream buffers
                with open("/dev/full", "w") as full:
                    failed = subprocess.run([KEPLERCTL, "--varlink", daemon.socket, "-j", verb], stdout=full,
                                            stderr=subprocess.PIPE, text=True)
                self.assertEqual((failed.returncode, failed.stderr),
                                 (1, "keplerctl: cannot write to standard output: No space left on device\n"), verb)

    def test_a_wrap_is_counted_and_a_reset_is_not(self):
        self.host.zone("intel-rapl:0", "package-0", 262143328850 - 10)
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            self.host.zone("intel-rapl:0", "package-0", 20)
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 30)
            self.host.zone("intel-rapl:0", "package-0", 100_000_020)
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 100_000_030)
            self.host.zone("intel-rapl:0", "package-0", 5)
            status = daemon.status()
            self.assertEqual(status["host"]["energyMicrojoules"], 100_000_030)
            self.assertEqual(status["discardedWindows"], 1)

    def test_a_restart_and_a_kill_go_on_and_a_power_cut_takes_another_instance(self):
        with Daemon(KEPLERD, self.host) as daemon:
            first = daemon.status()
            self.draw(2_000_001)
            daemon.status()
            self.assertEqual(daemon.stop(), 0)
        with Daemon(KEPLERD, self.host) as daemon:
            second = daemon.status()
            self.assertEqual(second["instanceId"], first["instanceId"])
            self.assertEqual(second["host"]["energyMicrojoules"], 1_000_001)
            self.assertEqual(daemon.rows("units")["/system.slice/a.service"]["energyMicrojoules"], 300_000)
            self.expect_sums(daemon)
            self.draw(3_000_001, times=2)
            published = daemon.status(), daemon.rows("units")
            daemon.stop(signal.SIGKILL)
        log = self.host.root / "state/ledger.log"
        with Daemon(KEPLERD, self.host) as daemon:
            third = daemon.status()
            self.assertEqual(third["instanceId"], first["instanceId"])
            self.assertEqual(third["host"]["energyMicrojoules"], published[0]["host"]["energyMicrojoules"])
            for unit, row in daemon.rows("units").items():
                self.assertEqual(row["energyMicrojoules"], published[1][unit]["energyMicrojoules"])
            self.expect_sums(daemon)
            daemon.stop(signal.SIGKILL)
        self.draw(5_000_001, times=4)
        with Daemon(KEPLERD, self.host) as daemon:
            status = daemon.status()
            self.assertEqual(status["accounts"], {"idle": 700_001 + 3 * 700_000, "kernel": 0, "workloads": 1_200_000, "unattributed": 0})
            self.assertEqual(daemon.rows("units")["/system.slice/a.service"]["energyMicrojoules"], 1_200_000)
            self.assertEqual(daemon.rows("processes")["10.100"]["energyMicrojoules"], 800_000)
            self.expect_sums(daemon)
            daemon.stop(signal.SIGKILL)
        log.unlink()  # as a power cut does with what lies in /run
        with Daemon(KEPLERD, self.host) as daemon:
            fourth = daemon.status()
            self.assertNotEqual(fourth["instanceId"], first["instanceId"])
            self.assertGreaterEqual(fourth["host"]["energyMicrojoules"], second["host"]["energyMicrojoules"])

    def test_a_second_daemon_on_the_same_state_directory_does_not_start(self):
        state = self.host.root / "state"
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            self.draw(2_000_001)
            total = daemon.status()["host"]["energyMicrojoules"]
            before = {file.name: file.read_bytes() for file in state.iterdir()}
            second = subprocess.Popen(
                [KEPLERD, "--config", self.host.root / "keplerd.conf", "--bus", "none", "--source", "simulated",
                 "--runtime-dir", self.host.root / "other-run", "--state-dir", state], stderr=subprocess.PIPE, text=True)
            self.addCleanup(second.stderr.close)
            try:
                self.assertEqual(second.wait(timeout=60), 1)
            finally:
                second.kill()
            self.assertEqual(second.stderr.read(), f"keplerd: error: {state}: another keplerd uses this state directory\n")
            self.assertEqual({file.name: file.read_bytes() for file in state.iterdir()}, before)
            self.assertFalse((self.host.root / "other-run").exists())
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], total)
            self.assertEqual(daemon.stop(), 0)
        with Daemon(KEPLERD, self.host) as daemon:  # the lock ended with its holder
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], total)

    def test_configuration_errors_exit_78_with_file_and_line(self):
        self.host.write("bad.conf", "[Sampling]\nInterval=yesterday\n")
        for extra in ([], ["--check-config"]):
            result = run(KEPLERD, "--config", self.host.root / "bad.conf", *extra)
            self.assertEqual(result.returncode, 78)
            self.assertRegex(result.stderr, r"^\S+/bad\.conf:2: [^\n]+\n$")
        self.assertEqual(run(KEPLERD, "--config", "/dev/null", "--check-config").returncode, 0)
        self.assertEqual(run(KEPLERD, "--nonsense").returncode, 2)

    def test_a_bad_file_on_reload_leaves_the_running_settings(self):
        with Daemon(KEPLERD, self.host) as daemon:
            self.assertEqual(daemon.status()["intervalUsec"], 0)
            self.host.write("keplerd.conf", "nonsense\n")
            daemon.process.send_signal(signal.SIGHUP)
            while "not reloaded" not in (self.host.root / "log").read_text():
                pass
            self.assertEqual(daemon.status()["intervalUsec"], 0)
            self.host.write("keplerd.conf", "[Sampling]\nInterval=10s\n")
            daemon.process.send_signal(signal.SIGHUP)
            while daemon.status()["intervalUsec"] != 10_000_000:
                pass

    def reloaded(self, daemon, text):
        """The log since this configuration was taken."""
        before = len((self.host.root / "log").read_text())
        self.host.write("keplerd.conf", text)
        daemon.process.send_signal(signal.SIGHUP)
        while "configuration reloaded" not in (log := (self.host.root / "log").read_text()[before:]):
            pass
        return log

    def test_the_meter_and_its_zones_are_chosen_again_on_reload(self):
        sampling = "[Sampling]\nInterval=0\nStaleness=0\n"
        current = lambda daemon: {id for id, row in daemon.rows("zones").items() if row["state"] == "running"}
        with Daemon(KEPLERD, self.host) as daemon:
            both = current(daemon)
            self.assertEqual(both, {"powercap:package:0", "powercap:dram:0"})
            self.reloaded(daemon, sampling + "[Energy]\nZones=package\n")
            self.draw(2_000_000)
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 1_000_000)
            self.assertEqual(current(daemon), {"powercap:package:0"})
            self.reloaded(daemon, sampling + "[Energy]\nSource=hwmon\n")
            self.assertEqual(daemon.status()["source"]["name"], "none")
            self.reloaded(daemon, sampling)
            self.assertEqual(current(daemon), both)
            log = self.reloaded(daemon, sampling + "[Energy]\nSource=simulated\n")
            self.assertIn("Source=simulated takes effect at the next start", log)
            self.assertEqual(daemon.status()["source"]["name"], "powercap")

    def test_missing_roots_are_told(self):
        result = run(KEPLERD, "--config", "/dev/null", "--procfs", self.host.root / "no-such", "--state-dir", self.host.root)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no-such", result.stderr)

    def test_garbage_costs_a_zone_its_reading_and_nobody_else_anything(self):
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            self.draw(2_000_001)
            self.host.zone("intel-rapl:0:0", "dram", "garbage\x00\n99")
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 1_000_001)
            self.assertIn("problem", daemon.rows("zones")["powercap:dram:0"])
            self.host.zone("intel-rapl:0:0", "dram", 600)
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 1_000_101)

    def test_what_keplerd_cannot_do_is_a_problem_for_doctor_until_it_can(self):
        with Daemon(KEPLERD, self.host) as daemon:
            def problems():
                return {(problem["kind"], problem.get("object")) for problem in daemon.status().get("problems", ())}

            doctor = [KEPLERCTL, "--varlink", daemon.socket, "doctor"]
            self.assertEqual(problems(), set())
            self.host.zone("intel-rapl:0", "package-0", "garbage")
            problems()
            self.assertEqual(problems(), {("zone", "powercap:package:0"), ("power", None)})
            found = run(*doctor)
            self.assertEqual(found.returncode, 1, found.stdout)
            self.assertRegex(found.stdout, r"(?m)^problem  zone +powercap:package:0 cannot be read: .*, for \d")
            self.assertRegex(found.stdout, r"(?m)^problem  power +the power of the host is unknown, for \d")
            self.assertRegex(found.stdout, r"\n\d problems, \d warnings?\.\n$")
            self.host.zone("intel-rapl:0", "package-0", 1_000_000)
            problems()
            self.assertEqual(problems(), set())

    def test_hostile_names_are_escaped_everywhere(self):
        self.host.group("/evil\n\x1b[31m\udcff.service", 5)
        with Daemon(KEPLERD, self.host) as daemon:
            self.assertIn(r"/evil\x0a\x1b[31m\xff.service", daemon.rows("units"))
            self.expect_sums(daemon)
            table = run(KEPLERCTL, "--varlink", daemon.socket, "units").stdout
            self.assertNotIn("\x1b", table)
            self.assertIn(r"evil\x0a", table)

    def test_clients_that_misbehave_cost_nobody_else_anything(self):
        for unit in range(500):
            self.host.group(f"/u{unit}.service", 0)
        with Daemon(KEPLERD, self.host) as daemon:
            daemon.status()
            before = daemon.resident()
            silent = [daemon.connect() for _ in range(450)]
            deaf = [daemon.connect() for _ in range(20)]
            for client in deaf:  # asks for everything, many times, and never reads
                client.setblocking(False)
                question = b'{"method":"org.keplerd.Energy.List","parameters":{"kind":"units"},"more":true}\0'
                try:
                    while client.send(question * 100):
                        pass
                except BlockingIOError:
                    pass
            big = daemon.connect()
            try:
                big.sendall(b'{"method":"' + b"x" * (1 << 20))
                self.assertEqual(big.recv(1), b"")
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.draw(2_000_001)
            self.assertEqual(daemon.status()["host"]["energyMicrojoules"], 1_000_001)
            self.assertLess(daemon.resident() - before, 200 << 20)
            for client in silent + deaf + [big]:
                client.close()
            self.expect_sums(daemon)

    def test_monitor_goes_on_with_each_sample(self):
        with Daemon(KEPLERD, self.host) as daemon:
            stream = stream_of(daemon.connect())
            self.addCleanup(stream.close)
            stream.write(b'{"method":"org.keplerd.Energy.Monitor","parameters":{"kind":"units"},"more":true}\0')
            stream.flush()
            first = json.loads(read_message(stream))["parameters"]
            self.assertEqual(len(first["rows"]), 2)
            self.draw(2_000_001)
            daemon.status()
            second = json.loads(read_message(stream))["parameters"]
            self.assertEqual(second["host"]["energyMicrojoules"], 1_000_001)
            self.assertEqual({row["id"] for row in second["rows"]}, {"/system.slice", "/system.slice/a.service"})

    def test_what_keplerd_draws_itself_is_what_its_process_does(self):
        with Daemon(KEPLERD, self.host, "--source", "simulated", config="[Sampling]\nInterval=50ms\n", here=True) as daemon:
            status, after = {"sequence": 0}, None
            while not status.get("daemonMicrojoules") or status["sequence"] != after["sequence"]:
                status, processes, after = daemon.status(), daemon.rows("processes"), daemon.status()
            own = [row for row in processes.values() if row["pid"] == daemon.process.pid]
            self.assertEqual([row["energyMicrojoules"] for row in own], [status["daemonMicrojoules"]])
            self.assertEqual([row.get("powerMicrowatts") for row in own], [status.get("daemonMicrowatts")])

    def test_who_has_full_access_sets_the_pace_by_following(self):
        with Daemon(KEPLERD, self.host, config="[Sampling]\nInterval=30s\n") as daemon:
            stream = stream_of(daemon.connect())
            self.addCleanup(stream.close)
            stream.write(b'{"method":"org.keplerd.Energy.Monitor","parameters":{"intervalUsec":20000},"more":true}\0')
            stream.flush()
            replies = [json.loads(read_message(stream))["parameters"] for _ in range(4)]
            sequences = [reply["sequence"] for reply in replies]
            self.assertEqual(sequences, sorted(set(sequences)))
            self.assertLess(max(reply["windowUsec"] for reply in replies), 15_000_000)

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/fuse"), "needs root and FUSE")
    def test_names_on_a_fuse_file_system_that_hangs_hold_nothing_up(self):
        container = "c" * 64
        self.host.write(f"root/var/lib/docker/containers/{container}/config.v2.json", '{"Name":"/web"}')
        self.host.group(f"/system.slice/docker-{container}.scope", 0, [20])
        self.host.process(20, 0, group=f"/system.slice/docker-{container}.scope")
        self.host.group("/lxc", 0)
        self.host.group("/lxc/101", 0)
        self.host.group("/lxc/101/ns", 0, [21])
        self.host.process(21, 0, group="/lxc/101/ns")
        directory = self.host.root / "root/etc/pve"
        directory.mkdir(parents=True)
        libc = ctypes.CDLL(None, use_errno=True)
        server = os.open("/dev/fuse", os.O_RDWR)  # that never answers
        self.addCleanup(os.close, server)
        options = f"fd={server},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"hung", str(directory).encode(), b"fuse", 0, options.encode()) != 0:
            self.skipTest(f"cannot mount: {os.strerror(ctypes.get_errno())}")
        released = threading.Event()

        def release():  # a process that waits for it gets an error
            if not released.is_set():
                released.set()
                libc.umount2(str(directory).encode(), 1 | 2)  # MNT_FORCE, MNT_DETACH
        self.addCleanup(release)
        limit = threading.Timer(60, release)
        self.addCleanup(limit.cancel)
        limit.start()
        options = ("--root", self.host.root / "root")
        with Daemon(KEPLERD, self.host, *options, config="[Sampling]\nInterval=20ms\n") as daemon:
            try:
                while daemon.status()["sequence"] < 100:  # names are asked for each second
                    pass
                names = {id_: row["name"] for id_, row in daemon.rows("containers").items()}
                threads = len(os.listdir(f"/proc/{daemon.process.pid}/task"))
                self.assertFalse(released.is_set(), "keplerd has waited for it")
            finally:
                release()  # the leak sanitizer could not stop the thread
            self.assertEqual(names, {container: "web", "101": "101"})
            self.assertEqual(threads, 2, "one hangs, and only one")
            self.assertEqual(daemon.stop(), 0)

    def test_without_a_meter_it_starts_and_says_why(self):
        host = WrittenHost()
        self.addCleanup(host.remove)
        (host.root / "sys").mkdir()
        with Daemon(KEPLERD, host) as daemon:
            source = daemon.status()["source"]
            self.assertEqual(source["name"], "none")
            self.assertTrue(source["reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
