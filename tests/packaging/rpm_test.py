#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The RPM: its files, their owners and modes, what it requires, what its scriptlets do, and that its programs run.

usage: rpm_test.py SOURCE BUILD      BUILD: what the preset "default" has built
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
BUILD = pathlib.Path(sys.argv.pop(1))
HELPER = "/usr/lib/systemd/systemd-update-helper"

DIRECTORIES = """
/etc/keplerd /usr/libexec/keplerd /usr/share/doc/keplerd /usr/share/keplerd /usr/share/keplerd/drop-ins
/usr/share/licenses/keplerd""".split()
PROGRAMS = """
/usr/bin/keplerctl /usr/libexec/keplerd/keplerd-drm /usr/libexec/keplerd/keplerd-nvml
/usr/libexec/keplerd/keplerd-perf
/usr/libexec/keplerd/keplerd-resctrl /usr/libexec/keplerd/keplerd-resctrl-groups /usr/sbin/keplerd""".split()
FILES = """
/etc/keplerd/cost.conf /etc/keplerd/keplerd.conf
/usr/lib/systemd/system/keplerd-drm.service /usr/lib/systemd/system/keplerd-nvml.service
/usr/lib/systemd/system/keplerd-perf.service
/usr/lib/systemd/system/keplerd-resctrl.service /usr/lib/systemd/system/keplerd-resctrl-groups.service
/usr/lib/systemd/system/keplerd.service /usr/lib/systemd/system/keplerd.socket /usr/lib/sysusers.d/keplerd.conf
/usr/share/bash-completion/completions/keplerctl /usr/share/bash-completion/completions/keplerd
/usr/share/dbus-1/interfaces/org.keplerd1.Manager.xml /usr/share/dbus-1/interfaces/org.keplerd1.VirtualMachine.xml
/usr/share/dbus-1/interfaces/org.keplerd1.Zone.xml /usr/share/dbus-1/system-services/org.keplerd1.service
/usr/share/dbus-1/system.d/org.keplerd1.conf
/usr/share/doc/keplerd/CHANGELOG.md /usr/share/doc/keplerd/README.md /usr/share/doc/keplerd/SECURITY.md
/usr/share/doc/keplerd/architecture.md /usr/share/doc/keplerd/fleet.md /usr/share/doc/keplerd/performance.md
/usr/share/fish/vendor_completions.d/keplerctl.fish /usr/share/fish/vendor_completions.d/keplerd.fish
/usr/share/keplerd/drop-ins/perf.conf /usr/share/keplerd/drop-ins/ptrace.conf
/usr/share/licenses/keplerd/LICENSE
/usr/share/man/man1/keplerctl.1.gz /usr/share/man/man5/keplerd.conf.5.gz /usr/share/man/man5/org.keplerd.Energy.5.gz
/usr/share/man/man5/keplerd-cost.conf.5.gz /usr/share/man/man5/keplerd-trace.5.gz /usr/share/man/man7/keplerd-meters.7.gz
/usr/share/man/man5/org.keplerd1.5.gz
/usr/share/man/man8/keplerd-drm.8.gz /usr/share/man/man8/keplerd-perf.8.gz
/usr/share/man/man8/keplerd-resctrl.8.gz /usr/share/man/man8/keplerd.8.gz
/usr/share/polkit-1/actions/org.keplerd1.policy
/usr/share/zsh/site-functions/_keplerctl /usr/share/zsh/site-functions/_keplerd""".split()

EXPORTER_FILES = """
/etc/sysconfig/keplerd-exporter
/usr/lib/systemd/system/keplerd-exporter.service /usr/lib/systemd/system/keplerd-exporter.socket
/usr/share/bash-completion/completions/keplerd-exporter /usr/share/fish/vendor_completions.d/keplerd-exporter.fish
/usr/share/keplerd/grafana/keplerd-fleet.json /usr/share/keplerd/grafana/keplerd.json
/usr/share/keplerd/prometheus/keplerd-fleet.rules.yml /usr/share/keplerd/prometheus/keplerd.alerts.yml
/usr/share/keplerd/prometheus/keplerd.rules.yml
/usr/share/licenses/keplerd-exporter/LICENSE /usr/share/man/man8/keplerd-exporter.8.gz
/usr/share/zsh/site-functions/_keplerd-exporter""".split()


HISTORY_FILES = """
/etc/keplerd/history.conf /usr/lib/systemd/system/keplerd-history.service /usr/lib/sysusers.d/keplerd-history.conf
/usr/share/dbus-1/interfaces/org.keplerd1.History.xml /usr/share/dbus-1/system.d/org.keplerd1.History.conf
/usr/share/polkit-1/rules.d/keplerd-history.rules
/usr/share/licenses/keplerd-history/LICENSE
/usr/share/man/man5/org.keplerd.History.5.gz /usr/share/man/man8/keplerd-history.8.gz""".split()


def examples():
    """All of examples/ is installed; programs are those that git keeps as such."""
    here = [SOURCE / "examples", *(SOURCE / "examples").rglob("*")]
    for path in here:
        mode = "40755" if path.is_dir() else "100755" if path.stat().st_mode & 0o100 else "100644"
        yield "/usr/share/doc/keplerd/" + str(path.relative_to(SOURCE)), mode, "root:root"


def run(*command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout.decode()[-4000:]}")
    return result.stdout


class Rpm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-rpm-"))
        run(SOURCE / "scripts/package", "rpm", "--build", BUILD, "--work", cls.directory / "work",
            "--output", cls.directory / "packages")
        cls.package, = cls.directory.glob("packages/*/keplerd-[0-9]*.rpm")
        cls.libvirt, = cls.directory.glob("packages/*/keplerd-libvirt-*.rpm")
        cls.exporter, = cls.directory.glob("packages/*/keplerd-exporter-*.rpm")
        cls.history, = cls.directory.glob("packages/*/keplerd-history-*.rpm")
        cls.ipmi, = cls.directory.glob("packages/*/keplerd-ipmi-*.rpm")
        cls.redfish, = cls.directory.glob("packages/*/keplerd-redfish-*.rpm")
        cls.cockpit, = cls.directory.glob("packages/noarch/cockpit-keplerd-*.rpm")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def query(self, *options, package=None):
        return run("rpm", "-qp", *options, package or self.package).decode()

    def files(self, package):
        """With their modes and owners, but without what debuggers find a program's symbols by."""
        lines = self.query("--qf", r"[%{FILENAMES} %{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME}\n]",
                           package=package).splitlines()
        return {tuple(line.split()) for line in lines if not line.startswith("/usr/lib/.build-id")}

    def scriptlet(self, name, package=None):
        text = self.query("--scripts", package=package)
        return re.search(rf"(?ms)^{name} scriptlet.*?:\n(.*?)(?=^\w+ scriptlet|\Z)", text).group(1)

    def test_holds_these_files_of_root_with_these_modes(self):
        want = ({(path, "40755", "root:root") for path in DIRECTORIES}
                | {(path, "100755", "root:root") for path in PROGRAMS}
                | {(path, "100644", "root:root") for path in FILES} | set(examples()))
        self.assertEqual(self.files(self.package) ^ want, set())

    def test_only_a_package_of_its_own_links_libvirt(self):
        self.assertEqual(self.files(self.libvirt), {
            ("/usr/libexec/keplerd/keplerd-libvirt", "100755", "root:root"),
            ("/usr/share/licenses/keplerd-libvirt", "40755", "root:root"),
            ("/usr/share/licenses/keplerd-libvirt/LICENSE", "100644", "root:root")})
        requires = self.query("--requires", package=self.libvirt)
        self.assertIn("libvirt.so.0", requires)
        self.assertRegex(requires, r"(?m)^keplerd(\(x86-64\))? = ")
        self.assertNotIn("virt", self.query("--requires"))

    def test_only_a_package_of_its_own_listens_on_the_network(self):
        self.assertEqual(self.files(self.exporter), {
            ("/usr/sbin/keplerd-exporter", "100755", "root:root"),
            ("/usr/share/keplerd/grafana", "40755", "root:root"), ("/usr/share/keplerd/prometheus", "40755", "root:root"),
            ("/usr/share/licenses/keplerd-exporter", "40755", "root:root")} | {
            (path, "100644", "root:root") for path in EXPORTER_FILES})
        requires = self.query("--requires", package=self.exporter)
        for library in ("libmicrohttpd.so", "libgnutls.so", "libyaml-cpp.so", "libcrypt.so", "libz.so"):
            self.assertIn(library, requires)
            self.assertNotIn(library, self.query("--requires"))
        self.assertRegex(requires, r"(?m)^keplerd(\(x86-64\))? = ")
        units = "keplerd-exporter.service keplerd-exporter.socket"
        self.assertIn(f"{HELPER} install-system-units {units}", self.scriptlet("postinstall", self.exporter))
        self.assertIn(f"{HELPER} remove-system-units {units}", self.scriptlet("preuninstall", self.exporter))
        self.assertIn(f"{HELPER} mark-restart-system-units keplerd-exporter.service",
                      self.scriptlet("postuninstall", self.exporter))

    def test_only_a_package_of_its_own_has_a_database(self):
        self.assertEqual(self.files(self.history), {
            ("/usr/sbin/keplerd-history", "100755", "root:root"),
            ("/usr/share/licenses/keplerd-history", "40755", "root:root")} | {
            (path, "100644", "root:root") for path in HISTORY_FILES})
        self.assertIn("libsqlite3.so", self.query("--requires", package=self.history))
        self.assertNotIn("sqlite", self.query("--requires"))
        self.assertIn(f"{HELPER} install-system-units keplerd-history.service", self.scriptlet("postinstall", self.history))

    def test_only_a_package_of_its_own_connects_to_management_controllers(self):
        self.assertEqual(self.files(self.redfish), {
            ("/usr/libexec/keplerd/keplerd-redfish", "100755", "root:root"),
            ("/usr/lib/systemd/system/keplerd-redfish.service", "100644", "root:root"),
            ("/usr/share/man/man8/keplerd-redfish.8.gz", "100644", "root:root"),
            ("/usr/share/licenses/keplerd-redfish", "40755", "root:root"),
            ("/usr/share/licenses/keplerd-redfish/LICENSE", "100644", "root:root")})
        self.assertIn("libcurl.so", self.query("--requires", package=self.redfish))
        self.assertNotIn("libcurl", self.query("--requires"))
        self.assertIn(f"{HELPER} install-system-units keplerd-redfish.service", self.scriptlet("postinstall", self.redfish))

    def test_only_a_package_of_its_own_links_libfreeipmi(self):
        self.assertEqual(self.files(self.ipmi), {
            ("/usr/libexec/keplerd/keplerd-ipmi", "100755", "root:root"),
            ("/usr/lib/systemd/system/keplerd-ipmi.service", "100644", "root:root"),
            ("/usr/lib/sysusers.d/keplerd-ipmi.conf", "100644", "root:root"),
            ("/usr/lib/udev/rules.d/60-keplerd-ipmi.rules", "100644", "root:root"),
            ("/usr/share/man/man8/keplerd-ipmi.8.gz", "100644", "root:root"),
            ("/usr/share/licenses/keplerd-ipmi", "40755", "root:root"),
            ("/usr/share/licenses/keplerd-ipmi/LICENSE", "100644", "root:root")})
        for package in (self.package, self.libvirt, self.exporter, self.history, self.redfish):
            self.assertNotIn("freeipmi", self.query("--requires", package=package))
        self.assertIn("libfreeipmi.so", self.query("--requires", package=self.ipmi))
        self.assertIn("GPL-3.0-or-later", self.query("--qf", "%{LICENSE}", package=self.ipmi))
        self.assertIn("useradd -r -g keplerd-ipmi", self.scriptlet("preinstall", self.ipmi))

    def test_the_page_for_cockpit_is_a_package_of_its_own(self):
        page = "/usr/share/cockpit/keplerd"
        tree = {path.name for path in (SOURCE / "cockpit").iterdir()} - {"CMakeLists.txt", "package.json"}
        self.assertEqual(self.files(self.cockpit), {
            (page, "40755", "root:root"), ("/usr/share/licenses/cockpit-keplerd", "40755", "root:root"),
            ("/usr/share/licenses/cockpit-keplerd/LICENSE", "100644", "root:root")} | {
            (f"{page}/{name}", "100644", "root:root") for name in tree})
        self.assertIn("cockpit-bridge >= 265", self.query("--requires", package=self.cockpit))

    def test_keeps_a_changed_configuration(self):
        for package, files in ((self.package, ["/etc/keplerd/cost.conf", "/etc/keplerd/keplerd.conf"]),
                               (self.exporter, ["/etc/sysconfig/keplerd-exporter"]),
                               (self.history, ["/etc/keplerd/history.conf"])):
            flags = dict(line.split() for line in self.query("--qf", r"[%{FILENAMES} -%{FILEFLAGS:fflags}\n]",
                                                             package=package).splitlines())
            self.assertEqual({path: flag for path, flag in flags.items() if "c" in flag},
                             {file: "-cn" for file in files})  # configuration, not to be replaced

    def test_requires_its_libraries_and_what_its_scriptlets_call(self):
        requires = {line.split("(")[0].split()[0] for line in self.query("--requires").splitlines()}
        for library in ("libc.so.6", "libsystemd.so.0", "libstdc++.so.6"):
            self.assertIn(library, requires)
        for name in ("libsdbus-c++.so", "libfmt.so", "libspdlog.so", "libinih.so", "libncursesw.so"):
            self.assertTrue(any(r.startswith(name) for r in requires), name)
        self.assertLessEqual({"systemd", "shadow-utils", "dbus-common"}, requires)

    def test_its_scriptlets_make_the_user_and_leave_it_to_presets_whether_it_is_enabled(self):
        self.assertIn("useradd -r -g keplerd", self.scriptlet("preinstall"))
        units = "keplerd.service keplerd.socket keplerd-drm.service keplerd-nvml.service keplerd-perf.service " \
                "keplerd-resctrl.service keplerd-resctrl-groups.service"
        self.assertIn(f"{HELPER} install-system-units {units}", self.scriptlet("postinstall"))
        self.assertIn(f"{HELPER} remove-system-units {units}", self.scriptlet("preuninstall"))
        # The socket stays open meanwhile, so that no question is turned away.
        restarted = "keplerd.service keplerd-drm.service keplerd-nvml.service keplerd-perf.service " \
                    "keplerd-resctrl.service keplerd-resctrl-groups.service"
        self.assertIn(f"{HELPER} mark-restart-system-units {restarted}", self.scriptlet("postuninstall"))
        for name in ("preinstall", "postinstall", "preuninstall", "postuninstall"):
            run("sh", "-n", input=self.scriptlet(name).encode())
            self.assertNotIn("systemctl enable", self.scriptlet(name))
            self.assertNotIn("userdel", self.scriptlet(name))

    def test_its_programs_run(self):
        root = self.directory / "root"
        root.mkdir()
        archive = run("rpm2cpio", self.package)
        run("cpio", "-id", "--quiet", input=archive, cwd=root)
        self.assertRegex(run(root / "usr/sbin/keplerd", "--version"), rb"^keplerd \d")
        self.assertRegex(run(root / "usr/bin/keplerctl", "--version"), rb"^keplerctl \d")
        settings = run(root / "usr/sbin/keplerd", "--config", root / "etc/keplerd/keplerd.conf", "--check-config")
        self.assertIn(b"Interval=1s", settings)
        service = (root / "usr/lib/systemd/system/keplerd.service").read_text()
        self.assertIn("\nExecStart=/usr/sbin/keplerd\n", service)

    @unittest.skipUnless(shutil.which("rpmlint"), "rpmlint is not installed")
    def test_rpmlint_finds_nothing(self):
        said = run("rpmlint", "-c", SOURCE / "packaging/rpm/rpmlint.toml", SOURCE / "packaging/rpm/keplerd.spec",
                   self.package, self.libvirt, self.exporter, self.history, self.ipmi, self.redfish,
                   self.cockpit).decode()
        self.assertRegex(said, "0 errors, 0 warnings")


if __name__ == "__main__":
    unittest.main(verbosity=2)
