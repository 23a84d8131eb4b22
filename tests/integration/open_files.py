# SPDX-License-Identifier: Apache-2.0
"""What a process has open."""
import os


def open_files(pid):
    """As /proc names them ("socket:[4711]", "anon_inode:[perf_event]"), without those that are closed while they are listed."""
    names = []
    for descriptor in os.scandir(f"/proc/{pid}/fd"):
        try:
            names.append(os.readlink(descriptor.path))
        except FileNotFoundError:
            pass
    return names
