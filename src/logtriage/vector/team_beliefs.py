"""The exact posterior of each role of N teams, from the evidence shown to it.

As :func:`logtriage.beliefs.belief` has it of a state and a role; a law holds both together.

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

import numpy as np

from logtriage.errors import InvalidInput
from logtriage.roles import Role, RoleSplit
from logtriage.vector.arrays import Ints
from logtriage.vector.beliefs import BeliefBatch
from logtriage.vector.following import FollowingBeliefs, Viewer
from logtriage.vector.team import BatchedTeam


class TeamBeliefs:
    """The posteriors of the roles of a batch of teams, screen after screen.

    :attr:`of` holds a :class:`BeliefBatch` for each viewer: each role of the split, or each of
    ``viewers``; a split there sees what all its roles see. Everybody knows that others paged and
    applied remedies, and when. Tell :meth:`begin` of every reset and restart, and :meth:`follow` of
    every step.

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
        self._eyes = [Viewer.of(viewer, team.topology) for viewer in self.viewers]
        self._beliefs: FollowingBeliefs | None = None

    @property
    def of(self) -> tuple[BeliefBatch, ...]:
        """The posteriors, viewer by viewer; none before :meth:`begin`."""
        return () if self._beliefs is None else self._beliefs.beliefs

    def begin(self, rows: Ints | None = None) -> None:
        """Begin in rows (R,) that were restarted; in all of them after a reset."""
        engine = self._team.engine
        if rows is None or self._beliefs is None:
            rows = np.arange(len(engine))
            self._beliefs = FollowingBeliefs(engine.setting, len(rows), self._eyes)
        self._beliefs.begin(engine.incidents, engine.episodes, rows)

    def follow(self, rows: Ints | None = None) -> None:
        """Take in the screens after a step, of all rows or of the played ``rows`` (R,).

        Closed rows are not read any more. Every open row that was stepped must
        be followed once.

        Raises:
            InvalidInput: before :meth:`begin`.
        """
        if self._beliefs is None:
            raise InvalidInput("no screens were read: call begin() first")
        engine = self._team.engine
        rows = np.arange(len(engine)) if rows is None else rows
        rows = rows[engine.episodes.closing[rows] < 0]
        acts = self._team.acts[:, rows]
        self._beliefs.follow(engine.incidents, engine.episodes, rows, acts)
