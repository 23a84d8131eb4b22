# SPDX-License-Identifier: Apache-2.0
"""A host booted in the testbed, with keplerd built and installed inside, and the commands that tests run on it."""
import fcntl
import json
import os
import pathlib
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent

# What the root has besides the testbed's own: what the packages are built with (packaging/deb/control), and what the
# scenarios run.
PACKAGES = ("build-essential,debhelper,lintian,ccache,cmake,ninja-build,pkgconf,libsystemd-dev,libinih-dev,libspdlog-dev,"
            "libfmt-dev,nlohmann-json3-dev,libcli11-dev,libncurses-dev,libexpat1-dev,libsdbus-c++-dev,libsdbus-c++-bin,libvirt-dev,"
            "libmicrohttpd-dev,libgnutls28-dev,libyaml-cpp-dev,libcrypt-dev,zlib1g-dev,libsqlite3-dev,libcurl4-openssl-dev,libfreeipmi-dev,curl,"
            "python3-minimal,tmux,podman,lxc,dbus-user-session,python3-gi,libglib2.0-bin,libvirt-daemon-driver-lxc,"
            "cron,uidmap,cockpit-ws,cockpit-bridge,cockpit-system,sudo,rpm")
MORE_PACKAGES = {"trixie": ",scaphandre", "forky": ",scaphandre,systemd-report"}
ADDRESS = "/run/keplerd/org.keplerd.Energy"
BUILD, PACKAGES_BUILT = "/root/build", "/root/packages"
BOOKWORM_DROP_IN = "/run/systemd/system/keplerd.service.d"
APT = "env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends"


class CommandFailed(Exception):
    pass


class BootedHost:
    def __init__(self, suite, name=""):
        """`name`: of a second host, beside the one without."""
        self.directory = pathlib.Path(os.environ.get("TESTBED_DIR", "/var/tmp/testbed"))
        self.suite = suite
        self.lock = None
        self.environment = {**os.environ, "TESTBED_SUITE": suite, "TESTBED_NAME": f"keplerd-{suite}{name}",
                            "TESTBED_PACKAGES": PACKAGES + MORE_PACKAGES.get(suite, ""), "TESTBED_DIR": str(self.directory)}

    def testbed(self, *arguments, check=True):
        result = subprocess.run([HERE / "testbed" / "testbed", *map(str, arguments)], env=self.environment,
                                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                                errors="surrogateescape")
        if check and result.returncode != 0:
            raise CommandFailed(f"{shlex.join(map(str, arguments))}: exit status {result.returncode}\n"
                                f"{result.stdout[-4000:]}{result.stderr[-4000:]}")
        return result

    def set_up(self):
        """The root to boot. Waits for another run to end: two would be in one cgroup."""
        lock = open("/run/lock/keplerd-system-test", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.lock = lock
        self.testbed("stop", "--now")  # what a killed run left
        self.testbed("setup")

    def boot(self):
        ccache = self.directory / f"ccache.{self.suite}"
        ccache.mkdir(parents=True, exist_ok=True)
        self.testbed("start", f"--bind-ro={SOURCE}:/src", f"--bind={ccache}:/ccache")
        self.prepare()

    def power_cycle(self):
        """All of it is killed at once, and the same root booted again. Counters of the meter begin at 0."""
        self.testbed("power-cycle")
        self.prepare()

    def prepare(self):
        """What each boot of a release needs."""
        if self.suite == "bookworm":
            # Its systemd gives a sandboxed unit a /proc of its own, without the testbed's processor.
            self.sh(f"""
                mkdir -p {BOOKWORM_DROP_IN}
                echo '[Service]\nBindReadOnlyPaths=/run/testbed/cpuinfo:/proc/cpuinfo' >{BOOKWORM_DROP_IN}/cpuinfo.conf""")

    def stop(self):
        if self.lock:
            self.testbed("stop", "--now", check=False)

    def build_and_install(self):
        """The packages, built and installed as an administrator does it. Nothing is enabled."""
        self.sh(f"""
            export CCACHE_DIR=/ccache DEB_BUILD_OPTIONS=noautodbgsym DEB_CXXFLAGS_APPEND='-g1 -Werror'
            /src/scripts/package deb --work {BUILD} --output {PACKAGES_BUILT}
            {APT} install {PACKAGES_BUILT}/*.deb
            rm -rf /ccache/packages
            cp -r {PACKAGES_BUILT} /ccache/packages  # for whole_machine, which has no compiler's time""")

    def run(self, *command, check=False):
        """The command as a transient service in the booted host."""
        return self.testbed("exec", *command, check=check)

    def sh(self, script, check=True):
        return self.run("sh", "-euc", script, check=check).stdout

    def rapl(self, verb, zone, *value):
        return self.testbed("rapl", verb, zone, *value).stdout.strip()

    def counter(self, zone):
        return int(self.rapl("get", zone))

    def property(self, name, unit="keplerd.service"):
        return self.sh(f"systemctl show -P {name} {unit}").strip()

    def journal(self, *options):
        return self.sh(f"journalctl -q --no-pager -o cat -u keplerd.service {shlex.join(options)}")

    def complaints(self):
        """keplerd's warnings, except for the libvirtd that a scenario has stopped (libvirt.hung), and what systemd 26x
        says about the testbed, which has no such controller."""
        return [line for line in self.journal("-p", "warning").splitlines()
                if line != "libvirt does not answer: restarting keplerd-libvirt"
                and not line.startswith("keplerd.service: Failed to read pids.max for")]

    def ask(self, *verb):
        """keplerctl's output, as JSON."""
        return json.loads(self.run("keplerctl", "--json=short", *verb, check=True).stdout)

    def snapshot(self, *verbs):
        """Status, units, processes and zones of one sample, and the other kinds that are named."""
        script = "; ".join(f"keplerctl --json=short {verb}"
                           for verb in ("status", "units", "processes", "zones", *verbs, "status"))
        for _ in range(20):
            status, *lists, after = map(json.loads, self.sh(script).splitlines())
            if status["sequence"] == after["sequence"]:
                return {key: rows for answer in lists for key, rows in answer.items()} | {"status": status}
        raise CommandFailed("no two answers in a row are of one sample")

    def wait_for_samples(self, count=2, limit=20):
        """Waits for this many whole windows, the first of which begins after now."""
        first = self.ask("status")["sequence"]
        self.wait_until(lambda: self.ask("status")["sequence"] >= first + count, limit, "a new sample")

    def wait_until(self, condition, limit, what):
        """The limit, in seconds, is for an idle host: one that builds something else, too, may take longer."""
        limit *= 3
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                raise CommandFailed(f"waited {limit} s for {what}")
            time.sleep(0.1)
