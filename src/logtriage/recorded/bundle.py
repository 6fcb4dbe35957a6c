"""Bundles: recorded incidents in a file, one JSON object a line, gzip if named ``.gz``.

The format is that of :mod:`logtriage.recorded.records`, field for field; fields that
hold their default may be left out, unknown ones are refused. It is described for
people in ``docs/recorded.md``.
"""

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn

from logtriage.errors import BundleError, InvalidInput
from logtriage.files import replacing
from logtriage.incident import ClosingRules, Fault, Incident, Truth
from logtriage.recorded.records import SCHEMA, TEAMS, RecordedIncident
from logtriage.recorded.telemetry import RecordedTelemetry

RUBRIC: Final = "recorded/1"
#: Nobody knows whom to page in a recording, so a page closes nothing.
CLOSING: Final = ClosingRules(wrong_page=False)


def as_incident(record: RecordedIncident) -> Incident:
    """The incident that an agent triages, from its record.

    Severity, teams and remedies stay empty: the recording does not know them.
    """
    topology = record.recording.topology(record.id)
    roots = record.truth.root_causes
    return Incident(
        id=record.id,
        task=record.task,
        horizon=record.horizon,
        topology=topology,
        directory=(TEAMS[0],) * len(topology),
        truth=Truth(
            fault=Fault(record.truth.kind, roots[0]),
            severity=None,
            root_causes=frozenset(roots),
            teams=frozenset(),
            remedies=frozenset(),
        ),
        telemetry=RecordedTelemetry(record.recording),
        closing=CLOSING,
        rubric=RUBRIC,
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
    # By content and not by name, so that a renamed bundle still opens.
    zipped = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    records: dict[str, RecordedIncident] = {}
    for number, line in _numbered(gzip.GzipFile(fileobj=file) if zipped else file, name):
        record = _record(line, f"{name}:{number}")
        if record.id in records:
            raise BundleError(f"{name}:{number}: field id: {record.id!r} appears twice")
        records[record.id] = record
    return tuple(records.values())


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
                zipped.writelines(_lines(records))
        else:
            file.writelines(_lines(records))


def _lines(records: Iterable[RecordedIncident]) -> Iterator[bytes]:
    for record in records:
        data = _converter().unstructure(record)
        # The schema first, so that a reader of the raw file meets it first.
        data = {"schema": record.schema, "id": record.id, **data}
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        yield text.encode() + b"\n"


def _numbered(lines: Iterable[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1, empty ones left out."""
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError(f"{name}:{number + 1}: damaged gzip: {error}") from None


def _record(line: bytes, where: str) -> RecordedIncident:
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{where}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise BundleError(f"{where}: must be a JSON object, got {type(data).__name__}")
    if data.get("schema") != SCHEMA:
        raise BundleError(f"{where}: field schema: must be {SCHEMA!r}, got {data.get('schema')!r}")
    try:
        return _converter().structure(data, RecordedIncident)
    except BaseValidationError as error:
        # One field is enough to go and look; the others are mostly its consequences.
        reason, _, field = transform_error(error, "$", _say)[0].rpartition(" @ $")
        field = field.lstrip(".") or "(whole line)"
        raise BundleError(f"{where}: field {field}: {reason}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _say(error: BaseException, _: type | None) -> str:
    match error:
        case InvalidInput():
            return str(error)
        case KeyError():
            return "required, but missing"
        case ForbiddenExtraKeysError():
            known = ", ".join(field.name for field in attrs.fields(error.cl))
            extra = ", ".join(sorted(error.extra_fields))
            return f"unknown field {extra}; known: {known}"
        case _:
            return str(error)


@lru_cache(maxsize=1)
def _converter() -> Converter:
    """JSON to records and back: exact types, no unknown fields, defaults left out."""
    converter = Converter(forbid_extra_keys=True, omit_if_default=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _exactly)
    converter.register_structure_hook_factory(_is_tuple, lambda kind: _from_list(kind, converter))
    converter.register_structure_hook_factory(attrs.has, lambda kind: _from_object(kind, converter))
    return converter


def _exactly(value: object, kind: type) -> Any:
    # Not isinstance: True is an int, and "12" is not one either.
    if type(value) is not kind:
        raise InvalidInput(f"must be {kind.__name__}, got {value!r:.80}")
    return value


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _from_list(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    list_of: Any = list  # the item type is a value here
    items = list_of[get_args(kind)[0]]

    def structure(value: Any, _: Any) -> Any:
        # Without this a string would pass for a list of its letters.
        return tuple(converter.structure(_exactly(value, list), items))

    return structure


def _from_object(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    inner = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True)

    def structure(value: Any, type_: Any) -> Any:
        return inner(_exactly(value, dict), type_)

    return structure
