# SPDX-License-Identifier: Apache-2.0
"""libvirt's machines, by what virsh does to them: one counter for as long as the UUID exists, and libvirt's details."""
import json
import shlex

from guest_meter import write
from guests import drive, machine_named
from scenarios import check_sums

NOVA = "http://openstack.org/xmlns/libvirt/nova/1.1"

SECRET = "geheim42"
DROP_IN = "/etc/keplerd/keplerd.conf.d/60-metadata.conf"
CLOUD = f"""<domain type='qemu'><name>instance-0000002a</name><uuid>{{uuid}}</uuid>
<metadata>
  <nova:instance xmlns:nova='{NOVA}'><nova:name>shop-2</nova:name><nova:flavor name='m1.tiny'/>
    <nova:owner><nova:user uuid='u1'>ann</nova:user><nova:project uuid='p2'>prod</nova:project></nova:owner>
  </nova:instance>
  <keplerd:guest xmlns:keplerd='https://keplerd.org/libvirt/1' meter='yes'/>
</metadata>
<memory unit='MiB'>32</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type><boot dev='hd'/></os>
<devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
<controller type='usb' model='none'/><memballoon model='none'/>
<graphics type='vnc' port='5917' autoport='no' listen='127.0.0.1' passwd='{SECRET}'/></devices></domain>
"""


def row_of(host, uuid):
    return host.ask("show", uuid)


def helper(host):
    return host.sh("pgrep -x keplerd-libvirt || :").split()


def what_it_tells(host, report):
    """libvirt's details of a machine"""
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


def events(host, file="/run/events.json"):
    text = host.sh(f"cat {file}")
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
    seen = [event for event in events(host) if event != ("life1", "paused", "save")]  # may be too short to be seen
    report.equal("what happened, and why", seen, [
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


def metadata(host, report):
    """An OpenStack-like domain that asks for a meter, with a password in its definition"""
    uuid = "5b6a7c1e-0000-4000-8000-00000000002a"
    write(host, DROP_IN, "[Guests]\nMetadata=yes\n")
    host.sh("systemctl reload keplerd")
    write(host, "/run/cloud.xml", CLOUD.format(uuid=uuid))
    host.sh("virsh -q create /run/cloud.xml")
    host.wait_for_samples()
    row = row_of(host, uuid)
    report.equal("name, title, metadata", (row["name"], row.get("title"), row.get("metadata")), (
        "instance-0000002a", "shop-2", {
            "keplerd.meter": "yes", "openstack.flavor": "m1.tiny", "openstack.name": "shop-2",
            "openstack.project": "prod", "openstack.projectId": "p2", "openstack.user": "ann"}))
    tree = f"/run/keplerd-guests/{uuid}"
    host.wait_until(lambda: host.run("test", "-e", f"{tree}/intel-rapl:0/energy_uj").returncode == 0, 15, tree)
    report.check("it has its meter", True)
    report.check("the password is in libvirt's status", SECRET in host.sh(f"cat /run/libvirt/qemu/{row['name']}.xml"))
    output = host.sh(f"""keplerctl --json=short show {uuid}; keplerctl --json=short vms; keplerctl vms; keplerctl doctor || :
        timeout 3 keplerctl --json=short monitor vms || :
        busctl call org.keplerd1 /org/keplerd1 org.keplerd1.Manager ListVirtualMachines 'a{{sv}}' 1 details b true
        busctl call org.keplerd1 /org/keplerd1 org.freedesktop.DBus.ObjectManager GetManagedObjects
        journalctl -q -u keplerd -o export; cat /var/lib/keplerd/* {tree}/*/* 2>/dev/null || :""")
    report.check("and in nothing that keplerd tells, logs or keeps", uuid in output and SECRET not in output,
                 [line for line in output.splitlines() if SECRET in line][:3])
    host.sh(f"virsh -q destroy instance-0000002a; rm {DROP_IN}; systemctl reload keplerd")


def session(host, report):
    """A machine of a user's own libvirt (joe is here since guests.user_units)"""
    uuid = "5b6a7c1e-0000-4000-8000-00000000002b"
    write(host, "/run/mine.xml", CLOUD.format(uuid=uuid).replace("instance-0000002a", "mine").replace("5917", "5918"))

    def virsh(*arguments):  # what starts joe's libvirtd must not end it
        command = shlex.join(["virsh", "-q", "-c", "qemu:///session", *arguments])
        return host.sh(f"systemd-run -q --machine=joe@.host --user --wait --pipe -p KillMode=process {command}")

    host.sh("systemd-run -q --unit=joes-events -p User=joe -p StandardOutput=truncate:/run/joes-events.json "
            "keplerctl --json=short monitor vms")
    virsh("create", "/run/mine.xml")
    host.wait_for_samples()
    row = row_of(host, uuid)
    report.equal("name, title, state, without the meter that is the administrator's to give",
                 (row["name"], row.get("title"), row.get("guestState"), "keplerd.meter" in row["metadata"]),
                 ("mine", "shop-2", "running", False))
    report.equal("joe sees it", json.loads(host.sh("runuser -u joe -- keplerctl --json=short vms"))[
        "virtualMachines"][0]["name"], "mine")
    virsh("suspend", "mine")
    host.wait_until(lambda: row_of(host, uuid).get("guestState") == "paused", 10, "it paused")
    virsh("destroy", "mine")
    host.wait_until(lambda: row_of(host, uuid)["state"] == "terminated", 10, "its end")
    host.wait_for_samples()
    host.sh("systemctl stop joes-events")
    report.equal("joe, who is a stranger, is told what happened to it, and of no other", events(
        host, "/run/joes-events.json"), [("mine", "started", None), ("mine", "paused", "user"), ("mine", "stopped", None)])


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

    def is_replaced():
        host.ask("status")  # polling keeps the rate at one sample a second
        return first not in helper(host)
    host.wait_until(is_replaced, 40, "the end of the keplerd-libvirt that waits")
    after = host.ask("status")
    ticks = after["sequence"] - before["sequence"]
    seconds = (after["monotonicUsec"] - before["monotonicUsec"]) / 1e6
    report.check(f"samples go on: {ticks} in {seconds:.1f} s", ticks >= seconds / 2, (ticks, seconds))
    host.sh("systemctl kill --signal=CONT libvirtd")
    host.wait_until(lambda: host.run("virsh", "list").returncode == 0 and len(helper(host)) == 1, 60, "both")
    report.check("both are back", True)


ALL = [what_it_tells, life, metadata, session, stopped, hung]
