#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The units are valid, and the service's sandbox is as tight as promised (systemd-analyze(1)).

usage: unit_files.py SERVICE SOCKET MOST_EXPOSURE
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    service, socket, most = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory() as directory:
        units = []
        for unit in (service, socket):
            # The program is not installed where a build is tested; any other that exists will do.
            text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
            copy = pathlib.Path(directory) / unit.name
            copy.write_text(text)
            units.append(str(copy))

        verify = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
        complaints = [line for line in verify.stderr.split("\n") if "keplerd" in line or directory in line]
        if complaints or verify.returncode != 0:
            print("\n".join(complaints) or verify.stderr)
            return 1

        security = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", units[0]],
                                  capture_output=True, text=True)
        overall = re.search(r"Overall exposure level for \S+: ([0-9.]+)", security.stdout)
        if not overall:
            print("no score:", security.stdout, security.stderr)
            return 1
        print(f"exposure {overall.group(1)}, at most {most}")
        if float(overall.group(1)) > most:
            print(security.stdout)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
