"""Settings of every PPO run; all of them are written beside its results."""

from typing import Final

import attrs

from logtriage.tasks import TaskSpec
from training.common.tasks import is_playable, sheet_of

#: Evaluations of the curve and of the table play this many incidents.
EVAL_INCIDENTS: Final = 1_000
TRAIN_SPLIT: Final = "train"
EVAL_SPLIT: Final = "test"
#: The split for evaluations during a run, so that nothing is chosen on the reported split.
CHOICE_SPLIT: Final = "val"


@attrs.frozen
class PPOSettings:
    """Proximal policy optimisation on the batched engine.

    Each round collects ``rollout`` steps of ``num_envs`` incidents and goes ``epochs``
    times over them in ``minibatches``. In the course of a run the learning rate falls
    linearly from ``lr`` to ``lr_end``, the weight of the entropy from ``entropy`` to
    ``entropy_end``. ``gamma`` is 1 because rewards telescope: their sum is the grade.

    With ``normalize`` the advantages of a round have mean 0 and deviation 1; without it
    they are in points of the grade, and so are the weights of the entropy.
    """

    task: str = attrs.field(
        validator=is_playable, metadata={"help": "an id, or module:name of a task sheet of yours"}
    )
    seed: int = 0
    num_envs: int = 1024
    rollout: int = 16
    epochs: int = 3
    minibatches: int = 8
    lr: float = 1e-3
    lr_end: float = 5e-5
    entropy: float = 0.02
    entropy_end: float = 0.001
    gamma: float = 1.0
    lmbda: float = 0.95
    clip: float = 0.2
    normalize: bool = True
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 256
    depth: int = 2
    activation: str = "tanh"
    threads: int = 2
    eval_incidents: int = EVAL_INCIDENTS

    @property
    def sheet(self) -> TaskSpec:
        """The task, in full."""
        return sheet_of(self.task)

    @property
    def batch(self) -> int:
        """Steps a round."""
        return self.num_envs * self.rollout

    def falling(self, start: float, end: float, progress: float) -> float:
        """Between ``start`` and ``end``, at a progress in [0, 1]."""
        return start + (end - start) * progress
