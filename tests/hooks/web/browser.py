# SPDX-License-Identifier: Apache-2.0
"""browser.py PROGRAM [SCREENSHOT]: the page of examples/live_page in headless Chromium: elements, numbers, a phone's
width, the stop button. Exits with 77 (skipped) where there is no Chromium. Steers it by the DevTools protocol over a
pipe. With SCREENSHOT it writes that PNG file."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 60  # attempts to find a state of the page; the browser itself paces them


class Browser:
    def __init__(self, chromium, profile):
        command_in, self.commands = os.pipe()
        self.replies, reply_out = os.pipe()

        def at_three_and_four():
            os.dup2(command_in, 200), os.dup2(reply_out, 201)
            os.dup2(200, 3), os.dup2(201, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=at_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_in), os.close(reply_out)
        self.number, self.rest, self.dialogs, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.replies, 1 << 16)
            if not part:
                raise SystemExit("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **parameters):
        number = self.send(method, **parameters)
        while True:
            message = self.read()
            if message.get("method") == "Page.javascriptDialogOpening":
                self.dialogs.append(message["params"]["message"])
                self.send("Page.handleJavaScriptDialog", accept=True)
            if message.get("id") == number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression):
        for _ in range(LIMIT):
            if self.value(f"new Promise(done => setTimeout(() => done(!!({expression})), 250))"):
                return
        raise SystemExit(f"the page has not reached: {expression}\n{self.value('document.body.innerText')}")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])


def check(true, what):
    if not true:
        raise SystemExit(f"FAILED: {what}")
    print("ok:", what)


def look(browser, program, url, screenshot):
    browser.size(1000, 800)
    browser.call("Page.navigate", url=url)
    browser.wait_for("document.querySelectorAll('#curves figure').length === 2")
    browser.wait_for("document.querySelectorAll('#histograms figure').length === 1 && lines.length > 1")
    browser.wait_for("document.querySelectorAll('#hooks tr').length === 4")
    names = browser.value("[...document.querySelectorAll('#curves figure')].map(f => f.dataset.name).join()")
    check(names == "loss,rate", "a figure for each scalar")
    check(browser.value("document.querySelector('#state').textContent") == "running", "the state")
    check(re.match(r"step \d+ of 100000, [\d.]+ steps/s, \d+:\d\d passed, [\d:]+ left$",
                   browser.value("document.querySelector('#progress').textContent")), "progress and time left")
    first, last = browser.value("[curves.get('loss').points[0][2], curves.get('loss').points.at(-1)[2]]")
    check(first > 5 > 1 > last > 0, f"the loss falls from {first:.3g} to {last:.3g}")
    check(float(browser.value("document.querySelector('#curves .soft').textContent")) > 0, "the last value as a text")
    check("step 100: loss = " in browser.value("document.querySelector('#log').textContent"), "log lines")
    hooks = browser.value("[...document.querySelectorAll('#hooks tr')].map(r => r.cells[0].textContent).join(' ')")
    check(hooks == 'StopAtStep StopOnSignal LoggingTensor<"loss"> LivePage<"loss", "rate">', "the hooks in their order")
    check("every 5 steps" in browser.value("document.querySelector('#chain').textContent"), "the chain")
    check(browser.value("pixels()") > 500, "the curve is drawn")
    before = browser.value("document.querySelector('#curves canvas').toDataURL()")
    browser.value("$('smooth').value = 0, $('smooth').oninput()")
    check(before != browser.value("document.querySelector('#curves canvas').toDataURL()"), "smoothing changes it")
    browser.value("show({...empty, version, lines: ['<img src=x onerror=evil()>']})")
    check(browser.value("document.querySelectorAll('img').length") == 0, "a line with HTML is a text")
    browser.size(360, 700, dark=True)
    check(browser.value("document.documentElement.scrollWidth <= 360"), "no sideways scrolling on a phone")
    check(browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)", "a dark page")
    if screenshot:
        browser.size(1000, 1120)
        browser.wait_for("$('progress').textContent.includes('left')")
        browser.value("$('smooth').value = 0.6, $('smooth').oninput(), lines.splice(0, lines.length, ...lines.filter(l => !l.includes('evil'))), $('log').textContent = lines.join('\\n')")
        with open(screenshot, "wb") as file:
            file.write(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))
    browser.value("$('stop').click()")
    check(len(browser.dialogs) == 1, "the button confirms")
    check("by LivePage" in program.communicate(timeout=60)[1], "the button stops the training")
    check(program.returncode == 0, "the program ends without an error")
    browser.wait_for("!$('notice').hidden && $('stop').disabled")
    check(True, "the page reports the end")


HELPERS = """
function pixels() {
  const c = document.querySelector('#curves canvas');
  return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((x, i) => i % 4 === 3 && x > 0).length;
}
const empty = { step: 0, total: null, rate: 0, elapsed: 0, state: 'running', running: true, stopping: false,
                curves: [], histograms: [], lines: [] };
"""


def main():
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("skipped: there is no chromium")
        sys.exit(77)
    program = subprocess.Popen([sys.argv[1], "100000", "2"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    profile = tempfile.mkdtemp()
    browser = None
    try:
        url = re.search(r"http://\S+", program.stderr.readline()).group(0)
        browser = Browser(chromium, profile)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=HELPERS)
        look(browser, program, url, sys.argv[2] if len(sys.argv) > 2 else None)
    finally:
        program.kill()
        if browser:
            browser.process.kill()
            browser.process.wait()
        shutil.rmtree(profile, ignore_errors=True)


main()
