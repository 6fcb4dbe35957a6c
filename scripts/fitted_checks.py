"""Posterior predictive checks: what a world says that recordings show, beside what they show."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.fitting import Recorded
from logtriage.recorded.fitting.signs import SORTS, signs_of
from logtriage.world.conditions import reachable, unaffected
from logtriage.world.model import HEALTHY, WAITING, World

#: Recorded kinds beside the shipped kind that is most like them.
ALIKE: Final = {
    HEALTHY: HEALTHY,
    WAITING: WAITING,
    "cpu_contention": "saturation",
    "return": "bad_deploy",
    "exception": "bad_deploy",
}
PERMUTATIONS: Final = 500
#: Fewer services of a condition say nothing of two cells.
_ENOUGH: Final = 20
_FAULTY, _RECORDING, _CONDITION = "faulty", "recording", "condition"
Places = NDArray[np.int64]
_SEED: Final = 7


@attrs.frozen
class Check:
    """One token of one condition: what the world says, what was counted, and what it predicts.

    ``low`` and ``high`` hold 95 % of the counts of as many recordings drawn by the world.
    """

    condition: str
    sort: str
    token: str
    says: float
    seen: int
    of: int
    low: int
    high: int

    @property
    def right(self) -> bool:
        """Whether the count lies in the interval."""
        return self.low <= self.seen <= self.high


def checks(rows: Sequence[Recorded], world: World) -> Iterator[Check]:
    """Each token that both the world and recordings have, by condition."""
    counts = sum((row.counts.signs for row in rows), Counter())
    dice = np.random.default_rng(_SEED)
    for condition, shipped in ALIKE.items():
        for sort, tokens in SORTS.items():
            of = sum(counts[condition, sort, token] for token in tokens)
            if not of or sort not in world.ordinary:
                continue
            for token in tokens[1:]:
                if not any(one.name == token for one in world.sorts[sort]):
                    continue
                says = _says(world, shipped, sort, token)
                low, high = np.quantile(dice.binomial(of, says, 20_000), (0.025, 0.975))
                seen = counts[condition, sort, token]
                if not seen and not says:
                    continue
                yield Check(condition, sort, token, says, seen, of, int(low), int(high))


def _says(world: World, condition: str, sort: str, token: str) -> float:
    """The share of a token; of a service that no fault reaches, over all that it may be."""
    if condition != HEALTHY:
        return world.signature(condition).get(sort, {}).get(token, 0) / 100
    rows = unaffected(world, "service")
    whole = sum(weight for _, weight in rows)
    return sum(
        weight * world.signature(one.name).get(sort, {}).get(token, 0) for one, weight in rows
    ) / (100 * whole)


@attrs.frozen
class Dependence:
    """How much two cells of a service tell of each other, given its condition, in bits.

    ``expected`` is the mean over permutations within each condition, ``p`` the share of
    permutations that reach ``bits``.
    """

    one: str
    other: str
    condition: str
    services: int
    bits: float
    expected: float
    p: float


def dependences(rows: Sequence[Recorded]) -> Iterator[Dependence]:
    """Every pair of sorts at services of a condition, and each sort with the recording itself.

    The kinds of faults are conditions of their own; their information is summed up.
    """
    dice = np.random.default_rng(_SEED)
    for name, services in _by_condition(rows).items():
        for one, other in combinations((*SORTS, _RECORDING), 2):
            kept = [row for row in services if one in row and other in row]
            if name == _FAULTY and other == _RECORDING:  # of which each has one
                continue
            if len(kept) < _ENOUGH or any(
                len({row[key] for row in kept}) < 2 for key in (one, other)
            ):
                continue
            left, right, strata = (
                np.unique([row[key] for row in kept], return_inverse=True)[1]
                for key in (one, other, _CONDITION)
            )
            bits = information(left, right, strata)
            shuffled = [
                information(left, permuted(right, strata, dice), strata)
                for _ in range(PERMUTATIONS)
            ]
            reached = (1 + sum(by_chance >= bits - 1e-12 for by_chance in shuffled)) / (
                1 + PERMUTATIONS
            )
            yield Dependence(one, other, name, len(kept), bits, float(np.mean(shuffled)), reached)


def _by_condition(rows: Sequence[Recorded]) -> dict[str, list[dict[str, str]]]:
    """The sign of each sort of each service, by healthy, waiting and faulty."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        incident, truth = row.state.incident, row.record.truth
        roots = [incident.topology.index(name) for name in truth.root_causes]
        waiting = set(reachable(incident.topology.callers, tuple(roots)))
        cells: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for sign in signs_of(incident, row.state.tick):
            cells[sign.service][sign.sort].append(sign.token.partition(":")[0])
        for service, sorts in cells.items():
            condition = _FAULTY if service in roots else WAITING if service in waiting else HEALTHY
            signs = {sort: Counter(tokens).most_common(1)[0][0] for sort, tokens in sorts.items()}
            own = truth.kind if condition == _FAULTY else condition
            found[condition].append({**signs, _RECORDING: incident.id, _CONDITION: own})
    return found


def permuted(column: Places, strata: Places, dice: np.random.Generator) -> Places:
    """The column, permuted within each stratum."""
    shuffled = column.copy()
    for stratum in range(strata.max() + 1):
        mine = np.flatnonzero(strata == stratum)
        shuffled[mine] = column[dice.permutation(mine)]
    return shuffled


def information(left: Places, right: Places, strata: Places) -> float:
    """The mutual information of two columns given the stratum, in bits."""
    table = np.zeros((strata.max() + 1, left.max() + 1, right.max() + 1))
    np.add.at(table, (strata, left, right), 1)
    share = table / table.sum()
    whole = share.sum(axis=(1, 2), keepdims=True)
    apart = share.sum(axis=2, keepdims=True) * share.sum(axis=1, keepdims=True) / whole
    kept = share > 0
    return float((share[kept] * np.log2(share[kept] / apart[kept])).sum())
