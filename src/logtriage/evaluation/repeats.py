"""Repeats: the same incidents answered several times by one agent, each time as a policy of a run.

The policies are ``NAME``, ``NAME#2``, ``NAME#3`` and so on.
"""

import re
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, Final

import attrs

from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.net_values import net_value_of_attempts
from logtriage.evaluation.statistics import (
    Interval,
    mean_interval,
    pass_at_k,
    pass_hat_k,
)
from logtriage.evaluation.summary import Row, is_solved

_REPEAT: Final = re.compile(r"(.+)#\d+")
#: Figures of a row that are means over episodes.
_MEANS: Final = (
    *("solved", "root_cause", "severity", "mis_paged", "ignored", "ticks"),
    *("brier", "augrc", "fault_class", "false_alarm"),
)


@attrs.frozen
class Repeats:
    """What one agent does over ``repeats`` of the same ``incidents`` of a task.

    ``pass_at`` and ``pass_hat`` hold for k from 1 to ``repeats``: the chance that one of k
    attempts solves an incident, and that all k do, with intervals over incidents. ``grade`` is the
    mean of all attempts, ``net`` their net value; None if hand-overs have no worth.
    """

    policy: str
    task: str
    incidents: int
    repeats: int
    pass_at: tuple[Interval, ...]
    pass_hat: tuple[Interval, ...]
    grade: Interval
    net: Interval | None


def repeat_name(agent: str, number: int) -> str:
    """The policy of an agent's repeat, from 0."""
    return f"{agent}#{number + 1}" if number else agent


def attempts_of(run: LoadedRun) -> dict[str, list[str]]:
    """The policies of each agent of a run: its repeats, or itself alone."""
    attempts: dict[str, list[str]] = {}
    for policy in run.policies:
        match = _REPEAT.fullmatch(policy)
        repeat = match is not None and match[1] in run.policies
        attempts.setdefault(match[1] if match and repeat else policy, []).append(policy)
    return attempts


def policies_of(run: LoadedRun, agent: str) -> list[str]:
    """The policies of an agent's attempts; another policy's name stands for itself."""
    return attempts_of(run).get(agent, [agent])


def repeats_of(run: LoadedRun) -> tuple[Repeats, ...]:
    """The repeats of a run's agents, over the incidents that all repeats have a grade of.

    On a task where one of them has other incidents, such as a second attempt at a few, they are
    no repeats: the mean over those few says nothing of the others.
    """
    groups = [(name, group) for name, group in attempts_of(run).items() if len(group) > 1]
    rows = (_repeats(run, name, group, task) for name, group in groups for task in run.tasks)
    return tuple(row for row in rows if row is not None)


def _repeats(run: LoadedRun, name: str, group: Sequence[str], task: str) -> Repeats | None:
    tried = {frozenset(one.incident for one in run.transcripts[policy, task]) for policy in group}
    if len(tried) > 1:
        return None
    graded, count = [run.scored(policy, [task]) for policy in group], len(group)
    shared = [incident for incident in graded[0] if all(incident in row for row in graded)]
    if not shared:
        return None
    scores = [[row[incident].score for row in graded] for incident in shared]
    passed = [sum(is_solved(row[incident]) for row in graded) for incident in shared]
    worths = [run.incidents(incident).worth_of_hand_over for incident in shared]
    known = [worth for worth in worths if worth is not None]
    net = None
    if len(known) == len(worths):
        net = net_value_of_attempts(zip(scores, known, strict=True))
    return Repeats(
        name,
        task,
        len(shared),
        count,
        tuple(_mean(pass_at_k(n, count, k) for n in passed) for k in range(1, count + 1)),
        tuple(_mean(pass_hat_k(n, count, k) for n in passed) for k in range(1, count + 1)),
        _mean(fmean(row) for row in scores),
        net,
    )


def _mean(values: Iterable[float]) -> Interval:
    interval = mean_interval(list(values))
    assert interval is not None  # there is an incident
    return interval


def pooled(rows: Sequence[Row], repeats: Sequence[Repeats]) -> list[Row]:
    """The rows of a run, with one in place of the repeats of an agent: the mean of theirs."""
    kept: list[Row] = []
    for row in rows:
        match = _REPEAT.fullmatch(row.policy)
        of = {each.policy: each for each in repeats if each.task == row.task}
        if row.policy in of:
            names = [repeat_name(row.policy, n) for n in range(of[row.policy].repeats)]
            group = [each for each in rows if each.task == row.task and each.policy in names]
            kept.append(_pooled(group, of[row.policy]))
        elif match is None or match[1] not in of:
            kept.append(row)
    return kept


def _pooled(rows: Sequence[Row], of: Repeats) -> Row:
    nets = [row.net for row in rows if row.net is not None]
    every = [row.located[0] for row in rows if row.located]
    groups = [
        [group for net in nets for group in net.by_worth if group.worth == worth]
        for worth in sorted({group.worth for net in nets for group in net.by_worth})
    ]
    by_worth = tuple(
        attrs.evolve(of_worth[0], **_means(("handed_over",), of_worth)) for of_worth in groups
    )
    shares = _means(("handed_over", "paged_right", "mis_paged"), nets)
    ranked = _means(("ac1", "ac3", "ac5", "avg5"), every)
    bounds = [row.bound or 0.0 for row in rows]
    whole = all(row.grade is not None and row.bound == row.grade.mean for row in rows)
    return attrs.evolve(
        rows[0],
        attempts=of.repeats,
        unscored=sum(row.unscored for row in rows),
        grade=of.grade,
        bound=of.grade.mean if whole else fmean(bounds),  # a rounding looks like missing episodes
        net=attrs.evolve(nets[0], net=of.net, by_worth=by_worth, **shares)
        if nets and of.net
        else None,
        located=(attrs.evolve(every[0], **ranked),) if every else (),
        confidences=sum(row.confidences for row in rows),
        **_means(_MEANS, rows),
    )


def _means(names: Iterable[str], rows: Sequence[object]) -> dict[str, Any]:
    """The mean of each figure over the rows that have it; None if none has."""
    values = {name: [getattr(row, name) for row in rows] for name in names}
    known = {name: [each for each in row if each is not None] for name, row in values.items()}
    return {name: fmean(row) if row else None for name, row in known.items()}
