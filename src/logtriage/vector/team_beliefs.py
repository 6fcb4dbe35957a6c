"""What each role of N teams believes, given what it was shown: an exact posterior a role.

As :func:`logtriage.belief.belief` has it of a state and a role; a law holds both together.

>>> import numpy as np
>>> from logtriage.roles.splits import TRIO
>>> from logtriage.vector import BatchedTeam, TeamBeliefs
>>> batch = BatchedTeam("cascading_failure-v3", TRIO)
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
from numpy.typing import NDArray

from logtriage.evidence import VIEW_OF
from logtriage.roles import Role, RoleSplit, watched
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.cells import CHANNELS, NO_CELL, Cells
from logtriage.vector.team import BatchedTeam
from logtriage.vector.tokens.cells import ShownCells
from logtriage.vector.tokens.layout import REQUEST
from logtriage.vector.values import owners_of
from logtriage.world.channels import Channel

_LINES = (REQUEST[Channel.LOGS], REQUEST[Channel.OVERVIEW])


@attrs.frozen(eq=False)
class Viewer:
    """Which cells somebody may see: (C, n + 1) by channel and service, the last of none."""

    shown: Bools

    @classmethod
    def of(cls, viewer: Role | RoleSplit, topology: Topology) -> "Viewer":
        """A role, or all of a split together."""
        roles = viewer.roles if isinstance(viewer, RoleSplit) else (viewer,)
        shown = np.zeros((len(CHANNELS), len(topology) + 1), bool)
        for role in roles:
            here = [*sorted(watched(role, topology)), -1]
            for place, channel in enumerate(CHANNELS):
                if VIEW_OF[channel] in role.views:
                    shown[place, here] = True
        return cls(shown)

    def seen(self, cells: Cells) -> Cells:
        """The cells (R, M, 5) without those that are not for its eyes."""
        channel = cells[..., 0]
        there = channel != NO_CELL  # what else stands in a place without a cell is no number
        hidden = there & ~self.shown[channel, np.where(there, cells[..., 1], 0)]
        found = cells.copy()
        found[hidden, 0] = NO_CELL
        # Columns that are empty in every row cost as much as others.
        mine: Cells = np.ascontiguousarray(found[:, (found[..., 0] != NO_CELL).any(axis=0)])
        return mine


class TeamBeliefs:
    """The posteriors of the roles of a batch of teams, screen after screen.

    :attr:`of` holds one :class:`BeliefBatch` a viewer: each role of the split, or whoever
    is named in ``viewers``; a split stands for all its roles together. Everybody knows that
    others paged and applied remedies, and when. Tell :meth:`begin` of every reset and
    restart, and :meth:`follow` of every step.

    Raises:
        MissingExtra: where Numba is not installed.
    """

    def __init__(
        self,
        team: BatchedTeam,
        viewers: Sequence[Role | RoleSplit] | None = None,
    ) -> None:
        self._team = team
        self.viewers = tuple(team.split.roles if viewers is None else viewers)
        self._eyes = [Viewer.of(one, team.topology) for one in self.viewers]
        self._lanes = range(len(team.split))
        self.of: tuple[BeliefBatch, ...] = ()

    def begin(self, rows: Ints | None = None) -> None:
        """Begin in rows (R,) that were restarted; in all of them after a reset."""
        engine = self._team.engine
        if rows is None or not self.of:
            rows = np.arange(len(engine))
            models, horizon = engine.settings[0].models, engine.task.horizon
            self.of = tuple(
                BeliefBatch(*models, count=len(rows), horizon=horizon) for _ in self.viewers
            )
            self._applied = np.zeros(len(rows), np.int64)
        if not len(rows):
            return
        self._applied[rows] = 0
        owners = owners_of(engine.settings[0], engine.incidents, rows)
        cells = self._cells(rows, np.full((len(self._lanes), len(rows)), -1))
        for eyes, belief in zip(self._eyes, self.of, strict=True):
            belief.reset(owners, rows, engine.incidents.world[rows])
            belief.update(eyes.seen(cells), rows=rows)

    def follow(self, rows: Ints | None = None) -> None:
        """Take in the screens after a step, of rows (R,) that were played or of all.

        Of rows that have closed nothing more is read. Every open row that was stepped must
        be followed once.
        """
        engine = self._team.engine
        rows = np.arange(len(engine)) if rows is None else rows
        rows = rows[engine.episodes.closing[rows] < 0]
        if not len(rows):
            return
        acts = self._team.acts[:, rows]
        cells = self._cells(rows, acts)
        for eyes, belief in zip(self._eyes, self.of, strict=True):
            belief.update(eyes.seen(cells), acts.T, rows=rows)

    # -- inside -----------------------------------------------------------------------

    def _cells(self, rows: Ints, acts: Ints) -> Cells:
        """The cells (R, M, 5) on the present screens, whoever sees them."""
        engine = self._team.engine
        setting = engine.settings[0]
        read = ShownCells(setting, engine.episodes, rows)
        ranges = setting.ranges
        which = acts - ranges.remedy
        remedied = (which >= 0) & (which < ranges.remedies)
        parts = read.panels(np.asarray(remedied.any(axis=0)))
        parts += self._answers(read)
        parts += self._effects(read, rows, np.where(remedied, which, -1))
        return np.concatenate(parts, axis=1)

    def _answers(self, read: ShownCells) -> list[Cells]:
        asked = [read.asked(lane) for lane in self._lanes]
        found = []
        for lane, (kind, service, token) in enumerate(asked):
            if not kind.any():
                continue
            later = np.zeros(len(kind), np.int64)
            twice = np.zeros(len(kind), bool)
            for other, (its_kind, its_service, _) in enumerate(asked):
                same = (its_kind == kind) & (its_service == service) & (kind > 0)
                later += same & (other > lane) & np.isin(kind, _LINES)
                twice |= same & (other < lane) & ~np.isin(kind, _LINES)
            cells = read.answers(kind, service, token, later)
            cells[twice, :, 0] = NO_CELL
            found.append(cells)
        return found

    def _effects(self, read: ShownCells, rows: Ints, which: NDArray[np.int64]) -> list[Cells]:
        """What became of the remedies (L, R) of the last tick, numbered in role order."""
        engine = self._team.engine
        applied = which >= 0
        if not applied.any():
            return []
        true = engine.incidents.hypothesis[rows].astype(np.int64)
        accepts, worlds = self.of[0].accepts, engine.incidents.world[rows]
        accepted = applied & accepts[worlds, np.maximum(which, 0), true]
        # Only the first accepted remedy changes anything.
        now = engine.episodes.fixed_at[rows].astype(np.int64) == read.now - 1
        first = accepted & (np.cumsum(accepted, axis=0) == 1) & now
        number = self._applied[rows] + np.cumsum(applied, axis=0) - 1
        self._applied[rows] += applied.sum(axis=0)
        return [
            read.effects(applied[lane], number[lane], first[lane])
            for lane in self._lanes
            if applied[lane].any()
        ]
