"""What a run depends on: everything here, and the seed, is written beside its results."""

from typing import Final

import attrs

#: Evaluations of the curve and of the table play this many incidents.
EVAL_INCIDENTS: Final = 1_000
TRAIN_SPLIT: Final = "train"
EVAL_SPLIT: Final = "test"


@attrs.frozen
class Settings:
    """A training run.

    It lasts ``rounds``, or if these are None as long as it may: ``minutes`` of wall time,
    evaluations included. Only with ``rounds`` does the same seed give the same weights.
    Each round collects ``rollout`` steps of ``num_envs`` incidents and goes ``epochs``
    times over them in ``minibatches``. In the course of a run the learning rate falls
    linearly from ``lr`` to ``lr_end``, the weight of the entropy from ``entropy`` to
    ``entropy_end``. ``gamma`` is 1 because rewards telescope: their sum is the grade.

    With ``normalize`` the advantages of a round have mean 0 and deviation 1; without it
    they are in points of the grade, and so are the weights of the entropy.
    """

    task: str
    minutes: float = 10.0
    rounds: int | None = None
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
    critic: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 256
    depth: int = 2
    threads: int = 2
    eval_every_s: float = 30.0
    eval_incidents: int = EVAL_INCIDENTS

    @property
    def batch(self) -> int:
        """Steps a round."""
        return self.num_envs * self.rollout
