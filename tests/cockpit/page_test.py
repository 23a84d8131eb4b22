#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in Cockpit, in headless Chromium, with keplerd and keplerd-history on a written host that lives.

usage: page_test.py PROGRAMS CHROMIUM [PICTURES]      PROGRAMS: where keplerd, keplerctl and keplerd-history are; as root;
                                                      PICTURES: a folder for screenshots
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import checks  # noqa: E402
import stage  # noqa: E402
from devtools import Browser  # noqa: E402

SKIPPED = 77
HIDE = """Object.defineProperty(document, "hidden", {configurable: true, get: () => true});
          document.dispatchEvent(new Event("visibilitychange"))"""
ROWS = 'document.querySelectorAll("#workloads tbody tr").length'


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def setUpModule():
    global STAGE, PROGRAMS, CHROMIUM, PICTURES
    PROGRAMS, CHROMIUM = pathlib.Path(sys.argv[1]), sys.argv[2]
    PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    STAGE = stage.Stage(PROGRAMS)
    STAGE.keplerd()
    STAGE.history()


def tearDownModule():
    STAGE.end()


class Opened(unittest.TestCase):
    """A page in a browser and a session of its own for all tests of a class."""
    user = None

    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.address = STAGE.cockpit(cls.port, cls.user)
        cls.browser = Browser(CHROMIUM)
        cls.addClassCleanup(cls.browser.close)
        # The session ends with its last page: this one follows nothing.
        cls.keeper = cls.browser.page()
        cls.keeper.go(cls.address)
        cls.keeper.wait_for('document.querySelector("#page")?.hidden === false', "the first page")
        cls.keeper.js(HIDE)
        cls.page = cls.browser.page()

    def setUp(self):
        self.page.resize(1280, 900)
        self.page.dark(False)
        self.go("vms")

    def tearDown(self):
        if PICTURES and sys.exc_info()[0] is None:
            self.page.screenshot(PICTURES / f"{type(self).__name__}.{self._testMethodName}.png")
        self.assertEqual(self.page.complaints, [])

    def go(self, where):
        """Opens the page again, at this place."""
        self.page.leave()
        self.page.go(f"{self.address}#/{where}")
        self.page.wait_for('document.querySelector("#page")?.hidden === false', "the page")

    def rows(self):
        self.page.wait_for(f"{ROWS} > 0", "rows")

    def check(self, text, problems):
        self.assertEqual(problems, [], text)


class Administrator(Opened):
    def test_numbers_are_live_and_add_up(self):
        for _ in range(3):
            checks.power_changes(self.page)
            self.check("accounts", checks.sums(self.page))
        self.assertIn("measured", self.page.text("#source"))
        self.assertTrue(self.page.js('document.querySelector(".whole-line").getAttribute("d").includes("L")'))
        self.page.wait_for('document.querySelector("#workloads td.spark path").getAttribute("d").includes("L")', "a sparkline")
        self.page.wait_for('document.querySelector("#checks-verdict").innerText.startsWith("Problems:")', "doctor's verdict")

    def test_rows_are_sorted_by_each_column(self):
        self.rows()
        self.assertEqual(checks.sort_of(self.page), [["Power", "descending"]])
        self.assertEqual(checks.names(self.page)[:2], ["shop", "mail"])
        checks.click_header(self.page, "Name")
        self.assertEqual([name[:4] for name in checks.names(self.page)], ["<b>b", "buil", "buil", "mail", "shop", "wiki"])
        checks.click_header(self.page, "Name")
        self.assertEqual((checks.sort_of(self.page), checks.names(self.page)[:2]), ([["Name", "descending"]], ["wiki", "shop"]))

    def test_the_order_does_not_change_below_the_focus(self):
        self.rows()
        self.page.js('document.querySelectorAll("#workloads tbody button")[1].focus()')
        saved = dict(STAGE.host.uses)
        self.addCleanup(STAGE.host.uses.update, saved)
        STAGE.host.uses["/machine.slice/machine-qemu-2.scope"] = 3000
        self.page.wait_for("""parseFloat(document.querySelectorAll("#workloads tbody .power")[1].innerText) >
                              parseFloat(document.querySelectorAll("#workloads tbody .power")[0].innerText)""", "more power")
        self.assertEqual(checks.names(self.page)[:2], ["shop", "mail"])
        self.page.js("document.activeElement.blur()")
        self.page.wait_for('document.querySelector("#workloads tbody th").innerText === "mail"', "the new order")

    def test_the_filter(self):
        self.go("services")
        self.rows()
        self.page.choose("#filter", "SMALL-1")
        self.assertEqual(len(checks.names(self.page)), 11)
        self.page.choose("#filter", "no such thing")
        self.assertEqual((checks.names(self.page), self.page.text("#workloads p")), ([], "Nothing matches the filter."))
        self.page.choose("#filter", "")
        self.assertEqual(len(checks.names(self.page)), 50)
        self.page.js("""[...document.querySelectorAll("#workloads button")].find(b => b.innerText === "Show more").click()""")
        self.assertGreater(len(checks.names(self.page)), 60)

    def test_names_of_users_are_text(self):
        self.go("services")
        self.rows()
        names = " ".join(checks.names(self.page))
        self.assertIn("<img src=x onerror=alert(1)>", names)
        self.assertFalse({"\u202e", "\x1b"} & set(names))
        self.assertEqual(self.page.js('document.querySelectorAll("img, b").length'), 0)
        self.check("fits", checks.outside(self.page))
        heights = self.page.js('[...document.querySelectorAll("#workloads tbody tr")].map(row => row.offsetHeight)')
        self.assertEqual(len(set(heights)), 1, "rows of equal height")
        self.go(f"vms/{stage.UUID.replace('2b', '4b', 1)}")
        self.page.wait_for('!document.querySelector("#details-body").hidden', "details")
        for width in (1280, 400):
            self.page.resize(width, 900)
            self.check(f"details, {width} wide", checks.outside(self.page))

    def test_details_of_a_machine(self):
        self.rows()
        self.page.js('[...document.querySelectorAll("#workloads tbody button")].find(b => b.innerText === "shop").click()')
        self.page.wait_for('document.querySelector("#details-name").innerText === "shop"', "details")
        text = self.page.text("#details")
        for wanted in (stage.UUID, "kvm", "package", "dram", "By zone", "Events"):
            self.assertIn(wanted, text)
        self.page.wait_for('document.querySelector("#details-history").innerText.includes("Sum")', "its history", 90)
        self.assertRegex(self.page.text("#details-history"), r"Cost[\s\S]*Emissions[\s\S]*€[\d.]+[\s\S]*g CO₂e")
        self.assertTrue(self.page.js('document.activeElement.id === "details-back"'))
        self.check("accessibility", checks.accessibility(self.page))
        self.page.click("#details-back")
        self.page.wait_for('!document.querySelector("#list").hidden', "the list")
        self.assertEqual(self.page.js("document.activeElement.id"), "tab-vms")

    def test_users_have_the_energy_of_their_units(self):
        self.go("users")
        self.rows()
        self.page.wait_for('document.querySelector("#workloads tbody").innerText.includes("nobody")', "the names of users")
        self.assertEqual(checks.names(self.page), ["root", "nobody"])
        self.page.js('[...document.querySelectorAll("#workloads tbody button")].find(b => b.innerText === "nobody").click()')
        self.page.wait_for('document.querySelector("#owner-name").innerText === "Of nobody only"', "the units of this user")
        self.page.wait_for(f"{ROWS} > 0")
        self.assertEqual(checks.names(self.page), ["session-3.scope"])

    def test_an_address_that_names_nothing(self):
        for where in ("constructor", "nowhere/at all", "vms/no such id", "services?owner=4711&owner=2"):
            self.go(where)
            self.page.wait_for('/\\d/.test(document.querySelector("#power-now").innerText)', "power")
        self.go("vms/no such id")
        self.page.wait_for('document.querySelector("#details-note").innerText.includes("no such workload")', "a note")

    def test_tabs_by_keyboard(self):
        self.page.js('document.querySelector("#tab-vms").focus()')
        self.page.key("ArrowRight", number=39)
        self.page.wait_for('document.activeElement.id === "tab-services" && location.hash.includes("services")', "the next tab")
        self.page.key("ArrowLeft", number=37)
        self.page.key("ArrowLeft", number=37)
        self.page.wait_for('document.activeElement.id === "tab-users" && document.activeElement.ariaSelected === "true"', "the last tab")
        self.assertEqual(self.page.js('[...document.querySelectorAll("[role=tab]")].map(tab => tab.tabIndex).join()'), "-1,-1,-1,-1,0")

    def test_the_report_adds_up_and_is_downloaded(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=directory.name)
        self.page.js('document.querySelector("#report").open = true')
        self.page.wait_for('document.querySelectorAll("#report tbody tr").length > 3', "the report", 90)
        self.assertIn("€", self.page.text("#report-rows"))
        self.check("accessibility", checks.accessibility(self.page))
        self.page.choose("#report-by", "user")
        self.page.wait_for('document.querySelector("#report-rows").innerText.includes("nobody")', "users")
        self.page.click("#report-csv")
        self.page.wait_for('document.querySelector("#report-note").innerText.startsWith("Downloaded")', "the download")
        files = pathlib.Path(directory.name)
        for _ in range(100):
            if list(files.glob("energy-*-by-user.csv")):
                break
            self.browser.receive(0.1)
        file, = files.glob("energy-*-by-user.csv")
        lines = file.read_text().splitlines()
        self.assertTrue(lines[0].startswith("id,name,kind,energyMicrojoules"), lines)
        self.assertIn("65534", [line.split(",")[0] for line in lines])

    def test_earlier_power_is_recorded(self):
        self.page.choose("#period", "day")
        self.page.wait_for('document.querySelector("#graph").ariaLabel.startsWith("Power in the last 24 hours. Lowest")',
                           "recorded power", 90)

    def test_one_follower_and_none_while_hidden(self):
        # Cockpit's bridge may keep a connection of a page that was left while it loaded, as earlier tests do.
        self.page.leave()
        for _ in range(40):
            self.browser.receive(0.05)
        kept = STAGE.followers()
        self.go("vms")
        self.rows()
        self.wait_for_followers(kept + 1)
        for tab in ("services", "users", "vms"):
            self.page.click(f"#tab-{tab}")
            self.rows()
            self.wait_for_followers(kept + 1)
        self.page.leave()
        self.wait_for_followers(kept)
        self.go("vms")
        self.wait_for_followers(kept + 1)
        self.page.js(HIDE)
        self.wait_for_followers(kept)
        self.page.js(HIDE.replace("=> true", "=> false"))
        self.wait_for_followers(kept + 1)
        checks.power_changes(self.page)

    def wait_for_followers(self, number):
        for _ in range(200):
            if STAGE.followers() == number:
                return
            self.browser.receive(0.05)
        self.fail(f"{STAGE.followers()} followers, expected {number}")

    def test_a_lost_connection_comes_back(self):
        self.rows()
        STAGE.stop("keplerd")
        self.addCleanup(lambda: "keplerd" in STAGE.running or STAGE.keplerd())
        self.page.wait_for('!document.querySelector("#absent").hidden', "a notice")
        self.assertIn("connection to keplerd is lost", self.page.text("#absent"))
        self.check("contrast", checks.contrast(self.page))
        self.page.click("#start")
        self.page.wait_for('document.querySelector("#start-note").innerText === ""', "systemctl")
        self.assertEqual(STAGE.asked.read_text(), "start keplerd.socket keplerd.service\n")
        STAGE.keplerd()
        checks.power_changes(self.page)
        self.assertTrue(self.page.js('document.querySelector("#absent").hidden'))
        self.page.complaints.clear()  # of the bridge, about what it could not connect to

    def test_dark_and_narrow(self):
        for width in (1280, 400):
            self.page.resize(width, 900)
            for is_dark in (False, True):
                self.page.dark(is_dark)
                for where in ("services", "users", f"vms/{stage.UUID}"):
                    self.go(where)
                    if "/" not in where:
                        self.rows()
                    how = f"{where}, {width} wide, {'dark' if is_dark else 'light'}"
                    self.page.wait_for(f"document.documentElement.classList.contains('dark') === {json.dumps(is_dark)}")
                    self.check(f"contrast: {how}", checks.contrast(self.page))
                    self.check(f"fits: {how}", checks.outside(self.page))
                    self.check(f"accessibility: {how}", checks.accessibility(self.page))
        self.page.js('localStorage.setItem("shell:style", "light")')
        self.go("vms")
        self.assertFalse(self.page.js("document.documentElement.classList.contains('dark')"), "the choice in Cockpit's menu counts")
        self.page.js('localStorage.removeItem("shell:style")')

    @unittest.skipUnless(len(sys.argv) > 3, "nobody asks for pictures")
    def test_pictures(self):
        """Those in docs/pictures."""
        self.page.call("Emulation.setScrollbarsHidden", hidden=True)
        self.addCleanup(self.page.call, "Emulation.setScrollbarsHidden", hidden=False)
        self.page.resize(1000, 1190)
        self.go("vms")
        self.rows()
        self.page.wait_for('document.querySelector(".whole-line").getAttribute("d").split("L").length > 20', "a graph", 90)
        self.page.wait_for('document.querySelector("#accounts").innerText.includes("W")', "accounts")
        self.page.screenshot(PICTURES / "cockpit.png")
        self.page.resize(400, 900)
        self.page.dark(True)
        self.go(f"vms/{stage.UUID}")
        self.page.wait_for('document.querySelector("#details-graph .whole-line")?.getAttribute("d").split("L").length > 8', "a graph", 90)
        self.page.screenshot(PICTURES / "cockpit-narrow.png")

    def test_german(self):
        self.page.call("Network.setCookie", name="CockpitLang", value="de", url=self.address)
        self.addCleanup(self.page.call, "Network.deleteCookies", name="CockpitLang", url=self.address)
        self.go("vms")
        self.rows()
        self.assertEqual((self.page.text("h1"), self.page.text("#power-title"), self.page.js("document.documentElement.lang")),
                         ("Energie", "Leistung", "de"))
        self.assertRegex(self.page.text("#power-now"), r"^\d+,\d+ W$")
        self.check("fits", checks.outside(self.page))


class OrdinaryUser(Opened):
    user = stage.JOE

    def test_sees_the_host_and_what_is_theirs(self):
        checks.power_changes(self.page)
        self.assertIn("your own workloads", self.page.text("#accounts-note"))
        self.assertNotIn("Kernel", self.page.text("#accounts"))
        self.assertEqual(checks.names(self.page), [])
        self.page.click("#tab-services")
        self.rows()
        self.assertEqual(checks.names(self.page), ["session-3.scope"])
        self.page.choose("#period", "day")
        self.page.wait_for('document.querySelector("#graph-note").innerText.includes("administrators")', "the reason")
        self.check("contrast", checks.contrast(self.page))
        self.check("accessibility", checks.accessibility(self.page))


def main():
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(SKIPPED)
    stage.own_namespace()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False, stderr=subprocess.DEVNULL)
    unittest.main(argv=[sys.argv[0], *os.environ.get("KEPLERD_TEST_ARGUMENTS", "").split()])


if __name__ == "__main__":
    main()
