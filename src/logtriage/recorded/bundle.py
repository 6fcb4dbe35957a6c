"""Bundles: recorded incidents in a file, one JSON object a line, gzip if named ``.gz``.

The format is that of :mod:`logtriage.recorded.records`, field for field; fields that
hold their default may be left out, unknown ones are refused. It is described for
people in ``docs/recorded.md``.
"""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from logtriage._lib.files import TOO_LONG, numbered_lines, replacing
from logtriage.drawing.incidents import price_of_hand_over
from logtriage.errors import BundleError
from logtriage.incident import ClosingRules, Fault, Incident, Truth
from logtriage.recorded.jsonrecord import decode_line, encode_record, structure_record
from logtriage.recorded.records import RUBRICS, TEAM, RecordedIncident, task_id
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.rng import hash_name

#: The rubric of records that name none.
RUBRIC: Final = RUBRICS[0]
#: Nobody knows whom to page in a recording, so a page closes nothing.
CLOSING: Final = ClosingRules(wrong_page=False)


def as_incident(record: RecordedIncident) -> Incident:
    """The incident that an agent triages, from its record.

    Severity, teams and remedies stay empty: the recording does not know them.
    """
    topology = record.recording.topology(record.id)
    roots, (_, on_request, priced) = record.truth.root_causes, RUBRICS
    return Incident(
        id=record.id,
        task=task_id(record.task),
        horizon=record.horizon,
        topology=topology,
        directory=(TEAM,) * len(topology),
        truth=Truth(
            fault=Fault(record.truth.kind, roots[0]) if roots else None,
            severity=None,
            root_causes=frozenset(roots),
            teams=frozenset(),
            remedies=frozenset(),
            fault_category=record.truth.category if roots and record.rubric != RUBRIC else None,
        ),
        telemetry=RecordedTelemetry(record.recording, on_request=record.rubric == on_request),
        closing=CLOSING,
        rubric=record.rubric,
        price_of_hand_over=(
            price_of_hand_over(hash_name(record.id)) if record.rubric == priced else None
        ),
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
    path = Path(path)
    with path.open("rb") as file:
        return read_records(file, name=str(path))


def read_records(file: IO[bytes], *, name: str) -> tuple[RecordedIncident, ...]:
    """The records of an open bundle, plain or gzip; ``name`` is for error messages.

    Raises:
        BundleError: as :func:`load_bundle`.
    """
    return tuple(
        structure_record(data, where) for where, data in _decoded(file, name=name).values()
    )


class Bundle(Mapping[str, Incident]):
    """An open bundle: incidents by id, in file order, each made when it is asked for.

    Opening reads the whole file and checks that every line is JSON of our schema with
    an id of its own; the fields of a record are checked when its incident is made.
    """

    def __init__(self, lines: dict[str, tuple[str, dict[str, Any]]]) -> None:
        self._lines = lines
        self._made: dict[str, Incident] = {}

    def __getitem__(self, incident_id: str) -> Incident:
        """The incident of that id.

        Raises:
            BundleError: naming file, line and field, if its record is not sound.
        """
        if incident_id not in self._made:
            where, data = self._lines[incident_id]
            self._made[incident_id] = as_incident(structure_record(data, where))
        return self._made[incident_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """A bundle of which each incident is made when it is asked for.

    Raises:
        BundleError: if the file is damaged, or a line has no id of its own.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    with path.open("rb") as file:
        return Bundle(_decoded(file, name=str(path)))


def dump_bundle(records: Iterable[RecordedIncident], path: str | os.PathLike[str]) -> None:
    """Write records to a bundle, the same bytes for the same records; whole or not at all.

    Raises:
        OSError: if it cannot be written.
    """
    path = Path(path)
    with replacing(path) as file:
        if path.name.endswith(".gz"):
            # Neither a name nor a time in the header: the bytes depend on the records.
            with gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as zipped:
                zipped.writelines(map(encode_record, records))
        else:
            file.writelines(map(encode_record, records))


def _decoded(file: IO[bytes], *, name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """The objects of an open bundle by id, each with the place where it stands."""
    # By content and not by name, so that a renamed bundle still opens.
    zipped = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, line in _numbered(gzip.GzipFile(fileobj=file) if zipped else file, name):
        where = f"{name}:{number}"
        data = decode_line(line, where)
        if data["id"] in found:
            raise BundleError(f"{where}: field id: {data['id']!r} appears twice")
        found[data["id"]] = where, data
    return found


def _numbered(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, empty ones left out."""
    number = 0
    try:
        for number, line in numbered_lines(lines):
            if line is None:
                raise BundleError(f"{name}:{number}: {TOO_LONG}")
            if line.strip():
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{number + 1}: damaged gzip: {error}") from None
