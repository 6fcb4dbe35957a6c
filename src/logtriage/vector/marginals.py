"""Marginal probabilities of root causes, remedies, teams and kinds, by one matrix product."""

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
    """Marginal probabilities in N rows, with n services, m teams and K kinds.

    ``root`` (N, n) of root causes, ``remedy`` (N, M) of the M remedies, ``kind`` (N, K) by
    :func:`kinds_of`, ``benign`` (N, 1). ``doubt`` (N, 1) is the entropy of the hypotheses as a
    share of its maximum in the row's world. ``owned`` (N, n): the service is a root cause and its
    owner is right to page; ``elsewhere`` (N, m): the team is right to page, whichever services it
    owns.
    """

    root: Floats
    remedy: Floats
    kind: Floats
    benign: Floats
    doubt: Floats
    owned: Floats
    elsewhere: Floats

    def team(self, owners: Ints) -> Floats:
        """The probability (N, m) that a team is right to page, by the teams' numbers ``owners``."""
        team = self.elsewhere.copy()
        np.add.at(team, (np.arange(len(team))[:, None], owners), self.owned)
        return team


class Marginals:
    """Sums posterior weights over the hypotheses of a model, or of the models of several worlds."""

    def __init__(self, *models: Model) -> None:
        self._table = stacked([_marginals(model) for model in models])
        teams = stacked([tables_in_one(model).fixed_team.T for model in models])
        self._elsewhere = teams.astype(np.float32)
        world, n = models[0].world, len(models[0].topology)
        remedies = len(models[0].topology.remedies)
        self._most = np.log2([max(2, len(model.hypotheses)) for model in models])
        # The widths of the parts of :func:`_marginals`; the last, benign, is the rest.
        self._cuts = np.cumsum([n, remedies * n, len(kinds_of(world)), n])

    def of(
        self, weights: NDArray[np.generic], worlds: NDArray[np.integer[Any]] | None = None
    ) -> Believed:
        """The marginal probabilities by posterior weights (N, H); all 0 in rows without weights.

        ``worlds`` (N,) has the number of each row's model; without it, all rows use the first.
        """
        shares = weights.astype(np.float32)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total + (total == 0)
        sums = np.empty((len(shares), self._table.shape[2]), np.float32)
        elsewhere = np.empty((len(shares), self._elsewhere.shape[2]), np.float32)
        for number, (table, teams) in enumerate(zip(self._table, self._elsewhere, strict=True)):
            rows: Any = slice(None) if worlds is None else worlds == number
            sums[rows], elsewhere[rows] = shares[rows] @ table, shares[rows] @ teams
            if worlds is None:
                break
        root, remedy, kind, owned, benign = np.split(sums, self._cuts, axis=1)
        logs = np.log2(np.where(shares > 0, shares, 1))
        most = self._most[0] if worlds is None else self._most[worlds[:, np.newaxis]]
        doubt = -(shares * logs).sum(axis=1, keepdims=True) / most
        return Believed(root, remedy, kind, benign, doubt, owned, elsewhere)


def _marginals(model: Model) -> Floats:
    """The 0-1 table (H, columns): roots, remedies, kinds, roots whose owner is paged, benign."""
    tables, names = tables_in_one(model), kinds_of(model.world)
    n, hypotheses = len(model.topology), model.hypotheses
    roots = np.zeros((len(hypotheses), n), np.float32)
    kinds = np.zeros((len(hypotheses), len(names)), np.float32)
    for row, hypothesis in enumerate(hypotheses):
        for kind, service in hypothesis.faults:
            roots[row, service] = 1
            kinds[row, names.index(kind)] = 1
        if hypothesis.benign is not None:
            kinds[row, names.index(hypothesis.benign[0])] = 1
    owned = (tables.owner_root[..., np.newaxis] == np.arange(n)).any(axis=1)
    benign = (tables.errors == NO_FAULT)[:, np.newaxis]
    parts = [roots, tables.accepts.T, kinds, owned, benign]
    return np.concatenate(parts, axis=1, dtype=np.float32)
