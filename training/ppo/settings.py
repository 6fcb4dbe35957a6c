"""What a run depends on: everything here, and the seed, is written beside its results."""

import attrs

from training.common.settings import PPOSettings


@attrs.frozen
class Settings(PPOSettings):
    """A training run.

    It lasts ``rounds``, or if these are None as long as it may: ``minutes`` of wall time,
    evaluations included. Only with ``rounds`` does the same seed give the same weights.
    """

    minutes: float = 10.0
    rounds: int | None = None
    eval_every_s: float = 30.0
