"""Descriptions that tell two functions apart: by their names in modules, else by code and values.

Measures of a rubric and policies of a caller are functions or callable objects. Two closures of
one factory, or two partials, share a name and do different things. So the values that they hold
are described too, down to the cells of a closure.
"""

import sys
from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput

_LRU_CACHE: Final = type(lru_cache(int))
#: Methods that attrs and dataclasses write; they follow from the fields.
_WRITTEN: Final = (
    *("__init__", "__repr__", "__eq__", "__ne__", "__hash__", "__setattr__", "__delattr__"),
    *("__getstate__", "__setstate__", "__replace__"),
)
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def description_of(function: object) -> str:
    """The names, values and code that decide what a pure function or callable object does, as text.

    A function or class of a module is described by its name; a change of its code needs a new name.
    Other functions, such as lambdas and those of a script, are described by their code, their
    defaults and the values that they close over. Objects are described by their class and all
    their fields. Code differs between minor versions of Python.

    Raises:
        InvalidInput: if a part may change, or cannot be described: a list, or a class that is
            neither frozen by attrs or dataclasses nor without fields.
    """
    return _Describer(whole=True).of(function)


def fingerprint_of(maker: object) -> str:
    """A short hash of a factory of players; it tells apart two players of the same name.

    The code counts, even if a module has it under its name. Values that may change during
    play, such as a list of screens or a connection, count by their type alone, and so do
    private fields.
    """
    return blake2b(_Describer(whole=False).of(maker).encode(), digest_size=8).hexdigest()


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _is_in_module(thing: Any) -> bool:
    """Whether the module of a function or class has it under its name."""
    known: object = sys.modules.get(getattr(thing, "__module__", None) or "")
    for part in getattr(thing, "__qualname__", "<>").split("."):
        known = getattr(known, part, None)
    return known is thing


class _Describer:
    """Describes values.

    If ``whole``, it describes or refuses every value, and names functions and classes of modules.
    If not, it describes these by their code, and values that may change by their type.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._open: list[object] = []

    def of(self, value: Any) -> str:
        """The description of a value; of a value within itself, how far out it stands."""
        for depth, outer in enumerate(reversed(self._open)):
            if outer is value:
                return f"<{depth} out>"
        self._open.append(value)
        try:
            return self._described(value)
        finally:
            self._open.pop()

    def _described(self, value: Any) -> str:
        kind = type(value)
        if kind in _PLAIN or (isinstance(value, PurePath) and kind.__module__[:7] == "pathlib"):
            return repr(value)
        match value:
            case Enum():
                return f"{_name(kind)}.{value.name}"
            case tuple() if kind is tuple:
                return f"({', '.join(map(self.of, value))})"
            case frozenset() if kind is frozenset:
                return f"{{{', '.join(sorted(map(self.of, value)))}}}"
            case FunctionType():
                return self._function(value)
            case CodeType():
                return (
                    f"{value.co_code.hex()} {self.of(value.co_consts)} {value.co_names} "
                    f"{value.co_varnames} {value.co_freevars} {value.co_argcount} "
                    f"{value.co_kwonlyargcount} {value.co_flags}"
                )
            case MethodType():
                return f"{self.of(value.__func__)} of {self.of(value.__self__)}"
            case partial() if kind is partial:
                keywords = self._named(value.keywords)
                return f"partial {self.of(value.func)} {self.of(value.args)} {keywords}"
            case type():
                return self._class(value)
            case ModuleType():
                return f"module {value.__name__}"
        if self._is_named(value):  # compiled, or wrapped as by lru_cache
            return _name(value)
        if isinstance(value, _LRU_CACHE):
            return f"{_name(kind)} of {self.of(value.__wrapped__)}"
        return self._object(value)

    def _is_named(self, thing: Any) -> bool:
        """Whether the name of a function or class says everything."""
        return self._whole and _is_in_module(thing) and thing.__module__ != "__main__"

    def _function(self, function: FunctionType) -> str:
        attributes = {name: held for name, held in vars(function).items() if name != "__wrapped__"}
        suffix = f" with {self._named(attributes)}" if attributes else ""
        if self._is_named(function):
            return f"{_name(function)}{suffix}"
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        defaults = self.of(function.__defaults__), self._named(function.__kwdefaults__ or {})
        return f"{_name(function)} {self.of(function.__code__)} {cells} {defaults}{suffix}"

    def _cell(self, cell: Any) -> str:
        try:
            held = cell.cell_contents
        except ValueError:  # of a name that is not bound yet
            return "<empty>"
        return self.of(held)

    def _class(self, kind: type) -> str:
        if kind.__module__ == "builtins" or self._is_named(kind):
            return _name(kind)
        parts: dict[str, object] = {}
        for row in reversed(kind.__mro__[:-1]):
            if row.__module__ in ("builtins", "functools", "enum", "abc", "typing"):
                continue
            written = _WRITTEN if attrs.has(row) or is_dataclass(row) else ()
            for name, value in vars(row).items():
                held = getattr(value, "fget", None) or getattr(value, "func", value)
                held = getattr(held, "__func__", held)
                is_code = isinstance(held, FunctionType) and name not in written
                if is_code or (_is_plain(held) and name[:2] != "__"):
                    parts[name] = held
        return f"{_name(kind)} {self._named(parts)}" if parts else _name(kind)

    def _object(self, value: Any) -> str:
        kind: Any = type(value)
        fields = _fields(value, whole=self._whole)
        if fields is not None:
            has_fields = attrs.has(kind) or is_dataclass(kind)
            return f"{self.of(kind)} {self._named(fields)}" if has_fields else self.of(kind)
        if self._whole:
            raise InvalidInput(
                f"{value!r:.80} cannot be told from another {kind.__name__}; use a function "
                "of a module, plain values, tuples, or a frozen attrs class"
            )
        held = getattr(value, "__dict__", {})
        plain = {name: held[name] for name in held if name[0] != "_" and _is_plain(held[name])}
        return f"{self.of(kind)} {sorted(plain.items(), key=lambda row: row[0])!r}"

    def _named(self, values: Mapping[str, object]) -> str:
        return f"{[(name, self.of(values[name])) for name in sorted(values)]}"


def _fields(value: Any, *, whole: bool) -> dict[str, object] | None:
    """The fields of an immutable object; None for others, and if it may hold more.

    A field at its default is left out, so that a new field changes no description. If not
    ``whole``, the fields by which it equals another object.
    """
    kind: Any = type(value)
    held = getattr(value, "__dict__", {}).keys()
    if attrs.has(kind):
        rows = {field.name: (field.eq, field.default) for field in attrs.fields(kind)}
    elif is_dataclass(kind):
        rows = {field.name: (field.compare, field.default) for field in dataclass_fields(kind)}
    else:
        is_empty = kind.__new__ is object.__new__ and kind.__module__ != "builtins" and not held
        slots = any("__slots__" in vars(row) for row in kind.__mro__)
        return {} if is_empty and not slots else None
    more = {name for name in held - rows.keys() if not _is_lazy(kind, name)}
    if more or kind.__hash__ is None or kind.__setattr__ is object.__setattr__:
        return None
    values = {name: getattr(value, name) for name, (counts, _) in rows.items() if counts or whole}
    return {
        name: field
        for name, field in values.items()
        if not (_is_plain(field) and repr(field) == repr(rows[name][1]))
    }


def _is_lazy(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), cached_property)


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, (*_PLAIN, PurePath))
