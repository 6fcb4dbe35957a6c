"""Which rows of a log are one attempt, and which of them stands for it.

In a log with a row for each request, a row is the beginning of the next one; a reply that the
client dropped, or a request that failed and was sent again, ends beside the attempt. Rows that
name the same attempt are one attempt.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from logtriage.conversations.joining import LogRow, begins_late
from logtriage.conversations.rows import Reading
from logtriage.errors import TranscriptError
from logtriage.transcript import COMPLETED

#: The rows that each row makes superfluous.
Parts = defaultdict[LogRow, list[LogRow]]


def attempts_of(rows: Sequence[LogRow]) -> tuple[list[LogRow], Parts]:
    """The rows that stand for attempts, or cannot be read, and the rows that each stands for."""
    kept, parts = _without_beginnings(rows)
    _leave_out_sent_again(kept, parts)
    requests = Counter(row.trace for row in rows)
    for group in _by_attempt(kept).values():
        shown = [row for row in group if row.before is not None and not _begins_late(row)]
        whole = max(shown, key=lambda row: len(row.spent.turns), default=None)
        for row in shown:
            if whole is None or row is whole or row.before not in whole.prefixes:
                continue
            if row.trace != whole.trace and requests[row.trace] > 1:  # a trace is of one attempt
                continue
            if len(row.spent.turns) < len(whole.spent.turns) or row.prefixes == whole.prefixes:
                parts[whole] += (row, *parts.pop(row, ()))
                kept.remove(row)
            else:
                reason = f"names the attempt of {whole}, which ends otherwise"
                kept[kept.index(row)] = row.refused(reason)
    return kept, parts


def without_parts_of_bad(rows: Iterable[LogRow], logged: Mapping[LogRow, object]) -> list[LogRow]:
    """The rows, each refused if another row of its attempt is bad.

    In a log of requests, those in ``logged``, all rows of an agent at an incident may be of one
    attempt, whatever they name.
    """
    rows = list(rows)
    bad: dict[tuple[object, ...], LogRow] = {}
    for row in rows:
        if isinstance(row.result, TranscriptError) and {*row.whose[1:]} - {None}:
            bad.setdefault(row.whose, row)
    return [
        row.refused(f"another row of the conversation is bad: {bad[row.whose]}")
        if row.whose in bad
        and not isinstance(row.result, TranscriptError)
        and (row.is_named or row in logged)
        else row
        for row in rows
    ]


def _without_beginnings(rows: Sequence[LogRow]) -> tuple[list[LogRow], Parts]:
    following = _following(rows)
    kept: list[LogRow] = []
    parts: Parts = defaultdict(list)
    for row in rows:
        if (whole := following(row)) is None:
            kept.append(row)
            continue
        while (further := following(whole)) is not None:
            whole = further
        parts[whole].append(row)
    # Two attempts may share their beginnings.
    replies = {part.prefixes[-1]: len(part.spent.turns) for each in parts.values() for part in each}
    for whole in list(parts):
        of_whole = {replies[prefix] for prefix in whole.prefixes if prefix in replies}
        if not whole.is_named and len(of_whole) < len(whole.spent.turns) - 1:
            reason = (
                f"the beginning of {whole}, in a log without a row for each request; name "
                "'attempt' or 'session_id' in both if it is another attempt, else leave it out"
            )
            kept += (part.refused(reason) for part in parts.pop(whole))
    return kept, parts


def _leave_out_sent_again(kept: list[LogRow], parts: Parts) -> None:
    """Leave out each failed request that was sent again and failed again."""
    last: dict[tuple[object, ...], LogRow] = {}
    for row in list(kept):
        if isinstance(row.result, Reading) and row.result.transcript.status != COMPLETED:
            key = row.whose, row.trace, row.prefixes
            if row.prefixes and (before := last.get(key)) is not None:
                parts[row] += (before, *parts.pop(before, ()))
                kept.remove(before)
            last[key] = row


def _following(rows: Sequence[LogRow]) -> Callable[[LogRow], LogRow | None]:
    """A function that finds the row that goes on from a row: in its trace, else in another.

    A trace that has the same request itself is of another attempt. A request that failed, alone in
    its trace, may have been sent again in another one; the first of all may be an attempt.
    """
    ends = {(row.trace, row.prefixes[-1]) for row in rows if row.prefixes}
    asked = {(row.trace, row.before) for row in rows}
    requests = Counter(row.trace for row in rows if row.trace is not None)
    in_trace = {(row.trace, prefix): row for row in rows for prefix in row.prefixes[:-1]}
    anywhere = {prefix: row for (_, prefix), row in in_trace.items()}

    def following(row: LogRow) -> LogRow | None:
        is_alone = row.trace is None or requests[row.trace] < 2
        is_first = isinstance(row.result, Reading) and not row.spent.turns
        if not row.prefixes or (is_alone and is_first and not row.is_named):
            return None
        end = row.prefixes[-1]
        if (own := in_trace.get((row.trace, end))) is not None:
            return own
        other = anywhere.get(end)
        if other is None or (other.trace, end) in ends:
            return None
        return None if not is_alone and (other.trace, end) in asked else other

    return following


def _by_attempt(rows: Iterable[LogRow]) -> dict[tuple[object, ...], list[LogRow]]:
    groups: defaultdict[tuple[object, ...], list[LogRow]] = defaultdict(list)
    for row in rows:
        if row.is_named:
            groups[row.whose].append(row)
    return groups


def _begins_late(row: LogRow) -> bool:
    return row.conversation is not None and begins_late(row.conversation)
