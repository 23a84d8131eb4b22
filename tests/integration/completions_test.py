#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The completions of bash, zsh and fish, with the names of workloads that a keplerd on a written host reports.

usage: completions_test.py KEPLERD KEPLERCTL KEPLERD_EXPORTER SOURCE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from written_host import Daemon, WrittenHost

KEPLERD, KEPLERCTL, EXPORTER, SOURCE = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
COMPLETIONS = SOURCE / "completions"
SCOPE = r"/machine.slice/machine-qemu\x2d1\x2dweb.scope"
VM = "8a4e8f25-1c4c-4f0d-9d0a-1f2e3d4c5b6a"
KINDS = "units vms containers pods processes zones".split()
VERBS = ["status", *KINDS, "apps", "show", "monitor", "top", "history", "report", "budgets", "run", "record", "calibrate", "doctor", "help"]


def run(*command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert result.returncode == 0 and result.stderr == "", (command, result)
    return result.stdout


def options_of(program, *verb):
    """The options in --help, and whether they take a value."""
    found = {}
    for line in run(program, *verb, "--help").splitlines():
        if match := re.match(r"  +(-[-A-Za-z, ]+?)(?:  +|$| ([A-Z:]+)\b)", line):
            for name in re.split(r"[, ]+", match.group(1)):
                found[name] = bool(match.group(2))
    return found


def described_in_help(program, *verb):
    """The options and verbs in --help, each with its whole description."""
    found, names = {}, []
    for line in run(program, *verb, "--help").splitlines():
        if match := re.match(r"  +(-[-A-Za-z,]+|[a-z]+)(?: [A-Z:]+(?:=\S*)?(?: \.\.\.)?)?(?: +(\S.*))?$", line):
            names = match.group(1).split(",")
            found |= {name: match.group(2) or "" for name in names}
        elif re.match(r"  +\S", line):  # on a line of its own if there is no room for it
            found |= {name: line.strip() for name in names}
    return found


def described_in_fish(program):
    """The same, and the condition, in the order of the file."""
    text = (COMPLETIONS / f"{program}.fish").read_text()
    for condition, words, description in re.findall(
            rf"(?m)^complete -c {program}((?: -n (?:\$\w+|'[^']*'|\"[^\"]*\"))?) (.*) -d '((?:[^'\\]|\\.)*)'$", text):
        names = [("--" if len(name) > 1 else "-") + name for name in re.findall(r"-[sl] (\S+)", words)]
        for name in names or re.findall(r"-a (\w+)", words):
            yield condition, name, description.replace("\\'", "'")


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = host = WrittenHost()
        host.zone("intel-rapl:0", "package-0", 1_000_000)
        for group in ("/system.slice", "/system.slice/a.service", r"/system.slice/b\x2dc.service", "/machine.slice"):
            host.group(group, 0)
        host.group(SCOPE, 0, [20])
        host.process(20, 0, comm="qemu-system-x86", group=SCOPE)
        host.write("proc/20/cmdline", f"/usr/bin/qemu-system-x86_64\0-name\0guest=my \"web\0-uuid\0{VM}\0-S\0")
        cls.daemon = Daemon(KEPLERD, host)
        cls.daemon.status()
        # Under its name, as people call it.
        (host.root / "bin").mkdir()
        (host.root / "bin/keplerctl").symlink_to(KEPLERCTL)
        cls.path = f"{host.root}/bin:{os.environ['PATH']}"
        cls.address = f"--varlink={cls.daemon.socket}"

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        cls.host.remove()

    def bash(self, line, program="keplerctl"):
        # As readline parts words, its COMP_WORDBREAKS containing "=" and ":".
        words = [part for word in line.split(" ") for part in re.findall(r"[=:]+|[^=:]+", word) or [""]]
        quoted = " ".join("'" + word.replace("'", r"'\''") + "'" for word in words)
        script = (f"source '{COMPLETIONS}/{program}.bash'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
                  f"COMPREPLY=(); _{program}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return run("bash", "--norc", "-uc", script, PATH=self.path).split("\n")[:-1]

    def fish(self, line):
        script = f"source {COMPLETIONS}/keplerctl.fish; complete -C'{line}'"
        found = run("fish", "--no-config", "-c", script, PATH=self.path, HOME=str(self.host.root))
        return [entry.split("\t")[0] for entry in found.splitlines()]

    def test_bash_completes_verbs_and_kinds(self):
        self.assertEqual(self.bash("keplerctl "), VERBS)
        self.assertEqual(self.bash("keplerctl v"), ["vms"])
        self.assertEqual(self.bash("keplerctl -j --json=short mon"), ["monitor"])
        self.assertEqual(self.bash("keplerctl --varlink /x st"), ["status"])
        self.assertEqual(self.bash("keplerctl monitor "), KINDS)
        self.assertEqual(self.bash("keplerctl top p"), ["pods", "processes"])

    def test_bash_completes_values(self):
        self.assertEqual(self.bash("keplerctl --json="), ["pretty", "short", "off"])
        self.assertEqual(self.bash("keplerctl --json s"), ["short"])
        self.assertEqual(self.bash("keplerctl units --sort=p"), ["power"])
        self.assertEqual(self.bash("keplerctl units --limit "), [""])
        self.assertEqual(self.bash("keplerctl units -o c"), ["csv"])
        self.assertEqual(self.bash("keplerctl --output=json-s"), ["json-short", "json-seq"])
        self.assertEqual(self.bash("keplerctl units --type=s"), ["service", "scope", "slice", "socket", "swap"])
        self.assertEqual(self.bash("keplerctl help do"), ["doctor"])

    def test_bash_completes_the_command_of_run(self):
        self.assertIn("keplerctl", self.bash("keplerctl run keplerct"))
        self.assertIn("keplerctl", self.bash("keplerctl run --label=a -r 3 keplerct"))
        self.assertEqual(self.bash("keplerctl run -p Mem"), ["MemoryHigh=", "MemoryMax="])
        self.assertEqual(self.bash("keplerctl run make --js"), [""])  # the options of make

    def test_bash_completes_live_names(self):
        show = f"keplerctl {self.address} show "
        self.assertEqual(sorted(self.bash(show)), sorted([
            r"my\ \"web", "a.service", r"b\\x2dc.service", "machine.slice", r"machine-qemu\\x2d1\\x2dweb.scope",
            "system.slice", "package"]))
        self.assertEqual(self.bash(show + "a."), ["a.service"])
        self.assertEqual(self.bash(show + "8a4e"), [VM])
        self.assertEqual(self.bash(show + "/system.slice/a"), ["/system.slice/a.service"])
        # What is in front of the colon is there already.
        self.assertEqual(self.bash(show + "powercap:pack"), ["package:0"])

    def test_bash_completes_nothing_where_keplerd_does_not_answer(self):
        self.assertEqual(self.bash("keplerctl --varlink=/nowhere show "), [""])

    def test_bash_offers_every_option_of_each_verb_and_no_other(self):
        for verb in ([], *([v] for v in VERBS)):
            # Only "units --help" and not "--help" lists what is behind the verb; --wall of "--help" is for no verb.
            known = options_of(KEPLERCTL)
            if verb:
                del known["--wall"]
                known |= options_of(KEPLERCTL, *verb)
            offered = self.bash(" ".join(["keplerctl", *verb, "-"]))
            self.assertEqual(sorted(o.rstrip("=") for o in offered), sorted(known), verb)
            for option in offered:
                if option.startswith("--"):
                    self.assertEqual(option.endswith("="), known[option.rstrip("=")], option)
        self.assertEqual(sorted(self.bash("keplerd -", "keplerd")), sorted(options_of(KEPLERD)))
        self.assertEqual(sorted(self.bash("keplerd-exporter -", "keplerd-exporter")), sorted(options_of(EXPORTER)))

    def test_all_shells_know_every_option(self):
        for program, options in (("keplerctl", {o for verb in VERBS for o in options_of(KEPLERCTL, verb)}),
                                 ("keplerd", set(options_of(KEPLERD))),
                                 ("keplerd-exporter", set(options_of(EXPORTER)))):
            zsh = (COMPLETIONS / f"_{program}").read_text()
            fish = (COMPLETIONS / f"{program}.fish").read_text()
            for option in options:
                self.assertRegex(zsh, rf"(?<![-\w]){option}(?![-\w])")
                self.assertRegex(fish, rf" -[sl] {option.lstrip('-')}(?![-\w])")

    def test_fish_describes_verbs_and_options_as_help_does(self):
        for program, path in (("keplerctl", KEPLERCTL), ("keplerd", KEPLERD), ("keplerd-exporter", EXPORTER)):
            described = {}
            for verb in [[], *([v] for v in (VERBS if program == "keplerctl" else []))]:
                for name, description in described_in_help(path, *verb).items():
                    described.setdefault(name, set()).add(description)
            found = {}
            for _, name, description in described_in_fish(program):
                found.setdefault(name, set()).add(description)
            self.assertEqual(found, described)

    def test_bash_completes_the_exporters_kinds(self):
        kinds = self.bash("keplerd-exporter --serve=", "keplerd-exporter")
        for kind in kinds:
            accepted = subprocess.run([EXPORTER, f"--serve={kind}", "--version"], capture_output=True, text=True)
            self.assertEqual(accepted.returncode, 0, accepted.stderr)
        refused = subprocess.run([EXPORTER, "--serve=x"], capture_output=True, text=True).stderr
        self.assertEqual(re.split(", | or ", refused.rpartition("expected ")[2].strip()), kinds)

    def test_bash_completes_keplerd(self):
        self.assertEqual(self.bash("keplerd --bus=", "keplerd"), ["system", "session", "none"])
        self.assertEqual(self.bash("keplerd --log-level w", "keplerd"), ["warning"])
        complaint = subprocess.run([KEPLERD, "--source", "x", "--check-config"], capture_output=True, text=True).stderr
        sources = complaint.rpartition("accepted: ")[2].strip().split(", ")
        self.assertEqual(sorted(self.bash("keplerd --source ", "keplerd")), sorted(sources))
        for file in ("_keplerd", "keplerd.fish"):
            self.assertIn(" ".join(self.bash("keplerd --source ", "keplerd")), (COMPLETIONS / file).read_text())

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_verbs_kinds_and_live_names(self):
        self.assertEqual(sorted(self.fish("keplerctl ")), sorted(VERBS))
        self.assertEqual(self.fish("keplerctl monitor v"), ["vms"])
        self.assertEqual(self.fish("keplerctl --json=s"), ["--json=short"])
        self.assertEqual(self.fish(f"keplerctl {self.address} show a."), ["a.service"])
        self.assertEqual(self.fish(f"keplerctl {self.address} show 8a4e"), [VM])
        self.assertIn('my "web', self.fish(f"keplerctl {self.address} show "))
        self.assertIn("--interval", self.fish("keplerctl monitor --"))
        self.assertNotIn("--interval", self.fish("keplerctl units --"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_can_read_its_files(self):
        for program in ("keplerctl", "keplerd", "keplerd-exporter"):
            run("zsh", "-fn", COMPLETIONS / f"_{program}")
            self.assertTrue((COMPLETIONS / f"_{program}").read_text().startswith(f"#compdef {program}\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
