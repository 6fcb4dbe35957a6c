"""What an agent is worth in money, beyond handing everything over.

    worth = sum of value x (grade - c) - cost

over the scored episodes whose hand-over has a worth c. ``value`` is what it saves to
have one incident solved. Handing everything over at once, for nothing, is worth 0.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage._lib.jsonvalues import present
from logtriage.errors import InvalidInput
from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.localisation import RANKING, check_ranking
from logtriage.evaluation.net_values import on_grid
from logtriage.evaluation.repeats import attempts_of, policies_of
from logtriage.evaluation.statistics import Interval, mean_interval, paired_difference
from logtriage.evaluation.usage import TOKENS, Usage, usage_in
from logtriage.grading.grade import GRID
from logtriage.transcript import Transcript

COST: Final = "cost"
#: The largest cost or count: JSON has whole numbers that no float can hold.
_MOST: Final = sys.float_info.max


def check_extras(extra: Mapping[str, Any], services: Iterable[str]) -> None:
    """Refuse what a report could not read: a ranking, a cost or a count that is none.

    Raises:
        InvalidInput: naming the field, its value and what is expected.
    """
    ranking = present(extra, RANKING)
    if ranking is not None:
        check_ranking(ranking, services)
    cost = present(extra, COST)
    if cost is not None and not (_is_number(cost) and 0 <= cost <= _MOST):
        raise InvalidInput(f"{COST}: expected a number from 0 on, got {cost!r:.60}")
    for name in attrs.fields_dict(Usage):
        count = present(extra, name)
        if count is not None and not (type(count) is int and 0 <= count <= _MOST):
            raise InvalidInput(f"{name}: expected a whole number from 0 on, got {count!r:.60}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _amount(_: object, field: "attrs.Attribute[Any]", value: Any) -> None:
    for amount in value if isinstance(value, tuple) else (value,):
        if amount is not None and not (isfinite(amount) and amount >= 0.0):
            raise InvalidInput(f"{field.name}: expected a number from 0 on, got {amount!r}")


@attrs.frozen
class Prices:
    """What an incident is worth, and what an episode costs, in one currency.

    Attributes:
        value: of a solved incident, against an unsolved incident.
        per_episode: the cost of an episode; None to take it from tokens or from the run.
        per_million: prices of a million tokens: of prompts, of replies. Without them and
            ``per_episode`` the cost is what transcripts keep, as answer sheets do.

    Raises:
        InvalidInput: for a number that is below 0, and for two kinds of cost.
    """

    value: float = attrs.field(validator=_amount)
    per_episode: float | None = attrs.field(default=None, validator=_amount)
    per_million: tuple[float, float] | None = attrs.field(default=None, validator=_amount)

    def __attrs_post_init__(self) -> None:
        if self.per_episode is not None and self.per_million is not None:
            raise InvalidInput("a cost per episode and prices of tokens: give one of them")

    def costs(self, transcripts: Sequence[Transcript]) -> list[float]:
        """The cost of each episode of a policy; 0 without a price if no episode keeps a cost.

        Raises:
            InvalidInput: if only some of the episodes keep a cost, or not all a count of tokens
                that has a price.
        """
        if self.per_episode is not None:
            return [self.per_episode] * len(transcripts)
        costs = [self._cost_of(transcript) for transcript in transcripts]
        known = [cost for cost in costs if cost is not None]
        if not known and self.per_million is None:
            return [0.0] * len(costs)
        if len(known) < len(costs):
            lacking = transcripts[costs.index(None)]
            counts = f"count of tokens ({' and '.join(TOKENS)} of its transcript)"
            what = "cost" if self.per_million is None else counts
            others = ", and other episodes do" if known else ""
            raise InvalidInput(
                f"{lacking.agent}: {lacking.incident} keeps no {what}{others}; give a cost per "
                "episode"
            )
        return known

    def _cost_of(self, transcript: Transcript) -> float | None:
        """The cost that a transcript keeps or, with prices, that of its tokens; None if unknown."""
        if self.per_million is None:
            cost = present(transcript.extra, COST)
            return float(cost) if _is_number(cost) else None
        if any(present(transcript.extra, name) is None for name in TOKENS):
            return None  # a usage counts them as 0
        usage = usage_in(transcript.extra)
        return None if usage is None else usage.cost(*self.per_million)


@attrs.frozen
class Worth:
    """The worth of a policy, or of all repeats of an agent, on a task.

    ``worth`` and ``cost`` are sums over the ``incidents`` that have a score and whose hand-over has
    a worth; of several attempts at an incident the mean counts. At a cost of ``worthless_at`` an
    episode it is worth nothing; below 0, it would have to be paid.
    """

    policy: str
    task: str
    incidents: int
    worth: Interval
    cost: float
    worthless_at: float


@attrs.frozen
class WorthDifference:
    """The worth of two policies on the incidents that both have a grade of, and B - A."""

    task: str
    policy_a: str
    policy_b: str
    incidents: int
    a: float
    b: float
    difference: Interval


def worth_of(run: LoadedRun, prices: Prices) -> tuple[Worth, ...]:
    """The worth of each policy on each task, without the tasks whose hand-overs have no worth.

    Beside agents of your own, a shipped policy costs nothing. Raises as :meth:`Prices.costs`.
    """
    rows = []
    for name, group in attempts_of(run).items():
        for task in run.tasks:
            gained = _gains_of(run, group, task, prices, agents=_has_agents(run))
            incidents = gained.values()
            nets = [fmean(gain - cost for gain, cost in attempts) for attempts in incidents]
            mean = mean_interval(nets)
            if mean is not None:
                gains = [fmean(gain for gain, _ in attempts) for attempts in incidents]
                costs = fsum(fmean(cost for _, cost in attempts) for attempts in incidents)
                worth = _times(mean, len(incidents))
                rows.append(Worth(name, task, len(incidents), worth, costs, fmean(gains)))
    return tuple(rows)


def worth_differences(
    a: LoadedRun, b: LoadedRun, pairs: Iterable[tuple[str, str, str]], prices: Prices
) -> tuple[WorthDifference, ...]:
    """The difference of worth of each (task, policy of A, policy of B); errors as of ``costs``."""
    rows, agents = [], _has_agents(a) or _has_agents(b)
    for task, ours, theirs in pairs:
        before = _worths(a, ours, task, prices, agents)
        after = _worths(b, theirs, task, prices, agents)
        shared = [incident for incident in before if incident in after]
        old, new = ([side[name] for name in shared] for side in (before, after))
        each = paired_difference(old, new)
        if each is not None:
            count, total = len(shared), _times(each, len(shared))
            rows.append(WorthDifference(task, ours, theirs, count, fsum(old), fsum(new), total))
    return tuple(rows)


def _has_agents(run: LoadedRun) -> bool:
    """Whether a run has a policy that is not shipped."""
    return not all(map(run.is_scripted, run.policies))


def _worths(
    run: LoadedRun, agent: str, task: str, prices: Prices, agents: bool
) -> dict[str, float]:
    """The mean worth of an agent's attempts at each incident."""
    gains = _gains_of(run, policies_of(run, agent), task, prices, agents).items()
    return {incident: fmean(gain - cost for gain, cost in each) for incident, each in gains}


def _gains_of(
    run: LoadedRun, policies: Iterable[str], task: str, prices: Prices, agents: bool
) -> dict[str, list[tuple[float, float]]]:
    """(value x (grade - c), cost) of each scored attempt, by incident.

    Beside ``agents`` of your own a shipped policy costs nothing: it is there to compare with.
    """
    gains: list[tuple[str, tuple[float, float]]] = []
    for policy in policies:
        played = zip(run.transcripts[policy, task], run.grades[policy, task], strict=True)
        scored = [(each, grade) for each, grade in played if grade.score is not None]
        free = agents and run.is_scripted(policy)
        costs = [0.0] * len(scored) if free else prices.costs([each for each, _ in scored])
        for cost, (_, grade) in zip(costs, scored, strict=True):
            worth = run.incidents(grade.incident).worth_of_hand_over
            if worth is not None:
                gained = (on_grid(grade.score) - on_grid(worth)) / GRID
                gains.append((grade.incident, (prices.value * gained, cost)))
    return grouped(gains)


def _times(each: Interval, count: int) -> Interval:
    """The interval of a sum, from that of its mean."""
    low, high = (None if end is None else end * count for end in (each.low, each.high))
    return Interval(each.mean * count, low, high)
