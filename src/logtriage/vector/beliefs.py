"""The exact posteriors of N incidents at once, updated screen after screen."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.beliefs.model import Model
from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import NO_BREAK, BeliefState, clear, empty_state
from logtriage.vector.belief_tables import BeliefTables, tables_of
from logtriage.vector.cells import FIELDS, Cells, cell_numbers, padded
from logtriage.vector.checks import as_rows, checked_array, checked_integers, checked_mask
from logtriage.vector.layout import Floats
from logtriage.vector.marginals import Believed, Marginals
from logtriage.vector.tokens.layout import alphabet_sizes
from logtriage.vector.tokens.tables import check_alike
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis

#: The most tokens of a history or of the edge: beliefs keep their numbers, from 0, in bytes.
MOST_TOKENS: Final = 128


class BeliefBatch:
    """The posteriors of N incidents in one world, or in the worlds of a pool.

    Each world is a model (:func:`logtriage.beliefs.model.model_of`); all have equal numbers of
    services, teams and tokens. Arrays over H hypotheses are as wide as the longest list of
    hypotheses; a world with fewer has weights of 0 behind its last. All whole numbers equal those
    of :func:`logtriage.beliefs.belief`. Needs the extra ``fast``.

    In each tick call :meth:`update` with the cells on the screen (:mod:`logtriage.vector.cells`)
    and the actions of the tick before; then :attr:`weights` are the posterior. Call :meth:`reset`
    when new episodes begin in some rows.

    Raises:
        InvalidInput: for no worlds, more than a pool may have, or worlds of different sizes; for
            more tokens than :data:`MOST_TOKENS`, and for a count or horizon out of range.
        MissingExtra: where Numba is not installed.
    """

    def __init__(self, *models: Model, count: int, horizon: int) -> None:
        from logtriage.vector.compiled import beliefs, outcomes, panels  # loads Numba

        self._update = beliefs.update_rows
        self._logs_of, self._severities_of = beliefs.logs_of, panels.severities_of
        check_alike(models)
        _check_tokens(models[0])
        checked_integers("count", count, (), 0, MAX_INDEX)
        checked_integers("horizon", horizon, (), 1, np.iinfo(np.int16).max - 1)
        self.models, self.horizon = models, horizon
        #: The models of W worlds as arrays (W, …), which all rows look up.
        self.tables: BeliefTables = tables_of(models)
        self._room = outcomes.room_for(self.tables)
        teams = len(self.topology.teams)
        self._state: BeliefState = empty_state(count, self.tables, teams, horizon)
        self._every = np.arange(count)

    def __len__(self) -> int:
        return len(self._every)

    @property
    def topology(self) -> Topology:
        """The services and teams of the first world; all worlds have equally many."""
        return self.models[0].topology

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the first world, in the order of the columns of :attr:`weights`."""
        return self.models[0].hypotheses

    @property
    def world(self) -> NDArray[np.uint8]:
        """The number (N,) of each row's world among the models."""
        return self._state.world

    @property
    def nbytes(self) -> int:
        """The bytes that the states of all incidents take, without the tables."""
        return sum(array.nbytes for array in self._state)

    def reset(
        self, owners: ArrayLike, rows: ArrayLike | None = None, worlds: ArrayLike | None = None
    ) -> None:
        """Begin new episodes in all rows or in ``rows`` (R,); no screen is taken in yet.

        ``owners`` (R, n) has the number of the team that owns each service; ``worlds`` (R,) the
        number of each row's model, by default the first.

        Raises:
            InvalidInput: for another shape, or for a number of no team or of no model.
        """
        chosen = as_rows(rows, self._every)
        shape = (len(chosen), len(self.topology))
        highest = len(self.topology.teams) - 1
        directory = checked_integers("owners", owners, shape, 0, highest)
        numbers = np.zeros(len(chosen), np.int64) if worlds is None else worlds
        last = len(self.models) - 1
        numbers = checked_integers("worlds", numbers, (len(chosen),), 0, last)
        self._state.world[chosen] = numbers
        clear(self._state, self.tables, chosen)
        self._state.owners[chosen] = directory

    def update(
        self,
        cells: ArrayLike,
        actions: ArrayLike | None = None,
        *,
        misrouted: ArrayLike | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Take in the next screen of all rows or of ``rows`` (R,), and update their weights.

        ``cells`` (R, M, 5) are those on the screen, as :meth:`numbers` makes them; their numbers
        are not checked. Cells seen before change nothing. ``actions`` (R,), or (R, L) for L roles,
        are the canonical integers of the actions since the last screen; only pages and remedies are
        read, and none with the first screen after a reset. ``misrouted`` (R,) is true where the
        last page was wrong and closed the incident.

        Raises:
            InvalidInput: for arrays of other shapes or types, and if no hypothesis fits a row. All
                screens are then taken in all the same, and the weights of such rows are 0 until
                :meth:`reset`.
        """
        chosen = as_rows(rows, self._every)
        count = len(chosen)
        acted = np.full(count, -1) if actions is None else np.asarray(actions)
        acted = acted[:, np.newaxis] if acted.ndim == 1 else acted
        acted = checked_integers("actions", acted, (count, *acted.shape[1:2]))
        shown = checked_array("cells", cells, (count, *np.shape(cells)[1:2], len(FIELDS)))
        # Kernels are compiled for this order and these types alone.
        acted, shown = np.ascontiguousarray(acted), np.ascontiguousarray(shown, np.int16)
        wrong = np.zeros(count, np.bool_)
        if misrouted is not None:
            wrong = checked_mask("misrouted", misrouted, count)
        state, tables = self._state, self.tables
        remedies = acted - tables.first_remedy
        remedied = ((remedies >= 0) & (remedies < tables.accepts.shape[1])).any(axis=1)
        # A tick with remedies adds one break at most, which needs a free place.
        if (state.breaks[chosen[remedied]] != NO_BREAK).all(axis=1).any():
            self._state = state = state.with_room()
        unfixed = state.unfixed
        refused = self._update(chosen, shown, acted, wrong, state, tables, self._room, unfixed)
        if refused >= 0:
            raise InvalidInput(
                f"row {chosen[refused]}: no hypothesis fits the evidence: "
                "is it from another incident?"
            )

    def numbers(
        self, evidence: Sequence[Sequence[Evidence]], rows: ArrayLike | None = None
    ) -> Cells:
        """The cells (R, M, 5) of the scalar evidence of all rows, or of ``rows`` (R,).

        Raises:
            InvalidInput: for another number of lists than of rows.
        """
        worlds = self._state.world[as_rows(rows, self._every)].tolist()
        if len(evidence) != len(worlds):
            raise InvalidInput(f"evidence: {len(evidence)} lists for {len(worlds)} rows")
        models = [self.models[number] for number in worlds]
        return padded(
            [
                cell_numbers(model.setting, model.topology, items)
                for model, items in zip(models, evidence, strict=True)
            ]
        )

    @property
    def weights(self) -> NDArray[np.uint32]:
        """The weights of hypotheses (N, H), at most about 2**30. Read them only; updates write."""
        return self._state.weights

    def fixed_at(self, rows: Longs) -> Longs:
        """The tick (R, H) of the remedy that fixes each hypothesis, were it true; -1 for none."""
        when = self._state.fixed_at[rows]
        return np.where(when < self._state.unfixed, when, -1).astype(np.int64)

    def right_team(self, rows: Longs) -> Longs:
        """The number (R, H) of the team to page under each hypothesis in ``rows``; -1 for nobody.

        It is defined for hypotheses of one fault.
        """
        tables, worlds = self.tables, self.world[rows]
        by_kind = np.where(tables.fixed_team.any(axis=1), tables.fixed_team.argmax(axis=1), -1)
        root = tables.owner_root[worlds, :, 0]
        owner = np.take_along_axis(self._state.owners[rows], np.maximum(root, 0), axis=1)
        return np.where(root >= 0, owner, by_kind[worlds]).astype(np.int64)

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether some remedy applied so far fixes each hypothesis, were it true (N, H)."""
        answer: NDArray[np.bool_] = self._state.fixed_at < self._state.unfixed
        return answer

    def logs(self) -> Longs:
        """The base-2 logarithms (N, H) that the weights come from, in units of 2**-20."""
        return self._logs_of(self._state, self.tables, self._room)

    def severities(self, rows: ArrayLike | None = None) -> Longs:
        """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis, of all rows or ``rows``."""
        chosen = as_rows(rows, self._every)
        return self._severities_of(self._state, self.tables, self._room, chosen)

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each hypothesis (N, H); all 0 in rows without weights."""
        weights = self.weights.astype(np.float64)
        shares: NDArray[np.float64] = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)
        return shares

    def marginals(self) -> Believed:
        """The marginal probabilities of root causes, remedies, kinds and benign incidents."""
        return Marginals(*self.models).of(self.weights, self.world)

    def teams(self) -> Floats:
        """The probability (N, m) that each team is right to page."""
        return self.marginals().team(self._state.owners.astype(np.int64))


def _check_tokens(model: Model) -> None:
    """Refuse a service that can say more than the belief's bytes count, and as many edge panels."""
    sizes = alphabet_sizes(model.setting, model.topology).max(axis=0)
    widest, panels = int(sizes.argmax()), len(model.world.edge_tokens)
    if max(sizes[widest], panels) > MOST_TOKENS:
        raise InvalidInput(
            f"topology {model.topology.name!r}: service {model.topology.names[widest]!r} can say "
            f"{sizes[widest]} things, and the edge {panels}; a batch of beliefs counts to "
            f"{MOST_TOKENS}"
        )
