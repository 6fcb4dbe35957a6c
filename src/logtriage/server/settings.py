"""The settings of a server: where it listens, what it offers, and its limits."""

import ipaddress
from pathlib import Path
from typing import Final

import attrs

from logtriage._lib.seal import Seal
from logtriage.errors import InvalidInput
from logtriage.server.ledger import check_run
from logtriage.tasks import DRAWN_TASKS, as_world, benchmark_of, get_task, world_of_tasks
from logtriage.world.loading import WorldLike
from logtriage.world.model import World

#: The environment variable that holds the bearer token.
TOKEN_VARIABLE: Final = "LOGTRIAGE_TOKEN"
_SHORTEST_TOKEN: Final = 16
_HOW: Final = "try: python -c 'import secrets; print(secrets.token_hex(24))'"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens at ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names(names: object) -> tuple[str, ...]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InvalidInput(f"tasks: expected a list of task ids, got {names!r}")
    return tuple(names)


def _benchmark(settings: "Settings") -> tuple[str, ...]:
    # The names of the default tasks are known without reading the default world.
    world = settings._world
    return DRAWN_TASKS if world is None else benchmark_of(as_world(world))


@attrs.frozen
class Settings:
    """How to serve.

    Attributes:
        host: address to bind. Anything but loopback needs a ``token``.
        port: TCP port; 0 takes a free port.
        token: bearer token that every request but ``/health`` must carry.
        world: the world of all episodes: a :class:`~logtriage.world.model.World`, a name or a
            folder; by default the world of ``tasks``. Incidents of other worlds are refused.
        tasks: ids of the tasks from which an episode named by split and index alone is drawn; by
            default all tasks of the world with one fault.
        max_sessions: sessions at a time.
        idle_seconds: a session without a message for so long is closed.
        ping_seconds: a client that answers no WebSocket ping, or takes nothing of what it
            is sent, for so long is gone.
        max_waiting: connections at a time that are no session: those that have not said what they
            want, requests over HTTP, and sessions that have ended. A newer one takes the place of
            the oldest.
        request_seconds: a connection that is no session is cut after so long.
        seal: the key of split ``sealed``; without it, that split is not served.
        ledger: the file that counts attempts at sealed incidents. A server with a ``seal`` needs
            it.
        run: the name of the run, which has one attempt at each sealed incident. A restarted server
            continues it.

    Raises:
        InvalidInput: naming the field and what was expected.
        UnknownName: for a world or a task that does not exist.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = attrs.field(default=None, repr=False)
    _world: WorldLike | None = None
    tasks: tuple[str, ...] = attrs.field(
        default=attrs.Factory(_benchmark, takes_self=True), converter=_names
    )
    max_sessions: int = 256
    idle_seconds: float = 900.0
    ping_seconds: float = 20.0
    max_waiting: int = 128
    request_seconds: float = 10.0
    seal: Seal | None = None
    ledger: Path | None = None
    run: str = "default"

    def __attrs_post_init__(self) -> None:
        if not self.tasks:
            raise InvalidInput("tasks: a server needs at least one task")
        if self._world is not None or self.tasks != DRAWN_TASKS:  # the default tasks are sound
            world = world_of_tasks(self.tasks, self._world)
            object.__setattr__(self, "_world", world)
            ids = dict.fromkeys(get_task(name, world).id for name in self.tasks)
            object.__setattr__(self, "tasks", tuple(ids))
        if not 0 <= self.port < 65536:
            raise InvalidInput(f"port: expected a number from 0 to 65535, got {self.port}")
        for name in ("max_sessions", "max_waiting"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name}: expected at least 1, got {getattr(self, name)}")
        check_run(self.run)
        if self.seal is not None and self.ledger is None:
            raise InvalidInput(
                "ledger: a server with the key of sealed incidents counts the attempts at them in "
                "a file; name it (--ledger FILE)"
            )
        if self.seal is None and self.ledger is not None:
            raise InvalidInput(
                "ledger: it counts attempts at sealed incidents, and this server has no key"
            )
        for name in ("idle_seconds", "ping_seconds", "request_seconds"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name}: expected more than 0, got {getattr(self, name)}")
        if self.token is not None and (
            len(self.token) < _SHORTEST_TOKEN or not (self.token.isascii() and self.token.isalnum())
        ):
            raise InvalidInput(
                f"token: expected at least {_SHORTEST_TOKEN} letters and digits ({_HOW})"
            )
        if self.token is None and not is_loopback(self.host):
            raise InvalidInput(
                f"host: {self.host!r} can be reached from other machines, so a token is needed; "
                f"set {TOKEN_VARIABLE} ({_HOW})"
            )

    @property
    def world(self) -> World:
        """The world of all episodes."""
        return as_world(self._world)
