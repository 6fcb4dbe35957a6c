"""Importer for the published layout of the Nezha data set.

::

    rca_data/<date>/<date>-fault_list.json
    rca_data/<date>/{log,trace}/HH_MM_{log,trace}.csv     the minute that ends at HH:MM
    rca_data/<date>/metric/<pod>_metric.csv, front_service.csv
    construct_data/<date>/{log,trace,metric}/…            without a fault

Each CSV file may be gzipped. The files of the minute of a fault and of the next two are read. An
incident opens a minute after the injection, since figures are over the minute before a tick.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import attrs

from logtriage.errors import BundleError
from logtriage.recorded.condensing.condense import condensed
from logtriage.recorded.condensing.raw_rows import Coverage, Rows
from logtriage.recorded.condensing.service_figures import SPAN_MS
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.left_out import LeftOut
from logtriage.recorded.importing.nezha_files import TOLERANCE_MS, Source, milliseconds, service_of
from logtriage.recorded.importing.source_files import inside, listed, name_of, parsed
from logtriage.recorded.records import RecordedIncident
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


def import_nezha(
    directory: str | Path, *, note: Callable[[str], None] = lambda _: None
) -> tuple[RecordedIncident, ...]:
    """Import a directory of the published layout; incidents by id.

    ``directory`` holds ``rca_data`` and ``construct_data``; ``note`` gets a text about everything
    that was left out.

    Raises:
        BundleError: if there is no fault list, a file is damaged as a whole, or a path leads
            outside of the directory.
    """
    root = Path(directory)
    left_out = LeftOut()
    injections = _injections(root, left_out)
    source = Source(root, left_out, [milliseconds(row.at) for row in injections.values()])
    records = [_incident(source, injection, note) for _, injection in sorted(injections.items())]
    for text in left_out.notes():
        note(text)
    return tuple(record for record in records if record is not None)


@attrs.frozen
class _Injection:
    id: str
    at: datetime
    service: str
    kind: str
    where: str
    #: The folder that lists it.
    date: str


def _injections(root: Path, left_out: LeftOut) -> dict[str, _Injection]:
    """The listed faults, by id. ``inject_timestamp`` is not read: it is off by hours."""
    folders = root / "rca_data"
    injections: dict[str, _Injection] = {}
    dates = [folder for folder in listed(folders) if _DATE.fullmatch(folder.name)]
    files = [folder / f"{folder.name}-fault_list.json" for folder in dates]
    files = [file for file in files if file.is_file()]
    if not files:
        raise BundleError(f"{folders}: no <date>/<date>-fault_list.json found")
    for file in files:
        name = name_of(root, file)
        hours = Field(parsed(inside(root, file).read_bytes(), name), name)
        entries = (entry for hour in hours.fields for entry in hours[hour].items())
        for number, entry in enumerate(entries, 1):
            where = f"{name}:{number}"
            time, pod, kind = (entry[field].needed for field in _FIELDS)
            try:
                at = datetime.fromisoformat(time).replace(tzinfo=UTC)
            except ValueError:
                raise entry["inject_time"].bad("a time such as 2023-01-29 08:43:04") from None
            service, injection_id = service_of(pod), f"nezha/{at:%Y-%m-%dT%H%M%S}"
            if service is None:
                left_out.add("inject_pod is no pod", where)
            elif injection_id in injections:
                left_out.add("a second fault at the same time", where)
            else:
                date = file.parent.name
                injections[injection_id] = _Injection(injection_id, at, service, kind, where, date)
    return injections


def _incident(
    source: Source, injection: _Injection, note: Callable[[str], None]
) -> RecordedIncident | None:
    """The record of an injected fault; None without telemetry of its pod, which is counted."""
    rows, missing = source.around(injection.at, injection.date)
    usual, baseline, lacking = _baseline(source, injection, rows)
    # Rates are over whole minutes, as in the shipped incidents; a file has two and a quarter.
    covers = Coverage.of(call.at for call in usual.calls).length
    usual = attrs.evolve(usual, minutes=max(1, round(covers / SPAN_MS)))
    for text in (*missing, *lacking):
        note(f"{injection.id}: {text}")
    if injection.service not in rows.services | usual.services:
        source.left_out.add("no telemetry of the injected pod", injection.where)
        return None
    trainticket = injection.service.startswith("ts-")
    return condensed(
        rows,
        usual,
        RecordedTruth((injection.service,), injection.kind),
        where=injection.where,
        id=injection.id,
        opened=milliseconds(injection.at + DETECTION),
        horizon=HORIZON,
        baseline=baseline,
        task="recorded_trainticket" if trainticket else "recorded_nezha",
        origin=ORIGIN,
    )


def _baseline(
    source: Source, injection: _Injection, rows: Rows
) -> tuple[Rows, str, tuple[str, ...]]:
    """(usual rows, kind of baseline, a note if not all rows are of fault-free files)."""
    usual = source.usual(injection.date)
    kinds = {"log": (usual.logs, rows.logs), "trace": (usual.calls, rows.calls)}
    lacking = [kind for kind, (has, needs) in kinds.items() if needs and not has]
    there = bool(usual.logs or usual.calls)
    if there and not lacking:
        return usual, "fault-free", ()
    # What the files of the fault hold from before it is the next best thing to a fault-free minute;
    # logs and calls together, since lines belong to requests.
    at = milliseconds(injection.at)
    before = rows.between(at - TOLERANCE_MS, at)
    filled = attrs.evolve(
        before, usage=usual.usage or before.usage, edge_usage=usual.edge_usage or before.edge_usage
    )
    baseline = "pre-fault" if filled.logs or filled.calls else "none"
    what = f"{lacking[0]} file" if there else "minute"
    return filled, baseline, (f"no fault-free {what}, baseline is {baseline!r}",)
