#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the tests that the working tree's changes against a revision affect, for `scripts/test --changed`.

Prints three lines, of which any may be empty: the targets to build, the unit test programs to run, and a regular
expression of ctest's other tests. A change that no rule covers affects everything; standard error says which.
Integration tests, attacks and fuzzers run for a change of their own only, unit tests for that of any folder below.

usage: affected.py [REVISION]
"""
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/checks"))
sys.dont_write_bytecode = True
from include_graph import ALLOWED, reachable  # noqa: E402

FOLDERS = ALLOWED | {"nvml": ["base", "host", "energy"], "meters": ["base", "host", "energy", "config", "event"]}
FOLDER = "|".join(FOLDERS)

CHECKS = "^checks[.]"
TREE_CHECKS = "^checks[.](format|include_graph|source_files)$"  # quick, and need no program
RULES_TESTS = "^exporter[.]"  # of Prometheus' rules: needs no program


def tests_of(folder):
    """The unit test programs in tests/FOLDER."""
    lists = SOURCE / "tests" / folder / "CMakeLists.txt"
    return {f"{name}_test" for name in re.findall(r"(?m)^keplerd_test\((\w+)", lists.read_text())} if lists.exists() else set()


def tests_above(folder):
    """Those, and those of every folder that may include it."""
    users = [user for user in FOLDERS if user == folder or folder in reachable(set(FOLDERS[user]))]
    return set().union(*map(tests_of, users))


def all_unit_tests():
    return set().union(*map(tests_of, FOLDERS))


def no_unit_tests(*_):
    return set()


# Path, the unit tests that it affects, and other tests ({0}: the path's group). The first that matches holds.
RULES = [
    (r"lib/report/row_kinds[.]", lambda: tests_above("report") | tests_of("client"), []),  # whose names are compared
    (rf"lib/({FOLDER})/", tests_above, []),
    (r"meters/(nvml)/", tests_above, []),
    (r"meters/redfish/", lambda: tests_of("meters"), ["^integration[.]redfish$"]),
    (r"meters/", lambda: tests_of("meters") | tests_of("nvml"), []),
    (r"exporter/prometheus/", no_unit_tests, [RULES_TESTS]),
    (r"(daemon|exporter|history|cli)/", tests_above, []),
    (r"dbus/", lambda: tests_above("daemon"), ["^integration[.]dbus$"]),
    (r"varlink/", lambda: tests_above("varlink"), ["^checks[.]manuals$"]),
    (r"tests/(exporter)/", tests_of, [RULES_TESTS]),
    (rf"tests/({FOLDER})/", tests_of, []),
    (r"tests/(?:support|vectors|fixtures)/", all_unit_tests, []),
    (r"tests/(integration|attack)/(\w+)_test[.]py$", no_unit_tests, ["^{0}[.]{1}$"]),
    (r"tests/checks/", no_unit_tests, [CHECKS]),
    (r"(?:docs/man|systemd)/", lambda: tests_of("config") | tests_of("cli"), [CHECKS]),
    (r"(?:tests/)?cockpit/", no_unit_tests, ["^cockpit[.]"]),
    (r"completions/", no_unit_tests, ["^integration[.]completions$"]),
    (r"docs/pictures/|scripts/screenshot$", no_unit_tests, ["^checks[.](pictures|screenshots)$"]),
    (r"docs/|[^/]*[.]md$", no_unit_tests, [TREE_CHECKS]),
]


def affected(path):
    """The unit tests and the other tests that a path affects; nothing if no rule covers it."""
    for pattern, unit_tests, others in RULES:
        if match := re.match(pattern, path):
            return unit_tests(*match.groups()[:1]), {other.format(*match.groups()) for other in others}
    return None


def changed_paths(revision):
    def paths(*command):
        run = subprocess.run(["git", "-C", SOURCE, *command], stdout=subprocess.PIPE, text=True)
        if run.returncode:
            sys.exit(2)
        return {path for path in run.stdout.split("\0") if path}
    return sorted(paths("diff", "--name-only", "--no-renames", "-z", revision, "--")
                  | paths("ls-files", "--others", "--exclude-standard", "-z"))


def main():
    changed = changed_paths(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    unit_tests, others = set(), {TREE_CHECKS} if changed else set()
    for path in changed:
        found = affected(path)
        if found is None:
            print(f"{path} may affect anything: all tests run that need neither root nor minutes", file=sys.stderr)
            unit_tests, others = all_unit_tests(), {"."}
            break
        unit_tests |= found[0]
        others |= found[1]
    print(" ".join(["all"] if others - {TREE_CHECKS, RULES_TESTS} else sorted(unit_tests)))
    print(" ".join(sorted(unit_tests)))
    print("|".join(sorted(others)))


if __name__ == "__main__":
    main()
