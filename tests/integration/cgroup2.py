# SPDX-License-Identifier: Apache-2.0
"""The kernel's cgroup2 on this very host."""
import pathlib


def cgroup_root():
    """None if there is none."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 "):
            return pathlib.Path(fields.split()[4])
    return None
