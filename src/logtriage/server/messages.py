"""Read and check messages of clients: strict JSON of bounded size."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from logtriage.errors import InvalidInput

#: The most bytes of a message.
MAX_MESSAGE: Final = 64 * 1024
#: The most values of a message. Nobody can make the server build more objects than that at once.
MAX_VALUES: Final = 256
#: The most characters of a name in an error.
_SHOWN: Final = 40

#: A JSON string, or all text after a quotation mark without a second one. It never backtracks.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
#: The characters that begin another value, outside of strings.
_BEGINS: Final = re.compile(rb"[\[{,]")
#: The one field that may hold an object or a list; the server does not read it.
_FREE: Final = "metadata"

#: The kinds of messages, each with the fields of its data: None if it has no data.
Kinds = Mapping[str, tuple[str, ...] | None]


class Misshapen(InvalidInput):
    """A message too long, or with a wrong kind or field; ``code`` is the protocol's error code."""

    def __init__(self, text: str, code: str) -> None:
        self.code = code
        super().__init__(text)


def _refuse_constant(name: str) -> float:
    raise InvalidInput(f"not JSON: {name} is not a JSON number")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def read_object(data: str | bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object by RFC 8259: no NaN, no infinities, no lone surrogates.

    Raises:
        Misshapen: if it has more than ``limit`` bytes, or more than :data:`MAX_VALUES` values.
        InvalidInput: with what is wrong.
    """
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if len(raw) > limit:
        text = f"message of {len(raw)} bytes; at most {limit} are read"
        raise Misshapen(text, "MESSAGE_TOO_LARGE")
    count = len(_BEGINS.findall(_STRING.sub(b"", raw)))
    if count > MAX_VALUES:
        text = f"message of {count} values; at most {MAX_VALUES} are read"
        raise Misshapen(text, "VALIDATION_ERROR")
    try:
        value = _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except InvalidInput:  # of a constant; it is a ValueError, too
        raise
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error}") from None
    except ValueError:
        raise InvalidInput("not JSON that can be read: a number with too many digits") from None
    except RecursionError:
        raise InvalidInput("not JSON that can be read: nested too deep") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"expected a JSON object, got {type(value).__name__}")
    if b"\\u" in raw:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InvalidInput("not JSON text: half of a surrogate pair") from None
    return value


def check_message(value: Mapping[str, Any], kinds: Kinds) -> str:
    """Return the kind of a message; Misshapen if the kind or a field is unknown or not single."""
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
        for name, held in data.items():
            if name != _FREE and isinstance(held, (dict, list)):
                kind_of = "an object" if isinstance(held, dict) else "a list"
                raise InvalidInput(f"{name}: expected a single value, got {kind_of}")
    except InvalidInput as error:
        raise Misshapen(str(error), "VALIDATION_ERROR") from None
    return kind


def check_fields(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise InvalidInput, with a text of bounded length, if there are unknown fields."""
    unknown = [name for name in fields if name not in known]
    if not unknown:
        return
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    raise InvalidInput(f"{_short(unknown[0])}: unknown field{more}; known: {', '.join(known)}")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
