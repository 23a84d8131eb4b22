#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A booted host with units, containers and VMs that come and go, on which everything fails in turn, while an independent
auditor (auditor.py) reads the meter and all rows each second.

usage: soak.py [--for SECONDS] [--seed N] [SUITE]     default 600 s, trixie; as root
"""
import argparse
import json
import random
import shlex
import sys
import time

sys.dont_write_bytecode = True

from churn import cost  # noqa: E402
from guests import QEMU  # noqa: E402
from scenarios import DRAM, PACKAGE  # noqa: E402

AUDIT = "/run/audit.json"
STATE = "/var/lib/keplerd"
DROP_INS = "/run/systemd/system/keplerd.service.d"
COUNTER = f"/run/testbed/sys/virtual/powercap/intel-rapl/{PACKAGE}/energy_uj"
RANGE = 262_143_328_850  # of the testbed's counters
# Seconds between two faults: within them, keplerd is started again and has taken samples.
PAUSE = 6
FORKS = "while :; do /bin/true; done"
LOAD = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done"


def start_load(host, seconds):
    """Cgroups and services that appear and vanish, a fork storm, and two VMs, one of libvirt and one by hand."""
    def unit(name, command):
        host.sh(f"systemd-run -q --collect --unit=soak-{name} {command}")
    unit("churn", f"python3 -B /src/tests/system/churn.py --inside --groups=300 --rate=60 --seed=1 --seconds={seconds}")
    unit("forks", f"sh -c {shlex.quote(FORKS)}")
    services = f"while :; do systemd-run -q --collect --wait sh -c {shlex.quote(LOAD)}; sleep 0.3; done"
    unit("services", f"sh -c {shlex.quote(services.replace('$', '$$'))}")
    unit("vm", f"{QEMU} -name guest=by-hand -uuid 8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e7")
    host.testbed("start-vm", "soaked", "--busy")


def still(host):
    """The counter of the package, which keplerd and the auditor have read, and which does not move any more."""
    host.rapl("halt", PACKAGE)
    host.wait_for_samples()
    time.sleep(2.2)
    return host.counter(PACKAGE)


# The faults. Each is given the host and a source of random numbers, and leaves the host as it was.

def kill(host, chance):
    """keplerd is killed"""
    host.sh("systemctl kill -s KILL keplerd.service")


def restart(host, chance):
    """keplerd is restarted"""
    host.sh("systemctl restart keplerd.service")


def reload(host, chance):
    """keplerd reloads its configuration"""
    host.sh("systemctl reload keplerd.service")


def fail_the_meter(host, chance):
    """The package's counter cannot be read, for some seconds"""
    value = still(host)
    host.sh(f": >{COUNTER}")
    time.sleep(chance.uniform(1, 4))
    host.rapl("set", PACKAGE, value)
    host.rapl("drive", PACKAGE, 50)


def reset_the_meter(host, chance):
    """The package's counter starts again from 0, or near its range, while nothing is drawn"""
    still(host)
    host.rapl("set", PACKAGE, chance.choice([0, RANGE - 40_000_000]))
    host.wait_for_samples()
    time.sleep(2.2)
    host.rapl("drive", PACKAGE, 50)


def fill_the_disk(host, chance):
    """The state directory is full"""
    host.sh(f"dd if=/dev/zero of={STATE}/filler bs=4k 2>/dev/null || :")
    if chance.random() < 0.5:
        host.sh("systemctl kill -s KILL keplerd.service")
    time.sleep(chance.uniform(1, 4))
    host.sh(f"rm {STATE}/filler")


def take_descriptors(host, chance):
    """keplerd may open few descriptors"""
    pid = host.property("MainPID")
    host.run("prlimit", f"--pid={pid}", "--nofile=48:524288")
    time.sleep(chance.uniform(1, 4))
    host.run("prlimit", f"--pid={pid}", "--nofile=524288:524288")


def restart_libvirtd(host, chance):
    """libvirtd is killed"""
    host.sh("systemctl kill -s KILL libvirtd.service; systemctl start libvirtd.socket libvirtd.service")


def restart_vm(host, chance):
    """A VM is destroyed and started again"""
    host.sh("virsh -q destroy soaked; virsh -q start soaked")


def stop_and_start(host, chance):
    """keplerd is stopped for some seconds, while energy is drawn"""
    host.sh("systemctl stop keplerd.service")
    time.sleep(chance.uniform(0.5, 3))
    host.sh("systemctl start keplerd.service")


FAULTS = [kill, restart, reload, fail_the_meter, reset_the_meter, fill_the_disk, take_descriptors, restart_libvirtd,
          restart_vm, stop_and_start]


def all_is_well(host):
    host.wait_until(lambda: host.property("ActiveState") == "active", 30, "keplerd")
    host.wait_for_samples(2, 30)


class SmallDisk:
    """A file system of its own for keplerd's state, so that a full disk harms nothing else. keplerd may be started as often as
    it takes."""

    def __init__(self, host):
        self.host = host

    def __enter__(self):
        self.host.sh(f"""
            mkdir -p {DROP_INS}
            printf '[Unit]\\nStartLimitIntervalSec=0\\n' >{DROP_INS}/soak.conf
            systemctl daemon-reload
            systemctl stop keplerd.service keplerd.socket
            mount -t tmpfs -o size=4m,mode=0700 tmpfs {STATE}
            chown keplerd: {STATE}
            systemctl start keplerd.socket keplerd.service""")

    def __exit__(self, *_):
        self.host.sh(f"""
            systemctl stop keplerd.service keplerd.socket
            umount {STATE}
            rm {DROP_INS}/soak.conf
            systemctl daemon-reload
            systemctl start keplerd.socket keplerd.service""")


def soak(host, report, seconds, seed):
    with SmallDisk(host):
        audit, held, counts = cause_faults(host, seconds, random.Random(seed))
    judge(report, audit, held, counts)


def cause_faults(host, seconds, chance):
    """One after the other, until the time is over: the auditor's result, what keplerd held after each, and how many there were."""
    begin, held, counts = time.monotonic(), [], {}
    host.wait_for_samples()
    start_load(host, seconds)
    host.sh("systemd-run -q --unit=audit python3 -B /src/tests/system/auditor.py "
            f"{AUDIT} {10 * seconds}")
    time.sleep(2)
    host.rapl("drive", PACKAGE, 50)
    host.rapl("drive", DRAM, 5)
    faults = []
    while time.monotonic() - begin < seconds:
        if not faults:  # each in turn, in another order every time
            faults = chance.sample(FAULTS, len(FAULTS))
        fault = faults.pop()
        fault(host, chance)
        counts[fault.__doc__] = counts.get(fault.__doc__, 0) + 1
        all_is_well(host)
        held.append(cost(host))
        time.sleep(PAUSE)
    host.rapl("halt", PACKAGE)
    host.rapl("halt", DRAM)
    host.wait_for_samples(3)
    time.sleep(3)
    host.sh("systemctl stop audit.service")
    # Some of them have ended by themselves.
    host.sh("systemctl stop 'soak-*.service'")
    host.testbed("stop-vm", "soaked")
    return json.loads(host.sh(f"cat {AUDIT}")), held, counts


def judge(report, audit, held, counts):
    for fault, count in counts.items():
        report.note(f"{count:3d} x {fault}")
    report.note(f"{audit['looks']} looks at {audit['rows']} rows; keplerd did not answer {audit['outages']} times")
    report.equal("no violation", audit["violations"], [])
    report.equal(f"what was counted is what the meter says: {audit['metered'] / 1e6:.1f} J", audit["counted"], audit["metered"])
    report.check("the auditor saw most of it", audit["looks"] > 5 * audit["outages"] and audit["looks"] > 20, audit["looks"])
    half = len(held) // 2
    first, second = [tuple(map(max, zip(*part))) for part in (held[:half], held[half:])]
    report.note(f"descriptors, watches, KiB: at most {first} in the first half, {second} in the second")
    report.check("descriptors are bounded", second[0] < first[0] * 1.3 + 50, (first, second))
    report.check("watches are bounded", second[1] < first[1] * 1.3 + 50, (first, second))
    report.check("memory is bounded", second[2] < first[2] * 1.3 + 2048, (first, second))


def soak_for_long(host, report):
    """Ten minutes of churn and faults, with an independent auditor"""
    soak(host, report, 600, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite", nargs="?", default="trixie")
    parser.add_argument("--for", type=float, default=600, dest="seconds", metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import life
    import scenarios

    def as_asked(host, report):
        """Churn and faults, with an independent auditor"""
        soak(host, report, options.seconds, options.seed)
    return life.live(options.suite, [scenarios.enable, as_asked], verbose=True)


if __name__ == "__main__":
    sys.exit(main())
