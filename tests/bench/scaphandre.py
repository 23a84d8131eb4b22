# SPDX-License-Identifier: Apache-2.0
"""Scaphandre, Debian 13's package in a root of its own, compared with keplerd and its exporter: the cost of a scrape of each
with the same processes."""
import contextlib
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.request

from running import Daemon, anonymous_bytes

HERE = pathlib.Path(__file__).resolve().parent
PORT, EXPORTER_PORT = 28298, 28299
PERIOD, ROUNDS = 5, 10
MIB = 2**20


def mirror():
    """Of Debian's main archive, as this machine's own apt uses it."""
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL) $(COMPONENT)",
                              "Created-By: Packages"], check=True, capture_output=True, text=True).stdout
    for line in targets.splitlines():
        uri, *rest = line.split()
        if rest == ["Debian", "Debian", "main"]:
            return uri
    raise SystemExit("apt knows no archive of Debian to get Scaphandre from")


def make_root(directory):
    if (directory / "usr/bin/scaphandre").exists():
        return
    subprocess.run(["mmdebstrap", "--mode=root", "--variant=extract", "--quiet", "--aptopt=APT::Install-Recommends \"false\"",
                    "--include=scaphandre,base-files", "trixie", directory, f"deb {mirror()} trixie main"], check=True)


class Meter:
    """A written one, which Scaphandre takes with --vm."""

    def __init__(self, directory):
        self.zone = directory / "meter/intel-rapl:0"
        self.zone.mkdir(parents=True)
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text("262143328850\n")
        self.energy = 0
        self.draw()

    def draw(self):
        self.energy += 250_000_000
        (self.zone / "energy_uj").write_text(f"{self.energy}\n")


@contextlib.contextmanager
def started(*command, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def scaphandre(root, place):
    environment = {"SCAPHANDRE_POWERCAP_PATH": "/mnt/meter"}
    if not pathlib.Path("/proc/modules").exists():
        (place / "modules").write_text("intel_rapl_common 1 0 - Live 0x0\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", place / "no_modules.so", HERE / "no_modules.c"], check=True)
        environment |= {"LD_PRELOAD": "/mnt/no_modules.so", "MODULES": "/mnt/modules"}
    mounts = f"""set -e; mount --make-rprivate /; mkdir -p {root}/proc {root}/sys {root}/mnt
        mount --rbind /proc {root}/proc; mount --rbind /sys {root}/sys; mount --bind {place} {root}/mnt
        exec chroot {root} "$@" """
    return started("unshare", "-m", "sh", "-c", mounts, "sh", "/usr/bin/scaphandre", "--vm", "prometheus",
                   "-a", "127.0.0.1", "-p", str(PORT), env=os.environ | environment)


def scrape(port):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()


def wait_for(port, process):
    for _ in range(100):
        assert process.poll() is None, f"{process.args[-1]} has ended"
        with contextlib.suppress(OSError):
            return scrape(port)
        time.sleep(0.2)
    raise SystemExit(f"nobody answers on port {port}")


def beside(programs, root):
    """The CPU time of each in 5 s that include a scrape."""
    root = root.resolve()
    make_root(root)
    with (tempfile.TemporaryDirectory(prefix="keplerd-scaphandre-") as directory, Daemon(programs, "1s") as daemon,
          started(programs / "keplerd-exporter", "--varlink", daemon.address, "--listen", f"127.0.0.1:{EXPORTER_PORT}", "--serve=all",
                  "--processes=1000") as exporter):
        meter = Meter(pathlib.Path(directory))
        with scaphandre(root, pathlib.Path(directory)) as other:
            wait_for(PORT, other)
            wait_for(EXPORTER_PORT, exporter)
            running = {"Scaphandre": other, "keplerd": daemon.process, "keplerd-exporter": exporter}
            costs = {name: [] for name in running}
            for _ in range(ROUNDS):
                meter.draw()
                clocks = {name: (~process.pid << 3) | 2 for name, process in running.items()}
                before = {name: time.clock_gettime(clock) for name, clock in clocks.items()}
                processes = scrape(PORT).count("\nscaph_process_power_consumption_microwatts{")
                time.sleep(PERIOD / 2)
                scrape(EXPORTER_PORT)
                time.sleep(PERIOD / 2)
                for name, clock in clocks.items():
                    costs[name].append(time.clock_gettime(clock) - before[name])
            print(f"  in {PERIOD} s, with a scrape of each in them; Scaphandre tells of {processes} processes:")
            for name, process in running.items():
                print(f"    {name}: {1e3 * statistics.median(costs[name]):.1f} ms of CPU, {anonymous_bytes(process.pid) / MIB:.1f} MiB "
                      "anonymous", flush=True)
