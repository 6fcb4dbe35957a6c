"""N incidents at a time: :class:`gymnasium.vector.VectorEnv` over the batched engine."""

from collections.abc import Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from logtriage.drawing.ids import SEALED
from logtriage.env.incidents import Playlist, option
from logtriage.env.spaces import action_space, belief_box, box_of
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import Rubric
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.tasks import TaskSpec, task_of
from logtriage.topology import Topology
from logtriage.vector import BatchedTriage, BeliefScreens, Step
from logtriage.vector.checks import checked_actions, checked_pool
from logtriage.vector.layout import Floats
from logtriage.world.loading import WorldLike

Bools = NDArray[np.bool_]
#: What a row of observations holds: counts of tokens, or the belief of an ideal observer.
Observations = Literal["tokens", "belief"]
OBSERVATIONS: Final[tuple[str, ...]] = get_args(Observations)
_OUT_OF_TIME = CLOSINGS.index(Closing.OUT_OF_TIME)


class TriageVectorEnv(VectorEnv[Floats, NDArray[np.int64], NDArray[Any]]):
    """N incidents of one task side by side, by compiled kernels (extra ``fast``).

    Autoreset is Gymnasium's ``NEXT_STEP``: the step that closes a row returns its last
    screen; the next step ignores that row's action, begins its next incident and earns 0.

    ``reset(options={"ids": […]})`` plays incidents by id or index: the first N at once; the rest,
    and then the sequence of the seed, as rows become free. ``infos`` hold
    ``action_mask`` (N, A) int8, ``score``, ``closing`` and ``tick`` (N,), as in
    :class:`logtriage.env.TriageEnv`, each with the mask ``_<name>`` that Gymnasium asks for.

    Arguments that are not named here are those of :class:`logtriage.env.TriageEnv`.

    Args:
        num_envs: how many incidents at a time.
        split: ``train``, ``val`` or ``test``; with a topology also ``ood``.
        observations: ``tokens``, or ``belief``, the columns of
            :class:`logtriage.vector.BeliefScreens`.
        dtype: ``float32``, or ``uint8`` for a quarter of the bytes: whole numbers, each column in
            its unit of the layout. Beliefs are float32.
        pool: for ``unseen_world-v4``, the numbers of the worlds to play, at most 64 (default: the
            first 64).

    Raises:
        UnknownName: for a task, split, dtype or kind of observations that does not exist.
        InvalidInput: for ``num_envs`` below 1, and for split ``sealed``; for split ``ood`` or
            ``fleet_outage`` without a topology.
        RubricError: for a rubric of your own that cannot score a batch.
        MissingExtra: where Numba is not installed.
    """

    metadata = {  # noqa: RUF012, as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: str | TaskSpec,
        num_envs: int = 1,
        split: str = "train",
        *,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        observations: Observations = "tokens",
        dtype: str = "float32",
        show_id: bool = False,
        pool: Sequence[int] | None = None,
        world: WorldLike | None = None,
    ) -> None:
        if num_envs < 1:
            raise InvalidInput(f"num_envs must be at least 1, got {num_envs}")
        if split == SEALED:
            raise InvalidInput(
                f"split {SEALED!r}: seeds of sealed incidents are wider than those that a batch "
                "draws; play them one at a time, in logtriage.env.TriageEnv"
            )
        if observations not in OBSERVATIONS:
            raise UnknownName("kind of observations", observations, OBSERVATIONS)
        sheet = task_of(task, world)
        worlds = checked_pool(sheet, pool)
        own = topology is not None
        self._playlist = Playlist(sheet, split, own_topology=own, pool=worlds)
        self._batch = BatchedTriage(sheet, topology=topology, rubric=rubric, dtype=dtype, pool=pool)
        self.task = sheet.id
        self._beliefs = BeliefScreens(self._batch) if observations == "belief" else None
        self._split, self._show_id = split, show_id
        self._closed: Bools | None = None
        self.num_envs = num_envs
        self.single_observation_space = (
            box_of(self._batch.layout, self._batch.dtype)
            if self._beliefs is None
            else belief_box(self._beliefs.layout, self._batch.layout)
        )
        self.single_action_space = action_space(self._batch.topology, hand_over=True)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin the incidents of ``options["ids"]``, or the next N.

        Raises:
            UnknownName: for an id with an unknown task or split.
            InvalidInput: for an id of another task or split, for fewer than N ids, and for an
                unknown option.
        """
        super().reset(seed=seed)
        if seed is not None or not self._playlist.begun:
            self._playlist.begin(self.np_random)
        asked = option(options, "ids")
        at_least = 0 if asked is None else self.num_envs
        self._playlist.ask([] if asked is None else asked, at_least)
        screen = self._batch.reset(self._split, self._playlist.take(self.num_envs))
        self._closed = screen.closing >= 0
        shown = screen.observation if self._beliefs is None else self._beliefs.begin(screen)
        return shown, self._infos(screen)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Floats, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Take one action in every row, (N,); InvalidInput for another shape or out of range."""
        if self._closed is None:
            raise ResetNeeded("no incidents are open: call reset() first")
        # Actions are checked before closed rows begin their next incidents.
        chosen = checked_actions(actions, self.num_envs, self._batch.action_count)
        free = np.flatnonzero(self._closed)
        active = ~self._closed
        if len(free):
            self._batch.restart(free, self._playlist.take(len(free)))
        screen = self._batch.step(chosen, active)
        self._closed = screen.closing >= 0  # -1 while it is open
        truncations = screen.closing == _OUT_OF_TIME
        shown = screen.observation
        if self._beliefs is not None:
            shown = self._beliefs.read(screen, chosen, free)
        terminations = self._closed & ~truncations
        return shown, screen.reward, terminations, truncations, self._infos(screen)

    def _infos(self, screen: Step) -> dict[str, Any]:
        values = {
            "action_mask": screen.mask,
            "score": screen.score,
            "closing": screen.closing,
            "tick": screen.tick,
        }
        if self._show_id:
            values["index"] = self._batch.index
        return values | {f"_{name}": np.ones(self.num_envs, bool) for name in values}
