"""The state of a shift, and how actions and time change it; pure functions."""

from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage._lib.printable import masked
from logtriage.actions import Action, HandOver, Malformed, Wait, describe
from logtriage.dynamics import apply, tick
from logtriage.errors import EpisodeOver, InvalidInput, UnknownName, kind_of
from logtriage.shift.shifts import Arrival, Shift
from logtriage.state import Closing, State, initial_state

#: Each hand-over of the last ``MEMORY`` ticks takes ``SHARE`` off what the next hand-over is worth,
#: down to ``LEAST`` of its full worth.
MEMORY: Final = 50
SHARE: Final = 0.2
LEAST: Final = 0.2
#: The notebook holds this many characters.
MAX_NOTE: Final = 500


@attrs.frozen
class On:
    """An action on the incident of one system."""

    system: str
    action: Action


def _cut_note(text: str) -> str:
    return masked(text)[:MAX_NOTE]


@attrs.frozen
class Note:
    """Replace what the notebook holds; a text that is too long is cut."""

    text: str = attrs.field(converter=_cut_note)


#: What the engineer does in a tick.
ShiftAction = On | Note | Wait | Malformed


def described(action: ShiftAction) -> str:
    """An action in one short line, for people."""
    match action:
        case On(system, on_it):
            return f"{system}: {describe(on_it)}"
        case Note():
            return "note"
        case Wait() | Malformed():
            return describe(action)


@attrs.frozen(cache_hash=True)
class ShiftState:
    """One moment of a shift: immutable, hashable, comparable.

    ``history`` has the action of each passed tick, ``states`` the states of the arrived incidents
    in order, each with ticks from its first alert. A handed-over incident keeps the worth that the
    hand-over had.
    """

    shift: Shift
    tick: int = 0
    history: tuple[ShiftAction, ...] = ()
    states: tuple[State, ...] = ()

    @cached_property
    def arrived(self) -> tuple[tuple[Arrival, State], ...]:
        """(arrival, state) of each incident that has arrived."""
        return tuple(zip(self.shift.arrivals, self.states, strict=False))

    @cached_property
    def open(self) -> dict[str, State]:
        """The states of open incidents by system, with what a hand-over is worth now."""
        return {
            arrival.system: at_worth(state, self.worth_share)
            for arrival, state in self.arrived
            if state.closing is None
        }

    @property
    def is_over(self) -> bool:
        """Whether the shift is over: out of ticks, or nothing is open and nothing can arrive."""
        quiet = self.tick >= self.shift.task.last_arrival
        return self.tick >= self.shift.task.ticks or (quiet and not self.open)

    @cached_property
    def hand_overs(self) -> int:
        """How many incidents were handed over in the last :data:`MEMORY` ticks."""
        closed = [
            arrival.tick + state.closed_at
            for arrival, state in self.arrived
            if state.closing is Closing.HANDED_OVER and state.closed_at is not None
        ]
        return sum(when > self.tick - MEMORY for when in closed)

    @property
    def worth_share(self) -> float:
        """The share of its full worth that a hand-over earns now."""
        return max(LEAST, 1.0 - SHARE * self.hand_overs)

    @property
    def notes(self) -> str:
        """What the notebook holds."""
        return next(
            (action.text for action in reversed(self.history) if isinstance(action, Note)), ""
        )

    @property
    def touched(self) -> str | None:
        """The system of the last action on an incident; None if there was none."""
        return next(
            (action.system for action in reversed(self.history) if isinstance(action, On)), None
        )


@lru_cache(maxsize=4096)
def _at_worth(state: State, worth_share: float) -> State:
    worth = state.incident.worth_of_hand_over
    if worth is None:
        raise InvalidInput(
            f"{state.incident.id}: an incident of a shift needs a worth_of_hand_over"
        )
    incident = attrs.evolve(state.incident, worth_of_hand_over=worth * worth_share)
    return attrs.evolve(state, incident=incident)


def at_worth(state: State, worth_share: float) -> State:
    """An incident's state in which a hand-over has this share of its full worth."""
    return state if worth_share == 1.0 else _at_worth(state, worth_share)


def begin(shift: Shift) -> ShiftState:
    """The state at the beginning of a shift; InvalidInput if ``shift`` is not a shift."""
    value: object = shift
    if not isinstance(value, Shift):
        how = f"; make_shift({value!r:.80}) draws it" if isinstance(value, str) else ""
        raise InvalidInput(f"expected a shift, got {kind_of(value)}{how}")
    return ShiftState(shift, states=_new(shift, 0))


def _new(shift: Shift, now: int) -> tuple[State, ...]:
    return tuple(
        [initial_state(arrival.incident) for arrival in shift.arrivals if arrival.tick == now]
    )


def transition(state: ShiftState, action: ShiftAction) -> ShiftState:
    """The state after one tick: the action is taken, time passes, and new incidents arrive.

    Time passes for every incident that was open. An action on a closed incident costs its tick and
    changes nothing.

    Raises:
        EpisodeOver: if the shift is over.
        UnknownName, InvalidInput: for a system whose incident has not arrived, for anything but a
            :data:`ShiftAction`, and as :func:`logtriage.dynamics.apply`.
    """
    if state.is_over:
        raise EpisodeOver(f"the shift is over (tick {state.tick}); start a new one")
    value: object = action
    if not isinstance(value, ShiftAction):
        raise InvalidInput(
            f"expected On(system, action), Note, Wait or Malformed, got {value!r:.80}"
        )
    states = list(state.states)
    if isinstance(action, On):
        systems = [arrival.system for arrival, _ in state.arrived]
        if action.system not in systems:
            raise UnknownName("system", action.system, systems)
        place = systems.index(action.system)
        inner = states[place]
        if inner.closing is None:
            worth_share = state.worth_share if isinstance(action.action, HandOver) else 1.0
            states[place] = apply(at_worth(inner, worth_share), action.action)
    now = state.tick + 1
    passed = [  # an incident that this action closed still gets its tick
        tick(inner) if inner.closed_at is None or inner.tick < inner.closed_at else inner
        for inner in states
    ]
    return ShiftState(
        state.shift, now, (*state.history, action), (*passed, *_new(state.shift, now))
    )
