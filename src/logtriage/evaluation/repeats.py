"""Repeats: one agent plays the same incidents several times, each time as a policy of a run.

The policies are ``NAME``, ``NAME#2``, ``NAME#3`` and so on.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.evaluation.episodes import is_solved
from logtriage.evaluation.loading import LoadedRun
from logtriage.evaluation.statistics import Interval, mean_interval, pass_at_k, pass_hat_k
from logtriage.grading import Grade

_REPEAT: Final = re.compile(r"(.+)#(\d+)")


@attrs.frozen
class Repeats:
    """How often one agent solves ``incidents`` of a task in ``repeats`` attempts at each.

    ``pass_at`` and ``pass_hat`` hold for k from 1 to ``repeats``: the chance that at least one of k
    attempts solves an incident, and that all k do, with intervals over incidents.
    """

    policy: str
    task: str
    incidents: int
    repeats: int
    pass_at: tuple[Interval, ...]
    pass_hat: tuple[Interval, ...]


def repeat_name(agent: str, number: int) -> str:
    """The name of the policy of an agent's repeat, numbered from 0."""
    return f"{agent}#{number + 1}" if number else agent


def attempts_of(run: LoadedRun) -> dict[str, list[str]]:
    """The policies of each agent of a run: its repeats in order, or one policy of the same name."""
    attempts: dict[str, list[str]] = {}
    for policy in sorted(run.policies, key=_number):
        match = _REPEAT.fullmatch(policy)
        agent = match[1] if match is not None and match[1] in run.policies else policy
        attempts.setdefault(agent, []).append(policy)
    return attempts


def _number(policy: str) -> int:
    match = _REPEAT.fullmatch(policy)
    return 0 if match is None else int(match[2])


def attempts_on(run: LoadedRun, task: str) -> dict[str, list[str]]:
    """As :func:`attempts_of`, but only policies and agents with incidents of a task."""
    having = {cell.policy for cell in run.planned if cell.task == task and cell.ids}
    groups = attempts_of(run).items()
    kept = {name: [each for each in group if each in having] for name, group in groups}
    return {name: group for name, group in kept.items() if group}


def policies_of(run: LoadedRun, agent: str) -> list[str]:
    """The policies of an agent's attempts; for the name of a single repeat, that policy alone."""
    return attempts_of(run).get(agent, [agent])


@attrs.frozen
class Attempts:
    """An agent's attempts by incident: the scored grades, and how many were planned."""

    graded: Mapping[str, Sequence[Grade]]
    planned: Mapping[str, int]

    @property
    def scores(self) -> dict[str, float]:
        """The mean score of each incident."""
        return {name: fmean(each.score for each in grades) for name, grades in self.graded.items()}

    def missing(self, incident: str) -> float:
        """The share of planned attempts at an incident that have no score; 1 if none is planned."""
        return 1.0 - len(self.graded.get(incident, ())) / max(1, self.planned.get(incident, 0))

    def bound(self, incidents: Iterable[str]) -> float:
        """The mean over planned incidents, with 0 for attempts without a score."""
        scores = ((name, [each.score for each in self.graded.get(name, ())]) for name in incidents)
        return fmean(fsum(known) / self.planned[name] for name, known in scores)


def attempts_at(run: LoadedRun, agent: str, tasks: Sequence[str]) -> Attempts:
    """The attempts of an agent on some tasks."""
    group = policies_of(run, agent)
    cells = (cell for cell in run.planned if cell.policy in group and cell.task in tasks)
    return Attempts(
        grouped(pair for policy in group for pair in run.scored(policy, tasks).items()),
        Counter(incident for cell in cells for incident in cell.ids),
    )


def are_repeats(run: LoadedRun, group: Sequence[str], task: str) -> bool:
    """Whether policies played the same incidents of a task, so that one row can sum them up.

    A second attempt at only a few incidents says nothing about the others.
    """
    played = {frozenset(each.incident for each in run.transcripts[name, task]) for name in group}
    return len(played) == 1


def repeats_of(run: LoadedRun) -> tuple[Repeats, ...]:
    """The repeats of a run's agents, over the incidents that are scored in every repeat."""
    rows = (
        _repeats(run, name, group, task)
        for task in run.tasks
        for name, group in attempts_on(run, task).items()
        if len(group) > 1
    )
    return tuple(row for row in rows if row is not None)


def _repeats(run: LoadedRun, name: str, group: Sequence[str], task: str) -> Repeats | None:
    """The repeats of an agent on a task; None if its policies played no incidents in common."""
    if not are_repeats(run, group, task):
        return None
    graded, count = [run.scored(policy, [task]) for policy in group], len(group)
    shared = [incident for incident in graded[0] if all(incident in row for row in graded)]
    if not shared:
        return None
    passed = [sum(is_solved(row[incident]) for row in graded) for incident in shared]
    return Repeats(
        name,
        task,
        len(shared),
        count,
        tuple(_mean(pass_at_k(n, count, k) for n in passed) for k in range(1, count + 1)),
        tuple(_mean(pass_hat_k(n, count, k) for n in passed) for k in range(1, count + 1)),
    )


def _mean(values: Iterable[float]) -> Interval:
    interval = mean_interval(list(values))
    assert interval is not None  # there is an incident
    return interval
