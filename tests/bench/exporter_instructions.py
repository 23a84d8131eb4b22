#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions, counted by callgrind, of keplerd-exporter with 2,000 processes in 200 services, of which 100 run: to receive a
tick, which is every five seconds, to render it, and to compress it; and those of keplerd in these seconds.

usage: exporter_instructions.py KEPLERD KEPLERD_EXPORTER [DIRECTORY]       the profiles are kept in DIRECTORY
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from exporter_host import Exporter, wait_until  # noqa: E402
from written_host import Daemon, WrittenHost  # noqa: E402

TICKS, PROCESSES, GROUPS, ACTIVE = 3, 2000, 200, 100
PERIOD = 5  # seconds between two ticks of the exporter
OPTIONS = ["--serve=all", "--processes=1000"]


class Host:
    def __init__(self):
        self.files, self.round = WrittenHost(), 0
        self.used = dict.fromkeys(range(PROCESSES), 0)
        for group in range(GROUPS):
            self.write(group, [10_000 + i for i in range(PROCESSES) if i % GROUPS == group])
        for i in self.used:
            self.files.process(10_000 + i, 0, f"worker-{i}", group=self.path(i % GROUPS))
        self.work()

    def path(self, group):
        return f"/system.slice/service-{group}.service"

    def write(self, group, pids=None):
        used = sum(self.used[i] for i in range(group, PROCESSES, GROUPS))
        self.files.write(f"cgroup{self.path(group)}/cpu.stat", f"usage_usec {used}\nuser_usec {used}\nsystem_usec 0\n")
        if pids is not None:
            self.files.write(f"cgroup{self.path(group)}/cgroup.procs", "".join(f"{pid}\n" for pid in pids))

    def work(self):
        self.round += 1
        active = range(ACTIVE)
        for i in active:
            self.used[i] += 20_000
            self.files.process(10_000 + i, self.used[i] // 10_000, f"worker-{i}", group=self.path(i % GROUPS))
        for group in {i % GROUPS for i in active}:
            self.write(group)
        total = sum(self.used.values())
        self.files.write("cgroup/system.slice/cpu.stat", f"usage_usec {total}\nuser_usec {total}\nsystem_usec 0\n")
        self.files.ticks(1000 + total // 10_000, 1000 + total // 10_000)
        self.files.zone("intel-rapl:0", "package-0", self.round * 40_000_000)
        self.files.zone("intel-rapl:0:0", "dram", self.round * 5_000_000)


class Counted:
    """A program under callgrind."""

    def __init__(self, program, directory):
        self.profile = directory / pathlib.Path(program).name
        self.program = directory / f"{self.profile.name}.sh"
        self.program.write_text(f'#!/bin/sh\nexec valgrind -q --tool=callgrind --compress-strings=no --callgrind-out-file={self.profile}.out {program} "$@"\n')
        self.program.chmod(0o755)
        self.dumps = 0

    def lap(self, process):
        """Millions of instructions since the last lap."""
        rest(process)
        subprocess.run(["callgrind_control", "--dump", str(process.pid)], check=True, capture_output=True)
        self.dumps += 1
        file = pathlib.Path(f"{self.profile}.out.{self.dumps}")
        total = wait_until(lambda: file.exists() and re.search(r"(?m)^totals: (\d+)", file.read_text()), "a profile")
        return int(total[1]) / 1e6


def rest(process):
    """Until it uses no CPU."""
    clock, last = (~process.pid << 3) | 2, -1
    while (now := time.clock_gettime(clock)) != last:
        last = now
        time.sleep(0.5)


def main():
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else place)
        keplerd, own = Counted(sys.argv[1], directory), Counted(sys.argv[2], directory)
        host, laps = Host(), {}
        with Daemon(keplerd.program, host.files, config="[Sampling]\nInterval=1s\n") as daemon:
            exporter = Exporter(own.program, daemon.socket, directory / "log.exporter", *OPTIONS).start()

            wait_until(lambda: b"kepler_process_cpu_watts" in exporter.get()[1], "a power")
            for tick in range(2 * TICKS + 2):
                if tick == 2:  # rows still get their zones before
                    keplerd.lap(daemon.process)
                    begin = time.monotonic()
                own.lap(exporter.process)
                received = 0
                while received < 1:  # a tick costs more, and the wait for it nothing
                    host.work()
                    time.sleep(0.9)
                    received += own.lap(exporter.process)
                costs = {"exporter, receiving": received}
                zipped = tick % 2 == 1
                size = len(exporter.get(**({"Accept_Encoding": "gzip"} if zipped else {}))[1])
                costs[f"exporter, the first scrape{', compressed' if zipped else ''}"] = own.lap(exporter.process)
                if tick >= 2:
                    for name, count in costs.items():
                        laps.setdefault(name, []).append(count)
            laps[f"keplerd in {PERIOD} s"] = [keplerd.lap(daemon.process) * PERIOD / (time.monotonic() - begin)]
            for name, counts in laps.items():
                print(f"{name}: {sum(counts) / len(counts):.2f} million ({min(counts):.2f} to {max(counts):.2f})")
            print(f"{size >> 10} KiB, compressed")
            exporter.close()
        host.files.remove()


if __name__ == "__main__":
    main()
