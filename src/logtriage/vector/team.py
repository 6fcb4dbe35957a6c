"""The batched engine for teams: N incidents, each played by the roles of a split.

Each row agrees with joint play on the scalar core on every observation, mask,
reward and closing reason; ``property_tests/test_team_laws.py`` checks this.
"""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.errors import UnknownName
from logtriage.grading.rubric import Rubric
from logtriage.roles.splits import TRIO, SplitLike, get_role_split
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.checks import checked_task, checked_team_actions
from logtriage.vector.engine import NOTHING, BatchedTriage
from logtriage.vector.layout import Floats
from logtriage.vector.team_screens import TokenScreens
from logtriage.world.loading import WorldLike

#: What each role earns in a tick: the team's reward, or the difference that its own action made.
CREDITS: Final = ("team", "counterfactual")


@attrs.frozen(eq=False)
class TeamStep:
    """The result of a reset or a step of N incidents with R roles, as the caller's own copies.

    ``observations`` (N, D_r) by each role's layout, and ``masks`` (N, A_r), are listed role by
    role. ``state`` (N, D) is all that any role could see, for a centralised critic. ``rewards``
    (R, N) are the roles', by the credit; ``reward`` (N,) is the team's. ``closing``, ``score`` and
    ``tick`` (N,) are those of :class:`logtriage.vector.Step`.
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

    Needs the extra ``fast``.

    Args:
        task: a drawn task, such as ``cascading_failure-v4``, or a task of your own.
        split: what each role sees and does: the name of a built-in split, or one of your own.
        horizon: replaces the task's horizon, in ticks.
        topology: replaces the task's topology.
        rubric: replaces the task's rubric.
        pool: worlds of a task of unseen worlds: see :class:`BatchedTriage`.
        credit: ``team`` pays every role the change of the grade in the tick. ``counterfactual``
            pays it the grade minus the grade had this role waited; roles whose actions close the
            incident alike share that difference.
        world: the world of the task: a :class:`~logtriage.world.model.World`, a name or a folder;
            by default the world that the task's id names.

    Raises:
        UnknownName: for a task, role split or credit that does not exist.
        InvalidInput: as :class:`BatchedTriage`, and for a horizon out of range.
        MissingExtra: where Numba is not installed.
    """

    def __init__(
        self,
        task: str | TaskSpec,
        split: SplitLike = TRIO,
        *,
        horizon: int | None = None,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        pool: Sequence[int] | None = None,
        credit: str = "team",
        world: WorldLike | None = None,
    ) -> None:
        if credit not in CREDITS:
            raise UnknownName("credit", credit, CREDITS)
        spec = checked_task(task, horizon, world)
        self.split = split = get_role_split(split)
        self.credit = credit
        #: The engine that plays: its incidents (hidden truths included) and episodes may be read.
        # Apart: a role may see lines of the window, and none that were requested, or the reverse.
        self.engine = BatchedTriage(
            spec, topology=topology, rubric=rubric, pool=pool, lanes=len(split), apart=True
        )
        self.topology = self.engine.topology
        self._screens = TokenScreens(self.engine, split)
        self.layout = self._screens.layout
        self.layouts = self._screens.layouts
        #: The canonical integers (R, N) of the roles' last actions; negative where a role waited,
        #: reported, asked beyond its budget or had no turn.
        self.acts: Ints = np.full((len(split), 0), NOTHING)

    def __len__(self) -> int:
        return len(self.engine)

    @property
    def task(self) -> TaskSpec:
        """The task that is played."""
        return self.engine.task

    @property
    def action_counts(self) -> tuple[int, ...]:
        """How many actions each role has, by :func:`~logtriage.roles.role_actions`."""
        return tuple(len(seat.canonical) for seat in self._screens.seats)

    @property
    def index(self) -> Ints:
        """The index (N,) of the incident in each row."""
        return self.engine.index

    def reset(self, split: str, index: ArrayLike) -> TeamStep:
        """Begin the incidents ``index`` (N,) of a split, as :meth:`BatchedTriage.reset`."""
        self.engine.reset(split, index)
        self._screens.begin()
        self.acts = np.full((len(self.split), len(self)), NOTHING)
        return self.look()

    def restart(self, rows: ArrayLike, index: ArrayLike) -> None:
        """Begin new incidents in some rows, as :meth:`BatchedTriage.restart`."""
        self.engine.restart(rows, index)
        self._screens.begin_anew(np.asarray(rows, np.int64))

    def step(self, actions: Sequence[ArrayLike], active: ArrayLike | None = None) -> TeamStep:
        """Play one tick: the roles act in their order, then time passes.

        ``actions`` holds for each role the numbers (N,) of actions among its own. Rows that are
        closed, or not ``active``, stay as they are and earn 0.

        Raises:
            InvalidInput: before a reset, for actions of another shape or out of range, and unless
                ``active`` are N booleans.
        """
        chosen = checked_team_actions(actions, len(self), self.action_counts, self.split.names)
        batch = self.engine
        rows = batch.open_rows(active)
        acts = self._screens.allowed(chosen)
        others = None
        if self.credit == "counterfactual":
            others = self._without_each(acts, rows)  # before the tick is played
        reward, acted = batch.play(acts, rows)
        for lane, (chose, places) in enumerate(zip(acts, acted, strict=True)):
            self.acts[lane] = NOTHING
            self.acts[lane, places] = chose[places]
        self._screens.enter(chosen, acts, acted)
        if others is None:
            rewards = np.tile(reward, (len(self.split), 1))
        else:
            without, sharing = others
            rewards = (batch.scores - without) / sharing
        return self._step(reward, rewards)

    def look(self) -> TeamStep:
        """The current screens, with rewards of 0; InvalidInput before a reset."""
        nothing = np.zeros(len(self))
        return self._step(nothing, np.zeros((len(self.split), len(self))))

    def _without_each(
        self, acts: Sequence[Ints], rows: Ints
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """(score without each role's action, number of roles that share the difference), (R, N).

        Spec: :func:`logtriage.grading.credit.credits_of`; law: ``property_tests/test_team_laws``.
        Roles whose actions close the incident alike wait together.
        """
        batch = self.engine
        closing = batch.closing_alone(acts, rows)
        # The first role whose action closes the incident closes it.
        first = (closing >= 0).argmax(axis=0)
        actual = np.take_along_axis(closing, first[np.newaxis], axis=0)
        alike = (closing == actual) | (batch.gated(closing) & batch.gated(actual))
        alike &= closing >= 0
        without, sharing = [], np.where(alike, alike.sum(axis=0), 1)
        for lane in range(len(acts)):
            waits = alike & alike[lane]
            waits[lane] = True
            others = [np.where(idle, NOTHING, act) for idle, act in zip(waits, acts, strict=True)]
            without.append(batch.scores_if(others, rows))
        return np.stack(without), sharing

    def _step(self, reward: NDArray[np.float64], rewards: NDArray[np.float64]) -> TeamStep:
        seen = self.engine.look()
        state, observations, masks = self._screens.look(seen)
        return TeamStep(
            observations, masks, state, rewards, reward, seen.closing, seen.score, seen.tick
        )
