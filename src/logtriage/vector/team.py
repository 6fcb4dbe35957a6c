"""N incidents, each in the hands of a team: the batched engine for roles.

Row by row it agrees with joint play on the scalar core on every observation, mask,
reward and closing reason; ``property_tests/test_team_laws.py`` holds it to that.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.errors import UnknownName
from logtriage.grading.rubric import Rubric
from logtriage.roles import REPORT_WORDS, TRIO, RoleSplit
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Bools, Ints
from logtriage.vector.backends import BackendName
from logtriage.vector.checks import check_first_world, checked_task, checked_team_actions
from logtriage.vector.engine import BatchedTriage
from logtriage.vector.layout import Floats, Layout
from logtriage.vector.team_layout import EVERY_SOURCE, role_layout_of, team_layout_of
from logtriage.vector.team_seats import Seat, mask_of, seat_of

#: How a tick's reward is shared out: the team's, or each role's own difference to waiting.
CREDITS: Final = ("team", "counterfactual")


@attrs.frozen(eq=False)
class TeamStep:
    """What a reset or a step of R roles returns; the arrays are the caller's own.

    ``observations`` and ``masks``: for each role, (N, D_r) float32 by its layout and
    (N, A_r) int8. ``state`` (N, D) float32, all that any of them could see, for a
    centralised critic. ``rewards`` (R, N) float64 by the credit; ``reward`` (N,) the
    team's. ``closing`` (N,) int8, -1 while open; ``score`` (N,), ``tick`` (N,).
    """

    observations: tuple[Floats, ...]
    masks: tuple[NDArray[np.int8], ...]
    state: Floats
    rewards: NDArray[np.float64]
    reward: NDArray[np.float64]
    closing: NDArray[np.int8]
    score: NDArray[np.float64]
    tick: Ints


class BatchedTeam:
    """N incidents of one task side by side, played by the roles of a split.

    Args:
        task: a drawn task, such as ``cascading_failure-v1``.
        split: who sees and does what.
        topology: the default one, or one of your own.
        rubric: another one than the task's.
        backend: as for :class:`BatchedTriage`.
        credit: ``team`` gives every role the grade difference of the tick;
            ``counterfactual`` its difference to the grade had this role waited.

    Raises:
        UnknownName: for a task or credit that does not exist.
        InvalidInput: as :class:`BatchedTriage`.
    """

    def __init__(
        self,
        task: str | TaskSpec,
        split: RoleSplit = TRIO,
        *,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        backend: BackendName = "auto",
        credit: str = "team",
    ) -> None:
        if credit not in CREDITS:
            raise UnknownName("credit", credit, CREDITS)
        spec = checked_task(task)
        check_first_world(spec)
        self.split = split
        self.credit = credit
        self._batch = BatchedTriage(
            spec,
            topology=topology,
            rubric=rubric,
            backend=backend,
            lanes=len(split),
            copy=False,
        )
        self.topology = self._batch.topology
        self.layout = team_layout_of(self.topology)
        self.layouts: tuple[Layout, ...] = tuple(
            role_layout_of(self.topology, role) for role in split.roles
        )
        self._seats = tuple(seat_of(role, self.topology) for role in split.roles)
        self._reported: Bools = np.empty((0, len(REPORT_WORDS)), bool)

    def __len__(self) -> int:
        return len(self._batch)

    @property
    def task(self) -> TaskSpec:
        """The task that is played."""
        return self._batch.task

    @property
    def action_counts(self) -> tuple[int, ...]:
        """How many actions each role has, by :func:`~logtriage.roles.role_actions`."""
        return tuple(len(seat.canonical) for seat in self._seats)

    @property
    def index(self) -> Ints:
        """The index (N,) of the incident in each row."""
        return self._batch.index

    def reset(self, split: str, index: ArrayLike) -> TeamStep:
        """Begin the incidents ``index`` (N,) of a split of the task, in this order.

        Raises:
            UnknownName, InvalidInput: as :meth:`BatchedTriage.reset`.
        """
        self._batch.reset(split, index)
        self._reported = np.zeros((len(self), len(REPORT_WORDS)), bool)
        return self.look()

    def restart(self, rows: ArrayLike, index: ArrayLike) -> None:
        """Begin new incidents in some rows, as :meth:`BatchedTriage.restart`."""
        self._batch.restart(rows, index)
        self._reported[np.asarray(rows)] = False

    def step(
        self, actions: Sequence[ArrayLike], active: NDArray[np.bool_] | None = None
    ) -> TeamStep:
        """One tick: the roles act in their order, then time passes.

        ``actions`` holds for each role (N,) integers into its own actions. Rows that are
        closed, or not ``active``, stay as they are and earn 0.

        Raises:
            InvalidInput: before a reset, and for actions of another shape or out of range.
        """
        chosen = checked_team_actions(actions, len(self), self.action_counts, self.split.names)
        batch, seats = self._batch, self._seats
        rows = batch.open_rows(active)
        acts = [seat.canonical[one] for seat, one in zip(seats, chosen, strict=True)]
        waited = None
        if self.credit == "counterfactual":
            waited = [batch.scores_without(acts, rows, lane) for lane in range(len(seats))]
        reward, acted = batch.play(acts, rows)
        for seat, one, places in zip(seats, chosen, acted, strict=True):
            said = seat.word[one[places]]
            self._reported[places[said >= 0], said[said >= 0]] = True
        if waited is None:
            rewards = np.broadcast_to(reward, (len(seats), len(self))).copy()
        else:
            rewards = batch.scores - np.stack(waited)
        return self._step(reward, rewards)

    def look(self) -> TeamStep:
        """The present screens, with no reward.

        Raises:
            InvalidInput: before a reset.
        """
        nothing = np.zeros(len(self))
        return self._step(nothing, np.zeros((len(self._seats), len(self))))

    # -- inside -----------------------------------------------------------------------

    def _step(self, reward: NDArray[np.float64], rewards: NDArray[np.float64]) -> TeamStep:
        seen = self._batch.look()
        state = self._observe(seen.observation)
        return TeamStep(
            tuple(self._slice(state, seat) for seat in self._seats),
            tuple(mask_of(seen.mask, seat) for seat in self._seats),
            state,
            rewards,
            reward,
            seen.closing,
            seen.score,
            seen.tick,
        )

    def _observe(self, alone: Floats) -> Floats:
        state = np.empty((len(self), self.layout.size), np.float32)
        state[:, : alone.shape[1]] = alone
        state[:, self.layout["declared_owner"]] = 0
        rows, owner = self._batch.declared_owners()
        state[rows, self.layout["declared_owner"].start + owner] = 1
        state[:, self.layout["report"]] = self._reported
        return state

    def _slice(self, state: Floats, seat: Seat) -> Floats:
        mine: Floats = np.empty((len(self), seat.layout.size), np.float32)
        for whole, part in seat.runs:
            mine[:, part] = state[:, whole]
        if seat.sources not in (0, EVERY_SOURCE):
            self._batch.write_read(seat.layout, seat.sources, mine)
        return mine
