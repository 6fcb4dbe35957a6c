"""Who calls whom in a captured stack: a topology of spans, or of Jaeger's dependencies.

The documents of a folder are those that :mod:`~logtriage.recorded.importing.capture` reads, without
labels, and besides what Jaeger's ``/api/dependencies`` answers:
``{"data": [{"parent": …, "child": …, "callCount": …}, …]}``. Metrics, logs and alerts say nothing
of calls and are passed over.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from logtriage.errors import BundleError
from logtriage.recorded.condensing.call_graph import Pair, layout_of
from logtriage.recorded.condensing.raw_rows import Span
from logtriage.recorded.condensing.spans_to_calls import requests
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.jaeger import is_jaeger, traces_of
from logtriage.recorded.importing.otlp import Unnamed, spans_of
from logtriage.recorded.importing.service_names import Names
from logtriage.recorded.importing.source_files import documents
from logtriage.topology import Service
from logtriage.world.schema.parts import Layout


def import_topology(
    directory: str | Path,
    name: str,
    owner: str | None,
    note: Callable[[str], None] = lambda _: None,
) -> Layout:
    """The services of a captured stack and their calls, as a layout for a world.

    Tiers follow from names and calls (:mod:`~logtriage.recorded.condensing.call_graph`). Calls
    form no circle: a call that leads back to a service on the way from the edge is left out. All
    spans are in memory at once, without their attributes.

    Args:
        directory: holds the JSON files, at any depth, gzipped or not.
        name: the topology's.
        owner: the team that owns every service; None if a world draws the owners.
        note: gets a text about everything that was left out.

    Raises:
        BundleError: naming file, line and field; for a folder in which nobody calls anybody.
        OSError: if a file cannot be read.
    """
    names, unnamed = Names(), Unnamed()
    counts: Counter[Pair] = Counter()
    spans: list[Span] = []
    root = Path(directory)
    for spot in documents(root):
        if "resourceSpans" in spot:
            rows = spans_of(spot, names, unnamed)
        elif _is_dependencies(spot):
            counts.update(_dependencies(spot, names))
            continue
        elif is_jaeger(spot):
            rows = traces_of(spot, names)
        else:
            continue
        spans += (row for row in rows if isinstance(row, Span))
    counts.update((call.caller, call.callee) for call in requests(spans))
    for text in unnamed.notes():
        note(text)
    if not any(caller for caller, _ in counts):
        raise BundleError(
            f"{root}: no service calls another: expected spans (OTLP's resourceSpans or Jaeger's "
            "traces), or Jaeger's dependencies"
        )
    return Layout(name, tuple(_services(counts, owner, note)))


def _is_dependencies(spot: Field) -> bool:
    data = spot["data"].value if isinstance(spot.value, dict) else None
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and (
        "parent" in data[0] and "child" in data[0]
    )  # fmt: skip


def _dependencies(spot: Field, names: Names) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for row in spot["data"].items():
        caller, callee = (names(row[end].needed, row.where) for end in ("parent", "child"))
        if row["callCount"].value is None:
            raise row["callCount"].bad("a whole number from 0 on")
        if row["callCount"].count and caller != callee:
            counts[caller, callee] += row["callCount"].count
    return counts


def _services(
    counts: Mapping[Pair, int], owner: str | None, note: Callable[[str], None]
) -> Iterator[Service]:
    every = sorted({name for pair in counts for name in pair if name is not None})
    called = {callee for caller, callee in counts if caller is not None}
    # Traces may begin anywhere; users come in where nobody else calls.
    pairs = (pair for pair in counts if pair[0] is not None or pair[1] not in called)
    tiers, calls = layout_of(every, pairs)
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

    for entry in (name for name in every if tiers[name] == "edge" and name not in done):
        enter(entry)
        while path:
            name, left = next(reversed(path.items()))
            if not left:
                done.add(name)
                del path[name]
                continue
            callee = left.pop()
            if callee in path:
                note(f"{name} -> {callee} leads back ({counts[name, callee]:,} calls), left out")
                continue
            kept[name].append(callee)
            if callee not in done:
                enter(callee)
    return {name: tuple(sorted(row)) for name, row in kept.items()}
