"""What weights of hypotheses say of roots, remedies, teams and kinds: sums as one product."""

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.layout import Floats
from logtriage.world.conditions import Hypothesis, accepted_remedies
from logtriage.world.model import World


def kinds_of(world: World) -> tuple[str, ...]:
    """What may be the matter, wherever it is: the fault kinds, then the benign ones."""
    return (*world.kind_names, *(one.name for one in world.benign))


@attrs.frozen(eq=False)
class Believed:
    """Probabilities by row.

    ``root`` (N, n), ``remedy`` (N, 5 n), ``kind`` (N, K), ``benign`` (N, 1); ``doubt``
    (N, 1) is the entropy as a share of the most there can be. ``owned`` (N, n) are roots
    whose owner is to be paged, ``elsewhere`` (N, m) teams to be paged whoever owns what.
    """

    root: Floats
    remedy: Floats
    kind: Floats
    benign: Floats
    doubt: Floats
    owned: Floats
    elsewhere: Floats

    def team(self, owners: Ints) -> Floats:
        """How likely each team (N, m) is right to page; ``owners`` (N, n) by number."""
        team = self.elsewhere.copy()
        np.add.at(team, (np.arange(len(team))[:, None], owners), self.owned)
        return team


class Marginals:
    """Sums over the hypotheses of a topology."""

    def __init__(
        self, world: World, topology: Topology, hypotheses: tuple[Hypothesis, ...]
    ) -> None:
        self._table = _marginals(world, topology, hypotheses)
        self._fixed = _fixed_teams(world, topology, hypotheses)
        n = len(topology)
        self._cuts = np.cumsum([n, len(topology.remedies) * n, len(kinds_of(world)), n])

    def of(self, weights: NDArray[np.generic]) -> Believed:
        """What weights (N, H) of the hypotheses, not all 0 in a row, say."""
        shares = weights.astype(np.float32)
        shares /= shares.sum(axis=1, keepdims=True)
        root, remedy, kind, owned, benign = np.split(shares @ self._table, self._cuts, axis=1)
        logs = np.log2(np.where(shares > 0, shares, 1))
        doubt = -(shares * logs).sum(axis=1, keepdims=True) / np.log2(shares.shape[1])
        return Believed(root, remedy, kind, benign, doubt, owned, shares @ self._fixed)


def _marginals(world: World, topology: Topology, hypotheses: tuple[Hypothesis, ...]) -> Floats:
    """Columns whose sums, weighted by the posterior (H,), are probabilities.

    Of roots, remedies, kinds, roots whose owner is to be paged, and benign incidents.
    """
    n, every = len(topology), kinds_of(world)
    roots, owned = np.zeros((2, len(hypotheses), n), np.float32)
    kinds = np.zeros((len(hypotheses), len(every)), np.float32)
    for place, one in enumerate(hypotheses):
        for kind, service in one.faults:
            roots[place, service] = 1
            owned[place, service] = world.pages(kind, topology) is None
            kinds[place, every.index(kind)] = 1
        if one.benign is not None:
            kinds[place, every.index(one.benign[0])] = 1
    remedies = _remedies(world, topology, hypotheses)
    benign = np.array([[not one.faults] for one in hypotheses])
    return np.concatenate([roots, remedies, kinds, owned, benign], axis=1, dtype=np.float32)


def _remedies(
    world: World, topology: Topology, hypotheses: tuple[Hypothesis, ...]
) -> NDArray[np.bool_]:
    order = [(remedy, name) for remedy in topology.remedies for name in topology.names]
    return np.array(
        [[pair in accepted_remedies(world, topology, one) for pair in order] for one in hypotheses]
    )


def _fixed_teams(world: World, topology: Topology, hypotheses: tuple[Hypothesis, ...]) -> Floats:
    """The teams (H, m) that are right whoever owns what."""
    found = np.zeros((len(hypotheses), len(topology.teams)), np.float32)
    for place, one in enumerate(hypotheses):
        for kind, _ in one.faults:
            team = world.pages(kind, topology)
            if team is not None:
                found[place, topology.teams.index(team)] = 1
    return found
