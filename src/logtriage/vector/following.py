"""Beliefs that follow the screens of an engine: a batch of posteriors for each viewer.

They equal :func:`logtriage.beliefs.belief` of the same states and roles; a law checks this.

>>> import numpy as np
>>> from logtriage.roles.splits import TRIO
>>> from logtriage.vector import BatchedTeam, TeamBeliefs
>>> batch = BatchedTeam("cascading_failure-v4", TRIO)
>>> screen = batch.reset("train", np.arange(16))
>>> beliefs = TeamBeliefs(batch)
>>> beliefs.begin()
>>> screen = batch.step([np.zeros(16, int)] * 3)
>>> beliefs.follow()
>>> len(beliefs.of), beliefs.of[0].weights.shape[0]
(3, 16)
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import ArrayLike

from logtriage.errors import InvalidInput
from logtriage.evidence import VIEW_OF
from logtriage.grading.rubric import TRIAGE_3
from logtriage.roles import Role, watched
from logtriage.roles.splits import SplitLike, roles_of_viewer
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.cells import CHANNELS, EFFECTS, FIELDS, NO_CELL, Cells
from logtriage.vector.checks import as_rows
from logtriage.vector.engine import BatchedTriage
from logtriage.vector.team import BatchedTeam
from logtriage.world.channels import EASES, NO_CHANGE, Channel


@attrs.frozen(eq=False)
class Viewer:
    """A viewer of screens: ``shown`` (channels, n + 1) says which cells it may see.

    Columns are services; the last is for cells of no service.
    """

    shown: Bools

    @classmethod
    def of(cls, viewer: Role | SplitLike, topology: Topology) -> "Viewer":
        """The viewer that sees what a role sees, or what all roles of a split see together."""
        shown = np.zeros((len(CHANNELS), len(topology) + 1), bool)
        for role in roles_of_viewer(viewer):
            here = [*sorted(watched(role, topology)), -1]
            for place, channel in enumerate(CHANNELS):
                # The service of a note is the one that it is about, watched or not.
                if VIEW_OF[channel] in role.views:
                    shown[place, slice(None) if channel is Channel.NOTE else here] = True
        return cls(shown)

    def seen(self, cells: Cells) -> Cells:
        """Those of the cells (R, M, 5) that the viewer may see, in as few columns as they need."""
        channel = cells[..., 0]
        there = channel != NO_CELL  # the other numbers of an empty place mean nothing
        hidden = there & ~self.shown[channel, np.where(there, cells[..., 1], 0)]
        left = cells.copy()
        left[hidden, 0] = NO_CELL
        # A column that is empty in every row would cost as much as others.
        shown: Cells = np.ascontiguousarray(left[:, (left[..., 0] != NO_CELL).any(axis=0)])
        return shown


class FollowingBeliefs:
    """Posteriors over the N incidents that an engine plays, updated after every screen.

    :attr:`beliefs` holds a :class:`BeliefBatch` for each viewer; the default is one viewer who sees
    everything. Call :meth:`begin` for rows with a new incident, and :meth:`follow` after each tick
    for rows still open.
    """

    def __init__(self, engine: BatchedTriage, viewers: Sequence[Viewer] | None = None) -> None:
        from logtriage.vector.tokens.compiled import TokenKernels  # loads Numba

        setting = engine.setting
        self._engine, self._viewers = engine, viewers
        self._kernels = TokenKernels(setting, TRIAGE_3)  # only cells are read, with any rubric
        self.beliefs = tuple(
            BeliefBatch(*setting.models, count=len(engine), horizon=setting.task.horizon)
            for _ in range(1 if viewers is None else len(viewers))
        )
        self._read = np.full(len(engine), -1)  # the tick of each row's screen taken in last

    def due(self, rows: Ints) -> Ints:
        """The open rows among ``rows`` (R,) whose screens were not taken in yet."""
        engine = self._engine
        later = engine.ticks[rows] > self._read[rows]
        return rows[later & (engine.episodes.closing[rows] < 0)]

    def begin(self, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        if not len(rows):
            return
        owners = self._engine.owners(rows)
        for belief in self.beliefs:
            belief.reset(owners, rows, self._engine.incidents.world[rows])
        self.follow(rows, np.full((1, len(rows)), -1))

    def follow(self, rows: Ints, acts: Ints) -> None:
        """Take in the screens of open rows (R,) after the lanes' actions ``acts`` (L, R)."""
        if not len(rows):
            return
        engine = self._engine
        self._read[rows] = engine.ticks[rows]
        cells = self._kernels.cells(engine.incidents, engine.episodes, rows)
        cells = np.concatenate([cells, *_effects(engine, rows, acts)], axis=1)
        for place, belief in enumerate(self.beliefs):
            seen = cells if self._viewers is None else self._viewers[place].seen(cells)
            belief.update(seen, acts.T, rows=rows)


def _effects(engine: BatchedTriage, rows: Ints, acts: Ints) -> list[Cells]:
    """The effect cells (R, 1, 5) of each lane with a remedy among the last ``acts`` (L, R)."""
    setting, incidents, episodes = engine.setting, engine.incidents, engine.episodes
    letters = setting.letters
    applied = (acts >= letters.remedy) & (acts < letters.remedy_end)
    if not applied.any():
        return []
    tables, worlds, now = setting.tables, incidents.world[rows], engine.ticks[rows]
    true = incidents.hypothesis[rows]
    remedy, service = np.divmod(np.where(applied, acts - letters.remedy, 0), setting.n)
    accepted = applied & tables.has_fault[worlds, true] & tables.remedies[worlds, true, remedy]
    accepted &= service == tables.root[worlds, true]
    # Only the first accepted remedy changes anything.
    eases = accepted & (np.cumsum(accepted, axis=0) == 1) & (episodes.fixed_at[rows] == now - 1)
    token = np.where(eases, EFFECTS.index(EASES), EFFECTS.index(NO_CHANGE))
    before = episodes.remedies[rows] - applied.sum(axis=0)
    number = before + np.cumsum(applied, axis=0) - 1
    parts = []
    for lane in np.flatnonzero(applied.any(axis=1)):
        cells = np.full((len(rows), 1, len(FIELDS)), NO_CELL, np.int16)
        here, effect = applied[lane], CHANNELS.index(Channel.EFFECT)
        numbers = effect, -1, number[lane, here], now[here], token[lane, here]
        cells[here, 0] = np.stack(np.broadcast_arrays(*numbers), axis=1)
        parts.append(cells)
    return parts


class TeamBeliefs:
    """The posteriors of the roles of a batch of teams, screen after screen.

    :attr:`of` holds a :class:`BeliefBatch` for each role of the split, or for each of ``viewers``;
    a split among these sees what all its roles see. Every viewer knows all pages and remedies of
    the team, and their ticks. Call :meth:`begin` after every reset and restart, and :meth:`follow`
    after every step. A screen is taken in once: rows that were not active stay as they are.
    """

    def __init__(
        self, team: BatchedTeam, viewers: Sequence[Role | SplitLike] | None = None
    ) -> None:
        self._team = team
        self.viewers = tuple(team.split.roles if viewers is None else viewers)
        self._views = [Viewer.of(viewer, team.topology) for viewer in self.viewers]
        self._beliefs: FollowingBeliefs | None = None

    @property
    def of(self) -> tuple[BeliefBatch, ...]:
        """The posteriors of each viewer, in order; empty before :meth:`begin`."""
        return () if self._beliefs is None else self._beliefs.beliefs

    def begin(self, rows: ArrayLike | None = None) -> None:
        """Begin new episodes in rows (R,) after a restart; in all rows after a reset."""
        engine = self._team.engine
        if rows is None or self._beliefs is None:
            rows = None  # the first call begins all rows
            self._beliefs = FollowingBeliefs(engine, self._views)
        self._beliefs.begin(as_rows(rows, np.arange(len(engine))))

    def follow(self, rows: ArrayLike | None = None) -> None:
        """Take in the screens of all open rows after a step, or of the open among ``rows`` (R,).

        Raises:
            InvalidInput: before :meth:`begin`, and for unknown or repeated rows.
        """
        if self._beliefs is None:
            raise InvalidInput("no screens were read: call begin() first")
        due = self._beliefs.due(as_rows(rows, np.arange(len(self._team))))
        self._beliefs.follow(due, self._team.acts[:, due])
