"""Posterior predictive checks: what a world says that recordings show, beside what they show."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log2
from typing import Final

import attrs
import numpy as np

from logtriage.belief.fitting import Recorded
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

    ``expected`` is the mean over permutations within a condition, ``p`` the share of
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
    """Every pair of sorts at services of a condition, and each sort with the recording itself."""
    dice = np.random.default_rng(_SEED)
    for condition, services in _by_condition(rows).items():
        sorts = [*(sort for sort in SORTS), "recording"]
        for one, other in combinations(sorts, 2):
            pairs = [(row[one], row[other]) for row in services if one in row and other in row]
            if len(pairs) < 20 or any(len(set(column)) < 2 for column in zip(*pairs, strict=True)):
                continue
            left, right = (
                np.unique(column, return_inverse=True)[1] for column in zip(*pairs, strict=True)
            )
            bits = _information(left, right)
            permuted = [_information(left, dice.permutation(right)) for _ in range(PERMUTATIONS)]
            reached = (1 + sum(one >= bits for one in permuted)) / (1 + PERMUTATIONS)
            mean = float(np.mean(permuted))
            yield Dependence(one, other, condition, len(pairs), bits, mean, reached)


def _by_condition(rows: Sequence[Recorded]) -> dict[str, list[dict[str, str]]]:
    """The sign of each sort of each service, by condition; all faulty ones are ``faulty``."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        incident = row.state.incident
        roots = [incident.topology.index(name) for name in row.record.truth.root_causes]
        waiting = set(reachable(incident.topology.callers, tuple(roots)))
        cells: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for sign in signs_of(incident, row.state.tick):
            cells[sign.service][sign.sort].append(sign.token.partition(":")[0])
        for service, sorts in cells.items():
            condition = "faulty" if service in roots else WAITING if service in waiting else HEALTHY
            signs = {sort: Counter(tokens).most_common(1)[0][0] for sort, tokens in sorts.items()}
            found[condition].append({**signs, "recording": incident.id})
    return found


def _information(left: np.ndarray, right: np.ndarray) -> float:
    table = np.zeros((left.max() + 1, right.max() + 1))
    np.add.at(table, (left, right), 1)
    share = table / table.sum()
    apart = np.outer(share.sum(axis=1), share.sum(axis=0))
    kept = share > 0
    return float(sum(p * log2(p / q) for p, q in zip(share[kept], apart[kept], strict=True)))
