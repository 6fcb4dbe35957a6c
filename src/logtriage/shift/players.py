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
from logtriage.evidence import evidence, simulation_of
from logtriage.grading import TRIAGE_3
from logtriage.grading.priced import hand_over_worth
from logtriage.incident import Incident
from logtriage.observation import glance
from logtriage.policies import perfect_actions
from logtriage.policies.observer import best_of, next_action, requests_in_doubt
from logtriage.shift.shifts import WEIGHTS, Shift
from logtriage.shift.states import On, ShiftAction, ShiftState, begin, transition
from logtriage.state import State, initial_state
from logtriage.transition import transition as transition_alone
from logtriage.world.runbook import severity_of
from logtriage.world.schedule import Doings

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
#: No incident is given away that the duty manager takes for less.
WORTH_GIVING: Final = 0.6
#: While so many incidents are open, a tick is worth what it earns on the last of these; an incident
#: is given away if that gains so many points times weight, since later hand-overs lose by it.
BUSY: Final = 4
GAINED_BY_GIVING: Final = 1.0
#: With so many ticks left, an incident that is not the next is given away for a smaller gain over
#: what its own tick earns.
LATE: Final = 6
GAINED_LATE: Final = 0.25
#: Decides on the next action.
Player = Callable[[ShiftState], ShiftAction]


def _priced(held: Belief, price: float | None) -> Belief:
    """A belief about an incident with another price of a hand-over, on which no evidence depends.

    None where nobody takes it over.
    """
    stakes = attrs.evolve(held.standing.stakes, price_of_hand_over=price)
    return attrs.evolve(held, standing=attrs.evolve(held.standing, stakes=stakes))


@lru_cache(maxsize=1024)
def _held(state: State, fade: float) -> Belief:
    """The belief about an incident whose hand-over has so much of its price left."""
    held, price = belief_about(state), state.incident.price_of_hand_over
    return held if fade == 1.0 or price is None else _priced(held, price * fade)


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
    return _on(state, lambda alone: -_Look.at("", alone, state.fade).actions)


def belief_first(state: ShiftState) -> ShiftAction:
    """Spends each tick on the incident where it earns most, by the beliefs.

    That is what the best plan adds, times the expected weight, over the ticks that it takes; and
    more, the less time is left. A question must be worth more than a tick on another incident.
    An incident is handed over if that earns more than the ticks that it saves earn elsewhere.
    """
    looks = [_Look.at(system, alone, state.fade) for system, alone in _open(state).items()]
    if not looks:
        return Wait()
    first, *others = sorted(looks, key=lambda look: -look.earns * look.hurry)
    elsewhere = others[0].earns * others[0].hurry if others else 0.0
    for look in others:
        if look.is_given_away_late:
            return On(look.system, HandOver())
    if len(looks) >= BUSY:
        tick = sorted([look.earns for look in looks], reverse=True)[BUSY - 1]
        given = max(looks, key=lambda look: look.gained_by_giving(tick))
        if given.gained_by_giving(tick) > GAINED_BY_GIVING:
            return On(given.system, HandOver())
    return On(first.system, first.action(state.fade, elsewhere))


@attrs.frozen
class _Known:
    """What a plan depends on but for the tick: it changes as something new is shown or done."""

    incident: Incident
    doings: Doings
    severity: Severity | None
    root_causes: tuple[tuple[int, str], ...]
    readings: int
    state: State = attrs.field(eq=False)


@lru_cache(maxsize=1024)
def _planned(known: _Known) -> tuple[Plan, float, float]:
    """The best plan but to hand over, the expected weight, and what is earned without acting."""
    held = _priced(belief_about(known.state), None)
    planner = held.planner()
    weight = sum(WEIGHTS[Severity(name)] * share for name, share in held.severities.items())
    return planner.best(), weight, planner.closed(known.incident.horizon, Wait())


@attrs.frozen
class _Look:
    """An open incident as belief_first weighs it.

    ``plan`` is the best but to hand over, and ``worth`` that of a hand-over now. ``added`` is
    what is hoped for beyond what has been earned, in points times ``weight``, in so many ``ticks``.
    """

    system: str
    state: State
    plan: Plan
    weight: float
    worth: float
    added: float
    ticks: float

    @classmethod
    def at(cls, system: str, state: State, fade: float) -> "_Look":
        facts, incident = state.facts, state.incident
        readings = len(evidence(state))
        plan, weight, idle = _planned(
            _Known(incident, facts.doings, facts.severity, facts.root_causes, readings, state)
        )
        price, worth = incident.price_of_hand_over, 0.0
        if price is not None and not (facts.pages or facts.remedies):
            par = simulation_of(incident).setting.par
            worth = hand_over_worth(price * fade, state.tick + 1, incident.horizon, par)
        value, ticks = plan.value, float(len(plan.actions))
        if worth > value or (plan.dismiss and value < SURE_DISMISSAL):
            value = max(HOPED_FOR, value, worth)
            ticks = STILL_TO_ASK + AWAITED * max(0, FRESH - state.tick)
        added = weight * max(0.0, value - idle)
        return cls(system, state, plan, weight, worth, added, ticks)

    @property
    def actions(self) -> int:
        """How many actions it takes to close it."""
        return 1 if self.worth > self.plan.value else len(self.plan.actions)

    @property
    def earns(self) -> float:
        """What a tick on it earns, in points times weight."""
        return self.added / self.ticks

    @property
    def hurry(self) -> float:
        """How much more a tick counts, the less time is left."""
        return 1.0 + URGENCY * self.state.tick / self.state.incident.horizon

    def gained_by_giving(self, tick: float) -> float:
        """What a hand-over gains over the incident's own ticks, if each is worth so much."""
        if self.worth < WORTH_GIVING:
            return 0.0
        return self.weight * self.worth - max(0.0, self.added - tick * self.ticks) - tick

    @property
    def is_given_away_late(self) -> bool:
        left = self.state.incident.horizon - self.state.tick
        gained = self.weight * self.worth - self.earns * self.hurry
        return left <= LATE and self.worth >= WORTH_GIVING and gained >= GAINED_LATE

    def action(self, fade: float, elsewhere: float) -> Action:
        """The question that is worth most if a tick elsewhere earns less, else the plan's next."""
        held = _held(self.state, fade)
        rows = worths(held, requests_in_doubt(held))
        question = best_of(held, rows)
        if question is not None:
            promised = WORTH_OF_ASKING * self.weight * max(row.grade for row in rows)
            if elsewhere == 0.0 or promised >= elsewhere:
                return question
        plan = held.best()
        if plan.dismiss:
            return plan.actions[0]
        return min(plan.actions, key=lambda action: _ORDER.get(type(action), len(_ORDER)))


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


def uncontended(shift: Shift) -> ShiftState:
    """How all incidents end if the observer plays each alone, every hand-over at its full price.

    A reference, and no bound: it has one pair of hands for each incident, and it asks greedily.
    Nobody's ticks lead there, so that the history is empty.
    """
    ends = []
    for arrival in shift.arrivals:
        state = initial_state(arrival.incident)
        while not state.is_closed:
            state = transition_alone(state, _observed(state, 1.0))
        ends.append(state)
    return ShiftState(shift, shift.task.ticks, states=tuple(ends))
