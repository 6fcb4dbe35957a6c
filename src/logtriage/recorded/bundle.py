"""Bundles: recorded incidents in a file, one JSON object a line, gzip if named ``.gz``.

The format is that of :mod:`logtriage.recorded.records`, field for field. Fields that hold their
default may be left out; unknown fields are refused. ``docs/recorded.md`` describes it for people.
"""

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

import attrs
from cattrs import BaseValidationError, transform_error

from logtriage._lib.files import replacing
from logtriage.codec import reason_of, strict_converter
from logtriage.drawing.incidents import worth_of_hand_over
from logtriage.errors import BundleError
from logtriage.grading.rubric import RECORDED
from logtriage.incident import Fault, Incident, Truth
from logtriage.recorded.importing.source_files import json_lines
from logtriage.recorded.records import ON_REQUEST, SCHEMA, TASKS, VERSION, RecordedIncident
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.rng import hash_name
from logtriage.topology import NO_TEAM

#: A reason that names a field inside the field that was read.
_INNER: Final = re.compile(r"([a-z_][a-z_.]*): ")


def task_id(name: str) -> str:
    """The id of a recorded task, such as ``recorded_trainticket-v5``."""
    return f"{name}-v{VERSION}"


def as_incident(record: RecordedIncident) -> Incident:
    """Make the incident that an agent plays, from its record.

    Severity, teams and remedies stay empty: the recording does not know them.
    """
    topology, roots = record.recording.topology(record.id), record.truth.root_causes
    return Incident(
        id=record.id,
        task=task_id(record.task),
        horizon=record.horizon,
        topology=topology,
        directory=(NO_TEAM,) * len(topology),
        truth=Truth(
            fault=Fault(record.truth.kind, roots[0]) if roots else None,
            severity=None,
            root_causes=frozenset(roots),
            teams=frozenset(),
            remedies=frozenset(),
            fault_category=record.truth.category if roots else None,
        ),
        telemetry=RecordedTelemetry(record.recording, on_request=record.view == ON_REQUEST),
        wrong_page_closes=False,  # nobody knows whom to page
        rubric=RECORDED.id,
        worth_of_hand_over=worth_of_hand_over(hash_name(record.id)),
    )


def on_request(record: RecordedIncident) -> RecordedIncident:
    """Turn a record with a dashboard into one with figures on request, opened at the same time."""
    source, _, rest = record.id.partition("/")
    return attrs.evolve(
        record,
        id=f"{source}-models/{rest}",
        task=record.task.replace(TASKS[record.view], TASKS[ON_REQUEST], 1),
        view=ON_REQUEST,
    )


def load_bundle(path: str | os.PathLike[str]) -> tuple[Incident, ...]:
    """The incidents of a bundle, in file order.

    Raises:
        BundleError: if the file is damaged, or a line is not a record; names the file,
            the line and the field.
        OSError: if the file cannot be read.
    """
    return tuple(as_incident(record) for record in load_records(path))


def load_records(path: str | os.PathLike[str]) -> tuple[RecordedIncident, ...]:
    """The records of a bundle, in file order; raises what :func:`load_bundle` does."""
    with Path(path).open("rb") as file:
        return read_records(file, name=str(path))


def read_records(file: IO[bytes], *, name: str) -> tuple[RecordedIncident, ...]:
    """The records of an open bundle, plain or gzip; ``name`` stands in errors."""
    return tuple(_record(data, where) for where, data in _lines(file, name).values())


class Bundle(Mapping[str, Incident]):
    """An open bundle: incidents by id, in file order, each made when it is asked for.

    Opening reads the file and checks that every line is JSON of our schema with an id of its own.
    Asking for a record that is not sound raises a BundleError, naming file, line and field.
    """

    def __init__(self, lines: dict[str, tuple[str, dict[str, Any]]]) -> None:
        self._lines = lines
        self._made: dict[str, Incident] = {}

    def __getitem__(self, incident_id: str) -> Incident:
        if incident_id not in self._made:
            where, data = self._lines[incident_id]
            self._made[incident_id] = as_incident(_record(data, where))
        return self._made[incident_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """A bundle that makes each incident when it is asked for.

    Raises:
        BundleError, OSError: if the file is damaged or cannot be read, or a line has no id.
    """
    with Path(path).open("rb") as file:
        return Bundle(_lines(file, str(path)))


def dump_bundle(records: Iterable[RecordedIncident], path: str | os.PathLike[str]) -> None:
    """Write records to a bundle, whole or not at all; the same records give the same bytes."""
    path = Path(path)
    with replacing(path) as file:
        if path.name.endswith(".gz"):
            # Neither a name nor a time in the header: the bytes depend on the records.
            with gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as zipped:
                zipped.writelines(map(encode_record, records))
        else:
            file.writelines(map(encode_record, records))


def encode_record(record: RecordedIncident) -> bytes:
    """A record as one line of JSON, with its line break; schema and id come first."""
    data = strict_converter(omit_defaults=True).unstructure(record)
    data = {"schema": record.schema, "id": record.id, **data}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def _lines(file: IO[bytes], name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """(place, decoded object) of each line of an open bundle, by id."""
    lines: dict[str, tuple[str, dict[str, Any]]] = {}
    for where, data in json_lines(file, name):
        if not isinstance(data, dict):
            raise BundleError(f"{where}: must be a JSON object, got {type(data).__name__}")
        schema, record_id = data.get("schema"), data.get("id")
        if schema != SCHEMA:
            raise BundleError(f"{where}: field schema: must be {SCHEMA!r}, got {schema!r}")
        if not isinstance(record_id, str):
            raise BundleError(f"{where}: field id: must be a string, got {record_id!r:.80}")
        if record_id in lines:
            raise BundleError(f"{where}: field id: {record_id!r} appears twice")
        lines[record_id] = where, data
    return lines


def _record(data: dict[str, Any], where: str) -> RecordedIncident:
    try:
        return strict_converter().structure(data, RecordedIncident)
    except BaseValidationError as error:
        # The first text, "reason @ $.field", is enough: the others mostly follow from it.
        reason, _, field = transform_error(error, "$", reason_of)[0].rpartition(" @ $")
        if inner := _INNER.match(reason):
            field, reason = f"{field}.{inner[1]}", reason[inner.end() :]
        field = field.lstrip(".") or "(whole line)"
        raise BundleError(f"{where}: field {field}: {reason}") from None
