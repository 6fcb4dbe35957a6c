"""A real server on a real port, in a thread of the tests' own process."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Self

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from benchmarks.serving.servers import Place
from logtriage.actions import Action
from logtriage.parsing import action_to_wire
from logtriage.server.app import build_app
from logtriage.server.launch import Build, make_server
from logtriage.server.settings import Settings


class Running(Place):
    """Where a server is, and the server itself."""

    def __init__(self, http: str, server: Any) -> None:
        super().__init__(int(http.rpartition(":")[2]))
        self.http, self.server = http, server


@contextmanager
def running(build: Build = build_app, **settings: Any) -> Iterator[Running]:
    """A server with these settings, on a free port."""
    said: list[str] = []
    server = make_server(Settings(port=0, **settings), said.append, build)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: bool(said))
    try:
        yield Running(said[0].removeprefix("serving on "), server)
    finally:
        server.should_exit = True
        thread.join(15)


def wait_for(condition: Any, seconds: float = 15.0) -> None:
    """Until the condition holds; an error if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)


class ServerError(Exception):
    """The server refused a message or a connection."""


class Session:
    """A session at ``/ws`` that shows what is on the wire."""

    def __init__(self, http: str, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else None
        url = f"ws{http.removeprefix('http')}/ws"
        try:
            self._connection = connect(url, additional_headers=headers).__enter__()
        except InvalidStatus as error:
            body = (error.response.body or b"").decode()
            raise ServerError(f"{error.response.status_code}: {body}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, kind: str, data: Mapping[str, Any] | None) -> dict[str, Any]:
        """The data of the answer to a message."""
        message = {"type": kind} if data is None else {"type": kind, "data": data}
        self._connection.send(json.dumps(message))
        answer = json.loads(self._connection.recv(30))
        if answer["type"] == "error":
            rows = answer["data"].get("errors") or ()
            fields = [f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in rows]
            raise ServerError("; ".join(fields) or answer["data"]["message"])
        return dict(answer["data"])

    def reset(self, **named: Any) -> SimpleNamespace:
        """The first screen of an episode, by its fields."""
        return _fields(self.ask("reset", named))

    def step(self, action: Action | Mapping[str, Any] | str) -> SimpleNamespace:
        """What an action, on the wire or as text, led to."""
        if isinstance(action, str):
            return _fields(self.ask("step", {"text": action}))
        wire = action if isinstance(action, Mapping) else action_to_wire(action)
        return _fields(self.ask("step", wire))

    def state(self) -> dict[str, Any]:
        """Where the episode stands."""
        return self.ask("state", None)


def _fields(data: Mapping[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**data["observation"], reward=data["reward"], done=data["done"])
