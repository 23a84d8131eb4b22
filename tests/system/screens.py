# SPDX-License-Identifier: Apache-2.0
"""keplerctl's screens on a booted host: top on a terminal (tmux's), and its handling of hostile names. The counters
stand still meanwhile, so that screens can be compared exactly."""
import json
import re
import unicodedata

import guests
import hostile
from booted_host import CommandFailed

KEYS = "q quit  h help  Tab kind  p/e/c/n sort  r reverse  / filter  Enter details"


class Terminal:
    """A command on a terminal of its own, which stays when the command has ended."""

    def __init__(self, host, width, height, command, *environment):
        self.host, self.tmux = host, "tmux -L test"
        host.sh(f"""
            cat >/run/terminal.sh <<'END'
env {" ".join(environment)} {command}
echo "ended $?"
exec sleep 1000
END
            systemd-run -q --unit=terminal -p Type=forking -E LANG=C.UTF-8 -E TERM=xterm-256color \\
                {self.tmux} -f /dev/null new-session -d -x {width} -y {height} 'sh /run/terminal.sh'""")

    def press(self, *keys):
        self.host.sh(f"{self.tmux} send-keys {' '.join(keys)}")

    def lines(self, *options):
        return self.host.sh(f"{self.tmux} capture-pane -p {' '.join(options)}").split("\n")[:-1]

    def wait_for(self, what, condition):
        """The lines, once they are so; a line in them, or a condition that they fulfil."""
        shown = []

        def is_so():
            shown[:] = self.lines()
            return condition(shown) if callable(condition) else condition in map(str.rstrip, shown)
        try:
            self.host.wait_until(is_so, 10, what)
        except CommandFailed as problem:
            raise CommandFailed(f"{problem}; the screen is:\n" + "\n".join(shown)) from None
        return list(map(str.rstrip, shown))

    def title(self):
        return self.host.sh(f"{self.tmux} display-message -p '#{{pane_title}}'").strip()

    def close(self):
        self.host.sh("systemctl stop terminal")


def fields(line):
    return re.split(r"\s{2,}", line.strip())


def table(host, kind, *options):
    """Of keplerctl's table: the source line, the rows by their columns, the footer."""
    text = host.run("keplerctl", kind, "--sort=energy", *options, check=True).stdout
    source, _, rest = text.partition("\n\n")
    rows, _, footer = rest.partition("\n\n")
    head, *rows = rows.split("\n")
    return source, [dict(zip(fields(head), fields(row))) for row in rows], footer


def tab_line(kind, text):
    kinds = ["units", "vms", "containers", "pods", "processes", "zones"]
    return "".join(f"[{k}]" if k == kind else f" {k} " for k in kinds) + "  " + text


def top(host, report):
    """top on 80x24"""
    host.wait_for_samples()
    terminal = Terminal(host, 80, 24, "keplerctl top vms")
    terminal.press("e")
    lines = terminal.wait_for("machines", tab_line("vms", "by energy  3"))
    source, rows, footer = table(host, "vms")
    report.equal("the first line names source and quality", lines[0], source)
    report.check("which are those of the meter", "(powercap, measured)" in source, source)
    report.equal("the accounts are those of the table", f"Host: {lines[1]}.", footer.partition(". ")[2].partition("\n")[0])
    report.equal("headers", lines[6],
                 "    POWER      ENERGY    SHARE        CPU  NAME                       HYPERVISOR")
    report.equal("machines, most energy first, as in the table", [fields(line)[:3] + fields(line)[4:]
                                                                  for line in lines[7:10]],
                 [[r["POWER"], r["ENERGY"], r["SHARE"], r["NAME"], r["HYPERVISOR"]] for r in rows])
    report.equal("nothing below but the keys", lines[10:], [""] * 13 + [KEYS])

    terminal.press("3", "n")
    lines = terminal.wait_for("containers", tab_line("containers", "by name  4"))
    names = ["box", "box2", "lxcbox", "podbox"]
    report.equal("containers by name", [fields(line)[4:] for line in lines[7:11]],
                 [[n, runtime] for n, runtime in zip(names, ["nspawn", "nspawn", "lxc", "podman"])])
    terminal.press("r")
    lines = terminal.wait_for("the reverse", tab_line("containers", "by name, reversed  4"))
    report.equal("reversed", [fields(line)[4] for line in lines[7:11]], names[::-1])
    terminal.press("/", "O", "D")
    lines = terminal.wait_for("the filter", tab_line("containers", "by name, reversed  /OD  1 of 4"))
    report.equal("filtered while one types, whatever the case", (fields(lines[7])[4], lines[8], lines[-1]),
                 ("podbox", "", "/OD_"))
    terminal.press("Enter", "Enter")
    lines = terminal.wait_for("details", lambda shown: shown[-1].startswith("Esc back"))
    podbox = next(c for c in host.ask("containers")["containers"] if c["name"] == "podbox")
    # (The rest of the id is on a line of its own.)
    shown = dict(line.strip().split(": ", 1) for line in lines if ": " in line)
    report.equal("details", {k: shown.get(k) for k in ("Id", "Name", "Runtime", "State", "Kind")},
                 {"Id": podbox["id"][:62], "Name": "podbox", "Runtime": "podman", "State": "running",
                  "Kind": "container"})
    terminal.press("Escape")
    terminal.wait_for("the list", tab_line("containers", "by name, reversed  /OD  1 of 4"))
    terminal.press("Escape")
    terminal.wait_for("all again", tab_line("containers", "by name, reversed  4"))
    terminal.press("q")
    lines = terminal.wait_for("its end", "ended 0")
    report.equal("q quits, and leaves the terminal as it was", [line for line in lines if line], ["ended 0"])
    terminal.close()


def narrow(host, report):
    """top on 40x12, without colours, in ASCII"""
    terminal = Terminal(host, 40, 12, "keplerctl top vms")
    lines = terminal.wait_for("machines", "[vms] 2/6  by power  3")
    report.equal("40x12: headers", lines[3], "    POWER      ENERGY  NAME")
    report.equal("machines", sorted(fields(line)[2] for line in lines[4:7]), ["busy1", "by-hand", "idle1"])
    report.equal("the keys, as many as there is room for", lines[11], KEYS[:39] + "…")
    report.check("colours", re.search("\x1b\\[3[0-7]m", "\n".join(terminal.lines("-e"))) is not None)
    terminal.press("q")
    terminal.close()

    terminal = Terminal(host, 40, 12, "keplerctl top vms", "NO_COLOR=1", "LC_ALL=C")
    lines = terminal.wait_for("machines", "[vms] 2/6  by power  3")
    report.equal("LC_ALL=C: ASCII alone", [line for line in lines if not line.isascii()], [])
    report.check("and the same rows", sorted(fields(line)[2] for line in lines[4:7]) == ["busy1", "by-hand", "idle1"],
                 lines)
    coloured = re.search("\x1b\\[(3[0-8]|4[0-8]|9[0-7]|10[0-7])", "\n".join(terminal.lines("-e")))
    report.equal("NO_COLOR: none", coloured, None)
    terminal.press("q")
    terminal.close()


def unprintable(text):
    """What a terminal or a log would take for something else than text."""
    return sorted({c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2028"} - {"\n"})


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def hostile_names(host, report):
    """Hostile names"""
    host.sh("systemd-run -q --unit=hostile python3 -B /src/tests/system/hostile.py")
    host.wait_until(lambda: any(m["id"] == hostile.MACHINE_UUID for m in host.ask("vms")["virtualMachines"]), 15,
                    "the machine")
    guests.drive(host, 2)
    snapshot = host.snapshot("vms", "containers")
    units = {u["id"]: u for u in snapshot["units"]}
    for raw, expected in hostile.CGROUPS:
        row = units.get(f"/hostile/{expected}")
        short = expected if len(expected) < 60 else f"{expected[:20]}... ({len(raw)} bytes)"
        report.check(f"a cgroup {short}", row is not None and row["name"] == expected and row["energyMicrojoules"] > 0,
                     sorted(u for u in units if u.startswith("/hostile")))
    report.equal("a process", {p["comm"] for p in snapshot["processes"] if p["comm"] == hostile.COMM[1]},
                 {hostile.COMM[1]})
    report.equal("a machine", [m["name"] for m in snapshot["virtualMachines"] if m["id"] == hostile.MACHINE_UUID],
                 [hostile.MACHINE[1]])
    check_output(host, report)
    check_terminal(host, report)
    host.sh("systemctl stop hostile")
    report.equal("it tidied up", host.sh("ls /sys/fs/cgroup | grep -c hostile || :").strip(), "0")


def check_output(host, report):
    for verb in ("units", "processes", "vms", "containers"):
        text = host.run("keplerctl", verb, "--all", check=True).stdout
        report.equal(f"keplerctl {verb} writes nothing raw", unprintable(text), [])
        lines = host.run("keplerctl", "--json=short", verb, check=True).stdout
        report.equal("nor its JSON", unprintable(lines + "".join(strings(json.loads(lines)))), [])
    shown = host.run("keplerctl", "show", hostile.MACHINE_UUID, check=True).stdout
    report.equal("nor show", unprintable(shown), [])


def check_terminal(host, report):
    terminal = Terminal(host, 80, 24, "keplerctl top units")
    title = terminal.title()
    host.sh("tmux -L test pipe-pane 'cat >/run/terminal.raw'")
    terminal.press("/", "hostile")
    lines = terminal.wait_for("the filter", lambda shown: any("/hostile  " in line for line in shown))
    ends = [expected[-20:] for _, expected in hostile.CGROUPS]
    report.equal("top shows them escaped", [end for end in ends if end not in "\n".join(lines)], [])
    terminal.press("Escape", "2", "/", "evil")
    lines = terminal.wait_for("the machine", lambda shown: any(r"evil\x1b]0;owned" in line for line in shown))
    terminal.press("Enter", "Enter")
    lines = terminal.wait_for("details", lambda shown: shown[-1].startswith("Esc back"))
    report.check("the machine's in its details, too", f"            Name: {hostile.MACHINE[1]}" in lines, lines)
    terminal.press("Escape", "Escape", "5", "/", "red")
    terminal.wait_for("the process", lambda shown: any(r"\x1b[31mred" in line for line in shown))
    terminal.press("Escape", "q")
    terminal.wait_for("its end", "ended 0")
    report.equal("the terminal's title is as before", terminal.title(), title)
    raw = host.sh("cat /run/terminal.raw")
    bad = ("\x1b]0;", "\x1b[31mred", "\x07", "\x9b", "\udcff")
    report.equal("nothing of them reached it raw", [text for text in bad if text in raw], [])
    terminal.close()


ALL = [top, narrow, hostile_names]
