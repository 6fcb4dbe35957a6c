"""Replies that were cut off at the limit, most likely while the model was thinking."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from logtriage.evaluation.usage import warning_of_cuts


def share_of(replies: int, cut: int) -> float | None:
    """The share of replies that were cut off; None without replies."""
    return cut / replies if replies else None


def warn_of_cuts(results: Mapping[str, Any], console: Console, *, limit: str) -> bool:
    """Say which agents of :func:`compare`'s were cut off too often; whether there are any.

    ``limit`` is the option that bounds a reply.
    """
    shares = [
        warn_of_cut(
            agent["agent"], agent["all"]["replies"], agent["all"]["cut_off"], console, limit
        )
        for agent in results["agents"]
    ]
    return any(shares)


def warn_of_cut(
    agent: str, replies: int, share: float | None, console: Console, limit: str
) -> bool:
    """Print a warning if too many of an agent's replies were cut off; whether it did."""
    warning = warning_of_cuts(agent, replies, share, limit)
    if warning is not None:
        console.print(warning, style="bold red", soft_wrap=True, markup=False, emoji=False)
    return warning is not None
