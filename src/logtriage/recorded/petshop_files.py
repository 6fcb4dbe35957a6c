"""The CSV files of the PetShop layout: metrics every five minutes, and who calls whom."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

from logtriage.errors import BundleError
from logtriage.recorded.figures import MOST
from logtriage.recorded.metrics import in_units
from logtriage.recorded.names import Names
from logtriage.recorded.reading import find_csv, read_rows
from logtriage.recorded.rows import Rows, Sample, Usage
from logtriage.recorded.spot import decimal
from logtriage.recorded.tally import Tally

#: The signal of a column's metric and statistic, and the signal's units in one of the metric's.
_METRICS: Final = {
    **{
        ("latency", statistic): (f"latency_{statistic.lower()}_us", 1_000_000)
        for statistic in ("Average", "p50", "p90", "p95", "p99")
    },
    ("availability", "Average"): ("availability_bp", 100),
    ("requests", "Sum"): ("requests", 1),
}
#: The year 9999, the last that a date can have.
MOST_SECONDS: Final = 253_402_300_800
#: Numbers are below this.
_MOST: Final = 10**15
_TITLES: Final = ("microservice", "metric", "statistic", "unix_timestamp")
#: Rows of a file, each with its place.
_Lines = Iterator[tuple[str, list[str]]]


def normal(root: Path, scenario: Path, tally: Tally, notes: list[str]) -> Rows:
    """The samples of a scenario without a fault; none if it has no such file."""
    if find_csv(root, scenario / "noissue", "metrics") is None:
        return Rows()
    return metrics(root, scenario / "noissue", tally, Names(), notes)


def metrics(root: Path, folder: Path, tally: Tally, names: Names, notes: list[str]) -> Rows:
    """The samples of one file: three header rows, then one row of all metrics at a time.

    An empty cell was not measured. ``notes`` gets the columns that are no known metric.

    Raises:
        BundleError: naming file, line and column.
    """
    name, lines = _opened(root, folder, "metrics", tally)
    columns = _columns(lines, name, names, notes)
    samples: list[Sample] = []
    usage: list[Usage] = []
    for where, row in _of_width(lines, len(columns) + 1, name, tally):
        seconds = _number(where, "unix_timestamp", row[0])
        if not 0 <= seconds < MOST_SECONDS:
            raise _bad(where, "unix_timestamp", "be Unix seconds", row[0])
        at = int(1000 * seconds)
        for (service, signal, factor), text in zip(columns, row[1:], strict=True):
            if not signal or not text:
                continue
            column = f"{service} {signal}"
            value = in_units(_number(where, column, text), factor)
            if not 0 <= value <= MOST:
                raise _bad(where, column, "be a number from 0 on, of at most 63 bits", text)
            samples.append(Sample(at, service, signal, value))
            if signal == "latency_p99_us":
                usage.append(Usage(at, service, p99_ms=value // 1000))
    return Rows(usage=tuple(usage), samples=tuple(samples))


def _columns(
    lines: _Lines, name: str, names: Names, notes: list[str]
) -> list[tuple[str, str, int]]:
    """Service, signal and factor of each column; no signal for an unknown metric."""
    head = [row for _, row in (next(lines, ("", [""])) for _ in _TITLES)]
    for row, title in zip(head, _TITLES, strict=True):
        if row[0] != title or len(row) != len(head[0]):
            raise BundleError(
                f"{name}: the first four rows must be microservice, metric, statistic and "
                f"unix_timestamp of {len(head[0])} columns, got {row[0]!r:.40} of {len(row)}"
            )
    columns = []
    unknown: Counter[str] = Counter()
    for service, metric, statistic in zip(*(row[1:] for row in head[:3]), strict=True):
        signal, factor = _METRICS.get((metric, statistic), ("", 0))
        columns.append((names(service, f"{name}:1"), signal, factor))
        if not signal:
            unknown[f"{metric} {statistic}"] += 1
    for what, count in sorted(unknown.items()):
        notes.append(f"{name}: {count} columns of {what!r:.80} are left out: no known metric")
    return columns


def graph(root: Path, scenario: Path, tally: Tally, names: Names) -> Iterator[tuple[str, str]]:
    """Pairs of caller and callee: a row calls the columns that are not 0.

    Raises:
        BundleError: naming file, line and column.
    """
    name, lines = _opened(root, scenario, "graph", tally)
    _, header = next(lines, ("", [""]))
    if len(header) < 2:
        raise BundleError(f"{name}:1: must name the components, one a column")
    for where, row in _of_width(lines, len(header), name, tally):
        for callee, text in zip(header[1:], row[1:], strict=True):
            if _number(where, callee, text):
                yield names(row[0], where), names(callee, where)


def _opened(root: Path, folder: Path, stem: str, tally: Tally) -> tuple[str, _Lines]:
    """The name of a file, and its rows."""
    path = find_csv(root, folder, stem)
    if path is None:
        raise BundleError(f"{tally.name(folder)}: no {stem}.csv")
    name = tally.begin(path)
    return name, read_rows(path, name)


def _of_width(lines: _Lines, width: int, name: str, tally: Tally) -> _Lines:
    for where, row in lines:
        tally.row(name)
        if len(row) != width:
            raise BundleError(f"{where}: wrong column count: {len(row)}, not {width}")
        yield where, row


def _number(where: str, column: str, text: str) -> Decimal:
    value = decimal(text, _MOST)
    if value is None:
        raise _bad(where, column, "be a number", text)
    return value


def _bad(where: str, column: str, must: str, text: str) -> BundleError:
    return BundleError(f"{where}: column {column}: must {must}, got {text!r:.80}")
