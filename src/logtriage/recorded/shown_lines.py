"""The choice of log lines to show: by level, novelty and a hash, never by the truth."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.log_text import template
from logtriage.recorded.records import LogWindow, RecordedLine
from logtriage.rng import hash_name
from logtriage.world.telemetry import LEVELS, LogLine

#: The most lines of a shared window, of one service (its figures come on top), of the overview.
WINDOW_LINES: Final = 6
SERVICE_LINES: Final = 5
OVERVIEW_LINES: Final = 12

#: The mark of a line of a kind that the baseline lacks.
NEW: Final = "[new]"

_LEVEL_KEY: Final = {level: -rank for rank, level in enumerate(LEVELS)}  # the loudest first


def _shown(line: RecordedLine) -> LogLine:
    message = line.message if line.count == 1 else f"{line.message} (x{line.count})"
    if line.new:
        message = f"{NEW} {message}"
    return LogLine(line.second, line.service, line.level, message)


def _tie_break(tick: int, line: RecordedLine) -> int:
    """A hash that orders lines of equal rank, so that no place in the alphabet is favoured."""
    return hash_name(f"{tick} {line.service} {template(line.level, line.message)}")


def _by_time(lines: Iterable[RecordedLine]) -> list[RecordedLine]:
    return sorted(lines, key=lambda line: (line.second, line.service, line.message))


def _rank(line: RecordedLine) -> tuple[bool, int, bool]:
    """A sort key: new complaints (above INFO) first, then by level, and new before known."""
    complains = line.new and line.level != LEVELS[0]
    return not complains, _LEVEL_KEY[line.level], not line.new


def _loudest_first(line: RecordedLine) -> tuple[tuple[bool, int, bool], int, str]:
    return _rank(line), -line.second, line.message


def _merge(lines: Iterable[RecordedLine]) -> list[RecordedLine]:
    """The last line of each service and template, with the count of all such lines."""
    merged: dict[tuple[str, str], RecordedLine] = {}
    for line in lines:
        key = (line.service, template(line.level, line.message))
        count = merged[key].count if key in merged else 0
        merged[key] = attrs.evolve(line, count=count + line.count)
    return list(merged.values())


def lines_by_service(lines: Iterable[RecordedLine]) -> dict[str, tuple[LogLine, ...]]:
    """The :data:`SERVICE_LINES` loudest and new lines of each service, in order of time."""
    loudest = grouped((line.service, line) for line in sorted(_merge(lines), key=_loudest_first))
    return {
        service: tuple(map(_shown, _by_time(rows[:SERVICE_LINES])))
        for service, rows in loudest.items()
    }


def sample(window: LogWindow) -> tuple[LogLine, ...]:
    """Choose lines of one window: new complaints, then by level; at each step services take turns.

    At most :data:`WINDOW_LINES`, in order of time. A new complaint (above INFO) comes before a
    complaint that the baseline has, whatever their levels.
    """
    chosen: list[RecordedLine] = []
    ranks = grouped((_rank(line), line) for line in _merge(window.lines))
    for rank in sorted(ranks):
        drawn = sorted(ranks[rank], key=lambda line: _tie_break(window.tick, line))
        # Services take turns in the order in which their first lines are drawn.
        turns = grouped((line.service, line) for line in drawn)
        for turn in zip_longest(*turns.values()):
            chosen.extend(line for line in turn if line is not None)
    return tuple(_shown(line) for line in _by_time(chosen[:WINDOW_LINES]))


def overview_of(window: LogWindow) -> tuple[LogLine, ...]:
    """One line of each of the :data:`OVERVIEW_LINES` loudest services, in order of time."""
    best: dict[str, RecordedLine] = {}
    for line in sorted(_merge(window.lines), key=_loudest_first):
        best.setdefault(line.service, line)
    loudest = sorted(best.values(), key=lambda line: (_rank(line), _tie_break(window.tick, line)))
    return tuple(_shown(line) for line in _by_time(loudest[:OVERVIEW_LINES]))
