"""Play and evaluate on a server, with only websockets (extra ``client``).

>>> with RemoteEnv("http://127.0.0.1:8000") as env:  # doctest: +SKIP
...     served = env.reset(incident="cascading_failure-v3/test/42")
...     while not served.done:
...         served = env.step(ask_model(served.screen))
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, NoReturn, Self, cast
from urllib.parse import urlsplit, urlunsplit

import attrs
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from logtriage._lib.seal import Seal
from logtriage.actions import Action
from logtriage.drawing.ids import parse_incident_id
from logtriage.drawing.sealing import incident_of, seal_for
from logtriage.errors import InvalidInput, LogTriageError
from logtriage.grading import Grade, grade_transcript
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.parsing import action_to_wire
from logtriage.policies import PolicyFactory
from logtriage.server.episode import HIDDEN
from logtriage.server.settings import TOKEN_VARIABLE
from logtriage.server.wire import Served, action_payload, observation_of, served_of
from logtriage.transcript import COMPLETED, Transcript
from logtriage.world.model import World

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
    """One session on a server, for one thread; an episode at a time.

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def reset(self, **named: Any) -> Served:
        """Begin an episode.

        Args:
            **named: ``incident``, or ``task``, ``split`` and ``index``; ``view=True`` for
                structured observations, ``show_id=True`` for the incident's id in them.

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


class _Withheld:
    """Stands for what stays on the server. Every access to it is an error."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise LogTriageError(f"the truth stays on the server; this policy looks at its {name!r}")


def _outside(served: Served, observation: Observation, world: World | None) -> Incident:
    """The part of the incident that a client may know, for factories of policies."""
    if served.incident.startswith(HIDDEN):
        raise InvalidInput("show_id: a reset without it does not say which incident is played")
    task = parse_incident_id(served.incident, world=world).task
    withheld: Any = _Withheld()
    return Incident(
        id=served.incident,
        task=task.id,
        horizon=served.horizon,
        topology=observation.topology,
        directory=observation.directory,
        truth=withheld,
        telemetry=withheld,
        rubric=task.rubric,
    )


@attrs.frozen
class RemoteRecorder:
    """Records episodes that are played on a server: what ``evaluate`` takes as ``recorder``.

    The policy sees what the server sends and nothing else. Its actions are graded here as
    well, and a server that grades them otherwise runs another version, or seals incidents
    by another key than ``seal`` (or that of the environment); either is an error. A server of
    another world than ``world`` (or that of the incident's id) refuses to play.
    """

    url: str
    token: str | None = attrs.field(default=None, repr=False)
    seal: Seal | None = None
    world: World | None = None

    @property
    def environment(self) -> str:
        """The server's address, without what might name a user."""
        parts = urlsplit(websocket_url(self.url))
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def __call__(self, incident_id: str, factory: PolicyFactory, agent: str) -> Transcript:
        """The transcript of an episode; unscored with its cause if it broke off.

        Raises:
            ConnectionLost, ServerError: if the episode could not begin.
            LogTriageError: if the server graded it otherwise.
            SealError: for a sealed incident without a key.
        """
        parsed = parse_incident_id(incident_id, world=self.world)
        seal = seal_for(parsed.split, self.seal)
        incident = incident_of(incident_id, seal, parsed.task.world)
        actions: list[Action] = []
        with RemoteEnv(self.url, token=self.token) as env:
            served = env.reset(
                incident=incident_id, show_id=True, view=True, world=incident.world_mark
            )
            try:
                seen, memory = observation_of(served.view or {}, world=parsed.task.world), None
                policy = factory(_outside(served, seen, parsed.task.world))
                while not served.done:
                    action, memory = policy.act(seen, memory)
                    served = env.step(action)
                    seen = observation_of(served.view or {}, seen)
                    actions.append(action)
            except Exception as error:
                cause = f"episode broke off: {type(error).__name__}: {error}"[:500]
                return _transcript(incident, actions, cause, agent)
        transcript = _transcript(incident, actions, COMPLETED, agent)
        graded = grade_transcript(transcript, resolve=lambda _: incident)
        _check_grade(served, graded)
        return transcript


def _transcript(
    incident: Incident, actions: Iterable[Action], status: str, agent: str
) -> Transcript:
    wires = tuple(map(action_to_wire, actions))
    return Transcript(
        incident.id, wires, status, agent, seal=incident.seal, world=incident.world_mark
    )


def _check_grade(served: Served, here: Grade) -> None:
    """Check that a server graded an episode as we do.

    For a sealed incident, the server sends the seal instead of the digest.

    Raises:
        LogTriageError: if the grades differ: the server runs another version, or has another key.
    """
    there = served.grade or {}
    name, mark = ("digest", here.digest) if here.seal is None else ("seal", here.seal)
    if (mark, here.score) != (there.get(name), there.get("score")):
        raise LogTriageError(
            f"{served.incident}: the server's grade is {there.get('score')}, ours {here.score}: "
            + (
                "it runs another version"
                if here.seal is None
                else f"it runs another version, or its key is not that of the seal {here.seal}"
            )
        )
