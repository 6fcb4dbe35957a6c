"""What the episodes of an agent amount to: plain figures, ready for JSON.

Means and intervals are over incidents: of several attempts at one, the mean counts once.
Unscored episodes are counted, with their causes, and enter nothing else.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.evaluation import (
    SOLVED,
    mean_interval,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    played_state,
)
from logtriage.generator import make_incident
from logtriage.grading import Grade
from logtriage.state import Closing, State

Attempts = Mapping[str, Sequence[Grade]]
#: Stands for incidents without a fault.
BENIGN: Final = "benign"
#: How many different causes of failure are told.
_CAUSES: Final = 5


def interval(values: Sequence[float]) -> dict[str, float] | None:
    """Mean and bootstrap interval as JSON; None without values."""
    found = mean_interval(values)
    return None if found is None else attrs.asdict(found)


def figures(attempts: Attempts) -> dict[str, Any]:
    """The figures of some incidents, by id, each with the grades of all attempts at it."""
    grades = [one for tries in attempts.values() for one in tries]
    scored = [one for one in grades if one.score is not None]
    states = [_state(one) for one in scored]
    causes = Counter(one.cause or "" for one in grades if one.score is None)
    return {
        "incidents": len(attempts),
        "episodes": len(grades),
        "unscored": len(grades) - len(scored),
        "causes": dict(causes.most_common(_CAUSES)),
        "grade": interval(means(attempts)),
        "solved": _mean(_score(one) >= SOLVED for one in scored),
        "gated": _mean(one.gate is not None for one in scored),
        "paged": _mean(bool(one.facts.pages) for one in states),
        "mis_page": _mean(one.facts.wrong_pages > 0 for one in states),
        "out_of_time": _mean(one.closing is Closing.OUT_OF_TIME for one in states),
        "malformed": _mean(
            sum(type(action).__name__ == "Malformed" for action in one.actions) for one in scored
        ),
        "ticks": _mean(one.ticks for one in scored),
        "criteria": _criteria(scored),
        "pass_at_k": _passed(attempts, pass_at_k),
        "pass_hat_k": _passed(attempts, pass_hat_k),
    }


def _criteria(grades: Sequence[Grade]) -> dict[str, float]:
    """The mean score of each criterion by name, before any gate, where there is one."""
    scores: dict[str, list[float]] = {}
    for grade in grades:
        for row in grade.criteria:
            scores.setdefault(row.name, []).append(row.score)
    return {name: fmean(found) for name, found in scores.items()}


def breakdown(attempts: Attempts, key: Callable[[str], str]) -> dict[str, dict[str, Any]]:
    """Incidents, grade and share solved by a property of the incident, in order of its name."""
    groups: dict[str, dict[str, Sequence[Grade]]] = {}
    for incident, tries in attempts.items():
        groups.setdefault(key(incident), {})[incident] = tries
    kept = ("incidents", "unscored", "grade", "solved", "mis_page")
    found = {}
    for name, group in sorted(groups.items()):
        whole = figures(group)
        found[name] = {one: whole[one] for one in kept}
    return found


@lru_cache(maxsize=8192)
def fault_kind(incident_id: str) -> str:
    """What was injected, or :data:`BENIGN`."""
    fault = make_incident(incident_id).truth.fault
    return BENIGN if fault is None else fault.kind


@lru_cache(maxsize=8192)
def hops(incident_id: str) -> str:
    """How many calls lie between the edge and the root cause, or :data:`BENIGN`."""
    incident = make_incident(incident_id)
    if incident.truth.benign:
        return BENIGN
    scenario = getattr(incident.telemetry, "scenario", None)
    return "unknown" if scenario is None else str(scenario.edge_hops)


def means(attempts: Attempts) -> list[float]:
    """The mean score of each incident that was scored at all."""
    return list(mean_scores(attempts).values())


def mean_scores(attempts: Attempts) -> dict[str, float]:
    """The mean score of each incident that was scored at all, by its id."""
    found = {}
    for incident, tries in attempts.items():
        scores = [one.score for one in tries if one.score is not None]
        if scores:
            found[incident] = fmean(scores)
    return found


def difference(before: Attempts, after: Attempts) -> dict[str, Any] | None:
    """``after - before`` on the incidents that have a score in both; None if there are none."""
    old, new = mean_scores(before), mean_scores(after)
    shared = [one for one in old if one in new]
    found = paired_difference([old[one] for one in shared], [new[one] for one in shared])
    if found is None:
        return None
    return {
        "incidents": len(shared),
        "before": fmean(old[one] for one in shared),
        "after": fmean(new[one] for one in shared),
        "difference": attrs.asdict(found),
        "better": sum(new[one] > old[one] for one in shared),
        "worse": sum(new[one] < old[one] for one in shared),
        "same": sum(new[one] == old[one] for one in shared),
    }


def first_last(scores: Sequence[float], count: int = 10) -> dict[str, float | int]:
    """Means of the first and last ``count`` training episodes, as the original reported them.

    These are different incidents, and few: a picture, no evidence.

    Raises:
        InvalidInput: if there are no scores.
    """
    if not scores:
        raise InvalidInput("no training episodes to take the first and the last of")
    first, last = fmean(scores[:count]), fmean(scores[-count:])
    return {
        "episodes": len(scores),
        "count": min(count, len(scores)),
        "first": first,
        "last": last,
        "difference": last - first,
    }


def _passed(
    attempts: Attempts, estimate: Callable[[int, int, int], float]
) -> dict[str, dict[str, float] | None]:
    """The estimate for k = 1, 2, 4, … up to the attempts, over incidents with all of them."""
    most = max((len(tries) for tries in attempts.values()), default=0)
    whole = [
        [_score(one) >= SOLVED for one in tries]
        for tries in attempts.values()
        if len(tries) == most and all(one.score is not None for one in tries)
    ]
    ks = sorted(
        {2**n for n in range(most.bit_length()) if 2**n <= most} | ({most} if most else set())
    )
    return {str(k): interval([estimate(sum(one), most, k) for one in whole]) for k in ks}


def _state(grade: Grade) -> State:
    return played_state(make_incident(grade.incident), grade)


def _score(grade: Grade) -> float:
    assert grade.score is not None
    return grade.score


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
