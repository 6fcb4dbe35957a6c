"""Experience of a team from the batched engine, with closed rows begun anew at once."""

import numpy as np
import torch
from tensordict import TensorDict
from torch import Tensor

from logtriage.vector import BatchedTeam, TeamStep
from training.common.loss import advantages
from training.common.settings import TRAIN_SPLIT
from training.marl.inputs import Inputs
from training.marl.networks import Team
from training.marl.settings import Settings
from training.marl.teacher import Teacher


def make_batch(settings: Settings) -> BatchedTeam:
    """The engine of a run."""
    return BatchedTeam(settings.sheet, settings.roles, credit=settings.credit)


class Collector:
    """Plays incidents of split ``train`` in order, none of them twice.

    ``ticks`` and ``incidents`` count what was played, ``grades`` holds those of the
    incidents that ended in the last round.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.batch = make_batch(settings)
        self.ticks = 0
        self.incidents = 0
        self.grades = np.zeros(0)
        rows = settings.num_envs
        self._next = rows
        self.inputs = Inputs(self.batch)
        self._screen = self.batch.reset(TRAIN_SPLIT, np.arange(rows))
        self._seen = self.inputs.begin(self._screen)
        self._teacher = Teacher(self.batch) if settings.imitation else None
        self._labels = self._teacher.begin(self._screen) if self._teacher else []

    def dismiss_teacher(self) -> None:
        """Compute no more labels: the rounds of imitation are over."""
        self._teacher, self._labels = None, []

    @torch.no_grad()
    def collect(self, team: Team, taught: float = 0.0) -> list[TensorDict]:
        """A round for each role, flattened to (rollout * num_envs,), with advantages.

        In the share ``taught`` of the ticks, drawn at random, a team does what its teacher does.
        The value targets, and for a central critic what it sees, stand with the roles
        whose critics there are.
        """
        settings, batch = self.settings, self.batch
        shape = (settings.rollout, settings.num_envs)
        state = torch.empty((*shape, sum(self.inputs.sizes)))
        rounds = [
            TensorDict(
                {
                    "observation": torch.empty((*shape, columns)),
                    "mask": torch.empty((*shape, actions), dtype=torch.bool),
                    "action": torch.empty(shape, dtype=torch.long),
                    "label": torch.empty(shape, dtype=torch.long),
                    "action_log_prob": torch.empty(shape),
                },
                batch_size=shape,
            )
            for columns, actions in zip(self.inputs.sizes, batch.action_counts, strict=True)
        ]
        reward = torch.empty((len(rounds), *shape))
        done = torch.empty(shape, dtype=torch.bool)
        grades = []
        for t in range(settings.rollout):
            state[t] = torch.cat(self._seen, dim=-1)
            masks = masks_of(self._screen)
            follows = torch.rand(settings.num_envs) < taught
            for role, (seen, mask) in enumerate(zip(self._seen, masks, strict=True)):
                policy = team.distribution(role, seen, mask)
                action = policy.sample()
                label = torch.from_numpy(self._labels[role]) if self._labels else action
                action = torch.where(follows, label, action)
                for name, value in (
                    ("label", label),
                    ("observation", seen),
                    ("mask", mask),
                    ("action", action),
                    ("action_log_prob", policy.log_prob(action)),
                ):
                    rounds[role][name][t] = value
            after = self.batch.step([each["action"][t].numpy() for each in rounds])
            closed = after.closing >= 0
            reward[:, t], done[t] = torch.from_numpy(after.rewards), torch.from_numpy(closed)
            grades.append(after.score[closed])
            fresh = np.flatnonzero(closed)
            self._screen = self._restart(after, fresh)
            every = np.arange(settings.num_envs)
            self._seen = self.inputs.read(self._screen, every, fresh)
            if self._teacher is not None:
                self._labels = self._teacher.read(self._screen, every, fresh)
        self.ticks += settings.batch
        self.grades = np.concatenate(grades)
        self.incidents += len(self.grades)

        last = self._seen
        if team.central:
            inputs, last = [state] * len(rounds), [torch.cat(last, dim=-1)] * len(last)
        else:
            inputs = [each["observation"] for each in rounds]
        for role, each in enumerate(rounds):
            if role < len(team.values):
                value = team.values[role]
                each["advantage"], target = advantages(
                    settings, value(inputs[role]), value(last[role]), reward[role], done
                )
                each["value_target"] = target
                if team.central:
                    each["state"] = state
            else:
                each["advantage"] = rounds[0]["advantage"]
        return [each.flatten() for each in rounds]

    def _restart(self, after: TeamStep, rows: np.ndarray) -> TeamStep:
        if not len(rows):
            return after
        self.batch.restart(rows, np.arange(self._next, self._next + len(rows)))
        self._next += len(rows)
        return self.batch.look()


def masks_of(screen: TeamStep) -> list[Tensor]:
    """The mask (N, A_r) of each role, as booleans."""
    return [torch.from_numpy(mask).bool() for mask in screen.masks]
