"""Pasted log lines, as far as they can be read."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.world.telemetry import LEVELS, LogLine

#: What other systems call the levels of ours.
_SAME: Final = {
    "TRACE": "INFO", "DEBUG": "INFO", "NOTICE": "INFO", "WARNING": "WARN", "ERR": "ERROR",
    "SEVERE": "ERROR", "CRITICAL": "FATAL", "CRIT": "FATAL", "PANIC": "FATAL",
}  # fmt: skip
_LEVEL: Final = "|".join((*LEVELS, *_SAME))
#: Time (a date and time, a time of day, or seconds as on a screen), level, service, message.
_LINE: Final = re.compile(
    r"""
    \[?(?:(?P<date>\d{4}-\d\d-\d\d)[T\ ])?
    (?:(?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|(?P<second>[+-]\d+)s)?\]?\s*
    \[?(?P<level>LEVELS)\b\]?:?\s+
    \[?(?P<service>[A-Za-z0-9][\w.-]*)\]?(?::|\s+-|(?<=\]))\s+
    (?P<message>\S.*)
    """.replace("LEVELS", _LEVEL),
    re.IGNORECASE | re.VERBOSE,
)
EXPECTED: Final = "'[TIME] LEVEL SERVICE: MESSAGE', such as '12:00:07 ERROR user-db: too slow'"


@attrs.frozen
class Unread:
    """A line that was not understood, by its number from 1."""

    number: int
    text: str


def read_lines(text: str) -> tuple[tuple[LogLine, ...], tuple[Unread, ...]]:
    """The log lines of a text in order of time, and the lines that are none.

    Empty lines are neither. Seconds count from the latest line, which is at 0, unless they
    are given as on a screen (``-12s``). A line without a time has that of the one before it.

    Raises:
        InvalidInput: if not a single line can be read.
    """
    timed: list[tuple[float, bool, LogLine]] = []
    unread = []
    now, absolute = 0.0, False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        when = None if match is None else _time(match)
        if match is None or (when is None and (match["clock"] or match["second"])):
            unread.append(Unread(number, line))
            continue
        if when is not None:
            now, absolute = when, match["clock"] is not None
        level = match["level"].upper()
        level = _SAME.get(level, level)
        timed.append((now, absolute, LogLine(0, match["service"], level, match["message"])))
    if not timed:
        raise InvalidInput(f"no log line can be read; expected lines like {EXPECTED}")
    return _timed(timed), tuple(unread)


def _time(match: re.Match[str]) -> float | None:
    """Seconds of a line; None if it has no time, or one that does not exist."""
    if match["second"]:
        return float(match["second"])
    if match["clock"] is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{match['date'] or '2000-01-01'} {match['clock']}+00:00")
    except ValueError:
        return None
    return moment.timestamp()


def _timed(timed: Sequence[tuple[float, bool, LogLine]]) -> tuple[LogLine, ...]:
    last = max((when for when, absolute, _ in timed if absolute), default=0.0)
    lines = [
        attrs.evolve(line, second=round(when - last if absolute else when))
        for when, absolute, line in timed
    ]
    return tuple(sorted(lines, key=lambda line: line.second))


def strangers(lines: Iterable[LogLine], known: Iterable[str]) -> list[str]:
    """Services that speak in the lines and that the topology does not have."""
    names = set(known)
    return [name for name in dict.fromkeys(line.service for line in lines) if name not in names]
