"""Fields of foreign documents, which know their place: errors name file, line and field.

A document is decoded JSON, or a CSV record by column. Each property reads a field as one type, and
raises :class:`~logtriage.errors.BundleError` for any other.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final, Self, TypeVar

from logtriage._lib.jsonvalues import json_kind
from logtriage.errors import BundleError
from logtriage.recorded.importing.left_out import LeftOut

#: Whole numbers of JSON have at most 63 bits, as times in nanoseconds have until 2262.
_MOST: Final = 1 << 63
#: 9999-01-01T00:00:00Z in Unix seconds: times are before it, so that ticks can be added.
LATEST: Final = 253_370_764_800
#: (Unix times below this, units in a second): the size tells the unit, from 1973 to 5138.
_UNITS: Final = ((1e11, 1), (1e14, 10**3), (1e17, 10**6), (1e20, 10**9))
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")
_NEVER: Final = re.compile(r"0001-01-01T00:00:00(?:\.0+)?(?:Z|\+00:00)")

#: Bytes of the ids of spans and traces, which protobuf's own JSON writes in base64.
_ID_LENGTHS: Final = (8, 16)
Item = TypeVar("Item")


class Field:
    """A value with its place, ``file:line``. A missing field holds None."""

    __slots__ = ("_key", "_parent", "value", "where")

    def __init__(self, value: object, where: str) -> None:
        self.value = value
        self.where = where
        self._parent: Field | None = None
        self._key: str | int = ""

    def _child(self, key: str | int, value: object) -> Self:
        field = type(self)(value, self.where)
        field._parent, field._key = self, key
        return field

    def __getitem__(self, name: str) -> Self:
        """The field of that name; the value must be an object, or not be there."""
        return self._child(name, self.fields.get(name))

    def __contains__(self, name: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(name) is not None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of an object as they stand; none if there is no object."""
        if self.value is not None and not isinstance(self.value, dict):
            raise self.bad("an object")
        return self.value or {}

    def items(self) -> Iterator[Self]:
        """The items of a list; none if there is no list."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.bad("a list")
        for index, value in enumerate(self.value):
            yield self._child(index, value)

    def first(self, *paths: str) -> Self:
        """The first field with a value, or that of the first path; ``log.level`` may be nested."""
        for path in paths:
            if (value := self._inner(path)) is not None:
                return value
        return self[paths[0]]

    def _inner(self, path: str) -> Self | None:
        """The field with a value at a path, whose dots are part of keys or lead inside, or None."""
        if path in self:
            return self[path]
        if not isinstance(self.value, dict):
            return None
        for at, letter in enumerate(path):
            if letter == "." and path[:at] in self:
                inner = self[path[:at]]._inner(path[at + 1 :])
                if inner is not None:
                    return inner
        return None

    @property
    def text(self) -> str:
        """A string; empty if there is none."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.bad("a string")
        # JSON may hold halves of characters.
        return self.value.encode("utf-8", "replace").decode("utf-8")

    @property
    def needed(self) -> str:
        """A string that must be there and not be blank."""
        if not self.text.strip():
            raise self.bad("a string that is not empty")
        return self.text

    @property
    def whole(self) -> int | None:
        """A whole number, also in a string as protobuf writes 64 bits; None if not there."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, str) and (written := _WHOLE.fullmatch(value)):
            value = int(written[0])
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not -_MOST < value < _MOST:
            raise self.bad("a whole number of at most 63 bits, or one in a string")
        return value

    @property
    def count(self) -> int:
        """A whole number from 0 on; 0 if it is not there, as protobuf has it."""
        if (count := self.whole or 0) < 0:
            raise self.bad("a whole number from 0 on")
        return count

    @property
    def since_epoch(self) -> int | None:
        """A time since 1970 as a whole number; None if not there, or 0, which says the same."""
        since = self.whole
        if since is not None and since < 0:
            raise self.bad("a time since 1970")
        return since or None

    def needed_epoch(self, unit: str) -> int:
        """A time since 1970 that must be there; ``unit`` is for the error."""
        since = self.since_epoch
        if since is None:
            raise self.bad(f"Unix {unit}")
        return since

    @property
    def time(self) -> int | None:
        """Unix milliseconds of an ISO 8601 time with an offset; None if there is none."""
        if not self.text or _NEVER.fullmatch(self.text):
            return None
        try:
            moment = datetime.fromisoformat(self.text)
        except ValueError:
            moment = None
        if moment is None or moment.utcoffset() is None:
            raise self.bad("a time with an offset such as 2031-05-06T10:21:05Z")
        if not 0 <= moment.timestamp() < LATEST:
            raise self.bad("a time from 1970 to 9998")
        return int(moment.timestamp() * 1000)

    @property
    def needed_time(self) -> int:
        """The same as :attr:`time`, which must be there."""
        if (time := self.time) is None:
            raise self.bad("a time with an offset such as 2031-05-06T10:21:05Z")
        return time

    @property
    def moment(self) -> int:
        """Unix milliseconds of an ISO time, or of a Unix time in any unit; it must be there."""
        value = self.value
        if isinstance(value, str) and value.replace(".", "", 1).isdecimal():
            value = float(value)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return self.needed_time
        for limit, per_second in _UNITS:
            if 0 < value < limit:
                return int(value * 1000 / per_second)
        raise self.bad("Unix seconds, milliseconds, microseconds or nanoseconds")

    @property
    def flag(self) -> bool:
        """A boolean; False if it is not there."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.bad("true or false")
        return self.value

    @property
    def number(self) -> float | None:
        """A number; None if it is not there, or is not finite (``"NaN"``, ``"Infinity"``)."""
        value = self.value
        if value is None or value in ("NaN", "Infinity", "-Infinity"):
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.bad("a number")
        if not abs(value) < _MOST:
            raise self.bad("a number of at most 63 bits")
        return float(value)

    @property
    def path(self) -> str:
        """Where the value stands in its line, as ``resourceLogs[0].scopeLogs[2]``."""
        parts: list[str] = []
        field: Field = self
        while field._parent is not None:
            parts.append(f"[{field._key}]" if isinstance(field._key, int) else f".{field._key}")
            field = field._parent
        return "".join(reversed(parts)).lstrip(".")

    def bad(self, expected: str) -> BundleError:
        """The error that says what should stand here."""
        value = "nothing" if self.value is None else f"{json_kind(self.value)} {self.value!r:.60}"
        return BundleError(
            f"{self.where}: field {self.path or '(whole line)'}: must be {expected}, got {value}"
        )


def sound(
    field: Field, read: Callable[[Field], Iterable[Item]], left_out: LeftOut
) -> Iterator[Item]:
    """Yield what is read of a field; if bad input is skipped, all or nothing of it."""
    if not left_out.skips_bad:
        yield from read(field)
        return
    try:
        rows = list(read(field))
    except BundleError as error:
        left_out.bad(error, field.where)
    else:
        yield from rows


def decimal(text: str, most: int) -> Decimal | None:
    """A number with an absolute value below ``most``; None for anything else."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and value.copy_abs() < most else None


def scaled(text: str, factor: int) -> int | None:
    """A number from 0 on times a factor, rounded; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value * factor + 0.5) if 0 <= value < 1e12 else None


@lru_cache(maxsize=4096)
def plain_id(text: str) -> str:
    """The id of a trace or span in small hexadecimal letters, without leading zeros."""
    if len(text) in (12, 24) and text.endswith("="):
        try:
            content = base64.b64decode(text, validate=True)
        except binascii.Error:
            content = b""
        if len(content) in _ID_LENGTHS:
            text = content.hex()
    return text.strip().lower().lstrip("0")
