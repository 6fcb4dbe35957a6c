"""Join the rows of a log that has a row for each request, response or message.

Such rows show it: a row answers a call of another row, or rows of an incident are a single call
with nothing after it. Those that name their conversation are joined. The others are refused, since
each would be graded as an attempt.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from logtriage._lib.grouping import grouped
from logtriage.conversations.counts import total_of_parts
from logtriage.conversations.failures import is_note
from logtriage.conversations.fields import Conversation
from logtriage.conversations.logrows import LogRow, Result
from logtriage.conversations.messages import is_from_agent, text_of
from logtriage.conversations.playing import JOIN
from logtriage.conversations.rows import Reading
from logtriage.errors import TranscriptError


def joined(
    rows: Sequence[LogRow], read: Callable[[LogRow, Conversation], Result]
) -> Iterator[LogRow]:
    """The rows, with parts of a conversation joined in order, or refused; ``read`` reads them."""
    groups = grouped((row.whose, row) for row in rows if row.conversation is not None)
    parts_of = {
        row: parts
        for group in groups.values()
        if _is_log(group)
        for parts in _conversations(group)
        for row in parts
    }
    for row in rows:
        parts = parts_of.get(row, ())
        if len(parts) > 1:
            if row is parts[0]:  # it stands for them all
                yield attrs.evolve(row, result=_joined(parts, read))
        elif parts and _is_fragment(row):
            reason = f"one request, reply or message of several; {JOIN}; or number 'attempt's"
            yield row.refused(reason)
        else:
            yield row


def _is_fragment(row: LogRow) -> bool:
    """Whether a row is a part: refused without a reply, or one reply that is no whole attempt."""
    if not row.turns:
        return isinstance(row.result, TranscriptError)
    return _is_one_reply(row) and not (row.opening and row.is_closed)


def _is_log(group: Sequence[LogRow]) -> bool:
    """Whether rows of an incident are parts of conversations.

    One-reply attempts may leave the incident open, too, but not with one call each, and not if each
    row was shown the same before.
    """
    if len(group) > 1 and any(row.begins_late for row in group):
        return True
    shown: list[tuple[bytes, ...]] = []
    calls = 0
    for row in filter(_is_one_reply, group):
        result = row.result
        if isinstance(result, Reading) and not result.screens:
            shown.append(row.digests.prefixes[:-1])
            is_readable = len(result.transcript.actions) == 1 and not result.unread
            calls += is_readable and not result.is_closed
    # At least half are single calls, and what was shown before them differs or is not in the rows.
    return 2 <= len(shown) <= 2 * calls and (len({*shown}) > 1 or () in shown)


def _is_one_reply(row: LogRow) -> bool:
    """Whether a row ends with the agent's first reply, and the reply is no list of actions."""
    if row.conversation is None or row.turns != 1:
        return False
    last = row.conversation.messages[-1]
    is_plan = "[{" in "".join(text_of(last).split())
    return isinstance(row.result, Reading) and is_from_agent(last) and not is_plan


def _conversations(group: Sequence[LogRow]) -> Iterator[list[LogRow]]:
    """The rows of each conversation of several; a row that names none is alone."""
    is_chain = any(row.names.previous for row in group)
    roots: dict[str | None, str | None] = {}
    threads: dict[str, list[LogRow]] = {}
    for row in _in_order(group):
        own, before = row.names.id, row.names.previous
        root = roots.get(before, before) or (own if is_chain else None)  # the first response
        roots[own] = root
        thread = row.names.thread or root
        if thread is None:
            yield [row]
            continue
        begun = any(part.turns for part in threads.get(thread, ()))
        if begun and row.opening:
            yield threads.pop(thread)  # its next attempt begins
        threads.setdefault(thread, []).append(row)
    # A chain of one response is an attempt that broke off, and is read alone.
    yield from (parts for name, parts in threads.items() if len(parts) > 1 or name not in roots)


def _in_order(rows: Sequence[LogRow]) -> list[LogRow]:
    """The rows, each after the one whose response it names as the one before its own."""
    ids = {row.names.id for row in rows} - {None}
    waiting: defaultdict[str | None, list[LogRow]] = defaultdict(list)
    for row in rows:
        above = row.names.previous
        waiting[above if above in ids else None].append(row)
    ready, ordered = waiting.pop(None, [])[::-1], []
    while ready:
        row = ready.pop()
        ordered.append(row)
        ready += waiting.pop(row.names.id, [])[::-1]
    return [*ordered, *(row for circle in waiting.values() for row in circle)]


def _joined(parts: Sequence[LogRow], read: Callable[[LogRow, Conversation], Result]) -> Result:
    """The transcript of the conversation whose rows are ``parts``."""
    known = [(part, part.conversation) for part in parts if part.conversation is not None]
    messages = [
        {**message, "where": f"[{part}{message.get('where', '')}]"}
        for part, conversation in known
        for message in (*conversation.prompt, *conversation.messages)
    ]
    rows = [conversation.row for _, conversation in known]
    shared = {
        key: value
        for key, value in rows[-1].items()
        if is_note(key) or isinstance(value, Mapping) or all(row.get(key) == value for row in rows)
    }
    result = read(parts[0], Conversation(shared, "joined rows", tuple(messages)))
    if isinstance(result, TranscriptError):
        return result
    reading = result.counting(total_of_parts([part.spent for part in parts]))
    return attrs.evolve(reading, rows=len(parts))
