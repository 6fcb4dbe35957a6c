"""From the spans of a trace to requests and the call graph: who called whom, and for how long."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Self

import attrs

from logtriage.recorded.condensing.raw_rows import Call, Entry, Span

#: The longest chain of spans within a service; broken traces have longer chains.
_DEPTH: Final = 100
#: Kinds of spans that begin a request to their service, whether or not its caller is known.
ENTERING: Final = ("SERVER", "CONSUMER")
#: Kinds of spans in which a service waits for another.
_ASKING: Final = ("CLIENT", "PRODUCER")
#: Kinds of root spans that no user waits for.
_JOB_KINDS: Final = ("INTERNAL", "CONSUMER", "PRODUCER")

#: The kinds of the two spans of one request.
_HALVES: Final = ({"CLIENT", "SERVER"}, {"PRODUCER", "CONSUMER"})

#: Trace and span id; whether the span shares it with its caller's.
Key = tuple[str, str, bool]
#: Caller and callee; no caller if a user sent the request.
Pair = tuple[str | None, str]
#: The tier of services that work by themselves: jobs, and consumers of messages.
BACKGROUND: Final = "background"

#: Parts of names that tell a tier; the first tier that fits counts.
_TIERS: Final = {
    "edge": ("gateway", "frontend", "-ui-", "dashboard"),
    "datastore": ("mongo", "mysql", "postgres", "redis", "-db"),
    "queue": ("rabbitmq", "kafka", "-queue"),
}


def key_of(span: Span) -> Key:
    """What tells a span from all others."""
    return span.trace, span.id, span.shared


@attrs.frozen
class SpanTrees:
    """Spans by key, and the key of the span above each.

    There is none above a root, and where it was not captured. Where caller and callee share an id,
    the spans of the callee's service are below the callee.
    """

    spans: Mapping[Key, Span]
    above: Mapping[Key, Key | None]
    #: How many other spans had the trace and id of one of them.
    twice: int = 0

    @classmethod
    def of(cls, rows: Iterable[Span]) -> Self:
        """The trees of spans.

        A span that was exported twice counts once. A server with the id of its client shares it, as
        in Zipkin, whether or not it says so.
        """
        spans: dict[Key, Span] = {}
        others: set[Span] = set()
        for span in rows:
            key = key_of(span)
            before = spans.setdefault(key, span)
            if before == span:
                continue
            if {before.kind, span.kind} in _HALVES and not span.shared:
                asking, answering = (before, span) if span.kind in ENTERING else (span, before)
                answer = attrs.evolve(answering, shared=True)
                spans[key] = asking
                if spans.setdefault(key_of(answer), answer) != answer:
                    others.add(answer)
            else:
                others.add(span)
        return cls(spans, _above_of(spans), len(others))

    def orphans(self) -> Iterator[Span]:
        """The spans whose parent was not captured."""
        return (span for key, span in self.spans.items() if span.parent and not self.above[key])

    def unnamed(self) -> Iterator[Span]:
        """The spans of clients whose callee sent none, and nothing says which it is."""
        asked = set(self.above.values())
        return (
            span
            for key, span in self.spans.items()
            if span.kind == "CLIENT" and not span.peer and key not in asked
        )

    def requests(self, *, several: bool = False) -> Iterator[Call]:
        """The requests of spans: each span that enters a service, joined with its caller's.

        A caller's wait beyond the callee's own span is network time of the callee, unless the
        callee outlives it: nobody waits for a message. A span of a client or producer is such a
        wait. In a trace without any kind, the caller's span is one unless it began the caller's own
        request, or several callees are below it; with ``several`` it is the wait for each of them,
        as in the shipped incidents of Nezha. All others hold the caller's work, too: network time
        is then unknown, and the callee's own span is the wait. The self time of a request is its
        span less the time in which it waited for others, overlaps counted once. A callee that sends
        no spans has the name by which its clients call it; where nothing names it, there is the
        wait alone. A span of a server or consumer whose parent was not captured is a request from
        outside. A root is background work by its kind, and without a kind where servers have
        theirs.
        """
        spans = self.spans
        has_servers = any(span.kind == "SERVER" for span in spans.values())
        job_kinds = (*_JOB_KINDS, "") if has_servers else _JOB_KINDS
        waits = defaultdict[Key, list[Span]](list)
        entered: list[tuple[Key, Key | None]] = []  # with the caller's span
        callees_below = Counter(
            above
            for key, above in self.above.items()
            if above is not None and spans[above].service != spans[key].service
        )
        kinded = {span.trace for span in spans.values() if span.kind}

        def waited(above: Key) -> bool:
            """Whether the span above a request is the caller's wait for it, by kind and place."""
            if above[0] in kinded:
                return spans[above].kind in _ASKING
            return (several or callees_below[above] == 1) and self._entry(above) != above

        for key, span in spans.items():
            above = self.above[key]
            if above is None:
                if not span.parent or span.kind in ENTERING:
                    entered.append((key, None))
            elif spans[above].service != span.service:
                entered.append((key, above))
                if spans[above].duration >= span.duration:
                    entry = self._entry(above)
                    waits[entry].append(spans[above] if entry != above and waited(above) else span)
        for key, span in spans.items():
            if key in callees_below or span.peer == span.service:
                continue
            if (span.peer or span.kind == "CLIENT") and (entry := self._entry(key)) != key:
                waits[entry].append(span)
            if span.peer:
                asked = span.service, span.peer, span.duration
                yield Call(span.at, *asked, trace=span.trace, failed=span.failed, tier=span.tier)
        for key, above in entered:
            span = spans[key]
            caller, latency, network = None, span.duration, None
            if above is not None:
                caller, wait = spans[above].service, spans[above].duration
                if wait >= span.duration and waited(above):
                    latency, network = wait, wait - span.duration
            yield Call(
                at=span.at,
                caller=caller,
                callee=span.service,
                latency_us=latency,
                network_us=network,
                trace=span.trace,
                self_us=span.duration - _covered_time(waits.get(key, ()), span),
                failed=span.failed,
                entry=_entry_of(span, job_kinds) if above is None else Entry.ROOT,
                told=span.told,
            )

    def _entry(self, key: Key) -> Key:
        """The span at which the request of a span entered its service."""
        for _ in range(_DEPTH):
            above = self.above[key]
            if above is None or self.spans[above].service != self.spans[key].service:
                break
            key = above
        return key


def _entry_of(span: Span, job_kinds: Collection[str]) -> Entry:
    """How a request without a recorded caller began; roots of ``job_kinds`` are jobs."""
    if span.parent:
        return Entry.BACKGROUND if span.kind == "CONSUMER" else Entry.ORPHAN
    return Entry.BACKGROUND if span.kind in job_kinds else Entry.ROOT


def requests(rows: Iterable[Span], *, several: bool = False) -> Iterator[Call]:
    """As :meth:`SpanTrees.requests`; if two spans have the same trace and id, the last counts."""
    spans = {key_of(span): span for span in rows}
    return SpanTrees(spans, _above_of(spans)).requests(several=several)


def _above_of(spans: Mapping[Key, Span]) -> dict[Key, Key | None]:
    """The key of the span above each, as :class:`SpanTrees` has it."""
    found: dict[Key, Key | None] = {}
    for key, span in spans.items():
        above = span.id if span.shared else span.parent
        parent, answer = (span.trace, above, False), (span.trace, above, True)
        found[key] = parent if parent in spans else None
        if not span.shared and answer in spans:
            is_same = spans[answer].service == span.service
            found[key] = answer if is_same or parent not in spans else parent
    return found


def _covered_time(waits: Iterable[Span], span: Span) -> int:
    """How much of a span at least one of the waits covers."""
    total, reached, end = 0, span.start, span.start + span.duration
    for since, until in sorted((wait.start, wait.start + wait.duration) for wait in waits):
        since, until = max(since, reached), min(until, end)
        if until > since:
            total += until - since
            reached = until
    return total


def tiers_and_calls(
    names: Sequence[str],
    pairs: Iterable[Pair],
    stores: Mapping[str, str],
    background: Collection[str] = (),
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The tier of each service, and whom it calls, from the calls that were seen.

    ``stores`` has the tiers of known stores, by name; any other service's name may say its tier. If
    no name says that it is an edge, those called from outside are edges.
    Services that no edge reaches become edges, too, or background if they are in ``background``:
    services without a caller first, then the first of each circle of callers.
    """
    callees: dict[str, set[str]] = {name: set() for name in names}
    outside: set[str] = set()
    for caller, callee in pairs:
        if caller is None:
            outside.add(callee)
        elif caller != callee:
            callees[caller].add(callee)
    tiers = {name: stores.get(name) or _tier(name) for name in names}
    if "edge" not in tiers.values():
        tiers.update(dict.fromkeys(outside, "edge"))
    reached = _reach((name for name in names if tiers[name] == "edge"), callees)
    called = {callee for name in names for callee in callees[name]}
    for name in sorted(names, key=lambda name: (name in called, name)):
        if name not in reached:
            tiers[name] = BACKGROUND if name in background else "edge"
            reached |= _reach([name], callees)
    return tiers, {name: tuple(sorted(callees[name])) for name in names}


def _tier(name: str) -> str:
    """The tier that the name of a service tells; ``service`` if it tells none."""
    ended = f"{name}-"  # "-ui-" is found at the end of a name, too
    for tier, parts in _TIERS.items():
        if any(part in ended for part in parts):
            return tier
    return "service"


def _reach(sources: Iterable[str], callees: Mapping[str, Iterable[str]]) -> set[str]:
    """The sources, and all services to which calls lead from them."""
    reached = set(sources)
    frontier = list(reached)
    while frontier:
        for callee in callees[frontier.pop()]:
            if callee not in reached:
                reached.add(callee)
                frontier.append(callee)
    return reached
