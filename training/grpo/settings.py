"""The settings of a run; all of them are written beside its results."""

import attrs

from training.grpo.fields import Fields
from training.grpo.working import check_together


@attrs.frozen(kw_only=True)
class Settings(Fields):
    """A GRPO run.

    Raises:
        InvalidInput: for values that do not fit together, naming the field.
    """

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_together(self)
        assert self.stages  # refuses unknown tasks and levels of fog
        assert self.held_out_tasks
