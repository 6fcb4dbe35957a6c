"""What can be gained on each open incident, by a belief or by the truth, and what a tick costs.

Gains are points of an incident's grade times the weight of the incident in the shift's grade.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import ceil
from typing import Final

import attrs
import numpy as np

from logtriage.actions import (
    SEVERITIES,
    Action,
    ClassifySeverity,
    Escalate,
    HandOver,
    IdentifyRootCause,
    Ignore,
    Remediate,
    Resolve,
    Wait,
)
from logtriage.beliefs import Belief, belief
from logtriage.beliefs.cases import Plan
from logtriage.beliefs.ledgers import UNIT
from logtriage.beliefs.plans import Planner
from logtriage.beliefs.questions import Asked
from logtriage.evidence import simulation_of
from logtriage.grading import TRIAGE_3
from logtriage.grading.paging import hand_over_worth
from logtriage.policies import perfect_actions
from logtriage.policies.observer import best_of, requests_in_doubt
from logtriage.shift.shifts import WEIGHTS
from logtriage.shift.states import MEMORY, On, ShiftAction, ShiftState
from logtriage.state import State

#: The price of a tick is set so that the work worth its price fits into this many ticks.
WINDOW: Final = 20
#: Before this tick of an incident, its edge and alerts tell much without any question.
RIPE: Final = 8
#: A question, with those that it leads to, tells this many times the bits that it tells alone.
LEADS_TO: Final = 2.0
_WEIGHT: Final = {row.name: row.weight for row in TRIAGE_3.criteria}
#: What each action on a fault earns, in the order in which they are taken: the page before the fix.
_EARNS: Final = {
    Escalate: _WEIGHT["escalation"],
    IdentifyRootCause: _WEIGHT["root_cause"],
    Remediate: _WEIGHT["remediation"],
    ClassifySeverity: _WEIGHT["severity"],
    Resolve: _WEIGHT["closure"],
}
_ORDER: Final = list(_EARNS)
#: What a dismissal earns without the severity.
_DISMISSED: Final = sum(row.weight for row in TRIAGE_3.benign if row.name != "severity")


@attrs.frozen
class WorkOption:
    """A way to work on an incident, with its gain and ticks; ``asks``: it starts with questions."""

    gain: float
    ticks: float
    asks: bool = False


LEAVE: Final = WorkOption(gain=0.0, ticks=0.0)


@attrs.frozen
class Look:
    """An open incident as a player weighs it; a hand-over at full worth gains ``hand_over``."""

    system: str
    state: State
    weight: float
    options: tuple[WorkOption, ...]
    hand_over: float

    @property
    def left(self) -> int:
        """The ticks left until the horizon of the incident."""
        return self.state.incident.horizon - self.state.tick

    @property
    def rate(self) -> float:
        """The most that an option gains in a tick."""
        return max((option.gain / option.ticks for option in self.options), default=0.0)

    def best(self, price: float) -> WorkOption:
        """The option that gains most if a tick costs ``price``; LEAVE if none is worth it."""
        return max((LEAVE, *self.options), key=lambda option: option.gain - price * option.ticks)

    def surplus(self, price: float) -> float:
        """The gain of the best option minus the price of its ticks."""
        best = self.best(price)
        return best.gain - price * best.ticks


def _look(
    system: str, state: State, weight: float, options: Iterable[WorkOption], *, closes: bool = True
) -> Look:
    """A look at an incident, with the options that fit into the ticks left.

    ``closes`` False leaves only options that start with questions, and no hand-over.
    """
    incident, facts, hand_over = state.incident, state.facts, 0.0
    worth, left = incident.worth_of_hand_over, incident.horizon - state.tick
    if closes and worth is not None and not (facts.pages or facts.remedies):
        par = simulation_of(incident).setting.par
        hand_over = weight * hand_over_worth(worth, state.tick + 1, incident.horizon, par)
    fitting = [option for option in options if option.ticks <= left and (closes or option.asks)]
    return Look(system, state, weight, tuple(fitting), hand_over)


def _in_turn(gain: float, kinds: Iterable[type[Action]], before: float = 0.0) -> list[WorkOption]:
    """Options: the best 1, 2, ... of these kinds of action, after ``before`` ticks of questions.

    All kinds together earn ``gain``.
    """
    earned = np.cumsum(sorted((_EARNS[kind] for kind in kinds), reverse=True))
    shares = (earned / earned[-1]).tolist()
    asks = before > 0
    return [WorkOption(gain * share, before + n, asks=asks) for n, share in enumerate(shares, 1)]


def _dismissals(gain: float, plan: Sequence[Action], state: State) -> list[WorkOption]:
    """Options: dismiss at once, or declare the severity first, if the plan does."""
    share = 1.0 if state.facts.severity is not None else _DISMISSED
    return [WorkOption(gain * share, ticks=1), WorkOption(gain, ticks=2)][: len(plan)]


def _next(plan: Sequence[Action], option: WorkOption) -> Action:
    """The action of the plan that an option takes first."""
    if isinstance(plan[-1], Ignore):
        return plan[-1] if option.ticks == 1 else plan[0]
    return min(plan, key=lambda action: _ORDER.index(type(action)))


def price_of_tick(looks: Sequence[Look], window: int = WINDOW) -> float:
    """The least price of a tick at which the best options fit into ``window`` ticks together."""

    def fits(price: float) -> bool:
        return sum(look.best(price).ticks for look in looks) <= window

    low, high = 0.0, max(look.rate for look in looks)
    if fits(low):
        return low
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def choose(
    state: ShiftState,
    looks: Sequence[Look],
    action: Callable[[Look, float], Action],
    coming: Sequence[Look] = (),
) -> ShiftAction:
    """The player's choice in this tick; ``action`` gives the next action on a look at a price.

    ``coming`` are looks at incidents of the next horizon, if the player knows them; they raise the
    price of a tick. An incident is handed over if that gains more than work on it.
    """
    if not looks:
        return Wait()
    window = WINDOW + state.shift.task.horizon if coming else WINDOW
    price = price_of_tick((*looks, *coming), window)
    handed, gain = _best_hand_over(state, looks, price)
    if gain > 0:
        return On(handed.system, HandOver())
    urgent = _most_urgent(looks, price)
    return On(urgent.system, action(urgent, price))


def _best_hand_over(state: ShiftState, looks: Sequence[Look], price: float) -> tuple[Look, float]:
    """The look whose hand-over gains most over work on it, and its gain.

    A hand-over takes worth from those of the next :data:`MEMORY` ticks: ``n`` of them earn
    ``n * (1 - SHARE * n)`` of their worth. They earn most at ``n = 1 / (2 * SHARE)``, where each
    takes half of a worth from the others; it takes less if the shift ends sooner.
    """
    left = state.shift.task.ticks - state.tick
    lost = min(1.0, left / MEMORY) / 2 * sum(look.hand_over for look in looks) / len(looks)

    def gain(look: Look) -> float:
        return look.hand_over * state.worth_share - lost - price - look.surplus(price)

    best = max(looks, key=gain)
    return best, gain(best)


def _most_urgent(looks: Sequence[Look], price: float) -> Look:
    """The look with the highest weight per tick, unless others would run out of time meanwhile.

    If no option is worth its ticks, the look with the highest rate.
    """
    worth_it = [look for look in looks if look.surplus(price) > 0]
    if not worth_it:
        return max(looks, key=lambda look: look.rate)
    first = max(worth_it, key=lambda look: look.weight / look.best(price).ticks)
    meanwhile = first.best(price).ticks
    late = [look for look in worth_it if look.left < meanwhile + look.best(price).ticks]
    return min((first, *late), key=lambda look: look.left)


def true_look(system: str, state: State, weight: int) -> Look:
    """A look at an open incident by a player who knows the truth."""
    plan = _undone(state)
    if state.incident.truth.benign:
        return _look(system, state, weight, _dismissals(weight, plan, state))
    gain = weight * sum(_EARNS[type(action)] for action in plan)
    return _look(system, state, weight, _in_turn(gain, map(type, plan)))


def true_action(look: Look, price: float) -> Action:
    """The action that begins the look's best option at this price, by the truth."""
    return _next(_undone(look.state), look.best(price))


def _undone(state: State) -> list[Action]:
    """The actions of the perfect plan that are not taken; never empty while an incident is open."""
    return [action for action in perfect_actions(state.incident) if action not in state.actions]


@attrs.frozen(eq=False)
class _Stand:
    """What a belief expects of an incident, whose expected weight is ``weight``.

    Values are expected grades: of the best ``plan`` without a hand-over, of doing nothing
    (``idle``), and of the best plan once ``bits`` of doubt are gone (``knowing``).
    """

    belief: Belief
    weight: float
    plan: Plan
    idle: float
    knowing: float
    bits: float


def weighted(state: State) -> tuple[Belief, float]:
    """(belief, expected weight) of an incident, as if nobody took it over.

    Each hypothesis is weighed by the expected weight of the incident under it.
    """
    held = belief(state)
    shares = held.posterior.severities.astype(np.float64)
    expected = shares @ [WEIGHTS[severity] for severity in SEVERITIES] / shares.sum(axis=1)
    weights = (held.posterior.weights * expected).astype(np.int64)
    posterior = attrs.evolve(held.posterior, weights=weights)
    stakes = attrs.evolve(held.standing.stakes, worth_of_hand_over=None)
    standing = attrs.evolve(held.standing, stakes=stakes)
    counted = attrs.evolve(held, posterior=posterior, standing=standing)
    return counted, counted.total / held.total


@lru_cache(maxsize=1024)
def _stand(state: State) -> _Stand:
    held, weight = weighted(state)
    planner = held.planner()
    assert isinstance(planner, Planner)  # incidents of shifts have at most one fault
    same = planner.answers == np.unique(planner.answers)[:, np.newaxis]
    by_answer = same * planner.weights  # (answers, hypotheses)
    shares = by_answer.sum(axis=1) / planner.total
    bits = abs(float((shares * np.log2(np.maximum(shares, 2.0**-60))).sum()))
    asking = min(ceil(bits), held.standing.left - 1)  # a question tells about a bit
    knowing = float(planner.later(by_answer, asking).sum()) / UNIT / planner.total
    idle = planner.closed(state.incident.horizon, Wait())
    return _Stand(held, weight, planner.best(), idle, knowing, bits)


def believed_look(system: str, state: State) -> Look:
    """A look at an open incident by a player who knows the belief.

    A question takes a tick and tells about a bit. Before tick :data:`RIPE`, while more than a bit
    is in doubt, all options start with questions.
    """
    stand, facts = _stand(state), state.facts
    gain, plan = stand.weight * (stand.plan.value - stand.idle), stand.plan.actions
    if stand.plan.dismiss:
        options = _dismissals(gain, plan, state)
    else:
        options = _in_turn(gain, set(map(type, plan)))
    if stand.bits > 0:
        done = {
            Escalate: facts.pages,
            IdentifyRootCause: facts.root_causes,
            ClassifySeverity: facts.severity,
        }
        undone = [kind for kind in _EARNS if not done.get(kind)]
        gain = stand.weight * (stand.knowing - stand.idle)
        options += _in_turn(gain, undone, max(1.0, stand.bits))
    closes = state.tick >= RIPE or stand.bits <= 1
    return _look(system, state, stand.weight, options, closes=closes)


def believed_action(look: Look, price: float) -> Action:
    """The best question if the look's best option starts with one or is LEAVE, else an action.

    A question that is not worth the price gives way to the plan's next action, too.
    """
    stand, option = _stand(look.state), look.best(price)
    if option.asks or option is LEAVE:
        asked = Asked.of(stand.belief, requests_in_doubt(stand.belief))
        rows = asked.worths()
        question = best_of(stand.belief, rows, asked)
        for row in rows:
            share = min(1.0, LEADS_TO * row.bits / max(1.0, stand.bits))
            gain = max(row.grade, share * (stand.knowing - stand.plan.value))
            if row.request == question and (option is LEAVE or stand.weight * gain >= price):
                return row.request
    return _next(stand.plan.actions, option)
