"""Values of foreign JSON that know where they stand: errors name file, line and field."""

from collections.abc import Iterator
from typing import Final, Self

from logtriage._lib.jsonvalues import json_kind
from logtriage.errors import BundleError

#: What is kept of a number: 63 bits, as times in nanoseconds have them until 2262.
_MOST: Final = 1 << 63


class Spot:
    """A JSON value with its place; a field that is not there is a spot that holds None.

    Args:
        value: decoded JSON.
        where: ``file:line``.
    """

    __slots__ = ("_key", "_parent", "_where", "value")

    def __init__(self, value: object, where: str) -> None:
        self.value = value
        self._where = where
        self._parent: Spot | None = None
        self._key: str | int = ""

    def _at(self, key: str | int, value: object) -> Self:
        found = type(self)(value, self._where)
        found._parent, found._key = self, key
        return found

    def __getitem__(self, name: str) -> Self:
        """The field of that name; the value must be an object, or not be there."""
        if self.value is None:
            return self._at(name, None)
        if not isinstance(self.value, dict):
            raise self.bad("an object")
        return self._at(name, self.value.get(name))

    def __contains__(self, name: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(name) is not None

    def items(self) -> Iterator[Self]:
        """The items of a list; none where there is no list."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.bad("a list")
        for index, value in enumerate(self.value):
            yield self._at(index, value)

    @property
    def text(self) -> str:
        """A string; empty where there is none."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.bad("a string")
        # JSON may hold halves of characters, which are none.
        return self.value.encode("utf-8", "replace").decode("utf-8")

    @property
    def needed(self) -> str:
        """A string that must be there and say something."""
        if not self.text.strip():
            raise self.bad("a string that is not empty")
        return self.text

    @property
    def whole(self) -> int | None:
        """A whole number, also in a string as protobuf writes 64 bits; None if not there."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, str) and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            value = int(value) if len(value) <= 20 else None
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not -_MOST < value < _MOST:
            raise self.bad("a whole number of at most 63 bits, or one in a string")
        return value

    @property
    def since_epoch(self) -> int | None:
        """A time since 1970 as a whole number; None if not there, or 0, which says the same."""
        found = self.whole
        if found is not None and found < 0:
            raise self.bad("a time since 1970")
        return found or None

    @property
    def flag(self) -> bool:
        """Whether something is so; not, where nothing is said."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.bad("true or false")
        return self.value

    @property
    def number(self) -> float | None:
        """A number; None if it is not there, or is no finite one (``"NaN"``, ``"Infinity"``)."""
        value = self.value
        if value is None or value in ("NaN", "Infinity", "-Infinity"):
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.bad("a number")
        if not abs(value) < _MOST:
            raise self.bad("a number of at most 63 bits")
        return float(value)

    @property
    def where(self) -> str:
        """``file:line``."""
        return self._where

    @property
    def path(self) -> str:
        """Where the value stands in its line, as ``resourceLogs[0].scopeLogs[2]``."""
        parts: list[str] = []
        spot: Spot = self
        while spot._parent is not None:
            parts.append(f"[{spot._key}]" if isinstance(spot._key, int) else f".{spot._key}")
            spot = spot._parent
        return "".join(reversed(parts)).lstrip(".")

    def bad(self, expected: str) -> BundleError:
        """The error that says what should stand here."""
        given = "nothing" if self.value is None else f"{json_kind(self.value)} {self.value!r:.60}"
        return BundleError(
            f"{self._where}: field {self.path or '(whole line)'}: must be {expected}, got {given}"
        )
