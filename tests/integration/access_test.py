#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Access control end to end: clients of several users call keplerd over D-Bus, under the installed policy, and over
varlink. Needs root, to be those users.

usage: access_test.py KEPLERD SOURCE_DIRECTORY
"""
import contextlib
import grp
import json
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import time
import unittest

from gi.repository import Gio, GLib

from private_bus import CLOSED, MANAGER, NAME, OPEN, PATH, Client, PrivateBus, wait_until
from users import Varlink, user
from written_host import Daemon, WrittenHost

KEPLERD, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
UNKNOWN = 2**64 - 1
JOE, EVE = pwd.getpwnam("games").pw_uid, pwd.getpwnam("mail").pw_uid  # the bus wants users that exist
POLKIT = "org.freedesktop.PolicyKit1"
SLICE = f"/user.slice/user-{JOE}.slice"
VM = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01"
VM_PATH = f"{PATH}/vm/_32b9a43a1_2d5a5f_2d4cf0_2d9d3a_2d6a6f3a1d2c01"
JOES_VM = "3b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c02"
JOES_VM_PATH = f"{PATH}/vm/_33b9a43a1_2d5a5f_2d4cf0_2d9d3a_2d6a6f3a1d2c02"
ZONE_PATH = f"{PATH}/zone/powercap_3apackage_3a0"
KINDS = {"units": "Units", "vms": "VirtualMachines", "containers": "Containers", "pods": "Pods",
         "processes": "Processes", "zones": "Zones"}
ALL = {"units": {"/system.slice", "/system.slice/a.service", "/user.slice", SLICE, f"{SLICE}/app.scope"},
       "vms": {VM, JOES_VM}, "containers": set(), "pods": set(),
       "processes": {"10.100", "11.100", "12.100", "13.100"}, "zones": {"powercap:package:0"}}
NOTHING = {kind: set() for kind in KINDS}
JOES = NOTHING | {"units": {SLICE, f"{SLICE}/app.scope"}, "vms": {JOES_VM}, "processes": {"11.100", "13.100"}}
EVES = NOTHING | {"processes": {"12.100"}}
# By Public=: what joe and eve see; None: nothing at all.
TABLE = {"none": (None, None), "host": (NOTHING, NOTHING), "own": (JOES, EVES), "all": (ALL, ALL)}


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Access(unittest.TestCase):
    config = "[Sampling]\nInterval=0\nStaleness=0\n"
    public = "own"
    policy = f"""{CLOSED}<include>{SOURCE}/dbus/org.keplerd1.conf</include><policy context="default">
        <allow own="{POLKIT}"/><allow send_destination="{POLKIT}"/></policy>"""

    def setUp(self):
        self.host = WrittenHost()
        self.addCleanup(self.host.remove)
        self.host.root.chmod(0o755)
        self.drawn = 0
        for group, pids in (("/system.slice", []), ("/system.slice/a.service", [10, 12, 13]), ("/user.slice", []),
                            (SLICE, []), (f"{SLICE}/app.scope", [11])):
            self.host.group(group, 0, pids)
        self.process(10, 0, "/system.slice/a.service", ("system", VM))
        self.process(11, JOE, f"{SLICE}/app.scope")
        self.process(12, EVE, "/system.slice/a.service")
        self.process(13, JOE, "/system.slice/a.service", ("joes", JOES_VM))
        self.draw()
        self.bus = PrivateBus(self.host.root / "bus", self.policy)
        self.bus.start()
        self.addCleanup(self.bus.stop)
        self.daemon = Daemon(KEPLERD, self.host, bus=self.bus.address, config=self.config_with(self.public))
        self.addCleanup(lambda: self.assertEqual(self.daemon.stop(), 0, "a clean end: sanitizers found nothing"))
        self.root = self.connect(0)
        self.root.wait_for_service()

    def config_with(self, public):
        return f"{self.config}[Access]\nPublic={public}\n"

    def reload(self, public):
        count = self.log().count("configuration reloaded")
        self.host.write("keplerd.conf", self.config_with(public))
        self.daemon.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.log().count("configuration reloaded") > count, "the reload")

    def log(self):
        return (self.host.root / "log").read_text()

    def process(self, pid, uid, group, machine=None):
        self.host.process(pid, 0, comm="qemu-system-x86" if machine else "task", group=group)
        if machine:
            self.host.write(f"proc/{pid}/cmdline", f"qemu-system-x86_64\0-name\0guest={machine[0]}\0-uuid\0{machine[1]}\0-S\0")
        os.chown(self.host.root / f"proc/{pid}", uid, uid)

    def draw(self):
        """Draws another 1.234567 J, half of it active, and runs all processes."""
        self.drawn += 1
        self.host.zone("intel-rapl:0", "package-0", 1_234_567 * self.drawn)
        self.host.ticks(busy=1000 + 20 * self.drawn, idle=1000 + 20 * self.drawn)
        for group, pids in (("/system.slice", []), ("/system.slice/a.service", [10, 12, 13]), ("/user.slice", []),
                            (SLICE, []), (f"{SLICE}/app.scope", [11])):
            self.host.group(group, 100_000 * self.drawn, pids)

    def connect(self, uid, groups=()):
        with user(uid, groups):
            client = Client(self.bus)
        self.addCleanup(client.close)
        return client

    def varlink(self, uid, groups=()):
        client = Varlink(self.daemon, uid, groups)
        self.addCleanup(client.stream.close)
        return client

    def seen_on_varlink(self, client):
        status = client.call("GetStatus")
        if status == "org.varlink.service.PermissionDenied":
            for method in ("List", "Monitor"):
                self.assertEqual(client.call(method, more=True, kind="units"), status)
            self.assertEqual(client.call("Get", kind="units", id="/system.slice"), status)
            return None, None
        return {kind: client.ids(kind) for kind in KINDS}, "accounts" in status[0]

    def seen_on_the_bus(self, client):
        denied = "org.freedesktop.DBus.Error.AccessDenied"
        try:
            properties = client.get_all()
        except GLib.Error as error:
            self.assertEqual(Gio.DBusError.get_remote_error(error), denied)
            for method, signature, argument in (("ListUnits", "(a{sv})", {}), ("Subscribe", "(a{sv})", {}),
                                                ("GetUnit", "(s)", "/system.slice")):
                self.assertEqual(client.error(method, signature, argument)[0], denied)
            for name in ("Version", "HostPower", "Split"):
                self.assertEqual(client.error("Get", "(ss)", MANAGER, name,
                                              interface="org.freedesktop.DBus.Properties")[0], denied)
            return None, None
        accounts = [properties[f"Account{name}"] for name in ("Idle", "Kernel", "Workloads", "Unattributed")]
        accounts += [properties[f"Outside{name}Energy"] for name in ("Other", "Containers")]
        self.assertIn(accounts.count(UNKNOWN), (0, 6))
        return ({kind: {row[0] for row in client.list(name)} for kind, name in KINDS.items()}, UNKNOWN not in accounts)


class Table(Access):
    def test_everybody_is_told_what_is_for_them(self):
        try:
            group = [grp.getgrnam("keplerd").gr_gid]
        except KeyError:
            group = None  # this host has no such group; the booted one has
        for public, (joes, eves) in TABLE.items():
            self.reload(public)
            callers = [("root", 0, [], ALL, True), ("joe", JOE, [], joes, joes is None and None),
                       ("eve", EVE, [], eves, eves is None and None)]
            if group:
                callers.append(("a member", EVE, group, ALL, True))
            for name, uid, groups, rows, accounts in callers:
                with self.subTest(public=public, caller=name):
                    self.assertEqual(self.seen_on_varlink(self.varlink(uid, groups)), (rows, accounts))
                    self.assertEqual(self.seen_on_the_bus(self.connect(uid, groups)), (rows, accounts))

    def test_what_one_may_not_see_is_as_if_it_were_not_there(self):
        eve = self.varlink(EVE)
        for kind, hidden, error in (("units", f"{SLICE}/app.scope", "NoSuchUnit"), ("units", "a.service", "NoSuchUnit"),
                                    ("processes", "11.100", "NoSuchProcess"), ("vms", VM, "NoSuchVirtualMachine"),
                                    ("zones", "powercap:package:0", "NoSuchZone")):
            self.assertEqual(eve.call("Get", kind=kind, id=hidden), f"org.keplerd.Energy.{error}")
        self.assertEqual(eve.call("List", more=True, kind="units", idle="size"), "org.varlink.service.PermissionDenied")
        eve = self.connect(EVE)
        for method, hidden in (("GetUnit", "a.service"), ("GetProcess", "11.100"), ("GetVirtualMachine", VM),
                               ("GetZone", "package")):
            self.assertEqual(eve.error(method, "(s)", hidden)[0], f"org.keplerd1.Error.NoSuch{method[3:]}")
        properties = "org.freedesktop.DBus.Properties"
        for path, interface, nowhere in ((VM_PATH, "VirtualMachine", f"{PATH}/vm/no"), (ZONE_PATH, "Zone", f"{PATH}/zone/no")):
            for method, signature, arguments in (("GetAll", "(s)", []), ("Get", "(ss)", ["Id"]), ("Get", "(ss)", ["Energy"])):
                hidden, missing = (eve.error(method, signature, f"org.keplerd1.{interface}", *arguments, path=where,
                                             interface=properties) for where in (path, nowhere))
                self.assertEqual((hidden[0], hidden[1].replace(path, nowhere)), missing)
        joe = self.connect(JOE)
        self.assertEqual(joe.call("GetVirtualMachine", "(s)", "joes"), JOES_VM_PATH)
        self.assertEqual(joe.get_all(JOES_VM_PATH, "org.keplerd1.VirtualMachine")["Name"], "joes")

    def test_the_bus_names_nobody_elses_machines(self):
        eve = self.connect(EVE)
        denied = "org.freedesktop.DBus.Error.AccessDenied"
        tree = "org.freedesktop.DBus.Introspectable"
        self.assertIn("HostPower", eve.introspect(PATH))
        for path in (f"{PATH}/vm", VM_PATH):
            self.assertEqual(eve.error("Introspect", path=path, interface=tree)[0], denied)
        self.assertEqual(eve.error("GetManagedObjects", interface="org.freedesktop.DBus.ObjectManager")[0], denied)
        self.assertIn(VM_PATH, self.root.call("GetManagedObjects", interface="org.freedesktop.DBus.ObjectManager"))
        number = eve.subscribe(kinds=GLib.Variant("as", ["vms"]))
        self.process(20, 0, "/system.slice", ("new", VM.replace("2b", "5b")))
        self.host.group("/system.slice", 1_000_000, [20])
        wait_until(lambda: self.root.get_all()["Sequence"] and
                   any(name == "VirtualMachineAdded" for name, _, _ in self.root.signals), "the machine")
        eve.wait_for_reports(number, 1)
        self.assertEqual({name for name, _, _ in eve.signals}, {"Report"})

    def test_numbers_are_rounded_and_power_is_made_of_them(self):
        self.draw()
        exact = self.root.get_all()
        self.assertEqual(exact["HostEnergy"], 1_234_567)
        self.daemon.stop()
        # Its first sample is a tick.
        self.daemon = Daemon(KEPLERD, self.host, bus=self.bus.address, config=self.config_with("all"))
        self.root.wait_for_service()
        joe, status = self.connect(JOE).get_all(), self.varlink(JOE).status()
        self.assertEqual((joe["HostActiveEnergy"], joe["HostIdleEnergy"], joe["HostEnergy"]), (600_000, 600_000, 1_200_000))
        self.assertEqual(joe["HostPower"], UNKNOWN)
        self.assertEqual(status["host"], {"energyMicrojoules": 1_200_000, "activeMicrojoules": 600_000,
                                          "idleMicrojoules": 600_000})
        for kind, name in KINDS.items():
            rows = [reply["row"] for reply in self.varlink(JOE).call("List", more=True, kind=kind) if "row" in reply]
            for row in rows:
                for field, value in row.items():
                    if field.endswith("Microjoules"):
                        self.assertEqual(value % 100_000, 0, f"{row['id']}: {field}")
                self.assertNotIn("zones", row)
                self.assertNotIn("breakdown", row)
            for row in self.connect(JOE).list(name, details=GLib.Variant("b", True)):
                numbers = [*row[3:6], *(v for k, v in row[8].items() if k.endswith("Microjoules"))]
                self.assertEqual([n % 100_000 for n in numbers], [0] * len(numbers))
                self.assertNotIn("zones", row[8])


class WithoutThePolicy(Access):
    """With a bus that passes everything on."""
    policy = OPEN + '<policy context="default"><allow user="*"/></policy>'
    PROPERTIES, TREE = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable"

    def answers(self, client, path, interface):
        """To whatever libsystemd answers by itself, and to the rest."""
        value = GLib.Variant("s", "x")
        questions = [("Set", "(ssv)", (interface, "Id", value), self.PROPERTIES),
                     ("Set", "(ssv)", (interface, "None", value), self.PROPERTIES),
                     ("Get", "(ss)", (interface, "Id"), self.PROPERTIES),
                     ("Get", "(ss)", (interface, "None"), self.PROPERTIES),
                     ("Get", "(ss)", ("none.None", "Id"), self.PROPERTIES),
                     ("GetAll", "(s)", (interface,), self.PROPERTIES),
                     ("GetAll", "(s)", ("none.None",), self.PROPERTIES),
                     ("None", None, (), self.PROPERTIES),
                     ("None", None, (), interface),
                     ("None", None, (), "none.None"),
                     ("None", None, (), None),
                     ("Introspect", None, (), self.TREE),
                     ("GetManagedObjects", None, (), "org.freedesktop.DBus.ObjectManager"),
                     ("Ping", None, (), "org.freedesktop.DBus.Peer"),
                     ("Ping", None, (), None)]
        answers = []
        for method, signature, arguments, where in questions:
            message = Gio.DBusMessage.new_method_call(NAME, path, where, method)
            if signature:
                message.set_body(GLib.Variant(signature, arguments))
            reply, _ = client.connection.send_message_with_reply_sync(message, Gio.DBusSendMessageFlags.NONE, 60_000, None)
            body = reply.get_body()
            answers.append((method, where, reply.get_error_name(), str(body.unpack()).replace(path, "PATH") if body else ""))
        return answers

    def test_what_is_hidden_answers_like_what_is_nowhere(self):
        nowhere = VM_PATH.replace("_32b9", "_32b8")
        for public in ("own", "host", "none"):
            self.reload(public)
            for user in (EVE, JOE):
                client = self.connect(user)
                for hidden, missing, interface in ((VM_PATH, nowhere, "org.keplerd1.VirtualMachine"),
                                                   (VM_PATH, f"{PATH}/vm/a/b", "org.keplerd1.VirtualMachine"),
                                                   (f"{PATH}/vm", nowhere, "org.keplerd1.VirtualMachine"),
                                                   (ZONE_PATH, f"{PATH}/zone/no", "org.keplerd1.Zone"),
                                                   (f"{PATH}/zone", f"{PATH}/zone/no", "org.keplerd1.Zone")):
                    with self.subTest(public=public, user=user, path=hidden):
                        self.assertEqual(self.answers(client, hidden, interface), self.answers(client, missing, interface))

    def test_what_is_seen_answers_and_root_sees_all(self):
        for client, path in ((self.connect(JOE), JOES_VM_PATH), (self.root, VM_PATH)):
            self.assertIn("VCPUs", client.introspect(path))
            self.assertEqual(client.error("Set", "(ssv)", "org.keplerd1.VirtualMachine", "Id", GLib.Variant("s", "x"), path=path,
                                          interface=self.PROPERTIES)[0], "org.freedesktop.DBus.Error.PropertyReadOnly")
        self.assertEqual(self.root.introspect(f"{PATH}/vm").count("<node name="), 2)
        for client in (self.connect(EVE), self.root):
            self.assertIn('<node name="vm"/>', client.introspect(PATH))


class Pace(Access):
    def test_a_stranger_causes_no_sample(self):
        varlink, bus = self.varlink(JOE), self.connect(JOE)
        before = self.root.get_all()["Sequence"]
        for _ in range(50):
            self.draw()
            varlink.status()
            varlink.ids("units")
            varlink.call("Get", kind="units", id="/nowhere")
            bus.get_all()
            bus.list("Processes")
            bus.error("GetUnit", "(s)", "/nowhere")
        number = bus.subscribe(interval=GLib.Variant("u", 1))
        bus.wait_for_reports(number, 1)
        stream = self.varlink(JOE)
        stream.stream.write(b'{"method":"org.keplerd.Energy.Monitor","parameters":{"intervalUsec":1},"more":true}\0')
        stream.stream.flush()
        stream.next()
        self.assertEqual(self.root.get_all()["Sequence"], before + 1, "this very question's")

    def test_those_who_may_do_and_the_stranger_sees_no_more_for_it(self):
        joe = self.varlink(JOE)
        first = joe.status()
        for _ in range(50):
            self.draw()
            exact = self.root.get_all()
            status = joe.status()
            self.assertLessEqual(status["monotonicUsec"], exact["MonotonicUSec"])
            if status["sequence"] != first["sequence"]:  # on a machine so slow that a second has passed
                self.assertGreaterEqual(status["monotonicUsec"] - first["monotonicUsec"], 950_000)
                first = status
            self.assertEqual(status, first)


class FastSampling(Access):
    config = "[Sampling]\nInterval=10ms\n"

    def test_polling_and_streams_tell_one_value_a_second_and_the_same_to_all(self):
        clients = [self.varlink(JOE), self.varlink(EVE)]
        bus = self.connect(JOE)
        stream, number = self.varlink(JOE), bus.subscribe()
        stream.stream.write(b'{"method":"org.keplerd.Energy.Monitor","parameters":{"intervalUsec":1},"more":true}\0')
        stream.stream.flush()
        hosts = {}  # the host's numbers, by their time
        compared = 0  # with those on the bus
        while len(hosts) < 4:
            self.draw()
            for status in (client.status() for client in clients):
                host = hosts.setdefault(status["monotonicUsec"], status["host"])
                self.assertEqual(status["host"], host, "two users, one tick")
            try:
                properties = bus.get_all()
            except GLib.Error as error:  # who reads without a pause takes more than an eighth of a processor in a slow build
                self.assertIn("org.freedesktop.DBus.Error.LimitsExceeded", error.message)
                continue
            if properties["MonotonicUSec"] in hosts:
                self.assertEqual(properties["HostEnergy"], hosts[properties["MonotonicUSec"]]["energyMicrojoules"])
                compared += 1
        self.assertGreater(compared, 0)
        ticks = sorted(hosts)
        self.assertGreaterEqual(min(b - a for a, b in zip(ticks, ticks[1:])), 950_000)
        self.assertGreater(self.root.get_all()["Sequence"], 100, "it samples all the while")
        streamed = [stream.next()["parameters"] for _ in range(3)]
        self.assertLessEqual({reply["monotonicUsec"] for reply in streamed}, set(ticks))
        reports = bus.wait_for_reports(number, 3)
        self.assertGreaterEqual(min(b.monotonic - a.monotonic for a, b in zip(reports, reports[1:])), 950_000)
        self.assertEqual(set(reports[0].accounts), {UNKNOWN})
        for before, after in zip(ticks, ticks[1:]):
            drawn = hosts[after]["energyMicrojoules"] - hosts[before]["energyMicrojoules"]
            # Times are in whole microseconds.
            self.assertAlmostEqual(hosts[after]["powerMicrowatts"], drawn * 1e6 / (after - before), delta=drawn / 1e5 + 1)


class Changes(Access):
    def test_streams_end_where_nothing_is_public_any_more(self):
        stream, bus = self.varlink(JOE), self.connect(JOE)
        stream.stream.write(b'{"method":"org.keplerd.Energy.Monitor","parameters":{},"more":true}\0')
        stream.stream.flush()
        self.assertNotIn("error", stream.next())
        number = bus.subscribe()
        bus.wait_for_reports(number, 1)
        self.reload("none")
        self.assertEqual(stream.next()["error"], "org.varlink.service.PermissionDenied")
        wait_until(lambda: self.root.get_all() and
                   ("SubscriptionEnded", PATH, (number, "denied")) in bus.signals, "SubscriptionEnded")

    def test_strangers_do_not_take_all_the_places(self):
        clients = [self.varlink(JOE) for _ in range(64)]
        self.assertEqual(len([client.status() for client in clients]), 64)
        refused = Varlink(self.daemon, JOE)
        with self.assertRaises((AssertionError, OSError)):
            refused.status()
        with contextlib.suppress(OSError):
            refused.stream.close()
        self.varlink(EVE).status()
        self.varlink(0).status()
        first, second = self.connect(JOE), self.connect(JOE)
        for _ in range(16):
            first.subscribe()
        self.assertIn("16 for one user", second.error("Subscribe", "(a{sv})", {})[1])
        self.connect(EVE).subscribe()


class WithPolkit(Access):
    public = "none"

    def setUp(self):
        super().setUp()
        self.answers = self.host.root / "polkit"
        self.polkit = None

    def start_polkit(self):
        self.answers.write_text("no")
        self.polkit = subprocess.Popen([sys.executable, __file__, "--polkit", self.bus.address, self.answers],
                                       stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.polkit.stdout.close)
        self.addCleanup(self.polkit.wait)
        self.addCleanup(self.polkit.kill)
        self.assertEqual(self.polkit.stdout.readline(), "ready\n")

    def asked(self):
        question = json.loads(self.polkit.stdout.readline())
        self.cancellation = question.pop("cancellation")
        return question

    def ask(self, client, interactive=False):
        flags = Gio.DBusCallFlags.ALLOW_INTERACTIVE_AUTHORIZATION if interactive else Gio.DBusCallFlags.NONE
        try:
            rows = client.connection.call_sync(NAME, PATH, MANAGER, "ListProcesses", GLib.Variant("(a{sv})", ({},)),
                                               None, flags, 60_000, None).unpack()[0]
            return {row[0] for row in rows}
        except GLib.Error as error:
            return Gio.DBusError.get_remote_error(error)

    def send(self, client, options, interactive=True, answer=None, descriptors=0):
        """A call of ListProcesses. Without `answer` no reply is expected; else it gets each error's name."""
        message = Gio.DBusMessage.new_method_call(NAME, PATH, MANAGER, "ListProcesses")
        message.set_body(GLib.Variant("(a{sv})", (options,)))
        flags = Gio.DBusMessageFlags.NONE
        if interactive:
            flags |= Gio.DBusMessageFlags.ALLOW_INTERACTIVE_AUTHORIZATION
        if descriptors:
            message.set_unix_fd_list(Gio.UnixFDList.new_from_array([os.dup(0) for _ in range(descriptors)]))
        if answer is None:
            message.set_flags(flags | Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
            client.connection.send_message(message, Gio.DBusSendMessageFlags.NONE)
            client.connection.flush_sync(None)
            return

        def on_reply(connection, result):
            with contextlib.suppress(GLib.Error):  # the test is over
                answer.append(connection.send_message_with_reply_finish(result).get_error_name() or "")

        message.set_flags(flags)
        client.connection.send_message_with_reply(message, Gio.DBusSendMessageFlags.NONE, 60_000, None, on_reply)

    def hang_polkit(self):
        """Keeps a question of joe's pending, which is not answered."""
        self.start_polkit()
        self.answers.write_text("wait")
        joe, answers = self.connect(JOE), []
        self.send(joe, {}, answer=answers)
        self.assertEqual(self.asked()["flags"], 1)
        return joe, answers

    def assert_asked_nothing_else(self):
        """By the next question, which is eve's."""
        eve = self.connect(EVE)
        self.send(eve, {}, interactive=False, answer=[])
        self.assertEqual(self.asked()["subject"][1]["name"], eve.connection.get_unique_name())


class ByPolkit(WithPolkit):
    def test_without_polkit_nobody_is_authorized(self):
        for interactive in (False, True):
            self.assertEqual(self.ask(self.connect(JOE), interactive), "org.freedesktop.DBus.Error.AccessDenied")

    def test_whom_polkit_authorizes_sees_everything_until_he_leaves(self):
        self.start_polkit()
        joe = self.connect(JOE)
        self.assertEqual(self.ask(joe), "org.freedesktop.DBus.Error.AccessDenied")
        question = {"subject": ["system-bus-name", {"name": joe.connection.get_unique_name()}],
                    "action": "org.keplerd1.read-details", "flags": 0}
        self.assertEqual(self.asked(), question)
        for _ in range(100):
            self.assertEqual(self.ask(joe), "org.freedesktop.DBus.Error.AccessDenied", "and polkit is left alone")
        self.answers.write_text("yes")
        self.assertEqual(self.ask(joe, interactive=True), ALL["processes"])
        self.assertEqual(self.asked(), question | {"flags": 1})
        self.assertNotEqual(joe.get_all()["AccountIdle"], UNKNOWN)
        self.answers.write_text("no")
        self.assertEqual(self.ask(joe), ALL["processes"])
        self.assertEqual(self.ask(self.connect(JOE)), "org.freedesktop.DBus.Error.AccessDenied", "another client")
        self.assertEqual(self.asked()["flags"], 0)
        self.assertEqual(self.connect(JOE).error("Get", "(ss)", MANAGER, "HostPower",
                                                 interface="org.freedesktop.DBus.Properties")[0],
                         "org.freedesktop.DBus.Error.AccessDenied", "a property asks nobody")

    def test_a_polkit_that_is_slow_holds_nobody_else_up(self):
        self.start_polkit()
        self.answers.write_text("wait")
        joe = self.connect(JOE)
        replies = []
        joe.connection.call(NAME, PATH, MANAGER, "ListProcesses", GLib.Variant("(a{sv})", ({},)), None,
                            Gio.DBusCallFlags.ALLOW_INTERACTIVE_AUTHORIZATION, 60_000, None,
                            lambda connection, result: replies.append(connection.call_finish(result).unpack()[0]))
        self.asked()
        for _ in range(20):
            self.assertEqual(len(self.root.list("Processes")), 4)
        self.assertEqual(replies, [])
        self.answers.write_text("yes")
        self.polkit.send_signal(signal.SIGUSR1)
        wait_until(lambda: replies, "the answer")
        self.assertEqual({row[0] for row in replies[0]}, ALL["processes"])

    def test_a_user_who_has_refused_is_not_asked_again_through_another_connection(self):
        self.start_polkit()
        denied = "org.freedesktop.DBus.Error.AccessDenied"
        self.assertEqual(self.ask(self.connect(JOE), interactive=True), denied)
        self.assertEqual(self.asked()["flags"], 1)
        self.assertEqual(self.ask(self.connect(JOE), interactive=True), denied)
        self.assertEqual(self.asked()["flags"], 0)
        self.assertEqual(self.ask(self.connect(EVE), interactive=True), denied)
        self.assertEqual(self.asked()["flags"], 1, "another user is")

    def test_the_question_of_a_client_that_leaves_is_cancelled(self):
        joe, _ = self.hang_polkit()
        question = self.cancellation
        joe.close()
        self.assertEqual(json.loads(self.polkit.stdout.readline()), {"cancelled": question})
        self.assertEqual(len(self.root.list("Processes")), 4)


class Floods(WithPolkit):
    LARGE = {"x": GLib.Variant("s", "y" * (1 << 20))}
    LIMIT = "org.freedesktop.DBus.Error.LimitsExceeded"

    def peak(self):
        """keplerd's peak resident memory."""
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))

    def test_calls_that_expect_no_reply_are_refused_at_once(self):
        self.hang_polkit()
        joe, before = self.connect(JOE), self.peak()
        for _ in range(1000):
            self.send(joe, self.LARGE)
        joe.error("Get", "(ss)", MANAGER, "Version", interface="org.freedesktop.DBus.Properties")  # all came before
        self.assertLess(self.peak() - before, 64 << 20)
        self.assert_asked_nothing_else()

    def test_large_options_are_refused_before_polkit_is_asked(self):
        self.hang_polkit()
        joe, answers = self.connect(JOE), []
        for count in range(1, 101):
            self.send(joe, self.LARGE, answer=answers)
            wait_until(lambda: len(answers) == count, "the error")
        self.assertIn("org.freedesktop.DBus.Error.InvalidArgs", answers)
        # Refusing them takes time, too, and callers over their budget are refused before anything is read.
        self.assertLessEqual(set(answers), {"org.freedesktop.DBus.Error.InvalidArgs",
                                            "org.freedesktop.DBus.Error.LimitsExceeded"})
        self.assert_asked_nothing_else()

    def test_sixteen_calls_of_a_client_wait(self):
        joe, answers = self.hang_polkit()
        for _ in range(1000):
            self.send(joe, {"limit": GLib.Variant("u", 1)}, answer=answers)
        wait_until(lambda: len(answers) == 985, "the refusals")
        self.assertEqual(set(answers), {self.LIMIT})
        self.assert_asked_nothing_else()
        self.answers.write_text("yes")
        self.polkit.send_signal(signal.SIGUSR1)
        wait_until(lambda: len(answers) == 1001, "the answers")
        self.assertEqual(answers.count(""), 16)

    def test_identifying_a_client_does_not_read_what_others_sent(self):
        joe, eve, answers, before = self.connect(JOE), self.connect(EVE), [], self.peak()
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.send(eve, {}, interactive=False, answer=answers)
        eve.connection.flush_sync(None)
        for _ in range(100):
            self.send(joe, self.LARGE)
        self.daemon.process.send_signal(signal.SIGCONT)
        wait_until(lambda: answers, "the answer")
        self.assertLess(self.peak() - before, 64 << 20)

    def identified(self):
        try:
            return len(self.root.list("Processes")) == 4
        except GLib.Error:
            return False

    def test_a_bus_that_hangs_holds_keplerd_up_once(self):
        clients, answers = [self.connect(JOE) for _ in range(8)], []
        self.daemon.process.send_signal(signal.SIGSTOP)
        for client in clients:
            self.send(client, {}, interactive=False, answer=answers)
            client.connection.flush_sync(None)
        for client in clients:  # the bus has passed it on before
            client.connection.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, -1, None)
        self.bus.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.bus.process.send_signal, signal.SIGCONT)
        begin = time.monotonic()
        self.daemon.process.send_signal(signal.SIGCONT)
        for _ in range(20):
            self.daemon.status()
        self.assertLess(time.monotonic() - begin, 3)
        self.bus.process.send_signal(signal.SIGCONT)
        wait_until(lambda: len(answers) == 8, "the answers")
        self.assertEqual(set(answers), {"org.freedesktop.DBus.Error.Timeout"})
        wait_until(lambda: self.identified(), "the bus to be asked again")

    def test_a_call_that_waits_keeps_no_descriptors(self):
        joe, answers = self.hang_polkit()
        descriptors = pathlib.Path(f"/proc/{self.daemon.process.pid}/fd")
        before = len(list(descriptors.iterdir()))
        for _ in range(15):
            self.send(joe, {}, answer=answers, descriptors=8)
        self.send(joe, {}, answer=answers)
        wait_until(lambda: answers == [self.LIMIT], "the refusal, after all others were taken")
        self.assertEqual(len(list(descriptors.iterdir())), before)


def polkit(address, answers):
    """A fake polkit: prints the questions that it gets, and answers what the file says; "wait": at SIGUSR1."""
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
    node = Gio.DBusNodeInfo.new_for_xml(f"""<node><interface name="{POLKIT}.Authority"><method name="CheckAuthorization">
        <arg type="(sa{{sv}})" direction="in"/><arg type="s" direction="in"/><arg type="a{{ss}}" direction="in"/>
        <arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="(bba{{ss}})" direction="out"/>
        </method><method name="CancelCheckAuthorization"><arg type="s" direction="in"/></method></interface></node>""")
    waiting = []

    def answer(invocation):
        yes = pathlib.Path(answers).read_text() == "yes"
        invocation.return_value(GLib.Variant("((bba{ss}))", ((yes, False, {}),)))

    def on_call(_connection, _sender, _path, _interface, method, parameters, invocation):
        if method == "CancelCheckAuthorization":
            print(json.dumps({"cancelled": parameters.unpack()[0]}), flush=True)
            invocation.return_value(None)
            return
        subject, action, _details, given, cancellation = parameters.unpack()
        print(json.dumps({"subject": subject, "action": action, "flags": given, "cancellation": cancellation}), flush=True)
        if pathlib.Path(answers).read_text() == "wait":
            waiting.append(invocation)
        else:
            answer(invocation)

    def on_signal():
        while waiting:
            answer(waiting.pop())
        return True

    connection.register_object("/org/freedesktop/PolicyKit1/Authority", node.interfaces[0], on_call, None, None)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, on_signal)
    Gio.bus_own_name_on_connection(connection, POLKIT, Gio.BusNameOwnerFlags.NONE,
                                   lambda *_: print("ready", flush=True), None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    if KEPLERD == "--polkit":
        polkit(str(SOURCE), sys.argv[1])
    else:
        unittest.main(verbosity=2)
