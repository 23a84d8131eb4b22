# SPDX-License-Identifier: Apache-2.0
"""Two ordinary users of a booted host who claim the workloads of others: the ways to claim one, and checks of what root
and each user then see. Every name of root's workloads contains "secret"."""
import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor

from guests import BOX, by_id
from scenarios import check_sums

USERS = {"alice": 4801, "bob": 4802}
VERBS = ("vms", "containers", "pods", "units", "processes")
METHODS = ("VirtualMachine", "Container", "Pod", "Unit")
WORKLOADS = ("virtualMachines", "containers", "pods")

FACTS = ("id", "name", "kind", "sinceUsec", "uuid", "title", "hypervisor", "runtime", "namespace", "podId", "unit")
COUNTERS = ("energyMicrojoules", "activeMicrojoules", "idleMicrojoules", "cpuUsec")

SPINNER = f"{BOX}/bin/spin"  # what runs in a claim unless another program is given

# Run by a user's manager: creates a cgroup next to its units and moves there. For names that no systemd unit can have.
IN_OWN_CGROUP = """set -eu
top=/sys/fs/cgroup/user.slice/user-$(id -u).slice/user@$(id -u).service
mkdir "$top/$1"
echo $$ >"$top/$1/cgroup.procs"
shift
exec "$@" """


def key(who, name):
    """The id of a user's row for a workload claimed by this name."""
    return f"user-{USERS[who]}/{name}"


def own_slice(who):
    return f"/user.slice/user-{USERS[who]}.slice"


def become(who):
    """Prefix of a command that a user runs, with the environment of a login."""
    if who == "root":
        return []
    runtime = f"/run/user/{USERS[who]}"
    return ["setpriv", f"--reuid={who}", f"--regid={who}", "--init-groups", "env", "-u", "INVOCATION_ID", "-C", "/",
            f"HOME=/home/{who}", f"USER={who}", f"XDG_RUNTIME_DIR={runtime}",
            f"DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus"]


def program(who, name):
    return f"/home/{who}/{name}"


def start_managers(host):
    """Both users, each with a manager of units."""
    host.sh("".join(f"id -u {who} 2>/dev/null || useradd --create-home --uid {uid} {who}; loginctl enable-linger {who}\n"
                    for who, uid in USERS.items()))
    for uid in USERS.values():
        host.wait_until(lambda: host.property("ActiveState", f"user@{uid}.service") == "active", 15, "a user's manager")


def stop_managers(host):
    host.sh(f"""
        loginctl disable-linger {' '.join(USERS)}
        systemctl stop {' '.join(f'user@{uid}' for uid in USERS.values())}""")


def claim(host, who, scope, *command, below=None):
    """Runs a command with systemd-run --scope, for a user with --user; its pid."""
    run = [*become(who), "systemd-run", *(["--user"] if who != "root" else []), "--scope", "--quiet", f"--unit={scope}",
           *([f"--slice={below}"] if below else []), *(command or [SPINNER])]
    return int(host.sh(f"""
        {shlex.join(run)} </dev/null >/dev/null 2>/run/claim.log & pid=$!
        for try in $(seq 100); do
            ! grep -qF {shlex.quote(scope)} /proc/$pid/cgroup || break
            sleep 0.05
        done
        grep -qF {shlex.quote(scope)} /proc/$pid/cgroup || {{ cat /run/claim.log; exit 1; }}
        echo $pid"""))


def in_own_cgroup(host, who, service, name, *command):
    """Runs a command in a cgroup that the user's own service has made."""
    host.sh(shlex.join(["systemd-run", "-q", f"--machine={who}@.host", "--user", f"--unit={service}", "sh", "-c",
                        IN_OWN_CGROUP.replace("$", "$$"), "sh", name, *command]))


def from_crontab(host, who, command):
    """Runs a command as a cron job of the user's, in cron.service; its pid."""
    name = command[0].rpartition("/")[2][:15]
    before = host.sh(f"pgrep -x -u {who} {name} || :").split()
    host.sh(f"""
        echo {shlex.quote("@reboot exec " + shlex.join(command))} | crontab -u {who} -
        rm -f /run/crond.reboot
        systemctl reset-failed cron || :  # so that it may be started as often as there are jobs
        systemctl restart cron""")

    def started():
        return [pid for pid in host.sh(f"pgrep -x -u {who} {name} || :").split() if pid not in before]
    host.wait_until(started, 15, f"{who}'s cron job")
    host.sh(f"crontab -u {who} -r")
    return int(started()[0])


def end_all(host, pids):
    host.sh(f"kill {' '.join(map(str, pids))}")


def take(host):
    return host.snapshot("vms", "containers", "pods")


def workloads(snapshot):
    return by_id([row for kind in WORKLOADS for row in snapshot[kind]])


def check_rows(report, snapshot, when):
    """All sums are exact, each row has an owner, and no id occurs twice."""
    check_sums(report, snapshot, when)
    rows = [row for kind in (*WORKLOADS, "units", "processes") for row in snapshot[kind]]
    report.equal(f"{when}: each of {len(rows)} rows has an owner", [r["id"] for r in rows if not isinstance(
        r.get("ownerUid"), int)][:3], [])
    ids = [(row["kind"], row["id"]) for row in rows]
    report.equal(f"{when}: each id once", sorted(i for i in set(ids) if ids.count(i) > 1), [])
    inside, members = {}, {}
    for row in snapshot["containers"] + snapshot["pods"]:
        if row.get("parent"):
            inside[row["parent"]] = inside.get(row["parent"], 0) + row["parentMicrojoules"]
    for process in snapshot["processes"]:
        if process.get("containerId"):
            members[process["containerId"]] = members.get(process["containerId"], 0) + process["unitMicrojoules"]
    wrong = {}
    for row in snapshot["containers"]:
        parts = {"inside": inside.get(row["id"], 0), "processes": members.get(row["id"], 0)}
        if (row["energyMicrojoules"] != row["ownMicrojoules"] + parts["inside"]
                or row["ownMicrojoules"] != row["otherMicrojoules"] + parts["processes"]):
            wrong[row["id"]] = parts | {name: row.get(name) for name in (
                "state", "unit", "energyMicrojoules", "ownMicrojoules", "otherMicrojoules")}
    report.equal(f"{when}: each container = own + what is inside, own = other + processes", wrong, {})


def check_claim(report, snapshot, who, name):
    """A user's claim is a row of that user's own, with the energy of the unit."""
    row = workloads(snapshot).get(key(who, name), {})
    text = f"{who}'s claim of {name[:12]}"
    report.equal(f"{text}: a row of {who}'s own", (row.get("ownerUid"), row.get("state")), (USERS[who], "running"))
    report.check(f"{text}: its name is not root's", row and "secret" not in json.dumps(row), row)
    unit = row.get("unit", "")
    report.check(f"{text}: in {who}'s slice", unit.startswith(own_slice(who) + "/"), row)
    energy = by_id(snapshot["units"]).get(unit, {}).get("energyMicrojoules")
    report.equal(f"{text}: its energy is its unit's", row.get("energyMicrojoules"), energy)
    report.check(f"{text}: it used energy", row.get("energyMicrojoules", 0) > 100_000, row)


def check_same(report, text, before, after, fields=FACTS):
    """A row of the system's is as it was before the claims."""
    report.equal(f"{text}: changed fields", {f: (before.get(f), after.get(f)) for f in fields
                                            if before.get(f) != after.get(f)}, {})
    report.check(f"{text}: not a user's", after.get("ownerUid") not in (None, *USERS.values()), after.get("ownerUid"))


def view(host, who, names):
    """What keplerctl and the bus show to a user: one line of JSON for each list and each row, then other text."""
    script = [f"keplerctl --json=short {verb}" for verb in VERBS]
    script += [f"keplerctl --json=short show {id_} || echo null" for id_ in (*names, *(key(who, name) for name in names))]
    texts = [f"timeout 1.2 keplerctl --json=short monitor {verb}" for verb in ("vms", "containers")]
    texts += ["keplerctl --no-pager doctor", "keplerctl --no-pager --all vms", "keplerctl --no-pager --all containers"]
    call = "busctl call org.keplerd1 /org/keplerd1 org.keplerd1.Manager"
    texts += [f"{call} List{kind}s 'a{{sv}}' 0" for kind in METHODS]
    texts += [f"{call} Get{kind} s {id_}" for kind in METHODS[:3] for id_ in names]
    script += [f"{{ {text}; }} >/tmp/seen-by-{who}.{i} 2>&1 &" for i, text in enumerate(texts)]
    script += ["wait", f"cat /tmp/seen-by-{who}.*", f"rm /tmp/seen-by-{who}.*"]
    return host.run(*become(who), "sh", "-c", "\n".join(script)).stdout


def check_views(host, report, *names, since=0):
    """Each user sees only the user's own rows, and by the claimed names only the user's claims."""
    with ThreadPoolExecutor() as pool:
        outputs = list(pool.map(lambda who: view(host, who, names), USERS))
    for (who, uid), output in zip(USERS.items(), outputs, strict=True):
        keys = [key(who, name) for name in names]
        replies = [json.loads(line) for line in output.splitlines()[:len(VERBS) + 2 * len(names)]]
        rows = [row for reply in replies[:len(VERBS)] for rows in reply.values() for row in rows]
        shown = replies[len(VERBS):]
        report.equal(f"{who} sees {len(rows)} rows, none of another owner", [
            (row["id"], row.get("ownerUid")) for row in rows if row.get("ownerUid") != uid][:4], [])
        mine = [row for row in rows if row["id"] in (*names, *keys)]
        report.equal(f"{who} sees each claim once, as {who}'s own", sorted(row["id"] for row in mine), sorted(keys))
        report.equal(f"{who}: show, by the bare id and by the row's", [(row or {}).get("id") for row in shown], keys * 2)
        report.equal(f"{who}: counted since the claim", [
            row["sinceUsec"] for row in (*mine, *shown) if row and row["sinceUsec"] < since], [])
        for other, pattern in (("root", "secret"), *((name, rf"user[-@]{uid}|ownerUid\W+{uid}\b|\b{name}\b")
                                                     for name, uid in USERS.items() if name != who)):
            report.equal(f"{who} sees nothing of {other}'s", [match[0] for match in re.finditer(
                rf".{{,60}}({pattern}).{{,40}}", output)][:3], [])
