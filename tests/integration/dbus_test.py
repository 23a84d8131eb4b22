#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""org.keplerd1 as clients see it: keplerd on a written host and a private bus.

usage: dbus_test.py KEPLERD SOURCE_DIRECTORY
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from gi.repository import Gio, GLib

from private_bus import CLOSED, MANAGER, NAME, PATH, PATIENCE, Client, PrivateBus, members, wait_until
from written_host import Daemon, WrittenHost

KEPLERD, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
UNKNOWN = 2**64 - 1
PACKAGE = f"{PATH}/zone/powercap_3apackage_3a0"
VM = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01"
VM_PATH = f"{PATH}/vm/_32b9a43a1_2d5a5f_2d4cf0_2d9d3a_2d6a6f3a1d2c01"
SCOPE = r"/machine.slice/machine-qemu\x2d1\x2dweb.scope"


def text(value):
    return GLib.Variant("s", value)


class OnAPrivateBus(unittest.TestCase):
    policy = None
    config = "[Sampling]\nInterval=0\nStaleness=0\n"

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.host.zone("intel-rapl:0:0", "dram", 500)
        self.host.group("/system.slice", 0)
        for unit in "ab":
            self.host.group(f"/system.slice/{unit}.service", 0, [])
        self.host.group("/system.slice/a.service", 0, [10])
        self.host.process(10, 0, group="/system.slice/a.service")
        # Of one name, both.
        for user in (1, 2):
            self.host.group(f"/user-{user}", 0)
            self.host.group(f"/user-{user}/init.scope", 0)
        self.start_machine()
        self.drawn = 0
        self.bus = PrivateBus(self.host.root / "bus")
        self.bus.start()
        self.addCleanup(self.bus.stop)
        self.daemon = Daemon(KEPLERD, self.host, bus=self.bus.address, config=self.config)
        self.addCleanup(lambda: self.assertEqual(self.daemon.stop(), 0, "a clean end: sanitizers found nothing"))
        self.client = self.connect()
        self.client.wait_for_service()

    def start_machine(self):
        self.host.group("/machine.slice", 0)
        self.host.group(SCOPE, 0, [20])
        self.host.process(20, 0, comm="qemu-system-x86", group=SCOPE)
        self.host.write("proc/20/cmdline", f"/usr/bin/qemu-system-x86_64\0-name\0guest=web\0-uuid\0{VM}\0-S\0")

    def end_machine(self):
        shutil.rmtree(self.host.root / "proc/20")
        shutil.rmtree(self.host.root / f"cgroup{SCOPE}")

    def connect(self):
        client = Client(self.bus)
        self.addCleanup(client.close)
        return client

    def draw(self, unit="a"):
        """One more joule of the package, half of it active; the unit runs for another 100 ms, as does the machine."""
        self.drawn += 1
        self.host.zone("intel-rapl:0", "package-0", 1_000_000 * (1 + self.drawn))
        self.host.ticks(busy=1000 + 20 * self.drawn, idle=1000 + 20 * self.drawn)
        self.host.group("/system.slice", 100_000 * self.drawn)
        self.host.group(f"/system.slice/{unit}.service", 100_000 * self.drawn, [10] if unit == "a" else [])
        for group in ("/machine.slice", SCOPE):
            self.host.group(group, 100_000 * self.drawn, [20] if group == SCOPE else [])
        self.host.process(20, 10 * self.drawn, comm="qemu-system-x86", group=SCOPE)

    def sample(self):
        return self.daemon.status()["sequence"]

    def run_tool(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "500"})
        self.assertEqual(result.returncode, 0, f"{command}: {result.stderr}")
        return result.stdout


class Interface(OnAPrivateBus):
    FILES = {PATH: "Manager", VM_PATH: "VirtualMachine", PACKAGE: "Zone"}

    def documented(self, interface):
        return (SOURCE / f"dbus/org.keplerd1.{interface}.xml").read_text()

    def test_the_live_interface_is_that_of_the_files(self):
        for path, interface in self.FILES.items():
            name = f"org.keplerd1.{interface}"
            live, written = members(self.client.introspect(path)), members(self.documented(interface))
            self.assertEqual(live[name], written[name])
            self.assertEqual([other for other in live if other.startswith("org.keplerd1")], [name])

    def test_every_member_and_argument_is_described(self):
        for interface in self.FILES.values():
            comments = re.findall(r"<!--(.*?)-->", self.documented(interface), re.DOTALL)
            texts = {match[1]: comment for comment in comments
                     if (match := re.match(r"\s*(\w+):(?=\s)", comment))}
            for (kind, name), what in members(self.documented(interface))[f"org.keplerd1.{interface}"].items():
                self.assertIn(name, texts)
                for argument in what if kind != "property" else []:
                    self.assertRegex(texts[name], rf"@{argument[0]}: \S", f"{name}()")

    def test_busctl_shows_and_gets_everything(self):
        busctl = ["busctl", f"--address={self.bus.address}"]
        tree = self.run_tool(*busctl, "--list", "tree", NAME).split()
        for path, interface in self.FILES.items():
            self.assertIn(path, tree)
            name = f"org.keplerd1.{interface}"
            table = self.run_tool(*busctl, "introspect", NAME, path)
            for (kind, member), what in members(self.documented(interface))[name].items():
                self.assertRegex(table, rf"(?m)^\.{member} +{kind}")
                if kind == "property":
                    value = self.run_tool(*busctl, "get-property", NAME, path, name, member)
                    self.assertTrue(value.startswith(what[0] + " "), value)

    def test_busctl_calls_every_method(self):
        arguments = {"GetUnit": ["s", "a.service"], "GetProcess": ["s", "10.100"], "GetZone": ["s", "package"],
                     "GetVirtualMachine": ["s", "web"], "Unsubscribe": None, "GetContainer": None, "GetPod": None}
        busctl = ["busctl", f"--address={self.bus.address}", "call", NAME, PATH, MANAGER]
        for (kind, method), _ in members(self.documented("Manager"))[MANAGER].items():
            given = arguments.get(method, ["a{sv}", "2", "limit", "u", "3", "details", "b", "true"])
            if kind == "method" and given is not None:
                self.run_tool(*busctl, method, *given)
        for method, argument in (("GetContainer", "s"), ("GetPod", "s"), ("Unsubscribe", "t")):
            result = subprocess.run([*busctl, method, argument, "1"], capture_output=True, text=True)
            self.assertIn("no", result.stderr)
            self.assertEqual(result.returncode, 1)

    def test_gdbus_introspects_it(self):
        for path, interface in self.FILES.items():
            shown = self.run_tool("gdbus", "introspect", "--address", self.bus.address, "--dest", NAME,
                                  "--object-path", path)
            for (_, member), _ in members(self.documented(interface))[f"org.keplerd1.{interface}"].items():
                self.assertRegex(shown, rf"\b{member}\b")

    def test_getting_all_is_of_one_instant(self):
        self.sample()
        self.draw()
        properties = self.client.get_all()
        self.assertEqual(properties["HostEnergy"], 1_000_000)
        accounts = [properties[f"Account{name}"] for name in ("Idle", "Kernel", "Workloads", "Unattributed")]
        self.assertEqual(sum(accounts), properties["HostEnergy"])
        self.assertEqual(self.client.get_all()["Sequence"], properties["Sequence"] + 1, "one sample a question")
        self.assertEqual((properties["SourceName"], properties["SourceQuality"], properties["SourceReason"]),
                         ("powercap", "measured", ""))

    def test_problems_are_those_of_varlink(self):
        self.sample()
        self.assertEqual(self.client.get_all()["Problems"], [])
        self.host.zone("intel-rapl:0", "package-0", "garbage")
        self.sample()
        rows = self.client.get_all()["Problems"]
        told = [(row["kind"], row.get("object", ""), row["what"], row["sinceUsec"], {})
                for row in self.daemon.status()["problems"]]
        self.assertEqual([tuple(row) for row in rows], told)
        self.assertEqual([row[:2] for row in told], [("zone", "powercap:package:0"), ("power", "")])

    def test_what_no_row_has_is_that_of_varlink(self):
        self.draw()
        self.sample()
        properties, status = self.client.get_all(), self.daemon.status()
        self.assertEqual({name: properties[f"Outside{name}Energy"] for name in ("Other", "Containers")},
                         {name: status[f"outside{name}Microjoules"] for name in ("Other", "Containers")})
        self.assertGreater(properties["OutsideContainersEnergy"], 0)
        self.assertEqual(properties["AccountWorkloads"], status["accounts"]["workloads"])

    def test_rows_are_those_of_varlink(self):
        self.draw()
        self.sample()
        varlink = self.daemon.rows("units")
        rows = self.client.list("Units", details=GLib.Variant("b", True))
        self.assertEqual({row[0] for row in rows}, set(varlink))
        for id_, name, state, energy, active, idle, _, cpu, details in rows:
            other = varlink[id_]
            self.assertEqual((name, state, energy, active, idle, cpu, details["kind"], details.get("parent")),
                             (other["name"], other["state"], other["energyMicrojoules"], other["activeMicrojoules"],
                              other["idleMicrojoules"], other["cpuUsec"], other["kind"], other.get("parent")))
            self.assertEqual(sum(part[2] for part in details["zones"]), energy)

    def test_limit_sort_and_details_are_kept(self):
        rows = self.client.list("Units", limit=GLib.Variant("u", 2), sort=text("id"), unheard=text("of"))
        self.assertEqual([row[0] for row in rows], ["/machine.slice", SCOPE])
        self.assertEqual([row[8] for row in rows], [{}, {}])

    def test_machines_and_zones_are_objects(self):
        self.sample()
        self.draw()
        self.assertEqual(self.client.call("GetVirtualMachine", "(s)", "web"), VM_PATH)
        self.assertEqual(self.client.call("GetVirtualMachine", "(s)", VM), VM_PATH)
        self.assertEqual(self.client.call("GetZone", "(s)", "powercap:package:0"), PACKAGE)
        machine = self.client.get_all(VM_PATH, "org.keplerd1.VirtualMachine")
        self.assertEqual((machine["Id"], machine["Name"], machine["Pid"], machine["Unit"], machine["State"]),
                         (VM, "web", 20, SCOPE, "running"))
        self.assertEqual(machine["Energy"], self.client.list("VirtualMachines")[0][3])
        self.assertGreater(machine["Energy"], 0)
        self.assertEqual(self.client.get_all(PACKAGE, "org.keplerd1.Zone")["Energy"], 1_000_000)
        managed = self.client.call("GetManagedObjects", path=PATH, interface="org.freedesktop.DBus.ObjectManager")
        self.assertEqual(set(managed), {VM_PATH, PACKAGE, PACKAGE.replace("package", "dram")})

    def test_errors_are_the_documented_ones(self):
        error = self.client.error
        for method in ("GetUnit", "GetContainer", "GetPod", "GetProcess", "GetVirtualMachine", "GetZone"):
            name, message = error(method, "(s)", "nothing")
            self.assertEqual(name, f"org.keplerd1.Error.NoSuch{method[3:]}")
            self.assertIn("nothing", message)
        name, message = error("GetUnit", "(s)", "init.scope")
        self.assertEqual(name, "org.keplerd1.Error.AmbiguousName")
        self.assertIn("/user-1/init.scope /user-2/init.scope", message)
        invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        for option in ({"limit": text("3")}, {"limit": GLib.Variant("i", -1)}, {"sort": text("colour")},
                       {"details": text("yes")}):
            name, message = error("ListUnits", "(a{sv})", option)
            self.assertEqual(name, invalid)
            self.assertIn(f"option {list(option)[0]}: expected", message)
        for option in ({"kinds": text("units")}, {"kinds": GLib.Variant("as", ["x"])}, {"interval": text("1s")}):
            self.assertEqual(error("Subscribe", "(a{sv})", option)[0], invalid)
        large = text("y" * 257)
        self.assertIn("option x: expected a number", error("ListUnits", "(a{sv})", {"x": large})[1])
        self.assertEqual(error("Subscribe", "(a{sv})", {f"x{i}": text("y") for i in range(17)})[0], invalid)
        for method in ("GetUnit", "GetContainer", "GetPod", "GetProcess", "GetVirtualMachine", "GetZone"):
            name, message = error(method, "(s)", "y" * 4097)
            self.assertEqual(name, f"org.keplerd1.Error.NoSuch{method[3:]}")
            self.assertLess(len(message), 100)
        self.assertEqual(error("ListUnits", "(s)", "x")[0], invalid)
        self.assertEqual(error("GetUnit", "(u)", 1)[0], invalid)
        self.assertEqual(error("Nonsense")[0], "org.freedesktop.DBus.Error.UnknownMethod")
        self.assertEqual(error("Unsubscribe", "(t)", 99)[0], "org.keplerd1.Error.NoSuchSubscription")
        self.assertEqual(error("GetAll", "(s)", "org.keplerd1.Zone", path=f"{PATH}/zone/no",
                               interface="org.freedesktop.DBus.Properties")[0],
                         "org.freedesktop.DBus.Error.UnknownObject")


class BeforeTheFirstWindow(OnAPrivateBus):
    config = "[Sampling]\nInterval=0\nStaleness=30s\n"

    def test_what_is_not_known_is_told_as_such(self):
        self.assertEqual(self.client.get_all()["HostPower"], UNKNOWN)
        self.assertEqual(self.client.list("Zones")[0][6:8], (UNKNOWN, UNKNOWN))


class Signals(OnAPrivateBus):
    config = "[Sampling]\nInterval=0\nStaleness=0\n[Workloads]\nTerminatedMax=0\n"

    def test_a_subscriber_hears_everything_once_and_then_what_changed(self):
        self.draw()
        self.sample()
        other = self.connect()
        number = self.client.subscribe(kinds=GLib.Variant("as", ["units", "zones"]), sort=text("id"))
        first = self.client.wait_for_reports(number, 1)[0]
        self.assertEqual(set(first.rows["units"]), set(self.daemon.rows("units")))
        self.assertEqual(set(first.rows["zones"]), {"powercap:package:0", "powercap:dram:0"})
        self.assertNotIn("partial", first.extras)
        for round_ in range(10):
            self.draw("ab"[round_ % 2])
            if round_ == 5:
                self.host.group("/system.slice/new.service", 0)
            sequence = self.sample()
            wait_until(lambda: self.client.reports(number)[-1].sequence >= sequence, "the report")
        known = dict(first.rows["units"])
        for report in self.client.reports(number)[1:]:
            self.assertEqual(sum(report.accounts), report.host[0])
            for id_, row in report.rows.get("units", {}).items():
                self.assertNotEqual(known.get(id_), row, "it reads as before")
                known[id_] = row
        self.assertEqual(self.client.reports(number)[-1].host[0], 11_000_000)
        varlink = self.daemon.rows("units")
        self.assertIn("/system.slice/new.service", varlink)
        self.assertEqual({id_: row[3] for id_, row in known.items()},
                         {id_: row["energyMicrojoules"] for id_, row in varlink.items()})
        self.assertEqual(other.reports(number), [], "to nobody else")

    def test_unsubscribing_ends_it_and_a_number_is_never_used_again(self):
        first = self.client.subscribe()
        self.client.wait_for_reports(first, 1)
        self.assertEqual(self.connect().error("Unsubscribe", "(t)", first)[0],
                         "org.keplerd1.Error.NoSuchSubscription", "it is another client's")
        self.client.call("Unsubscribe", "(t)", first)
        self.assertEqual(self.client.get_all()["Subscriptions"], 0)
        count = len(self.client.reports(first))
        second = self.client.subscribe()
        self.assertGreater(second, first)
        self.client.wait_for_reports(second, 1)
        self.assertEqual(len(self.client.reports(first)), count)

    def test_subscriptions_are_bounded(self):
        for _ in range(16):
            self.client.subscribe()
        self.assertEqual(self.client.error("Subscribe", "(a{sv})", {})[0], "org.keplerd1.Error.TooManySubscriptions")
        for _ in range(15):
            client = self.connect()
            for _ in range(16):
                client.subscribe()
        client = self.connect()
        self.assertIn("256", client.error("Subscribe", "(a{sv})", {})[1])
        self.assertEqual(client.get_all()["Subscriptions"], 256)

    def test_machines_that_come_and_go_are_told(self):
        self.sample()
        tree = self.client.introspect(PATH)
        self.end_machine()
        wait_until(lambda: self.sample() and not self.daemon.rows("vms"), "the machine's end")
        wait_until(lambda: ("VirtualMachineRemoved", PATH, (VM, VM_PATH)) in self.client.signals, "VirtualMachineRemoved")
        self.assertEqual(self.client.error("GetVirtualMachine", "(s)", VM)[0], "org.keplerd1.Error.NoSuchVirtualMachine")
        self.assertEqual(self.client.error("GetAll", "(s)", "org.keplerd1.VirtualMachine", path=VM_PATH,
                                           interface="org.freedesktop.DBus.Properties")[0],
                         "org.freedesktop.DBus.Error.UnknownObject")
        self.assertEqual(self.client.introspect(PATH), tree, "whether there is any machine or not")
        self.start_machine()
        wait_until(lambda: self.sample() and self.daemon.rows("vms"), "the machine")
        wait_until(lambda: ("VirtualMachineAdded", PATH, (VM, VM_PATH)) in self.client.signals, "VirtualMachineAdded")
        self.assertEqual(self.client.get_all(VM_PATH, "org.keplerd1.VirtualMachine")["Name"], "web")

    def test_a_client_that_does_not_read_costs_nobody_anything(self):
        for unit in range(300):
            self.host.group(f"/system.slice/u{unit}.service", 0)
        self.sample()
        stopped = subprocess.Popen([sys.executable, __file__, "--stopped-subscriber", self.bus.address],
                                   stdout=subprocess.PIPE)
        self.addCleanup(stopped.stdout.close)
        self.addCleanup(stopped.wait)
        self.addCleanup(stopped.kill)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
        number = self.client.subscribe()
        before = self.bus.resident(), self.daemon.resident()
        for round_ in range(1, 41):
            for unit in range(300):
                self.host.group(f"/system.slice/u{unit}.service", round_ * 1000)
            self.draw()
            sequence = self.sample()
            wait_until(lambda: self.client.reports(number) and self.client.reports(number)[-1].sequence >= sequence,
                       "the report to the other client")
        self.assertLess(self.bus.resident() - before[0], 2 << 20)
        self.assertLess(self.daemon.resident() - before[1], 40 << 20)
        stopped.kill()
        wait_until(lambda: self.client.get_all()["Subscriptions"] == 1, "its end")


class Rates(OnAPrivateBus):
    config = "[Sampling]\nInterval=60ms\n"

    def test_the_example_shows_the_host_and_the_session(self):
        for app in "xy":
            self.host.group(f"/user.slice/user-0.slice/{app}.service", 0)
        for group in ("/user.slice", "/user.slice/user-0.slice"):
            self.host.group(group, 0)
        shown = self.run_tool("/usr/bin/python3", str(SOURCE / "examples/desktop-watts"), "--once", "--address",
                              self.bus.address, "--session", "/user.slice/user-0.slice").splitlines()[-3:]
        self.assertRegex(shown[0], r"^ +\d+\.\d\d W  host$")
        self.assertEqual([line.split()[-1] for line in shown[1:]], ["x.service", "y.service"])

    def test_the_documented_shell_commands_work(self):
        page = (SOURCE / "docs/man/org.keplerd1.5").read_text().replace(r"\e" + "\n", "")
        commands = re.findall(r"(?m)^(?:busctl|gdbus) .*$", page)
        self.assertEqual(len(commands), 3)
        for command in commands:
            command = command.replace("busctl", f"busctl --address={self.bus.address}")
            self.run_tool("sh", "-c", command.replace("--system", f"--address {self.bus.address}"))

    def test_twenty_subscribers_have_their_own_rates_and_nineteen_go(self):
        subscribers = []
        for i in range(20):
            client = self.connect()
            interval = 40_000 * i
            subscribers.append((client, client.subscribe(interval=GLib.Variant("t", interval)), interval))
        for client, number, interval in subscribers:
            reports = client.wait_for_reports(number, 4)
            for a, b in zip(reports, reports[1:]):
                self.assertGreaterEqual(b.monotonic - a.monotonic, interval * 9 // 10)
        fast, slow = (len(client.reports(number)) for client, number, _ in (subscribers[0], subscribers[-1]))
        self.assertGreater(fast, 2 * slow)
        one, number, interval = subscribers[10]
        for client, _, _ in subscribers:
            if client is not one:
                client.close()
        wait_until(lambda: one.get_all()["Subscriptions"] == 1, "the end of the others")
        count = len(one.reports(number))
        reports = one.wait_for_reports(number, count + 3)
        for a, b in zip(reports, reports[1:]):
            self.assertGreaterEqual(b.monotonic - a.monotonic, interval * 9 // 10)


class OnDemand(OnAPrivateBus):
    def test_a_subscription_that_names_an_interval_sets_the_pace(self):
        client = self.connect()
        number = client.subscribe(interval=GLib.Variant("t", 20_000))
        self.assertLess(max(report.window for report in client.wait_for_reports(number, 4)), 15_000_000)


class WithoutTheBus(OnAPrivateBus):
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.process.pid}/fd"))

    def log(self):
        return (self.host.root / "log").read_text()

    def test_a_bus_that_is_started_again_is_served_again(self):
        number = self.client.subscribe()
        self.client.wait_for_reports(number, 1)
        self.sample()
        before = self.descriptors()
        for _ in range(3):
            self.bus.stop()
            wait_until(lambda: self.descriptors() < before, "the end of the connection")
            self.assertGreater(self.sample(), 0, "it goes on")
            self.bus.start()
            client = self.connect()
            client.wait_for_service()
            self.assertEqual(client.get_all()["Subscriptions"], 0, "those of the old bus are gone")
            self.assertGreater(client.subscribe(), number)
        client.close()
        wait_until(lambda: self.descriptors() <= before, "the connections' ends")
        self.assertEqual(self.log().count("trying again"), 3, "once a loss")

    def test_keplerd_starts_without_a_bus_and_takes_it_up(self):
        self.daemon.stop()
        self.bus.stop()
        with Daemon(KEPLERD, self.host, bus=self.bus.address) as daemon:
            self.assertGreater(daemon.status()["sequence"], 0)
            wait_until(lambda: "trying again" in self.log(), "the log")
            self.bus.start()
            client = self.connect()
            client.wait_for_service()
            self.assertEqual(client.get_all()["SourceName"], "powercap")


    def test_a_bus_that_hangs_at_the_start_is_taken_up_when_it_goes_on(self):
        self.daemon.stop()
        self.bus.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.bus.process.pid, os.WSTOPPED | os.WNOWAIT)
        with Daemon(KEPLERD, self.host, bus=self.bus.address) as daemon:
            first = daemon.status()["sequence"]
            self.assertGreater(daemon.status()["sequence"], first)
            self.bus.process.send_signal(signal.SIGCONT)
            client = self.connect()
            client.wait_for_service()
            self.assertEqual(client.get_all()["SourceName"], "powercap")


class OnABusThatHangs(unittest.TestCase):
    """A socket that accepts, and answers no more than a test makes it."""

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.zone("intel-rapl:0", "package-0", 1_000_000)
        self.bus = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.bus.close)
        self.bus.settimeout(PATIENCE)
        self.bus.bind(str(self.host.root / "hung-bus"))
        self.bus.listen()

    def start(self):
        daemon = Daemon(KEPLERD, self.host, bus=f"unix:path={self.host.root}/hung-bus")
        self.addCleanup(lambda: self.assertEqual(daemon.stop(), 0, "a clean end: sanitizers found nothing"))
        return daemon

    def accept(self):
        client, _ = self.bus.accept()
        self.addCleanup(client.close)
        client.settimeout(PATIENCE)
        return client

    def expect_samples(self, daemon):
        sequences = [daemon.status()["sequence"] for _ in range(3)]
        self.assertEqual(sequences, sorted(set(sequences)))

    def greet(self, client):
        """Authentication, and the reply to Hello: from then on the client takes it for a bus."""
        received = b""
        while not received.endswith(b"BEGIN\r\n"):
            received += client.recv(1)
        client.sendall(b"DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n")
        message = b""
        while len(message) < 16 or len(message) < Gio.DBusMessage.bytes_needed(message):
            message += client.recv(1)
        hello = Gio.DBusMessage.new_from_blob(message, Gio.DBusCapabilityFlags.NONE)
        self.assertEqual(hello.get_member(), "Hello")
        reply = Gio.DBusMessage.new_method_reply(hello)
        reply.set_serial(1)
        reply.set_sender("org.freedesktop.DBus")
        reply.set_destination(":1.1")
        reply.set_body(GLib.Variant("(s)", (":1.1",)))
        client.sendall(reply.to_blob(Gio.DBusCapabilityFlags.NONE))

    def test_before_it_greets_nothing_waits_for_it(self):
        daemon = self.start()
        client = self.accept()
        self.expect_samples(daemon)
        self.assertTrue(client.recv(4096), "the beginning of the authentication")
        client.setblocking(False)
        with self.assertRaises(BlockingIOError, msg="keplerd has given up: it may have waited until then"):
            client.recv(4096)

    def test_after_it_has_greeted_it_is_given_up_and_tried_again(self):
        daemon = self.start()
        for _ in range(2):
            clients = []
            for _ in range(2):  # one for calls, one for what keplerd asks
                clients.append(self.accept())
                self.greet(clients[-1])
            for client in clients:
                while client.recv(4096):
                    pass
            self.expect_samples(daemon)
        self.assertEqual((self.host.root / "log").read_text().count("trying again"), 1)


class UnderTheInstalledPolicy(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_subscribers_are_pinged(self):
        host = WrittenHost()
        self.addCleanup(host.remove)
        host.root.chmod(0o755)
        host.zone("intel-rapl:0", "package-0", 1_000_000)
        policy = f"{CLOSED}<include>{SOURCE}/dbus/org.keplerd1.conf</include>"
        with PrivateBus(host.root / "bus", policy) as bus, Daemon(KEPLERD, host, bus=bus.address) as daemon:
            client = Client(bus)
            self.addCleanup(client.close)
            client.wait_for_service()
            number = client.subscribe()
            client.wait_for_reports(number, 1)
            for _ in range(3):  # each after the client's answer to a Ping
                count = len(client.reports(number))
                daemon.status()
                client.wait_for_reports(number, count + 1)


def stopped_subscriber(address):
    class Bus:
        pass
    bus = Bus()
    bus.address = address
    client = Client(bus)
    client.subscribe(kinds=GLib.Variant("as", ["units"]), limit=GLib.Variant("u", 5000),
                     details=GLib.Variant("b", True))
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    if KEPLERD == "--stopped-subscriber":
        stopped_subscriber(str(SOURCE))
    else:
        unittest.main(verbosity=2)
