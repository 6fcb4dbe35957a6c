"""Log lines that several files of a capture have: copies of a file, and captures that overlap."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from logtriage._lib.grouping import grouped
from logtriage.recorded.condensing.raw_rows import LogRow

#: Percent of the lines of the smaller file that the other has, too, if both are of one log.
_NEARLY_ALL: Final = 90
#: Files of one log that have no more time than this in common only follow each other: a logger may
#: write whole seconds.
_MEETING_MS: Final = 1000


def without_copies(rows: Sequence[LogRow]) -> Iterator[LogRow]:
    """Yield the rows, and each that files have in common as often as any of these files has it.

    Pods of one service may log the same at the same time. So files count as files of one log only
    if, over the time that both cover, nearly all lines of the smaller one are in the other. Rows
    with a key are never copies.
    """
    services = defaultdict[str, defaultdict[int, list[int]]](lambda: defaultdict(list))
    for place, row in enumerate(rows):
        if not row.key:
            services[row.service][row.file].append(place)
    copies = {place for files in services.values() for place in _copies(rows, files)}
    yield from (row for place, row in enumerate(rows) if place not in copies)


def _copies(rows: Sequence[LogRow], files: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield the places of a service's lines that are copies; ``files`` has the places by file."""
    if len(files) < 2:
        return
    same = defaultdict[object, defaultdict[int, list[int]]](lambda: defaultdict(list))
    for file, places in files.items():
        for place in places:
            row = rows[place]
            same[row.at, row.level, row.message, row.trace][file].append(place)
    shared = Counter[tuple[int, int]]()
    for by_file in same.values():
        for one, other in combinations(by_file, 2):
            shared[one, other] += min(len(by_file[one]), len(by_file[other]))
    times = {file: sorted(rows[place].at for place in places) for file, places in files.items()}
    log_of = {file: file for file in files}
    for (one, other), count in shared.items():
        if _is_one_log(times[one], times[other], count):
            joined = log_of[other]
            log_of |= {file: log_of[one] for file, log in log_of.items() if log == joined}
    for by_file in same.values():
        for each in grouped((log_of[file], places) for file, places in by_file.items()).values():
            most = max(each, key=len)
            yield from (place for places in each if places is not most for place in places)


def _is_one_log(one: Sequence[int], other: Sequence[int], shared: int) -> bool:
    """Whether files are of one log, given the times of their lines and how many are the same."""
    since, until = max(one[0], other[0]), min(one[-1], other[-1])
    smaller = min(bisect_right(each, until) - bisect_left(each, since) for each in (one, other))
    return until - since > _MEETING_MS and 100 * shared >= _NEARLY_ALL * smaller
