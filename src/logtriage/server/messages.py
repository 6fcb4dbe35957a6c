"""Reading messages of strangers: strict JSON of bounded size and structure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from logtriage.errors import InvalidInput

#: Objects and lists may nest this deep.
MAX_DEPTH: Final = 16
#: Objects, lists, fields and items of one message.
MAX_VALUES: Final = 2_048
#: Characters of a name in an error.
_SHOWN: Final = 40
#: Whole strings, and an unfinished one at the end. Possessive: nothing is read twice.
_STRINGS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(b"[]{},"))
_NO_BRACKET: Final = b","
_DEPTH: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


#: The kinds of messages, each with the fields of its data: None if it has no data.
Kinds = Mapping[str, tuple[str, ...] | None]


class TooLarge(InvalidInput):
    """A message or body of more bytes than are read."""


class Misshapen(InvalidInput):
    """A message of an unknown kind or with unknown fields; ``code`` is the protocol's."""

    def __init__(self, text: str, code: str) -> None:
        self.code = code
        super().__init__(text)


def _refuse_constant(name: str) -> float:
    raise InvalidInput(f"not JSON: {name} is not a JSON number")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def read_object(data: str | bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object as RFC 8259 has it: no NaN, no infinities, no lone surrogates.

    A scan of the bytes bounds the structure before anything is decoded.

    Raises:
        TooLarge: if it has more than ``limit`` bytes.
        InvalidInput: with what is wrong.
    """
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if len(raw) > limit:
        raise TooLarge(f"message of {len(raw)} bytes; at most {limit} are read")
    check_structure(raw)
    try:
        value = _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except InvalidInput:
        raise
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error}") from None
    except ValueError:
        raise InvalidInput("not JSON that can be read: a number with too many digits") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"expected a JSON object, got {type(value).__name__}")
    if b"\\u" in raw:
        _check_surrogates(value)
    return value


def check_structure(raw: bytes) -> None:
    """Refuse too many brackets and commas outside of strings, and too deep nesting.

    Raises:
        InvalidInput: naming the limit.
    """
    marks = _STRINGS.sub(b"", raw).translate(None, _NO_STRUCTURE)
    if len(marks) > 2 * MAX_VALUES:
        raise InvalidInput(f"JSON of more than {MAX_VALUES} values")
    depth = 0
    for mark in marks.translate(None, _NO_BRACKET):
        depth += _DEPTH[mark]
        if depth > MAX_DEPTH:
            raise InvalidInput(f"JSON nested deeper than {MAX_DEPTH}")
    if len(marks) - marks.count(b"]") - marks.count(b"}") > MAX_VALUES:
        raise InvalidInput(f"JSON of more than {MAX_VALUES} values")


def check_message(value: Mapping[str, Any], kinds: Kinds) -> str:
    """The kind of a message; all its fields must be known. Types are checked elsewhere.

    Raises:
        Misshapen: of bounded length, whatever was sent.
    """
    kind = value.get("type", "")
    if not isinstance(kind, str):
        raise Misshapen("type: expected a string, such as reset or step", "UNKNOWN_TYPE")
    if kind not in kinds:
        known = ", ".join(kinds)
        raise Misshapen(f"type: {_short(kind)!r} is unknown; known: {known}", "UNKNOWN_TYPE")
    fields = kinds[kind]
    data = value.get("data", {})
    try:
        check_fields(value, ("type",) if fields is None else ("type", "data"))
        if not isinstance(data, dict):
            raise InvalidInput(f"data: expected an object, got {type(data).__name__}")
        check_fields(data, fields or ())
    except InvalidInput as error:
        raise Misshapen(str(error), "VALIDATION_ERROR") from None
    return kind


def check_fields(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse unknown fields; the error names one of them.

    Raises:
        InvalidInput: of bounded length, however many and long the fields are.
    """
    unknown = [name for name in fields if name not in known]
    if not unknown:
        return
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    raise InvalidInput(f"{_short(unknown[0])}: unknown field{more}; known: {', '.join(known)}")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput("not JSON text: half of a surrogate pair") from None
