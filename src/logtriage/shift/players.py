"""Scripted engineers: pure functions from the state of a shift to the next action.

All but two decide what to do about an incident as the observer does; they differ in which
incident they turn to. None but the oracle reads the truth.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.actions import (
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Remediate,
    Resolve,
    Severity,
    Wait,
)
from logtriage.belief import Belief
from logtriage.belief import belief as belief_about
from logtriage.belief.cases import Plan
from logtriage.belief.questions import worths
from logtriage.errors import UnknownName
from logtriage.grading import TRIAGE_3
from logtriage.grading.grade import score as score_incident
from logtriage.observation import glance
from logtriage.policies import perfect_actions
from logtriage.policies.observer import best_of, next_action, requests_in_doubt
from logtriage.shift.shifts import WEIGHTS, Shift
from logtriage.shift.states import On, ShiftAction, ShiftState, begin, transition
from logtriage.state import State, initial_state
from logtriage.transition import transition as transition_alone
from logtriage.world.runbook import severity_of

#: What an action of the perfect list earns, by criteria; in this order, the page comes before the
#: fix, and the root cause too.
_WEIGHT: Final = {row.name: row.weight for row in TRIAGE_3.criteria}
_EARNS: Final = {
    Escalate: _WEIGHT["escalation"],
    IdentifyRootCause: _WEIGHT["root_cause"],
    Remediate: _WEIGHT["remediation"],
    ClassifySeverity: _WEIGHT["severity"],
    Resolve: _WEIGHT["closure"],
}
#: How much more an action counts in the last tick of an incident.
HURRY: Final = 0.3
#: The oracle gives a fault away if that loses at most so many points times weight.
SPARED: Final = 0.2
#: In which order belief_first carries out a plan.
_ORDER: Final = {Escalate: 0, IdentifyRootCause: 1, Remediate: 2, ClassifySeverity: 3}
#: belief_first: how much more a tick counts on an incident whose time is up than on a fresh one.
URGENCY: Final = 4.0
#: What an incident is worth that is not understood yet, and the ticks that this takes.
HOPED_FOR: Final = 0.8
STILL_TO_ASK: Final = 7
#: Up to this tick of an incident its edge and alerts still tell much by themselves; each tick
#: that is missing counts as so much of a tick more to ask.
FRESH: Final = 6
AWAITED: Final = 0.7
SURE_DISMISSAL: Final = 0.7
#: A question is asked if so many times its worth is more than a tick on any other incident earns.
WORTH_OF_ASKING: Final = 4.0
#: With so many ticks left, an incident that is not the next is handed over, if its price is at
#: least so high, and this gains so many points times weight over what its own tick earns.
LATE: Final = 6
WORTH_GIVING: Final = 0.6
GAINED_BY_GIVING: Final = 0.25
#: Decides on the next action.
Player = Callable[[ShiftState], ShiftAction]


@lru_cache(maxsize=1024)
def _held(state: State, fade: float) -> Belief:
    """The belief about an incident whose hand-over has so much of its price left."""
    held = belief_about(state)
    price = state.incident.price_of_hand_over
    if fade == 1.0 or price is None:
        return held
    # No evidence depends on the price: a state of another price would draw it all again.
    stakes = attrs.evolve(held.standing.stakes, price_of_hand_over=price * fade)
    return attrs.evolve(held, standing=attrs.evolve(held.standing, stakes=stakes))


@lru_cache(maxsize=1024)
def _planned(state: State, fade: float) -> tuple[Belief, Plan]:
    held = _held(state, fade)
    return held, held.best()


@lru_cache(maxsize=1024)
def _observed(state: State, fade: float) -> Action:
    return next_action(_held(state, fade))


def _open(state: ShiftState) -> dict[str, State]:
    """The open incidents by their systems, with their first prices."""
    return {one.system: alone for one, alone in state.arrived if alone.closing is None}


def belief(state: ShiftState) -> dict[str, Belief]:
    """The exact posterior of each open incident, by its system.

    Incidents are drawn independently, and evidence names its system: so the posterior of the
    shift is their product.
    """
    return {system: _held(one, state.fade) for system, one in _open(state).items()}


def first_come(state: ShiftState) -> ShiftAction:
    """Turns to the oldest open incident until it is closed."""
    return _on(state, lambda _: 0)


def worst_first(state: ShiftState) -> ShiftAction:
    """Turns to the incident that looks worst at the edge; the oldest of equals."""
    return _on(state, lambda one: WEIGHTS[severity_of(glance(one)[1], one.incident.world)])


def cheapest_first(state: ShiftState) -> ShiftAction:
    """Turns to the incident that takes the fewest actions to close; the oldest of equals."""
    return _on(state, lambda one: -len(_planned(one, state.fade)[1].actions))


def belief_first(state: ShiftState) -> ShiftAction:
    """Spends each tick on the incident where it earns most, by the beliefs.

    That is what the best plan adds, times the expected weight, over the ticks that it takes; and
    more, the less time is left. A question must be worth more than a tick on another incident. What
    must wait although its time runs out is handed over, if that is still worth something.
    """
    looks = [_Look.at(system, one, state.fade) for system, one in _open(state).items()]
    if not looks:
        return Wait()
    first, *others = sorted(looks, key=lambda look: -look.earns)
    for look in others:
        if look.is_given_away:
            return On(look.system, HandOver())
    return On(first.system, first.action(others[0].earns if others else 0.0))


@attrs.frozen
class _Look:
    """An open incident with its belief, its best plan, its expected weight, and what a tick earns.

    ``earns`` is in points times weight.
    """

    system: str
    state: State
    held: Belief
    plan: Plan
    weight: float
    earns: float

    @classmethod
    def at(cls, system: str, state: State, fade: float) -> "_Look":
        held, plan = _planned(state, fade)
        weight = sum(WEIGHTS[Severity(name)] * p for name, p in held.severities.items())
        horizon = state.incident.horizon
        value, ticks = plan.value, float(len(plan.actions))
        if plan.hand_over or (plan.dismiss and value < SURE_DISMISSAL):
            value = max(HOPED_FOR, value)
            ticks = STILL_TO_ASK + AWAITED * max(0, FRESH - state.tick)
        added = max(0.0, value - held.planner().closed(horizon, Wait()))
        hurry = 1.0 + URGENCY * state.tick / horizon
        return cls(system, state, held, plan, weight, weight * added / ticks * hurry)

    @property
    def is_given_away(self) -> bool:
        incident, facts = self.state.incident, self.state.facts
        worth = self.held.standing.stakes.price_of_hand_over or 0.0
        if facts.pages or facts.remedies or incident.horizon - self.state.tick > LATE:
            return False
        return worth >= WORTH_GIVING and self.weight * worth - self.earns >= GAINED_BY_GIVING

    def action(self, elsewhere: float) -> Action:
        """The question that is worth most if a tick elsewhere earns less, else the plan's next."""
        rows = worths(self.held, requests_in_doubt(self.held))
        question = best_of(self.held, rows)
        if question is not None:
            promised = WORTH_OF_ASKING * self.weight * max(row.grade for row in rows)
            if elsewhere == 0.0 or promised >= elsewhere:
                return question
        if self.plan.dismiss:
            return self.plan.actions[0]
        return min(self.plan.actions, key=lambda one: _ORDER.get(type(one), len(_ORDER)))


def _on(state: ShiftState, worth: Callable[[State], float]) -> ShiftAction:
    """What the observer does on the incident of the highest worth."""
    alone = _open(state)
    if not alone:
        return Wait()
    system = max(alone, key=lambda one: worth(alone[one]))
    return On(system, _observed(alone[system], state.fade))


def forward_all(state: ShiftState) -> ShiftAction:
    """Hands every incident over as soon as it can."""
    return next((On(system, HandOver()) for system in state.open), Wait())


def oracle(state: ShiftState) -> ShiftAction:
    """Knows the truth: takes the action that earns most next, page, root cause and fix first.

    While several incidents are open it gives away, for one tick, a fault that is worth hardly more.
    """
    rows = []
    for arrival, one in state.arrived:
        if one.closing is None:
            left = one.incident.horizon - one.tick
            worth = (one.incident.price_of_hand_over or 0.0) * state.fade
            untouched = not (one.incident.truth.benign or one.facts.pages)
            if len(state.open) > 1 and untouched and arrival.weight * (1.0 - worth) <= SPARED:
                return On(arrival.system, HandOver())
            action, earns = _most_earning(one, left)
            rows.append((arrival.weight * earns * (1.0 + HURRY / left), On(arrival.system, action)))
    return max(rows, key=lambda row: row[0])[1] if rows else Wait()


def _most_earning(one: State, left: int) -> tuple[Action, float]:
    """The next action of the perfect list by what it earns, and what a tick of it does."""
    plan = [action for action in perfect_actions(one.incident) if action not in one.actions]
    if one.incident.truth.benign:
        plan = plan if len(plan) <= left else plan[-1:]
        return plan[0], 1.0 / len(plan)
    action = max(plan, key=lambda action: _EARNS[type(action)])
    return action, _EARNS[type(action)]


PLAYERS: Final = MappingProxyType(
    {
        one.__name__: one
        for one in (first_come, worst_first, cheapest_first, belief_first, forward_all, oracle)
    }
)


def play(shift: Shift, player: str | Player | Iterable[ShiftAction]) -> ShiftState:
    """The last state of a shift that a player, or a list of actions, plays.

    A list that ends early leaves the shift open; actions after its end are not played.

    Raises:
        UnknownName: for a player that does not exist.
        InvalidInput: for what is no player.
    """
    state = begin(shift)
    if isinstance(player, str):
        if player not in PLAYERS:
            raise UnknownName("player of shifts", player, PLAYERS)
        player = PLAYERS[player]
    if callable(player):
        while not state.is_over:
            state = transition(state, player(state))
        return state
    for action in player:
        if state.is_over:
            break
        state = transition(state, action)
    return state


def uncontended(shift: Shift) -> float:
    """What the observer earns that plays every incident alone, at its full price.

    A reference, and no bound: it has one pair of hands for each incident, and it asks greedily.
    """
    earned = 0.0
    for one in shift.arrivals:
        state = initial_state(one.incident)
        while not state.is_closed:
            state = transition_alone(state, _observed(state, 1.0))
        earned += one.weight * score_incident(state)
    return earned / sum(one.weight for one in shift.arrivals)
