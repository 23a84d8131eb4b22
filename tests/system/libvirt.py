# SPDX-License-Identifier: Apache-2.0
"""libvirt's machines, by what virsh does to them: one counter for as long as the UUID lives, and what libvirt tells."""
import json

from guests import drive, machine_named
from scenarios import check_sums

NOVA = "http://openstack.org/xmlns/libvirt/nova/1.1"


def row_of(host, uuid):
    return host.ask("show", uuid)


def helper(host):
    return host.sh("pgrep -x keplerd-libvirt || :").split()


def what_it_tells(host, report):
    """What libvirt tells of a machine"""
    uuid = machine_named(host, "busy1")["id"]
    host.sh(f"""virsh -q desc busy1 --live --title 'The shop'
        virsh -q metadata busy1 --live --uri {NOVA} --key nova \\
            --set '<instance><name>shop-1</name><owner><project uuid="p1">demo</project></owner></instance>'""")
    host.wait_for_samples()
    row = row_of(host, uuid)
    report.equal("title, state, vCPUs, metadata, at once",
                 (row.get("title"), row.get("guestState"), row.get("vcpus"), row.get("metadata")),
                 ("The shop", "running", 1, {"openstack.name": "shop-1", "openstack.project": "demo",
                                             "openstack.projectId": "p1"}))
    report.equal("the parts add up to it", sum(part["energyMicrojoules"] for part in row["breakdown"]),
                 row["energyMicrojoules"])
    screen = host.run("keplerctl", "--no-pager", "vms").stdout
    report.check("keplerctl lists names, vCPUs, UUIDs", "VCPUS" in screen and uuid in screen, screen)
    report.equal("one keplerd-libvirt listens", len(helper(host)), 1)


def events(host):
    text = host.sh("cat /run/events.json")
    ticks = [json.loads(part) for part in text.split("\x1e") if part.endswith("\n")]
    return [(event["name"], event["event"], event.get("reason")) for tick in ticks for event in tick.get("events", [])]


def life(host, report):
    """virsh suspend, resume, save, restore, domrename, reset; a restart of keplerd in between"""
    host.testbed("start-vm", "life1", "--busy")
    # The testbed's machines end where others boot again.
    host.sh("""virsh -q dumpxml --inactive life1 | sed 's:<on_reboot>destroy:<on_reboot>restart:' >/run/life1.xml
        virsh -q destroy life1
        virsh -q define /run/life1.xml
        virsh -q start life1""")
    host.wait_for_samples()
    uuid = machine_named(host, "life1")["id"]
    host.sh("systemd-run -q --unit=events -p StandardOutput=truncate:/run/events.json "
            "keplerctl --json=short monitor vms")
    host.wait_for_samples()
    energies = []

    def see(what, condition):
        host.wait_until(lambda: condition(row_of(host, uuid)), 20, what)
        energies.append(row_of(host, uuid)["energyMicrojoules"])
        host.wait_for_samples()

    host.sh("virsh -q suspend life1")
    see("it paused", lambda row: row.get("guestState") == "paused")
    host.sh("virsh -q resume life1")
    see("it resumed", lambda row: row.get("guestState") == "running")
    host.sh("virsh -q save life1 /run/life1.save")
    see("it saved", lambda row: row["state"] == "terminated")
    host.sh("virsh -q restore /run/life1.save")
    see("it restored", lambda row: row["state"] == "running" and row.get("guestState") == "running")
    host.sh("virsh -q reset life1")
    drive(host, 2)
    see("it reset", lambda row: row["state"] == "running")
    host.sh("virsh -q destroy life1")
    see("it destroyed", lambda row: row["state"] == "terminated")
    host.sh("systemctl stop events")
    report.equal("what happened, and why", events(host), [
        ("life1", "paused", "user"), ("life1", "resumed", "unpaused"),
        ("life1", "stopped", "saved"), ("life1", "started", None), ("life1", "resumed", "restored"),
        ("life1", "stopped", "destroyed")])

    host.sh("virsh -q domrename life1 life9; systemctl restart keplerd; virsh -q start life9")
    see("it under another name", lambda row: row["state"] == "running" and row["name"] == "life9")
    drive(host, 2)
    energies.append(row_of(host, uuid)["energyMicrojoules"])
    report.equal("one counter, never backwards", energies, sorted(energies))
    report.check(f"it went on: {energies[0] / 1e6:.1f} J before, {energies[-1] / 1e6:.1f} J now",
                 energies[-1] > energies[0])
    host.sh("virsh -q destroy life9; virsh -q undefine life9")
    host.wait_for_samples()
    check_sums(report, host.snapshot("vms"), "libvirt's machines")


def stopped(host, report):
    """systemctl stop libvirtd"""
    name = machine_named(host, "idle1")
    host.sh("systemctl stop libvirtd")
    host.wait_for_samples(5)
    report.equal("it stays stopped", host.property("ActiveState", "libvirtd.service"), "inactive")
    report.equal("nobody listens", helper(host), [])
    row = row_of(host, name["id"])
    report.equal("its machines keep their names and states", (row["name"], row["state"], row.get("guestState")),
                 ("idle1", "running", "running"))
    host.sh("systemctl start libvirtd")
    host.wait_until(lambda: len(helper(host)) == 1, 30, "keplerd-libvirt")
    report.check("once libvirtd runs again, keplerd-libvirt does", True)


def hung(host, report):
    """kill -STOP of libvirtd"""
    first, = helper(host)
    host.sh("systemctl kill --signal=STOP libvirtd")
    before = host.ask("status")
    host.wait_until(lambda: first not in helper(host), 40, "the end of the keplerd-libvirt that waits")
    after = host.ask("status")
    ticks = after["sequence"] - before["sequence"]
    seconds = (after["monotonicUsec"] - before["monotonicUsec"]) / 1e6
    report.check(f"samples go on: {ticks} in {seconds:.1f} s", abs(ticks - seconds) <= 2, (ticks, seconds))
    host.sh("systemctl kill --signal=CONT libvirtd")
    host.wait_until(lambda: host.run("virsh", "list").returncode == 0 and len(helper(host)) == 1, 60, "both")
    report.check("both are back", True)


ALL = [what_it_tells, life, stopped, hung]
