"""What a run depends on: everything here, and the seed, is written beside its results."""

import attrs

from training.common.settings import PPOSettings
from training.ppo.inputs import KINDS


@attrs.frozen
class Settings(PPOSettings):
    """A training run.

    It lasts ``rounds``, or if these are None as long as it may: ``minutes`` of wall time,
    evaluations included. Only with ``rounds`` does the same seed give the same weights.

    ``inputs`` is what the agent is given (:mod:`training.ppo.inputs`), ``memory`` the units
    of a GRU that carries what was given before (:mod:`training.ppo.memory`). ``fogs`` is a
    curriculum: levels of fog, such as ``0,1``, through which the first half of the run
    goes in equal parts before it stays at the task's own. With ``shaping`` every question
    is paid by what it told (:class:`logtriage.vector.shaping.BatchedShaping`); grades are
    reported as ever.

    Advantages are left in points of the grade: scaled by their deviation, a rare page
    would face the same bar whatever a hand-over is worth.
    """

    minutes: float = 15.0
    rounds: int | None = None
    eval_every_s: float = 30.0
    inputs: str = attrs.field(
        default="belief", metadata={"choices": KINDS, "help": "what the agent is given"}
    )
    memory: int = attrs.field(
        default=0,
        validator=attrs.validators.ge(0),
        metadata={"help": "units of a GRU that carries what was seen; 0 for none"},
    )
    fogs: str = attrs.field(
        default="", metadata={"help": "levels of fog to begin with, such as 0,1"}
    )
    shaping: bool = attrs.field(
        default=False, metadata={"help": "whether rewards are shaped by the belief"}
    )
    num_envs: int = 512
    normalize: bool = False
    width: int = 96
    activation: str = "relu"
    lr: float = 2e-3
    lr_end: float = 1e-4
    entropy: float = 0.01
    entropy_end: float = 0.0005
    epochs: int = 4
    threads: int = 1
