"""Functions that write the files of an exported incident."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Final

from logtriage._lib.files import replacing
from logtriage.errors import InvalidInput
from logtriage.exporting.alertmanager import notifications
from logtriage.exporting.otlp import log_lines, metric_lines, trace_lines
from logtriage.exporting.tape import Tape
from logtriage.incident import Incident
from logtriage.recorded.importing.names import plain_name
from logtriage.recorded.truth import NO_FAULT

#: When an incident opens by default: drawn incidents have no date.
OPENED: Final = datetime(2031, 5, 6, 10, 0, tzinfo=UTC)
#: The columns of labels.csv, as ``recorded.importing.labels`` reads them.
_LABELS: Final = ("id", "opened", "root_cause", "kind", "baseline_start", "baseline_end")


def write_otlp(
    incident: Incident, out: str | PathLike[str], opened: datetime = OPENED
) -> tuple[Path, ...]:
    """Write ``logs.jsonl``, ``traces.jsonl`` and ``metrics.jsonl`` of an incident to a folder.

    They hold ten minutes of calm, then all ticks if nobody acts; they do not tell the truth. The
    folder is made if need be; ``opened`` is the moment of tick 0, with an offset.

    Raises:
        InvalidInput: for a recorded incident, for a time without an offset, and for a time
            outside of 1971 to 2261.
        OSError: if a file cannot be written.
    """
    tape, folder = Tape.of(incident, opened), Path(out)
    return (
        _write_rows(folder / "logs.jsonl", log_lines(tape)),
        _write_rows(folder / "traces.jsonl", trace_lines(tape)),
        _write_rows(folder / "metrics.jsonl", metric_lines(tape)),
    )


def write_alertmanager(
    incident: Incident, out: str | PathLike[str], opened: datetime = OPENED
) -> Path:
    """Write ``alerts.jsonl``: the notifications that Alertmanager would send, in their order.

    Arguments and errors are those of :func:`write_otlp`.
    """
    return _write_rows(Path(out) / "alerts.jsonl", notifications(Tape.of(incident, opened)))


def write_labels(incident: Incident, path: str | PathLike[str], opened: datetime = OPENED) -> Path:
    """Write the answer of an incident as the ``labels.csv`` of an import.

    Keep it out of the folder that an agent reads. Of an incident without a fault, the kind is
    ``none`` and the root cause empty.

    Raises:
        InvalidInput: as :func:`write_otlp`, and for an incident with several faults at once.
        OSError: if the file cannot be written.
    """
    tape, truth = Tape.of(incident, opened), incident.truth
    if len(truth.parts) > 1:
        # Roots joined by | are alternatives.
        raise InvalidInput(
            f"{incident.id}: labels.csv has one fault a line, and this incident has "
            f"{len(truth.parts)} at once: it cannot be labelled"
        )
    seconds = (0, tape.calm.start, tape.calm.stop)
    moments = (opened.astimezone(UTC) + timedelta(seconds=second) for second in seconds)
    at, since, until = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in moments)
    kind = NO_FAULT if truth.fault is None else truth.fault.kind
    roots = "|".join(sorted(truth.root_causes))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_LABELS)
    writer.writerow((f"drawn/{plain_name(incident.id)}", at, roots, kind, since, until))
    return _write_texts(Path(path), [text.getvalue()])


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return _write_texts(path, (f"{line}\n" for line in lines))


def _write_texts(path: Path, texts: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.writelines(text.encode() for text in texts)
    return path
