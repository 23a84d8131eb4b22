#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keplerctl --host: several hosts behind a stand-in for ssh, and one behind a real sshd, each a keplerd on a written host.

usage: hosts_test.py KEPLERD KEPLERCTL KEPLERD_HISTORY
"""
import getpass
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from exporter_host import GONE, VM, WorkingHost, wait_until
from written_host import Daemon

KEPLERD, KEPLERCTL, HISTORY = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")

# Like ssh: what follows the host goes to a shell there, as one line.
STAND_IN = """#!/bin/sh
echo "$@" >>{root}/calls
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1
shift
[ -d "{root}/hosts/$host" ] || {{ echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255; }}
PATH={root}/hosts/$host:/usr/bin:/bin exec sh -c "exec $*"
"""


class Hosts(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="keplerd-hosts-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.daemons = {}
        self.ssh = self.script("ssh", STAND_IN.format(root=self.root))

    def script(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def add_host(self, name):
        host = WorkingHost()
        self.addCleanup(host.files.remove)
        daemon = Daemon(KEPLERD, host.files)
        self.addCleanup(daemon.stop)
        daemon.status()
        host.step()
        self.daemons[name] = daemon
        self.add_keplerctl(name, f'exec {KEPLERCTL} --varlink={daemon.socket} "$@"')
        return host

    def add_keplerctl(self, host, text):
        self.script(f"hosts/{host}/keplerctl", f"#!/bin/sh\n{text}\n")

    def run_keplerctl(self, *words, status=0):
        done = subprocess.run([KEPLERCTL, *words], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"KEPLERCTL_SSH": str(self.ssh)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def json_of(self, *words, status=0):
        return json.loads(self.run_keplerctl("--json=short", *words, status=status)[0])

    def calls(self):
        return (self.root / "calls").read_text().splitlines()


class BehindAStandIn(Hosts):
    def setUp(self):
        super().setUp()
        for name in ("web1", "web2", "db.example.org"):
            self.add_host(name)

    def test_lists_are_those_of_all_hosts(self):
        for verb, key in (("vms", "virtualMachines"), ("units", "units"), ("containers", "containers"), ("pods", "pods"),
                          ("processes", "processes"), ("zones", "zones")):
            reply = self.json_of("-H", "web1,web2", "-H", "db.example.org", verb)
            self.assertEqual(reply["failures"], [])
            expected = {(name, id_) for name, daemon in self.daemons.items() for id_ in daemon.rows(verb)}
            self.assertEqual({(row["host"], row["id"]) for row in reply[key]}, expected, verb)
            self.assertEqual(len(reply[key]), len(expected))

    def test_a_table_has_the_hosts_and_one_total(self):
        text, errors = self.run_keplerctl("--host=web1,web2,db.example.org", "vms")
        self.assertEqual(errors, "")
        self.assertEqual(text.count("\nweb1 "), 2)
        self.assertRegex(text, r"\n6 virtual machines on 3 hosts\. Total: [0-9.]+ W, [0-9.]+ k?J\.\n$")

    def test_the_status_of_all_hosts_adds_up(self):
        reply = self.json_of("-H", "web1,web2", "status")
        self.assertEqual([host["host"] for host in reply["hosts"]], ["web1", "web2"])
        self.assertEqual(reply["hosts"][0]["status"]["source"]["name"], "powercap")
        text, _ = self.run_keplerctl("-H", "web1,web2")
        self.assertRegex(text, r"\ntotal, 2 hosts +([0-9.]+ W|-) ")

    def test_top_lists_once_where_there_is_no_terminal(self):
        text, _ = self.run_keplerctl("-H", "web1,web2", "top", "vms")
        self.assertIn("4 virtual machines on 2 hosts.", text)

    def test_hosts_that_fail_are_named_and_the_others_shown(self):
        self.add_keplerctl("old", 'echo "keplerctl: unknown verb \'vms\'" >&2; exit 2')
        (self.root / "hosts/empty").mkdir()
        self.add_keplerctl("stopped", f'exec {KEPLERCTL} --varlink=/nonexistent "$@"')
        self.add_keplerctl("evil", r"""printf '{"virtualMachines":[{"id":"\\u001b[2J","name":"\\u202ex"}]}\n'""")
        hosts = "old,web1,down,empty,stopped,evil"
        text, errors = self.run_keplerctl("-H", hosts, "vms", status=1)
        self.assertIn("3 virtual machines on 2 of 6 hosts.", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        self.assertEqual(errors.splitlines()[:3], [
            "keplerctl: old: its keplerctl cannot do this; it is probably older: unknown verb 'vms'",
            "keplerctl: down: ssh: connect to host down port 22: Connection refused",
            "keplerctl: empty: there is no keplerctl"])
        self.assertRegex(errors.splitlines()[3], "keplerctl: stopped: /nonexistent: no such socket.*")
        reply = self.json_of("-H", hosts, "vms", status=1)
        self.assertEqual([failure["host"] for failure in reply["failures"]], ["old", "down", "empty", "stopped"])
        self.assertEqual({row["host"] for row in reply["virtualMachines"]}, {"web1", "evil"})

    def test_nothing_is_shown_if_all_fail(self):
        text, errors = self.run_keplerctl("-H", "down1,down2", "units", status=1)
        self.assertEqual(text, "")
        self.assertEqual(len(errors.splitlines()), 2)

    def test_arguments_are_not_interpreted_by_the_shell_there(self):
        address = f"{self.root}/a b';touch {self.root}/owned;'$(touch {self.root}/owned)"
        self.run_keplerctl("-H", "web1", "--varlink", address, "vms", status=1)
        self.assertFalse((self.root / "owned").exists())
        self.assertEqual(self.calls()[-1], f"-xT -oBatchMode=yes -oConnectTimeout=10 web1 keplerctl --json=short "
                                           f"{shlex.quote('--varlink=' + address)} vms".replace("'\"'\"'", "'\\''"))

    def test_ssh_is_called_as_systemctl_does(self):
        self.run_keplerctl("-H", "root@web1:2222", "units", "--type=service,scope", status=1)
        self.assertEqual(self.calls(), ["-xT -oBatchMode=yes -oConnectTimeout=10 -p2222 root@web1 keplerctl --json=short units "
                                        "--type=service,scope"])

    def test_options_of_ssh_are_no_hosts(self):
        for host in ("-oProxyCommand=id", "web1,-v", "root@-v"):
            _, errors = self.run_keplerctl("-H", host, "vms", status=2)
            self.assertIn("begins with a hyphen", errors)
        self.assertFalse((self.root / "calls").exists())

    def test_interrupted_it_leaves_nothing_behind(self):
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        self.add_keplerctl("slow", f"echo $$ >{fifo}; exec sleep 1000")
        with subprocess.Popen([KEPLERCTL, "-H", "web1,slow", "vms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=os.environ | {"KEPLERCTL_SSH": str(self.ssh)}) as process:
            pid = int(fifo.read_text())
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        wait_until(lambda: not is_running(pid), "the end of what runs for ssh")

    def test_a_report_of_all_hosts_adds_up(self):
        for name in ("web1", "web2"):
            self.start_history(name)
        reply = self.json_of("-H", "web1,web2,down", "report", "--by=vm", "--since=today", status=1)
        report = reply["report"]
        self.assertEqual(sum(row["energyMicrojoules"] for row in report["rows"]) + sum(report["accounts"].values()),
                         report["energyMicrojoules"])
        self.assertEqual({row["host"] for row in report["rows"]}, {"web1", "web2"})
        since = {call.split("--since=")[1].split()[0] for call in self.calls()}
        self.assertEqual(len(since), 1, "all are asked for the same time")
        text, errors = self.run_keplerctl("-H", "web1,web2,down", "report", "--by=vm", "--since=today", status=1)
        self.assertRegex(text, r"(?m)^HOST +VM +ENERGY +SHARE$")
        self.assertRegex(text, r"(?m)^- +Total .* 100.00%$")
        self.assertEqual(errors, "keplerctl: down: ssh: connect to host down port 22: Connection refused\n")

    def start_history(self, name):
        daemon = self.daemons[name]
        address = f"{self.root}/{name}-run/org.keplerd.History"
        (self.root / f"{name}-state").mkdir()
        history = subprocess.Popen([HISTORY, "--varlink", daemon.socket, "--state-dir", self.root / f"{name}-state",
                                    "--runtime-dir", self.root / f"{name}-run", "--config", "/dev/null", "--interval", "1",
                                    "--cost-config", "/dev/null", "--bus", "none"], stderr=subprocess.DEVNULL)
        self.addCleanup(history.wait)
        self.addCleanup(history.terminate)
        self.add_keplerctl(name, f'exec {KEPLERCTL} --varlink={daemon.socket} "$@" --history={address}')
        command = [KEPLERCTL, "-j", "report", f"--history={address}", "--by=vm", "--since=today"]

        def energy():
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            return done.returncode == 0 and json.loads(done.stdout)["report"]["rows"]
        host = next(host for host in self.hosts if host.files.root == pathlib.Path(daemon.socket).parent.parent)
        host.work()
        wait_until(energy, "energy of VMs")
        host.rest()

    def add_host(self, name):
        self.hosts = getattr(self, "hosts", []) + [super().add_host(name)]


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@unittest.skipUnless(SSHD, "there is no sshd")
class BehindSshd(Hosts):
    """The real ssh and sshd of this system, with keys and configurations of their own."""

    def setUp(self):
        super().setUp()
        self.add_host("real")
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.root / key], check=True)
        (self.root / "authorized_keys").write_text((self.root / "user_key.pub").read_text())
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # where sshd isolates its unprivileged process
        self.start_sshd()
        host_key = (self.root / "host_key.pub").read_text()
        (self.root / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key}")
        self.ssh = self.script("real-ssh", f"""#!/bin/sh
exec ssh -F none -i {self.root}/user_key -oIdentitiesOnly=yes -oUserKnownHostsFile={self.root}/known_hosts "$@"
""")
        self.name = f"{getpass.getuser()}@127.0.0.1:{self.port}"

    def start_sshd(self):
        for _ in range(10):
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            (self.root / "sshd_config").write_text(f"""Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.root}/host_key
AuthorizedKeysFile {self.root}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
ForceCommand PATH={self.root}/hosts/real:/usr/bin:/bin exec sh -c "$SSH_ORIGINAL_COMMAND"
""")
            self.sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", self.root / "sshd_config"], stderr=subprocess.PIPE, text=True)
            for line in self.sshd.stderr:
                if line.startswith("Server listening"):
                    self.addCleanup(self.stop_sshd)
                    return
            self.sshd.stderr.close()
            self.sshd.wait()
        self.fail(f"sshd does not start: {line}")

    def stop_sshd(self):
        self.sshd.terminate()
        self.sshd.communicate()

    def test_it_shows_the_vms_there(self):
        reply = self.json_of("-H", self.name, "vms")
        self.assertEqual(reply["failures"], [])
        self.assertEqual({(row["host"], row["id"]) for row in reply["virtualMachines"]}, {(self.name, VM), (self.name, GONE)})

    def test_arguments_are_not_interpreted_there(self):
        self.run_keplerctl("-H", self.name, "--varlink", f"x;touch {self.root}/owned $(touch {self.root}/owned)", "vms", status=1)
        self.assertFalse((self.root / "owned").exists())

    def test_an_unknown_key_and_a_port_without_sshd_are_reported(self):
        (self.root / "authorized_keys").write_text("")
        with socket.create_server(("127.0.0.1", 0)) as free:
            closed = f"127.0.0.1:{free.getsockname()[1]}"
        _, errors = self.run_keplerctl("-H", f"{self.name},{closed}", "status", status=1)
        denied, refused = errors.splitlines()
        self.assertIn("Permission denied (publickey)", denied)
        self.assertIn("Connection refused", refused)


if __name__ == "__main__":
    unittest.main()
