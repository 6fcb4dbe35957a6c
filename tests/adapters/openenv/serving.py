"""A real server on a real port, in a thread of the tests' own process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.serving.servers import Place
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
