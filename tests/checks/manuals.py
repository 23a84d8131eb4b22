#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages are well-formed, and document the programs' options and the varlink interface.

usage: manuals.py SOURCE KEPLERD KEPLERD_EXPORTER KEPLERD_HISTORY
"""
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE, KEPLERD, EXPORTER, HISTORY = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
PAGES = sorted((SOURCE / "docs/man").iterdir())
complaints = []


def equal(what, have, want):
    if have != want:
        complaints.append(f"{what}: {sorted(have - want)} too many, {sorted(want - have)} missing")


def page(name):
    return (SOURCE / "docs/man" / name).read_text()


def words(text):
    return set(re.findall(r"[A-Za-z][A-Za-z0-9]*", text))


def check_dates():
    """All pages have the same date, so that a release updates them together."""
    dates = {file.name: re.findall(r"(?m)^\.Dd (.+)$", file.read_text()) for file in PAGES}
    given = [found[0] for found in dates.values() if len(found) == 1]
    usual = max(given, key=given.count, default=None)
    for name, found in dates.items():
        if found != [usual]:
            complaints.append(f"{name}: .Dd is {', '.join(found) or 'missing'}, but {usual} in the other pages; use one date for all")


def check_form():
    check_dates()
    for file in PAGES:
        text = file.read_text()
        if not re.search(r"(?m)^(\.Nm \S+\n\.Nd .+|\S+ \\- .+)$", text):
            complaints.append(f"{file}: no line that whatis(1) can read")
        for name, section in re.findall(r"(?m)^\.(?:Xr|BR) ([\w.]*keplerc?t?l?d[\w.-]*) \(?(\d)", text):
            if not (SOURCE / f"docs/man/{name}.{section}").exists():
                complaints.append(f"{file}: there is no {name}({section})")
        if shutil.which("groff"):
            package = "-mdoc" if re.search(r"(?m)^\.Dd ", text) else "-man"
            said = subprocess.run(["groff", "-ww", package, "-Tutf8", "-z", file], capture_output=True, text=True).stderr
            if said:
                complaints.append(f"{file}: {said}")


def check_options(name, program, statuses):
    text = page(name)
    options = re.search(r"(?s)\.Sh OPTIONS\n(.*?)\n\.Sh ", text).group(1)
    described = set()
    for line in re.findall(r"(?m)^\.It (Fl .*)$", options):
        argument = re.search(r" Ar ([A-Z:]+)$", line)
        for option in re.findall(r"Fl (\S+)", line):
            described.add(f"-{option}" + (f" {argument.group(1)}" if argument else ""))
    known = set()
    for line in subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout.splitlines():
        if match := re.match(r"  +(-[-a-z]+)(?:,(-[-a-z]+))?(?: ([A-Z:]+)\b)?", line):
            argument = f" {match.group(3)}" if match.group(3) else ""
            known |= {name + argument for name in match.groups()[:2] if name}
    equal(f"options of {name}", described, known)
    equal(f"exit statuses of {name}", set(re.findall(r"(?m)^\.It Li (\d+)$", text)), statuses)


def check_daemon():
    text = page("keplerd.8")
    drop_ins = {file.name for file in (SOURCE / "systemd/drop-ins").iterdir()}
    equal("drop-ins of keplerd(8)", set(re.findall(r"(?m)^\.It Pa (\w+\.conf)$", text)), drop_ins)


def outer_list(text):
    """The first list of a section, with the lists in its entries."""
    depth, lines = 0, []
    for line in text.split("\n"):
        depth += line.startswith(".Bl ") - line.startswith(".El")
        if depth > 0:
            lines.append(line)
        elif lines:
            break
    return "\n".join(lines)


def check_varlink(interface):
    """A method or type is one tagged paragraph of the page, and has the words of its parameters or fields."""
    idl = re.sub(r"#.*", "", (SOURCE / f"varlink/{interface}.varlink").read_text())
    text = page(f"{interface}.5").replace("\\\n", "")
    methods = re.search(r"(?s)\.Sh METHODS\n(.*?)\n\.Sh ", text).group(1)
    described = {}
    for line in re.findall(r"(?m)^\.It (Fn .*)$", methods):
        name, takes, gives = re.match(r'Fn (\w+) "(.*?)" No -> Va (.*)', line).groups()
        described[name] = (takes, words(gives))
    known = {}
    for name, takes, gives in re.findall(r"method (\w+)\((.*?)\) -> \((.*?)\)", idl, re.DOTALL):
        parameters = [(field, "?" if kind.startswith("?") else "") for field, kind in re.findall(r"(\w+): (\S+?)(?:,|$)", takes)]
        known[name] = (", ".join(field + mark for field, mark in parameters), set(re.findall(r"(\w+):", gives)))
    if described != known:
        complaints.append(f"methods of {interface}(5): {described}, but the interface has {known}")

    types = outer_list(text[text.index(".Sh TYPES\n"):])
    described = {}
    for entry in types.split("\n.It Vt ")[1:]:
        name, _, body = entry.partition("\n")
        described[name] = set().union(*(words(line) for line in re.findall(r"(?m)^\.(?:It )?Va (.*)$", body)))
    for name, fields in re.findall(r"type (\w+) \((.*?)\n\)", idl, re.DOTALL):
        equal(f"type {name} of {interface}(5)", described.pop(name, set()), set(re.findall(r"(\w+):", fields)))
    equal(f"types of {interface}(5)", set(described), set())

    errors = re.search(r"(?s)\.Sh ERRORS\n(.*?)\n\.El\n", text).group(1)
    listed = set(re.findall(r"\b(NoSuch\w+|AmbiguousName|TooMany\w+|Unreadable)\b", errors))
    equal(f"errors of {interface}(5)", listed, set(re.findall(r"error (\w+)", idl)))


check_form()
check_options("keplerd.8", KEPLERD, {"0", "1", "2", "78"})
check_options("keplerd-exporter.8", EXPORTER, {"0", "1", "2", "78"})
check_daemon()
check_options("keplerd-history.8", HISTORY, {"0", "1", "2", "78"})
check_varlink("org.keplerd.Energy")
check_varlink("org.keplerd.History")
print("\n".join(complaints) or f"{len(PAGES)} pages")
sys.exit(1 if complaints else 0)
