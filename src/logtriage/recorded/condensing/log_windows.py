"""Log rows become the windows of a recording, one a tick."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from logtriage.recorded.condensing.raw_rows import LogRow
from logtriage.recorded.records import LogWindow, RecordedLine
from logtriage.world.telemetry import LEVELS

#: Kinds of line kept of one service in one window.
KEPT_LINES: Final = 6
#: How long before tick 0 a service's lines reach back, in ticks.
LOG_HISTORY: Final = 1


def log_windows(
    logs: Iterable[LogRow], usual: Sequence[LogRow], opened: int, last: int, tick_seconds: int
) -> tuple[LogWindow, ...]:
    """The windows up to tick ``last``; none if nothing was logged at all.

    Lines of one service that say the same in one window become one line with a count. ``opened``
    is when tick 0 begins, in Unix milliseconds.
    """
    known = {(row.service, row.event) for row in usual}
    first = min(-LOG_HISTORY, last)
    windows: dict[int, dict[tuple[str, str], RecordedLine]] = {
        tick: {} for tick in range(first, last + 1)
    }
    seen = False
    for row in sorted(logs, key=lambda row: (row.at, row.service, row.message)):
        seen = True
        window = windows.get((row.at - opened) // (1000 * tick_seconds) + 1)
        if window is None:
            continue
        key = (row.service, row.event)
        before = window.get(key)
        window[key] = RecordedLine(
            second=(row.at - opened) // 1000,
            service=row.service,
            level=row.level or LEVELS[0],  # of which nobody says that it is worse
            message=row.message,
            count=1 if before is None else before.count + 1,
            new=bool(known) and key not in known,
        )
    if not seen:
        return ()
    return tuple(LogWindow(tick, _kept(lines.values())) for tick, lines in windows.items())


def _kept(lines: Iterable[RecordedLine]) -> tuple[RecordedLine, ...]:
    """The loudest, newest and latest kinds of line of each service, in order of time."""
    kept: defaultdict[str, list[RecordedLine]] = defaultdict(list)
    for line in sorted(
        lines,
        key=lambda line: (-LEVELS.index(line.level), not line.new, -line.second, line.message),
    ):
        if len(kept[line.service]) < KEPT_LINES:
            kept[line.service].append(line)
    return tuple(
        sorted(
            (line for lines_ in kept.values() for line in lines_),
            key=lambda line: (line.second, line.service, line.message),
        )
    )
