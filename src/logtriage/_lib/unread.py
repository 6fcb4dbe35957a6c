"""Why actions could not be read: a count and the first reason of each kind."""

import re
from collections.abc import Iterable
from typing import Final

#: What differs between two reasons of a kind: names, numbers, and all that follows a choice.
_DETAIL: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?")


def kinds_of(reasons: Iterable[str]) -> list[tuple[int, str]]:
    """How many reasons are of each kind, and the first of them; the most frequent kind first."""
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for reason in reasons:
        kind = kind_of(reason)
        first.setdefault(kind, reason)
        counts[kind] = counts.get(kind, 0) + 1
    return [(counts[kind], first[kind]) for kind in sorted(first, key=lambda kind: -counts[kind])]


def kind_of(reason: str) -> str:
    """What reasons that differ in names and numbers alone have in common."""
    return _DETAIL.sub("", short(reason))


def short(reason: str) -> str:
    """A reason without the choices that it lists."""
    return reason.partition(";")[0]


def unread(reasons: Iterable[str], total: int) -> str:
    """How many of the ``total`` could not be read, and why: ``3 of 5 actions could not …``."""
    kinds = kinds_of(reasons)
    many = len(kinds) > 1
    why = ", ".join(f"{short(reason)}{f' ({count})' if many else ''}" for count, reason in kinds)
    return f"{sum(count for count, _ in kinds)} of {total} actions could not be read: {why}"
