#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""1,000 virtual machines of 16 vCPUs each, as libvirt has them in cgroups: that each gets its share to the microjoule, and
what a sample costs keplerd. On a written tree, where there is no inotify and no descriptor is kept: each file is opened anew,
which costs some five times what the kernel's own cgroup2 does.

usage: many_machines.py KEPLERD [MACHINES]
"""
import sys
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from written_host import Daemon, WrittenHost  # noqa: E402

VCPUS, ROUNDS = 16, 5
SETTINGS = "[Sampling]\nInterval=0\nStaleness=0\n[Attribution]\nSplit=usage-ratio\nShare=cpu-time\n"
PARTS = [*(f"vcpu{i}" for i in range(VCPUS)), "emulator"]


def uuid(i):
    return f"00000000-0000-4000-8000-{i + 1:012x}"


def scope(i):
    return f"/machine.slice/machine-qemu\\x2d{i}\\x2dvm{i}.scope"


def used(i, round_):
    """CPU time of each part of machine i, in us: no two machines alike."""
    return {part: round_ * (1000 + 10 * i + number) for number, part in enumerate(PARTS)}


def write_times(host, machines, round_):
    for i in range(machines):
        times = used(i, round_)
        for part, time_ in times.items():
            host.write(f"cgroup{scope(i)}/libvirt/{part}/cpu.stat", f"usage_usec {time_}\n")
        for path in (scope(i), scope(i) + "/libvirt"):
            host.write(f"cgroup{path}/cpu.stat", f"usage_usec {sum(times.values())}\n")
    whole = sum(sum(used(i, round_).values()) for i in range(machines))
    host.write("cgroup/machine.slice/cpu.stat", f"usage_usec {whole}\n")


def write_machines(host, machines):
    host.group("/machine.slice", 0)
    for i in range(machines):
        host.group(scope(i), 0)
        host.group(scope(i) + "/libvirt", 0, [1000 + i])
        for part in PARTS:
            host.group(f"{scope(i)}/libvirt/{part}", 0)
            host.write(f"cgroup{scope(i)}/libvirt/{part}/cgroup.type", "threaded\n")
        host.process(1000 + i, 0, "qemu-system-x86", group=scope(i) + "/libvirt")
        host.write(f"proc/{1000 + i}/cmdline", f"/usr/bin/qemu-system-x86_64\0-name\0guest=vm{i}\0-uuid\0{uuid(i)}\0")


def check(daemon, machines, joules):
    """Each has the share that its time entitles it to, within the rounding of each window."""
    rows = daemon.rows("vms")
    assert len(rows) == machines, len(rows)
    whole = sum(sum(used(i, 1).values()) for i in range(machines))
    assert sum(row["energyMicrojoules"] for row in rows.values()) == joules
    for i in range(machines):
        row, share = rows[uuid(i)], joules * sum(used(i, 1).values()) / whole
        assert abs(row["energyMicrojoules"] - share) <= ROUNDS, (row["name"], row["energyMicrojoules"], share)
        assert sum(part["energyMicrojoules"] for part in row["breakdown"]) == row["energyMicrojoules"]
        assert (row["vcpus"], row["name"]) == (VCPUS, f"vm{i}")


def main():
    machines = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    host = WrittenHost()
    host.zone("intel-rapl:0", "package-0", 0)
    write_machines(host, machines)
    with Daemon(sys.argv[1], host, config=SETTINGS) as daemon:
        clock = (~daemon.process.pid << 3) | 2  # its CPU clock
        costs = []
        for round_ in range(1, ROUNDS + 1):
            write_times(host, machines, round_)
            host.zone("intel-rapl:0", "package-0", round_ * 400_000_000)
            host.ticks(busy=1000 + round_ * 1000, idle=1000)  # all of it is active
            before = time.clock_gettime(clock)
            daemon.status()
            costs.append(time.clock_gettime(clock) - before)
        check(daemon, machines, ROUNDS * 400_000_000)
        print(f"{machines} machines of {VCPUS} vCPUs, {len(PARTS) + 2} cgroups each: exact; "
              f"a sample {1e3 * min(costs):.0f} to {1e3 * max(costs):.0f} ms CPU, {daemon.resident() / 2**20:.0f} MiB resident")
    host.remove()


if __name__ == "__main__":
    main()
