# SPDX-License-Identifier: Apache-2.0
"""A private message bus, and its clients (GDBus)."""
import pathlib
import subprocess
import time
import xml.etree.ElementTree

from gi.repository import Gio, GLib

NAME, PATH, MANAGER = "org.keplerd1", "/org/keplerd1", "org.keplerd1.Manager"
PATIENCE = 60  # seconds, for what takes milliseconds

OPEN = """<policy context="default">
  <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy>"""
# The start of dbus-daemon's system.conf.
CLOSED = """<policy context="default">
  <allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
  <allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
  <allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
  <allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/>
</policy>"""


class PrivateBus:
    """dbus-daemon; may be stopped, and started again at the same address."""

    def __init__(self, directory, policy=OPEN):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self.address = f"unix:path={self.directory}/bus"
        (self.directory / "bus.conf").write_text(
            '<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" '
            '"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">'
            f"<busconfig><listen>{self.address}</listen>{policy}</busconfig>")
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        with open(self.directory / "bus.log", "a") as log:
            self.process = subprocess.Popen(
                ["dbus-daemon", f"--config-file={self.directory}/bus.conf", "--nofork", "--nopidfile", "--print-address"],
                stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline(), (self.directory / "bus.log").read_text()

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=PATIENCE)
            self.process.stdout.close()
            self.process = None

    def resident(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0


def wait_until(condition, what):
    """Handles signals until the condition holds."""
    context = GLib.MainContext.default()
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited for {what}"
        GLib.timeout_add(20, lambda: GLib.SOURCE_REMOVE)  # at the latest: signals wake it earlier
        context.iteration(True)


class Client:
    def __init__(self, bus):
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(bus.address, flags, None, None)
        self.connection.set_exit_on_close(False)
        self.signals = []
        self.connection.signal_subscribe(NAME, None, None, None, None, Gio.DBusSignalFlags.NONE, self._on_signal)

    def _on_signal(self, _connection, _sender, path, _interface, name, parameters):
        self.signals.append((name, path, parameters.unpack()))

    def close(self):
        if not self.connection.is_closed():
            self.connection.close_sync(None)

    def wait_for_service(self):
        def owned():
            reply = self.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                              "NameHasOwner", GLib.Variant("(s)", (NAME,)), None, 0, -1, None)
            return reply.unpack()[0]
        wait_until(owned, NAME)

    def call(self, method, signature=None, *arguments, path=PATH, interface=MANAGER):
        parameters = GLib.Variant(signature, arguments) if signature else None
        reply = self.connection.call_sync(NAME, path, interface, method, parameters, None, 0, PATIENCE * 1000, None)
        values = reply.unpack()
        return values[0] if len(values) == 1 else values

    def error(self, method, signature=None, *arguments, **where):
        """The D-Bus name of the error, and its message."""
        try:
            self.call(method, signature, *arguments, **where)
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error)
            Gio.DBusError.strip_remote_error(error)
            return name, error.message
        raise AssertionError(f"{method} has succeeded")

    def get_all(self, path=PATH, interface=MANAGER):
        return self.call("GetAll", "(s)", interface, path=path, interface="org.freedesktop.DBus.Properties")

    def introspect(self, path):
        return self.call("Introspect", path=path, interface="org.freedesktop.DBus.Introspectable")

    def list(self, kind, **options):
        return self.call(f"List{kind}", "(a{sv})", options)

    def subscribe(self, **options):
        return self.call("Subscribe", "(a{sv})", options)

    def reports(self, subscription):
        return [Report(values) for name, _, values in self.signals if name == "Report" and values[0] == subscription]

    def wait_for_reports(self, subscription, count):
        wait_until(lambda: len(self.reports(subscription)) >= count, f"{count} reports")
        return self.reports(subscription)


class Report:
    def __init__(self, values):
        (self.subscription, self.sequence, self.realtime, self.monotonic, self.window, self.host, self.accounts,
         kinds, self.extras) = values
        self.rows = {kind: {row[0]: row for row in rows} for kind, rows, _ in kinds}
        self.removed = {kind: removed for kind, _, removed in kinds}


EMITS = "org.freedesktop.DBus.Property.EmitsChangedSignal"


def members(text):
    """{interface: {(member's kind, name): what it is}}, of introspection data; comments and order do not count."""
    interfaces = {}
    for interface in xml.etree.ElementTree.fromstring(text).iter("interface"):
        found = interfaces.setdefault(interface.get("name"), {})
        for member in interface:
            if member.tag in ("method", "signal"):
                what = [(arg.get("name"), arg.get("type"), arg.get("direction", "in" if member.tag == "method" else "out"))
                        for arg in member.iter("arg")]
            else:
                notes = {note.get("name"): note.get("value") for note in member.iter("annotation")}
                what = (member.get("type"), member.get("access"), notes.get(EMITS, "true"))
            found[member.tag, member.get("name")] = what
    return interfaces
