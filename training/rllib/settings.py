"""What a run of RLlib depends on; what makes no sense is refused before Ray is loaded."""

import attrs

from logtriage.errors import InvalidInput
from logtriage.tasks import TaskSpec
from training.common.settings import EVAL_INCIDENTS
from training.common.tasks import is_playable, sheet_of

#: Settings that count something, and the least of each.
_COUNTS = {
    **dict.fromkeys(("rounds", "num_envs", "rollout", "epochs", "minibatch"), 1),
    **dict.fromkeys(("width", "depth", "eval_every", "eval_incidents"), 1),
    **dict.fromkeys(("seed", "runners"), 0),
}
#: Settings that are shares.
_SHARES = ("gamma", "lmbda", "clip")
#: Settings that may not be negative.
_RATES = ("lr", "lr_end", "entropy", "entropy_end", "value_weight")


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@attrs.frozen
class Settings:
    """A run: ``rounds`` times, every env runner plays, and the learner learns of it.

    A round is ``rollout`` steps of ``num_envs`` incidents in each of ``runners`` processes
    (0: in the learner's own). The learner goes ``epochs`` times over it, in minibatches of
    ``minibatch`` steps. Learning rate and weight of the entropy fall linearly, from ``lr``
    to ``lr_end`` and so on. RLlib gives the advantages of a round mean 0 and deviation 1.

    Raises:
        UnknownName: for a task that does not exist.
        InvalidInput: naming the setting and what was expected.
    """

    task: str = attrs.field(
        validator=is_playable, metadata=_help("an id, or module:name of a task sheet of yours")
    )
    seed: int = 0
    rounds: int = 60
    runners: int = attrs.field(default=2, metadata=_help("env runners, each a process"))
    num_envs: int = attrs.field(default=64, metadata=_help("incidents side by side, a runner"))
    rollout: int = attrs.field(default=32, metadata=_help("steps of each of these a round"))
    epochs: int = 4
    minibatch: int = 512
    lr: float = 2e-3
    lr_end: float = 1e-4
    entropy: float = 0.01
    entropy_end: float = 0.0005
    gamma: float = 1.0
    lmbda: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    max_grad_norm: float = 0.5
    width: int = 96
    depth: int = 2
    eval_every: int = attrs.field(default=5, metadata=_help("rounds between evaluations"))
    eval_incidents: int = EVAL_INCIDENTS

    def __attrs_post_init__(self) -> None:
        for name, least in _COUNTS.items():
            if getattr(self, name) < least:
                raise InvalidInput(f"{name} must be at least {least}, got {getattr(self, name)}")
        for name in _SHARES:
            if not 0 < getattr(self, name) <= 1:
                raise InvalidInput(f"{name} must lie above 0, up to 1, got {getattr(self, name)}")
        for name in _RATES:
            if not getattr(self, name) >= 0:
                raise InvalidInput(f"{name} must not be negative, got {getattr(self, name)}")
        if not self.max_grad_norm > 0:
            raise InvalidInput(f"max_grad_norm must be above 0, got {self.max_grad_norm}")
        if self.minibatch > self.batch:
            raise InvalidInput(
                f"minibatch must be at most {self.batch}, the steps of a round, "
                f"got {self.minibatch}"
            )

    @property
    def sheet(self) -> TaskSpec:
        """The task, in full."""
        return sheet_of(self.task)

    @property
    def batch(self) -> int:
        """Steps a round."""
        return self.num_envs * self.rollout * max(self.runners, 1)
