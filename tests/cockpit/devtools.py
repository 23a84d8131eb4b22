# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven over the pipe of its DevTools protocol."""
import base64
import collections
import fcntl
import json
import os
import pathlib
import selectors
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds, for what takes less than one

# What a page without mistakes does not log.
LOGGED = {"error", "assert", "warning"}


class Failed(Exception):
    pass


class Browser:
    """Chromium with an empty profile; `prefix` is a command that runs it somewhere else, such as nsenter."""

    def __init__(self, chromium, prefix=()):
        self.profile = tempfile.mkdtemp(prefix="keplerd-chromium-")
        to_browser, ours = os.pipe()
        theirs, from_browser = os.pipe()
        # Of DevTools they are 3 and 4, which these may be here.
        reads, writes = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser, from_browser))
        self.log = open(pathlib.Path(self.profile) / "log", "wb")
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "-", *prefix, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--ignore-certificate-errors", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}/data", "--window-size=1280,900", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, pass_fds=(reads, writes))
        for fd in (to_browser, from_browser, reads, writes):
            os.close(fd)
        self.ours, self.theirs = ours, theirs
        self.selector = selectors.DefaultSelector()
        self.selector.register(theirs, selectors.EVENT_READ)
        self.received, self.number, self.answers = b"", 0, {}
        self.pages = {}

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        os.close(self.ours)
        os.close(self.theirs)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.ours, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while number not in self.answers:
            self.receive(end - time.monotonic())
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']}")
        return answer["result"]

    def receive(self, limit):
        if not self.selector.select(max(0, limit)):
            if limit <= 0:
                raise Failed("Chromium does not answer")
            return
        data = os.read(self.theirs, 1 << 20)
        if not data:
            raise Failed(f"Chromium has ended: {(pathlib.Path(self.profile) / 'log').read_bytes()[-2000:]}")
        *messages, self.received = (self.received + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].on_event(message["method"], message["params"])

    def page(self, width=1280, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        page.resize(width, height)
        return page


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        browser.pages[session] = self
        self.complaints, self.contexts = [], collections.OrderedDict()
        for domain in ("Page", "Runtime", "Log", "Accessibility", "DOM", "CSS"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def on_event(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(f"{details['text']} {details.get('exception', {}).get('description', '')}")
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in LOGGED:
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Runtime.executionContextCreated":
            self.contexts[parameters["context"]["id"]] = parameters["context"]
        elif method == "Runtime.executionContextDestroyed":
            self.contexts.pop(parameters["executionContextId"], None)
        elif method == "Runtime.executionContextsCleared":
            self.contexts.clear()

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def leave(self):
        if self.js("location.href") != "about:blank":  # Chromium may not answer if it is there already
            self.go("about:blank")
            self.wait_for('location.href === "about:blank"')

    def js(self, expression, frame=None):
        """The value of an expression, which may be a promise; in the frame of this id."""
        where = {}
        if frame:
            where["contextId"] = next(i for i, c in reversed(self.contexts.items())
                                      if c["auxData"].get("frameId") == frame and c["auxData"].get("isDefault"))
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True,
                           **where)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression, what=None, limit=PATIENCE, frame=None):
        """The value of the expression, once it is true."""
        end = time.monotonic() + limit
        problem = None
        while True:
            try:
                if value := self.js(expression, frame):
                    return value
            except (Failed, StopIteration) as failure:  # while it is loaded
                problem = failure
            if time.monotonic() > end:
                raise Failed(f"waited {limit} s for {what or expression}: {problem or ''}")
            self.browser.receive(0.05)

    def frame(self, part_of_url):
        """The id of the frame with this in its address, once there is one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            waiting = [self.call("Page.getFrameTree")["frameTree"]]
            while waiting:
                tree = waiting.pop()
                if part_of_url in tree["frame"]["url"]:
                    return tree["frame"]["id"]
                waiting += tree.get("childFrames", [])
            self.browser.receive(0.1)
        raise Failed(f"no frame of {part_of_url}")

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def click(self, selector):
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def choose(self, selector, value):
        """A value of an input or a select, as a user enters it."""
        self.js(f"""(() => {{ const control = document.querySelector({json.dumps(selector)}); control.value = {json.dumps(value)};
            control.dispatchEvent(new Event("input", {{bubbles: true}})); control.dispatchEvent(new Event("change", {{bubbles: true}}));
            }})()""")

    def key(self, key, code=None, number=0):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number)

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def screenshot(self, path):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def accessibility(self):
        return [node for node in self.call("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
