# SPDX-License-Identifier: Apache-2.0
"""org.freedesktop.systemd1 on a private bus, as far as a transient scope needs it, or the start of a service.

usage: fake_manager.py BUS-ADDRESS CGROUP FILE [REFUSAL]

Every scope has this CGROUP; if it is a directory of cgroup2 instead, below which others make their roots, each scope
has a cgroup /NAME of its own in it. What is requested is written to FILE, one JSON object a line. While FILE.running
exists, all services are active. REFUSAL: the text of the error with which it refuses to start one. Prints a line when it
can be called.
"""
import json
import pathlib
import sys

from gi.repository import Gio, GLib

ADDRESS, CGROUP, FILE, *REFUSAL = sys.argv[1:]
UNIT = "/org/freedesktop/systemd1/unit/"
REAL = pathlib.Path(CGROUP, "cgroup.procs").exists()
connection = None
known, objects = {}, {}  # object path: cgroup, and its registration
INTERFACES = Gio.DBusNodeInfo.new_for_xml("""<node>
<interface name="org.freedesktop.systemd1.Manager">
  <method name="StartTransientUnit"><arg type="s"/><arg type="s"/><arg type="a(sv)"/><arg type="a(sa(sv))"/>
    <arg type="o" direction="out"/></method>
  <method name="StartUnit"><arg type="s"/><arg type="s"/><arg type="o" direction="out"/></method>
  <method name="ListUnitsByNames"><arg type="as"/><arg type="a(ssssssouso)" direction="out"/></method>
  <method name="GetUnit"><arg type="s"/><arg type="o" direction="out"/></method>
  <signal name="JobRemoved"><arg type="u"/><arg type="o"/><arg type="s"/><arg type="s"/></signal>
</interface>
<interface name="org.freedesktop.systemd1.Scope"><property name="ControlGroup" type="s" access="read"/></interface>
</node>""")


def path_of(name):
    return UNIT + "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in name)


def start(name, properties):
    cgroup = f"/{name}" if REAL else CGROUP
    if REAL:
        directory = pathlib.Path(CGROUP, name)
        directory.mkdir(exist_ok=True)
        for pid in properties["PIDs"]:
            (directory / "cgroup.procs").write_text(str(pid))
    if path_of(name) not in known:
        objects[path_of(name)] = connection.register_object(path_of(name), scope, None, on_get, None)
    known[path_of(name)] = cgroup


def remove_empty_scopes():
    """As systemd does; what they have used is then in FILE.NAME."""
    for path, cgroup in list(known.items()):
        directory = pathlib.Path(CGROUP + cgroup)
        try:
            used = (directory / "cpu.stat").read_text()
            directory.rmdir()
        except OSError:  # processes are in it
            continue
        new = pathlib.Path(FILE + ".new")
        new.write_text(used)
        new.replace(FILE + "." + cgroup[1:])
        known.pop(path)
        connection.unregister_object(objects.pop(path))
    return GLib.SOURCE_CONTINUE


def on_call(_connection, sender, _path, _interface, method, parameters, invocation):
    if method == "GetUnit":
        invocation.return_value(GLib.Variant("(o)", (path_of(parameters.unpack()[0]),)))
    elif method == "ListUnitsByNames":
        running = pathlib.Path(FILE + ".running").exists()
        invocation.return_value(GLib.Variant("(a(ssssssouso))", ([
            (name, name, "loaded", "active" if running else "inactive", "", "", path_of(name), 0, "", "/")
            for name in parameters.unpack()[0]],)))
    elif REFUSAL:
        invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", REFUSAL[0])
    elif method == "StartUnit":
        name, mode = parameters.unpack()
        with open(FILE, "a") as file:
            file.write(json.dumps({"name": name, "mode": mode}) + "\n")
        invocation.return_value(GLib.Variant("(o)", ("/org/freedesktop/systemd1/job/7",)))
    else:
        name, mode, properties, _ = parameters.unpack()
        with open(FILE, "a") as file:
            file.write(json.dumps({"name": name, "mode": mode, "properties": dict(properties)}) + "\n")
        start(name, dict(properties))
        job = "/org/freedesktop/systemd1/job/7"
        invocation.return_value(GLib.Variant("(o)", (job,)))
        connection.emit_signal(sender, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved",
                               GLib.Variant("(uoss)", (7, job, name, "done")))


def on_get(_connection, _sender, path, _interface, _name):
    return GLib.Variant("s", known[path])


connection = Gio.DBusConnection.new_for_address_sync(
    ADDRESS, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
manager, scope = INTERFACES.interfaces
connection.register_object("/org/freedesktop/systemd1", manager, on_call, None, None)
Gio.bus_own_name_on_connection(connection, "org.freedesktop.systemd1", Gio.BusNameOwnerFlags.NONE,
                               lambda *_: print("ready", flush=True), None)
if REAL:
    GLib.timeout_add(5, remove_empty_scopes)
GLib.MainLoop().run()
