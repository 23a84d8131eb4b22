#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a scrape with 2,000 units and 1,000 virtual machines of 4 vCPUs, all of them busy: keplerd's CPU time to send
the rows, and the exporter's to receive them, to render the text, and to serve it again.

usage: exporter_scrape.py KEPLERD KEPLERD_EXPORTER [UNITS MACHINES]
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from exporter_host import Exporter  # noqa: E402
from written_host import Daemon, WrittenHost  # noqa: E402

TICKS = 6
LEAST = 30  # milliseconds of CPU time: for sampling all, or receiving it
PARTS = ["vcpu0", "vcpu1", "vcpu2", "vcpu3", "emulator"]


def scope(i):
    return f"/machine.slice/machine-qemu\\x2d{i}\\x2dvm{i}.scope"


class Host:
    def __init__(self, units, machines):
        self.files, self.units, self.machines, self.round = WrittenHost(), units, machines, 0
        for i in range(units):
            self.files.group(f"/system.slice/unit{i}.service", 0, [100_000 + i])
            self.files.process(100_000 + i, 0, f"unit{i}", group=f"/system.slice/unit{i}.service")
        for i in range(machines):
            self.files.group(f"{scope(i)}/libvirt", 0, [200_000 + i])
            for part in PARTS:
                self.files.group(f"{scope(i)}/libvirt/{part}", 0)
                self.files.write(f"cgroup{scope(i)}/libvirt/{part}/cgroup.type", "threaded\n")
            self.files.process(200_000 + i, 0, "qemu-system-x86", group=scope(i) + "/libvirt")
            self.files.write(f"proc/{200_000 + i}/cmdline",
                             f"/usr/bin/qemu-system-x86_64\0-name\0guest=vm{i}\0-uuid\000000000-0000-4000-8000-{i + 1:012x}\0")
        self.work()

    def work(self):
        self.round += 1
        n = self.round
        self.files.zone("intel-rapl:0", "package-0", n * 400_000_000)
        self.files.zone("intel-rapl:0:0", "dram", n * 50_000_000)
        self.files.ticks(1000 + 50 * n, 1000 + 50 * n)

        def used(path, usec):
            self.files.write(f"cgroup{path}/cpu.stat", f"usage_usec {usec}\n")
        used("/system.slice", n * 1000 * self.units)
        used("/machine.slice", n * 5000 * self.machines)
        for i in range(self.units):
            used(f"/system.slice/unit{i}.service", n * 1000)
        for i in range(self.machines):
            used(scope(i), n * 5000)
            used(scope(i) + "/libvirt", n * 5000)
            for part in PARTS:
                used(f"{scope(i)}/libvirt/{part}", n * 1000)


class Cost:
    """Of a process: milliseconds of CPU time."""

    def __init__(self, process):
        self.clock = (~process.pid << 3) | 2
        self.last = time.clock_gettime(self.clock)

    def so_far(self):
        return (time.clock_gettime(self.clock) - self.last) * 1000

    def lap(self):
        took = self.so_far()
        self.last += took / 1000
        return took

    def reach(self, least):
        """Waits for a lap that is longer than so much, as one that deals with every row."""
        while self.so_far() < least:
            time.sleep(0.1)
        time.sleep(0.5)


def main():
    program, exporter_program = sys.argv[1:3]
    units, machines = map(int, sys.argv[3:5]) if len(sys.argv) > 4 else (2000, 1000)
    host = Host(units, machines)
    with Daemon(program, host.files, config="[Sampling]\nInterval=5s\n") as daemon:
        keplerd = Cost(daemon.process)
        alone, streamed, taken, scraped, again, zipped = [], [], [], [], [], []
        for _ in range(TICKS):
            host.work()
            keplerd.lap()
            keplerd.reach(LEAST)
            alone.append(keplerd.lap())
        exporter = Exporter(exporter_program, daemon.socket, host.files.root / "log.exporter", "--serve=all",
                            "--processes=0").start()
        exporter.get()
        own = Cost(exporter.process)
        for _ in range(TICKS):
            host.work()
            keplerd.lap(), own.lap()
            own.reach(LEAST)
            streamed.append(keplerd.lap())
            taken.append(own.lap())
            size = len(exporter.get()[1])
            scraped.append(own.lap())
            exporter.get()
            again.append(own.lap())
            small = len(exporter.get(Accept_Encoding="gzip")[1])
            zipped.append(own.lap())
        series = len(exporter.series())

        def mean(name, costs, less=0):
            print(f"{name}: {sum(costs) / len(costs) - less:.1f} ms ({min(costs) - less:.1f} to {max(costs) - less:.1f})")
        print(f"{units} units, {machines} machines: {series} series, {size >> 10} KiB, zipped {small >> 10} KiB, "
              f"{exporter.resident() >> 20} MiB resident")
        mean("a sample without the exporter, keplerd", alone)
        mean("sending to the exporter, keplerd", streamed, sum(alone) / len(alone))
        mean("receiving it, exporter", taken)
        mean("first scrape of a tick, exporter", scraped)
        mean("any other, exporter", again)
        mean("first zipped one, exporter", zipped)
        exporter.close()
    host.files.remove()


if __name__ == "__main__":
    main()
