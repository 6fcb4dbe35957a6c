"""Writes the files of an exported incident."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Final

from logtriage._lib.files import replacing
from logtriage.errors import InvalidInput
from logtriage.exporting.alertmanager import notifications
from logtriage.exporting.encoding import Json
from logtriage.exporting.logs import log_lines
from logtriage.exporting.metrics import metric_lines
from logtriage.exporting.tape import Tape
from logtriage.exporting.traces import trace_lines
from logtriage.incident import Incident
from logtriage.recorded.paths import plain_name
from logtriage.recorded.truth import NO_FAULT

#: When an incident is opened that says nothing else: drawn incidents have no date.
OPENED: Final = datetime(2031, 5, 6, 10, 0, tzinfo=UTC)
_LABELS: Final = ("id", "opened", "root_cause", "kind", "baseline_start", "baseline_end")


def write_otlp(
    incident: Incident, out: str | PathLike[str], opened: datetime = OPENED
) -> tuple[Path, ...]:
    """Write ``logs.jsonl``, ``traces.jsonl`` and ``metrics.jsonl`` of an incident to a folder.

    What was said and measured from ten minutes before the onset to the horizon, while nobody
    acts; the truth is not in it.

    Args:
        incident: a simulated one.
        out: the folder, which is made.
        opened: the moment of tick 0, with an offset.

    Raises:
        InvalidInput: for a recorded incident, a time without an offset, and one outside of
            1971 to 2261.
        OSError: if a file cannot be written.
    """
    tape, folder = Tape.of(incident, opened), _made(out)
    return (
        _write(folder / "logs.jsonl", log_lines(tape)),
        _write(folder / "traces.jsonl", trace_lines(tape)),
        _write(folder / "metrics.jsonl", metric_lines(tape)),
    )


def write_alertmanager(
    incident: Incident, out: str | PathLike[str], opened: datetime = OPENED
) -> Path:
    """Write ``alerts.jsonl``: the notifications that Alertmanager would send, in their order.

    Arguments and errors as of :func:`write_otlp`.
    """
    tape = Tape.of(incident, opened)
    return _write(_made(out) / "alerts.jsonl", notifications(tape))


def write_labels(incident: Incident, path: str | PathLike[str], opened: datetime = OPENED) -> Path:
    """Write the answer of an incident as the ``labels.csv`` of an import.

    Not for the folder that an agent is given. An incident without a fault can be imported
    with ``--models`` alone.

    Raises:
        InvalidInput: as of :func:`write_otlp`, and for an incident with several faults at once.
        OSError: if the file cannot be written.
    """
    tape, truth = Tape.of(incident, opened), incident.truth
    if len(truth.parts) > 1:
        # Roots that are joined by | would be alternatives.
        raise InvalidInput(
            f"{incident.id}: labels.csv has one fault a line, and this incident has "
            f"{len(truth.parts)} at once: it cannot be labelled"
        )
    calm = (opened + timedelta(seconds=one) for one in (tape.calm.start, tape.calm.stop))
    at, since, until = (f"{one.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" for one in (opened, *calm))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_LABELS)
    name = f"drawn/{plain_name(incident.id)}"
    roots = "|".join(sorted(truth.root_causes))
    kind = NO_FAULT if truth.fault is None else truth.fault.kind
    writer.writerow((name, at, roots, kind, since, until))
    file_path = _made(Path(path).parent) / Path(path).name
    with replacing(file_path) as file:
        file.write(text.getvalue().encode())
    return file_path


def _made(out: str | PathLike[str]) -> Path:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(path: Path, lines: Iterable[Json]) -> Path:
    with replacing(path) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode())
            file.write(b"\n")
    return path
