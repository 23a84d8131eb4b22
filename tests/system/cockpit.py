# SPDX-License-Identifier: Apache-2.0
"""The page in the distribution's Cockpit on a booted host: an administrator and an ordinary user, who log in with headless
Chromium, which runs on this side, in the network of the host."""
import json
import re
import shutil
import subprocess
import sys

from booted_host import ADDRESS, SOURCE, CommandFailed
from scenarios import PACKAGE

sys.path.insert(0, str(SOURCE / "tests/cockpit"))
import checks  # noqa: E402
from devtools import Browser, Failed  # noqa: E402

COCKPIT = "http://localhost:9090"
PAGE = f"{COCKPIT}/cockpit/@localhost/keplerd/index.html"
PASSWORD = "not a secret"
SHOWN = 'document.querySelector("#page")?.hidden === false'
ROWS = 'document.querySelectorAll("#workloads tbody tr").length > 0'


class Session:
    """A browser in which a user has logged in to Cockpit."""

    def __init__(self, host, user, is_administrator):
        chromium = shutil.which("chromium")
        if not chromium:
            raise CommandFailed("chromium is missing: scripts/install-deps tests")
        self.network = ["nsenter", "-n", "-t", host.testbed("leader").stdout.strip()]
        self.browser = Browser(chromium, self.network)
        self.pictures = host.directory / f"pictures.{host.suite}"
        self.shell = self.browser.page()
        self.shell.go(COCKPIT)
        self.shell.wait_for('document.querySelector("#login-user-input") && !document.querySelector("#login").hidden', "the login")
        # What Cockpit remembers when a user has turned on administrative access.
        self.shell.js(f'localStorage.setItem("superuser:{user}", "{"any" if is_administrator else "none"}")')
        self.shell.js(f"""document.querySelector("#login-user-input").value = {json.dumps(user)};
            document.querySelector("#login-password-input").value = {json.dumps(PASSWORD)};
            document.querySelector("#login-button").click()""")
        self.shell.wait_for('document.querySelector("#host-apps, #hosts-sel, #nav-system") !== null', "Cockpit's own page")
        self.page = self.browser.page()

    def open(self, where="vms"):
        self.page.call("Page.bringToFront")  # tabs behind another one are hidden
        self.page.leave()
        self.page.go(f"{PAGE}#/{where}")
        self.page.wait_for(SHOWN, "the page")

    def followers(self):
        listed = subprocess.run([*self.network, "ss", "-xH", "state", "connected", "src", ADDRESS], capture_output=True, text=True,
                                check=True).stdout
        return len(listed.splitlines())

    def picture(self, name):
        self.page.screenshot(self.pictures / f"{name}.png")

    def close(self):
        self.browser.close()


def with_session(user, is_administrator, body):
    """A scenario in which a user has logged in; what the browser waits for in vain is a failure."""
    def scenario(host, report):
        host.sh(f"""
            id -u {user} 2>/dev/null || useradd --create-home --shell /bin/bash {'--groups sudo' if is_administrator else ''} {user}
            echo '{user}:{PASSWORD}' | chpasswd
            systemctl start cockpit.socket
            systemd-run -q --collect --unit=page-load sh -c 'while :; do :; done'""")
        host.rapl("drive", PACKAGE, 50)
        session = None
        try:
            session = Session(host, user, is_administrator)
            body(host, report, session)
            report.equal("no error on the console, no violation of the security policy", session.page.complaints, [])
        except Failed as problem:
            if session:
                session.page.screenshot(session.pictures / f"failed-{user}.png")
                session.shell.screenshot(session.pictures / f"failed-{user}-shell.png")
            raise CommandFailed(f"{problem}: {session.page.complaints + session.shell.complaints if session else ''}") from None
        finally:
            if session:
                session.close()
            host.rapl("halt", PACKAGE)
            host.sh(f"""
                systemctl stop page-load; systemctl start keplerd.socket keplerd.service
                loginctl terminate-user {user} || :""")
    scenario.__doc__ = body.__doc__
    scenario.__name__ = body.__name__
    return scenario


def look(report, session, how):
    """What must hold for the page in every state."""
    report.equal(f"{how}: every control has a role and a name", checks.accessibility(session.page), [])
    report.equal(f"{how}: contrast", checks.contrast(session.page), [])
    report.equal(f"{how}: everything fits", checks.outside(session.page), [])


def administrator(host, report, session):
    """Cockpit: an administrator"""
    page, shell = session.page, session.shell
    version = host.sh("dpkg-query -Wf '${Version}' cockpit-ws")
    report.note(f"cockpit {version}")
    quiet = session.followers()
    shell.call("Page.bringToFront")
    shell.go(f"{COCKPIT}/keplerd")
    frame = shell.frame("/keplerd/index.html")
    shell.wait_for(SHOWN, "the page in Cockpit", frame=frame)
    report.check("in Cockpit's menu", shell.js("""[...document.querySelectorAll("a")].some(a => a.innerText.trim() === "Energy")"""))
    host.wait_until(lambda: session.followers() == quiet + 1, 20, "the only follower")
    report.check("it is one follower", True)
    shell.js("""[...document.querySelectorAll("a")].find(a => /\\/system$/.test(a.href)).click()""")
    host.wait_until(lambda: session.followers() == quiet, 20, "no follower, because another page is shown")
    report.check("and none while another page is shown", True)

    session.open("services")
    for _ in range(3):
        checks.power_changes(page)
    report.equal("the accounts add up as they are shown", checks.sums(page), [])
    report.check("the source is named", "powercap, measured" in page.text("#source"), page.text("#source"))
    page.wait_for('/\\d/.test(document.querySelector("#checks-verdict").innerText)', "doctor's verdict")
    page.wait_for(ROWS, "rows")
    page.choose("#filter", "PAGE-LOAD")
    report.equal("the filter", checks.names(page), ["page-load.service"])
    page.choose("#filter", "")
    checks.click_header(page, "Name")
    names = checks.names(page)
    report.check("sorted by name", len(names) > 5 and checks.sort_of(page) == [["Name", "ascending"]]
                 and names == page.js(f'{json.dumps(names)}.sort(new Intl.Collator("en", {{numeric: true, sensitivity: "base"}}).compare)'),
                 names)
    for is_dark in (False, True):
        for width in (1280, 400):
            page.dark(is_dark)
            page.resize(width, 900)
            how = f"{'dark' if is_dark else 'light'}, {width} wide"
            look(report, session, how)
            session.picture(how.replace(", ", "-").replace(" ", "-"))
    page.dark(False)
    page.resize(1280, 900)
    page.js('[...document.querySelectorAll("#workloads tbody button")].find(b => b.innerText === "page-load.service").click()')
    page.wait_for('document.querySelector("#details-live").innerText.includes("/system.slice/page-load.service")', "details")
    report.check("details name the zones", "package" in page.text("#details-live"))
    look(report, session, "details")
    session.picture("details")

    session.open()
    page.js('document.querySelector("#report").open = true')
    page.wait_for('!document.querySelector("#start-history").hidden', "that keplerd-history does not run")
    page.click("#start-history")
    host.wait_until(lambda: host.property("ActiveState", "keplerd-history.service") == "active", 20, "keplerd-history")
    page.wait_for('!document.querySelector("#report-csv").disabled', "the report", 90)
    host.sh("systemctl stop keplerd-history.service")

    host.sh("systemctl restart keplerd.service")
    checks.power_changes(page)
    host.sh("systemctl stop keplerd.socket keplerd.service")
    page.wait_for('!document.querySelector("#absent").hidden', "a notice")
    look(report, session, "keplerd is stopped")
    session.picture("stopped")
    page.click("#start")
    host.wait_until(lambda: host.property("ActiveState") == "active", 20, "keplerd")
    checks.power_changes(page)
    report.check("the page starts keplerd, and goes on", page.js('document.querySelector("#absent").hidden'))
    host.sh("systemctl stop keplerd.socket keplerd.service")
    page.leave()
    page.go(PAGE)
    page.wait_for('document.querySelector("#absent-what")?.innerText === "keplerd is not running"', "that there is no keplerd")
    # Cockpit itself logs why the bridge could not connect.
    page.complaints[:] = [complaint for complaint in page.complaints if complaint != "[Errno 2] No such file or directory"]


def ordinary_user(host, report, session):
    """Cockpit: an ordinary user"""
    page = session.page
    session.open("services")
    checks.power_changes(page)
    accounts = page.text("#accounts")
    report.check("sees the host, but not its accounts", "Host" in accounts and "Active" in accounts and "Kernel" not in accounts, accounts)
    report.check("which is said", "your own workloads" in page.text("#accounts-note"))
    page.wait_for(ROWS, "own units")
    uid = int(host.sh("id -u guest"))
    own = {unit["name"] for unit in host.ask("units")["units"] if unit.get("ownerUid") == uid}
    names = checks.names(page)
    report.check(f"sees {len(names)} own units, and no other", names and set(names) <= own, (names, own))
    look(report, session, "ordinary user")
    session.picture("ordinary-user")
    host.sh("systemctl stop keplerd.socket keplerd.service")
    page.wait_for('!document.querySelector("#absent").hidden', "a notice")
    page.click("#start")
    page.wait_for('/administrative|could not be started/.test(document.querySelector("#start-note").innerText)', "why it is not started")
    report.equal("may not start keplerd", host.property("ActiveState"), "inactive")
    page.complaints[:] = [c for c in page.complaints if not re.search("superuser|access-denied", c)]


ALL = [with_session("boss", True, administrator), with_session("guest", False, ordinary_user)]
