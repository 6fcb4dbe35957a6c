"""Who calls whom in a captured stack: a topology made of spans, calls, or known dependencies.

The folder is as for :mod:`~logtriage.recorded.importing.capture`, but needs no labels; rows of
other kinds are not used.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from logtriage._lib.printable import counted
from logtriage.errors import BundleError
from logtriage.recorded.condensing.raw_rows import Call, Dependency, Entry, Span, renamed
from logtriage.recorded.condensing.spans_to_calls import Pair, SpanTrees, tiers_and_calls
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.importing.shapes import Row, read_folder
from logtriage.topology import Service
from logtriage.world.schema.parts import Layout


def import_topology(
    directory: str | Path,
    name: str,
    owner: str | None,
    note: Callable[[str], None] = lambda _: None,
    *,
    skip_bad: bool = False,
) -> Layout:
    """The services of a captured stack and their calls, as a layout for a world.

    Tiers follow from names and calls (:mod:`~logtriage.recorded.condensing.spans_to_calls`). Calls
    form no circle: a call that leads back to a service on the way from the edge is left out. All
    spans are in memory at once, without their attributes.

    Args:
        directory: holds the files, at any depth, gzipped or not.
        name: the topology's.
        owner: the team that owns every service; None if a world draws the owners.
        note: gets a text about everything that was left out.
        skip_bad: count lines and documents that cannot be read, and go on.

    Raises:
        BundleError: naming file, line and field; for a folder in which nobody calls anybody.
        OSError: if a file cannot be read.
    """
    root, left_out = Path(directory), LeftOut(skips_bad=skip_bad)
    counts: Counter[Pair] = Counter()
    spans: list[Span] = []

    def keep(row: Row) -> bool:
        if isinstance(row, Span):
            spans.append(row)
        elif isinstance(row, Call):
            counts[row.caller, row.callee] += 1
        elif isinstance(row, Dependency):
            counts[row.caller, row.callee] += row.count
        return isinstance(row, Span | Call | Dependency)

    reader = Reader(left_out)
    read_folder(root, reader, keep, "rows, none of a call")
    reader.names.fold()
    folded = reader.names.folded
    alone, entered = set[str](), set[str]()
    stores: dict[str, str] = {}
    for caller, callee in list(counts):
        count = counts.pop((caller, callee))
        counts[folded.get(caller, caller) if caller else None, folded.get(callee, callee)] += count
    trees = SpanTrees.of(renamed(span, folded) for span in spans)
    for call in trees.requests():
        counts[call.caller, call.callee] += 1
        if call.tier:
            stores[call.callee] = call.tier
        if call.entry is Entry.BACKGROUND:
            alone.add(call.callee)
        elif call.caller is None:
            entered.add(call.callee)
    if lost := sum(1 for _ in trees.orphans()):
        left_out.note(f"the parent of {counted(lost, 'span')} was not captured")
    layout = Layout(name, tuple(_services(counts, stores, owner, left_out.note)))
    for service in layout.services:
        if service.tier == "edge" and service.name in alone - entered:
            left_out.note(
                f"{service.name}: works by itself or on messages, and is taken for an edge"
            )
    for text in left_out.notes():
        note(text)
    if not any(caller for caller, _ in counts):
        raise BundleError(
            f"{root}: no service calls another: expected spans (OTLP, Jaeger, Tempo or Zipkin), "
            "calls.csv, or the dependencies of Jaeger or Zipkin"
        )
    return layout


def _services(
    counts: Mapping[Pair, int],
    stores: Mapping[str, str],
    owner: str | None,
    note: Callable[[str], None],
) -> Iterator[Service]:
    """Yield the services, edges first; their calls form no circle."""
    every = sorted({name for pair in counts for name in pair if name is not None})
    called = {callee for caller, callee in counts if caller is not None}
    # Traces may begin anywhere; users come in where nobody else calls, and if there is no such
    # place, where most traces begin.
    outside = sorted((pair for pair in counts if pair[0] is None), key=lambda pair: -counts[pair])
    entered = [pair for pair in outside if pair[1] not in called] or outside[:1]
    pairs = (*entered, *(pair for pair in counts if pair[0] is not None))
    tiers, calls = tiers_and_calls(every, pairs, stores)
    for name in every:
        if calls[name] and tiers[name] not in ("edge", "service"):
            note(f"{name}: calls {', '.join(calls[name])}, so it is taken for a service")
            tiers[name] = "service"
    kept = without_circles(every, tiers, calls, counts, note)
    for name in sorted(every, key=lambda name: (tiers[name] != "edge", name)):
        yield Service(name, tiers[name], owner, kept[name])


def without_circles(
    every: list[str],
    tiers: Mapping[str, str],
    calls: Mapping[str, tuple[str, ...]],
    counts: Mapping[Pair, int],
    note: Callable[[str], None],
) -> dict[str, tuple[str, ...]]:
    """The calls without those that lead back; the edge still reaches the same services."""
    kept: dict[str, list[str]] = {name: [] for name in every}
    done: set[str] = set()
    path: dict[str, list[str]] = {}  # the way here, and what each service on it has still to call

    def enter(name: str) -> None:
        # The most frequent call comes last in the list, and so is followed first.
        path[name] = sorted(calls[name], key=lambda callee: (counts[name, callee], callee))

    called = Counter[str]()
    for (caller, callee), count in counts.items():
        if caller is not None:
            called[callee] += count
    edges = (name for name in every if tiers[name] == "edge")
    for entry in sorted(edges, key=lambda name: (-counts.get((None, name), 0), called[name])):
        if entry in done:
            continue
        enter(entry)
        while path:
            name, left = next(reversed(path.items()))
            if not left:
                done.add(name)
                del path[name]
                continue
            callee = left.pop()
            if callee in path:
                calls_back = counted(counts[name, callee], "call")
                note(f"{name} -> {callee} leads back ({calls_back}), left out")
                continue
            kept[name].append(callee)
            if callee not in done:
                enter(callee)
    return {name: tuple(sorted(row)) for name, row in kept.items()}
