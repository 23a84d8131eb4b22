#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the instructions that fixed pieces of work take (scenarios.h), as callgrind counts them, with those in
instructions.json: keplerd must not become more expensive unnoticed. See docs/performance.md.

usage: guard.py BENCH_GUARD [--update]      --update: what is counted becomes the reference
"""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

REFERENCE = pathlib.Path(__file__).resolve().parent / "instructions.json"
SKIPPED = 77
ROUND = 10  # kRound in scenarios.h
TOLERANCE = 0.05  # the same program counts the same, whatever the machine; what is smaller than this is not worth a commit
# Functions that the C library selects by processor, such as memcpy, must be the same on all of them.
TUNABLES = "glibc.cpu.hwcaps=" + ",".join(
    f"-{name}" for name in ("AVX512F", "AVX512VL", "AVX2", "AVX", "BMI2", "ERMS", "LZCNT", "MOVBE", "SSE4_2", "SSE4_1",
                            "SSSE3"))


def release():
    fields = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return " ".join(fields.get(name, "").strip('"') for name in ("ID", "VERSION_ID")).strip()


def about(program):
    """What the counts hold for, and the program's scenarios."""
    if not pathlib.Path(program).exists():
        sys.exit(f"{program} is not built: cmake --build --preset default --target bench")
    compiler, *scenarios = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {"compiler": compiler, "release": release(), "architecture": platform.machine()}, scenarios


def count(program, scenario):
    """The instructions that it takes, mean of a round."""
    # Trees are written to memory: other file systems list directories in an order of their own.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="keplerd-guard-", dir=place) as directory:
        out = pathlib.Path(directory) / "counts"
        done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
                               f"--callgrind-out-file={out}", program, scenario], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "TMPDIR": directory, "GLIBC_TUNABLES": TUNABLES})
        if done.returncode != 0:
            sys.exit(f"{scenario}: {program} ended with {done.returncode}: {done.stderr.strip()}")
        return int(re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE)[1]) // ROUND


def update(program):
    holds_for, scenarios = about(program)
    counts = {scenario: count(program, scenario) for scenario in scenarios}
    REFERENCE.write_text(json.dumps({**holds_for, "instructions": counts}, indent=2) + "\n")
    print(f"{REFERENCE} is written")
    return 0


def why_not(program, holds_for, reference):
    """Why nothing can be compared here; None if it can."""
    if subprocess.run(["which", "valgrind"], capture_output=True).returncode != 0:
        return "no valgrind is installed"
    for what, here in holds_for.items():
        if here != reference[what]:
            return f"the reference is of {what} {reference[what]!r}, this is {here!r}"
    return None


def main():
    program = sys.argv[1]
    if sys.argv[2:] == ["--update"]:
        return update(program)
    reference = json.loads(REFERENCE.read_text())
    holds_for, scenarios = about(program)
    reason = why_not(program, holds_for, reference)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    expected = reference["instructions"]
    problems = [f"{name}: is not in {REFERENCE.name}" for name in scenarios if name not in expected]
    problems += [f"{name}: is in {REFERENCE.name}, but there is no such scenario" for name in expected if name not in scenarios]
    for name in scenarios:
        if name not in expected:
            continue
        counted = count(program, name)
        ratio = counted / expected[name]
        print(f"{name:18} {counted:12,} instructions, {expected[name]:12,} are the reference: {ratio:.3f}", flush=True)
        if ratio > 1 + TOLERANCE:
            problems.append(f"{name}: {100 * (ratio - 1):.1f} % more instructions than the reference")
        if ratio < 1 - TOLERANCE:
            problems.append(f"{name}: {100 * (1 - ratio):.1f} % fewer; the reference is to follow, so that it does not grow again")
    for problem in problems:
        print(problem)
    if problems:
        print(f"If that is meant: {' '.join(sys.argv[:2])} --update, and say why in the commit.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
