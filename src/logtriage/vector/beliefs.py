"""Beliefs of N incidents at once, R of them renewed: the exact posterior, screen after screen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.beliefs.model import Model
from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.vector.arrays import Longs
from logtriage.vector.belief_state import NO_BREAK, BeliefState, clear, empty_state
from logtriage.vector.belief_tables import BeliefTables, tables_of
from logtriage.vector.cells import Cells, cell_numbers, padded
from logtriage.vector.checks import as_rows, checked_integers
from logtriage.vector.layout import Floats
from logtriage.vector.marginals import Believed, Marginals
from logtriage.vector.tokens.tables import check_alike
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis


class BeliefBatch:
    """The posteriors of N incidents in one world, or in the worlds of a pool.

    Each world is a model (:func:`logtriage.beliefs.model.model_of`); all are alike in their numbers
    of services, teams and tokens. Arrays over H hypotheses are as wide as the longest list; behind
    the end of a shorter one weights are 0. Every whole number equals that of
    :func:`logtriage.beliefs.belief`. Needs the extra ``fast``.

    Each tick, :meth:`update` takes the cells on the screen (:mod:`logtriage.vector.cells`)
    and what was done in the tick before; :attr:`weights` are then the posterior. An
    engine that starts a new episode in some rows tells :meth:`reset`.

    Raises:
        InvalidInput: for worlds that are not alike, and more of them than a pool may have.
        MissingExtra: where Numba is not installed.
    """

    def __init__(
        self,
        *models: Model,
        count: int,
        horizon: int,
    ) -> None:
        from logtriage.vector.compiled import beliefs, outcomes, panels  # loads Numba

        self._update = beliefs.update_rows
        self._logs_of, self._severities_of = beliefs.logs_of, panels.severities_of
        check_alike(models)
        self.models, self.horizon = models, horizon
        #: What all rows look up: the models as arrays (W, …).
        self.tables: BeliefTables = tables_of(models)
        self._room = outcomes.room_for(self.tables)
        teams = len(self.topology.teams)
        self._state: BeliefState = empty_state(count, self.tables, teams, horizon)
        self._every = np.arange(count)

    def __len__(self) -> int:
        return len(self._every)

    @property
    def topology(self) -> Topology:
        """The services and teams of all incidents, under their names in the first world."""
        return self.models[0].topology

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What may be the matter in the first world, in the order of all that is said of it."""
        return self.models[0].hypotheses

    @property
    def world(self) -> NDArray[np.uint8]:
        """The number of each row's world (N,) among the models."""
        return self._state.world

    @property
    def nbytes(self) -> int:
        """The bytes that all incidents take together, tables aside."""
        return sum(array.nbytes for array in self._state)

    def reset(
        self, owners: ArrayLike, rows: ArrayLike | None = None, worlds: ArrayLike | None = None
    ) -> None:
        """Begin new episodes in all rows or in ``rows`` (R,); no screen is taken in yet.

        ``owners`` (R, n) is the directory: the number of each service's team; ``worlds`` (R,) are
        numbers of models; the default is the first.

        Raises:
            InvalidInput: for another shape, a team that the topology lacks, or no model's number.
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
        cells: Cells,
        actions: ArrayLike | None = None,
        *,
        misrouted: NDArray[np.bool_] | None = None,
        rows: ArrayLike | None = None,
    ) -> None:
        """Take in the next screen of all rows or of these (R,), and renew their weights.

        ``cells`` (R, M, 5) stand on the screen, as of :meth:`numbers`; nothing is checked. What was
        seen before changes nothing. ``actions`` (R,), or (R, L) for L
        roles, are the canonical integers of what was done since the last screen (anything that
        is no page and no remedy may as well be -1). ``misrouted`` (R,) says where the last page
        closed the incident. Of the first screen after a reset no action is read.

        Raises:
            InvalidInput: for rows that no hypothesis fits: all screens are taken in, and the
                weights of those rows are 0 until :meth:`reset`.
        """
        chosen = as_rows(rows, self._every)
        count = len(chosen)
        acted = np.full((count, 1), -1) if actions is None else np.asarray(actions, np.int64)
        # Kernels are compiled for this order and these types alone.
        acted = np.ascontiguousarray(acted.reshape(count, -1))
        shown = np.ascontiguousarray(cells, np.int16)
        wrong = np.zeros(count, np.bool_) if misrouted is None else misrouted
        state, tables = self._state, self.tables
        remedies = acted - tables.first_remedy
        remedied = ((remedies >= 0) & (remedies < tables.accepts.shape[1])).any(axis=1)
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
        """Scalar evidence of all rows or of these (R,) as cells (R, M, 5)."""
        worlds = self._state.world[as_rows(rows, self._every)].tolist()
        models = [self.models[number] for number in worlds]
        return padded(
            [
                cell_numbers(model.setting, model.topology, items)
                for model, items in zip(models, evidence, strict=True)
            ]
        )

    @property
    def weights(self) -> NDArray[np.uint32]:
        """The weight of each hypothesis (N, H), the largest of a row about 2**30."""
        return self._state.weights

    def fixed_at(self, rows: Longs) -> Longs:
        """The tick of the remedy that fixed each hypothesis (R, H) in these rows, -1 for none."""
        when = self._state.fixed_at[rows]
        return np.where(when < self._state.unfixed, when, -1).astype(np.int64)

    def right_team(self, rows: Longs) -> Longs:
        """The number of the team to page under each hypothesis (R, H) in rows, -1 for nobody.

        If a hypothesis has several faults, the first decides.
        """
        tables, worlds = self.tables, self.world[rows]
        fixed = np.where(tables.fixed_team.any(axis=1), tables.fixed_team.argmax(axis=1), -1)
        root = tables.owner_root[worlds, :, 0]
        owner = np.take_along_axis(self._state.owners[rows], np.maximum(root, 0), axis=1)
        return np.where(root >= 0, owner, fixed[worlds]).astype(np.int64)

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether a remedy has fixed each hypothesis (N, H)."""
        answer: NDArray[np.bool_] = self._state.fixed_at < self._state.unfixed
        return answer

    def logs(self) -> Longs:
        """The logarithms (N, H) that the weights come from, in units of 2**-20."""
        return self._logs_of(self._state, self.tables, self._room)

    def severities(self, rows: ArrayLike | None = None) -> Longs:
        """The weights (R, H, 3) of P1, P2 and P3 under each hypothesis, in all rows or these."""
        chosen = as_rows(rows, self._every)
        return self._severities_of(self._state, self.tables, self._room, chosen)

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each hypothesis (N, H)."""
        weights = self.weights.astype(np.float64)
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def marginals(self) -> Believed:
        """The probabilities of roots, remedies, kinds and benign incidents, and the doubt."""
        return Marginals(*self.models).of(self.weights, self.world)

    def teams(self) -> Floats:
        """How likely each team is right to page (N, m)."""
        return self.marginals().team(self._state.owners.astype(np.int64))
