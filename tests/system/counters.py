# SPDX-License-Identifier: Apache-2.0
"""keplerd-perf on a booted host, in its sandbox: the task clock of the kernel in place of hardware counters, against cpu.stat."""
UNIT, OTHER = "perf-user.service", "perf-other.service"
CONFIG = "/etc/keplerd/keplerd.conf.d/perf.conf"
DROP_IN = "/run/systemd/system/keplerd-perf.service.d/task-clock.conf"
# Waits for a file, then uses a second of CPU time.
SPIN = ('import os, time\nwhile not os.path.exists("/run/spin"): time.sleep(0.1)\nstart = time.process_time()\n'
        'while time.process_time() < start + 1: pass\ntime.sleep(1e6)')


def counted(host, unit):
    """What is counted of a unit, in nanoseconds; None if it is not measured."""
    inode = host.sh(f"stat -c %i /sys/fs/cgroup/system.slice/{unit}").strip()
    lines = host.sh("cat /run/keplerd-usage/perf/instructions-* 2>/dev/null | grep '^[0-9]* [0-9]* [0-9]*$' || true").splitlines()
    counts = [int(line.split()[1]) for line in lines if line.split()[0] == inode]
    return sum(counts) if counts else None


def used(host, unit):
    """CPU time of a unit, in nanoseconds."""
    return 1000 * int(host.sh(f"awk '/^usage_usec/ {{ print $2 }}' /sys/fs/cgroup/system.slice/{unit}/cpu.stat"))


def events(host):
    pid = host.property("MainPID", "keplerd-perf.service")
    return int(host.sh(f"ls -l /proc/{pid}/fd | grep -c perf_event || true"))


def counters(host, report):
    """keplerd-perf in its sandbox: it counts for cgroups what the kernel accounts, and takes bounded descriptors"""
    host.sh(f"mkdir -p $(dirname {CONFIG}) $(dirname {DROP_IN})\nprintf '[Perf]\\nCgroups=perf-*.service\\n' >{CONFIG}\n"
            f"printf '[Service]\\nExecStart=\\nExecStart=/usr/libexec/keplerd/keplerd-perf --task-clock\\n' >{DROP_IN}\n"
            f"cat >/run/spin.py <<'END'\n{SPIN}\nEND\nsystemctl daemon-reload\n"
            f"systemd-run -q --unit={UNIT} /usr/bin/python3 /run/spin.py\nsystemctl start keplerd-perf")
    host.wait_until(lambda: counted(host, UNIT) is not None, 60, "the unit is measured")
    pid = host.property("MainPID", "keplerd-perf.service")
    status = host.sh(f"grep -E '^(Uid|CapEff)' /proc/{pid}/status").split()
    report.check("it is not root, and has one capability", status[1] != "0" and int(status[-1], 16) == 1 << 38, status)
    cpus = int(host.sh("nproc"))
    report.equal("descriptors of all that runs and of one cgroup", events(host), 2 * cpus)
    before, begin = counted(host, UNIT), used(host, UNIT)
    host.sh("touch /run/spin")
    host.wait_until(lambda: used(host, UNIT) > begin + 1_000_000_000, 60, "a second of CPU time")
    total = used(host, UNIT) - begin
    host.wait_until(lambda: counted(host, UNIT) - before > 0.97 * total, 60, f"{total} ns are counted")
    count = counted(host, UNIT) - before
    report.check(f"counted is what was used: {count / total:.4f}", count < 1.03 * total, (count, total))
    host.sh(f"systemd-run -q --unit={OTHER} sleep infinity")
    host.wait_until(lambda: counted(host, OTHER) is not None, 60, "another unit is measured")
    report.equal("its descriptors", events(host), 3 * cpus)
    host.sh(f"systemctl stop {OTHER}")
    host.wait_until(lambda: events(host) == 2 * cpus, 60, "they are given back")
    host.sh(f"systemctl stop keplerd-perf {UNIT}\nrm -r {CONFIG} $(dirname {DROP_IN}) /run/spin /run/spin.py\nsystemctl daemon-reload")
    host.sh("systemctl start keplerd-perf; sleep 1")
    ended = host.property("Result", "keplerd-perf.service")
    reason = host.sh("cat /run/keplerd-usage/perf/misses-0 2>/dev/null || journalctl -u keplerd-perf -o cat -n 5")
    report.check("without hardware counters there is a reason", ended == "success" and
                 ("no hardware counter" in reason or "nothing to count" in reason), (ended, reason))
    host.sh("systemctl stop keplerd-perf")


ALL = [counters]
