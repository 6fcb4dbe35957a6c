"""Reasons why actions could not be read, summed up by kind."""

import re
from collections.abc import Iterable
from typing import Final

#: Details that may differ between two reasons of a kind: quoted names and numbers.
_DETAIL: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\d+(?:\.\d+)?")


def kinds_of(reasons: Iterable[str]) -> list[tuple[int, str]]:
    """(count, first reason) of each kind of reason, the most frequent kind first."""
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    for reason in reasons:
        kind = kind_of(reason)
        first.setdefault(kind, reason)
        counts[kind] = counts.get(kind, 0) + 1
    return [(counts[kind], first[kind]) for kind in sorted(first, key=lambda kind: -counts[kind])]


def kind_of(reason: str) -> str:
    """The kind of a reason: its text without quoted names, numbers, and the choices it lists."""
    return _DETAIL.sub("", short(reason))


def short(reason: str) -> str:
    """A reason without the choices that it lists."""
    return reason.partition(";")[0]


def unread(reasons: Iterable[str], total: int) -> str:
    """A line on how many of ``total`` actions could not be read, and why."""
    kinds = kinds_of(reasons)
    many = len(kinds) > 1
    parts = [f"{short(reason)} ({count})" if many else short(reason) for count, reason in kinds]
    why = ", ".join(parts)
    return f"{sum(count for count, _ in kinds)} of {total} actions could not be read: {why}"
