"""Run the server in one process."""

import gc
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from logtriage.drawing.sealing import seal_of_environment
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.app import build_app
from logtriage.server.ledger import LEDGER_VARIABLE, RUN_VARIABLE
from logtriage.server.messages import MAX_MESSAGE
from logtriage.server.settings import TOKEN_VARIABLE, Settings

#: Makes the application that is served.
Build = Callable[[Settings], FastAPI]
#: A WebSocket frame of more bytes ends its connection (code 1009) without being read.
HARD_LIMIT_FACTOR: Final = 16
#: Seconds that the last answers have to be sent.
_LAST_ANSWERS: Final = 5


class SessionConnection(WebSocketsSansIOProtocol):
    """A session's connection. A client that answers no ping, or takes no answers, loses it."""

    def keepalive_timeout(self) -> None:
        """End the connection at once: a client that answers no ping takes no farewell."""
        super().keepalive_timeout()
        self.transport.abort()


class AnnouncingServer(uvicorn.Server):
    """A server that says where it listens, and closes the ledger of its application."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, announce: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self.ledger = getattr(app.state, "ledger", None)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        await super().startup(sockets)
        for server in self.servers if self.started else ():
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                self._announce(f"serving on http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and release the ledger."""
        await super().shutdown(sockets)
        if self.ledger is not None:
            self.ledger.close()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def make_server(
    settings: Settings, announce: Callable[[str], None] = _say, build: Build = build_app
) -> AnnouncingServer:
    """A server of an application, ready to run; it calls ``announce`` with its address."""
    app = build(settings)
    config = uvicorn.Config(
        app,
        ws=SessionConnection,
        proxy_headers=False,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="warning",
        server_header=False,
        ws_max_size=MAX_MESSAGE * HARD_LIMIT_FACTOR,
        ws_ping_interval=settings.ping_seconds,
        ws_ping_timeout=settings.ping_seconds,
        # Screens are short: compressing them costs more than sending them.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    return AnnouncingServer(config, app, announce)


def serve(
    settings: Settings, announce: Callable[[str], None] = _say, build: Build = build_app
) -> None:
    """Serve an application until a signal comes.

    Raises:
        InvalidInput: if the address cannot be bound.
    """
    server = make_server(settings, announce, build)
    # The library creates very many objects that live as long as the process. Garbage collection
    # need not visit them.
    gc.collect()
    gc.freeze()
    try:
        server.run()
    except SystemExit as error:  # how uvicorn says that it could not start; it logged why
        if error.code:
            raise InvalidInput(f"cannot serve on {settings.host}:{settings.port}") from None


def settings_of_environment() -> Settings:
    """The settings of a container.

    ``HOST`` (0.0.0.0), ``PORT`` (8000), ``MAX_SESSIONS``, the token, the seal, and for a seal
    ``LOGTRIAGE_LEDGER`` (a path) and ``LOGTRIAGE_RUN``.

    Raises:
        InvalidInput: naming the variable and what was expected.
    """
    ledger = os.environ.get(LEDGER_VARIABLE)
    return Settings(
        host=os.environ.get("HOST", "0.0.0.0"),
        port=_number("PORT", Settings().port),
        token=os.environ.get(TOKEN_VARIABLE) or None,
        max_sessions=_number("MAX_SESSIONS", Settings().max_sessions),
        seal=seal_of_environment(),
        ledger=Path(ledger) if ledger else None,
        run=os.environ.get(RUN_VARIABLE) or Settings().run,
    )


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    if not (value.isascii() and value.isdigit()):
        raise InvalidInput(f"{name}: expected a whole number, got {value!r}")
    return int(value)


def main(build: Build = build_app) -> None:
    """Serve with the settings of the environment."""
    try:
        serve(settings_of_environment(), build=build)
    except LogTriageError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
