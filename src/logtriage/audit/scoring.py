"""The scores of many action lists on many incidents, by the fastest way that is exact."""

from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.actions import Action, all_actions
from logtriage.audit.failing import score
from logtriage.audit.vocabulary import vocabulary
from logtriage.dynamics import play
from logtriage.grading import Rubric, action_array, grade_batch, truths_of
from logtriage.grading.tables import has_kernels
from logtriage.incident import Incident
from logtriage.policies.constant import fitted
from logtriage.topology import Topology

Plan = Sequence[Action]
Floats = NDArray[np.float64]
#: Rows graded at a time.
_ROWS = 60_000
#: Lists name services that at least this share of the incidents have.
_SHARED = 0.25


def kind_of(incident: Incident) -> object:
    """Everything that decides the grade of a list of actions: truth and rules, no telemetry."""
    return (
        incident.truth,
        incident.horizon,
        incident.topology,
        incident.wrong_page_closes,
        incident.par,
        incident.task_par,
        incident.worth_of_hand_over,
    )


def alike(incidents: Iterable[Incident]) -> list[tuple[Incident, int]]:
    """The first incident of each kind that a fixed list cannot tell apart, with their number."""
    groups: dict[object, list[Incident]] = {}
    for incident in incidents:
        groups.setdefault(kind_of(incident), []).append(incident)
    return [(group[0], len(group)) for group in groups.values()]


def _shared(kinds: Sequence[Incident], weights: Floats) -> frozenset[str]:
    """The services of the first incident that at least a quarter of all incidents have.

    If every incident has a system of its own, a list gains next to nothing by naming a rare
    service, and the search over such lists has no end.
    """
    counts = dict.fromkeys(kinds[0].topology.names, 0.0)
    for kind, weight in zip(kinds, weights.tolist(), strict=True):
        for name in counts.keys() & set(kind.topology.names):
            counts[name] += weight
    least = _SHARED * weights.sum()
    return frozenset(name for name, weight in counts.items() if weight >= least)


@attrs.frozen(eq=False)
class _Kinds:
    """The kinds of incident of one topology, and their columns in a table of scores.

    ``fits`` keeps each action as it fits the topology: the message of a misfit is dear.
    """

    topology: Topology
    incidents: tuple[Incident, ...]
    columns: NDArray[np.int64]
    fits: dict[Action, Action] = attrs.field(factory=dict)

    def fitted(self, plan: Plan) -> list[Action]:
        for action in plan:
            if action not in self.fits:
                self.fits[action] = fitted(action, self.topology)
        return [self.fits[action] for action in plan]


class Scorer:
    """Grades lists of actions on a fixed set of incidents.

    Truth and rules alone decide what a list earns (the check ``blindness`` holds a rubric to
    that), so each kind of incident is graded once and counted.

    Attributes:
        fast: whether ``grade_batch`` grades; it uses kernels if Numba is installed.
        services: the services that lists name: those that many of the incidents have.
        actions: the actions that lists are made of. What is said beside them is no part of a
            batch: measures that have a kernel do not read it, any other may.
        graded: how many lists were graded, each counted once for every topology.
    """

    def __init__(self, incidents: Sequence[Incident], rubric: Rubric) -> None:
        self.rubric = rubric
        groups = alike(incidents)
        self.kinds = tuple(incident for incident, _ in groups)
        self.weights = np.array([count for _, count in groups], np.float64)
        self.fast = has_kernels(rubric)
        self.services = _shared(self.kinds, self.weights)
        self.graded = 0
        topology, some = self.kinds[0].topology, any(kind.takes_hand_over for kind in self.kinds)
        self.actions: tuple[Action, ...] = tuple(
            action
            for action in (
                all_actions(topology, hand_over=some) if self.fast else vocabulary(topology)
            )
            if getattr(action, "service", None) in (None, *self.services)
        )
        columns: dict[Topology, list[int]] = {}
        for column, kind in enumerate(self.kinds):
            columns.setdefault(kind.topology, []).append(column)
        self._groups = tuple(
            _Kinds(topology, tuple(self.kinds[place] for place in places), np.array(places))
            for topology, places in columns.items()
        )

    def smaller(self, kinds: int, topologies: int) -> "Scorer":
        """A scorer for the commonest kinds of the commonest topologies, so many at most."""
        common = sorted(self._groups, key=lambda group: -self.weights[group.columns].sum())
        places = np.concatenate([group.columns for group in common[:topologies]])
        order = places[np.argsort(-self.weights[places], kind="stable")][:kinds].tolist()
        return Scorer(
            [self.kinds[place] for place in order for _ in range(int(self.weights[place]))],
            self.rubric,
        )

    def by_kind(self, plans: Sequence[Plan]) -> Floats:
        """The score of each list on each kind of incident, (lists, kinds)."""
        scores = np.empty((len(plans), len(self.kinds)))
        self.graded += len(plans) * len(self._groups)
        for group in self._groups:
            fits = [group.fitted(plan) for plan in plans]
            if self.fast:
                scores[:, group.columns] = self._many(group, fits)
            else:
                scores[:, group.columns] = [
                    [score(play(kind, plan)[0], self.rubric) for kind in group.incidents]
                    for plan in fits
                ]
        return scores

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
        means: Floats = self.by_kind(plans) @ self.weights / self.weights.sum()
        return means

    def scores(self, plan: Plan) -> list[float]:
        """The scores of one list on every incident, incidents of a kind side by side."""
        scores: list[float] = np.repeat(
            self.by_kind([plan])[0], self.weights.astype(np.int64)
        ).tolist()
        return scores
