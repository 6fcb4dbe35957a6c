"""The state of a shift, and how actions and time change it: pure, total on open shifts."""

from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage._lib.printable import masked
from logtriage.actions import Action, HandOver, Malformed, Wait, describe
from logtriage.dynamics import apply, tick
from logtriage.errors import EpisodeOver, InvalidInput, UnknownName, kind_of
from logtriage.shift.shifts import Arrival, Shift
from logtriage.state import Closing, State, initial_state

#: The duty manager remembers hand-overs for this many ticks. Each of them takes a share of what
#: the next one is worth, and that never falls below the least.
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
    """Write the notebook anew: what it held is gone, what is too long is cut."""

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

    ``history`` has the action of each passed tick, ``states`` the arrived incidents in order. Each
    counts ticks from its first alert. A handed-over incident keeps the worth it had then.
    """

    shift: Shift
    tick: int = 0
    history: tuple[ShiftAction, ...] = ()
    states: tuple[State, ...] = ()

    @cached_property
    def arrived(self) -> tuple[tuple[Arrival, State], ...]:
        """The incidents that have arrived, with how they stand."""
        return tuple(zip(self.shift.arrivals, self.states, strict=False))

    @cached_property
    def open(self) -> dict[str, State]:
        """The open incidents by their systems, with what a hand-over is worth now."""
        return {
            arrival.system: at_worth(state, self.worth_share)
            for arrival, state in self.arrived
            if state.closing is None
        }

    @property
    def is_over(self) -> bool:
        """Whether the shift is over: nothing is open, and nothing arrives any more."""
        quiet = self.tick >= self.shift.task.last_arrival
        return self.tick >= self.shift.task.ticks or (quiet and not self.open)

    @cached_property
    def hand_overs(self) -> int:
        """How many incidents were handed over in the last :data:`MEMORY` ticks."""
        closed = [
            arrival.tick + (state.closed_at or 0)
            for arrival, state in self.arrived
            if state.closing is Closing.HANDED_OVER
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
        """The system of the last action on an incident."""
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
    """An incident's state with what a hand-over is worth now."""
    return state if worth_share == 1.0 else _at_worth(state, worth_share)


def begin(shift: Shift) -> ShiftState:
    """The moment at which a shift begins; InvalidInput if ``shift`` is not a shift."""
    given: object = shift
    if not isinstance(given, Shift):
        how = f"; make_shift({given!r:.80}) draws it" if isinstance(given, str) else ""
        raise InvalidInput(f"expected a shift, got {kind_of(given)}{how}")
    return ShiftState(shift, states=_new(shift, 0))


def _new(shift: Shift, now: int) -> tuple[State, ...]:
    return tuple(
        [initial_state(arrival.incident) for arrival in shift.arrivals if arrival.tick == now]
    )


def transition(state: ShiftState, action: ShiftAction) -> ShiftState:
    """One tick of a shift: the action is taken, and time passes for every open incident.

    An action on a closed incident costs its tick and changes nothing.

    Raises:
        EpisodeOver: if the shift is over.
        UnknownName, InvalidInput: for a system without an incident, and as ``dynamics.apply``.
    """
    if state.is_over:
        raise EpisodeOver(f"the shift is over (tick {state.tick}); start a new one")
    given: object = action
    if not isinstance(given, ShiftAction):
        raise InvalidInput(
            f"expected On(system, action), Note, Wait or Malformed, got {given!r:.80}"
        )
    states = list(state.states)
    if isinstance(action, On):
        systems = [arrival.system for arrival, _ in state.arrived]
        if action.system not in systems:
            raise UnknownName("system", action.system, systems)
        place = systems.index(action.system)
        alone = states[place]
        if alone.closing is None:
            worth_share = state.worth_share if isinstance(action.action, HandOver) else 1.0
            states[place] = apply(at_worth(alone, worth_share), action.action)
    now = state.tick + 1
    passed = [
        tick(alone) if alone.closed_at is None or alone.tick < alone.closed_at else alone
        for alone in states
    ]
    return ShiftState(
        state.shift, now, (*state.history, action), (*passed, *_new(state.shift, now))
    )
