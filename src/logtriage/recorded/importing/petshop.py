"""Importer for the published layout of the PetShop data set.

::

    <scenario>/graph.csv                        who calls whom, as an adjacency matrix
    <scenario>/noissue/metrics.csv              without a fault
    <scenario>/{train,test}/issue_N/metrics.csv the minutes around an issue
    <scenario>/{train,test}/issue_N/target.json the symptom, when it was seen, and the root cause

Each CSV file may be gzipped. Every component has latency, requests and availability every five
minutes; there are no logs, traces or classes of fault. The incident opens with the first sample at
or after the moment at which the symptom was seen.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

from logtriage._lib.printable import counted
from logtriage.errors import BundleError
from logtriage.recorded.condensing.condense import condensed
from logtriage.recorded.condensing.raw_rows import Rows, Sample, Usage
from logtriage.recorded.figures import MOST
from logtriage.recorded.importing.csv_rows import read_rows
from logtriage.recorded.importing.fields import LATEST, Field, decimal
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.names import Names
from logtriage.recorded.importing.signal_names import in_units
from logtriage.recorded.importing.source_files import find_csv, inside, name_of, parsed
from logtriage.recorded.records import RecordedAlert, RecordedIncident
from logtriage.recorded.truth import RecordedTruth

ORIGIN: Final = (
    "PetShop data set (https://github.com/amazon-science/petshop-root-cause-analysis), "
    "CC-BY-4.0, copyright Amazon.com, Inc. or its affiliates; M. Hardt et al., CLeaR 2024"
)
TICK_SECONDS: Final = 300
#: The recordings reach two or three ticks beyond the symptom, and answers take two.
HORIZON: Final = 6
SPLITS: Final = ("train", "test")

_ALERTS: Final = {"latency": "HighLatency", "availability": "LowAvailability"}
_P99: Final = "latency_p99_us"
#: The signal of a column's metric and statistic, and the signal's units per unit of the metric.
_METRICS: Final = {
    **{
        ("latency", statistic): (f"latency_{statistic.lower()}_us", 1_000_000)
        for statistic in ("Average", "p50", "p90", "p95", "p99")
    },
    ("availability", "Average"): ("availability_bp", 100),
    ("requests", "Sum"): ("requests", 1),
}
_TITLES: Final = ["microservice", "metric", "statistic", "unix_timestamp"]
_MOST: Final = 10**15
Note = Callable[[str], None]


def import_petshop(
    directory: str | Path, *, note: Note = lambda _: None
) -> tuple[RecordedIncident, ...]:
    """Import a directory of the published layout; incidents by id.

    ``directory`` holds the scenarios; ``note`` gets a text about everything that was left out.

    Raises:
        BundleError: naming the file and what was expected, if there is no issue, or a file is not
            of the layout.
    """
    root, left_out = Path(directory), LeftOut()
    usual: dict[Path, tuple[Names, tuple[Sample, ...]]] = {}
    incidents: dict[str, RecordedIncident] = {}
    for split in SPLITS:
        for target in sorted(root.glob(f"*/{split}/issue_*/target.json")):
            scenario = target.parents[2]
            if scenario not in usual:
                normal, names = scenario / "noissue", Names(left_out)
                there = find_csv(root, normal, "metrics") is not None
                rows = tuple(samples(root, normal, names, note)) if there else ()
                usual[scenario] = names, rows
            incident = _incident(root, target, *usual[scenario], note)
            if incident.id in incidents:
                raise BundleError(
                    f"{name_of(root, target)}: field target.timestamp: an issue before has the "
                    f"same second, and so the id {incident.id}"
                )
            incidents[incident.id] = incident
    if not incidents:
        raise BundleError(f"{root}: no <scenario>/train/issue_N/target.json found")
    for text in left_out.notes():
        note(text)
    return tuple(incident for _, incident in sorted(incidents.items()))


def _incident(
    root: Path, target: Path, names: Names, usual: tuple[Sample, ...], note: Note
) -> RecordedIncident:
    where = name_of(root, target)
    data = Field(parsed(inside(root, target).read_bytes(), where), where)
    seen, metric = data["target"]["timestamp"], data["target"]["metric"]
    seconds = seen.needed_epoch("seconds")
    if seconds >= LATEST:
        raise seen.bad("Unix seconds")
    if metric.text not in _ALERTS:
        raise metric.bad(" or ".join(_ALERTS))
    incident_id = f"petshop/{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%dT%H%M%S}"
    if not usual:
        note(f"{incident_id}: no noissue/metrics.csv, baseline is 'none'")
    rows = tuple(samples(root, target.parent, names, note))
    graph = tuple(calls(root, target.parents[2], names))
    times = [row.at for row in rows if row.at >= 1000 * seconds]
    if not times:
        raise BundleError(f"{where}: field target.timestamp: no sample at or after it")
    symptom = names(data["target"]["node"].needed, where)
    cause = names(data["root_cause"]["node"].needed, where)

    def as_rows(rows: tuple[Sample, ...]) -> Rows:
        shown = (row for row in rows if (row.service, row.name) == (symptom, _P99))
        edge = tuple(Usage(row.at, symptom, p99_ms=row.value // 1000) for row in shown)
        return Rows(edge_usage=edge, samples=rows, graph=graph)

    return condensed(
        as_rows(rows),
        as_rows(usual),
        RecordedTruth((cause,), metric.text),
        where=where,
        id=incident_id,
        opened=min(times),
        baseline="fault-free" if usual else "none",
        task="recorded_petshop",
        horizon=HORIZON,
        origin=ORIGIN,
        tick_seconds=TICK_SECONDS,
        alerts=(RecordedAlert(symptom, _ALERTS[metric.text], since=0),),
    )


def samples(root: Path, folder: Path, names: Names, note: Note) -> Iterator[Sample]:
    """Yield the samples of a file: four header rows, then a row of all metrics for each time.

    An empty cell was not measured. ``note`` gets the columns that are no known metric. A
    BundleError names file, line and column.
    """
    name, rows = _table(root, folder, "metrics")
    head = [next(rows, ("", [""]))[1] for _ in _TITLES]
    if [row[0] for row in head] != _TITLES:
        raise BundleError(
            f"{name}: the first four rows must be {', '.join(_TITLES)}, got "
            f"{', '.join(row[0][:40] for row in head)}"
        )
    services, metrics, statistics, _ = (row[1:] for row in head)
    measured = list(zip(metrics, statistics, strict=True))
    columns = [
        (names(service, f"{name}:1"), *_METRICS.get(what, ("", 0)))
        for service, what in zip(services, measured, strict=True)
    ]
    unknown = Counter(what for what in measured if what not in _METRICS)
    for (metric, statistic), count in sorted(unknown.items()):
        what = f"{metric} {statistic}"
        note(f"{name}: left out {counted(count, 'column')} of {what!r:.80}: no known metric")
    for where, row in rows:
        seconds = _number(where, "unix_timestamp", row[0])
        if not 0 <= seconds < LATEST:
            raise _bad(where, "unix_timestamp", "be Unix seconds", row[0])
        for (service, signal, factor), text in zip(columns, row[1:], strict=True):
            if signal and text:
                column = f"{service} {signal}"
                value = in_units(_number(where, column, text), factor)
                if not 0 <= value <= MOST:
                    raise _bad(where, column, "be a number from 0 on, of at most 63 bits", text)
                yield Sample(int(1000 * seconds), service, signal, value)


def calls(root: Path, scenario: Path, names: Names) -> Iterator[tuple[str, str]]:
    """Yield (caller, callee) pairs: a row's component calls those whose columns are not 0."""
    name, rows = _table(root, scenario, "graph")
    _, header = next(rows, ("", [""]))
    if len(header) < 2:
        raise BundleError(f"{name}:1: must name the components, one a column")
    for where, row in rows:
        for callee, text in zip(header[1:], row[1:], strict=True):
            if _number(where, callee, text):
                yield names(row[0], where), names(callee, where)


def _table(root: Path, folder: Path, stem: str) -> tuple[str, Iterator[tuple[str, list[str]]]]:
    """(file name, rows with their places); a BundleError unless rows are equally long."""
    path = find_csv(root, folder, stem)
    if path is None:
        raise BundleError(f"{name_of(root, folder)}: no {stem}.csv")
    name = name_of(root, path)

    def rows() -> Iterator[tuple[str, list[str]]]:
        width: int | None = None
        for where, row in read_rows(path, name):
            width = width or len(row)
            if len(row) != width:
                raise BundleError(f"{where}: wrong column count: {len(row)}, not {width}")
            yield where, row

    return name, rows()


def _number(where: str, column: str, text: str) -> Decimal:
    value = decimal(text, _MOST)
    if value is None:
        raise _bad(where, column, "be a number", text)
    return value


def _bad(where: str, column: str, must: str, text: str) -> BundleError:
    return BundleError(f"{where}: column {column}: must {must}, got {text!r:.80}")
