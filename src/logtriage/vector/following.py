"""Beliefs that follow the screens of an engine: a posterior for each viewer."""

from collections.abc import Sequence

import attrs
import numpy as np

from logtriage.evidence import VIEW_OF
from logtriage.grading.rubric import TRIAGE_3
from logtriage.roles import Role, RoleSplit, watched
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.cells import CHANNELS, EFFECTS, FIELDS, NO_CELL, Cells
from logtriage.vector.tokens.episodes import TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.setting import TokenSetting, owners_of
from logtriage.world.channels import EASES, NO_CHANGE, Channel


@attrs.frozen(eq=False)
class Viewer:
    """Which cells may be seen: (C, n + 1) by channel C and service; the last column: no service."""

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
                    shown[place, slice(None) if channel is Channel.NOTE else here] = True
        return cls(shown)

    def seen(self, cells: Cells) -> Cells:
        """The cells (R, M, 5) that the viewer may see."""
        channel = cells[..., 0]
        there = channel != NO_CELL  # what else stands in a place without a cell is no number
        hidden = there & ~self.shown[channel, np.where(there, cells[..., 1], 0)]
        left = cells.copy()
        left[hidden, 0] = NO_CELL
        # Columns that are empty in every row cost as much as others.
        shown: Cells = np.ascontiguousarray(left[:, (left[..., 0] != NO_CELL).any(axis=0)])
        return shown


class FollowingBeliefs:
    """Posteriors over N incidents, updated after every screen.

    :attr:`beliefs` holds a :class:`BeliefBatch` per viewer; the default viewer sees everything.
    Call :meth:`begin` for rows with a new incident, and :meth:`follow` after each tick for rows
    still open. Pass the engine's ``incidents`` and ``episodes``.
    """

    def __init__(
        self, setting: TokenSetting, count: int, viewers: Sequence[Viewer] | None = None
    ) -> None:
        from logtriage.vector.tokens.compiled import TokenKernels  # loads Numba

        self.setting, self._viewers = setting, viewers
        self._kernels = TokenKernels(setting, TRIAGE_3)
        self.beliefs = tuple(
            BeliefBatch(*setting.models, count=count, horizon=setting.task.horizon)
            for _ in viewers or (None,)
        )

    def begin(self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints) -> None:
        """Begin new episodes in rows (R,), and take in their first screens."""
        if not len(rows):
            return
        owners = owners_of(self.setting, incidents, rows)
        for belief in self.beliefs:
            belief.reset(owners, rows, incidents.world[rows])
        self.follow(incidents, episodes, rows, np.full((1, len(rows)), -1))

    def follow(
        self, incidents: TokenIncidents, episodes: TokenEpisodes, rows: Ints, acts: Ints
    ) -> None:
        """Take in the screens of open rows (R,) after ``acts`` (lanes L, rows R)."""
        if not len(rows):
            return
        cells = self._kernels.cells(incidents, episodes, rows)
        effects = _effects(self.setting, incidents, episodes, rows, acts)
        cells = np.concatenate([cells, *effects], axis=1)
        for place, belief in enumerate(self.beliefs):
            seen = cells if self._viewers is None else self._viewers[place].seen(cells)
            belief.update(seen, acts.T, rows=rows)


def _effects(
    setting: TokenSetting,
    incidents: TokenIncidents,
    episodes: TokenEpisodes,
    rows: Ints,
    acts: Ints,
) -> list[Cells]:
    """What became of the remedies among ``acts`` (L, R) of the last tick: (R, 1, 5) a lane."""
    which = acts - setting.ranges.remedy
    applied = (which >= 0) & (which < setting.ranges.remedies)
    if not applied.any():
        return []
    tables, worlds, now = setting.tables, incidents.world[rows], setting.ticks(episodes)[rows]
    true = incidents.hypothesis[rows]
    remedy, service = np.divmod(np.where(applied, which, 0), setting.n)
    accepted = applied & tables.recovers[worlds, true] & tables.remedies[worlds, true, remedy]
    accepted &= service == tables.root[worlds, true]
    # Only the first accepted remedy changes anything.
    accepted &= (np.cumsum(accepted, axis=0) == 1) & (episodes.fixed_at[rows] == now - 1)
    before = episodes.remedies[rows] - applied.sum(axis=0)
    number = before + np.cumsum(applied, axis=0) - 1
    parts = []
    for lane in np.flatnonzero(applied.any(axis=1)):
        cells = np.full((len(rows), 1, len(FIELDS)), NO_CELL, np.int16)
        here = applied[lane]
        cells[here, 0, 0] = CHANNELS.index(Channel.EFFECT)
        cells[here, 0, 1] = -1
        cells[here, 0, 2] = number[lane, here]
        cells[here, 0, 3] = now[here]
        cells[here, 0, 4] = np.where(
            accepted[lane, here], EFFECTS.index(EASES), EFFECTS.index(NO_CHANGE)
        )
        parts.append(cells)
    return parts
