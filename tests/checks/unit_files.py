#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The units are valid, and the service's sandbox is as tight as promised (systemd-analyze(1)).

usage: unit_files.py SERVICE SOCKET DROP_INS MOST_EXPOSURE      SOCKET: or -; DROP_INS: a directory, or -
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def exposure(unit):
    security = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", unit],
                              capture_output=True, text=True)
    overall = re.search(r"Overall exposure level for \S+: ([0-9.]+)", security.stdout)
    if not overall:
        sys.exit(f"no score: {security.stdout}{security.stderr}")
    return float(overall.group(1)), security.stdout


# Crashing a daemon again and again must not stop it for good: systemd.unit(5), StartLimitIntervalSec=;
# systemd.socket(5), TriggerLimitIntervalSec=. And whatever is done to it, the host keeps working: docs/performance.md, Memory at
# the limits.
REQUIRED = {"keplerd.service": ["StartLimitIntervalSec=0", "Restart=on-failure", "RestartSec=1s", "MemoryMax=6G",
                                "TasksMax=32"],
            "keplerd.socket": ["TriggerLimitIntervalSec=0"],
            "keplerd-exporter.service": ["MemoryMax=2G", "TasksMax=16", "Environment=ARGS=",
                                         "EnvironmentFile=-/etc/default/keplerd-exporter",
                                         "EnvironmentFile=-/etc/sysconfig/keplerd-exporter"],
            "keplerd-history.service": ["MemoryMax=1G", "TasksMax=16", "Restart=on-failure"],
            "keplerd-drm.service": ["MemoryMax=128M", "TasksMax=4", "CapabilityBoundingSet=CAP_SYS_PTRACE"],
            "keplerd-nvml.service": ["MemoryMax=512M", "TasksMax=32"],
            "keplerd-resctrl.service": ["MemoryMax=128M", "TasksMax=4", "CapabilityBoundingSet="],
            "keplerd-resctrl-groups.service": ["MemoryMax=128M", "TasksMax=4", "CapabilityBoundingSet=",
                                               "ReadWritePaths=/sys/fs/resctrl", "ProtectKernelTunables=yes"],
            "keplerd-perf.service": ["MemoryMax=256M", "TasksMax=4", "CapabilityBoundingSet=CAP_PERFMON"],
            "keplerd-redfish.service": ["MemoryMax=128M", "TasksMax=16", "Restart=on-failure", "RestartPreventExitStatus=78"],
            "keplerd-ipmi.service": ["MemoryMax=128M", "TasksMax=16", "Restart=on-failure", "DevicePolicy=closed",
                                     "DeviceAllow=char-ipmidev rw"]}
# At MemoryHigh= the kernel puts the only thread to sleep, and with it the samples.
FORBIDDEN = ("MemoryHigh=",)


def main():
    service = pathlib.Path(sys.argv[1])
    given = [service] if sys.argv[2] == "-" else [service, pathlib.Path(sys.argv[2])]
    for unit in given:
        lines = unit.read_text().splitlines()
        lacking = [setting for setting in REQUIRED.get(unit.name, []) if setting not in lines]
        forbidden = [line for line in lines if line.startswith(FORBIDDEN)]
        if lacking or forbidden:
            print(f"{unit.name} lacks {lacking} and must not have {forbidden}")
            return 1
    drop_ins = sys.argv[3]
    most = float(sys.argv[4])
    with tempfile.TemporaryDirectory() as directory:
        units = []
        for unit in given:
            # The program is not installed where a build is tested; any other that exists will do.
            text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
            copy = pathlib.Path(directory) / unit.name
            copy.write_text(text)
            units.append(str(copy))

        score, table = exposure(units[0])
        print(f"exposure {score}, at most {most}")
        if score > most:
            print(table)
            return 1

        # As it is, and with all drop-ins: they have no errors either.
        for _ in range(2):
            verify = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
            complaints = [line for line in verify.stderr.split("\n") if "keplerd" in line or directory in line]
            if complaints or verify.returncode != 0:
                print("\n".join(complaints) or verify.stderr)
                return 1
            if drop_ins == "-":
                return 0
            shutil.copytree(drop_ins, f"{units[0]}.d", dirs_exist_ok=True)
        print(f"with all drop-ins: {exposure(units[0])[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
