# SPDX-License-Identifier: Apache-2.0
"""What any user of the bus can send to keplerd. Messages are written to the bus's socket as they are, without a library
that would enforce the rules of the bus. `address`: of the bus."""
import os
import socket

from gi.repository import Gio, GLib

from private_bus import MANAGER, NAME, PATH

PROPERTIES = "org.freedesktop.DBus.Properties"
NO_REPLY = Gio.DBusMessageFlags.NO_REPLY_EXPECTED
INTERACTIVE = Gio.DBusMessageFlags.ALLOW_INTERACTIVE_AUTHORIZATION


def message(method, body, interface=MANAGER, flags=Gio.DBusMessageFlags.NONE, destination=NAME, path=PATH):
    made = Gio.DBusMessage.new_method_call(destination, path, interface, method)
    made.set_flags(flags)
    if body:
        made.set_body(body)
    made.set_serial(1)
    return made.to_blob(Gio.DBusCapabilityFlags.NONE)


class RawClient:
    """Of the bus: says Hello, and then what it is given."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.partition("path=")[2])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(1000).startswith(b"OK")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial = 0
        bus = "org.freedesktop.DBus"
        self.send(message("Hello", None, bus, destination=bus, path="/org/freedesktop/DBus"))
        self.socket.recv(1000)

    def send(self, blob):
        self.serial += 1
        # D-Bus specification, "Message Format": the serial is the third number.
        self.socket.sendall(blob[:8] + self.serial.to_bytes(4, "little") + blob[12:])

    def throw_away(self):
        """What has arrived meanwhile."""
        try:
            while self.socket.recv(1 << 20, socket.MSG_DONTWAIT):
                pass
        except BlockingIOError:
            pass


def big_questions(ready, address, count=None, size=1 << 20, flags=NO_REPLY | INTERACTIVE):
    """Lists that polkit would have to allow first, each with an unknown option of a megabyte, and without requesting a
    reply: the bus does not count those. `count`: then all have been sent, and the connection stays; None: for
    ever."""
    client = RawClient(address)
    blob = message("ListUnits", GLib.Variant("(a{sv})", ({"unknown": GLib.Variant("s", "x" * size)},)), flags=flags)
    sent = 0
    if count is None:
        ready()
    while count is None or sent < count:
        client.send(blob)
        client.throw_away()
        sent += 1
    ready()
    client.socket.settimeout(None)
    while client.socket.recv(1 << 20):
        pass


def property_floods(ready, address, connections=8):
    """All properties, from several connections, as fast as the bus takes the calls."""
    clients = [RawClient(address) for _ in range(connections)]
    blob = message("GetAll", GLib.Variant("(s)", (MANAGER,)), PROPERTIES)
    ready()
    while True:
        for client in clients:
            for _ in range(20):
                client.send(blob)
            client.throw_away()


def deaf_property_floods(ready, address, connections=8):
    """The same without requesting replies."""
    clients = [RawClient(address) for _ in range(connections)]
    blob = message("GetAll", GLib.Variant("(s)", (MANAGER,)), PROPERTIES, NO_REPLY)
    ready()
    while True:
        for client in clients:
            for _ in range(20):
                client.send(blob)


def subscriptions(ready, address, wanted):
    """Subscribes this many times, or as often as possible, to all kinds of rows, and reads none of the reports."""
    client = RawClient(address)
    kinds = GLib.Variant("as", ["units", "vms", "containers", "pods", "processes", "zones"])
    for _ in range(wanted):
        client.send(message("Subscribe", GLib.Variant("(a{sv})", ({"kinds": kinds},))))
    ready()
    while client.socket.recv(1 << 20):
        pass
