"""When anything was recorded at all: stretches of time."""

from collections.abc import Iterable
from typing import Final

import attrs

#: When nothing at all is heard for longer than this, nothing was recorded.
SILENCE_MS: Final = 30_000


@attrs.frozen
class Coverage:
    """The stretches ``(since, until)`` in Unix milliseconds, sorted and apart."""

    stretches: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, times: Iterable[int]) -> "Coverage":
        """The stretches that rows at these times cover."""
        stretches: list[tuple[int, int]] = []
        for at in sorted(times):
            if stretches and at - stretches[-1][1] <= SILENCE_MS:
                stretches[-1] = stretches[-1][0], at
            else:
                stretches.append((at, at))
        return cls(tuple(stretches))

    @property
    def length(self) -> int:
        """How long all stretches are together, in milliseconds."""
        return sum(until - since for since, until in self.stretches)

    @property
    def until(self) -> int | None:
        """The end of the last stretch; None if nothing was recorded."""
        return self.stretches[-1][1] if self.stretches else None

    def overlap(self, since: int, until: int) -> int:
        """How much of a span of time was recorded, in milliseconds."""
        return sum(max(0, min(until, b) - max(since, a)) for a, b in self.stretches)

    def __contains__(self, at: int) -> bool:
        return any(a <= at <= b for a, b in self.stretches)


NOWHERE: Final = Coverage()
