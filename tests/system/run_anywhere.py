# SPDX-License-Identifier: Apache-2.0
"""keplerctl run where something is missing: from a job of cron, after su, in a container and in a chroot; and commands that
are more than one process: a daemon, a full-screen program."""
import json
import re
import shlex

from scenarios import PACKAGE
from screens import Terminal

USER = "carol"
INSIDE = "/srv/run-box"
COMMAND = ["keplerctl", "run", "--", "sh", "-c", "echo done; exit 7"]
BURN = "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done"


def check_unmeasured(report, where, status, output, errors, reason):
    """The command ran as without keplerctl, and the first line says why it was not measured."""
    report.equal(f"{where}: the command's own status and output", (status, output), (7, "done\n"))
    first = errors.partition("\n")[0]
    report.check(f"{where}: {first}", re.search(f"^keplerctl: not measured: {reason}", first), errors)


def check_measured(report, where, status, output, errors):
    report.equal(f"{where}: the command's own status and output", (status, output), (7, "done\n"))
    report.check(f"{where}: a session of its own has a user manager, so that it is measured",
                 re.search(r"(?m)^ *Energy: (less than )?[\d.]+ m?J", errors) and "keplerctl:" not in errors, errors)


def as_user(*environment):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "env", "-i", "-C", "/", "PATH=/usr/bin:/bin",
            f"HOME=/home/{USER}", f"LOGNAME={USER}", "SHELL=/bin/sh", *environment]


def make_user(host):
    host.sh(f"id -u {USER} 2>/dev/null || useradd --create-home {USER}; loginctl disable-linger {USER} || :")


def without_manager(host, report):
    """keplerctl run: without a user manager, after su, and in a job of cron"""
    make_user(host)
    result = host.run(*as_user(), *COMMAND)
    check_unmeasured(report, "neither a session nor XDG_RUNTIME_DIR", result.returncode, result.stdout, result.stderr,
                     "no scope: no manager of your units is running; .loginctl enable-linger. starts one")
    result = host.run("su", USER, "-c", shlex.join(COMMAND))
    check_measured(report, "su", result.returncode, result.stdout, result.stderr)

    job = f"@reboot {shlex.join(COMMAND)} >/tmp/cron.out 2>/tmp/cron.err; echo $? >/tmp/cron.status"
    host.sh(f"""
        rm -f /tmp/cron.*
        echo {shlex.quote(job)} | crontab -u {USER} -
        rm -f /run/crond.reboot
        systemctl reset-failed cron || :
        systemctl restart cron""")
    host.wait_until(lambda: host.run("test", "-s", "/tmp/cron.status").returncode == 0, 15, "cron's job")
    host.sh(f"crontab -u {USER} -r")
    check_measured(report, "a job of cron", int(host.sh("cat /tmp/cron.status")), host.sh("cat /tmp/cron.out"),
                   host.sh("cat /tmp/cron.err"))


def without_systemd(host, report):
    """keplerctl run: in a chroot and in a container without systemd"""
    chroot = ["unshare", "--mount", "sh", "-ec", 'mount --bind / /mnt; exec chroot /mnt "$@"', "sh"]
    result, reason = host.run(*chroot, *COMMAND), "/run/keplerd/org.keplerd.Energy: no such socket"
    check_unmeasured(report, "chroot", result.returncode, result.stdout, result.stderr, reason)
    host.sh(f"""
        mkdir -p {INSIDE}/usr {INSIDE}/etc {INSIDE}/tmp
        for link in bin lib lib64 sbin; do ln -sfn usr/$link {INSIDE}/$link; done
        cp /etc/passwd /etc/group /etc/os-release /etc/ld.so.cache {INSIDE}/etc""")
    for what, options, reason in (("nspawn", [], reason),
                                  ("nspawn, with keplerd's socket", ["--bind=/run/keplerd"], "no scope: the system bus cannot be reached")):
        result = host.run("systemd-nspawn", "-q", "-D", INSIDE, "--register=no", "--bind-ro=/usr", "--console=pipe", *options, *COMMAND)
        check_unmeasured(report, what, result.returncode, result.stdout, result.stderr, reason)
    host.sh(f"rm -r {INSIDE}")


def daemonized(host, report):
    """keplerctl run: a command that becomes a daemon"""
    host.rapl("drive", PACKAGE, 50)
    host.wait_for_samples()
    # Twice forked, in a session of its own, without a terminal or the pipes of its caller. The command may end before setsid has
    # executed the shell.
    daemon = f"(setsid sh -c {shlex.quote(BURN)} </dev/null >/dev/null 2>&1 &); exit 5"
    for wait in ([], ["--wait"]):
        result = host.run("keplerctl", "-j", "run", *wait, "--report=/tmp/daemon.json", "--", "sh", "-c", daemon)
        run = json.loads(host.sh("cat /tmp/daemon.json"))["run"]
        if wait:
            whole = run
        else:
            report.check(f"without --wait: the status is the command's, and the daemon is named: {run.get('stillRunning')}",
                         result.returncode == 5 and any(re.match(r"(setsid|sh) \(PID \d+\)", name) for name in run.get("stillRunning", [])), run)
            host.wait_until(lambda: host.run("pgrep", "-f", "^sh -c i=0; while").returncode == 1, 30, "its end")
    report.equal("--wait: the status is the command's", result.returncode, 5)
    # The same work, as the shell itself counts it.
    alone = host.sh(f"sh -c {shlex.quote(BURN + '; times')} | head -n 1").split()
    seconds = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", " ".join(alone)))
    report.check(f"--wait: the daemon is whole: {whole['cpuUsec'] / 1e6:.2f} s of CPU time, {seconds:.2f} s alone, "
                 f"{whole.get('energyMicrojoules', 0) / 1e6:.1f} J", whole["cpuUsec"] / 1e6 > seconds * 0.6
                 and whole.get("energyMicrojoules", 0) > 1_000_000 and not whole.get("stillRunning"), whole)
    host.rapl("halt", PACKAGE)


def full_screen(host, report):
    """keplerctl run: a full-screen editor, stopped and continued"""
    terminal = Terminal(host, 80, 24, "bash --norc -i", "PS1=ready:")
    terminal.wait_for("a shell", lambda shown: any(line.startswith("ready:") for line in shown))
    terminal.press(shlex.quote("keplerctl run -- busybox vi /tmp/edited"), "Enter")
    terminal.wait_for("the editor", lambda shown: shown[0] == "" and shown[1].startswith("~") and "/tmp/edited" in shown[-1])
    terminal.press("i", shlex.quote("hello from vi"), "Escape")
    terminal.wait_for("the text", "hello from vi")
    terminal.press("C-z")
    terminal.wait_for("the shell again", lambda shown: any("Stopped" in line for line in shown))
    terminal.press("fg", "Enter")
    terminal.wait_for("the text again", lambda shown: shown[0].rstrip() == "hello from vi" and shown[1].startswith("~"))
    terminal.press(shlex.quote(":wq"), "Enter")
    lines = terminal.wait_for("the report", lambda shown: any(re.search("Energy", line) for line in shown))
    report.equal("what was typed is in the file", host.sh("cat /tmp/edited; rm /tmp/edited"), "hello from vi\n")
    report.check("the report follows", any("busybox" in line for line in lines), lines)
    terminal.press(shlex.quote("echo status $?"), "Enter")
    terminal.wait_for("its status", "status 0")
    terminal.press("exit", "Enter")
    terminal.close()


ALL = [without_manager, without_systemd, daemonized, full_screen]
