"""Run the server in one process."""

import os
import socket
import sys
from collections.abc import Callable
from typing import Final

import uvicorn

from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.app import build_app
from logtriage.server.settings import TOKEN_VARIABLE, Settings

#: A message of more bytes ends its connection (code 1009) without being read.
MAX_MESSAGE: Final = 64 * 1024
#: Seconds that the last answers have to be sent.
_LAST_ANSWERS: Final = 5


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def make_server(settings: Settings) -> uvicorn.Server:
    """A server of the application, ready to run on a socket that listens."""
    config = uvicorn.Config(
        build_app(settings),
        ws="websockets-sansio",
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        server_header=False,
        ws_max_size=MAX_MESSAGE,
        # Screens are short: compressing them costs more than sending them.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    return uvicorn.Server(config)


def listen(settings: Settings) -> tuple[socket.socket, str]:
    """A socket that listens at the address of the settings, and its URL.

    Raises:
        InvalidInput: if the address cannot be bound.
    """
    host = settings.host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, settings.port), family=family)
    except OSError as error:
        raise InvalidInput(f"cannot serve on {host}:{settings.port}: {error}") from None
    port = listening.getsockname()[1]
    return listening, f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(settings: Settings, announce: Callable[[str], None] = _say) -> None:
    """Serve until a signal comes; call ``announce`` with the address.

    Raises:
        InvalidInput: if the address cannot be bound.
    """
    server = make_server(settings)
    listening, url = listen(settings)
    with listening:
        announce(f"serving on {url}")
        server.run(sockets=[listening])


def settings_of_environment() -> Settings:
    """The settings of a container: ``HOST`` (0.0.0.0), ``PORT`` (8000), ``MAX_SESSIONS``, token.

    Raises:
        InvalidInput: naming the variable and what was expected.
    """
    return Settings(
        host=os.environ.get("HOST", "0.0.0.0"),
        port=_number("PORT", Settings().port),
        token=os.environ.get(TOKEN_VARIABLE) or None,
        max_sessions=_number("MAX_SESSIONS", Settings().max_sessions),
    )


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    if not (value.isascii() and value.isdigit()):
        raise InvalidInput(f"{name}: expected a whole number, got {value!r}")
    return int(value)


def main() -> None:
    """Serve with the settings of the environment."""
    try:
        serve(settings_of_environment())
    except LogTriageError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
