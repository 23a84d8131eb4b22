#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file states its licence; no source of the programs has more than 350 lines.

usage: source_files.py SOURCE_DIRECTORY
"""
import pathlib
import sys

FOLDERS = ["cmake", "lib", "daemon", "cli", "exporter", "history", "cockpit", "meters", "systemd", "tests", "scripts", ".ci", "varlink", "dbus", "packaging"]
SUFFIXES = {".cpp", ".h", ".py", ".cmake", ".sh", ".service", ".socket", ".sysusers", ".in", ".js", ".mjs", ".css", ".html"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LONGEST = 350


def is_source(path):
    if path.suffix in SUFFIXES or path.name == "CMakeLists.txt":
        return True
    return path.suffix == "" and path.read_bytes()[:2] == b"#!"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    paths = [source / "CMakeLists.txt"]
    for folder in FOLDERS:
        paths += sorted(p for p in (source / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
                        and "fixtures" not in p.parts and "corpus" not in p.parts)
    problems = []
    count = 0
    for path in filter(is_source, paths):
        count += 1
        shown = path.relative_to(source)
        lines = path.read_text(encoding="utf-8").split("\n")
        if not any(LICENCE in line for line in lines[:4]):
            problems.append(f"{shown}: no line \"{LICENCE}\" at the top")
        if shown.parts[0] in ("lib", "daemon", "cli", "exporter", "history", "cockpit", "meters") and len(lines) - 1 > LONGEST:
            problems.append(f"{shown}: {len(lines) - 1} lines; more than {LONGEST} is more than one thing")
    print("\n".join(problems + [f"{count} files, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
