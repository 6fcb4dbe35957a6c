"""Reading what strangers send: strict JSON of bounded size and depth."""

import json
from typing import Any, Final

from logtriage.errors import InvalidInput

#: Objects and lists may nest this deep.
MAX_DEPTH: Final = 16


class TooLarge(InvalidInput):
    """A message or body of more bytes than are read."""


def _refuse_constant(name: str) -> float:
    raise InvalidInput(f"not JSON: {name} is not a JSON number")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def read_object(data: str | bytes, limit: int) -> dict[str, Any]:
    """Read one JSON object as RFC 8259 has it: no NaN, no infinities, no lone surrogates.

    Raises:
        TooLarge: if it has more than ``limit`` bytes.
        InvalidInput: with what is wrong.
    """
    size = len(data) if isinstance(data, bytes) else _size(data)
    if size > limit:
        raise TooLarge(f"message of {size} bytes; at most {limit} are read")
    try:
        text = data if isinstance(data, str) else data.decode()
        value = _DECODER.decode(text)
    except RecursionError:
        raise InvalidInput(f"JSON nested deeper than {MAX_DEPTH}") from None
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
    # Counting brackets is far cheaper than walking, and settles nearly every message.
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(value)
    if "\\u" in text:
        _check_surrogates(value)
    return value


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidInput(f"JSON nested deeper than {MAX_DEPTH}")
        inner: list[Any] = []
        for one in level:
            children = one.values() if isinstance(one, dict) else one
            inner.extend(child for child in children if isinstance(child, dict | list))
        level = inner


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput("not JSON text: half of a surrogate pair") from None
