"""One incident at a time: :class:`gymnasium.Env` over the scalar core."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from logtriage.actions import all_actions
from logtriage.dynamics import transition
from logtriage.env.incidents import Incidents, info_of, option
from logtriage.env.spaces import action_space, box_of
from logtriage.errors import InvalidInput, UnknownName
from logtriage.grading import Rubric, reward
from logtriage.grading.rubric import check_rubric
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import Closing, State, initial_state
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.vector import action_mask, encode_tokens
from logtriage.vector.layout import Floats
from logtriage.vector.tokens.layout import token_layout_of
from logtriage.world.loading import WorldLike


class TriageEnv(gymnasium.Env[Floats, np.int64]):
    """A single agent on numeric observations; ``render_mode="ansi"`` shows screens as text.

    ``reset(options={"id": …})`` plays one incident, by id or index; without it incidents
    follow one another from where ``seed`` begins. ``info`` holds ``action_mask`` (A,) int8,
    ``score`` the grade so far, ``closing`` the index into
    :data:`logtriage.grading.batch.CLOSINGS` or -1, and ``tick``.

    Args:
        task: such as ``cascading_failure-v4``.
        split: ``train``, ``val``, ``test`` or, with the key in ``LOGTRIAGE_SEAL``,
            ``sealed``; with a topology also ``ood``.
        topology: your own, in place of the task's; ``fleet_outage`` needs one.
        rubric: your own, in place of the task's.
        render_mode: None or ``ansi``.
        show_id: whether ``info`` tells the ``index`` of the incident, too: for a trainer, and
            never for an agent that has this package, since the truth follows from it.
        world: the world of the task: a :class:`~logtriage.world.model.World`, a name or a folder;
            None takes it from the task's id.
        pool: for ``unseen_world-v4``, the numbers of the worlds to play, at most 64, such
            as ``range(16)``. Columns and actions mean the same in all of them; names differ.

    Raises:
        UnknownName: for a task, split or render mode that does not exist.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology,
            ``unseen_world-v4`` without a pool, and split ``sealed`` of a task that has none.
        SealError: for split ``sealed`` without a key.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012, as Gymnasium declares it

    def __init__(
        self,
        task: str | TaskSpec,
        split: str = "train",
        *,
        topology: Topology | None = None,
        rubric: Rubric | None = None,
        render_mode: str | None = None,
        show_id: bool = False,
        world: WorldLike | None = None,
        pool: Sequence[int] | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownName("render mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        if rubric is not None:
            check_rubric(rubric)
        self._incidents = Incidents(task, split, topology, world=world, pool=pool)
        self._playlist, self._rubric = self._incidents.playlist, rubric
        sheet = self._incidents.task
        self.task = sheet.id
        self._layout = token_layout_of(sheet.setting, self._incidents.topology, sheet.horizon)
        self.observation_space = box_of(self._layout)
        self._hand_over = sheet.takes_hand_over
        self.action_space = action_space(self._incidents.topology, hand_over=self._hand_over)
        self._show_id, self._index = show_id, -1
        self._now: State | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin the incident whose id or index is ``options["id"]``, or the next incident.

        Raises:
            UnknownName: for an id with an unknown task or split.
            InvalidInput: for an id of another task or split, and for an unknown option.
        """
        super().reset(seed=seed)
        if seed is not None or not self._playlist.begun:
            self._playlist.begin(self.np_random)
        self._index, incident = self._incidents.draw(option(options, "id"))
        self._now = initial_state(incident)
        return self._look()

    def step(self, action: np.int64 | int) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Take one action, given as its integer in :func:`~logtriage.actions.all_actions`.

        EpisodeOver if the incident is closed, InvalidInput for an action out of range.
        """
        before = self._state
        choices = all_actions(before.incident.topology, hand_over=self._hand_over)
        if not self.action_space.contains(action):
            raise InvalidInput(f"action {action!r}: expected an integer in [0, {len(choices)})")
        self._now = after = transition(before, choices[int(action)])
        earned = reward(before, after, self._rubric)
        truncated = after.closing is Closing.OUT_OF_TIME
        observation, info = self._look()
        return observation, earned, after.is_closed and not truncated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """A mask (A,) of the actions that could have an effect: all but repeated declarations."""
        return action_mask(observe(self._state)).astype(bool)

    def render(self) -> str | None:
        """The screen as an agent reads it, if ``render_mode`` is ``ansi``."""
        return None if self.render_mode is None else render_observation(observe(self._state))

    @property
    def _state(self) -> State:
        if self._now is None:
            raise ResetNeeded("no incident is open: call reset() first")
        return self._now

    def _look(self) -> tuple[Floats, dict[str, Any]]:
        state = self._state
        screen = observe(state)
        info = {
            "action_mask": action_mask(screen),
            **info_of(state, self._index if self._show_id else None, self._rubric),
        }
        # Each world of a pool has a layout of its own, with columns named by its teams.
        layout = None if self._incidents.pooled else self._layout
        return encode_tokens(state, layout=layout), info
