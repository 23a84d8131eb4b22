# SPDX-License-Identifier: Apache-2.0
"""org.keplerd1 on the system bus of a booted host, with the release's own sdbus-c++, bus and clients."""
import json
import xml.etree.ElementTree as ElementTree

from booted_host import SOURCE

NAME, PATH, MANAGER = "org.keplerd1", "/org/keplerd1", "org.keplerd1.Manager"
SANITIZED = "/root/build-sanitized"


def interface(name):
    file = SOURCE / f"dbus/{name}.xml"
    return next(i for i in ElementTree.parse(file).getroot() if i.get("name") == name)


def object_path(host, method, of):
    return host.sh(f"busctl call {NAME} {PATH} {MANAGER} {method} s {of}").split('"')[1]


def system_bus(host, report):
    """busctl and gdbus on the system bus"""
    objects = {MANAGER: PATH, "org.keplerd1.Zone": object_path(host, "GetZone", "package"),
               "org.keplerd1.VirtualMachine": object_path(host, "GetVirtualMachine", "busy1")}
    tree = host.sh(f"busctl --list tree {NAME}").split()
    report.equal("tree shows the objects", [path for path in objects.values() if path not in tree], [])
    for name, path in objects.items():
        members = list(interface(name))
        shown = host.sh(f"busctl introspect {NAME} {path} {name}")
        report.equal(f"introspect {name}: each of {len(members)} members",
                     [m.get("name") for m in members if f".{m.get('name')} " not in shown], [])
        properties = [m for m in members if m.tag == "property"]
        script = "; ".join(f"busctl get-property {NAME} {path} {name} {p.get('name')}" for p in properties)
        values = host.sh(script).splitlines()
        wrong = [p.get("name") for p, value in zip(properties, values, strict=True)
                 if not value.startswith(p.get("type") + " ")]
        report.equal(f"get-property: each of {len(properties)} has its type", wrong, [])
    report.check("gdbus introspect agrees", "HostEnergy" in host.sh(
        f"gdbus introspect --system -d {NAME} -o {PATH}"))


def bus_methods(host, report):
    """Every method of the Manager"""
    process = host.ask("processes")["processes"][0]["id"]
    container = host.ask("containers")["containers"][0]["id"]
    arguments = {"GetUnit": "s system.slice", "GetZone": "s package", "GetProcess": f"s {process}",
                 "GetContainer": f"s {container}", "GetVirtualMachine": "s busy1", "Unsubscribe": "t 1"}
    for method in interface(MANAGER):
        name = method.get("name")
        if method.tag != "method":
            continue
        takes = "".join(a.get("type") for a in method if a.tag == "arg" and a.get("direction") == "in")
        given = arguments.get(name, f"{takes} nowhere" if takes == "s" else "a{sv} 1 limit u 3")
        reply = host.run("sh", "-c", f"busctl call {NAME} {PATH} {MANAGER} {name} '{takes}' "
                                     f"{given.removeprefix(takes)}")
        # No pod runs here, and busctl's own subscription ends with its call.
        good = (reply.returncode != 0) == (name in ("GetPod", "Unsubscribe"))
        report.check(f"{name}: {(reply.stdout or reply.stderr).strip()[:60]}", good, reply.stderr)
    energy = host.sh(f"busctl --json=short get-property {NAME} {PATH} {MANAGER} HostEnergy")
    status = host.ask("status")
    report.check("HostEnergy is varlink's", json.loads(energy)["data"] <= status["host"]["energyMicrojoules"])


def activation(host, report):
    """Started by a call"""
    host.sh("systemctl stop keplerd.service keplerd.socket")
    report.equal("stopped", host.property("ActiveState"), "inactive")
    reply = host.run("busctl", "get-property", NAME, PATH, MANAGER, "Version")
    report.equal(f"a call on the bus starts it: {reply.stdout.strip()}", (reply.returncode, host.property("ActiveState")),
                 (0, "active"))
    host.sh("systemctl start keplerd.socket")


def sanitized(host, report):
    """The bus tests under the sanitizers, with this release's sdbus-c++"""
    host.sh(f"""
        export CCACHE_DIR=/ccache
        cd /src
        cmake --preset asan -B {SANITIZED} -DKEPLERD_TESTS=OFF
        ninja -C {SANITIZED} keplerd""")
    for test in ("dbus_test.py", "access_test.py"):
        run = host.run("env", "ASAN_OPTIONS=quarantine_size_mb=4", "/usr/bin/python3", "-B",
                       f"/src/tests/integration/{test}", f"{SANITIZED}/bin/keplerd", "/src")
        lines = run.stderr.strip().splitlines()
        failed = [line for line in lines if line.startswith(("ERROR:", "FAIL:"))]
        report.equal(f"tests/integration/{test}: {failed + lines[-1:]}", run.returncode, 0)
    report.note("sdbus-c++ " + host.sh("pkg-config --modversion sdbus-c++").strip())


ALL = [system_bus, bus_methods, activation]
LONG = {activation: sanitized}
