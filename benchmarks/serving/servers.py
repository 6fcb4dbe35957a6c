"""Servers in processes of their own, and what the system says of them."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Place:
    """Where a server listens, and the token that it wants."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port, self.token = port, token

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"


class Server(Place):
    """A running server."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, token: str | None) -> None:
        super().__init__(port, token)
        self.process = process

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            body: bytes = answer.read()
            return body

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> int:
        """Resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def _running(
    code: str, port: int, cwd: str | None = None, token: str | None = None
) -> Iterator[Server]:
    process = subprocess.Popen([sys.executable, "-c", code], cwd=cwd)
    server = Server(process, port, token)
    try:
        for _ in range(600):
            try:
                server.get("/health")
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"the server ended with {process.returncode}") from None
                time.sleep(0.1)
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@contextmanager
def ours(**settings: Any) -> Iterator[Server]:
    """``logtriage serve`` with these settings."""
    port = _free_port()
    shown = ", ".join(f"{name}={value!r}" for name, value in {"port": port, **settings}.items())
    code = f"from logtriage.server import Settings, serve; serve(Settings({shown}))"
    with _running(code, port, token=settings.get("token")) as server:
        yield server


@contextmanager
def echo(sessions: int) -> Iterator[Server]:
    """The library's echo environment: the template of ``openenv init``, run as its main does."""
    root = resources.files("openenv.cli.templates") / "openenv_env"
    port = _free_port()
    with TemporaryDirectory(prefix="echo-") as directory:
        package = Path(directory) / "echo_env"
        (package / "server").mkdir(parents=True)
        for name in ("models.py", "server/app.py", "server/__ENV_NAME___environment.py"):
            text = root.joinpath(name).read_text(encoding="utf-8")
            text = text.replace("__ENV_NAME__", "echo").replace("__ENV_CLASS_NAME__", "Echo")
            # As the template says: one session is the default, more are for the user to set.
            text, changed = re.subn(
                r"max_concurrent_envs=1\b", f"max_concurrent_envs={sessions}", text
            )
            assert changed == name.endswith("app.py")
            (package / name.replace("__ENV_NAME__", "echo")).write_text(text, encoding="utf-8")
        for folder in (package, package / "server"):
            (folder / "__init__.py").touch()
        code = (
            "import uvicorn; from echo_env.server.app import app; "
            f"uvicorn.run(app, host='127.0.0.1', port={port}, log_level='warning')"
        )
        with _running(code, port, directory) as server:
            yield server
