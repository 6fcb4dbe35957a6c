"""A headless Chromium for tests of pages, driven over two pipes; without one they are skipped.

The protocol is that of the browser's developer tools: one JSON message after the other, each
ended by a null byte. The page under test is a file, or comes from this machine; the browser
reaches nothing else.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
#: A browser that does not answer for so many seconds has died.
_PATIENCE = 60


def find_chromium() -> str | None:
    """The browser's program: CHROMIUM if that is set, else what is on the path."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for one in _NAMES if (found := shutil.which(one))), None)


needs_chromium = pytest.mark.skipif(
    find_chromium() is None, reason="no Chromium found: install it, or name it in CHROMIUM"
)
#: The protocol wants its pipes as descriptors 3 and 4. Copies first, so that neither is
#: closed by the other's move.
_LAUNCH = """
import os, sys
reads, writes = (os.dup(int(one)) for one in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
for one in (3, 4):  # a copy that was made there already is not handed on by itself
    os.set_inheritable(one, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab. Use it as a context manager."""

    def __init__(self, profile: Path) -> None:
        program = find_chromium()
        assert program is not None
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()

        self._process = subprocess.Popen(
            [
                sys.executable, "-c", _LAUNCH, str(reads), str(writes), program, "--headless",
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--remote-debugging-pipe",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(reads, writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(reads)
        os.close(writes)
        self._last = 0
        self._buffer = b""
        self._session: str | None = None
        self.errors: list[str] = []
        #: How addresses begin that a page may ask for; any other is an error.
        self.allowed: tuple[str, ...] = ("file:", "about:")
        (page,) = (
            one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"
        )
        opened = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = opened["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command of the protocol."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what went wrong in the page, and every request that left it."""
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.errors.append(str(details.get("exception", details)))
            case "Log.entryAdded":
                self.errors.append(str(params["entry"]["text"]))
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(self.allowed):
                    self.errors.append(f"request to {url[:200]}")
            case "Page.javascriptDialogOpening":
                self.errors.append(f"dialog: {params['message']}")

    def open(self, page: Path, address: str = "") -> None:
        """Load a page, and wait until it has shown what its address says."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"{page.as_uri()}{address}")
        self.wait("document.getElementById('main')?.dataset.ready !== undefined")

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, patience: float = _PATIENCE) -> None:
        """Wait until an expression is true, for so many seconds."""
        end = time.monotonic() + patience
        while not self.ask(f"!!({condition})"):
            assert time.monotonic() < end, f"never true: {condition}; {self.errors}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press and release a key, named as ``KeyboardEvent.key`` names it."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def see(self, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Take a width, in CSS pixels, and a colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[scheme, still])
        # A picture of the whole page has no scroll bar, and would be cut where one stood.
        self.call("Emulation.setScrollbarsHidden", hidden=True)

    def picture(self, out: Path, *, whole: bool = True) -> None:
        """The whole page as a PNG, or what the window shows of it."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        out.write_bytes(base64.b64decode(shot["data"]))
