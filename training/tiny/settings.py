"""What a model is built from: all of it is written beside the model."""

from typing import Final

import attrs

from logtriage.policies.noisy import WHOLE
from training.grpo.stages import task_names

#: Beside the weights: how they came about.
ABOUT: Final = "tiny.json"


#: Without so many demonstrations there is nothing to learn from.
FEWEST: Final = 3
#: The tasks of the default topology where there is least fog.
CLEAR: Final = "single_crash-v3-fog0 cascading_failure-v3-fog0 silent_degradation-v3-fog0"


@attrs.frozen
class Size:
    """The shape of a Qwen2 model: width, layers and heads of attention."""

    width: int
    layers: int
    heads: int


#: By name; with 2,048 tokens they have 0.2, 0.8, 1.9, 22 and 72 million parameters.
SIZES: Final = {
    "nano": Size(64, 2, 2),
    "micro": Size(128, 3, 4),
    "tiny": Size(192, 4, 4),
    "small": Size(512, 8, 8),
    "base": Size(768, 12, 12),
}


@attrs.frozen
class Settings:
    """A model and its warm start.

    Args:
        size: one of :data:`SIZES`.
        vocab: tokens of the vocabulary, at most.
        task: what demonstrations are of: ids, ``all`` or ``module:name``, by blanks.
        episodes: demonstrations, spread evenly over the tasks; 0 for own play alone.
        slips: how many of 1,000 actions are drawn anew, among those of the same kind; a
            page never is. What follows a slip is learnt; the slip counts as a screen.
        astray: how many of 1,000 notes name another suspect; that counts as a screen, too.
        reworded: in how many of 1,000 demonstrations the words of log lines change places.
        skip: the first of them are left out, such as those that ``start`` has learnt from.
        start: a directory that this program left, whose model and tokenizer are taught more;
            none: both are new, of ``size`` and ``vocab``.
        drills: steps of drills (:mod:`training.tiny.drills`) before the demonstrations.
        whole_drills: the same on whole screens, after those.
        rounds: how often the model then plays itself and is corrected
            (:mod:`training.tiny.own_play`).
        own_play: episodes in each of these rounds.
        own_temperature: of sampling in them; 0 for the likeliest token.
        own_tokens: the most tokens of one reply in them.
        epochs: how often each demonstration is seen.
        batch: demonstrations in a step.
        screens: the weight of a token of a screen in the loss; one that is said has 1.
        lr: the peak learning rate; it rises over the first twentieth and falls to nothing
            by a cosine.
        seed: of weights, order and slips.
        threads: of torch.

    Raises:
        ValueError: for a number that makes no sense.
        UnknownName, InvalidInput: for tasks that do not exist.
    """

    size: str = attrs.field(
        default="micro",
        validator=attrs.validators.in_(SIZES),
        metadata={"choices": tuple(SIZES)},
    )
    vocab: int = attrs.field(default=2048, validator=attrs.validators.ge(512))
    task: str = CLEAR
    episodes: int = attrs.field(default=3_200, validator=attrs.validators.ge(0))
    slips: int = attrs.field(
        default=50, validator=[attrs.validators.ge(0), attrs.validators.le(WHOLE)]
    )
    astray: int = attrs.field(
        default=0, validator=[attrs.validators.ge(0), attrs.validators.le(WHOLE)]
    )
    reworded: int = attrs.field(
        default=500, validator=[attrs.validators.ge(0), attrs.validators.le(WHOLE)]
    )
    skip: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    start: str = ""
    drills: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    whole_drills: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    rounds: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    own_play: int = attrs.field(default=1_500, validator=attrs.validators.ge(1))
    own_temperature: float = attrs.field(default=0.5, validator=attrs.validators.ge(0))
    own_tokens: int = attrs.field(default=96, validator=attrs.validators.ge(1))
    epochs: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    batch: int = attrs.field(default=4, validator=attrs.validators.ge(1))
    screens: float = attrs.field(default=0.1, validator=attrs.validators.ge(0))
    lr: float = attrs.field(default=1e-3, validator=attrs.validators.gt(0))
    seed: int = 0
    threads: int = attrs.field(default=1, validator=attrs.validators.ge(1))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the demonstrations."""
        return task_names(self.task)

    def __attrs_post_init__(self) -> None:
        """Check what goes together."""
        assert self.tasks
        if self.episodes < FEWEST and not (self.start and self.rounds):
            raise ValueError(
                f"episodes must be at least {FEWEST}, got {self.episodes}; a model that is there "
                "(start) can do without if there are rounds of its own play"
            )
