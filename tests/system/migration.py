# SPDX-License-Identifier: Apache-2.0
"""Two hosts, each with keplerd and libvirt, and a virtual machine that moves between them under load."""
import contextlib

from booted_host import APT, BootedHost
from libvirt import events
from scenarios import PACKAGE, RULES, check_sums

NAME = "mover"
# What both hosts see, and where the sockets of their libvirt daemons are: no network is needed.
SHARED = "/ccache/migration"
UUIDS = ("6d1f0a30-0000-4000-8000-00000000000a", "6d1f0a30-0000-4000-8000-00000000000b")
WATTS = (50, 80)


def prepare(host, uuid, own):
    """libvirt refuses to migrate to a host of the same UUID, which it takes from the firmware otherwise."""
    host.sh(f"""
        mkdir -p {SHARED}
        rm -f {SHARED}/{own}
        sed -i '/^host_uuid/d' /etc/libvirt/libvirtd.conf
        echo 'host_uuid = "{uuid}"' >>/etc/libvirt/libvirtd.conf
        systemctl restart libvirtd
        systemctl reset-failed
        systemd-run -q --unit=reached --socket-property=ListenStream={SHARED}/{own} /usr/lib/systemd/systemd-socket-proxyd /run/libvirt/libvirt-sock
        systemd-run -q --unit=moves -p StandardOutput=truncate:/run/moves.json keplerctl --json=short monitor vms""")


def row(host):
    """The machine's, or None."""
    return next((vm for vm in host.ask("vms")["virtualMachines"] if vm["name"] == NAME), None)


def energy(host):
    found = row(host)
    return found["energyMicrojoules"] if found else 0


def migrate(source, target, socket):
    source.sh(f"virsh -q migrate --live --p2p --tunnelled --unsafe {NAME} 'qemu+unix:///system?socket={SHARED}/{socket}'")
    source.wait_until(lambda: row(source)["state"] == "terminated", 20, "the end of the row of the source")
    target.wait_until(lambda: (row(target) or {}).get("guestState") == "running", 20, "the row of the target")


class Books:
    """What each meter has counted since, and what keplerd has made of it. The meters are halted when the books are opened and closed."""

    def __init__(self, hosts):
        self.hosts = hosts
        for host in hosts:
            host.testbed("rapl", "halt", PACKAGE, check=False)
            host.wait_for_samples()
        self.metered = [host.counter(PACKAGE) for host in hosts]
        self.first = self.last = [self.counted(host) for host in hosts]

    @staticmethod
    def counted(host, report=None, when=""):
        """Of one sample: the host, the workloads in it, and the machine."""
        snapshot = host.snapshot("vms")
        if report:
            check_sums(report, snapshot, when)
        vm = next((vm["activeMicrojoules"] for vm in snapshot["virtualMachines"] if vm["name"] == NAME), 0)
        return {"host": snapshot["status"]["host"]["energyMicrojoules"], "vm": vm, "workloads": snapshot["status"]["accounts"]["workloads"]}

    def check(self, report, what):
        now = [self.counted(host, report, f"{what}, host {number}") for number, host in enumerate(self.hosts, 1)]
        for number, (before, after) in enumerate(zip(self.last, now), 1):
            report.check(f"{what}, host {number}: nothing goes back, and the machine has no more than the workloads",
                         all(after[key] >= before[key] for key in after)
                         and after["vm"] - before["vm"] <= after["workloads"] - before["workloads"], (before, after))
        self.last = now

    def close(self, report):
        for number, (host, metered, first) in enumerate(zip(self.hosts, self.metered, self.first), 1):
            host.rapl("halt", PACKAGE)
            host.wait_for_samples()
            now = self.counted(host)
            report.equal(f"host {number}: what keplerd has counted is what the meter has", now["host"] - first["host"], host.counter(PACKAGE) - metered)
            report.note(f"host {number}: the machine has {now['vm'] - first['vm']} of {now['host'] - first['host']} uJ")


def move(host, report):
    """A virtual machine that is migrated to another host and back, and saved here and restored there"""
    other = BootedHost(host.suite, "-2")
    other.testbed("stop", "--now")
    with contextlib.ExitStack() as at_end:
        at_end.callback(other.testbed, "stop", "--now", check=False)
        at_end.callback(host.sh, f"virsh -q destroy {NAME}; virsh -q undefine {NAME}; systemctl stop moves reached.socket; rm -rf {SHARED}", False)
        other.boot()
        other.sh(f"{APT} install /ccache/packages/keplerd_*.deb /ccache/packages/keplerd-libvirt_*.deb")
        other.sh(f"mkdir -p {RULES.rpartition('/')[0]}; cat >{RULES} <<X\n{host.sh(f'cat {RULES}')}X\nsystemctl enable --now keplerd")
        move_between((host, other), report)


def move_between(hosts, report):
    here, there = hosts
    for host, uuid, socket, watts in zip(hosts, UUIDS, ("a", "b"), WATTS):
        prepare(host, uuid, socket)
    books = Books(hosts)
    for host, watts in zip(hosts, WATTS):
        host.rapl("drive", PACKAGE, watts)
    here.testbed("start-vm", NAME, "--busy")
    here.wait_for_samples(3)
    machine = row(here)
    report.check("it is there, and has energy", machine["energyMicrojoules"] > 0 and row(there) is None, machine)

    migrate(here, there, "b")
    there.wait_for_samples(3)
    left, came = row(here), row(there)
    report.equal("it has the same id there", came["id"], left["id"])
    books.check(report, "migrated")
    here.wait_for_samples(2)
    report.equal("its row here has ended, and gets no more", (row(here)["state"], energy(here)), ("terminated", left["energyMicrojoules"]))
    there.wait_for_samples(2)
    report.check("its row there goes on", energy(there) > came["energyMicrojoules"] > 0, came)

    first_there = energy(there)
    migrate(there, here, "a")
    here.wait_for_samples(3)
    books.check(report, "migrated back")
    report.check("its row here goes on where it ended", energy(here) > left["energyMicrojoules"], (left, row(here)))
    report.check("its row there has ended, with all that it had", row(there)["state"] == "terminated" and energy(there) >= first_there, row(there))

    total_there = energy(there)
    here.sh(f"virsh -q save {NAME} {SHARED}/save")
    here.wait_until(lambda: row(here)["state"] == "terminated", 20, "the end of the row of what was saved")
    total_here = energy(here)
    there.sh(f"virsh -q restore {SHARED}/save")
    there.wait_until(lambda: row(there)["state"] == "running" and row(there).get("guestState") == "running", 20, "what was restored")
    there.wait_for_samples(3)
    books.check(report, "saved here and restored there")
    report.equal("saved: its row here gets no more", energy(here), total_here)
    report.check("restored: its row there goes on", energy(there) > total_there, row(there))

    there.sh(f"virsh -q destroy {NAME}; virsh -q undefine {NAME}", False)
    there.wait_until(lambda: row(there)["state"] == "terminated", 20, "its end")
    seen = []
    books.close(report)
    for host in hosts:
        host.sh("systemctl stop moves reached.socket")
        seen.append([event[1:] for event in events(host, "/run/moves.json") if event[0] == NAME and event[1] != "paused"])  # too short
    report.equal("what happened here, and why", seen[0],
                 [("started", None), ("stopped", "migrated"), ("started", None), ("resumed", "migrated"), ("stopped", "saved")])
    report.equal("what happened there, and why", seen[1],
                 [("started", None), ("resumed", "migrated"), ("stopped", "migrated"), ("started", None), ("resumed", "restored"),
                  ("stopped", "destroyed")])
