"""The figures of an agent's episodes, ready for JSON.

Means and intervals are over incidents: of several attempts at one, the mean counts once.
Unscored episodes are counted, with their causes, and enter nothing else.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.beliefs.explain import explain
from logtriage.errors import InvalidInput
from logtriage.evaluation import (
    SOLVED,
    mean_interval,
    net_value,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    played_state,
)
from logtriage.evaluation.statistics import bound_of
from logtriage.grading import Grade, Resolver
from logtriage.grading.grade import is_handed_over
from logtriage.incident import Incident
from logtriage.state import Closing, State
from logtriage.world.loading import load_world
from logtriage.world.prior import held_out

FIVE_TEAMS = load_world("oncall").topologies["seven-services-five-teams"]

Attempts = Mapping[str, Sequence[Grade]]
#: Stands for incidents without a fault.
BENIGN: Final = "benign"
#: How a grade came about (:mod:`logtriage.beliefs.explain`), and the hardness beside it.
PARTS: Final = ("at_first", "asking_gained", "decision_cost", "luck", "hardness")
#: How many different causes of failure are told.
_CAUSES: Final = 5


def interval(values: Sequence[float]) -> dict[str, float] | None:
    """Mean and bootstrap interval as JSON; None without values."""
    spread = mean_interval(values)
    return None if spread is None else attrs.asdict(spread)


def figures(attempts: Attempts, resolve: Resolver) -> dict[str, Any]:
    """The figures of some incidents, by id, each with the grades of all attempts at it.

    ``paged_right`` is the share of the faults in which an accepted team was paged,
    ``page_precision`` that of the episodes with a page in which no page was wrong.
    """
    grades = [grade for tries in attempts.values() for grade in tries]
    scored = [grade for grade in grades if grade.score is not None]
    states = _played(attempts, resolve)
    paged = [state for state in states if state.facts.pages]
    faults = [state for state in states if not state.incident.truth.benign]
    causes = Counter(grade.cause or "" for grade in grades if grade.score is None)
    return {
        "incidents": len(attempts),
        "episodes": len(grades),
        "unscored": len(grades) - len(scored),
        "causes": dict(causes.most_common(_CAUSES)),
        "solved": _mean(_score(grade) >= SOLVED for grade in scored),
        "paged_right": _mean(map(_right, faults)),
        "mis_page": _mean(state.facts.wrong_pages > 0 for state in states),
        "page_precision": _mean(state.facts.wrong_pages == 0 for state in paged),
        "paged": _mean(bool(state.facts.pages) for state in states),
        "handed_over": _mean(map(is_handed_over, states)),
        "net": _net(attempts, resolve),
        "grade": interval(means(attempts)),
        "bound": bound_of(bounds(attempts)),
        "gated": _mean(grade.gate is not None for grade in scored),
        "by_price": _by_price(attempts, resolve),
        "out_of_time": _mean(state.closing is Closing.OUT_OF_TIME for state in states),
        "malformed": _mean(
            sum(type(action).__name__ == "Malformed" for action in grade.actions)
            for grade in scored
        ),
        "ticks": _mean(grade.ticks for grade in scored),
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
    return {name: fmean(shares) for name, shares in scores.items()}


def breakdown(
    attempts: Attempts, key: Callable[[Incident], str], resolve: Resolver
) -> dict[str, dict[str, Any]]:
    """Incidents, grade and shares by a property of the incident, in order of its name."""
    groups: dict[str, dict[str, Sequence[Grade]]] = {}
    for incident, tries in attempts.items():
        groups.setdefault(key(resolve(incident)), {})[incident] = tries
    kept = ("incidents", "unscored", "grade", "bound", "solved", "paged_right", "mis_page")
    cuts = {}
    for name, group in sorted(groups.items()):
        whole = figures(group, resolve)
        cuts[name] = {incident: whole[incident] for incident in kept}
    return cuts


def kind_of_fault(incident: Incident) -> str:
    """The injected kind, or :data:`BENIGN`."""
    fault = incident.truth.fault
    return BENIGN if fault is None else fault.kind


def hops(incident: Incident) -> str:
    """The number of calls between the edge and the root cause, or :data:`BENIGN`."""
    topology = incident.topology
    roots = [topology.depth[topology.index(cause)] for cause in incident.truth.root_causes]
    return str(min(roots)) if roots else BENIGN


def held_out_part(incident: Incident) -> str:
    """The part of an ``ood`` incident that training never shows."""
    topology, fault = incident.topology, incident.truth.fault
    place = "random topology" if topology.name != FIVE_TEAMS.name else "default topology"
    if fault is None:
        return f"{place}, {BENIGN}"
    setting = incident.setting
    assert setting is not None  # only a drawn incident is of a split
    unseen = held_out(topology, topology.index(fault.service), setting.world.kind(fault.kind))
    return f"{place}, {'held-out pair' if unseen else 'pair of training'}"


def _net(attempts: Attempts, resolve: Resolver) -> dict[str, float] | None:
    """Net value of the mean scores, with its interval; None where no incident has a price."""
    priced = [
        (score, price)
        for incident, score in mean_scores(attempts).items()
        if (price := resolve(incident).price_of_hand_over) is not None
    ]
    worth = net_value(priced)
    return None if worth is None else attrs.asdict(worth)


def _by_price(attempts: Attempts, resolve: Resolver) -> list[dict[str, Any]]:
    """Net value, hand-overs and pages for each price of a hand-over, lowest first.

    ``episodes`` counts the scored ones; the shares are of these.
    """
    groups: dict[float, dict[str, Sequence[Grade]]] = {}
    for incident, tries in attempts.items():
        price = resolve(incident).price_of_hand_over
        if price is not None and any(grade.score is not None for grade in tries):
            groups.setdefault(price, {})[incident] = tries
    rows = []
    for price, group in sorted(groups.items()):
        states = _played(group, resolve)
        rows.append(
            {
                "price": price,
                "incidents": len(group),
                "episodes": len(states),
                "net": _net(group, resolve),
                "handed_over": fmean(map(is_handed_over, states)),
                "paged": fmean(bool(state.facts.pages) for state in states),
                "mis_paged": fmean(state.facts.wrong_pages > 0 for state in states),
            }
        )
    return rows


def _played(attempts: Attempts, resolve: Resolver) -> list[State]:
    """The closing states of all scored attempts."""
    return [
        played_state(resolve(grade.incident), grade)
        for tries in attempts.values()
        for grade in tries
        if grade.score is not None
    ]


def parts(states: Sequence[State], on_each: Callable[[], None]) -> dict[str, Any] | None:
    """The mean parts of the grades; None without episodes.

    ``on_each`` is called after each of them, which takes half a second.
    """
    if not states:
        return None
    rows = []
    for state in states:
        explanation = explain(state)
        rows.append([getattr(explanation, name) for name in PARTS])
        on_each()
    means_of = {name: fmean(row[at] for row in rows) for at, name in enumerate(PARTS)}
    return {"episodes": len(states), **means_of}


def explainable(attempts: Attempts, count: int, resolve: Resolver) -> list[State]:
    """The first attempts at the first ``count`` incidents, as far as they can be explained.

    They are closed, and the probabilities of their worlds are known.
    """
    first = [tries[0] for tries in attempts.values()][:count]
    states = [
        played_state(resolve(grade.incident), grade) for grade in first if grade.score is not None
    ]
    return [state for state in states if state.is_closed and state.incident.setting is not None]


def means(attempts: Attempts) -> list[float]:
    """The mean score of each incident that was scored at all."""
    return list(mean_scores(attempts).values())


def mean_scores(attempts: Attempts) -> dict[str, float]:
    """The mean score of each incident that was scored at all, by its id."""
    by_incident = {}
    for incident, tries in attempts.items():
        scores = [grade.score for grade in tries if grade.score is not None]
        if scores:
            by_incident[incident] = fmean(scores)
    return by_incident


def bounds(attempts: Attempts) -> list[float | None]:
    """The mean score of each incident, with 0 for unscored attempts."""
    return [bound_of(attempt.score for attempt in tries) for tries in attempts.values()]


def difference(before: Attempts, after: Attempts) -> dict[str, Any] | None:
    """``after - before`` on the incidents that have a score in both; None if there are none."""
    old, new = mean_scores(before), mean_scores(after)
    shared = [name for name in old if name in new]
    gap = paired_difference([old[name] for name in shared], [new[name] for name in shared])
    if gap is None:
        return None
    planned = [incident for incident in before if incident in after]
    return {
        "incidents": len(shared),
        "before": fmean(old[name] for name in shared),
        "after": fmean(new[name] for name in shared),
        "before_bound": bound_of(bounds({incident: before[incident] for incident in planned})),
        "after_bound": bound_of(bounds({incident: after[incident] for incident in planned})),
        "difference": attrs.asdict(gap),
        "better": sum(new[name] > old[name] for name in shared),
        "worse": sum(new[name] < old[name] for name in shared),
        "same": sum(new[name] == old[name] for name in shared),
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
        [_score(grade) >= SOLVED for grade in tries]
        for tries in attempts.values()
        if len(tries) == most and all(grade.score is not None for grade in tries)
    ]
    ks = sorted(
        {2**n for n in range(most.bit_length()) if 2**n <= most} | ({most} if most else set())
    )
    return {str(k): interval([estimate(sum(solved), most, k) for solved in whole]) for k in ks}


def _right(state: State) -> bool:
    return any(team in state.incident.truth.teams for _, team in state.facts.pages)


def _score(grade: Grade) -> float:
    assert grade.score is not None
    return grade.score


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None
