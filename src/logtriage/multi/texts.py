"""Text spaces that hold any characters: screens may quote anything that an agent wrote."""

import string
from collections.abc import Sequence
from typing import Any, Final

from gymnasium import spaces

from logtriage.parsing.marks import MAX_TEXT

#: More than any screen of a topology of 200 services has, in characters.
MAX_SCREEN: Final = 100_000
_SAMPLED: Final = "".join(filter(str.isprintable, string.printable)) + "\n"


class AnyText(spaces.Text):
    """Texts of up to ``max_length`` characters of any kind."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_SAMPLED)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


class Screens(AnyText):
    """What :func:`logtriage.render_observation` writes."""

    def __init__(self) -> None:
        super().__init__(MAX_SCREEN)


class Replies(AnyText):
    """Replies of an agent; samples are some of the ``texts``, each an action.

    Longer texts than the space holds, and those that are no action, are not refused by
    the environment: the agent loses its turn.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(MAX_TEXT)
        self._texts = texts

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """One of the texts; a mask or probability is of characters."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return self._texts[int(self.np_random.integers(len(self._texts)))]
