"""A TorchRL environment of N teams at once, over the batched engine.

All roles stand in one group, ``team``, so that algorithms that mix their values (VDN,
QMIX) can: their inputs are padded with zeros to the widest, their actions with ones that
are masked. What is in an input: :mod:`logtriage.vector.role_inputs`. The ``state`` is what
all roles are given, side by side.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torch.nn.functional import pad
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from logtriage.roles import RoleSplit
from logtriage.tasks import TaskSpec
from logtriage.vector import BatchedTeam, TeamStep
from training.marl.inputs import Inputs
from training.marl.rollouts import masks_of

#: The group that all roles are in.
GROUP = "team"
_NONE: NDArray[np.int64] = np.zeros(0, np.int64)


class TeamEnv(EnvBase):
    """Plays incidents of a split of a task in N rows; every row goes on with the next one.

    ``seed`` says with which incident it begins, so that others begin elsewhere.
    """

    batch_locked = True

    def __init__(
        self,
        task: str | TaskSpec,
        roles: RoleSplit,
        count: int,
        *,
        split: str = "train",
        seed: int = 0,
    ) -> None:
        super().__init__(batch_size=[count])
        self._batch = BatchedTeam(task, roles)
        self._split, self._count = split, count
        self._inputs = Inputs(self._batch)
        self.horizon = self._batch.task.horizon
        self._wide = max(self._inputs.sizes)
        self._most = max(self._batch.action_counts)
        self._specify(len(roles))
        self.set_seed(seed)

    def _specify(self, roles: int) -> None:
        rows, each = (self._count,), (self._count, roles)
        observation = Unbounded((*each, self._wide))
        mask = Binary(shape=(*each, self._most), dtype=torch.bool)
        self.observation_spec = Composite(
            {
                GROUP: Composite({"observation": observation, "action_mask": mask}, shape=each),
                "state": Unbounded((*rows, sum(self._inputs.sizes))),
            },
            shape=rows,
        )
        action = Categorical(self._most, shape=each)
        reward = Unbounded((*each, 1))
        self.action_spec = Composite({GROUP: Composite({"action": action}, shape=each)}, shape=rows)
        self.reward_spec = Composite({GROUP: Composite({"reward": reward}, shape=each)}, shape=rows)
        done = Categorical(2, shape=(*rows, 1), dtype=torch.bool)
        self.done_spec = Composite({"done": done, "terminated": done.clone()}, shape=rows)

    def _set_seed(self, seed: int | None) -> None:
        # Of 2**48 incidents, so that two seeds hardly ever meet.
        self._next = int(np.random.default_rng(seed).integers(1 << 47))

    def _reset(self, tensordict: TensorDictBase | None, **_: Any) -> TensorDictBase:
        asked = None if tensordict is None else tensordict.get("_reset", None)
        if asked is None:
            self._screen = self._batch.reset(self._split, self._drawn(self._count))
            seen = self._inputs.begin(self._screen)
        else:
            rows = np.flatnonzero(asked.reshape(self._count, -1).any(-1).numpy())
            self._batch.restart(rows, self._drawn(len(rows)))
            self._screen = self._batch.look()
            seen = self._inputs.read(self._screen, _NONE, rows)
        return self._shown(seen, self._screen)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        going = np.flatnonzero(self._screen.closing < 0)
        chosen = tensordict[GROUP, "action"]
        self._screen = self._batch.step([one.numpy() for one in chosen.unbind(-1)])
        found = self._shown(self._inputs.read(self._screen, going, _NONE), self._screen)
        rewards = torch.from_numpy(self._screen.rewards.T.astype(np.float32))
        found[GROUP, "reward"] = rewards[..., None]
        return found

    def _drawn(self, count: int) -> NDArray[np.int64]:
        self._next += count
        return np.arange(self._next - count, self._next)

    def _shown(self, seen: list[Tensor], screen: TeamStep) -> TensorDict:
        closed = torch.from_numpy(screen.closing >= 0)[:, None]
        return TensorDict(
            {
                GROUP: stacked(seen, masks_of(screen)),
                "state": torch.cat(seen, -1),
                "done": closed,
                "terminated": closed.clone(),
            },
            batch_size=self.batch_size,
        )


def stacked(seen: list[Tensor], masks: list[Tensor]) -> TensorDict:
    """Inputs (N, D_r) and masks (N, A_r) of R roles as those of the group (N, R), padded."""
    found = {
        name: torch.stack([pad(one, (0, max(wide) - one.shape[1])) for one in parts], 1)
        for name, parts in (("observation", seen), ("action_mask", masks))
        for wide in [[one.shape[1] for one in parts]]
    }
    return TensorDict(found, batch_size=(len(seen[0]), len(seen)))
