"""Marginal probabilities of n roots, 5 n remedies, m teams and K kinds by one matrix product."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.beliefs.model import Model
from logtriage.vector.arrays import Ints, stacked
from logtriage.vector.belief_tables import NO_FAULT, tables_in_one
from logtriage.vector.layout import Floats
from logtriage.world.model import World


def kinds_of(world: World) -> tuple[str, ...]:
    """The fault kinds of a world, then its benign kinds."""
    return (*world.kind_names, *(kind.name for kind in world.benign))


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
        self._table = stacked([_marginals(model) for model in models])
        self._fixed = stacked([tables_in_one(model).fixed_team.T for model in models])
        self._fixed = self._fixed.astype(np.float32)
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
            rows_of: Any = slice(None) if worlds is None else worlds == number
            sums[rows_of], fixed[rows_of] = shares[rows_of] @ table, shares[rows_of] @ teams
            if worlds is None:
                break
        root, remedy, kind, owned, benign = np.split(sums, self._cuts, axis=1)
        logs = np.log2(np.where(shares > 0, shares, 1))
        doubt = -(shares * logs).sum(axis=1, keepdims=True) / np.log2(shares.shape[1])
        return Believed(root, remedy, kind, benign, doubt, owned, fixed)


def _marginals(model: Model) -> Floats:
    """Columns by hypothesis (H, …): roots, remedies, kinds, roots whose owner is paged, benign."""
    tables, every = tables_in_one(model), kinds_of(model.world)
    n, hypotheses = len(model.topology), model.hypotheses
    roots = np.zeros((len(hypotheses), n), np.float32)
    kinds = np.zeros((len(hypotheses), len(every)), np.float32)
    for row, hypothesis in enumerate(hypotheses):
        for kind, service in hypothesis.faults:
            roots[row, service] = 1
            kinds[row, every.index(kind)] = 1
        if hypothesis.benign is not None:
            kinds[row, every.index(hypothesis.benign[0])] = 1
    owned = (tables.owner_root[..., np.newaxis] == np.arange(n)).any(axis=1)
    benign = (tables.errors == NO_FAULT)[:, np.newaxis]
    parts = [roots, tables.accepts.T, kinds, owned, benign]
    return np.concatenate(parts, axis=1, dtype=np.float32)
