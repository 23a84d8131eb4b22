#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for desktops: JSON, JavaScript and QML can be parsed, where gjs and qmllint are installed, and keplerctl accepts
the commands that they run.

usage: examples.py SOURCE_DIRECTORY KEPLERCTL
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

EXAMPLES, KEPLERCTL = pathlib.Path(sys.argv[1]).resolve() / "examples", sys.argv[2]
PARSE_MODULE = """const [, text] = imports.gi.GLib.file_get_contents(ARGV[0]);
Reflect.parse(new TextDecoder().decode(text), {target: 'module'});"""
QMLLINT = shutil.which("qmllint") or shutil.which("qmllint", path="/usr/lib/qt6/bin")
complaints = []


def run(path, *command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        complaints.append(f"{path}: {done.stdout}{done.stderr}")


def main():
    commands = set()
    for path in sorted(p for p in EXAMPLES.rglob("*") if p.is_file()):
        text = path.read_text()
        if path.suffix in (".json", ".jsonc"):
            try:
                json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
            except ValueError as error:
                complaints.append(f"{path}: {error}")
        if path.suffix == ".js" and shutil.which("gjs"):
            run(path, "gjs", "-c", PARSE_MODULE, str(path))
        if path.suffix == ".qml" and QMLLINT:
            # Its warnings are about the modules of Plasma, which are not here.
            lint = subprocess.run([QMLLINT, path], capture_output=True, text=True, timeout=120, check=False)
            complaints.extend(re.findall(rf"(?m)^{re.escape(str(path))}:.*$", lint.stdout + lint.stderr))
        commands |= set(re.findall(r"exec keplerctl (monitor [^\"'\n]*)", text))
        commands |= {" ".join(re.findall(r"'([^']*)'", words)) for words in re.findall(r"\['keplerctl', (.*)\]", text)}
        # All that they need is there to be run without keplerd: what is not is reported as unavailable.
    for command in sorted(commands):
        run(f"'{command}'", KEPLERCTL, *shlex.split(command), "--count=1", "--varlink=/nonexistent")
    if len(commands) < 3:
        complaints.append(f"too few commands: {commands}")
    print("\n".join(complaints) if complaints else f"{len(commands)} commands")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
