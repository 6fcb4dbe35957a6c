"""The settings of a run; all of them are written beside its results."""

import attrs

from training.common.settings import PPOSettings
from training.ppo.inputs import KINDS


@attrs.frozen
class Settings(PPOSettings):
    """A training run.

    It lasts ``rounds``, or if these are None as long as it may: ``minutes`` of wall time,
    evaluations included. Only with ``rounds`` does the same seed give the same weights.

    ``inputs`` is what the agent is given (:mod:`training.ppo.inputs`), ``memory`` the units
    of a GRU that carries what was given before (:mod:`training.ppo.memory`). ``auxiliary``
    weighs a second loss on the policy's perceptron: the cross-entropy, in nats, of a head that
    predicts the hidden hypothesis, whose minimum is the posterior.

    In its first rounds, ``imitation`` of them, an agent learns to do what a scripted teacher
    does (:mod:`training.ppo.teacher`), on screens that it meets itself more and more (DAgger):
    a policy that begins at random hands everything over, and then learns nothing more.

    Advantages are left in points of the grade: scaled by their deviation, a rare page
    would face the same bar whatever a hand-over is worth.
    """

    minutes: float = 15.0
    rounds: int | None = None
    eval_every_s: float = 30.0
    inputs: str = attrs.field(
        default="belief", metadata={"choices": KINDS, "help": "what the agent is given"}
    )
    predictor: str = attrs.field(
        default="", metadata={"help": "for inputs predicted: a directory of training.ppo.predictor"}
    )
    memory: int = attrs.field(
        default=0,
        validator=attrs.validators.ge(0),
        metadata={"help": "units of a GRU that carries what was seen; 0 for none"},
    )
    auxiliary: float = attrs.field(
        default=0.0, metadata={"help": "weight of the loss of predicting the truth"}
    )
    imitation: int = attrs.field(
        default=20, metadata={"help": "rounds in which a teacher is imitated; 0 for none"}
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
