"""Turn the data of a world's files into its parts; only what the schema knows passes.

Whole numbers are whole, texts are texts, and unknown fields are refused.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeVar

import attrs
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override
from cattrs.v import format_exception

from logtriage.actions import SEVERITIES, Severity
from logtriage.errors import InvalidInput, UnknownName, WorldError
from logtriage.world.schema import forms, parts
from logtriage.world.schema.canonical import FORMS, key_of
from logtriage.world.schema.forms import Figure

#: No number in a world is larger.
MOST: Final = 1_000_000_000
#: The most mistakes of a file that an error lists.
_LISTED: Final = 8
_Part = TypeVar("_Part")
_MISSING: Final = "missing field"
_FIGURE_KEYS: Final = (*FORMS, "key")


def structure(raw: Mapping[str, Any], part: type[_Part], where: str) -> _Part:
    """A part of a world, made from the data of a file.

    Raises:
        WorldError: naming ``where``, and the field, value and choices of each mistake.
    """
    try:
        return _converter(detailed=False).structure(raw, part)
    except (
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        BaseValidationError,
        ForbiddenExtraKeysError,
    ):
        pass  # the other converter says what and where
    try:
        return _converter(detailed=True).structure(raw, part)
    except BaseValidationError as error:
        reasons = [_located(reason) for reason in transform_error(error, "", _reason)]
        more = len(reasons) - _LISTED
        rest = f" (and {more} more)" if more > 0 else ""
        raise WorldError(f"{where}: {'; '.join(reasons[:_LISTED])}{rest}") from None


def shown(value: object) -> str:
    """Describe a value of a file for an error message: long ones are cut."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) <= MOST**2 else "a number of too many digits"
    if isinstance(value, str | float):
        return f"{value!r:.80}"
    names: dict[type, str] = {dict: "a table", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def _located(reason: str) -> str:
    """The converter's ``reason @ path`` as ``path: reason``."""
    text, _, path = reason.rpartition(" @ ")
    path = path.removeprefix(".")
    if text.startswith(_MISSING):  # the text names it as the file does
        path = path.rpartition(".")[0]
    return f"{path}: {text}" if path else text


def _reason(error: BaseException, kind: type | None) -> str:
    """An exception of the converter in our words."""
    if isinstance(error, ForbiddenExtraKeysError):
        known = [key_of(field) for field in attrs.fields(error.cl)]
        extra = sorted(error.extra_fields)[:_LISTED]
        return "; ".join(str(UnknownName("field", field, known)) for field in extra)
    if isinstance(error, InvalidInput):
        return str(error)
    if isinstance(error, KeyError):
        return f"{_MISSING} {error}"
    if isinstance(error, AttributeError | TypeError) and kind is not None:
        return "expected a table" if attrs.has(kind) else "expected a list"
    return format_exception(error, kind)


# --- plain values ------------------------------------------------------------------------


def _exactly(value: object, kind: type[_Part], expected: str) -> _Part:
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {expected}, got {shown(value)}")
    return value


def _text(value: object, _: object = None) -> str:
    return _exactly(value, str, "a text in quotes")


def _yes(value: object, _: object = None) -> bool:
    return _exactly(value, bool, "true or false")


def _list(value: object) -> list[Any]:
    return _exactly(value, list, "a list")


def _table(value: object) -> dict[str, Any]:
    return _exactly(value, dict, "a table")


def _whole(value: object, _: object = None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise InvalidInput(f"expected a whole number from 0 to {MOST:,}, got {shown(value)}")
    return value


def _texts(value: object, _: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _range(value: object, _: object = None) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidInput(f"expected [least, most], got {shown(value)}")
    least, most = map(_whole, value)
    if least > most:
        raise InvalidInput(f"expected [least, most], got [{least}, {most}]")
    return least, most


def _three(value: object, _: object) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidInput(f"expected three whole numbers, got {shown(value)}")
    return tuple(map(_whole, value))


def _severity(value: object, _: object) -> Severity:
    if value not in tuple(SEVERITIES):
        raise InvalidInput(f"expected {', '.join(SEVERITIES)}; got {shown(value)}")
    return Severity(str(value))


def _pair(value: object, what: str) -> tuple[str, str]:
    pair = _list(value)
    if len(pair) != 2:
        raise InvalidInput(f"expected [{what}], got a list of {len(pair)}")
    return _text(pair[0]), _text(pair[1])


def _phrases(value: object, _: object) -> tuple[parts.Phrase, ...]:
    """(level, text) pairs, from a list of such pairs or a text with a pair on each line."""
    if isinstance(value, str):
        lines = (line.split(maxsplit=1) for line in value.splitlines())
        return tuple(_pair(line, "level, text") for line in lines if line)
    return tuple(_pair(pair, "level, text") for pair in _list(value))


# --- tables ------------------------------------------------------------------------------


def _signature(value: object, _: object) -> parts.Signature:
    """Shares of tokens by sort: sorts in alphabetical order, tokens in that of the file."""
    rows = {}
    for sort, row in sorted(_table(value).items()):
        if not isinstance(row, dict):
            raise InvalidInput(f"{sort}: expected a table of shares, got {shown(row)}")
        for token, share in row.items():
            if not isinstance(share, int) or isinstance(share, bool) or not 0 <= share <= 100:
                raise InvalidInput(
                    f"{sort}.{token}: expected a share in per cent, a whole number from 0 to 100; "
                    f"got {shown(share)}"
                )
        rows[sort] = MappingProxyType(dict(row))
    return MappingProxyType(rows)


def _says(value: object, _: object) -> Mapping[str, str]:
    return MappingProxyType({name: _text(text) for name, text in sorted(_table(value).items())})


def _figures(value: object, _: object) -> Mapping[str, Figure]:
    rows = sorted(_table(value).items())
    return MappingProxyType({name: _figure(name, row) for name, row in rows})


def _figure(name: str, value: object) -> Figure:
    try:
        row = _table(value)
        unknown = next((key for key in row if key not in _FIGURE_KEYS), None)
        if unknown is not None:
            raise UnknownName("field", unknown, _FIGURE_KEYS)
        used = [form for form in FORMS if form in row]
        if len(used) != 1:
            raise InvalidInput(
                f"expected one of {', '.join(FORMS)}; got {' and '.join(used) or 'none of them'}"
            )
        form = _FORM_OF[used[0]](row[used[0]])
        return Figure(name, form, _text(row.get("key", name)))
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _scaled(value: object) -> forms.ScaledRange:
    row = _table(value)
    if set(row) != {"of", "percent"}:
        raise InvalidInput('scaled_range: expected { of = "figure", percent = [least, most] }')
    return forms.ScaledRange(_text(row["of"]), *_range(row["percent"]))


def _version(value: object) -> forms.Version:
    if value is not True:
        raise InvalidInput(f"version: expected true, got {shown(value)}")
    return forms.Version()


_FORM_OF: Final[Mapping[str, Callable[[object], forms.Form]]] = {  # the keys of FORMS
    "range": lambda value: forms.Range(*_range(value)),
    "climb": lambda value: forms.Climb(*_range(value)),
    "requests": lambda value: forms.Requests(*_range(value)),
    "scaled_range": _scaled,
    "version": _version,
}


@lru_cache(maxsize=2)
def _converter(*, detailed: bool) -> Converter:
    """The converter; a ``detailed`` one gathers all mistakes, and takes longer to make."""
    converter = Converter(forbid_extra_keys=True, detailed_validation=detailed)
    for kind, hook in ((str, _text), (int, _whole), (bool, _yes), (Severity, _severity)):
        converter.register_structure_hook(kind, hook)
    hooks: dict[Any, Callable[[Any, Any], Any]] = {
        tuple[str, ...]: _texts,
        tuple[int, int]: _range,
        tuple[int, int, int]: _three,
        tuple[parts.Phrase, ...]: _phrases,
        parts.Signature: _signature,
        Mapping[str, str]: _says,
        Mapping[str, Figure]: _figures,
    }
    converter.register_structure_hook_func(
        lambda kind: any(known == kind for known in hooks),
        lambda value, kind: hooks[kind](value, kind),
    )
    converter.register_structure_hook(
        parts.Kind,  # the only part with a key that is not the name of its field
        make_dict_structure_fn(
            parts.Kind,
            converter,
            _cattrs_forbid_extra_keys=True,
            _cattrs_detailed_validation=detailed,
            fault_class=override(rename=key_of(attrs.fields(parts.Kind).fault_class)),
        ),
    )
    return converter
