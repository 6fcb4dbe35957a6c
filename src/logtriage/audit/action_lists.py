"""Lists of actions: what they score on many incidents, and two searches for better ones.

A policy that looks at nothing is a list of actions, or a lottery over lists, which is worth no more
than the best of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from warnings import catch_warnings, filterwarnings

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage._lib.grouping import grouped
from logtriage.actions import Action, Ignore, Resolve, all_actions
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
#: Actions that end a list.
CLOSERS: Final[tuple[Action, ...]] = (Resolve(), Ignore())
#: Pairs of a list and an incident that are graded at a time.
_ROWS: Final = 60_000
#: Lists name services that at least this share of the incidents have. If every incident has a
#: system of its own, a list gains next to nothing by naming a rare service, and the search over
#: such lists has no end.
_SHARED: Final = 0.25
#: A list must be better by more than this to replace another.
_EPSILON: Final = 1e-12


def kind_of(incident: Incident) -> object:
    """The *kind* of an incident: all that decides the grade of a list of actions, no telemetry."""
    return (
        incident.truth,
        incident.horizon,
        incident.topology,
        incident.wrong_page_closes,
        incident.par,
        incident.task_par,
        incident.worth_of_hand_over,
    )


@attrs.frozen(eq=False)
class _Kinds:
    """An incident of each kind on a topology, and their columns in a table of scores.

    ``fits`` caches actions as :func:`fitted` to the topology.
    """

    topology: Topology
    incidents: list[Incident] = attrs.field(factory=list)
    columns: list[int] = attrs.field(factory=list)
    fits: dict[Action, Action] = attrs.field(factory=dict)

    def fitted(self, plan: Plan) -> list[Action]:
        for action in plan:
            if action not in self.fits:
                self.fits[action] = fitted(action, self.topology)
        return [self.fits[action] for action in plan]


class Scorer:
    """Grades lists of actions on a fixed set of incidents, each kind of incident once.

    Attributes:
        kinds: one incident of each kind; no list can tell the incidents of a kind apart.
        weights: how many incidents are of each kind (kinds,).
        fast: whether ``grade_batch`` grades; it uses kernels if Numba is installed.
        services: the services that lists may name: those that many of the incidents have.
        actions: the actions that lists are made of.
        graded: how many lists were graded, each counted once for every topology.
    """

    def __init__(self, incidents: Sequence[Incident], rubric: Rubric) -> None:
        self.rubric = rubric
        self.fast = has_kernels(rubric)
        self.graded = 0
        alike = grouped((kind_of(incident), incident) for incident in incidents)
        self.kinds = tuple(group[0] for group in alike.values())
        self.weights = np.array([len(group) for group in alike.values()], np.float64)
        self._groups: dict[Topology, _Kinds] = {}
        for column, kind in enumerate(self.kinds):
            group = self._groups.setdefault(kind.topology, _Kinds(kind.topology))
            group.incidents.append(kind)
            group.columns.append(column)
        topology = self.kinds[0].topology
        least = _SHARED * self.weights.sum()
        having = defaultdict[str, float](float)  # incidents with a service of that name
        for group in self._groups.values():
            for name in group.topology.names:
                having[name] += float(self.weights[group.columns].sum())
        self.services = frozenset(name for name in topology.names if having[name] >= least)
        offered = any(kind.takes_hand_over for kind in self.kinds)
        every = all_actions(topology, hand_over=offered) if self.fast else vocabulary(topology)
        self.actions: tuple[Action, ...] = tuple(
            action for action in every if getattr(action, "service", None) in (None, *self.services)
        )

    def smaller(self, kinds: int, topologies: int) -> "Scorer":
        """A scorer for at most ``kinds`` kinds of the ``topologies`` commonest topologies."""
        groups = self._groups.values()
        common = sorted(groups, key=lambda group: -self.weights[group.columns].sum())
        places = np.concatenate([group.columns for group in common[:topologies]])
        order = places[np.argsort(-self.weights[places], kind="stable")][:kinds].tolist()
        # Each kind as often as it occurs here, so that it keeps its weight.
        incidents = [self.kinds[place] for place in order for _ in range(int(self.weights[place]))]
        return Scorer(incidents, self.rubric)

    def by_kind(self, plans: Sequence[Plan]) -> Floats:
        """The score of each list on each kind of incident, (lists, kinds)."""
        scores = np.empty((len(plans), len(self.kinds)))
        self.graded += len(plans) * len(self._groups)
        for group in self._groups.values():
            fits = [group.fitted(plan) for plan in plans]
            if self.fast:
                scores[:, group.columns] = self._in_batches(group, fits)
            else:
                scores[:, group.columns] = [
                    [score(play(kind, plan)[0], self.rubric) for kind in group.incidents]
                    for plan in fits
                ]
        return scores

    def _in_batches(self, group: _Kinds, plans: Sequence[Plan]) -> Floats:
        """The score of each list on each kind of a group, by ``grade_batch``."""
        truths = truths_of(group.incidents)
        offered = bool(truths.takes_hand_over.any())
        actions = action_array(group.topology, plans, hand_over=offered)
        if not actions.shape[1]:
            actions = np.full((len(plans), 1), -1, np.int8)  # -1 stands for no action
        count, parts = len(group.incidents), []
        size = max(1, _ROWS // count)
        for start in range(0, len(plans), size):
            part = actions[start : start + size]
            tiled = truths.take(np.tile(np.arange(count), len(part)))
            with catch_warnings():  # the command says what is missing
                filterwarnings("ignore", "grade_batch grades lists of actions one by one")
                graded = grade_batch(tiled, np.repeat(part, count, axis=0), self.rubric)
            parts.append(graded.scores.reshape(len(part), count))
        return np.concatenate(parts)

    def means(self, plans: Sequence[Plan]) -> Floats:
        """The mean score of each list over all incidents, (lists,)."""
        means: Floats = self.by_kind(plans) @ self.weights / self.weights.sum()
        return means

    def best(self, plans: Sequence[tuple[Action, ...]]) -> "Best":
        """The list with the highest mean score; the first of equals."""
        means = self.means(plans)
        place = int(means.argmax())
        return Best(plans[place], float(means[place]))


class Best(NamedTuple):
    """A list of actions and its mean score on the incidents that it was chosen on."""

    actions: tuple[Action, ...]
    mean: float


def best_constant_list(scorer: Scorer, most: float = float("inf")) -> Best:
    """Search greedily: each position gets the action with which the closed list is worth most.

    The search goes on to the horizon, unless the scorer has graded ``most`` lists, and returns the
    best list on the way.
    """
    openers = [action for action in scorer.actions if action not in CLOSERS]
    best = scorer.best([(closer,) for closer in CLOSERS])
    prefix: tuple[Action, ...] = ()
    while len(prefix) < scorer.kinds[0].horizon - 1 and scorer.graded < most:
        top = scorer.best([(*prefix, action, end) for action in openers for end in CLOSERS])
        if top.mean > best.mean:
            best = top
        prefix = top.actions[:-1]
    return best


def best_blind_policy(scorer: Scorer, starts: Sequence[Plan], most: float = float("inf")) -> Best:
    """Improve each of ``starts`` by one change at a time until none helps; return the best list.

    A change replaces, inserts or removes an action, or swaps two neighbours. The search ends early
    if the scorer has graded ``most`` lists.
    """
    horizon = scorer.kinds[0].horizon
    best: Best | None = None
    for start in starts:
        current = scorer.best([tuple(start)[:horizon]])
        while scorer.graded < most:
            top = scorer.best([*_changes(current.actions, scorer.actions, horizon)])
            if top.mean <= current.mean + _EPSILON:
                break
            current = top
        if best is None or current.mean > best.mean + _EPSILON:
            best = current
    assert best is not None, "a search has a start"
    return best


def _changes(
    plan: tuple[Action, ...], choices: Sequence[Action], horizon: int
) -> Iterator[tuple[Action, ...]]:
    for place in range(len(plan)):
        yield (*plan[:place], *plan[place + 1 :])
        for action in choices:
            yield (*plan[:place], action, *plan[place + 1 :])
    if len(plan) < horizon:
        for place in range(len(plan) + 1):
            for action in choices:
                yield (*plan[:place], action, *plan[place:])
    for place in range(len(plan) - 1):
        yield (*plan[:place], plan[place + 1], plan[place], *plan[place + 2 :])
