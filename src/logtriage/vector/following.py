"""Beliefs that follow the screens of an engine: a posterior for each viewer."""

from collections.abc import Sequence

import attrs
import numpy as np

from logtriage.evidence import VIEW_OF
from logtriage.roles import Role, RoleSplit, watched
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.cells import CHANNELS, NO_CELL, Cells
from logtriage.vector.tokens.cells import owners_of, screen_cells
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.setting import TokenSetting


@attrs.frozen(eq=False)
class Viewer:
    """Which cells may be seen: (C, n + 1) by channel and service; the last column is of none."""

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
        """The cells (R, M, 5) that the viewer may see."""
        channel = cells[..., 0]
        there = channel != NO_CELL  # what else stands in a place without a cell is no number
        hidden = there & ~self.shown[channel, np.where(there, cells[..., 1], 0)]
        left = cells.copy()
        left[hidden, 0] = NO_CELL
        # Columns that are empty in every row cost as much as others.
        mine: Cells = np.ascontiguousarray(left[:, (left[..., 0] != NO_CELL).any(axis=0)])
        return mine


class FollowingBeliefs:
    """The posteriors of N incidents of a setting, screen after screen.

    :attr:`of` has a :class:`BeliefBatch` for each viewer; the default viewer sees all. Call
    :meth:`begin` in rows whose incidents are fresh, :meth:`follow` after each tick of those that
    are open; ``incidents`` and ``episodes`` are the engine's.
    """

    def __init__(
        self, setting: TokenSetting, count: int, viewers: Sequence[Viewer] | None = None
    ) -> None:
        self.setting, self._viewers = setting, viewers
        self.of = tuple(
            BeliefBatch(*setting.models, count=count, horizon=setting.task.horizon)
            for _ in viewers or (None,)
        )

    def begin(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        if not len(rows):
            return
        owners = owners_of(self.setting, incidents, rows)
        for belief in self.of:
            belief.reset(owners, rows, incidents.world[rows])
        self.follow(incidents, episodes, rows, np.full((1, len(rows)), -1))

    def follow(
        self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints, acts: Ints
    ) -> None:
        """Take in the screens of open rows (R,) after ``acts`` (L, R): see :func:`screen_cells`."""
        if not len(rows):
            return
        cells = screen_cells(self.setting, incidents, episodes, rows, acts)
        for place, belief in enumerate(self.of):
            seen = cells if self._viewers is None else self._viewers[place].seen(cells)
            belief.update(seen, acts.T, rows=rows)
