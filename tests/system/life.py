# SPDX-License-Identifier: Apache-2.0
"""A booted host with keplerd in it, from its birth to its end, and what is found on the way."""
import signal
import sys
import time

from booted_host import BootedHost, CommandFailed


class Report:
    """Passed and failed checks. Unless verbose, passed ones are only counted: a log is read for its failures."""

    def __init__(self, verbose):
        self.verbose = verbose
        self.passed, self.failures = 0, []

    def check(self, text, good, detail=""):
        if good:
            self.passed += 1
            if self.verbose:
                print(f"    ok  {text}", flush=True)
        else:
            self.failures.append(f"  FAIL  {text}: {detail}" if detail != "" else f"  FAIL  {text}")
            print(self.failures[-1], flush=True)

    def equal(self, text, have, want):
        self.check(text, have == want, f"{have!r}, expected {want!r}")

    def note(self, text):
        if self.verbose:
            print(f"        {text}", flush=True)


def lap(what, since):
    print(f"{time.monotonic() - since:5.1f} s  {what}", flush=True)
    return time.monotonic()


def whole(problem):
    """With what it came from: a scenario that cleans up may fail at that, too, where the first failure left no host."""
    return f"{problem}" + (f"\nafter {whole(problem.__context__)}" if problem.__context__ else "")


def live(suite, scenarios, verbose):
    """The scenarios one after another; the exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    host, report = BootedHost(suite), Report(verbose)
    begin = last = time.monotonic()
    try:
        host.set_up()
        last = lap(f"a Debian root ({suite})", last)
        host.boot()
        last = lap("booted", last)
        host.build_and_install()
        last = lap("built and installed inside", last)
        for scenario in scenarios:
            title = scenario.__doc__.split("\n")[0]
            if verbose:
                print(title, flush=True)
            before = report.passed
            scenario(host, report)
            last = lap(f"{title}: {report.passed - before} ok", last)
    except CommandFailed as problem:
        report.check("", False, whole(problem))
    finally:
        if report.failures:
            print(host.testbed("log", "-u", "keplerd*", "-n", "80", check=False).stdout)
        host.stop()
    print(*report.failures, sep="\n", end="\n" if report.failures else "")
    print(f"{report.passed} ok, {len(report.failures)} failed, {time.monotonic() - begin:.0f} s")
    return 1 if report.failures else 0
