"""Which lines of a recording are shown: by level, novelty and a lot, never by the truth."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

import attrs

from logtriage.recorded.records import LogWindow, RecordedLine
from logtriage.recorded.text import template
from logtriage.rng import hash_name
from logtriage.telemetry import LEVELS, LogLine

#: Lines of the shared window, of one service (its measurements come on top), of the overview.
WINDOW_LINES: Final = 6
SERVICE_LINES: Final = 5
OVERVIEW_LINES: Final = 12

_LOUDNESS: Final = {level: -rank for rank, level in enumerate(LEVELS)}


def _shown(line: RecordedLine) -> LogLine:
    message = line.message if line.count == 1 else f"{line.message} (x{line.count})"
    return LogLine(line.second, line.service, line.level, message)


def _lot(tick: int, line: RecordedLine) -> int:
    """A fixed lot for ties, so that no place in the alphabet is favoured."""
    return hash_name(f"{tick} {line.service} {template(line.level, line.message)}")


def _by_time(lines: Iterable[RecordedLine]) -> list[RecordedLine]:
    return sorted(lines, key=lambda line: (line.second, line.service, line.message))


def _notable(line: RecordedLine) -> tuple[int, bool, int, str]:
    return _LOUDNESS[line.level], not line.new, -line.second, line.message


def _merge(lines: Iterable[RecordedLine]) -> list[RecordedLine]:
    """One line for each service and template: the last one, with all of them counted."""
    merged: dict[tuple[str, str], RecordedLine] = {}
    for line in lines:
        key = (line.service, template(line.level, line.message))
        before = merged.get(key)
        count = line.count if before is None else line.count + before.count
        merged[key] = attrs.evolve(line, count=count)
    return list(merged.values())


def lines_by_service(lines: Iterable[RecordedLine]) -> dict[str, tuple[LogLine, ...]]:
    """Of each service at most :data:`SERVICE_LINES`, the loudest and new ones, in order of time."""
    kept: dict[str, list[RecordedLine]] = {}
    for line in sorted(_merge(lines), key=_notable):
        kept.setdefault(line.service, []).append(line)
    return {
        service: tuple(_shown(line) for line in _by_time(found[:SERVICE_LINES]))
        for service, found in kept.items()
    }


def sample(window: LogWindow) -> tuple[LogLine, ...]:
    """A fair look at one window: levels in order, and in each the services in turn.

    At most :data:`WINDOW_LINES`, in order of time.
    """
    chosen: list[RecordedLine] = []
    lines = _merge(window.lines)
    for level in reversed(LEVELS):
        turns: dict[str, list[RecordedLine]] = {}
        for line in sorted(
            (line for line in lines if line.level == level),
            key=lambda line: _lot(window.tick, line),
        ):
            turns.setdefault(line.service, []).append(line)
        for turn in zip_longest(*turns.values()):
            chosen.extend(line for line in turn if line is not None)
    return tuple(_shown(line) for line in _by_time(chosen[:WINDOW_LINES]))


def overview_of(window: LogWindow) -> tuple[LogLine, ...]:
    """One line each of the :data:`OVERVIEW_LINES` loudest services, in order of time."""
    best: dict[str, RecordedLine] = {}
    for line in sorted(_merge(window.lines), key=_notable):
        best.setdefault(line.service, line)
    loudest = sorted(
        best.values(),
        key=lambda line: (_LOUDNESS[line.level], not line.new, _lot(window.tick, line)),
    )
    return tuple(_shown(line) for line in _by_time(loudest[:OVERVIEW_LINES]))
