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
from logtriage.belief.beliefs import Belief, belief
from logtriage.belief.expectations import expected_after, with_everything
from logtriage.errors import InvalidInput
from logtriage.grading import score
from logtriage.incident import Incident
from logtriage.state import State, check_state, declared_in, initial_state, is_settled
from logtriage.transition import transition
from logtriage.world.compounds import LISTED, set_prior

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


def why_unexplained(incident: Incident) -> str | None:
    """Why no episode of an incident can be explained; None if they can be."""
    setting = incident.setting
    if setting is None:
        return "its probabilities are not known"
    if setting.several:
        sets = set_prior(setting, incident.topology, incident.held)
        if not sets.listable:
            return (
                f"{sets.many:,} sets of faults are possible on topology "
                f"{incident.topology.name!r}, which are searched: what is left out would count "
                "as luck or regret. Explanations need a belief that weighs them all (up to "
                f"{LISTED:,}); the belief itself and the worth of requests do without"
            )
    return None


def explain(state: State, *, samples: int = SAMPLES) -> Explanation:
    """Split what a closed episode of a single agent lost into its four parts.

    Raises:
        InvalidInput: for an open incident, joint play, an incident of which no
            probabilities are known or of which sets of faults are searched
            (:func:`why_unexplained`), or less than one sample.
    """
    check_closed(state)
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples}")
    incident = state.incident
    reason = why_unexplained(incident)
    if reason is not None:
        raise InvalidInput(f"{incident.id}: {reason}")
    now = initial_state(incident)
    held = belief(now)
    start = value = held.value()
    full = with_everything(held, now, state.tick, samples * FULL_SAMPLES // SAMPLES)
    steps = []
    for action in state.actions:
        after = transition(now, action)
        expected = expected_after(held, now, after, samples)
        justified, right = _judged(held, now, action)
        leading = Leading.of(held)
        if after.is_closed:
            gained = score(after)
        else:
            held = belief(after)
            gained = held.value()
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
        InvalidInput: for an open incident or joint play, and for what is no state.
    """
    check_state(state)
    if not state.is_closed:
        raise InvalidInput(f"{state.incident.id} is still open: there is nothing to explain yet")
    if state.schedule is not None:
        raise InvalidInput("joint play is not explained: a tick has several actions")


def _judged(held: Belief, now: State, action: Action) -> tuple[bool | None, bool | None]:
    """Whether a page or a root cause was justified, and whether it was right."""
    truth = now.incident.truth
    if isinstance(action, Escalate):
        justified = held.teams.get(action.team, 0.0) >= held.bar(action.team)
        return justified, action.team in truth.teams
    if isinstance(action, IdentifyRootCause) and _counts(now, action.service):
        justified = held.root_causes.get(action.service, 0.0) >= ROOT_BAR
        return justified, action.service in truth.root_causes
    return None, None


def _counts(now: State, service: str) -> bool:
    """Whether to declare a service now has an effect: the first stands, or each of several."""
    every = declared_in(now)
    return not is_settled(now.facts.root_cause, every, service)
