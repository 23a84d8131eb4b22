# SPDX-License-Identifier: Apache-2.0
"""A booted host with keplerd in it, from its birth to its end, and what is found on the way."""
import signal
import sys
import time

from booted_host import BootedHost, CommandFailed


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, text, good, detail=""):
        if good:
            self.passed += 1
            print(f"    ok  {text}", flush=True)
        else:
            self.failed += 1
            print(f"  FAIL  {text}: {detail}" if detail != "" else f"  FAIL  {text}", flush=True)

    def equal(self, text, have, want):
        self.check(text, have == want, f"{have!r}, expected {want!r}")

    def note(self, text):
        print(f"        {text}", flush=True)


def lap(what, since):
    print(f"{time.monotonic() - since:5.1f} s  {what}", flush=True)
    return time.monotonic()


def live(suite, scenarios):
    """The scenarios one after another; the exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    host, report = BootedHost(suite), Report()
    begin = last = time.monotonic()
    try:
        host.set_up()
        last = lap(f"a Debian root ({suite})", last)
        host.boot()
        last = lap("booted", last)
        host.build_and_install()
        last = lap("built and installed inside", last)
        for scenario in scenarios:
            print(scenario.__doc__.split("\n")[0])
            scenario(host, report)
            last = lap("", last)
    except CommandFailed as problem:
        report.check("", False, problem)
    finally:
        if report.failed:
            print(host.testbed("log", "-u", "keplerd", "-n", "60", check=False).stdout)
        host.stop()
    print(f"{report.passed} ok, {report.failed} failed, {time.monotonic() - begin:.0f} s")
    return 1 if report.failed else 0
