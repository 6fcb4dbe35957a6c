"""Run the server in one process."""

import asyncio
import errno
import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI

from logtriage.actions import RequestMoreLogs
from logtriage.drawing.sealing import seal_of_environment
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.app import build_app
from logtriage.server.connections import HttpConnection, SessionConnection
from logtriage.server.door import FairConfig
from logtriage.server.episode import Episode
from logtriage.server.ledger import LEDGER_VARIABLE, RUN_VARIABLE
from logtriage.server.messages import MAX_MESSAGE
from logtriage.server.settings import TOKEN_VARIABLE, Settings
from logtriage.server.turns import Share

#: A function that makes the application.
Build = Callable[[Settings], FastAPI]
#: A WebSocket frame of more than MAX_MESSAGE times this ends its connection (code 1009) unread.
HARD_LIMIT_FACTOR: Final = 4
#: Processor seconds charged for accepting a connection and losing it.
ACCEPT_COST: Final = 0.0002
#: Seconds that the last answers have to be sent.
_LAST_ANSWERS: Final = 5
#: Connections that the system may hold until they are accepted.
_BACKLOG: Final = 128
#: Errors of an address that this machine lacks, though the host name has it: ::1 without IPv6.
_NO_SUCH_ADDRESS: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
#: Seconds after which a server that could not accept a connection tries again.
_ACCEPT_AGAIN: Final = 0.1
#: File descriptors that the server needs beside those of connections.
_OTHER_FILES: Final = 64
#: Seconds for which a log message is not repeated, and the most messages that are remembered.
_SPARING_SECONDS: Final = 60.0
_KINDS_OF_MESSAGES: Final = 1_000

_logger = logging.getLogger("uvicorn.error")


class FairServer(uvicorn.Server):
    """A server that announces where it listens, and accepts connections in turn with other work.

    At shutdown it closes the ledger of its application.
    """

    config: FairConfig

    def __init__(self, config: FairConfig, app: FastAPI, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self.ledger = getattr(app.state, "ledger", None)
        self._announce = announce
        self._listening: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and announce where."""
        # Listen first, so that nothing has begun if an address is taken.
        self._listening = _listen(self.config.host, self.config.port)
        await super().startup(sockets=sockets or [])
        for listening in self._listening:
            host, port = listening.getsockname()[:2]
            self._accepting.append(asyncio.create_task(self._accept(listening)))
            self._announce(f"serving on http://{f'[{host}]' if ':' in host else host}:{port}")

    async def _accept(self, listening: socket.socket) -> None:
        loop, share = asyncio.get_running_loop(), Share(is_session=False)
        make = partial(
            self.config.http_protocol_class,  # type: ignore[arg-type]
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as error:
                _logger.warning("a connection could not be accepted: %s", error)
                await asyncio.sleep(_ACCEPT_AGAIN)
                continue
            await self.config.turns.wait(share)
            self.config.turns.charge(share, ACCEPT_COST)
            try:
                await loop.connect_accepted_socket(make, connection)
            except OSError:  # it has gone
                connection.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end all connections, and release the ledger."""
        for accepting in self._accepting:
            accepting.cancel()
        for listening in self._listening:
            listening.close()
        await super().shutdown(sockets)
        if self.ledger is not None:
            self.ledger.close()


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at each address of a host; OSError if one cannot be bound."""
    listening: list[socket.socket] = []
    failure: OSError | None = None
    for family, *_, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    ):
        if listening:  # for port 0 the first address takes a free one, and all others the same
            port = listening[0].getsockname()[1]
        at = address[0], port
        try:
            listening.append(socket.create_server(at, family=family, backlog=_BACKLOG))
        except OSError as error:
            failure = error
            if error.errno not in _NO_SUCH_ADDRESS:
                break
    if failure is not None and not (listening and failure.errno in _NO_SUCH_ADDRESS):
        for bound in listening:
            bound.close()
        raise failure
    for bound in listening:
        bound.setblocking(False)
    return listening


class Sparing(logging.Filter):
    """A log filter that lets each message through at most once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_at: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log a record. Records with the same format string are one message."""
        now = time.monotonic()
        if now - self._logged_at.get(str(record.msg), float("-inf")) < _SPARING_SECONDS:
            return False
        if len(self._logged_at) < _KINDS_OF_MESSAGES:
            self._logged_at[str(record.msg)] = now
        return True


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def make_server(
    settings: Settings, announce: Callable[[str], None] = _say, build: Build = build_app
) -> FairServer:
    """A server ready to run, which calls ``announce`` with its address; raises as :func:`serve`."""
    _raise_files(settings.max_sessions + settings.max_waiting + _OTHER_FILES)
    app = build(settings)
    config = FairConfig(
        app,
        http=HttpConnection,
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
        max_waiting=settings.max_waiting,
        request_seconds=settings.request_seconds,
    )
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, Sparing) for each in logger.filters):
            logger.addFilter(Sparing())
    return FairServer(config, app, announce)


def _raise_files(needed: int) -> None:
    """Let this process open ``needed`` files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise InvalidInput(
            f"max_sessions: the server would need {needed} open files, and this process may have "
            f"{hard} (ulimit -Hn)"
        )
    if soft != resource.RLIM_INFINITY and needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def warm_up(settings: Settings) -> None:
    """Play an episode of each task to load its data, and exempt that from garbage collection."""
    for task in settings.tasks:
        episode = Episode(f"{task}/train/0", world=settings.world)
        while not episode.state.is_closed:
            episode.seen(opens=True)
            episode.step(RequestMoreLogs(None))
        episode.seen()
    gc.collect()
    gc.freeze()


def serve(
    settings: Settings, announce: Callable[[str], None] = _say, build: Build = build_app
) -> None:
    """Serve an application until a signal comes.

    InvalidInput if the address cannot be bound, or if so many sessions need too many files.
    """
    server = make_server(settings, announce, build)
    warm_up(settings)
    try:
        server.run()
    except OSError as error:
        raise InvalidInput(f"cannot serve on {settings.host}:{settings.port}: {error}") from None


def settings_of_environment() -> Settings:
    """Read the settings of a container from its environment variables.

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
