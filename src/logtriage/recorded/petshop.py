"""Importer for the published layout of the PetShop data set.

::

    <scenario>/graph.csv                        who calls whom, as an adjacency matrix
    <scenario>/noissue/metrics.csv              without a fault
    <scenario>/{train,test}/issue_N/metrics.csv the minutes around an issue
    <scenario>/{train,test}/issue_N/target.json the symptom, when it was seen, and the root cause

Each CSV file may be gzipped. Metrics of every component every five minutes: latency, requests
and availability; no logs and no traces. The incident is opened with the first sample at or
after the moment at which the symptom was seen. A scenario without ``noissue`` has no baseline.

``noissue`` is a day or two of normal operation. For :func:`calm_petshop` the first half of it is
what is usual, and the second is cut into stretches that do not overlap, each an incident of
``recorded/2`` without a fault. Issues have no class of fault, so only ``recorded/1`` plays them.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.measure import condensed
from logtriage.recorded.names import Names, chosen
from logtriage.recorded.petshop_files import MOST_SECONDS, graph, metrics, normal
from logtriage.recorded.reading import find_csv, inside, parsed
from logtriage.recorded.records import RUBRICS, RecordedAlert, RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.tally import Imported, Tally
from logtriage.recorded.truth import NO_FAULT, RecordedTruth

ORIGIN: Final = (
    "PetShop data set (https://github.com/amazon-science/petshop-root-cause-analysis), "
    "CC-BY-4.0, copyright Amazon.com, Inc. or its affiliates; M. Hardt et al., CLeaR 2024"
)
TICK_SECONDS: Final = 300
#: The recordings reach two or three ticks beyond the symptom, and answers take two.
HORIZON: Final = 6
SPLITS: Final = ("train", "test")
#: The samples of an incident without a fault: before its opening, and one for each tick.
_SAMPLES: Final = HORIZON - FIRST_TICK

_ALERTS: Final = {"latency": "HighLatency", "availability": "LowAvailability"}
_condensed = partial(condensed, horizon=HORIZON, origin=ORIGIN, tick_seconds=TICK_SECONDS)


@attrs.frozen
class _Issue:
    """An issue: its folder, service, time and metric of its symptom, and its root cause."""

    id: str
    folder: Path
    scenario: Path
    seen: int
    symptom: str
    metric: str
    root: str


def import_petshop(directory: str | Path, *, only: Collection[str] | None = None) -> Imported:
    """Import a directory of the published layout.

    Args:
        directory: holds the scenarios.
        only: ids such as ``petshop/2023-04-13T014908``; all issues if None.

    Raises:
        BundleError: naming the file and what was expected, if there is no issue, or a file is
            not of the layout.
        UnknownName: if ``only`` names an incident that is not there.
    """
    root, tally = Path(directory), Tally(Path(directory), strict=True)
    issues: dict[str, _Issue] = {}
    for issue in _issues(root, tally):
        before = issues.setdefault(issue.id, issue)
        if before is not issue:
            raise BundleError(
                f"{tally.name(issue.folder)}/target.json: field target.timestamp: "
                f"{tally.name(before.folder)} has the same second, and so the id {issue.id}"
            )
    if not issues:
        raise BundleError(f"{root}: no <scenario>/train/issue_N/target.json found")
    notes: list[str] = []
    usual: dict[Path, Rows] = {}
    incidents = []
    for issue in chosen(issues, only):
        if issue.scenario not in usual:
            usual[issue.scenario] = normal(root, issue.scenario, tally, notes)
        baseline = usual[issue.scenario]
        if not baseline.samples:
            notes.append(f"{issue.id}: no noissue/metrics.csv, baseline is 'none'")
        incidents.append(_incident(root, issue, baseline, tally, notes))
    return tally.imported(incidents, notes)


def _incident(
    root: Path, issue: _Issue, usual: Rows, tally: Tally, notes: list[str]
) -> RecordedIncident:
    names = Names()
    rows = metrics(root, issue.folder, tally, names, notes)
    calls = tuple(graph(root, issue.scenario, tally, names))
    times = [row.at for row in rows.samples if row.at >= 1000 * issue.seen]
    where = tally.name(issue.folder / "target.json")
    if not times:
        raise BundleError(f"{where}: field target.timestamp: no sample at or after it")
    symptom, cause = names(issue.symptom, where), names(issue.root, where)

    def of_edge(rows: Rows) -> Rows:
        edge = tuple(row for row in rows.usage if row.service == symptom)
        return attrs.evolve(rows, usage=(), edge_usage=edge)

    return _condensed(
        attrs.evolve(of_edge(rows), graph=calls),
        of_edge(usual),
        RecordedTruth((cause,), issue.metric),
        where=where,
        name=issue.id,
        opened=min(times),
        baseline="fault-free" if usual.samples else "none",
        task="recorded_petshop",
        alerts=(RecordedAlert(symptom, _ALERTS[issue.metric], 0),),
    )


# --- issues ------------------------------------------------------------------------------


def _issues(root: Path, tally: Tally) -> Iterator[_Issue]:
    targets = [
        target for split in SPLITS for target in sorted(root.glob(f"*/{split}/issue_*/target.json"))
    ]
    for target in targets:
        where = tally.name(target)
        data = parsed(inside(root, target).read_bytes(), where)
        seen = _field(where, data, "target", "timestamp", int)
        if not 0 <= seen < MOST_SECONDS:
            raise BundleError(f"{where}: field target.timestamp: must be Unix seconds, got {seen}")
        metric = _field(where, data, "target", "metric", str)
        if metric not in _ALERTS:
            raise BundleError(
                f"{where}: field target.metric: must be {' or '.join(_ALERTS)}, got {metric!r:.80}"
            )
        yield _Issue(
            f"petshop/{datetime.fromtimestamp(seen, tz=UTC):%Y-%m-%dT%H%M%S}",
            target.parent,
            target.parent.parent.parent,
            seen,
            _field(where, data, "target", "node", str),
            metric,
            _field(where, data, "root_cause", "node", str),
        )


def _field(where: str, data: Any, part: str, name: str, kind: type) -> Any:
    inner = data.get(part) if isinstance(data, dict) else None
    value = inner.get(name) if isinstance(inner, dict) else None
    if type(value) is not kind:
        raise BundleError(
            f"{where}: field {part}.{name}: must be {kind.__name__}, got {value!r:.80}"
        )
    return value


# --- without a fault ---------------------------------------------------------------------


def calm_petshop(directory: str | Path) -> Imported:
    """Incidents without a fault, of every scenario that has fault-free metrics.

    Args:
        directory: holds the scenarios, as for :func:`import_petshop`.

    Raises:
        BundleError: naming the file and what was expected, if there are no fault-free metrics,
            they are too short, or a file is not of the layout.
    """
    root, tally = Path(directory), Tally(Path(directory), strict=True)
    notes: list[str] = []
    records = [
        record
        for scenario in sorted(root.glob("*/"))
        if find_csv(root, scenario / "noissue", "metrics") is not None
        for record in _calm(root, scenario, tally, notes)
    ]
    if not records:
        raise BundleError(f"{root}: no <scenario>/noissue/metrics.csv found")
    return tally.imported(records, notes)


def _calm(root: Path, scenario: Path, tally: Tally, notes: list[str]) -> Iterator[RecordedIncident]:
    rows, names = normal(root, scenario, tally, notes), Names()
    whole = attrs.evolve(rows, usage=(), graph=tuple(graph(root, scenario, tally, names)))
    times = sorted({row.at for row in rows.samples})
    half, where = len(times) // 2, f"{tally.name(scenario)}/noissue/metrics.csv"
    if len(times) - half < _SAMPLES:
        raise BundleError(
            f"{where}: no incident without a fault: it takes {2 * _SAMPLES} samples, "
            f"there are {len(times)}"
        )
    usual = whole.between(times[0], times[half])
    for first in range(half, len(times) - _SAMPLES + 1, _SAMPLES):
        opened, last = times[first - FIRST_TICK], times[first + _SAMPLES - 1]
        if last - times[first] > (_SAMPLES - 1) * 1000 * TICK_SECONDS:
            continue  # some samples are missing
        hashed = blake2b(f"{scenario.name}\n{opened}".encode(), digest_size=6).hexdigest()
        yield _condensed(
            whole.between(times[first], last + 1),
            usual,
            RecordedTruth((), NO_FAULT),
            where=where,
            name=f"petshop-models/{hashed}",
            opened=opened,
            baseline="fault-free",
            task="recorded_petshop_models",
            rubric=RUBRICS[1],
        )
