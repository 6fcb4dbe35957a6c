"""Why an episode earned what it earned: what asking gained, what decisions cost, and luck.

W(b) is the expected final grade of the best plan given a belief b; once the incident is closed,
it is the grade. Q(b, a) is what the belief b expects W to be after the action a and its evidence.
So each action has three expectations: W(b_t) before it, Q(b_t, a_t) after acting, and
W(b_{t+1}) after seeing what came of it. For an episode with actions a_0 ... a_T:

    at first       W(b_0)
    asking gained  sum over requests of (Q(b_t, a_t) - W(b_t))
    decision cost  sum over all other actions of (W(b_t) - Q(b_t, a_t))
    luck           sum over all actions of (W(b_{t+1}) - Q(b_t, a_t))

The grade is W(b_{T+1}) = at first + asking gained - decision cost + luck, since everything else
occurs twice with opposite signs. The hardness is 1 - H: H is the W that the first belief expects
after one request for every channel of every service at the closing tick. H and Q are means over
imagined continuations: unbiased and deterministic.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from logtriage.actions import (
    Action,
    Escalate,
    IdentifyRootCause,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
)
from logtriage.beliefs.beliefs import Belief, belief, believed
from logtriage.beliefs.cases import Standing
from logtriage.beliefs.imagining import Imagination, imagine
from logtriage.dynamics import closing_after, transition
from logtriage.errors import InvalidInput
from logtriage.evidence import cells_on, evidence
from logtriage.facts import facts_of
from logtriage.grading import score
from logtriage.incident import Incident
from logtriage.state import Closing, State, check_state, declared_in, initial_state, is_settled
from logtriage.world.channels import Channel, Evidence
from logtriage.world.compounds import LISTED, set_prior
from logtriage.world.schedule import Cell, Doings, scrapes
from logtriage.world.vocabulary import LOG

#: Imagined continuations behind every expectation.
SAMPLES: Final = 12
#: Imagined continuations behind the expectation H, after all requests.
FULL_SAMPLES: Final = 24
#: The key of the draws for H; the key of the draws for a step is its tick.
_FULL: Final = 1 << 20
#: A declared root cause of at least this probability is justified.
LIKELY: Final = 0.5

_REQUESTS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


@attrs.frozen
class Leading:
    """The likeliest root cause and team of a belief, and how likely the incident is benign.

    ``root_cause`` and ``team`` are (name, probability), None if no fault is possible.
    """

    root_cause: tuple[str, float] | None
    team: tuple[str, float] | None
    benign: float

    @classmethod
    def of(cls, held: Belief) -> "Leading":
        """The leading root cause and team of a belief."""
        root = next(iter(held.root_causes.items()), None)  # the likeliest comes first
        return cls(root, next(iter(held.teams.items()), None), held.benign)


@attrs.frozen
class Step:
    """One action, and the expected grade before it, after acting, and after seeing its outcome.

    ``leading`` is what was likeliest before it. ``justified`` is whether a page or a root cause was
    likely enough, ``right`` whether it was right; both are None where :func:`judged` says so.
    """

    action: Action
    before: float
    after_acting: float
    after_seeing: float
    leading: Leading
    justified: bool | None = None
    right: bool | None = None

    @property
    def worth(self) -> float:
        """What the action was expected to add to the grade when it was taken."""
        return self.after_acting - self.before

    @property
    def luck(self) -> float:
        """How much better than expected its outcome was; below 0, worse."""
        return self.after_seeing - self.after_acting

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
    """The parts of a grade: at first + asking gained + decisions + luck.

    ``at_first`` is the expected grade before any action. ``asking_gained`` is what requests were
    expected to add to it, less the cost of their ticks; ``decisions`` is what all other actions
    were expected to add (negative: they cost). ``luck`` is how much better than expected the
    outcomes were (negative: worse). ``hardness`` is no part of the sum: it is 1 minus the grade
    expected once all evidence is seen.
    """

    grade: float
    at_first: float
    asking_gained: float
    decisions: float
    luck: float
    hardness: float
    steps: tuple[Step, ...]

    @property
    def without_luck(self) -> float:
        """The grade minus the luck: over many episodes its mean is the same, its variance lower."""
        return self.at_first + self.asking_gained + self.decisions


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
                "as luck or cost. Explanations need a belief that weighs them all (up to "
                f"{LISTED:,}); the belief itself and the worth of requests do without"
            )
    return None


def explain(state: State, *, samples: int = SAMPLES) -> Explanation:
    """Split the grade of a closed episode of a single agent into its parts.

    Raises:
        InvalidInput: for an open incident, joint play, an incident that cannot be explained
            (:func:`why_unexplained`), or less than one sample.
    """
    check_state(state)
    if not state.is_closed:
        raise InvalidInput(f"{state.incident.id} is still open: there is nothing to explain yet")
    if state.schedule is not None:
        raise InvalidInput("joint play is not explained: a tick has several actions")
    if samples < 1:
        raise InvalidInput(f"samples must be at least 1, got {samples}")
    incident = state.incident
    reason = why_unexplained(incident)
    if reason is not None:
        raise InvalidInput(f"{incident.id}: {reason}")
    now = initial_state(incident)
    held = belief(now)
    start = value = held.value()
    everything, many = _all_cells(held, state.tick), samples * FULL_SAMPLES // SAMPLES
    full = _mean_value(held, now, everything, key=_FULL, samples=many)
    steps = []
    for action in state.actions:
        after = transition(now, action)
        expected = _expected_after(held, now, after, samples)
        justified, right = judged(held, now, action)
        leading = Leading.of(held)
        if after.is_closed:
            gained = score(after)
        else:
            held = belief(after)
            gained = held.value()
        steps.append(Step(action, value, expected, gained, leading, justified, right))
        now, value = after, gained
    return Explanation(
        grade=value,
        at_first=start,
        asking_gained=sum((step.worth for step in steps if step.asks), 0.0),
        decisions=sum((step.worth for step in steps if not step.asks), 0.0),
        luck=sum(step.luck for step in steps),
        hardness=1.0 - full,
        steps=tuple(steps),
    )


def judged(held: Belief, now: State, action: Action) -> tuple[bool | None, bool | None]:
    """(justified, right) of a page or a root cause that counts; (None, None) for all else.

    A likely page does not count if even a certain one would earn less than the best without a
    page: its cost stands under ``decisions``, and it was right by no luck.
    """
    truth = now.incident.truth
    if isinstance(action, Escalate):
        share, bar = held.teams.get(action.team, 0.0), held.bar(action.team)
        if share >= LIKELY and bar == 1:
            return None, None
        return share >= bar, action.team in truth.teams
    if isinstance(action, IdentifyRootCause) and not is_settled(
        now.facts.root_cause, declared_in(now), action.service
    ):  # only the first counts or, with several faults, each new service
        justified = held.root_causes.get(action.service, 0.0) >= LIKELY
        return justified, action.service in truth.root_causes
    return None, None


def _expected_after(held: Belief, now: State, after: State, samples: int) -> float:
    """Q: what ``held``, the belief in state ``now``, expects W to be after the step."""
    incident = now.incident
    action = after.history[-1][1]
    share, weights = 1.0, held.posterior.weights
    if isinstance(action, Escalate):
        # A wrong page is worth 0; what follows a right page is imagined.
        share = held.teams.get(action.team, 0.0)
        if not share:
            return 0.0
        theirs = [action.team in held.teams_of(hypothesis) for hypothesis in held.hypotheses]
        weights = weights * np.array(theirs)
    closing = after.closing
    if closing is Closing.MISROUTED:  # had it been right, the incident would be open
        closing = closing_after(None, after.tick, incident)
    facts = facts_of(incident, after.history)
    right = attrs.evolve(held.posterior, weights=weights)
    then = Belief(right, Standing.of(now.tick + 1, held.standing.stakes, facts, None))
    if closing is not None:
        return share * then.planner().closed(after.tick, action)
    cells = cells_on(incident, now.tick + 1, facts.doings)
    return share * _mean_value(then, now, cells, key=now.tick, samples=samples)


def _mean_value(held: Belief, now: State, cells: Sequence[Cell], key: int, samples: int) -> float:
    """The mean W of a belief that also sees what some cells might show; ``key`` sets the draws."""
    standing, values = held.standing, dict[tuple[Evidence, ...], float]()
    fresh = [cell for cell in cells if cell not in held.posterior.seen]
    shown, before = evidence(now), held.posterior.outcomes  # what was shown is read once
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, key, number)
        place = chance.pick(held.weights)
        drawn = tuple(imagine(held.posterior, place, fresh, standing.doings, chance))
        if drawn not in values:
            kept = {before.listed.model: before}  # anew, since what is drawn is added to it
            updated = believed(now.incident, (*shown, *drawn), standing.doings, kept=kept)
            values[drawn] = Belief(updated, standing).value()
        total += values[drawn]
    return total / samples


def _all_cells(held: Belief, tick: int) -> list[Cell]:
    """Alerts, logs, gauges and traces of all services up to a tick, and the newest edge panel."""
    starts = scrapes(tick, Doings())
    cells: list[Cell] = [(Channel.EDGE, -1, 0, starts[-1])]
    slots = {Channel.LOGS: (LOG,), **held.world.slots}
    for service in range(len(held.topology)):
        for channel, sorts in slots.items():
            cells.extend(
                (channel, service, slot, start) for slot in range(len(sorts)) for start in starts
            )
    return cells
