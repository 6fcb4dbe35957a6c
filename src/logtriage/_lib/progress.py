"""Progress of long work: a callback, and a loop that calls it."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
#: A callback of (things done, things in all), called at the start and after each thing.
OnProgress = Callable[[int, int], None]


def watched(items: Iterable[_Item], on_progress: OnProgress | None, total: int) -> Iterator[_Item]:
    """The ``total`` items, unchanged; an item counts as done when the next is requested."""
    if on_progress is None:
        yield from items
        return
    on_progress(0, total)
    for done, item in enumerate(items, start=1):
        yield item
        on_progress(done, total)
