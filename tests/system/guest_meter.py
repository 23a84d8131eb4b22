# SPDX-License-Identifier: Apache-2.0
"""A guest's own meter on a booted host: a libvirt domain with two sockets reads through virtiofs what the host has
counted for it, and keplerd in that guest divides it again. While no other counter is driven."""
import json
import re

from booted_host import CommandFailed
from scenarios import PACKAGE, check_sums

NAME, UUID = "metered", "6d0c5a1e-93c8-4c0b-8a55-3f3f5a2f7e10"
TREE = f"/run/keplerd-guests/{UUID}"
MOUNT = "/run/meters/metered"
METER = "/run/keplerd-meter"
DROP_IN = "/etc/keplerd/keplerd.conf.d/60-guests.conf"
WORK = "/run/metered"

# PID 1 of the guest: mounts its meter, starts keplerd and something that is busy, and runs each line that comes through
# the serial port.
INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
while read -r m; do insmod "/lib/$m" || echo "insmod $m failed"; done </lib/order
mkdir -p {METER} /var/lib /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t virtiofs keplerd-meter {METER} || echo "no meter"
mkdir /sys/fs/cgroup/spin.service /sys/fs/cgroup/keplerd.service
sh -c 'echo 0 >/sys/fs/cgroup/spin.service/cgroup.procs; while :; do :; done' &
sh -c 'echo 0 >/sys/fs/cgroup/keplerd.service/cgroup.procs; exec keplerd --bus none >/run/keplerd.log 2>&1' &
port=$(grep -l '^testbed.0' /sys/class/virtio-ports/*/name | cut -d/ -f5)
while :; do
    while read -r line; do sh -c "$line" 2>&1; echo "END $?"; done <>"/dev/$port" >&0
    sleep 0.2
done
"""

# The tiny guests' initramfs, with another init, and with keplerd, keplerctl, Scaphandre (Debian 12 has none) and what
# these are linked with.
MAKE_INITRD = f"""
    mkdir -p {WORK}/root/bin
    cd {WORK}/root
    install -m 755 ../init init
    install -s -m 755 /usr/sbin/keplerd /usr/bin/keplerctl $(ls /usr/bin/scaphandre) bin
    for library in $(ldd bin/* | grep -o '/[^ ]*\\.so[^ ]*' | sort -u); do
        mkdir -p ".$(dirname "$library")"
        cp -L "$library" ".$library"
    done
    {{ cat /var/lib/testbed/initrd; find . | cpio -o -H newc --quiet | gzip -1; }} >../initrd
    chmod 755 {WORK}
    chmod 644 ../initrd"""

DOMAIN = f"""<domain type='qemu'>
  <name>{NAME}</name>
  <uuid>{UUID}</uuid>
  <memory unit='MiB'>256</memory>
  <vcpu>2</vcpu>
  <memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>/var/lib/testbed/vmlinux</kernel><initrd>{WORK}/initrd</initrd>
    <cmdline>console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable random.trust_cpu=on
      audit=0 cryptomgr.notests</cmdline>
  </os>
  <features><acpi/><tcg><tb-cache unit='MiB'>32</tb-cache></tcg></features>
  <cpu><topology sockets='2' cores='1' threads='1'/></cpu>
  <on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <filesystem type='mount'>
      <driver type='virtiofs'/><source dir='{TREE}'/><target dir='keplerd-meter'/><readonly/>
    </filesystem>
    <controller type='usb' model='none'/>
    <serial type='file'><source path='/var/log/libvirt/qemu/{NAME}.console'/><target port='0'/></serial>
    <channel type='unix'>
      <source mode='bind' path='/run/libvirt/{NAME}.agent'/><target type='virtio' name='testbed.0'/>
    </channel>
    <memballoon model='none'/>
  </devices>
</domain>
"""

# Sends a line to the guest and prints what comes before its END.
ASK = f"""
import socket, sys
port = socket.socket(socket.AF_UNIX)
port.settimeout(15)
port.connect("/run/libvirt/{NAME}.agent")
port.sendall(sys.argv[1].encode() + b"\\n")
answer = b""
while b"\\nEND " not in b"\\n" + answer or not answer.endswith(b"\\n"):
    part = port.recv(65536)
    if not part:
        sys.exit("the guest has gone")
    answer += part
text, _, status = answer.decode().rpartition("END ")
print(text, end="")
sys.exit(int(status))
"""


def write(host, path, text):
    host.sh(f"mkdir -p $(dirname {path}); cat >{path} <<'EOF'\n{text}EOF")


def ask(host, command, check=True):
    return host.run("python3", "-c", ASK, command, check=check).stdout


def counters(text):
    return [int(line) for line in text.split()]


def packages_of(host):
    return counters(host.sh(f"cat {TREE}/intel-rapl:0/energy_uj {TREE}/intel-rapl:1/energy_uj"))


def row_of(host):
    return next(m for m in host.ask("vms")["virtualMachines"] if m["id"] == UUID)


def zone_energy(row, name):
    return sum(zone["energyMicrojoules"] for zone in row["zones"] if zone["name"] == name)


def settle(host):
    """What was drawn has been counted and written."""
    host.wait_for_samples()
    energy = zone_energy(row_of(host), "package")
    host.wait_until(lambda: sum(packages_of(host)) == energy // 1_000_000 * 1_000_000, 15, "the guest's meter")
    return energy


def domain_for(host):
    """With a read-only mount of the directory where libvirt knows no read-only virtiofs, as keplerd.conf(5) says."""
    if host.suite != "bookworm":
        return DOMAIN
    host.sh(f"mkdir -p {MOUNT}; mount --bind {TREE} {MOUNT}; mount -o remount,bind,ro {MOUNT}")
    return DOMAIN.replace(TREE, MOUNT).replace("<readonly/>", "")


def begin(host, report):
    """A guest with a meter of its own"""
    write(host, DROP_IN, f"[Guests]\nMachines={UUID}\n")
    host.sh("systemctl reload keplerd")
    host.wait_until(lambda: host.run("test", "-d", TREE).returncode == 0, 15, TREE)
    report.equal("the directory of all is keplerd's alone",
                 host.sh("stat -c '%a %U %G' /run/keplerd-guests").strip(), "750 keplerd keplerd")
    write(host, f"{WORK}/init", INIT)
    write(host, f"{WORK}/domain.xml", domain_for(host))
    host.sh(MAKE_INITRD)
    host.sh(f"virsh -q define {WORK}/domain.xml; virsh -q start {NAME}")
    try:
        host.wait_until(lambda: ask(host, "echo up", check=False) == "up\n", 40, "the guest")
    except CommandFailed:
        report.note(host.sh(f"tail -n 20 /var/log/libvirt/qemu/{NAME}.console /var/log/libvirt/qemu/{NAME}.log",
                            check=False))
        raise
    host.wait_until(lambda: host.run("test", "-e", f"{TREE}/intel-rapl:1/name").returncode == 0, 15, "its zones")
    names = host.sh(f"cd {TREE}; cat intel-rapl:0/name intel-rapl:1/name intel-rapl:0:0/name intel-rapl:1:0/name quality")
    report.equal("a package for each of its sockets, with memory", names.split(),
                 ["package-0", "package-1", "dram", "dram", "attributed"])
    report.equal("the guest sees the same", ask(host, f"cd {METER}; ls; cat intel-rapl:1/intel-rapl:1:0/name").split(),
                 ["intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0", "quality", "dram"])
    refusal = ask(host, f"mount -o remount,rw {METER}; echo x >{METER}/x", check=False)
    report.check("and cannot write there", "Read-only file system" in refusal, refusal)


def count(host, report):
    """Its counter is the host's, and keplerd divides it in the guest"""
    # Emulated on a busy machine, it may not even answer yet.
    host.wait_until(lambda: '"source":{"name":"guest"' in ask(host, "keplerctl --json=short status", check=False), 120,
                    "the guest's keplerd to take its meter")
    inode = host.sh(f"stat -c %i {TREE}")
    host.sh("systemctl restart keplerd")
    host.wait_for_samples()
    host.rapl("drive", PACKAGE, 80)
    host.wait_until(lambda: zone_energy(row_of(host), "package") > 150_000_000, 25, "energy")
    host.rapl("halt", PACKAGE)
    energy = settle(host)
    joules = packages_of(host)
    report.note(f"{energy / 1e6:.1f} J by the host; its sockets show {joules[0] / 1e6:.0f} J and {joules[1] / 1e6:.0f} J")
    report.equal("its sockets' sum is the host's figure, to the joule", sum(joules), energy // 1_000_000 * 1_000_000)
    report.check("divided equally", 0 <= joules[0] - joules[1] <= 1_000_000, joules)
    command = f"cat {METER}/intel-rapl:0/energy_uj {METER}/intel-rapl:1/energy_uj"
    host.wait_until(lambda: counters(ask(host, command)) == joules, 5, "the guest to see them")
    report.equal("the guest reads the same", counters(ask(host, command)), joules)
    report.equal("in the same directory as before keplerd was restarted", host.sh(f"stat -c %i {TREE}"), inode)

    def status():
        return json.loads(ask(host, "keplerctl --json=short status"))
    host.wait_until(lambda: status()["host"]["energyMicrojoules"] == sum(joules), 35, "the guest's keplerd")
    inside = [json.loads(line) for line in ask(host, "; ".join(
        f"keplerctl --json=short {verb}" for verb in ("status", "units", "processes", "zones"))).splitlines()]
    snapshot = {"status": inside[0], **inside[1], **inside[2], **inside[3]}
    report.equal("source and quality in the guest", inside[0]["source"],
                 {"name": "guest", "quality": "attributed", "reason": None})
    report.equal("its keplerd has counted what its host has attributed to it",
                 inside[0]["host"]["energyMicrojoules"], sum(joules))
    check_sums(report, snapshot, "in the guest")
    units = {unit["name"]: unit["energyMicrojoules"] for unit in snapshot["units"]}
    report.note(", ".join(f"{name} {joules / 1e6:.1f} J" for name, joules in units.items()))
    # Emulated on a loaded machine, keplerd itself is busy, too.
    report.check("the busy unit there has drawn most of it",
                 units["spin.service"] > inside[0]["host"]["activeMicrojoules"] // 2, units)
    text = ask(host, "keplerctl status; keplerctl doctor", check=False)
    report.check("status and doctor there say whose meter it is",
                 text.count("guest, attributed: the host's share for this virtual machine") == 2, text)


# Its metrics by HTTP, once it has read twice.
SCAPHANDRE = f"""ip link set lo up
SCAPHANDRE_POWERCAP_PATH={METER} scaphandre --vm prometheus -a 127.0.0.1 >/run/scaphandre.log 2>&1 &
for i in $(seq 20); do sleep 0.5; wget -qO /run/metrics http://127.0.0.1:8080/metrics && break; done
sleep 3; wget -qO- http://127.0.0.1:8080/metrics; cat /run/scaphandre.log; kill $!"""


def scaphandre(host, report):
    """Scaphandre reads the guest's meter"""
    if host.run("test", "-e", "/usr/bin/scaphandre").returncode != 0:
        return report.note("this Debian has none")
    joules = packages_of(host)
    text = ask(host, SCAPHANDRE.replace("\n", "; ").replace("&;", "&"), check=False)
    sockets = {int(number): int(energy) for number, energy in re.findall(
        r'^scaph_socket_energy_microjoules\{.*socket_id="(\d+)".*\} (\d+)$', text, re.MULTILINE)}
    report.equal("the sockets that keplerd has written", [sockets.get(0), sockets.get(1)], joules)


def end(host, report):
    """The guest ends, and its meter with it"""
    host.sh(f"virsh -q destroy {NAME}; virsh -q undefine {NAME}")
    host.wait_until(lambda: host.sh(f"ls -A {TREE}") == "", 15, "an empty directory")
    report.check("its zones are gone", True)
    report.equal("nothing above notice in the journal", host.complaints()[-3:], [])
    host.sh(f"umount {MOUNT} 2>/dev/null || :; rm -r {DROP_IN} {WORK}; systemctl reload keplerd")


ALL = [begin, count, scaphandre, end]
