#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy on the sources of one folder, as they are compiled in a build directory.

usage: tidy.py BUILD_DIRECTORY SOURCE_FOLDER
"""
import json
import pathlib
import subprocess
import sys


def main():
    build, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({c["file"] for c in commands if folder in pathlib.Path(c["file"]).parents})
    if not files:
        print(f"nothing is compiled below {folder}")
        return 1
    # The commands are gcc's, which has warnings of its own.
    command = ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option", "-p", str(build), *files]
    result = subprocess.run(command, capture_output=True, text=True)
    # Do not report the number of warnings in system headers.
    print(result.stdout, end="")
    if result.returncode != 0:
        print("\n".join(line for line in result.stderr.split("\n") if "warnings generated" not in line))
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
