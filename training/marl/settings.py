"""The settings of a run; all of them are written beside its results."""

from typing import Any, Final

import attrs

from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.vector import CREDITS
from training.common.settings import PPOSettings
from training.common.splits import role_split_of

#: A critic that sees what any role sees (MAPPO), or one a role on what it sees (IPPO).
CRITICS: Final = ("central", "independent")


def _is_role_split(_: object, __: "attrs.Attribute[Any]", split: str) -> None:
    role_split_of(split)


def _one_of(names: tuple[str, ...], default: str) -> str:
    value: str = attrs.field(
        default=default, validator=attrs.validators.in_(names), metadata={"choices": names}
    )
    return value


@attrs.frozen
class Settings(PPOSettings):
    """A training run of one split on one task: ``rounds`` of ``batch`` ticks of a team.

    The same settings give the same weights. The defaults are those of every run of the
    study: no split and no task has others. Advantages are left in points of the grade:
    scaled by their deviation, a rare page would face the same bar whatever a hand-over is worth.

    The logit of a word begins ``quiet`` below those of other actions, times the doubt that
    its role has in what it says. Words outnumber other actions, and what was said stays on
    the board: a team that draws evenly drowns what it knows in noise before anybody has
    learnt to listen.

    In its first rounds, ``imitation`` of them, a team learns to do what a scripted teacher does
    (:mod:`training.marl.teacher`), on screens that it meets itself more and more (DAgger).
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
    imitation: int = attrs.field(
        default=20, metadata={"help": "rounds in which a teacher is imitated; 0 for none"}
    )
    eval_every: int = 20
    quiet: float = 5.0
    split: str = attrs.field(
        default="trio",
        validator=_is_role_split,
        metadata={"help": f"{', '.join(ROLE_SPLITS)}, or a JSON file"},
    )
    credit: str = _one_of(CREDITS, "team")
    critic: str = _one_of(CRITICS, "central")

    @property
    def roles(self) -> RoleSplit:
        """The role split, in full."""
        return role_split_of(self.split)
