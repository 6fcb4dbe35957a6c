"""The batched engine: it plays N incidents side by side, each in a row, by compiled kernels.

Each row agrees with the scalar core on every truth, observation, mask, reward and
closing reason; ``property_tests/test_vector_laws.py`` checks this.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.actions import SEVERITIES
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import get_rubric
from logtriage.grading.action_lists import MALFORMED
from logtriage.grading.criteria import ignored_incident, wrong_escalation
from logtriage.grading.rubric import Rubric
from logtriage.grading.tables import IGNORED, MISROUTED, OUT_OF_TIME, check_kernels
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector.arrays import Ints
from logtriage.vector.checks import (
    as_rows,
    checked_actions,
    checked_indices,
    checked_mask,
    checked_pool,
    checked_task,
    nth_index,
    places_in,
)
from logtriage.vector.tokens.episodes import OPEN, TokenEpisodes
from logtriage.vector.tokens.incidents import TokenIncidents
from logtriage.vector.tokens.layout import TokenLayout
from logtriage.vector.tokens.setting import TokenSetting, batch_setting
from logtriage.world.drawn import unseen_world
from logtriage.world.loading import WorldLike

#: Types of an observation. ``float32`` is in units of the layout, ``uint8`` counts these units.
DTYPES: Final = ("float32", "uint8")
#: Stands in place of an action's integer where a lane does nothing.
NOTHING: Final = MALFORMED


@attrs.frozen(eq=False)
class Step:
    """The result of a reset or a step of N rows, as copies that the caller may change.

    ``observation`` (N, D) has the columns of the ``layout``; ``mask`` (N, actions A) is 1 for
    actions that could have an effect. ``closing`` (N,) indexes
    :data:`logtriage.grading.batch.CLOSINGS`, or is -1 while open. ``score`` (N,) is the grade so
    far, ``tick`` (N,) the number of ticks used.
    """

    observation: NDArray[Any]
    mask: NDArray[np.int8]
    reward: NDArray[np.float64]
    closing: NDArray[np.int8]
    score: NDArray[np.float64]
    tick: NDArray[np.int64]


class BatchedTriage:
    """N incidents side by side. Needs the extra ``fast``.

    Args:
        task: a drawn task, such as ``cascading_failure-v4``, or a task of your own.
        topology: replaces the task's topology; every (service, fault) pair may occur there.
        rubric: replaces the task's rubric.
        lanes: how many agents act in each tick, in turn; a :class:`logtriage.vector.BatchedTeam`
            has a lane for each role.
        apart: count window lines and requested lines separately. ``BatchedTeam`` needs this.
        pool: for a task of unseen worlds, the numbers of the worlds to play: at most 64, by default
            the first 64. :meth:`nth` lists their incidents.
        dtype: the type of an ``observation``: ``float32``, or ``uint8`` for a quarter of the bytes
            (see :data:`DTYPES`).
        world: the world of the task: a :class:`~logtriage.world.model.World`, a name or a folder;
            by default the world that the task's id names.

    Raises:
        UnknownName: for a task or a dtype that does not exist.
        InvalidInput: as :func:`logtriage.vector.checks.checked_task` and ``checked_pool``; if the
            topology has no place for the task's faults, or if none is given for a task whose
            incidents have a topology each.
        RubricError: for a rubric that cannot score a batch.
        MissingExtra: where Numba is not installed.
    """

    def __init__(
        self,
        task: str | TaskSpec,
        *,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        lanes: int = 1,
        apart: bool = False,
        pool: Sequence[int] | None = None,
        dtype: str = "float32",
        world: WorldLike | None = None,
    ) -> None:
        from logtriage.vector.tokens.compiled import TokenKernels  # loads Numba

        if dtype not in DTYPES:
            raise UnknownName("dtype", dtype, DTYPES)
        self.task = checked_task(task, world=world)
        self.rubric = get_rubric(self.task.rubric) if rubric is None else rubric
        check_kernels(self.rubric)
        self.pool = checked_pool(self.task, pool)
        #: The tables and layout of the task on its topology, or in the worlds of the pool.
        self.setting: TokenSetting
        self._make = partial(batch_setting, self.task, topology, lanes, apart=apart)
        self._kernels_of = TokenKernels
        # One world of a pool has the sizes of all; :meth:`reset` draws the others with its split.
        self._settle("train", self.pool[:1])
        self.topology = self.setting.topology
        self.layout: TokenLayout = self.setting.layout
        self.action_count = self.setting.action_count
        #: The incidents, hidden truths included, as arrays. Read them only.
        self.incidents: TokenIncidents
        #: What was done and shown, as arrays. Read them only.
        self.episodes: TokenEpisodes
        #: The grade so far of each row (N,).
        self.scores = np.empty(0)
        self._masks = _masks(len(self.topology), self.action_count)
        self.dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return len(self.scores)

    def nth(self, numbers: Ints) -> Ints:
        """The indices (R,) of incidents by ``numbers`` (R,) from 0 among those it can play."""
        return nth_index(self.pool, numbers)

    def owners(self, rows: Ints) -> Ints:
        """The number of the team that owns each service (R, n), in these rows (R,)."""
        layout, incidents = self.layout, self.incidents
        teams = layout.world.owning_teams(self.topology)
        flags = np.stack([incidents.board[rows, layout[f"owner:{team}"]] for team in teams], axis=2)
        numbers = self.setting.tables.owners[incidents.world[rows]]
        owners: Ints = np.take_along_axis(numbers, flags.argmax(axis=2), axis=1)
        return owners

    @property
    def index(self) -> Ints:
        """The index (N,) of the incident in each row."""
        index: Ints = self.incidents.index.copy()
        return index

    def reset(self, split: str, index: ArrayLike) -> Step:
        """Begin the incidents ``index`` (N,) of a split, in this order.

        Raises:
            UnknownName: if the split is unknown.
            InvalidInput: if there are no indices, or they are not whole numbers in range; for split
                ``ood`` on the task's topology, as half of its incidents lie on random ones.
        """
        rows, worlds = self._indices(split, index)
        if not len(rows):
            raise InvalidInput("a batch needs at least one incident")
        if self.pool and self._settled != (split, self.pool):
            self._settle(split, self.pool)
        count, every = len(rows), np.arange(len(rows))
        incidents = self.setting.room(count)
        self._kernels.draw(incidents, every, split, rows, worlds)
        self._split, self.incidents = split, incidents
        self.episodes = TokenEpisodes.empty(incidents, self.task.horizon)
        self._kernels.begin(self.episodes, every)
        self._kernels.read(incidents, self.episodes, every)
        self.scores = self._kernels.scores(incidents, self.episodes, every)
        return self._screen(np.zeros(count))

    def restart(self, rows: ArrayLike, index: ArrayLike) -> None:
        """Begin new incidents ``index`` (R,) of the split in ``rows`` (R,); see :meth:`look`.

        Raises:
            InvalidInput: before a reset, for indices as :meth:`reset`, and unless ``rows`` are R
                different rows of the batch.
        """
        self._check_begun()
        chosen, worlds = self._indices(self._split, index)
        places = as_rows(rows, np.arange(len(self)))
        if len(places) != len(chosen):
            raise InvalidInput(f"rows: {len(places)} of them for {len(chosen)} incidents")
        if not len(places):
            return
        self._kernels.draw(self.incidents, places, self._split, chosen, worlds)
        self._kernels.begin(self.episodes, places)
        self._kernels.read(self.incidents, self.episodes, places)
        self._kernels.scores(self.incidents, self.episodes, places, self.scores)

    def step(self, actions: ArrayLike, active: ArrayLike | None = None) -> Step:
        """Take an action in each open row: canonical integers (N,) (:func:`logtriage.all_actions`).

        Rows that are closed, or not ``active`` (N,), stay as they are and earn 0.

        Raises:
            InvalidInput: before a reset, for actions of another shape or out of range, and unless
                ``active`` are N booleans.
        """
        self._check_begun()
        chosen = checked_actions(actions, len(self), self.action_count)
        reward, _ = self.play([chosen], self.open_rows(active))
        return self._screen(reward)

    def look(self) -> Step:
        """The current screens, with a reward of 0; InvalidInput before a reset."""
        self._check_begun()
        return self._screen(np.zeros(len(self)))

    def open_rows(self, active: ArrayLike | None = None) -> Ints:
        """The rows that are open, and ``active`` (N,) if that is given."""
        playing = self.episodes.closing == OPEN
        if active is not None:
            playing &= checked_mask("active", active, len(self))
        return np.flatnonzero(playing)

    def play(
        self, acts: Sequence[Ints], rows: Ints
    ) -> tuple[NDArray[np.float64], tuple[Ints, ...]]:
        """Play a tick of open rows (R,): return all rewards (N,), and the rows of each lane's turn.

        ``acts`` holds the canonical integers (N,) of each lane in order, negative for no action. A
        lane has no turn in a row whose incident an earlier lane has closed.
        """
        incidents, now, before = self.incidents, self.episodes, self.scores
        if len(acts) == 1:
            acted: tuple[Ints, ...] = (rows,)
            self.scores = self._kernels.play(incidents, now, acts[0], rows, before)
        else:
            acted = self._kernels.take(incidents, now, acts, rows)
            self._kernels.read(incidents, now, rows)
            self.scores = self._scores(now)
        return self.scores - before, acted

    def scores_if(self, acts: Sequence[Ints], rows: Ints) -> NDArray[np.float64]:
        """The scores (N,) that :meth:`play` would lead to; nothing is played."""
        return self._scores(self._episodes_after(acts, rows))

    def closing_alone(self, acts: Sequence[Ints], rows: Ints) -> NDArray[np.int8]:
        """The closing (lanes, N) by each lane's action alone; -1 if it does not close the incident.

        Only rows in which at least two lanes page or close are played out; others hold -1.
        """
        letters = self.setting.letters
        closing = np.full((len(acts), len(self)), OPEN, np.int8)
        chosen = np.stack(acts)[:, rows]
        paging = (chosen >= letters.page) & (chosen < letters.page_end)
        closes = chosen >= letters.resolve  # resolve, ignore and hand over are the last
        several = rows[(paging | closes).sum(axis=0) > 1]
        if len(several):
            nothing = np.full(len(self), NOTHING)
            for lane, act in enumerate(acts):
                alone = [nothing] * len(acts)
                alone[lane] = act
                after = self._episodes_after(alone, several).closing[several]
                # That time is up is no action's doing.
                closing[lane, several] = np.where(after == OUT_OF_TIME, OPEN, after)
        return closing

    def gated(self, closing: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether a gate of the rubric holds (…, N) if the incidents closed by ``closing``."""
        # ``check_kernels`` lets no other gates through than these two.
        holding = {gate.holds for gate in self.rubric.gates}
        real = self.incidents.team >= 0
        paged = (closing == MISROUTED) & (wrong_escalation in holding)
        ignored = (closing == IGNORED) & (ignored_incident in holding)
        wrong: NDArray[np.bool_] = paged | (ignored & real)
        return wrong

    def _episodes_after(self, acts: Sequence[Ints], rows: Ints) -> TokenEpisodes:
        episodes = self.episodes.copy()
        self._kernels.take(self.incidents, episodes, acts, rows)
        return episodes

    @property
    def ticks(self) -> Ints:
        """The ticks used in each row (N,)."""
        return self.setting.ticks(self.episodes)

    def _scores(self, episodes: TokenEpisodes) -> NDArray[np.float64]:
        return self._kernels.scores(self.incidents, episodes, np.arange(len(self)))

    def _check_begun(self) -> None:
        if not len(self):
            raise InvalidInput("no incidents are open: call reset() first")

    def _settle(self, split: str, worlds: tuple[int, ...]) -> None:
        """Make the setting and kernels of the task, or of the worlds with these numbers."""
        drawn = [unseen_world(split, number) for number in worlds]
        self._settled = split, worlds
        self.setting = self._make(ood=bool(worlds) and split == "ood", worlds=drawn)
        self._kernels = self._kernels_of(self.setting, self.rubric)

    def _indices(self, split: str, index: ArrayLike) -> tuple[Ints, Ints]:
        """(checked indices, places of their worlds in the pool), (R,) each."""
        own = self.setting.held is None  # on a topology that was given
        rows = checked_indices(split, index, ood=own or bool(self.pool))
        return rows, places_in(self.pool, rows)

    def _mask(self) -> NDArray[np.int8]:
        """The masks (N, A): 1 for every action but declarations that were already made."""
        now = self.episodes
        declared = (now.severity >= 0) + 2 * (now.root_cause >= 0)  # a row of :func:`_masks`
        masks: NDArray[np.int8] = self._masks.take(declared, axis=0)
        return masks

    def _observation(self) -> NDArray[Any]:
        now = self.episodes
        if self.dtype == np.uint8:
            return now.columns.copy()
        observation = np.empty((len(self), self.layout.size), np.float32)
        self._kernels.observe(now, observation)
        return observation

    def _screen(self, reward: NDArray[np.float64]) -> Step:
        now = self.episodes
        return Step(
            observation=self._observation(),
            mask=self._mask(),
            reward=reward,
            closing=now.closing.copy(),
            score=self.scores.copy(),
            tick=self.setting.ticks(now),
        )


def _masks(n: int, count: int) -> NDArray[np.int8]:
    """The masks (4, A) once nothing, a severity, a root cause, or both were declared."""
    first = len(SEVERITIES)
    masks = np.ones((4, count), np.int8)
    masks[1::2, :first] = 0
    masks[2:, first : first + n] = 0
    return masks
