"""Which rows of a log are one attempt, and which of them stands for it.

In a log with a row for each request, a row is the beginning of the next one; a reply that the
client dropped, or a request that failed and was sent again, ends beside the attempt. Clients write
their history anew (the time in the prompt, old screens cut), so rows of one attempt, session or
trace are compared by the actions that they play, too.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from logtriage._lib.grouping import grouped
from logtriage.conversations.counts import Spent
from logtriage.conversations.logrows import LogRow, identified
from logtriage.conversations.playing import JOIN
from logtriage.conversations.rows import Reading
from logtriage.errors import TranscriptError

#: The rows that each row makes superfluous.
Parts = defaultdict[LogRow, list[LogRow]]
#: The rows that are kept, each with what it became.
Kept = dict[LogRow, LogRow]


def attempts_of(rows: Sequence[LogRow]) -> tuple[list[LogRow], Parts]:
    """The rows that stand for attempts, or cannot be read, and the rows that each stands for."""
    rows = identified(rows)
    asides = _asides(rows)
    kept, parts = _without_beginnings([row for row in rows if row not in asides])
    _leave_out_sent_again(kept, parts)
    _leave_out_delivered_again(kept, parts)
    for group in grouped((row.whose, row) for row in kept).values():
        _gather(group, kept, parts)
        _refuse_requests([row for row in group if row in kept], kept, parts)
    _end_at_errors(rows, kept, parts)
    whole_of = {part: whole for whole in parts for part in parts[whole]}
    for row, others in asides.items():
        wholes = (whole_of.get(one, one) for one in others)
        whole = next((one for one in wholes if one in kept), None)
        if whole is None:
            kept[row] = row
        else:
            parts[whole].append(_without_costs(row))  # it is none of the attempt's requests
    current = {kept.get(row, row): each for row, each in parts.items()}  # as refused or cut by now
    return list(kept.values()), defaultdict(list, current)


def without_parts_of_bad(rows: Iterable[LogRow], logged: Mapping[LogRow, object]) -> list[LogRow]:
    """The rows, each refused if another row of its attempt is bad.

    In a log of requests, those in ``logged``, all rows of an agent at an incident may be of one
    attempt if nothing tells attempts apart. If no row names its incident, sessions do.
    """
    rows = list(rows)
    bad: dict[object, LogRow] = {}
    for row in rows:
        if isinstance(row.result, TranscriptError) and (row.names.incident or row.names.attempt):
            bad.setdefault(_key(row), row)
    checked = []
    for row in rows:
        other = bad.get(_key(row))
        is_part = row.is_named or row.trace is not None or row in logged
        is_good = other is None or not is_part or isinstance(row.result, TranscriptError)
        refusal = f"another row of the conversation is bad: {other}"
        checked.append(row if is_good else row.refused(refusal))
    return checked


def _key(row: LogRow) -> object:
    # The incident in ``whose`` is the one played; a bad row has only the one that it names.
    return row.names.incident, *row.whose[1:], row.trace


def _without_beginnings(rows: Sequence[LogRow]) -> tuple[Kept, Parts]:
    """The rows that no other goes on from, and the beginnings of each."""
    following = _following(rows)
    kept: Kept = {}
    parts: Parts = defaultdict(list)
    for row in rows:
        if (whole := following(row)) is None:
            kept[row] = row
            continue
        while (further := following(whole)) is not None:
            whole = further
        parts[whole].append(row)
    # Two attempts may share their beginnings.
    begun = [part for each in parts.values() for part in each]
    replies = {end: part.turns for part in begun for end in part.digests.ends}
    for whole in list(parts):
        of_whole = {replies[prefix] for prefix in whole.digests.prefixes if prefix in replies}
        is_told = whole.is_named or whole.trace is not None
        if not is_told and len(of_whole) < whole.turns - 1:
            reason = (
                f"the beginning of {whole}, in a log without a row for each request; name "
                "'attempt' or 'session_id' in both if it is another attempt, else leave it out"
            )
            kept |= {part: part.refused(reason) for part in parts.pop(whole)}
    return kept, parts


def _following(rows: Sequence[LogRow]) -> Callable[[LogRow], LogRow | None]:
    """A function that finds the row that goes on from a row: in its trace, else in another.

    A trace that has the same request itself is of another attempt. A request that failed, alone in
    its trace, may have been sent again in another one; the first of all may be an attempt. A
    request that failed when the incident was closed adds nothing to the row that closed it.
    """
    after = {row for row in rows if row.spent.is_failed and row.is_closed}
    ends = {(row.names.trace, row.whose, row.digests.end) for row in rows}
    asked = {(row.names.trace, row.whose, row.digests.before) for row in rows}
    in_trace = {  # of several rows that go on alike, the last
        (row.names.trace, row.whose, prefix): row
        for row in rows
        if row not in after
        for prefix in row.digests.prefixes[:-1]
    }
    anywhere = {(whose, prefix): row for (_, whose, prefix), row in in_trace.items()}
    closing: dict[object, LogRow] = {
        (row.whose, row.trace, end): row
        for row in rows
        if row.is_closed and row not in after
        for end in row.digests.ends
    }

    def following(row: LogRow) -> LogRow | None:
        if row in after:
            return closing.get((row.whose, row.trace, row.digests.reply))
        is_first = isinstance(row.result, Reading) and not row.turns
        if row.trace is None and is_first and not row.is_named:
            return None
        for end in row.digests.ends:
            if (own := in_trace.get((row.names.trace, row.whose, end))) is not None:
                return own
            other = anywhere.get((row.whose, end))
            if other is None or (other.names.trace, row.whose, end) in ends:
                continue
            if row.trace is None or (other.names.trace, row.whose, end) not in asked:
                return other
        return None

    return following


def _leave_out_sent_again(kept: Kept, parts: Parts) -> None:
    """Leave out each failed request that was sent again and failed again."""
    cut = [row for row in kept if row.is_cut and row.digests.prefixes]
    requests = grouped(((row.whose, row.trace, row.digests.prefixes), row) for row in cut)
    for *earlier, last in requests.values():
        for row in earlier:
            _leave_out(row, last, kept, parts)


def _leave_out_delivered_again(kept: Kept, parts: Parts) -> None:
    """Leave out each row with the id and the content of an earlier one.

    An id that rows of other content have is of something else, such as the sample.
    """
    by_id = grouped((row.names.id, row) for row in kept if row.names.id is not None)
    for whole, *again in by_id.values():
        content = whole.whose, whole.digests.prefixes
        if whole.digests.prefixes and all((r.whose, r.digests.prefixes) == content for r in again):
            for row in again:
                _leave_out(row, whole, kept, parts)


def _leave_out(row: LogRow, whole: LogRow, kept: Kept, parts: Parts) -> None:
    """Let another row stand for a row, and for those that the row stood for."""
    del kept[row]
    is_copy = row.digests == whole.digests and not row.spent.is_failed  # delivered, not paid twice
    parts[whole] += (_without_costs(row) if is_copy else row, *parts.pop(row, ()))


def _without_costs(row: LogRow) -> LogRow:
    return attrs.evolve(row, spent=Spent())


def _gather(group: Sequence[LogRow], kept: Kept, parts: Parts) -> None:
    """Leave out rows that stand for nothing beside another row of their attempt or trace.

    Refuse those that go on otherwise, since one attempt has one end.
    """
    shown = [
        row
        for row in group
        if isinstance(row.result, Reading)
        and row.digests.prefixes
        and (row.digests.before is not None or row.is_cut)
        and not row.begins_late
    ]
    wholes: list[LogRow] = []
    for row in sorted(shown, key=lambda row: (_sent(row), not row.is_cut), reverse=True):
        for whole in wholes:
            if not _are_together(row, whole):
                continue
            if _is_beside(row, whole, parts):
                _leave_out(row, whole, kept, parts)
                break
            if _ends_otherwise(row, whole, parts):
                kept[row] = row.refused(f"names the attempt of {whole}, which ends otherwise")
                break
        else:
            wholes.append(row)


def _sent(row: LogRow) -> int:
    """How many requests it took, with the one that failed."""
    return row.turns + row.is_cut


def _are_together(row: LogRow, whole: LogRow) -> bool:
    """Whether two rows of one ``whose`` name one attempt, session or trace."""
    return row.is_named if row.trace is None else row.trace == whole.names.trace


def _begins(row: LogRow, whole: LogRow, without: int = 0) -> bool:
    """Whether the actions of a row, without some at the end, are a beginning of another's."""
    until = len(row.actions) - without
    return row.actions[:until] == whole.actions[:until]


def _is_beside(row: LogRow, whole: LogRow, parts: Parts) -> bool:
    """Whether a row is an earlier, dropped or failed request of the attempt of another."""
    if row.digests.prefixes == whole.digests.prefixes:
        return True
    is_earlier = _sent(row) < _sent(whole)
    if is_earlier and _goes_on(row, whole):
        return True  # a reply that the client dropped
    if not row.is_request:
        return False
    if _begins(row, whole) and not row.is_closed and (is_earlier or row.is_cut):
        return True
    last = row.result.last if isinstance(row.result, Reading) else 0
    return is_earlier and _has_other_requests(whole, row, parts) and _begins(row, whole, last)


def _goes_on(row: LogRow, whole: LogRow) -> bool:
    """Whether the last reply of a row goes on from a beginning of another's history."""
    return row.digests.before in whole.digests.prefixes


def _ends_otherwise(row: LogRow, whole: LogRow, parts: Parts) -> bool:
    if _goes_on(row, whole):
        return True
    return not row.is_cut and row.turns > 1 and _has_other_requests(whole, row, parts)


def _has_other_requests(whole: LogRow, row: LogRow, parts: Parts) -> bool:
    """Whether a row has rows of its earlier requests, and another row has none."""
    counts = [sum(not part.spent.is_failed for part in parts.get(one, ())) for one in (whole, row)]
    return counts[0] > 0 and counts[1] == 0


def _refuse_requests(group: Sequence[LogRow], kept: Kept, parts: Parts) -> None:
    """Refuse rows that name nothing and play a turn more each, as in a log of requests."""
    rows = [row for row in group if not row.is_named and row.trace is None and row.is_request]
    left = sorted(rows, key=_sent, reverse=True)
    while left:
        whole, *left = left
        begun = [
            row
            for row in left
            if 0 < row.turns < _sent(whole) and not (row.spent.is_failed or row.is_closed)
            if _begins(row, whole)
        ]
        turns = {row.turns for row in (*begun, *parts.get(whole, ()))}
        if 2 * len(turns) >= _sent(whole):  # at least half of its requests have a row
            reason = f"begins as {whole} does, and leaves the incident open; {JOIN}"
            kept |= {row: row.refused(reason) for row in begun}
            left = [row for row in left if row not in begun]


def _asides(rows: Sequence[LogRow]) -> dict[LogRow, list[LogRow]]:
    """Requests of the harness (titles, guards, judges), each with the rows of its attempt.

    Such a row plays nothing and goes on from another prompt; it shows less than the first screen
    that other rows of its session or trace show, or later screens, too.
    """
    told = [(_named_or_traced(row), row) for row in rows]
    asides: dict[LogRow, list[LogRow]] = {}
    for group in grouped((name, row) for name, row in told if name is not None).values():
        silent = [row for row in group if row.plays_nothing]
        opened = [row for row in group if row.opening and not row.is_late] if silent else []
        played = [row for row in opened if not row.plays_nothing]
        prefixes = {prefix for row in played for prefix in row.digests.prefixes}
        for row in silent:
            own = [one for one in opened if one is not row and row.names.fit(one.names)]
            if own and (row.digests.before or row.digests.end) not in prefixes:
                shown = max(len(one.opening) for one in own)
                if row.is_late or 2 * len(row.opening) < shown:
                    asides[row] = own
    return asides


def _named_or_traced(row: LogRow) -> object:
    """What the rows of an attempt or a session name, or else a trace; None without either."""
    if row.names.attempt:
        return row.names.attempt, None if row.names.is_session else row.names.incident
    return row.trace


def _end_at_errors(rows: Sequence[LogRow], kept: Kept, parts: Parts) -> None:
    """Take an error without messages as the last request of its session, if nothing follows it."""
    groups = grouped((row.whose, row) for row in rows)
    for bare in [row for row in kept if row.is_cut and not row.digests.prefixes]:
        others = [row for row in groups[bare.whose] if row.digests.prefixes]
        others = [row for row in others if _are_together(bare, row)]
        if any(row.is_fragment for row in others):
            continue  # they are joined, and the error with them
        wholes = [row for row in others if row in kept and isinstance(row.result, Reading)]
        if not wholes:
            continue
        whole = max(wholes, key=lambda row: row.number)
        is_newest_first = all(part.number > whole.number for part in parts.get(whole, (bare,)))
        numbers = [row.number for row in others]
        is_last = bare.number < min(numbers) if is_newest_first else bare.number > max(numbers)
        if is_last and isinstance(bare.result, Reading):
            kept[whole] = whole.cut_by(bare.result.transcript.status)
        _leave_out(bare, whole, kept, parts)
