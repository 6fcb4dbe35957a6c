"""State: an incident and the actions so far. Everything else is derived.

A state is its history; :class:`~logtriage.facts.Facts` are computed from it by one function.
"""

from enum import StrEnum
from functools import cached_property
from typing import Any, assert_never

import attrs

from logtriage.actions import Action
from logtriage.errors import InvalidInput, kind_of
from logtriage.facts import Facts, Play, facts_of
from logtriage.incident import Incident


class Closing(StrEnum):
    """Why an incident is closed. ``MISROUTED``: by a page to a team that is not accepted.

    Only ``OUT_OF_TIME`` is a truncation in the sense of RL.
    """

    RESOLVED = "resolved"
    IGNORED = "ignored"
    MISROUTED = "misrouted"
    OUT_OF_TIME = "out_of_time"
    HANDED_OVER = "handed_over"


@attrs.frozen(cache_hash=True)
class State:
    """One moment of an episode: immutable, hashable, comparable.

    Attributes:
        incident: the incident that is played.
        tick: ticks that have passed.
        history: every action so far, with the tick in which it was taken.
        closing: why the incident is closed; None while it is open.
    """

    incident: Incident
    tick: int = 0
    history: tuple[Play, ...] = ()
    closing: Closing | None = None
    #: A cache of the screens so far, a ``ScreenTrace`` (:mod:`logtriage.trace`).
    _trace: Any = attrs.field(default=None, init=False, eq=False, repr=False)

    @cached_property
    def facts(self) -> Facts:
        """The summary of the history."""
        trace = self._trace
        if trace is None:
            return facts_of(self.incident, self.history)
        return facts_of(self.incident, self.history[trace.plays :], trace.facts)

    def followed(self, tick: int, history: tuple[Play, ...], closing: Closing | None) -> "State":
        """A later state of the same episode; ``history`` begins with that of this state."""
        after = State(self.incident, tick, history, closing)
        if self._trace is not None:
            object.__setattr__(after, "_trace", self._trace)
        return after

    def __reduce__(self) -> tuple[object, ...]:
        return State, (self.incident, self.tick, self.history, self.closing)

    @property
    def is_closed(self) -> bool:
        """Whether the incident is closed."""
        return self.closing is not None

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions played, in order."""
        return tuple([action for _, action in self.history])

    @property
    def schedule(self) -> tuple[int, ...] | None:
        """The tick of each action, in joint play; None if every tick has one action."""
        ticks = tuple([when for when, _ in self.history])
        return None if ticks == tuple(range(len(ticks))) else ticks

    @property
    def closed_at(self) -> int | None:
        """Ticks used when the incident was closed; None while it is open."""
        match self.closing:
            case None:
                return None
            case Closing.OUT_OF_TIME:
                return self.incident.horizon
            case Closing.RESOLVED | Closing.IGNORED | Closing.MISROUTED | Closing.HANDED_OVER:
                return self.history[-1][0] + 1
        assert_never(self.closing)


def initial_state(incident: Incident) -> State:
    """The state of an incident before any action; InvalidInput for anything but an incident."""
    check_incident(incident)
    return State(incident)


def check_incident(value: object) -> None:
    """Raise InvalidInput for a value that is not an incident; the error says what to pass."""
    if not isinstance(value, Incident):
        how = f"; make_incident({value!r:.80}) draws it" if isinstance(value, str) else ""
        raise InvalidInput(f"expected an incident, got {kind_of(value)}{how}")


def check_state(value: object) -> None:
    """Raise InvalidInput for a value that is not a state; the error says what to pass."""
    if isinstance(value, State):
        return
    how = ""
    if isinstance(value, Incident):
        how = "; its first state is initial_state(incident)"
    elif isinstance(value, str):
        how = f"; its first state is initial_state(make_incident({value!r:.80}))"
    raise InvalidInput(f"expected a state, got {kind_of(value)}{how}")


def declared_in(state: State, known: Facts | None = None) -> tuple[str, ...] | None:
    """The services declared, in order; None if the incident may have one fault only.

    ``known`` are the facts that somebody knows, in place of all.
    """
    setting = state.incident.setting
    if setting is None or not setting.several:
        return None
    facts = state.facts if known is None else known
    return tuple([service for _, service in facts.root_causes])


def effective_declarations(state: State, known: Facts) -> tuple[str, ...]:
    """The services declared as root causes: only the first where one fault is possible."""
    several = declared_in(state, known)
    return tuple(service for _, service in known.root_causes[:1]) if several is None else several


def is_settled(first: str | None, every: tuple[str, ...] | None, service: str) -> bool:
    """Whether declaring a service as root cause can have no effect any more.

    With one possible fault (``every`` is None), the ``first`` declaration settles all services;
    else each declaration in ``every`` (:func:`declared_in`) settles its own.
    """
    return first is not None if every is None else service in every
