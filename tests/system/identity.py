# SPDX-License-Identifier: Apache-2.0
"""Ordinary users who name their cgroups and programs after the workloads of others: they see only their own rows, and
neither change anyone else's nor get their energy attributed to them. alice and bob have user managers; root has a podman
container, a pod, a libvirt domain, and names in files that only root can read."""
import json
import re
import shlex

from claims import (COUNTERS, FACTS, SPINNER, USERS, become, check_claim, check_rows, check_same, check_views, claim,
                    end_all, from_crontab, in_own_cgroup, key, own_slice, program, start_managers, stop_managers, take, workloads)
from guest_meter import write
from guests import BOX, PODMAN, by_id, drive, make_box

DROP_IN = "/etc/keplerd/keplerd.conf.d/60-identity.conf"
VM, UUID = "secret1", "5e0c9f3a-0000-4a6b-8c9d-77aa00bb14d0"
DOCKER_ID = "d0c4e5" + "0" * 58
POD, POD_CONTAINER = "5e0c9f3a-1111-4a6b-8c9d-77aa00bb14d1", "c0d4e5" + "0" * 58
POD_SLICE = f"kubepods-burstable-pod{POD.replace('-', '_')}.slice"
HIDDEN_POD = "5e0c9f3a-2222-4a6b-8c9d-77aa00bb14d2"

# Nothing to boot: busy while its firmware looks for it, then nearly idle.
DOMAIN = f"""<domain type='qemu'><name>{VM}</name><uuid>{UUID}</uuid><title>secret title</title>
<memory unit='MiB'>32</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type><boot dev='hd'/></os>
<devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
<controller type='usb' model='none'/><memballoon model='none'/></devices></domain>
"""

# Busy for about a quarter of the time, under any name and with any arguments.
SPIN = r"""#include <unistd.h>
int main(void) {
  for (;;) {
    for (volatile long i = 0; i < 8000000; i++) continue;
    usleep(50000);
  }
}"""

PROGRAMS = ("qemu-system-x86_64", "swtpm", "virtiofsd", "passt")

# Files that only root can read.
SECRETS = {
    "/etc/pve/qemu-server/100.conf": "name: secret-vm\n",
    "/etc/pve/lxc/101.conf": "hostname: secret-ct\n",
    f"/var/lib/docker/containers/{DOCKER_ID}/config.v2.json": '{"Name":"/secret-db"}\n',
    f"/var/log/pods/secret-ns_secret-pod_{POD}/log": "",
    f"/var/log/pods/secret-ns_secret-hidden_{HIDDEN_POD}/log": "",
    f"/var/log/containers/secret-pod_secret-ns_secret-web-{POD_CONTAINER}.log": "",
}


def now(host):
    return host.ask("status")["realtimeUsec"]


def vault_id(host):
    return host.sh(f"{PODMAN} inspect -f '{{{{.Id}}}}' secret-vault").strip()


def begin(host, report):
    """Two ordinary users, and workloads of root's"""
    if host.run("test", "-e", BOX).returncode != 0:
        make_box(host)
    start_managers(host)
    host.sh(f"printf %s {shlex.quote(SPIN)} >/run/spin.c; gcc -static -O1 -o {SPINNER} /run/spin.c; rm /run/spin.c")
    host.sh("".join(f"install -o {who} {SPINNER} {program(who, name)}\n" for who in USERS for name in PROGRAMS))
    host.sh("umask 077\n" + "".join(f"mkdir -p $(dirname {file}); printf %s {shlex.quote(text)} >{file}\n"
                                    for file, text in SECRETS.items()))
    write(host, DROP_IN, f"[Guests]\nMachines={UUID}\n")
    write(host, "/run/secret.xml", DOMAIN)
    host.sh(f"""systemctl reload keplerd
        virsh -q define /run/secret.xml
        virsh -q start {VM}
        rm -f /var/lib/containers/storage/libpod/bolt_state.db
        env -u INVOCATION_ID {PODMAN} run -q -d --name=secret-vault --network=none --pids-limit=0 --privileged --ulimit=host \\
            --rootfs {BOX} /bin/spin""")
    claim(host, "root", f"cri-containerd-{POD_CONTAINER}.scope", below=POD_SLICE)
    claim(host, "root", f"docker-{DOCKER_ID}.scope")
    claim(host, "root", "100.scope", below="qemu.slice")
    host.wait_until(lambda: {"secret-vault", "secret-pod", "secret-web", "secret-db", "secret-vm", VM} <= {
        row["name"] for row in workloads(take(host)).values()}, 20, "root's names")
    drive(host, 1)
    snapshot = take(host)
    rows = workloads(snapshot)
    wanted = [vault_id(host), POD, POD_CONTAINER, DOCKER_ID, UUID]
    report.equal("root's workloads have bare ids", [id_ for id_ in wanted if id_ not in rows], [])
    report.equal("they are root's", {rows[id_].get("ownerUid") for id_ in wanted[:-1]}, {0})
    check_rows(report, snapshot, "root's")


def containers(host, report):
    """Scopes and slices of users with the ids of root's container and pod"""
    vault = vault_id(host)
    before, since = workloads(take(host)), now(host)
    pids = [claim(host, "alice", f"libpod-{vault}.scope"), claim(host, "bob", f"docker-{vault}.scope")]
    pids += [claim(host, who, f"cri-containerd-{POD_CONTAINER}.scope", below=POD_SLICE) for who in USERS]
    drive(host, 1)
    snapshot = take(host)
    rows, units = workloads(snapshot), by_id(snapshot["units"])
    whole = {vault: [f"/machine.slice/libpod-{vault}.scope", f"/machine.slice/libpod-conmon-{vault}.scope"],
             POD: [f"/kubepods.slice/kubepods-burstable.slice/{POD_SLICE}"],
             POD_CONTAINER: [f"/kubepods.slice/kubepods-burstable.slice/{POD_SLICE}/cri-containerd-{POD_CONTAINER}.scope"]}
    for id_, its in whole.items():
        row = rows[id_]
        check_same(report, f"root's {row['name']}", before[id_], row)
        report.equal(f"root's {row['name']}: its energy is its units'", row["energyMicrojoules"],
                     sum(units[unit]["energyMicrojoules"] for unit in its))
        for who in USERS:
            check_claim(report, snapshot, who, id_)
    for who, pid in zip(("alice", "bob"), pids, strict=False):
        report.equal(f"{who}'s process is in {who}'s container", [p.get("containerId") for p in snapshot["processes"]
                                                                 if p["pid"] == pid], [key(who, vault)])
    check_views(host, report, *whole, since=since)
    check_rows(report, snapshot, "containers claimed")
    end_all(host, pids)

    host.sh(f"{PODMAN} stop -t 0 secret-vault >/dev/null")
    host.wait_until(lambda: host.ask("show", vault)["state"] == "terminated", 15, "the container's end")
    ended = host.ask("show", vault)
    pids = [claim(host, who, f"libpod-{vault}.scope") for who in USERS]
    drive(host, 1)
    snapshot = take(host)
    check_same(report, "the container that has ended", ended, workloads(snapshot)[vault], ("state", *FACTS, *COUNTERS))
    for who in USERS:
        row = workloads(snapshot).get(key(who, vault), {})
        scopes = [unit["energyMicrojoules"] for unit in snapshot["units"]
                  if unit["id"].startswith(own_slice(who)) and vault in unit["id"]]
        report.equal(f"{who}'s goes on", (row.get("state"), row.get("energyMicrojoules")), ("running", sum(scopes)))
    check_views(host, report, vault, since=since)
    check_rows(report, snapshot, "an ended container claimed")
    end_all(host, pids)


def machines(host, report):
    """Programs that claim a libvirt domain's UUID, from scopes and crontabs: while it is stopped, and when it runs again"""
    title = host.ask("show", UUID).get("title")
    host.sh(f"virsh -q destroy {VM}")
    host.wait_until(lambda: host.ask("show", UUID)["state"] == "terminated", 15, "its end")
    ended, since = host.ask("show", UUID), now(host)
    report.equal("its name and title", (ended["name"], title), (VM, "secret title"))
    meter = f"/run/keplerd-guests/{UUID}"
    host.wait_until(lambda: host.sh(f"ls -A {meter}") == "", 15, "the end of its guest's meter")
    meters = host.sh("ls -R /run/keplerd-guests")

    def command(who):
        return [program(who, "qemu-system-x86_64"), "-uuid", UUID, "-name", f"guest=of-{who}"]
    earlier = {}
    for in_scope, in_cron in (("alice", "bob"), ("bob", "alice")):
        pids = {in_scope: claim(host, in_scope, f"vm-of-{in_scope}.scope", *command(in_scope)),
                in_cron: from_crontab(host, in_cron, command(in_cron))}
        report.check("the job is in cron.service", "cron.service" in host.sh(f"cat /proc/{pids[in_cron]}/cgroup"))
        drive(host, 1)
        snapshot = take(host)
        rows = workloads(snapshot)
        check_same(report, f"the domain, claimed by {in_scope}'s scope and {in_cron}'s crontab", ended, rows[UUID],
                   ("state", *FACTS, *COUNTERS))
        for who, pid in pids.items():
            process = next((p for p in snapshot["processes"] if p["pid"] == pid), {})
            row = rows.get(key(who, UUID), {})
            report.equal(f"{who}'s is {who}'s own", (row.get("ownerUid"), row.get("state"), row.get("name"), row.get("pid")),
                         (USERS[who], "running", f"of-{who}", pid))
            report.equal(f"{who}'s process", (process.get("ownerUid"), process.get("virtualMachineId")),
                         (USERS[who], key(who, UUID)))
            earlier[who] = earlier.get(who, 0) + process.get("energyMicrojoules", 0)
            report.equal(f"{who}'s has its processes' energy", row.get("energyMicrojoules"), earlier[who])
            report.check(f"{who}'s used energy", earlier[who] > 100_000, earlier[who])
        check_views(host, report, UUID, since=since)
        report.equal("they get no guest's meter", host.sh("ls -R /run/keplerd-guests"), meters)
        check_rows(report, snapshot, f"claimed from {in_cron}'s crontab")
        if in_scope == "alice":
            end_all(host, list(pids.values()))

    host.sh(f"virsh -q start {VM}")
    host.wait_until(lambda: host.ask("show", UUID)["state"] == "running", 15, "its start")
    more = [claim(host, "bob", "again.scope", *command("bob")), from_crontab(host, "bob", command("bob"))]
    drive(host, 1)
    snapshot = take(host)
    rows = workloads(snapshot)
    row = rows[UUID]
    check_same(report, "the domain that runs again", ended, row, ("id", "name", "uuid", "sinceUsec"))
    report.equal("its pid and title", (row.get("pid"), row.get("title")),
                 (int(host.sh(f"cat /run/libvirt/qemu/{VM}.pid")), title))
    report.check(f"it goes on: {ended['energyMicrojoules'] / 1e6:.1f} J, now {row['energyMicrojoules'] / 1e6:.1f} J",
                 row["energyMicrojoules"] > ended["energyMicrojoules"])
    report.equal("its energy is its scopes'", row["energyMicrojoules"], energy_of_scopes(snapshot))
    host.wait_until(lambda: host.sh(f"ls -A {meter}") != "", 15, "its guest's meter")
    report.equal("bob's scope and crontab that claim it while it runs are bob's", [
        (p.get("ownerUid"), p.get("virtualMachineId", "").partition("/")[0]) for p in snapshot["processes"] if p["pid"] in more],
        [(USERS["bob"], f"user-{USERS['bob']}")] * 2)
    report.equal("no other row has its name", [r["id"] for r in rows.values() if r["name"] == VM], [UUID])
    check_views(host, report, UUID, since=since)
    check_rows(report, snapshot, "it runs beside those that claim it")
    end_all(host, [*more, *pids.values()])


def energy_of_scopes(snapshot):
    return sum(unit["energyMicrojoules"] for unit in snapshot["units"] if unit["id"].startswith("/machine.slice/machine-qemu")
               and unit["id"].endswith(f"{VM}.scope"))


def helpers(host, report):
    """Programs with the names and arguments of a domain's helpers"""
    arguments = {"swtpm": ["socket", "--tpmstate", f"dir=/var/lib/libvirt/swtpm/{UUID}/tpm2"],
                 "virtiofsd": [f"--socket-path=/var/lib/libvirt/qemu/{UUID}/fs0.sock"],
                 "passt": ["--socket", f"/run/user/1000/{UUID}/passt.socket"]}
    for in_scope, in_cron in (("alice", "bob"), ("bob", "alice")):
        pids = {}
        for name, words in arguments.items():
            pids[claim(host, in_scope, f"{name}-of-{in_scope}.scope", program(in_scope, name), *words)] = in_scope
            pids[from_crontab(host, in_cron, [program(in_cron, name), *words])] = in_cron
        drive(host, 1)
        snapshot = take(host)
        row, processes = workloads(snapshot)[UUID], {p["pid"]: p for p in snapshot["processes"]}
        when = f"{in_scope}'s scopes, {in_cron}'s crontab"
        report.equal(f"{when}: the domain's energy is its scopes'", row["energyMicrojoules"], energy_of_scopes(snapshot))
        report.equal(f"{when}: none of them is a part of it", [part["name"] for part in row.get("breakdown", [])
                                                               if part["name"] in arguments], [])
        report.equal(f"{when}: each is its user's, and helps no VM", [
            (processes[pid].get("ownerUid"), processes[pid].get("virtualMachineId")) for pid in pids],
            [(USERS[who], None) for who in pids.values()])
        joules = sum(processes[pid]["energyMicrojoules"] for pid in pids) / 1e6
        report.check(f"{when}: they have used {joules:.1f} J", joules > 1)
        check_rows(report, snapshot, f"helpers claimed from {in_cron}'s crontab")
        end_all(host, pids)

    root = claim(host, "root", "helper.scope", program("alice", "swtpm"), *arguments["swtpm"])
    drive(host, 1)
    snapshot = take(host)
    row, processes = workloads(snapshot)[UUID], {p["pid"]: p for p in snapshot["processes"]}
    report.equal("root's is counted with the domain", (processes[root].get("virtualMachineId"), row["energyMicrojoules"]),
                 (UUID, energy_of_scopes(snapshot) + processes[root]["energyMicrojoules"]))
    end_all(host, [root])


def names(host, report):
    """Cgroups of users with the ids of workloads whose names only root can read"""
    before, since = workloads(take(host)), now(host)
    guests = {from_crontab(host, who, [program(who, "qemu-system-x86_64"), "-id", "100"]): who for who in USERS}
    pids = [*guests]
    for who in USERS:
        pids += [claim(host, who, "100.scope", below="qemu.slice"), claim(host, who, f"docker-{DOCKER_ID}.scope"),
                 claim(host, who, "run-in-a-pod.scope", below=f"kubepods-pod{HIDDEN_POD.replace('-', '_')}.slice")]
        in_own_cgroup(host, who, "lxc101", "lxc.payload.101", SPINNER)
    drive(host, 1)
    host.wait_for_samples()  # one of root's is guessed to be a VM's after three
    snapshot = take(host)
    rows = workloads(snapshot)
    for who in USERS:
        check_claim(report, snapshot, who, DOCKER_ID)
        check_claim(report, snapshot, who, HIDDEN_POD)
        check_claim(report, snapshot, who, "101")
    check_views(host, report, DOCKER_ID, HIDDEN_POD, "101", since=since)
    theirs = [row for row in [*rows.values(), *snapshot["units"]]
              if any(own_slice(who) in f"{row['id']} {row.get('unit')}" for who in USERS)]
    report.equal("their 100.scope are cgroups of theirs, and no VMs", sorted(
        (row["kind"], row.get("ownerUid", -1)) for row in theirs if row["id"].endswith("/100.scope")
        or (row["kind"] == "virtual-machine" and row.get("unit", "").endswith("/100.scope"))),
        sorted(("unit", user) for user in USERS.values()))
    report.equal("root is shown no name of root's at theirs", [(row["id"], row["name"]) for row in theirs
                                                               if "secret" in json.dumps(row)], [])
    for pid, who in guests.items():
        id_ = next((p.get("virtualMachineId", "") for p in snapshot["processes"] if p["pid"] == pid), "")
        row = rows.get(id_, {})
        report.equal(f"{who}'s crontab: a guest with the number of root's", (
            id_.partition("/")[0], row.get("ownerUid"), "secret" in json.dumps(row)), (f"user-{USERS[who]}", USERS[who], False))
    for id_ in (DOCKER_ID, POD):
        check_same(report, f"root's {before[id_]['name']}", before[id_], rows[id_])
    report.equal("root's keep their names", {"secret-db", "secret-vm"} - {row["name"] for row in rows.values()}, set())
    check_rows(report, snapshot, "names claimed")
    end_all(host, pids)
    host.sh("".join(f"systemctl --machine={who}@.host --user kill -s KILL lxc101 || :\n" for who in USERS))


def nested(host, report):
    """systemd-nspawn in a service, one with a user namespace that claims root's id, rootless podman of both users"""
    vault = vault_id(host)
    scope = f"/sys/fs/cgroup/docker-{vault}.scope"
    inside = f"busybox mkdir {scope}; echo $$ >{scope}/cgroup.procs; exec /bin/spin"
    host.sh(f"""
        cp -a {BOX} /srv/nsp
        cp -a {BOX} /srv/idmap
        systemd-run -q --unit=nsp systemd-nspawn -q --keep-unit -D /srv/nsp --machine=nspbox /bin/spin
        systemd-run -q --unit=idmap systemd-nspawn -q --keep-unit -U -D /srv/idmap --machine=idmapbox \\
            /bin/sh -c {shlex.quote(inside.replace('$', '$$'))}""")
    podman = {}
    for who in USERS:
        host.sh(f"cp -a {BOX} /home/{who}/box; chown -R {who}: /home/{who}/box")
        # Neither /proc nor /sys can be mounted in a user namespace of the testbed's: no namespaces of those.
        podman[who] = host.sh(shlex.join([*become(who), *PODMAN.split(), "run", "-q", "-d", "--network=host", "--pid=host",
                                          "--pids-limit=0", "--privileged", "--ulimit=host",
                                          "--rootfs", f"/home/{who}/box", "/bin/spin"])).strip()
    claims = {"alice": podman["bob"], "bob": podman["alice"]}
    pids = [claim(host, who, f"libpod-{id_}.scope") for who, id_ in claims.items()]
    host.wait_for_samples()
    drive(host, 1)
    snapshot = take(host)
    rows, units = workloads(snapshot), by_id(snapshot["units"])
    for unit, name in (("nsp", "nspbox"), ("idmap", "idmapbox")):
        row = next((r for r in rows.values() if r["name"] == name), {})
        report.equal(f"{name}: id, runtime, unit, owner", [row.get(f) for f in ("id", "runtime", "unit", "ownerUid")],
                     [name, "nspawn", f"/system.slice/{unit}.service", 0])
        report.equal(f"{name}: its energy is its service's", row.get("energyMicrojoules"),
                     units[f"/system.slice/{unit}.service"]["energyMicrojoules"])
    report.check("idmapbox has made its cgroup", any(unit.startswith("/system.slice/idmap.service/") and unit.endswith(
        f"docker-{vault}.scope") for unit in units))
    claimed = rows.get(f"idmapbox/{vault}", {})
    report.equal("what it claims is inside it", (claimed.get("parent"), "secret" in json.dumps(claimed)), ("idmapbox", False))
    report.check("with energy of its own", claimed.get("energyMicrojoules", 0) > 100_000, claimed)
    report.equal("the container that has ended stays so", (rows[vault]["state"], rows[vault]["name"]),
                 ("terminated", "secret-vault"))
    for who in USERS:
        ids = [podman[who], claims[who]]
        for id_ in ids:
            row = rows.get(key(who, id_), {})
            report.equal(f"{who}'s podman container and claim: owner, runtime", (row.get("ownerUid"), row.get("runtime")),
                         (USERS[who], "podman"))
            report.check(f"in {who}'s slice", row.get("unit", "").startswith(own_slice(who)), row)
        check_claim(report, snapshot, who, claims[who])
    check_views(host, report, *podman.values())
    check_rows(report, snapshot, "nested")
    end_all(host, pids)
    for who in USERS:
        host.sh(shlex.join([*become(who), *PODMAN.split(), "rm", "-t", "0", "-f", podman[who]]))
    host.sh("systemctl stop nsp idmap; systemctl reset-failed nsp idmap || :")


def crash(host, report):
    """Two programs that take over a guessed VM in one window"""
    pid, restarts = host.property("MainPID"), host.property("NRestarts")
    qemu = program("alice", "qemu-system-x86_64")
    in_own_cgroup(host, "alice", "guess", "x.libvirt-qemu", "sh", "-c", f"sleep 4; {qemu} -name a & "
                  f"{qemu} -uuid 5e0c9f3a-3333-4a6b-8c9d-77aa00bb14d3 & wait")
    host.run("timeout", "6", "keplerctl", "--json=short", "monitor", "vms")
    report.equal("keplerd goes on", (host.property("MainPID"), host.property("NRestarts")), (pid, restarts))
    check_rows(report, take(host), "after a guess")
    check_views(host, report)
    host.sh("pkill -KILL -x -u alice qemu-system-x86")


def reported(host, report):
    """doctor and the journal on refused claims, and a restart"""
    doctor = host.run("keplerctl", "--no-pager", "doctor").stdout
    for where, text in (("doctor", doctor), ("the journal", host.journal())):
        for what in ("vm", "container", "pod", "help VM"):
            for who, uid in USERS.items():
                pattern = f"rejected a claim of user {uid} to {what} |user {uid}: rejected claim to {what} "
                report.check(f"{where} has {who}'s rejected claim to {what}", re.search(pattern, " ".join(text.split())),
                             text[-300:])
    vault = vault_id(host)
    pids = [claim(host, "alice", f"libpod-{vault}.scope"),
            claim(host, "bob", "late.scope", program("bob", "qemu-system-x86_64"), "-uuid", UUID)]
    drive(host, 1)
    before = workloads(take(host))
    host.sh("systemctl restart keplerd")
    host.wait_for_samples()
    snapshot = take(host)
    after = workloads(snapshot)
    report.equal("each is the same after a restart, and its owner's", {id_: [after.get(id_, {}).get(f) for f in (
        "ownerUid", "name", "kind", "sinceUsec")] for id_ in before}, {id_: [row.get(f) for f in (
            "ownerUid", "name", "kind", "sinceUsec")] for id_, row in before.items()})
    report.equal("with no less energy", [id_ for id_, row in before.items() if after.get(id_, {}).get(
        "energyMicrojoules", -1) < row["energyMicrojoules"]], [])
    for who, pid, field, name in (("alice", pids[0], "containerId", vault), ("bob", pids[1], "virtualMachineId", UUID)):
        report.equal(f"{who}'s process claims the same", [p.get(field) for p in snapshot["processes"] if p["pid"] == pid],
                     [key(who, name)])
    check_views(host, report)
    check_rows(report, snapshot, "after a restart")
    end_all(host, pids)


def end(host, report):
    """All claims ended"""
    host.sh(f"""
        virsh -q destroy {VM}
        virsh -q undefine {VM}
        {PODMAN} rm -t 0 -f secret-vault >/dev/null
        systemctl stop cri-containerd-{POD_CONTAINER}.scope docker-{DOCKER_ID}.scope 100.scope
        rm -r {DROP_IN} {SPINNER} /etc/pve /var/lib/docker /var/log/pods /var/log/containers /srv/nsp /srv/idmap
        systemctl reload keplerd""")
    stop_managers(host)
    host.wait_for_samples()
    snapshot = take(host)
    report.equal("none of theirs runs", [id_ for id_, row in workloads(snapshot).items()
                                         if row.get("ownerUid", 0) in USERS.values() and row["state"] != "terminated"], [])
    check_rows(report, snapshot, "all claims ended")


ALL = [begin, containers, machines, helpers, names, nested, crash, reported, end]
