"""Replies that were cut off at the limit, most likely while the model was thinking."""

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console

#: From this share of replies that were cut off on, figures say little.
TOO_MANY: Final = 0.1


def share_of(replies: int, cut: int) -> float | None:
    """The share of replies that were cut off; None without replies."""
    return cut / replies if replies else None


def warn_of_cuts(results: Mapping[str, Any], console: Console, *, limit: str) -> bool:
    """Say which agents of :func:`compare`'s were cut off too often; whether there are any.

    ``limit`` is the option that bounds a reply.
    """
    found = [
        warn_of_cut(one["agent"], one["all"]["replies"], one["all"]["cut_off"], console, limit)
        for one in results["agents"]
    ]
    return any(found)


def warn_of_cut(
    agent: str, replies: int, share: float | None, console: Console, limit: str
) -> bool:
    """Say so if more than :data:`TOO_MANY` of an agent's replies were cut off."""
    if share is None or share <= TOO_MANY:
        return False
    console.print(
        f"{agent}: {share:.0%} of its {replies:,} replies were cut off at the limit, most likely "
        f"while thinking; what it did says little. Raise {limit}, or turn its thinking off.",
        style="bold red",
        soft_wrap=True,
        markup=False,
        emoji=False,
    )
    return True
