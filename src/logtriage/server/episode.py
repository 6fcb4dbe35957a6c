"""An episode on a server, independent of the protocol."""

from hashlib import blake2b
from typing import Any, Final
from uuid import uuid4
from weakref import WeakSet

from logtriage._lib.seal import Seal
from logtriage.actions import Action, Malformed
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import is_sealed
from logtriage.errors import InvalidInput, LogTriageError, SealError
from logtriage.grading import score
from logtriage.observation import observe
from logtriage.parsing import actions_from_wire
from logtriage.rendering import render_observation, system_prompt
from logtriage.server.ledger import Ledger
from logtriage.server.public import public_grade
from logtriage.server.wire import view_of
from logtriage.state import State, initial_state
from logtriage.transcript import transcript_of
from logtriage.transition import play_parsed, transition
from logtriage.world.model import World

#: The beginning of a name that hides its incident.
HIDDEN: Final = "hidden-"


class ShuttingDown(LogTriageError):
    """The server only lets running episodes finish, and begins no other."""


class Gate:
    """Knows the episodes that run, and lets no new one begin while the server drains.

    Attributes:
        draining: whether no new episode begins.
        ledger: where attempts at sealed incidents are counted; None without a key.
    """

    def __init__(self) -> None:
        self.draining = False
        self.ledger: Ledger | None = None
        self._running: WeakSet[object] = WeakSet()

    @property
    def running(self) -> int:
        """How many episodes are open."""
        return len(self._running)

    def admit(self) -> None:
        """Refuse a new episode while draining.

        Raises:
            ShuttingDown: with what to do about it.
        """
        if self.draining:
            raise ShuttingDown("the server is shutting down and begins no new episode; try again")

    def begin(self, episode: object) -> None:
        """Count an episode that is open."""
        self._running.add(episode)

    def end(self, episode: object) -> None:
        """Forget an episode that is closed or left; safe to call twice."""
        self._running.discard(episode)


class Episode:
    """The state of one episode, with what its last step earned.

    Attributes:
        id: the client's name for it, or a name made here.
        name: what the incident is called in all that is told of the episode. An id says
            which incident it is, and so its truth to whoever has this package: unless
            ``show_id`` is set, it is a name made of the episode's id alone: who replays an
            episode under the same id reads the same.

    Raises:
        ShuttingDown: if the server begins no new episode.
    """

    def __init__(
        self,
        incident_id: str,
        gate: Gate,
        episode_id: str | None = None,
        *,
        show_id: bool = False,
        seal: Seal | None = None,
        world: World | None = None,
    ) -> None:
        gate.admit()
        self._gate = gate
        self.id = uuid4().hex if episode_id is None else episode_id
        self.name = incident_id if show_id else hidden_name(self.id)
        self.state: State = initial_state(make_incident(incident_id, seal=seal, world=world))
        self.score: float = score(self.state)
        self.reward: float | None = None
        if self.state.incident.seal is not None:
            self._ledger.begin(
                incident_id, self.state.incident.seal, self.state.incident.world_mark
            )
        gate.begin(self)

    @property
    def _ledger(self) -> Ledger:
        if self._gate.ledger is None:
            raise SealError("sealed incidents are not played without a ledger of the attempts")
        return self._gate.ledger

    def step(self, action: Action) -> None:
        """Play an action; ``reward`` is then the difference of the two grades.

        Raises:
            EpisodeOver: if the episode is closed.
            SealError: if the end of a sealed episode cannot be written down; it then stays open.
        """
        state = transition(self.state, action)
        if state.is_closed and state.incident.seal is not None:
            self._ledger.end(transcript_of(state))
        self.state = state
        after = score(state)
        self.reward, self.score = after - self.score, after
        if state.is_closed:
            self._gate.end(self)

    def leave(self) -> None:
        """Leave the episode, so that a draining server need not wait."""
        self._gate.end(self)

    def grade(self) -> dict[str, Any]:
        """The part of the grade that may leave the server now, as JSON data."""
        return public_grade(self.state, name=self.name)

    def seen(self, *, with_view: bool = False, opens: bool = False) -> dict[str, Any]:
        """What a client may see now: the fields of :class:`~logtriage.server.wire.Served`.

        ``reward`` and ``done`` are not among them: the protocol keeps them apart. When it ``opens``
        an episode, a client also gets the rules and what never changes.
        """
        state, incident = self.state, self.state.incident
        observation = observe(state)
        last = state.history[-1][1] if state.history else None
        first = opens or last is None
        return {
            "incident": self.name,
            "tick": state.tick,
            "horizon": incident.horizon,
            "screen": render_observation(observation),
            "closing": None if state.closing is None else str(state.closing),
            "prompt": system_prompt(incident) if first else None,
            "error": last.reason if isinstance(last, Malformed) else None,
            "grade": self.grade() if state.is_closed else None,
            "view": view_of(observation, first=first) if with_view else None,
        }


def hidden_name(episode_id: str) -> str:
    """The name that hides an incident, made from the episode's id alone."""
    digest = blake2b(episode_id.encode("utf-8", "surrogatepass"), digest_size=8)
    return f"{HIDDEN}{digest.hexdigest()}"


def grade_listed(incident_id: str, actions: Any, world: World | None = None) -> dict[str, Any]:
    """The public grade of a list of wire actions, as JSON data.

    Raises:
        UnknownName, InvalidInput: naming the field and what was expected.
        SealError: for a sealed incident, whose truth is not to be had for a list.
    """
    if is_sealed(incident_id):
        raise SealError(
            f"{incident_id}: a sealed incident is graded in the session that plays it, and for "
            "no list of actions"
        )
    incident = make_incident(incident_id, world=world)
    if not isinstance(actions, list):
        raise InvalidInput(f"actions: expected a list of actions, got {type(actions).__name__}")
    for number, action in enumerate(actions):
        if not isinstance(action, dict):
            raise InvalidInput(
                f"actions[{number}]: expected an object, got {type(action).__name__}"
            )
    state, left = play_parsed(incident, actions_from_wire(actions, incident.topology))
    return public_grade(state, unplayed=left)
