"""Beliefs of many incidents at once: the exact posterior, screen after screen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.belief.model import Model, model_of
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_checks import as_cells, as_rows, check_cells, checked_integers
from logtriage.vector.belief_state import NO_BREAK, BeliefState, clear, empty_state
from logtriage.vector.belief_tables import BeliefTables, tables_of
from logtriage.vector.cells import Cells, cell_numbers, flattened, padded
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis
from logtriage.world.setting import Setting

Floats = NDArray[np.float64]


class BeliefBatch:
    """The posteriors of N incidents of one topology and setting.

    ``held`` names the prior: False outside split ``ood``, True in it, None on a topology of your
    own. Every whole number equals that of :func:`logtriage.belief.belief`. Needs the
    extra ``fast``.

    Each tick, :meth:`update` takes the cells on the screen (:mod:`logtriage.vector.cells`)
    and what was done in the tick before; :attr:`weights` are then the posterior. An
    engine that starts a new episode in some rows tells :meth:`reset`.

    Raises:
        InvalidInput: if the topology has no place for a fault of the setting, and for a setting
            with several faults.
        MissingExtra: where Numba is not installed.
    """

    def __init__(
        self,
        setting: Setting,
        topology: Topology,
        held: bool | None,
        *,
        count: int,
        horizon: int,
    ) -> None:
        from logtriage.vector.compiled import beliefs, panels, signs  # loads Numba

        self._faultless, self._update = beliefs.faultless, beliefs.update
        self._logs_of, self._severities_of = beliefs.logs_of, panels.severities_of
        self.model: Model = model_of(setting, topology, held)
        self.horizon = horizon
        self._tables: BeliefTables = tables_of(self.model)
        self._room = signs.room_for(self._tables)
        teams = len(topology.teams)
        self._state: BeliefState = empty_state(count, self._tables, teams, horizon)
        self._every = np.arange(count)

    def __len__(self) -> int:
        return len(self._every)

    @property
    def topology(self) -> Topology:
        """The services and teams of all incidents."""
        return self.model.topology

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What may be the matter, in the order of all that is said of it."""
        return self.model.hypotheses

    @property
    def nbytes(self) -> int:
        """The bytes that all incidents take together, tables aside."""
        return self._state.nbytes

    # -- what is seen ---------------------------------------------------------------------

    def reset(self, owners: ArrayLike, rows: ArrayLike | None = None) -> None:
        """Begin new episodes in all rows or in these (R,), of which nothing is seen yet.

        ``owners`` (R, n) is the directory: the number of each service's team.

        Raises:
            InvalidInput: for another shape, or a team that the topology lacks.
        """
        chosen = as_rows(rows, self._every)
        shape = (len(chosen), len(self.topology))
        highest = len(self.topology.teams) - 1
        given = checked_integers("owners", owners, shape, 0, highest)
        clear(self._state, self._tables, chosen)
        self._state.owners[chosen] = given

    def update(
        self,
        cells: ArrayLike,
        actions: ArrayLike | None = None,
        *,
        misrouted: ArrayLike | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Take in the next screen of all rows or of these (R,), and renew their weights.

        ``cells`` (R, M, 5) stand on the screen; those of alerts, the panel, changes, metrics
        and traces that were seen before are left out, so whole screens may be given. A cell
        stands there once. ``actions`` (R,), or (R, L) for L roles, are the canonical
        integers of what was done since the last screen (anything that is no page and no
        remedy may as well be -1). ``misrouted`` (R,) says where the last page closed the
        incident. Of the first screen after a reset no action is read.

        Raises:
            InvalidInput: for arrays of another shape or type, a cell that cannot be, an
                effect of a remedy that was not applied in the last tick, or more screens
                than the horizon has; nothing is taken in then. And for rows that no hypothesis
                fits: all screens are taken in, and the weights of those rows are 0 until
                :meth:`reset`.
        """
        chosen = as_rows(rows, self._every)
        count = len(chosen)
        given = as_cells(cells, count)
        acted = np.full((count, 1), -1) if actions is None else np.asarray(actions)
        if acted.ndim == 1:
            acted = acted[:, np.newaxis]
        acted = checked_integers("actions", acted, (count, acted.shape[-1]), None, None)
        acted = np.ascontiguousarray(acted, np.int64)
        wrong = np.zeros(count, np.bool_) if misrouted is None else np.asarray(misrouted)
        if wrong.shape != (count,) or wrong.dtype != np.bool_:
            raise InvalidInput(
                f"misrouted: expected ({count},) bools, got {wrong.shape} of {wrong.dtype}"
            )
        state, tables = self._state, self._tables
        if not self._faultless(state, tables, chosen, given, acted):
            check_cells(state, tables, chosen, flattened(given), acted)
        remedies = acted - tables.first_remedy
        remedied = ((remedies >= 0) & (remedies < len(tables.accepts))).any(axis=1)
        if (state.breaks[chosen[remedied]] != NO_BREAK).all(axis=1).any():
            self._state = state = state.with_room()
        refused = self._update(state, tables, self._room, chosen, given, acted, wrong)
        if refused >= 0:
            raise InvalidInput(
                f"row {chosen[refused]}: no hypothesis fits the evidence: "
                "is it from another incident?"
            )

    def numbers(self, evidence: Sequence[Sequence[Evidence]]) -> Cells:
        """Scalar evidence of each row as cells (N, M, 5)."""
        setting, topology = self.model.setting, self.topology
        return padded([cell_numbers(setting, topology, one) for one in evidence])

    # -- what is believed -----------------------------------------------------------------

    @property
    def weights(self) -> NDArray[np.uint32]:
        """The weight of each hypothesis (N, H), the largest of a row about 2**30."""
        return self._state.weights

    def fixed_at(self, rows: Longs) -> Longs:
        """The tick in which a remedy fixed each hypothesis (R, H) in rows, -1 if none did."""
        when = self._state.fixed_at[rows]
        return np.where(when < self._state.unfixed, when, -1).astype(np.int64)

    @property
    def accepts(self) -> NDArray[np.bool_]:
        """Which hypotheses accept each remedy (5 n, H), in the order of canonical integers."""
        return self._tables.accepts

    def right_team(self, rows: Longs) -> Longs:
        """The number of the team to page under each hypothesis (R, H) in rows, -1 for nobody.

        The first of its faults decides where there are several.
        """
        tables = self._tables
        fixed = np.where(tables.fixed_team.any(axis=0), tables.fixed_team.argmax(axis=0), -1)
        root = tables.owner_root[:, 0]
        owner = self._state.owners[rows][:, np.maximum(root, 0)]
        return np.where(root >= 0, owner, fixed).astype(np.int64)

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether a remedy has fixed each hypothesis (N, H)."""
        answer: NDArray[np.bool_] = self._state.fixed_at < self._state.unfixed
        return answer

    def logs(self) -> Longs:
        """The logarithms (N, H) that the weights come from, in units of 2**-20."""
        return self._logs_of(self._state, self._tables, self._room)

    def severities(self, rows: ArrayLike | None = None) -> Longs:
        """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis, in all rows or these."""
        chosen = as_rows(rows, self._every)
        return self._severities_of(self._state, self._tables, self._room, chosen)

    def _shares(self, holds: Any) -> Floats:
        """Probabilities (N, K) of what holds under hypotheses (H, K)."""
        weights = self.weights.astype(np.float64)  # sums stay below 2**53
        shares: Floats = weights @ holds.astype(np.float64) / weights.sum(axis=1)[:, np.newaxis]
        return shares

    def probabilities(self) -> Floats:
        """The probability of each hypothesis (N, H)."""
        return self._shares(np.eye(len(self.hypotheses)))

    def root_causes(self) -> Floats:
        """How likely each service is a root cause (N, n)."""
        holds = np.zeros((len(self.hypotheses), len(self.topology)))
        for place, one in enumerate(self.hypotheses):
            holds[place, [service for _, service in one.faults]] = 1
        return self._shares(holds)

    def remedies(self) -> Floats:
        """How likely each remedy is accepted (N, 5 n), in the order of canonical integers."""
        return self._shares(self._tables.accepts.T)

    def teams(self) -> Floats:
        """How likely each team is right to page (N, m)."""
        tables, weights = self._tables, self.weights.astype(np.float64)
        found = np.empty((len(self), len(self.topology.teams)))
        for team, fixed in enumerate(tables.fixed_team):
            right = np.broadcast_to(fixed, weights.shape)
            for roots in tables.owner_root.T:
                owner = self._state.owners[:, np.maximum(roots, 0)]
                right = right | ((owner == team) & (roots >= 0))
            found[:, team] = (weights * right).sum(axis=1)
        found /= weights.sum(axis=1)[:, np.newaxis]
        return found

    def benign(self) -> Floats:
        """How likely there is nothing to act on (N,)."""
        found: Floats = self._shares(np.array([[not one.faults] for one in self.hypotheses]))[:, 0]
        return found

    def entropy(self) -> Floats:
        """Doubt over the hypotheses (N,), in bits."""
        shares = self.probabilities()
        found: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
        return found
