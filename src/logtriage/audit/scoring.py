"""The scores of many action lists on many incidents, by the fastest way that is exact."""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import Action, Malformed, all_actions, check_action, describe
from logtriage.audit.failing import score
from logtriage.audit.vocabulary import vocabulary
from logtriage.errors import UnknownName
from logtriage.grading import Rubric, action_array, grade_batch, truths_of
from logtriage.grading.tables import has_kernels
from logtriage.incident import Incident
from logtriage.topology import Topology
from logtriage.transition import play

Plan = Sequence[Action]
Floats = NDArray[np.float64]
#: Rows graded at a time.
_ROWS = 60_000
#: Lists name services that at least this share of the incidents have.
_SHARED = 0.25


def kind_of(incident: Incident) -> object:
    """What decides the grade of a given list of actions: truth and rules, no telemetry."""
    return (
        incident.truth,
        incident.horizon,
        incident.topology,
        incident.closing,
        incident.par,
        incident.task_par,
        incident.price_of_hand_over,
    )


def alike(incidents: Iterable[Incident]) -> list[tuple[Incident, int]]:
    """One incident of each kind that a fixed list cannot tell apart, with their number."""
    counts: dict[object, int] = {}
    first: dict[object, Incident] = {}
    for one in incidents:
        key = kind_of(one)
        first.setdefault(key, one)
        counts[key] = counts.get(key, 0) + 1
    return [(one, counts[key]) for key, one in first.items()]


def fitted(plan: Plan, topology: Topology) -> tuple[Action, ...]:
    """A list with what the topology lacks made malformed, as it would be in any mouth."""
    fits: list[Action] = []
    for action in plan:
        try:
            check_action(action, topology)
        except UnknownName as error:
            fits.append(Malformed(describe(action), str(error)))
        else:
            fits.append(action)
    return tuple(fits)


def _shared(kinds: Sequence[Incident], weights: Floats) -> frozenset[str]:
    """The services of the first incident that at least a quarter of all incidents have.

    Where every incident has a system of its own, a list that names what few of them have
    gains next to nothing, and the search over such lists has no end.
    """
    found = dict.fromkeys(kinds[0].topology.names, 0.0)
    for one, weight in zip(kinds, weights.tolist(), strict=True):
        for name in one.topology.names:
            if name in found:
                found[name] += weight
    least = _SHARED * weights.sum()
    return frozenset(name for name, weight in found.items() if weight >= least)


@attrs.frozen(eq=False)
class _Kinds:
    """Incidents of one topology, one of each kind, and which column is whose."""

    topology: Topology
    incidents: tuple[Incident, ...]
    columns: NDArray[np.int64]


class Scorer:
    """Grades lists of actions on a fixed set of incidents.

    What a list earns depends on truth and rules alone (the check ``blindness`` of the
    grade holds a rubric to that), so each kind of incident is graded once and counted.
    """

    def __init__(self, incidents: Sequence[Incident], rubric: Rubric) -> None:
        self.rubric = rubric
        groups = alike(incidents)
        self.kinds = tuple(one for one, _ in groups)
        self.weights = np.array([count for _, count in groups], np.float64)
        #: Whether ``grade_batch`` does the work; it uses kernels if Numba is installed.
        self.fast = has_kernels(rubric)
        #: The services that lists name: those that many of the incidents have.
        self.services = _shared(self.kinds, self.weights)
        first, some = self.kinds[0], any(one.takes_hand_over for one in self.kinds)
        #: The actions that lists are made of. What is said beside them is no part of a
        #: batch: measures that have a kernel do not read it, any other may.
        self.actions: tuple[Action, ...] = tuple(
            one
            for one in (
                all_actions(first.topology, hand_over=some)
                if self.fast
                else vocabulary(first.topology)
            )
            if (named := getattr(one, "service", None)) is None or named in self.services
        )
        by_topology: dict[Topology, list[int]] = {}
        for column, one in enumerate(self.kinds):
            by_topology.setdefault(one.topology, []).append(column)
        self._groups = tuple(
            _Kinds(topology, tuple(self.kinds[i] for i in columns), np.array(columns))
            for topology, columns in by_topology.items()
        )

    def largest(self, count: int) -> "Scorer":
        """A scorer for the commonest kinds alone, where grading is slow."""
        order = np.argsort(-self.weights, kind="stable")[:count].tolist()
        chosen = [self.kinds[place] for place in order]
        return Scorer(
            [
                one
                for one, place in zip(chosen, order, strict=True)
                for _ in range(int(self.weights[place]))
            ],
            self.rubric,
        )

    def by_kind(self, plans: Sequence[Plan]) -> Floats:
        """The score of each list on each kind of incident, (lists, kinds)."""
        found = np.empty((len(plans), len(self.kinds)))
        for group in self._groups:
            fits = [fitted(plan, group.topology) for plan in plans]
            if self.fast:
                found[:, group.columns] = self._many(group, fits)
            else:
                found[:, group.columns] = [
                    [score(play(one, plan)[0], self.rubric) for one in group.incidents]
                    for plan in fits
                ]
        return found

    def _many(self, group: _Kinds, plans: Sequence[Plan]) -> Floats:
        truths = truths_of(group.incidents)
        some = bool(truths.takes_hand_over.any())
        actions = action_array(group.topology, plans, hand_over=some)
        if not actions.shape[1]:
            actions = np.full((len(plans), 1), -1, np.int8)
        count, parts = len(group.incidents), []
        size = max(1, _ROWS // count)
        for start in range(0, len(plans), size):
            part = actions[start : start + size]
            tiled = truths.take(np.tile(np.arange(count), len(part)))
            graded = grade_batch(tiled, np.repeat(part, count, axis=0), self.rubric)
            parts.append(graded.scores.reshape(len(part), count))
        return np.concatenate(parts)

    def means(self, plans: Sequence[Plan]) -> Floats:
        """The mean score of each list over all incidents, (lists,)."""
        found: Floats = self.by_kind(plans) @ self.weights / self.weights.sum()
        return found

    def mean(self, plan: Plan) -> float:
        """The mean score of one list."""
        return float(self.means([plan])[0])

    def scores(self, plan: Plan) -> list[float]:
        """The scores of one list on every incident, incidents of a kind side by side."""
        found: list[float] = np.repeat(
            self.by_kind([plan])[0], self.weights.astype(np.int64)
        ).tolist()
        return found
