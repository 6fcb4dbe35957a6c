"""What weights of hypotheses say of roots, remedies, teams and kinds: sums as one product."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.belief.model import Model
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints, stacked
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
    """Sums over the hypotheses of a model, or of each of several worlds."""

    def __init__(self, *models: Model) -> None:
        self._table = stacked([_marginals(one) for one in models])
        self._fixed = stacked([_fixed_teams(one) for one in models])
        world, n = models[0].world, len(models[0].topology)
        remedies = len(models[0].topology.remedies)
        self._cuts = np.cumsum([n, remedies * n, len(kinds_of(world)), n])

    def of(
        self, weights: NDArray[np.generic], worlds: NDArray[np.integer[Any]] | None = None
    ) -> Believed:
        """What weights (N, H) of the hypotheses, not all 0 in a row, say.

        ``worlds`` (N,) has each row's number among the models; without it, all are of the first.
        """
        shares = weights.astype(np.float32)
        shares /= shares.sum(axis=1, keepdims=True)
        sums = np.empty((len(shares), self._table.shape[2]), np.float32)
        fixed = np.empty((len(shares), self._fixed.shape[2]), np.float32)
        for number, (table, teams) in enumerate(zip(self._table, self._fixed, strict=True)):
            mine: Any = slice(None) if worlds is None else worlds == number
            sums[mine], fixed[mine] = shares[mine] @ table, shares[mine] @ teams
            if worlds is None:
                break
        root, remedy, kind, owned, benign = np.split(sums, self._cuts, axis=1)
        logs = np.log2(np.where(shares > 0, shares, 1))
        doubt = -(shares * logs).sum(axis=1, keepdims=True) / np.log2(shares.shape[1])
        return Believed(root, remedy, kind, benign, doubt, owned, fixed)


def _marginals(model: Model) -> Floats:
    """Columns whose sums, weighted by the posterior (H,), are probabilities.

    Of roots, remedies, kinds, roots whose owner is to be paged, and benign incidents.
    """
    world, topology, hypotheses = model.world, model.topology, model.hypotheses
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


def _fixed_teams(model: Model) -> Floats:
    """The teams (H, m) that are right whoever owns what."""
    topology = model.topology
    found = np.zeros((len(model.hypotheses), len(topology.teams)), np.float32)
    for place, one in enumerate(model.hypotheses):
        for kind, _ in one.faults:
            team = model.world.pages(kind, topology)
            if team is not None:
                found[place, topology.teams.index(team)] = 1
    return found
