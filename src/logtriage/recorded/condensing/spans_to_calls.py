"""From the spans of a trace to requests: who called whom, and where the time went."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from logtriage.recorded.condensing.raw_rows import Call, Span

#: The longest chain of spans within a service; broken traces have longer chains.
_DEPTH: Final = 100

#: Trace and span id.
Key = tuple[str, str]


def requests(rows: Iterable[Span]) -> Iterator[Call]:
    """The requests of spans: each span that enters a service, joined with its caller's.

    A caller's wait beyond the callee's own span counts as network time of the callee. Nobody
    waited for a callee that outlives its caller's span (a message, for instance). The self time of
    a request is its span less the time in which it waited for others, overlapping waits counted
    once. A callee that sends no spans has the name by which its clients call it. If two spans have
    the same trace and id, the last counts.
    """
    spans = {(span.trace, span.id): span for span in rows}
    waits: defaultdict[Key, list[tuple[int, int]]] = defaultdict(list)
    entered: list[tuple[Key, Span, Span | None]] = []
    answered: set[Key] = set()
    for key, span in spans.items():
        if not span.parent:
            entered.append((key, span, None))
            continue
        above = key[0], span.parent
        caller = spans.get(above)
        if caller is None or caller.service == span.service:
            continue
        entered.append((key, span, caller))
        answered.add(above)
        if caller.duration >= span.duration:
            entry = _entry(spans, above)
            waited = span if entry == above else caller
            waits[entry].append((waited.start, waited.start + waited.duration))
    for key, span in spans.items():
        if span.peer and span.peer != span.service and key not in answered:
            entry = _entry(spans, key)
            if entry != key:
                waits[entry].append((span.start, span.start + span.duration))
            at, failed = span.start // 1000, span.failed
            yield Call(at, span.service, span.peer, span.duration, None, key[0], None, failed)
    for key, span, caller in entered:
        inside = span.duration - _covered(waits.get(key, ()), span)
        at = span.start // 1000
        if caller is None:
            yield Call(at, None, span.service, span.duration, None, key[0], inside, span.failed)
        else:
            latency = max(caller.duration, span.duration)
            network = latency - span.duration if caller.duration >= span.duration else None
            yield Call(
                at, caller.service, span.service, latency, network, key[0], inside, span.failed
            )


def _entry(spans: Mapping[Key, Span], key: Key) -> Key:
    """The span at which the request of a span entered its service."""
    for _ in range(_DEPTH):
        span = spans[key]
        above = key[0], span.parent
        parent = spans.get(above)
        if parent is None or parent.service != span.service:
            break
        key = above
    return key


def _covered(intervals: Iterable[tuple[int, int]], span: Span) -> int:
    """How much of a span at least one of the intervals covers."""
    total, reached, end = 0, span.start, span.start + span.duration
    for since, until in sorted(intervals):
        since, until = max(since, reached), min(until, end)
        if until > since:
            total += until - since
            reached = until
    return total
