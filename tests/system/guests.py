# SPDX-License-Identifier: Apache-2.0
"""Machines, containers and users' units on a booted host, created by the real programs: each is one row, with
the right name and the energy of its unit. Meanwhile busy.service keeps spinning."""
import itertools
import json
import re
import shlex
import time

from scenarios import PACKAGE, check_sums

BY_HAND = "8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e1"
NAMELESS = "8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e2"
QEMU = ("qemu-system-x86_64 -machine pc -accel tcg,tb-size=32 -m 64 -nodefaults -display none "
        "-drive file=/var/lib/testbed/spin.img,format=raw,snapshot=on")
PODMAN = "podman --storage-driver=vfs"
BOX = "/srv/box"


def drive(host, seconds):
    """50 W for a while; what was drawn has been counted."""
    host.rapl("drive", PACKAGE, 50)
    time.sleep(seconds)
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()


def by_id(rows):
    return {row["id"]: row for row in rows}


def unit_of(host, pid):
    """The scope or service that this process is in. (libvirt has groups of its own in its scopes.)"""
    return re.match(r".*?\.(scope|service)", host.sh(f"sed -n 's/^0:://p' /proc/{pid}/cgroup"))[0]


def machine_named(host, name):
    return next(m for m in host.ask("vms")["virtualMachines"] if m["name"] == name)


def machines(host, report):
    """Two libvirt domains, and a QEMU by hand"""
    host.testbed("start-vm", "busy1", "--busy")
    host.testbed("start-vm", "idle1")
    host.sh(f"systemd-run -q --unit=by-hand {QEMU} -name guest=by-hand,debug-threads=on -uuid {BY_HAND}")
    host.wait_for_samples()
    before = host.snapshot("vms")
    drive(host, 5)
    after = host.snapshot("vms")
    rows = {m["name"]: m for m in after["virtualMachines"]}
    report.equal("each is one row", sorted(m["name"] for m in after["virtualMachines"]),
                 ["busy1", "by-hand", "idle1"])
    uuids = {name: host.sh(f"virsh domuuid {name}").strip() for name in ("busy1", "idle1")}
    pids = {name: int(host.sh(f"cat /run/libvirt/qemu/{name}.pid")) for name in uuids}
    uuids["by-hand"], pids["by-hand"] = BY_HAND, int(host.property("MainPID", "by-hand"))
    for name, uuid in uuids.items():
        row = rows[name]
        report.equal(f"{name}: UUID, hypervisor, pid, unit",
                     (row["id"], row["uuid"], row["hypervisor"], row["pid"], row["unit"], row["state"]),
                     (uuid, uuid, "kvm", pids[name], unit_of(host, pids[name]), "running"))
    units, earlier = by_id(after["units"]), by_id(before["virtualMachines"])
    for name in ("busy1", "idle1"):
        report.equal(f"{name}: its energy is its scope's", rows[name]["energyMicrojoules"],
                     units[rows[name]["unit"]]["energyMicrojoules"])
    process = next(p for p in after["processes"] if p["pid"] == pids["by-hand"])
    report.equal("by-hand: its energy is its process's, and the process says so",
                 (rows["by-hand"]["energyMicrojoules"], BY_HAND),
                 (process["energyMicrojoules"], process["virtualMachineId"]))
    joules = {name: (rows[name]["energyMicrojoules"] - earlier[uuids[name]]["energyMicrojoules"]) / 1e6
              for name in uuids}
    report.note(", ".join(f"{name} {energy:.1f} J" for name, energy in joules.items()) + " of 50 W for some 5 s")
    report.check("the busy ones have drawn it, the idle one nearly none",
                 min(joules["busy1"], joules["by-hand"]) > 10 and joules["idle1"] < joules["busy1"] / 5, joules)
    check_sums(report, after, "with machines")


def live_changes(host, report):
    """virsh destroy and start, as seen by monitor"""
    host.sh("systemd-run -q --unit=watch -p StandardOutput=truncate:/run/watch.json "
            "keplerctl --json=short monitor vms")
    host.wait_for_samples()
    first = machine_named(host, "busy1")
    host.sh("virsh -q destroy busy1")
    host.wait_until(lambda: machine_named(host, "busy1")["state"] == "terminated", 10, "its end")
    ended = machine_named(host, "busy1")
    host.sh("virsh -q start busy1")
    host.wait_until(lambda: machine_named(host, "busy1")["state"] == "running", 10, "its return")
    drive(host, 3)
    host.sh("systemctl stop watch")
    snapshot = host.snapshot("vms")
    last = next(m for m in snapshot["virtualMachines"] if m["name"] == "busy1")
    report.equal("its UUID stays, its pid does not", (last["id"], last["pid"] != first["pid"]), (first["id"], True))
    report.check(f"its counter goes on: {ended['energyMicrojoules'] / 1e6:.1f} J at its end, "
                 f"{last['energyMicrojoules'] / 1e6:.1f} J now",
                 first["energyMicrojoules"] <= ended["energyMicrojoules"] < last["energyMicrojoules"])
    scopes = [u["energyMicrojoules"] for u in snapshot["units"]
              if u["id"].startswith("/machine.slice/machine-qemu") and u["id"].endswith("busy1.scope")]
    report.equal("it is that of its two scopes", (len(scopes), sum(scopes)), (2, last["energyMicrojoules"]))
    check_sums(report, snapshot, "a machine that came back")

    ticks = [json.loads(text)["virtualMachines"] for text in host.sh("cat /run/watch.json").split("\x1e")
             if text.endswith("\n")]
    report.equal(f"each of {len(ticks)} ticks has each machine once",
                 {tuple(sorted(m["name"] for m in rows)) for rows in ticks}, {("busy1", "by-hand", "idle1")})
    sent = [next(m for m in rows if m["id"] == first["id"]) for rows in ticks]
    report.equal("monitor tells the end and the start", [state for state, _ in itertools.groupby(
        row["state"] for row in sent)], ["running", "terminated", "running"])
    energies = [row["energyMicrojoules"] for row in sent]
    report.equal("never backwards", energies, sorted(energies))


def machined(host, report):
    """A QEMU without a name, registered with systemd-machined"""
    host.sh(f"systemd-run -q --unit=nameless {QEMU} -uuid {NAMELESS}")
    pid = host.property("MainPID", "nameless")
    host.sh(f"""busctl -q call org.freedesktop.machine1 /org/freedesktop/machine1 org.freedesktop.machine1.Manager \
        RegisterMachine sayssus by-machined 0 test vm {pid} ''""")
    host.wait_until(lambda: any(m["id"] == NAMELESS and m["name"] == "by-machined"
                                for m in host.ask("vms")["virtualMachines"]), 15, "its name")
    report.check("has the name that machined knows", True)
    host.sh("systemctl stop nameless")


def make_box(host):
    """A root for containers: busybox, and a program that is busy now and then."""
    host.sh(f"""
        mkdir -p {BOX}/bin {BOX}/sbin {BOX}/usr {BOX}/etc {BOX}/proc {BOX}/sys {BOX}/dev {BOX}/run {BOX}/tmp
        cp /bin/busybox {BOX}/bin/
        ln -s busybox {BOX}/bin/sh
        ln -s busybox {BOX}/bin/sleep
        echo ID=box >{BOX}/etc/os-release
        cat >{BOX}/sbin/init <<'END'
#!/bin/sh
while :; do
  i=0
  while [ $i -lt 30000 ]; do i=$((i + 1)); done
  sleep 0.1
done
END
        chmod +x {BOX}/sbin/init""")


def start_containers(host):
    # (The template's machines are shifted to users of their own: hence a copy.)
    host.sh(f"""
        cp -a {BOX} /var/lib/machines/box2
        mkdir /var/lib/lxc/lxcbox
        cp -a {BOX} /var/lib/lxc/lxcbox/rootfs
        cat >/var/lib/lxc/lxcbox/config <<'END'
lxc.uts.name = lxcbox
lxc.rootfs.path = dir:/var/lib/lxc/lxcbox/rootfs
lxc.net.0.type = empty
END
        systemd-run -q --unit=nspawn systemd-nspawn -q -D {BOX} --machine=box --register=yes /sbin/init
        systemctl start systemd-nspawn@box2
        systemd-run -q --unit=lxc-box lxc-start -n lxcbox -F""")
    # Debian 12's podman has made its database at boot, and takes no other driver for it then.
    host.sh("rm -f /var/lib/containers/storage/libpod/bolt_state.db")
    # Debian's crun insists on a pids controller, unless no limit is wanted. That of Debian 12 raises limits, which needs a
    # capability that this machine may not have, unless the container is privileged. And with systemd's variable podman
    # would leave conmon in the service of this very command, instead of giving it a scope.
    host.sh(f"env -u INVOCATION_ID {PODMAN} run -q -d --name=podbox --network=none --pids-limit=0 --privileged --ulimit=host "
            f"--rootfs {BOX} /sbin/init")


def containers(host, report):
    """nspawn, LXC, podman"""
    make_box(host)
    start_containers(host)
    known = host.sh(f"{PODMAN} inspect -f '{{{{.Id}}}}' podbox").strip()
    want = {"box": None,
            "box2": ("box2", "nspawn", "/machine.slice/systemd-nspawn@box2.service", []),
            "lxcbox": ("lxcbox", "lxc", "/lxc.payload.lxcbox", ["/lxc.monitor.lxcbox"]),
            "podbox": (known, "podman", f"/machine.slice/libpod-{known}.scope",
                       [f"/machine.slice/libpod-conmon-{known}.scope"])}
    host.wait_until(lambda: {c["name"] for c in host.ask("containers")["containers"]} >= set(want), 15, "names")
    # Since systemd 26x the scope is nspawn's own.
    scopes = host.sh("cd /sys/fs/cgroup; ls -d machine.slice/machine-box.scope machine.slice/box.scope/payload", check=False)
    want["box"] = ("box", "nspawn", "/" + scopes.strip(), [])
    drive(host, 5)
    snapshot = host.snapshot("containers")
    rows = {c["name"]: c for c in snapshot["containers"]}
    report.equal("each is one row", sorted(c["name"] for c in snapshot["containers"]), sorted(want))
    units = by_id(snapshot["units"])
    for name, (container_id, runtime, unit, monitors) in want.items():
        row = rows[name]
        report.equal(f"{name}: id, runtime, unit", (row["id"], row["runtime"], row["unit"], row["state"]),
                     (container_id, runtime, unit, "running"))
        joules = row["energyMicrojoules"] / 1e6
        report.equal(f"{name}: its energy is its unit's{' and its monitor' if monitors else ''}: {joules:.1f} J",
                     row["energyMicrojoules"], sum(units[u]["energyMicrojoules"] for u in [unit, *monitors]))
        report.check(f"{name}: its busy process is in it", row["energyMicrojoules"] > 1_000_000 and any(
            p.get("containerId") == container_id for p in snapshot["processes"]))
    check_sums(report, snapshot, "with containers")


def user_units(host, report):
    """A user's transient units"""
    host.sh("""
        useradd --create-home --uid 4711 joe
        loginctl enable-linger joe""")
    host.wait_until(lambda: host.property("ActiveState", "user@4711.service") == "active", 15, "joe's manager")
    names = ["spin.service", r"web@a\x2db.service"]
    work = shlex.quote(f"exec {BOX}/bin/sh {BOX}/sbin/init")
    for name in names:
        host.sh(f"systemd-run -q --machine=joe@.host --user --unit={shlex.quote(name)} sh -c {work}")
    drive(host, 3)
    snapshot = host.snapshot()
    units = by_id(snapshot["units"])
    for name in names:
        rows = [u for u in snapshot["units"] if u["name"] == name]
        report.equal(f"{name}: one row", [(r["kind"], r["state"]) for r in rows], [("unit", "running")])
        above = []
        row = rows[0]
        while row:
            above.append(row["name"])
            row = units.get(row.get("parent"))
        report.check(f"below user@4711.service: {rows[0]['energyMicrojoules'] / 1e6:.1f} J",
                     "user@4711.service" in above and rows[0]["energyMicrojoules"] > 500_000, above)
        pid = int(host.sh(f"systemctl --machine=joe@.host --user show -P MainPID {shlex.quote(name)}"))
        report.equal("with its process", [p["unit"] for p in snapshot["processes"] if p["pid"] == pid],
                     [rows[0]["id"]])
    check_sums(report, snapshot, "with a user's units")


def end(host, report):
    """All of them ended"""
    host.sh(f"""
        virsh -q destroy busy1
        virsh -q destroy idle1
        systemctl stop by-hand
        machinectl terminate box
        systemctl kill -s KILL systemd-nspawn@box2  # its init knows of no other end
        lxc-stop -k -n lxcbox
        {PODMAN} rm -t 0 -f podbox >/dev/null
        loginctl disable-linger joe
        systemctl stop user@4711""")
    host.wait_until(lambda: {r["state"] for kind, key in (("vms", "virtualMachines"), ("containers", "containers"))
                             for r in host.ask(kind)[key]} == {"terminated"}, 20, "the end of all")
    snapshot = host.snapshot("vms", "containers")
    states = {r["name"]: r["state"] for r in snapshot["virtualMachines"] + snapshot["containers"]}
    names = {"busy1", "by-hand", "idle1", "box", "box2", "lxcbox", "podbox"}
    report.check("each is still told, as terminated", set(states.values()) == {"terminated"} and names <= set(states),
                 states)
    check_sums(report, snapshot, "all ended")


ALL = [machines, live_changes, containers, user_units]
