"""The settings of a model; all of them are written beside it."""

from typing import Final

import attrs

from logtriage.adapters.sources import is_own_task
from logtriage.errors import InvalidInput
from logtriage.rendering import STYLES
from logtriage.tasks import TaskSpec, get_task
from training.grpo.stages import task_names

#: Beside the weights: how they came about.
ABOUT: Final = "tiny.json"


@attrs.frozen
class Size:
    """The shape of a Qwen2 model: width, layers and heads of attention."""

    width: int
    layers: int
    heads: int


#: By name; with the 450 words of seven services they have 0.05, 0.2 and 0.7 million weights.
SIZES: Final = {
    "nano": Size(48, 2, 2),
    "micro": Size(96, 2, 4),
    "tiny": Size(128, 4, 4),
}
_AT_LEAST_1: Final = attrs.validators.ge(1)


@attrs.frozen
class Settings:
    """A model and its start by DAgger: Ross, Gordon and Bagnell 2011, arXiv:1011.0686.

    Args:
        size: one of :data:`SIZES`.
        style: of the screens that it reads; the programs beside this package take models of
            notation alone.
        task: what is played: ids of simulated tasks of one topology, by blanks.
        episodes: those of the teacher, spread evenly over the tasks.
        rounds: how often the model then plays itself and is corrected.
        own_play: episodes in each of these rounds.
        enough: no more rounds once the likeliest actions have this net value on ``val``.
        val: incidents of ``val`` that are played after each round; 0 for none.
        own_temperature: of sampling in them; 0 for the likeliest action.
        first_epochs: how often the teacher's rows are seen before the first round.
        epochs: how often all rows so far are seen after each round.
        batch: episodes in a step.
        lr: the peak learning rate; in each round it falls to a tenth by a cosine.
        screens: the weight of a screen's word in the loss; an action has 1.
        teacher: the policy that is imitated.
        seed: of weights, order and sampling.
        threads: of torch.

    Raises:
        ValueError: for a number that makes no sense.
        UnknownName, InvalidInput: for tasks that do not exist, or have no notation.
    """

    size: str = attrs.field(
        default="micro",
        validator=attrs.validators.in_(SIZES),
        metadata={"choices": tuple(SIZES)},
    )
    style: str = attrs.field(
        default="notation",
        validator=attrs.validators.in_(STYLES),
        metadata={"choices": STYLES, "help": "of the screens that it reads"},
    )
    task: str = "single_crash-v3-fog1"
    episodes: int = attrs.field(default=4_000, validator=_AT_LEAST_1)
    rounds: int = attrs.field(default=8, validator=attrs.validators.ge(0))
    own_play: int = attrs.field(default=1_000, validator=_AT_LEAST_1)
    enough: float = attrs.field(default=0.35, metadata={"help": "net value on val that ends it"})
    val: int = attrs.field(default=300, validator=attrs.validators.ge(0))
    own_temperature: float = attrs.field(default=1.0, validator=attrs.validators.ge(0))
    first_epochs: int = attrs.field(default=4, validator=_AT_LEAST_1)
    epochs: int = attrs.field(default=1, validator=_AT_LEAST_1)
    batch: int = attrs.field(default=16, validator=_AT_LEAST_1)
    lr: float = attrs.field(default=3e-3, validator=attrs.validators.gt(0))
    screens: float = attrs.field(default=0.1, validator=attrs.validators.ge(0))
    teacher: str = "observer"
    seed: int = 0
    threads: int = attrs.field(default=1, validator=_AT_LEAST_1)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are played."""
        return task_names(self.task)

    @property
    def sheets(self) -> tuple[TaskSpec, ...]:
        """Their sheets."""
        return tuple(map(get_task, self.tasks))

    def __attrs_post_init__(self) -> None:
        """Check the tasks: a token is a word, and words follow from task and topology."""
        for task in self.tasks:
            if is_own_task(task) or get_task(task).topology is None:
                raise InvalidInput(f"task {task!r}: needs a simulated task of one topology")
