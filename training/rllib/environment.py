"""The batched environment as RLlib takes it: what may be done stands in the observation.

Importing this registers ``logtriage/MaskedBeliefs-v0`` with Gymnasium. RLlib's own episodes
begin anew as Gymnasium's ``NEXT_STEP`` does, which is that of the batched environment.
"""

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

from logtriage.env import TriageVectorEnv
from logtriage.tasks import TaskSpec
from training.common.tasks import sheet_of

ID: Final = "logtriage/MaskedBeliefs-v0"
#: As RLlib finds it: Gymnasium imports this module wherever an env runner is.
ENV: Final = f"{__name__}:{ID}"
SEEN: Final = "observations"
MASK: Final = "action_mask"
Screens = dict[str, np.ndarray]


class MaskedBeliefs(VectorWrapper):
    """N incidents of a task: ``observations`` (N, D), a belief, and ``action_mask`` (N, A).

    The horizon belongs to the task and stands on the screen, so an incident that runs out
    of time ends as any other does: nothing comes after it whose value could be estimated.
    The infos are empty, since RLlib would make a dictionary of them for every step.

    Args:
        num_envs: how many incidents at a time.
        task: a drawn task, by its id, as ``module:name`` or by its sheet.
        split: the split that is played.
        resumed: how many rounds were played before: those that follow play other incidents.

    Raises:
        UnknownName, InvalidInput: as :class:`logtriage.env.TriageVectorEnv`.
    """

    def __init__(
        self, num_envs: int, task: str | TaskSpec, split: str = "train", resumed: int = 0
    ) -> None:
        super().__init__(TriageVectorEnv(sheet_of(task), num_envs, split, observations="belief"))
        self._resumed = resumed
        actions = self.env.single_action_space
        assert isinstance(actions, spaces.Discrete)
        one = spaces.Dict(
            {
                SEEN: self.env.single_observation_space,
                MASK: spaces.Box(0, 1, (int(actions.n),), np.int8),
            }
        )
        self.single_observation_space = one
        self.observation_space = batch_space(one, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Screens, dict[str, Any]]:
        """As of the environment; the same seed plays other incidents once a run is resumed."""
        if seed is not None and self._resumed:
            words = np.random.SeedSequence([int(np.min(seed)), self._resumed]).generate_state(1)
            seed = int(words[0])
        seen, infos = self.env.reset(seed=seed, options=options)
        return {SEEN: seen, MASK: infos[MASK]}, {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[Screens, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """As of the environment; no row is ever truncated."""
        seen, rewards, terminations, truncations, infos = self.env.step(actions)
        ended = terminations | truncations
        return {SEEN: seen, MASK: infos[MASK]}, rewards, ended, np.zeros_like(ended), {}


gymnasium.register(ID, vector_entry_point=f"{__name__}:MaskedBeliefs")
