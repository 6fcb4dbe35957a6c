"""Experience from the batched engine, with closed rows begun anew at once."""

import numpy as np
import torch
from tensordict import TensorDict
from torch import Tensor

from logtriage.vector import BatchedTriage, Step
from training.common.loss import advantages
from training.common.settings import TRAIN_SPLIT
from training.ppo.inputs import inputs_of, mask_of
from training.ppo.networks import Agent
from training.ppo.settings import Settings
from training.ppo.teacher import Teacher


class Collector:
    """Plays incidents of split ``train`` in order, none of them twice.

    ``steps`` and ``incidents`` count what was played so far; ``grades`` are those of the
    incidents that ended in the last round.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.batch = BatchedTriage(settings.sheet)
        self.inputs = inputs_of(settings.inputs, self.batch, settings.predictor)
        self.steps = 0
        self.incidents = 0
        self.grades = np.zeros(0)
        self._next = settings.num_envs
        self._screen = self.batch.reset(TRAIN_SPLIT, self.batch.nth(np.arange(settings.num_envs)))
        self._seen = self.inputs.begin(self._screen)
        self._begun = torch.ones(settings.num_envs, dtype=torch.bool)
        self._carried = torch.zeros(settings.num_envs, settings.memory)
        self._teacher = Teacher(self.batch) if settings.imitation else None
        self._label = np.zeros(settings.num_envs, np.int64)
        if self._teacher is not None:
            self._label = self._teacher.begin(self._screen)

    def dismiss_teacher(self) -> None:
        """Compute no more labels: the rounds of imitation are over."""
        self._teacher = None

    @torch.no_grad()
    def collect(self, agent: Agent, taught: float = 0.0) -> TensorDict:
        """A round (rollout, num_envs), with advantages and value targets.

        The share ``taught`` of the actions, drawn at random, are the teacher's.
        """
        settings = self.settings
        shape = (settings.rollout, settings.num_envs)
        observation = torch.empty((*shape, self.inputs.size + settings.memory))
        carried = torch.empty((*shape, settings.memory))
        begun = torch.empty(shape, dtype=torch.bool)
        mask = torch.empty((*shape, self.batch.action_count), dtype=torch.bool)
        action, label, truth = torch.empty((3, *shape), dtype=torch.long)
        log_prob, reward = torch.empty((2, *shape))
        done = torch.empty(shape, dtype=torch.bool)
        grades = []
        for t in range(settings.rollout):
            begun[t], carried[t] = self._begun, self._carried
            observation[t], self._carried = self._recall(agent)
            mask[t] = mask_of(self._screen)
            policy = agent.distribution(observation[t], mask[t])
            label[t] = torch.from_numpy(self._label)
            follows = torch.rand(settings.num_envs) < taught
            action[t] = torch.where(follows, label[t], policy.sample())
            log_prob[t] = policy.log_prob(action[t])
            truth[t] = torch.from_numpy(self.batch.incidents.hypothesis.astype(np.int64))
            chosen = action[t].numpy()
            after = self.batch.step(chosen)
            closed = after.closing >= 0
            reward[t], done[t] = torch.from_numpy(after.reward), torch.from_numpy(closed)
            grades.append(after.score[closed])
            fresh, self._begun = np.flatnonzero(closed), done[t].clone()
            self._screen = self._restart(after, fresh)
            self._seen = self.inputs.read(self._screen, chosen, fresh)
            if self._teacher is not None:
                self._label = self._teacher.read(self._screen, chosen, fresh)
        self.steps += settings.batch
        self.grades = np.concatenate(grades)
        self.incidents += len(self.grades)

        value = agent.value(observation)
        last = agent.value(self._recall(agent)[0])
        advantage, target = advantages(settings, value, last, reward, done)
        return TensorDict(
            {
                "observation": observation,
                "begun": begun,
                "carried": carried,
                "mask": mask,
                "action": action,
                "action_log_prob": log_prob,
                "label": label,
                "truth": truth,
                "state_value": value,
                "advantage": advantage,
                "value_target": target,
            },
            batch_size=shape,
        )

    def _recall(self, agent: Agent) -> tuple[Tensor, Tensor]:
        """The observation (N, D + H) at the present screens, and what is carried on (N, H)."""
        if agent.memory is None:
            return self._seen, self._carried
        recalled: tuple[Tensor, Tensor] = agent.memory(self._seen, self._begun, self._carried)
        return recalled

    def _restart(self, after: Step, rows: np.ndarray) -> Step:
        if not len(rows):
            return after
        numbers = np.arange(self._next, self._next + len(rows))
        self.batch.restart(rows, self.batch.nth(numbers))
        self._next += len(rows)
        return self.batch.look()
