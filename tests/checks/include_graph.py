#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flow sensors -> sample -> attribution -> report -> publishers, checked.

Fails where a folder includes another that ALLOWED does not name, where a room of a folder (ROOMS) is included from
elsewhere, where the CMake target of a folder depends on other folders than ALLOWED says, and where code that must be
pure, or must not open files itself, does.

usage: include_graph.py SOURCE_DIRECTORY
"""
import pathlib
import re
import sys

LIBRARIES = ["base", "host", "energy", "usage", "workloads", "attribution", "trace", "report", "ledger", "config", "cost", "event",
             "varlink", "client"]
PROGRAMS = ["daemon", "exporter", "history", "cli"]

# Folder: what it may include besides itself. In the order of the flow; no row names a later one.
ALLOWED = {
    "base": [],
    "host": ["base"],
    "energy": ["base", "host"],
    "usage": ["base", "host"],
    "workloads": ["base", "host", "usage"],
    "attribution": ["base", "energy", "usage", "workloads"],
    "trace": ["base", "energy", "usage", "workloads", "attribution"],
    "report": ["base", "energy", "usage", "workloads", "attribution"],
    "ledger": ["base", "host", "energy", "usage", "workloads", "attribution", "report"],
    "config": ["base"],
    "cost": ["base", "config"],
    "event": ["base"],
    "varlink": ["base", "event"],
    "client": ["base", "event", "varlink"],
    "daemon": [library for library in LIBRARIES if library not in ("cost", "client")],  # which are meant for clients
    "exporter": ["base", "cost", "event", "varlink", "client"],  # it sees no more than what keplerd sends
    "history": ["base", "config", "cost", "event", "varlink", "client"],  # likewise
    "cli": ["base", "host", "energy", "config", "cost", "varlink", "client"],  # host and energy: `doctor` tries them itself
}

# Folder: its rooms, which do not include each other, and those of its files that put the rooms together. Nobody else
# includes a file of a room.
ROOMS = {
    "energy": (["cpu", "platform", "meters"], ["guest", "select_source", "shown_only"]),
}

# Nothing but numbers comes in and goes out: no files, clocks, logs, processes.
PURE = ["attribution", "trace", "report"]
IMPURE = re.compile(
    r"#include\s*<(fstream|iostream|filesystem|cstdio|stdio\.h|ctime|time\.h|thread|mutex|random|unistd\.h|fcntl\.h"
    r"|sys/[a-z]+\.h|systemd/[a-z-]+\.h|spdlog/[a-z/_-]+\.h)>"
    r"|_clock::now\b|\bclock_gettime\b|\bgetenv\b|\bspdlog::")

# All access to /sys, /proc and the cgroups goes through lib/host.
NO_FILES = ["energy", "usage", "workloads", "attribution", "trace"]
OPENS = re.compile(
    r"(?<![\w:.>])(::)?(open|openat|openat2|creat|fopen|fdopen|opendir|fdopendir|readlink|readlinkat|stat|lstat|fstatat)"
    r"\s*\("
    r"|\bstd::(i|o)?fstream\b|\bstd::filesystem\b|#include\s*<(fstream|filesystem|dirent\.h)>")

INCLUDE = re.compile(r'^\s*#\s*include\s*"([a-z]+)/[^"]+"', re.MULTILINE)
ROOM_INCLUDE = re.compile(r'^\s*#\s*include\s*"([a-z]+)/([a-z]+)/[^"]+"', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|(R"__\(.*?\)__"|"(?:\\.|[^"\\\n])*")', re.DOTALL)


def folder_path(source, folder):
    return source / folder if folder in PROGRAMS else source / "lib" / folder


def sources(source, folder):
    path = folder_path(source, folder)
    return sorted(p for p in path.rglob("*") if p.suffix in (".cpp", ".h"))


def code_of(text):
    """The text without comments and strings, line by line as before; includes keep their names."""
    def blank(match):
        return "\n" * match.group(0).count("\n")
    lines = text.split("\n")
    kept = {n: line for n, line in enumerate(lines) if line.lstrip().startswith("#")}
    bare = COMMENT.sub(blank, "\n".join("" if n in kept else line for n, line in enumerate(lines))).split("\n")
    return "\n".join(kept.get(n, line) for n, line in enumerate(bare))


def matches(pattern, path, code):
    for match in pattern.finditer(code):
        yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}", match.group(0).strip()


def check_order():
    names = list(ALLOWED)
    for folder, allowed in ALLOWED.items():
        for other in allowed:
            if names.index(other) >= names.index(folder):
                yield f"ALLOWED: {folder} names {other}, which comes later"


def check_rooms(source, folder, path, code):
    """Checks that the file at `path` includes only rooms that it may include."""
    place = path.relative_to(folder_path(source, folder))
    for match in ROOM_INCLUDE.finditer(code):
        other, room = match.groups()
        rooms, users = ROOMS.get(other, ([], []))
        if room not in rooms:
            continue
        within = other == folder and (place.parts[0] == room if len(place.parts) > 1 else place.stem in users)
        if not within:
            yield f"{path.relative_to(source)}: must not include {other}/{room}"


def check_sources(source, folder):
    for path in sources(source, folder):
        shown = path.relative_to(source)
        code = code_of(path.read_text(encoding="utf-8"))
        for match in INCLUDE.finditer(code):
            other = match.group(1)
            if other in ALLOWED and other != folder and other not in ALLOWED[folder]:
                yield f"{shown}: {folder} must not include {other}"
        yield from check_rooms(source, folder, path, code)
        if folder in PURE:
            for place, what in matches(IMPURE, shown, code):
                yield f"{place}: {folder} is pure, but: {what}"
        if folder in NO_FILES:
            for place, what in matches(OPENS, shown, code):
                yield f"{place}: files are opened by lib/host, not by {folder}: {what}"


def reachable(folders):
    """These and what they may include: a dependency of a dependency is one."""
    found = set(folders)
    for folder in folders & ALLOWED.keys():
        found |= reachable(set(ALLOWED[folder]))
    return found


def check_cmake(source, folder):
    path = folder_path(source, folder) / "CMakeLists.txt"
    if not path.exists() or folder in PROGRAMS:
        return
    call = re.search(rf"keplerd_library\(\s*{folder}\b([^)]*)\)", path.read_text(encoding="utf-8"))
    if not call:
        yield f"{path.relative_to(source)}: no keplerd_library({folder} ...)"
        return
    depends = call.group(1).partition("DEPENDS")[2]
    has = reachable(set(re.findall(r"\bkeplerd_([a-z]+)\b", depends)))
    may = reachable(set(ALLOWED[folder]))
    for other in sorted(has - may):
        yield f"{path.relative_to(source)}: depends on {other}, which ALLOWED does not name for {folder}"
    for other in sorted(may - has):
        yield f"{path.relative_to(source)}: ALLOWED names {other} for {folder}, but it is not in DEPENDS"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    problems = list(check_order())
    count = 0
    for folder in ALLOWED:
        count += len(sources(source, folder))
        problems += check_sources(source, folder)
        problems += check_cmake(source, folder)
    for problem in problems:
        print(problem)
    if count == 0:
        problems.append("")
        print(f"no sources below {source}")
    print(f"{count} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
