"""Play on a server, with only websockets (extra ``client``).

>>> with RemoteEnv("http://127.0.0.1:8000") as env:  # doctest: +SKIP
...     served = env.reset(incident="cascading_failure-v3/test/42")
...     while not served.done:
...         served = env.step(ask_model(served.screen))
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NoReturn, Self, cast
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from logtriage.actions import Action
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.server.settings import TOKEN_VARIABLE
from logtriage.server.wire import Served, action_payload, served_of

#: The most bytes of an answer. The largest observation has a fraction of them.
MAX_ANSWER: Final = 4 * 1024 * 1024


class ServerError(LogTriageError):
    """The server refused a message; ``code`` is the protocol's."""

    def __init__(self, text: str, code: str) -> None:
        self.text, self.code = text, code
        super().__init__(f"the server refused: {text} ({code})")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.text, self.code)


class ConnectionLost(LogTriageError):
    """The server cannot be reached, or is gone."""


def websocket_url(url: str) -> str:
    """Where the sessions of the server at ``url`` are.

    Raises:
        InvalidInput: if it is no HTTP or WebSocket address.
    """
    parts = urlsplit(url)
    schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
    if parts.scheme not in schemes or not parts.netloc:
        raise InvalidInput(f"env url {url!r}: expected an address such as http://127.0.0.1:8000")
    path = parts.path.rstrip("/")
    path = path if path.endswith("/ws") else f"{path}/ws"
    return urlunsplit((schemes[parts.scheme], parts.netloc, path, "", ""))


class RemoteEnv:
    """A session on a server, for one thread; an episode at a time.

    Args:
        url: the server's address.
        token: its bearer token; by default that of the variable ``LOGTRIAGE_TOKEN``.
        timeout: seconds to wait for an answer.

    Raises:
        InvalidInput: if ``url`` is no address.
        ConnectionLost: if there is no server.
        ServerError: if it refuses, because of the token or for lack of capacity.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0) -> None:
        self._url, self._timeout = url, timeout
        token = os.environ.get(TOKEN_VARIABLE) if token is None else token
        headers = {"Authorization": f"Bearer {token}"} if token else None
        try:
            # Newer versions of the library want the context to be entered; close() leaves it.
            self._connection: ClientConnection = connect(
                websocket_url(url),
                additional_headers=headers,
                open_timeout=timeout,
                close_timeout=timeout,
                max_size=MAX_ANSWER,
                compression=None,
            ).__enter__()
        except InvalidStatus as error:
            raise _refusal(error) from None
        except (OSError, WebSocketException) as error:
            raise ConnectionLost(f"{url}: no server answers: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reset(self, **named: Any) -> Served:
        """Begin an episode.

        Args:
            **named: ``incident``, or ``task``, ``split`` and ``index``.

        Raises:
            ServerError: naming what cannot be used.
            ConnectionLost: if the server is gone.
        """
        return served_of(self._ask("reset", named))

    def step(self, action: Action | Mapping[str, Any] | str) -> Served:
        """Play an action of the core, a wire action, or what a model wrote.

        Raises:
            ServerError: if the message has the wrong shape, or the episode is closed.
            ConnectionLost: if the server is gone.
        """
        return served_of(self._ask("step", action_payload(action)))

    def state(self) -> dict[str, Any]:
        """Where the episode stands.

        Raises:
            ConnectionLost: if the server is gone.
        """
        return self._ask("state", None)

    def close(self) -> None:
        """End the session; the server frees its place."""
        self._connection.close()

    def _ask(self, kind: str, data: Mapping[str, Any] | None) -> dict[str, Any]:
        message = {"type": kind} if data is None else {"type": kind, "data": data}
        try:
            # A refused session ends before the first message is sent; the reason can still be read.
            with suppress(ConnectionClosed):
                self._connection.send(json.dumps(message))
            answer = json.loads(self._connection.recv(self._timeout))
        except (OSError, WebSocketException, TimeoutError) as error:
            # After a time-out the answer may still come, and would be taken for the next answer.
            self._connection.close()
            raise ConnectionLost(f"{self._url}: connection lost: {error}") from None
        if answer.get("type") == "error":
            self._raise(answer.get("data", {}))
        return cast(dict[str, Any], answer["data"])

    def _raise(self, data: Mapping[str, Any]) -> NoReturn:
        rows = data.get("errors") or ()
        text = "; ".join(f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in rows)
        raise ServerError(text or str(data.get("message")), str(data.get("code")))


def _refusal(error: InvalidStatus) -> ServerError:
    try:
        text = json.loads(error.response.body or b"")["error"]
    except (ValueError, KeyError, TypeError):
        text = error.response.reason_phrase
    return ServerError(str(text), f"HTTP {error.response.status_code}")
