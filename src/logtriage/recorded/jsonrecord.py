"""One line of a bundle: JSON to a record and back, with errors that name the field."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from cattrs.errors import ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn

from logtriage.errors import BundleError, InvalidInput
from logtriage.recorded.paths import parsed
from logtriage.recorded.records import SCHEMA, RecordedIncident


def encode_record(record: RecordedIncident) -> bytes:
    """A record as one line of JSON, with its line break."""
    data = _converter().unstructure(record)
    # The schema first, so that a reader of the raw file meets it first.
    data = {"schema": record.schema, "id": record.id, **data}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def decode_line(line: bytes, where: str) -> dict[str, Any]:
    """The object of a line: of our schema and with an id, otherwise as it stands.

    Raises:
        BundleError: naming ``where``, and the field if it is one.
    """
    data = parsed(line, where)
    if not isinstance(data, dict):
        raise BundleError(f"{where}: must be a JSON object, got {type(data).__name__}")
    if data.get("schema") != SCHEMA:
        raise BundleError(f"{where}: field schema: must be {SCHEMA!r}, got {data.get('schema')!r}")
    if "id" not in data:
        raise BundleError(f"{where}: field id: required, but missing")
    if not isinstance(data["id"], str):
        raise BundleError(f"{where}: field id: must be str, got {data['id']!r:.80}")
    return data


def structure_record(data: dict[str, Any], where: str) -> RecordedIncident:
    """The record of a decoded line.

    Raises:
        BundleError: naming ``where`` and the field.
    """
    try:
        return _converter().structure(data, RecordedIncident)
    except BaseValidationError as error:
        # One field is enough to go and look; the others are mostly its consequences.
        reason, _, field = transform_error(error, "$", _say)[0].rpartition(" @ $")
        field = field.lstrip(".") or "(whole line)"
        raise BundleError(f"{where}: field {field}: {reason}") from None


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


#: Item types that need no structuring, with the types that their JSON may have.
_PLAIN: Final[dict[Any, frozenset[type]]] = {
    str: frozenset({str}),
    int | None: frozenset({int, type(None)}),
}


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _from_list(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    list_of: Any = list  # the item type is a value here
    items = list_of[get_args(kind)[0]]
    plain = _PLAIN.get(get_args(kind)[0])

    def structure(value: Any, _: Any) -> Any:
        # Without this a string would pass for a list of its letters.
        _exactly(value, list)
        if plain is not None and plain.issuperset(map(type, value)):
            return tuple(value)  # most of a bundle: no need to look at each by itself
        return tuple(converter.structure(value, items))

    return structure


def _from_object(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    inner = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True)

    def structure(value: Any, type_: Any) -> Any:
        return inner(_exactly(value, dict), type_)

    return structure
