"""Why an episode lost what it lost: hardness, search, decision, luck.

W(b) is the expected final grade of the best plan given a belief b; of a closed incident
it is the grade. Q(b, a) is the expectation of W after the action a, evidence included,
by the belief b. H is the expectation, by the first belief, of W given what one request
for every channel of every service would show at the closing tick. For an episode with
actions a_0 ... a_T the four parts are sums of these:

    hardness         1 - H
    search regret    H - W(b_0) - sum over requests of (Q(b_t, a_t) - W(b_t))
    decision regret  sum over all other actions of (W(b_t) - Q(b_t, a_t))
    luck             sum over all actions of (Q(b_t, a_t) - W(b_{t+1}))

They add up to 1 - grade, since everything but 1 and W(b_{T+1}) = grade occurs twice with
opposite signs. H and Q are means over imagined continuations: unbiased, and the same
numbers whenever they are asked for.
"""

from typing import Final

import attrs

from logtriage.actions import (
    Action,
    Escalate,
    IdentifyRootCause,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
)
from logtriage.belief.beliefs import Belief, Standing, belief
from logtriage.belief.decisions import Planner, bar
from logtriage.belief.imagining import Imagination, imagine, imagine_conditions
from logtriage.belief.model import Model
from logtriage.belief.plans import closed_values
from logtriage.belief.posterior import posterior
from logtriage.belief.stakes import UNIT
from logtriage.errors import InvalidInput
from logtriage.grading import score
from logtriage.observation import cells_on, evidence
from logtriage.state import Closing, State, facts_of, initial_state
from logtriage.transition import transition
from logtriage.world.channels import GAUGES, LINES, SERIES, SPANS, Channel
from logtriage.world.schedule import Cell, Doings, alert_starts, epoch_starts

#: Imagined continuations behind every expectation.
SAMPLES: Final = 12
#: The same for what a reading of everything would tell.
FULL_SAMPLES: Final = 24
#: A root cause is justified from this probability on.
ROOT_BAR: Final = 0.5

_REQUESTS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


@attrs.frozen
class Leading:
    """What a belief holds likeliest, with probabilities.

    ``root_cause`` and ``team`` are None where nothing but a benign incident is possible.
    """

    root_cause: tuple[str, float] | None
    team: tuple[str, float] | None
    benign: float

    @classmethod
    def of(cls, held: Belief) -> "Leading":
        """The heads of a belief's marginals."""
        return cls(
            next(iter(held.root_causes.items()), None),
            next(iter(held.teams.items()), None),
            held.benign,
        )


@attrs.frozen
class Step:
    """One action: W before it, its Q, and W after it. All are expected grades.

    ``leading`` is what was likeliest before it. ``justified`` is None where it does not
    apply: for all but a page and the first declared root cause. ``right`` says whether
    these were right.
    """

    action: Action
    before: float
    expected: float
    after: float
    leading: Leading
    justified: bool | None = None
    right: bool | None = None

    @property
    def worth(self) -> float:
        """What the action was expected to add to the grade when it was taken: Q - W."""
        return self.expected - self.before

    @property
    def asks(self) -> bool:
        """Whether it is a request."""
        return isinstance(self.action, _REQUESTS)

    @property
    def lucky(self) -> bool:
        """Whether it was right without being justified."""
        return bool(self.right) and self.justified is False


@attrs.frozen
class Explanation:
    """The four parts of what a closed episode lost; they add up to 1 - grade."""

    grade: float
    hardness: float
    search_regret: float
    decision_regret: float
    luck: float
    steps: tuple[Step, ...]


def explain(state: State, *, samples: int = SAMPLES) -> Explanation:
    """Split what a closed episode of a single agent lost into its four parts.

    Raises:
        InvalidInput: for an open incident, joint play, an incident of which no
            probabilities are known, or less than one sample.
    """
    check_closed(state)
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples}")
    incident = state.incident
    now = initial_state(incident)
    held = belief(now)
    start = value = _value(held)
    full = _with_everything(held, now, state.tick, samples * FULL_SAMPLES // SAMPLES)
    steps = []
    for action in state.actions:
        after = transition(now, action)
        expected = _expected(held, now, after, samples)
        justified, right = _judged(held, now, action)
        leading = Leading.of(held)
        if after.is_closed:
            gained = score(after)
        else:
            held = belief(after)
            gained = _value(held)
        steps.append(Step(action, value, expected, gained, leading, justified, right))
        now, value = after, gained
    asked = sum(one.worth for one in steps if one.asks)
    return Explanation(
        grade=value,
        hardness=1.0 - full,
        search_regret=full - start - asked,
        decision_regret=sum(one.before - one.expected for one in steps if not one.asks),
        luck=sum(one.expected - one.after for one in steps),
        steps=tuple(steps),
    )


def check_closed(state: State) -> None:
    """Refuse what cannot be looked back on.

    Raises:
        InvalidInput: for an open incident or joint play.
    """
    if not state.is_closed:
        raise InvalidInput(f"{state.incident.id} is still open: there is nothing to explain yet")
    if state.schedule is not None:
        raise InvalidInput("joint play is not explained: a tick has several actions")


def value_of(state: State) -> float:
    """W of a state: the expected grade of the best plan; of a closed one, its grade."""
    return score(state) if state.is_closed else _value(belief(state))


def shaped_reward(before: State, after: State, gamma: float = 1.0) -> float:
    """The reward of a step plus what the step told: potential-based shaping.

    reward + gamma * phi(after) - phi(before) with phi = W - grade, 0 once closed. With
    gamma = 1 a step earns W(after) - W(before), and the best policy stays the best: A. Y.
    Ng, D. Harada, S. Russell, "Policy invariance under reward transformations", ICML 1999.

    Raises:
        InvalidInput: for an incident of which no probabilities are known.
    """
    grades = score(after) - score(before)
    return grades + gamma * _potential(after) - _potential(before)


def _potential(state: State) -> float:
    return 0.0 if state.is_closed else value_of(state) - score(state)


def _value(held: Belief) -> float:
    planner = Planner(held)
    return planner.value / UNIT / planner.total


def _judged(held: Belief, now: State, action: Action) -> tuple[bool | None, bool | None]:
    """Whether a page or a root cause was justified, and whether it was right."""
    truth = now.incident.truth
    if isinstance(action, Escalate):
        justified = held.teams.get(action.team, 0.0) >= bar(held, action.team)
        return justified, action.team in truth.teams
    if isinstance(action, IdentifyRootCause) and now.facts.root_cause is None:
        justified = held.root_causes.get(action.service, 0.0) >= ROOT_BAR
        return justified, action.service in truth.root_causes
    return None, None


# --- expectations --------------------------------------------------------------------


def _expected(held: Belief, now: State, after: State, samples: int) -> float:
    """Q: the expected W after the step, by the belief before it."""
    incident = now.incident
    action = after.history[-1][1]
    share = 1.0
    if isinstance(action, Escalate):
        # A wrong page is worth 0; what follows a right one is imagined.
        share = held.teams.get(action.team, 0.0)
        if not share:
            return 0.0
    closing = after.closing
    if closing is Closing.MISROUTED:  # had it been right, the incident would be open
        closing = Closing.OUT_OF_TIME if after.tick >= incident.horizon else None
    if closing is not None:
        return share * _closed(held, now, after, closing)
    return share * _imagined(held, now, after, samples)


def _restricted(held: Belief, after: State) -> list[int]:
    """The weights of the hypotheses under which the step leaves the incident open."""
    action = after.history[-1][1]
    if not isinstance(action, Escalate):
        return list(held.weights)
    return [
        weight if action.team in held.teams_of(place) else 0
        for place, weight in enumerate(held.weights)
    ]


def _standing(held: Belief, now: State, after: State) -> Standing:
    """Where the episode stands after the step, as the belief sees it."""
    facts = facts_of(now.incident, after.history)
    return Standing(now.tick + 1, held.standing.stakes, facts, None)


def _closed(held: Belief, now: State, after: State, closing: Closing) -> float:
    """The expected grade of an incident that closes with this step."""
    row = _restricted(held, after)
    found = attrs.evolve(held.posterior, weights=tuple(row))
    planner = Planner(Belief(held.model, held.directory, found, _standing(held, now, after)))
    values = closed_values(
        planner.case,
        after.tick,
        resolved=closing is Closing.RESOLVED,
        ignored=closing is Closing.IGNORED,
    )
    return float((planner.weights * values).sum()) / UNIT / planner.total


def _imagined(held: Belief, now: State, after: State, samples: int) -> float:
    """The mean of W over imagined screens after the step."""
    model, row = held.model, _restricted(held, after)
    standing = _standing(held, now, after)
    doings, tick = standing.facts.doings, now.tick + 1
    fresh = [
        cell for cell in cells_on(now.incident, tick, doings) if cell not in held.posterior.seen
    ]
    shown = evidence(now)
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, now.tick, number)
        place = chance.pick(row)
        conditions, severity = imagine_conditions(held, place, chance)
        drawn = imagine(model, place, conditions, severity, fresh, doings, chance)
        found = posterior(model, held.directory, (*shown, *drawn), doings)
        total += _value(Belief(model, held.directory, found, standing))
    return total / samples


def _with_everything(held: Belief, now: State, tick: int, samples: int) -> float:
    """H: the expected W if every channel of every service had been read at the closing tick."""
    model, standing = held.model, held.standing
    doings = standing.facts.doings
    shown = evidence(now)
    wanted = [cell for cell in _everything(model, tick) if cell not in held.posterior.seen]
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, 1 << 20, number)
        place = chance.pick(held.weights)
        conditions, severity = imagine_conditions(held, place, chance)
        drawn = imagine(model, place, conditions, severity, wanted, doings, chance)
        found = posterior(model, held.directory, (*shown, *drawn), doings)
        total += _value(Belief(model, held.directory, found, standing))
    return total / samples


def _everything(model: Model, tick: int) -> list[Cell]:
    """What every request would show at a tick, and every alert until then."""
    nothing = Doings()
    epochs = epoch_starts(tick, nothing)[-SERIES:]
    alerts = alert_starts(model.setting, tick, nothing)
    found: list[Cell] = [(Channel.EDGE, -1, 0, epochs[-1])]
    for service in range(len(model.topology)):
        found.extend((Channel.ALERT, service, 0, start) for start in alerts)
        found.extend((Channel.LOGS, service, line, tick) for line in range(LINES))
        for channel, slots in ((Channel.METRICS, GAUGES), (Channel.TRACES, SPANS)):
            found.extend(
                (channel, service, slot, start) for slot in range(len(slots)) for start in epochs
            )
    return found
