"""Scripted engineers: pure functions from the state of a shift to the next action.

The first three of :data:`PLAYERS` act on an incident as the observer policy does; they differ in
which incident they turn to. Only the oracle reads the truth.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import Action, HandOver, Wait
from logtriage.beliefs import Belief
from logtriage.beliefs import belief as belief_about
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.policies.observer import next_action
from logtriage.shift.shifts import WEIGHTS, Shift
from logtriage.shift.states import On, ShiftAction, ShiftState, begin, transition
from logtriage.shift.weighing import (
    RIPE,
    believed_action,
    believed_look,
    choose,
    true_action,
    true_look,
)
from logtriage.state import State, initial_state
from logtriage.wording import glance
from logtriage.world.runbook import severity_of

#: A function that decides on the next action.
Player = Callable[[ShiftState], ShiftAction]


@lru_cache(maxsize=1024)
def _belief_at(state: State, worth_share: float) -> Belief:
    """The belief about an incident, if a hand-over has this share of its full worth."""
    held, worth = belief_about(state), state.incident.worth_of_hand_over
    if worth_share == 1.0 or worth is None:
        return held
    stakes = attrs.evolve(held.standing.stakes, worth_of_hand_over=worth * worth_share)
    return attrs.evolve(held, standing=attrs.evolve(held.standing, stakes=stakes))


@lru_cache(maxsize=1024)
def _observer_action(state: State, worth_share: float) -> Action:
    return next_action(_belief_at(state, worth_share))


def _open(state: ShiftState) -> dict[str, State]:
    """The states of open incidents by system, with a hand-over at full worth."""
    return {arrival.system: inner for arrival, inner in state.arrived if inner.closing is None}


def belief(state: ShiftState) -> dict[str, Belief]:
    """The exact posterior of each open incident, by its system; incidents are independent."""
    return {system: _belief_at(inner, state.worth_share) for system, inner in _open(state).items()}


def first_come(state: ShiftState) -> ShiftAction:
    """Turns to the oldest open incident until it is closed."""
    return _on(state, lambda _: 0)


def worst_first(state: ShiftState) -> ShiftAction:
    """Turns to the open incident that looks worst at the edge; the oldest of equals."""
    # A glance is (alerts, panel of the edge).
    return _on(state, lambda inner: WEIGHTS[severity_of(glance(inner)[1], inner.incident.world)])


def cheapest_first(state: ShiftState) -> ShiftAction:
    """Turns to the open incident with the fewest actions in its best plan; the oldest of equals."""
    return _on(state, lambda inner: -len(_belief_at(inner, state.worth_share).best().actions))


def _on(state: ShiftState, priority: Callable[[State], float]) -> ShiftAction:
    """The observer's action on the open incident of highest priority, the oldest of equals."""
    states = _open(state)
    if not states:
        return Wait()
    system = max(states, key=lambda name: priority(states[name]))
    return On(system, _observer_action(states[system], state.worth_share))


def belief_first(state: ShiftState) -> ShiftAction:
    """Does what gains most by the beliefs; untouched incidents wait until tick :data:`RIPE`.

    If all open incidents are that young, none of them waits.
    """
    states = _open(state)
    ripe = {name: each for name, each in states.items() if each.tick >= RIPE or each.history}
    looks = [believed_look(name, each) for name, each in (ripe or states).items()]
    return choose(state, looks, believed_action)


def forward_all(state: ShiftState) -> ShiftAction:
    """Hands every incident over as soon as it can."""
    return next((On(system, HandOver()) for system in state.open), Wait())


def oracle(state: ShiftState) -> ShiftAction:
    """Does what gains most, knowing the truth of incidents that are open or arrive soon."""
    looks = [
        true_look(arrival.system, inner, arrival.weight)
        for arrival, inner in state.arrived
        if inner.closing is None
    ]
    coming = [
        true_look(arrival.system, initial_state(arrival.incident), arrival.weight)
        for arrival in state.shift.arrivals
        if state.tick < arrival.tick <= state.tick + state.shift.task.horizon
    ]
    return choose(state, looks, true_action, coming)


PLAYERS: Final = MappingProxyType(
    {
        player.__name__: player
        for player in (first_come, worst_first, cheapest_first, belief_first, forward_all, oracle)
    }
)


def play(shift: Shift, player: str | Player | Iterable[ShiftAction]) -> ShiftState:
    """The last state of a shift that a player, or a list of actions, plays.

    Raises:
        UnknownName: for a player that does not exist.
        InvalidInput: if ``player`` is not a player.
    """
    state = begin(shift)
    if isinstance(player, str):
        if player not in PLAYERS:
            raise UnknownName("player of shifts", player, PLAYERS)
        player = PLAYERS[player]
    value: object = player
    if not callable(value) and not isinstance(value, Iterable):
        raise InvalidInput(f"expected a player of shifts, or actions; got {kind_of(value)}")
    if callable(player):
        while not state.is_over:
            state = transition(state, player(state))
        return state
    for action in player:
        if state.is_over:
            break
        state = transition(state, action)
    return state
