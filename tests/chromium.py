"""A minimal driver for Chromium over the DevTools protocol, for the tests of the lab."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader"),
    *("--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage"),
    *("--disable-extensions", "--process-per-site", "--remote-debugging-port=0"),
    "--disable-features=SpareRendererForSitePerProcess,BackForwardCache,PaintHolding",  # a third of the CPU time
]
LOOK = """(async () => {
  const end = performance.now() + 250;
  for (;;) {
    const found = await (%s);
    if (found || performance.now() > end) return found;
    await new Promise((next) => setTimeout(next, 15));
  }
})()"""  # in the page, because a browser spends more time on a question than a page does
LEFT = ("Inspected target navigated", "context was destroyed", "Cannot find")  # a page that goes to another one


CODES = {
    "Backspace": 8,
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "PageUp": 33,
    "PageDown": 34,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}


class Page:
    """A browser with one page; it records all requests and errors of the page."""

    def __init__(self, *flags: str) -> None:
        assert PROGRAM is not None
        self.folder = tempfile.mkdtemp(prefix="lab-chromium-")
        command = [PROGRAM, *FLAGS, *flags, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = Path(self.folder) / "DevToolsActivePort"
        wait(lambda: port_file.exists() and len(port_file.read_text().splitlines()) > 1, "Chromium did not start", 30)
        self.port = port_file.read_text().splitlines()[0]
        found = wait(self._targets, "Chromium has no page", 10)
        self.open_things = ExitStack()
        debugger = connect(found[0]["webSocketDebuggerUrl"], max_size=None, close_timeout=0.1)
        self.socket = self.open_things.enter_context(debugger)
        self.count = 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _targets(self) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list") as answer:
            return [one for one in json.loads(answer.read()) if one["type"] == "page"]

    def call(self, method: str, **parameters: Any) -> Any:
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while (message := json.loads(self.socket.recv(timeout=60))).get("id") != self.count:
            self._note(message["method"], message["params"])
        assert "error" not in message, message
        return message["result"]

    def _note(self, event: str, content: Any) -> None:
        if event in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            self.requests.append(content["request"]["url"] if "request" in content else content["url"])
        elif event == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(content["exceptionDetails"])[:2000])
        elif event == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(content["args"])[:2000])
        elif event == "Log.entryAdded" and content["entry"]["level"] == "error":
            self.errors.append(content["entry"]["text"] + " " + content["entry"].get("url", ""))

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page and return its value."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> Any:
        """Wait until an expression is true in the page."""

        def look() -> Any:
            try:
                return self.run(LOOK % script)
            except AssertionError as error:
                if any(words in str(error) for words in LEFT):
                    return None
                raise

        return wait(look, f"still false: {script}", seconds)

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def resize(self, width: int, height: int, dark: bool = False, reduced_motion: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def type(self, selector: str, text: str) -> None:
        """Type text into a field and leave the field."""
        self.run(f"document.querySelector({selector!r}).focus(), document.querySelector({selector!r}).select()")
        self.call("Input.insertText", text=text) if text else self.key("Backspace")
        self.key("Tab")

    def key(self, name: str, shift: bool = False) -> None:
        code = CODES.get(name, ord(name[0].upper()))
        about = {"key": name, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        text = {"text": {"Enter": "\r"}.get(name, name)} if len(name) == 1 or name == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def click(self, selector: str) -> None:
        """Click on the middle of an element with the mouse."""
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({selector!r}); one.scrollIntoView({{ block: 'nearest' }});"
            " const { x, y, width, height } = one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()"
        )
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **mouse)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **mouse)

    def choose(self, selector: str, value: str) -> None:
        """Select an option of a list."""
        self.run(
            f"(() => {{ const list = document.querySelector({selector!r}); list.value = {value!r}; "
            f"list.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        )

    def picture(self, path: Path, full: bool = False) -> None:
        clip = {}
        if full:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full, **clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self.process.kill()  # first, or a busy browser keeps the socket waiting for its answer
        self.process.wait()
        self.open_things.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait(condition: Callable[[], Any], complaint: str, seconds: float) -> Any:
    """Wait until a condition is true and return its value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, complaint
        time.sleep(0.02)
    return found
