"""Importer for the published layout of the Nezha data set.

::

    rca_data/<date>/<date>-fault_list.json
    rca_data/<date>/{log,trace}/HH_MM_{log,trace}.csv     the minute that ends at HH:MM
    rca_data/<date>/metric/<pod>_metric.csv, front_service.csv
    construct_data/<date>/{log,trace,metric}/…            without a fault

Each CSV file may be gzipped. Of each fault the files of its minute and of the two
that follow are read. The incident is taken to be opened a minute after the injection,
so that the figures at tick 0, taken over the minute before it, are those of the fault.
"""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.measure import condensed
from logtriage.recorded.nezha_files import TOLERANCE_MS, Source, listed, milliseconds, service_of
from logtriage.recorded.paths import chosen, inside, parsed
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.rows import Rows
from logtriage.recorded.tally import Imported, Tally
from logtriage.recorded.truth import RecordedTruth

ORIGIN: Final = (
    "Nezha data set (https://github.com/IntelligentDDS/Nezha), MIT licence, "
    "copyright (c) 2023 IntelligentDDS; G. Yu et al., ESEC/FSE 2023"
)
HORIZON: Final = 8
#: From injection to the opening of the incident.
DETECTION: Final = timedelta(minutes=1)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FIELDS: Final = ("inject_time", "inject_pod", "inject_type")


@attrs.frozen
class _Injection:
    """An entry of a fault list."""

    id: str
    at: datetime
    service: str
    kind: str
    date: str
    file: Path
    number: int


def import_nezha(
    directory: str | Path, *, only: Collection[str] | None = None, strict: bool = False
) -> Imported:
    """Import a directory of the published layout.

    Args:
        directory: holds ``rca_data`` and ``construct_data``.
        only: ids such as ``nezha/2023-01-29T084304``; all incidents if None.
        strict: make the first row that would be skipped an error.

    Raises:
        BundleError: if there is no fault list, a file is damaged as a whole, a path
            leads outside of the directory, or, with ``strict``, on any unusable row.
        UnknownName: if ``only`` names an incident that is not there.
    """
    root = Path(directory)
    tally = Tally(root, strict=strict)
    injections = _injections(root, tally)
    wanted = chosen(injections, only)
    source = Source(root, tally, [milliseconds(one.at) for one in injections.values()])
    notes: list[str] = []
    made = [_incident(source, one, notes) for one in wanted]
    return tally.imported((one for one in made if one is not None), notes)


# --- faults ------------------------------------------------------------------------------


def _injections(root: Path, tally: Tally) -> dict[str, _Injection]:
    folders = root / "rca_data"
    found: dict[str, _Injection] = {}
    lists = 0
    for date in (folder.name for folder in listed(folders) if _DATE.fullmatch(folder.name)):
        file = folders / date / f"{date}-fault_list.json"
        if not file.is_file():
            continue
        lists += 1
        for number, entry in _entries(inside(root, file), tally.name(file)):
            injection = _injection(entry, date, file, number)
            if isinstance(injection, str):
                tally.skip(file, number, injection)
            elif injection.id in found:
                tally.skip(file, number, "a second fault at the same time")
            else:
                found[injection.id] = injection
    if not lists:
        raise BundleError(f"{folders}: no <date>/<date>-fault_list.json found")
    return found


def _entries(file: Path, name: str) -> Iterator[tuple[int, object]]:
    """The entries of a fault list, numbered from 1."""
    hours = parsed(file.read_bytes(), name)
    if not isinstance(hours, dict) or not all(isinstance(v, list) for v in hours.values()):
        raise BundleError(f"{name}: must be an object of lists, hour by hour")
    yield from enumerate((entry for hour in hours.values() for entry in hour), 1)


def _injection(entry: object, date: str, file: Path, number: int) -> _Injection | str:
    """A fault, or the reason why an entry is none.

    ``inject_timestamp`` is not read: it is off by hours in the published lists.
    """
    if not isinstance(entry, dict):
        return "a fault that is no object"
    for field in _FIELDS:
        if not isinstance(entry.get(field), str) or not entry[field]:
            return f"a fault without {field}"
    time, pod, kind = (entry[field] for field in _FIELDS)
    try:
        at = datetime.fromisoformat(time).replace(tzinfo=UTC)
    except ValueError:
        return "inject_time is no time"
    service = service_of(pod)
    if service is None:
        return "inject_pod is no pod"
    return _Injection(f"nezha/{at:%Y-%m-%dT%H%M%S}", at, service, kind, date, file, number)


# --- one incident ------------------------------------------------------------------------


def _incident(source: Source, injection: _Injection, notes: list[str]) -> RecordedIncident | None:
    rows, missing = source.around(injection.at, injection.date)
    usual, baseline, note = _baseline(source, injection, rows)
    notes += (f"{injection.id}: {what}" for what in (*missing, *note))
    if injection.service not in rows.services | usual.services:
        source.tally.skip(injection.file, injection.number, "no telemetry of the injected pod")
        return None
    trainticket = injection.service.startswith("ts-")
    return condensed(
        rows,
        usual,
        RecordedTruth((injection.service,), injection.kind),
        where=f"{source.tally.name(injection.file)}:{injection.number}",
        name=injection.id,
        opened=milliseconds(injection.at + DETECTION),
        horizon=HORIZON,
        baseline=baseline,
        task="recorded_trainticket" if trainticket else "recorded_nezha",
        origin=ORIGIN,
    )


def _baseline(
    source: Source, injection: _Injection, rows: Rows
) -> tuple[Rows, str, tuple[str, ...]]:
    """The usual rows, what they are, and a note if they are not all fault-free."""
    usual = source.usual(injection.date)
    there = bool(usual.logs or usual.calls)
    lacking = [
        name
        for name, has, needs in (
            ("log", usual.logs, rows.logs),
            ("trace", usual.calls, rows.calls),
        )
        if needs and not has
    ]
    if there and not lacking:
        return usual, "fault-free", ()
    # The minute before the fault is the next best thing to a fault-free one; logs and calls
    # together, since lines belong to requests.
    at = milliseconds(injection.at)
    before = rows.between(at - TOLERANCE_MS, at)
    filled = attrs.evolve(
        before,
        usage=usual.usage or before.usage,
        edge_usage=usual.edge_usage or before.edge_usage,
    )
    baseline = "pre-fault" if filled.logs or filled.calls else "none"
    what = f"{lacking[0]} file" if there else "minute"
    return filled, baseline, (f"no fault-free {what}, baseline is {baseline!r}",)
