"""What a run depends on: everything here, and the seed, is written beside its results."""

from typing import Final

import attrs

from logtriage.roles import ROLE_SPLITS
from logtriage.vector import CREDITS
from training.common.settings import PPOSettings

#: A critic that sees what any role sees (MAPPO), or one a role on what it sees (IPPO).
CRITICS: Final = ("central", "independent")


def _one_of(names: tuple[str, ...], default: str) -> str:
    value: str = attrs.field(
        default=default, validator=attrs.validators.in_(names), metadata={"choices": names}
    )
    return value


@attrs.frozen
class Settings(PPOSettings):
    """A training run of one split on one task: ``rounds`` of ``batch`` ticks of a team.

    The same settings give the same weights. The defaults are those of every run of the
    sweep: no split and no task has others. Advantages are left in points of the grade:
    scaled by their deviation, a rare page would face the same bar whatever silence is worth.
    """

    num_envs: int = 512
    normalize: bool = False
    lr: float = 2e-3
    lr_end: float = 1e-4
    entropy: float = 0.01
    entropy_end: float = 0.0005
    epochs: int = 4
    width: int = 96
    activation: str = "relu"
    threads: int = 1
    rounds: int = 100
    eval_every: int = 20
    split: str = _one_of(tuple(ROLE_SPLITS), "trio")
    credit: str = _one_of(CREDITS, "team")
    critic: str = _one_of(CRITICS, "central")
