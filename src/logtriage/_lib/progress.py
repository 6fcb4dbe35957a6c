"""How long work says how far it is."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
#: Called with how many things are done and how many there are: at the start, and after each.
OnProgress = Callable[[int, int], None]


def watched(items: Iterable[_Item], on_progress: OnProgress | None, total: int) -> Iterator[_Item]:
    """The ``total`` items as they are; each counts as done when the next one is asked for."""
    if on_progress is None:
        yield from items
        return
    on_progress(0, total)
    for done, item in enumerate(items, start=1):
        yield item
        on_progress(done, total)
