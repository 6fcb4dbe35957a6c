"""What tells two functions apart: their names where these find them, else code and values.

Measures of a rubric and policies given by a caller are functions or callable objects. Two
closures of one factory, or two partials, share a name and do different things; so what
decides is described in full, down to the cells of a closure.
"""

import builtins
import dis
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

import attrs

from logtriage.errors import InvalidInput

_LRU_CACHE: Final = type(lru_cache(int))
#: Attributes of a class that are code and not values.
_CODE: Final = (
    *(classmethod, staticmethod, property, cached_property, FunctionType),
    *(GetSetDescriptorType, MemberDescriptorType, type(object.__init__), type(str.join)),
)
#: Methods that attrs and dataclasses write; what they do follows from the fields.
_WRITTEN: Final = (
    *("__init__", "__repr__", "__eq__", "__ne__", "__hash__", "__setattr__", "__delattr__"),
    *("__getstate__", "__setstate__", "__replace__"),
)
_PLAIN: Final = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), PurePath)


def description_of(function: object) -> str:
    """Everything that decides what a pure function or callable object does, as text.

    If a module has a function or class under its name, the description is that name and the
    attributes set on it; a change of its code needs a new name. Other functions, such as those of a
    script or a notebook, are described by their code, their defaults, the values that they close
    over and the globals that they read. Objects are described by their class and all their fields.
    Code differs between minor versions of Python.

    Raises:
        InvalidInput: if a part may change, or cannot be described: a list, or a class that is
            neither frozen by attrs or dataclasses nor without fields.
    """
    return _Whole(_refused).of(function)


def fingerprint_of(maker: object) -> str:
    """A short hash of what makes a player; tells apart two players of the same name.

    The code counts here, even if a module has it under its name. Values that may change during
    play, such as a list of what it saw or a connection, count by their type alone, and so do
    private fields.
    """
    return blake2b(_Describer(_by_type, code=True).of(maker).encode(), digest_size=8).hexdigest()


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _is_found(thing: Any) -> bool:
    """Whether the module of a function or class has it under its name."""
    found: object = sys.modules.get(getattr(thing, "__module__", None) or "")
    for part in getattr(thing, "__qualname__", "<>").split("."):
        found = getattr(found, part, None)
    return found is thing


def _refused(value: object) -> str:
    raise InvalidInput(
        f"{value!r:.80} cannot be told from another {type(value).__name__}; use a function of a "
        "module, plain values, tuples, or a frozen attrs class"
    )


def _by_type(value: object) -> str:
    """Describe a thing by its type and its plain public fields."""
    found = getattr(value, "__dict__", {})
    fields = {name: one for name, one in found.items() if name[0] != "_" and _is_plain(one)}
    return f"{_name(type(value))} {sorted(fields.items(), key=lambda row: row[0])!r}"


class _Describer:
    """Describes values; ``other`` those of which nothing is known but their type."""

    def __init__(self, other: Callable[[object], str], *, code: bool = False) -> None:
        self._other = other
        self._code = code
        self._open: list[object] = []

    def of(self, value: Any) -> str:
        """The description of a value; of one within itself, how far out it stands."""
        for depth, one in enumerate(reversed(self._open)):
            if one is value:
                return f"<{depth} out>"
        self._open.append(value)
        try:
            return self._described(value)
        finally:
            self._open.pop()

    def _described(self, value: Any) -> str:
        match value:
            case Enum():
                return f"{_name(type(value))}.{value.name}"
            case tuple() if self._is_whole(value, tuple):
                return f"({', '.join(map(self.of, value))})"
            case frozenset() if self._is_whole(value, frozenset):
                return f"{{{', '.join(sorted(map(self.of, value)))}}}"
            case FunctionType():
                return self._function(value)
            case CodeType():
                return self._code_of(value)
            case MethodType():
                return f"{self.of(value.__func__)} of {self.of(value.__self__)}"
            case partial() if self._is_whole(value, partial):
                given = self._named(value.keywords)
                return f"partial {self.of(value.func)} {self.of(value.args)} {given}"
            case type():
                return self._class(value)
            case ModuleType():
                return f"module {value.__name__}"
        if isinstance(value, _PLAIN) and self._is_whole(value, *_PLAIN):
            return repr(value)
        return self._object(value)

    def _is_whole(self, value: Any, *kinds: type) -> bool:  # noqa: ARG002
        """Whether a value is of exactly one of these kinds, and not of a subclass."""
        return True

    def _function(self, function: FunctionType) -> str:
        if _is_found(function) and not self._code:
            return _name(function)
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        defaults = self.of(function.__defaults__), self._named(function.__kwdefaults__ or {})
        return f"{_name(function)} {self.of(function.__code__)} {cells} {defaults}"

    def _cell(self, cell: Any) -> str:
        try:
            held = cell.cell_contents
        except ValueError:  # of a name that is not bound yet
            return "<empty>"
        return self.of(held)

    def _code_of(self, code: CodeType) -> str:
        return (
            f"{code.co_code.hex()} {self.of(code.co_consts)} {code.co_names} {code.co_varnames} "
            f"{code.co_freevars} {code.co_argcount} {code.co_kwonlyargcount} {code.co_flags}"
        )

    def _class(self, given: type) -> str:
        if given.__module__ == "builtins" or (_is_found(given) and not self._code):
            return _name(given)
        parts: dict[str, object] = {}
        for kind in reversed(given.__mro__[:-1]):
            for name, one in vars(kind).items():
                if name == "__hash__":  # which attrs salts anew in every process
                    continue
                held = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
                if isinstance(held, FunctionType) or (name[:2] != "__" and _is_plain(held)):
                    parts[name] = held
        return f"{_name(given)} {self._named(parts)}"

    def _object(self, value: Any) -> str:
        if hasattr(value, "__qualname__") and _is_found(value) and not self._code:
            return _name(value)  # compiled, or wrapped as by lru_cache
        if isinstance(value, _LRU_CACHE):
            return f"{_name(type(value))} of {self.of(value.__wrapped__)}"
        fields = self._fields(value)
        if fields is None:
            return f"{self.of(type(value)) if self._code else ''} {self._other(value)}"
        if not fields:  # the class says all, as the name of a function does
            return self.of(type(value))
        # A field at its default is left out, so that a new field changes no fingerprint.
        kept = {
            name: field
            for name, field in fields.items()
            if not _is_default(type(value), name, field)
        }
        return f"{self.of(type(value))} {self._named(kept)}"

    def _fields(self, value: Any) -> dict[str, object] | None:
        return _fields(value)

    def _named(self, values: Mapping[str, object]) -> str:
        return f"{[(name, self.of(values[name])) for name in sorted(values)]}"


class _Whole(_Describer):
    """Describes everything that decides what a function does, or refuses it."""

    def _is_whole(self, value: Any, *kinds: type) -> bool:
        if isinstance(value, PurePath):
            return type(value).__module__.partition(".")[0] == "pathlib"
        return type(value) in kinds

    def _function(self, function: FunctionType) -> str:
        attributes = {
            name: value for name, value in vars(function).items() if name != "__wrapped__"
        }
        suffix = f" with {self._named(attributes)}" if attributes else ""
        if _is_found(function) and function.__module__ != "__main__":
            return f"{_name(function)}{suffix}"
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        defaults = self.of(function.__defaults__), self._named(function.__kwdefaults__ or {})
        read = self._globals(function.__code__, function.__globals__)
        return (
            f"{_name(function)} {self.of(function.__code__)} {cells} {defaults} "
            f"{self._named(read)}{suffix}"
        )

    def _globals(self, code: CodeType, known: Mapping[str, object]) -> dict[str, object]:
        """The globals that code reads; for modules, the attributes that it may read."""
        read: dict[str, object] = {}
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname not in ("LOAD_GLOBAL", "LOAD_NAME") or name not in known:
                continue
            value = read[name] = known[name]
            if isinstance(value, ModuleType) and value is not builtins:
                for own in code.co_names:
                    if own in vars(value):
                        read[f"{name}.{own}"] = vars(value)[own]
        for part in code.co_consts:
            if isinstance(part, CodeType):
                read |= self._globals(part, known)
        return read

    def _class(self, given: type) -> str:
        if given.__module__ == "builtins":
            return _name(given)
        is_named = _is_found(given) and given.__module__ != "__main__"
        parts: dict[str, object] = {}
        for kind in reversed(given.__mro__[:-1]):
            if kind.__module__ in ("builtins", "functools", "enum", "abc", "typing"):
                continue
            written = attrs.has(kind) or is_dataclass(kind)
            for name, one in vars(kind).items():
                held = one.fget if isinstance(one, property) else getattr(one, "__func__", one)
                held = held.func if isinstance(held, cached_property) else held
                if isinstance(held, FunctionType):
                    if (is_named and _is_found(held)) or (written and name in _WRITTEN):
                        continue
                elif isinstance(one, _CODE) or name[:2] == "__" or name == "_abc_impl":
                    continue
                parts[name] = held
        return f"{_name(given)} {self._named(parts)}" if parts else _name(given)

    def _fields(self, value: Any) -> dict[str, object] | None:
        """All fields, also those that do not count for equality; None if it may have more."""
        kind: Any = type(value)
        rows = kind.__mro__[:-1]
        if not rows or any(map(_is_native, rows)):
            return None  # it may hold values outside of its fields
        held = set(getattr(value, "__dict__", ()))
        for row in rows:
            if "__attrs_attrs__" not in vars(row):  # their slots are fields
                held |= _slots(row)
        if not held and not attrs.has(kind):
            return {}
        if kind.__hash__ is None or kind.__eq__ is object.__eq__:
            return None
        if attrs.has(kind):
            names = {field.name for field in attrs.fields(kind)}
        elif is_dataclass(kind):
            names = {field.name for field in dataclass_fields(kind)}
        else:
            return None
        lazy = (name for row in rows for name, what in vars(row).items() if _is_lazy(what))
        if held - names - {*lazy}:
            return None
        return {name: getattr(value, name) for name in names}


def _is_native(kind: type) -> bool:
    """Whether a class is written in C.

    That is: no statement made it, it cannot be changed, or its constructor is built in.
    """
    made = kind.__flags__ & 1 << 9 and not kind.__flags__ & 1 << 8
    return not made or isinstance(vars(kind).get("__new__"), BuiltinFunctionType)


def _slots(kind: type) -> set[str]:
    slots = vars(kind).get("__slots__", ())
    return {slots} if isinstance(slots, str) else {*slots} - {"__dict__", "__weakref__"}


def _is_lazy(held: object) -> bool:
    return isinstance(held, cached_property)


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _fields(value: Any) -> dict[str, object] | None:
    """What an immutable object holds: the fields by which it equals another. None for others."""
    kind: Any = type(value)
    if not getattr(value, "__dict__", True):
        return {}
    if kind.__hash__ is None or kind.__eq__ is object.__eq__:
        return None
    if attrs.has(kind):
        names = [one.name for one in attrs.fields(kind) if one.eq]
    elif is_dataclass(kind):
        names = [one.name for one in dataclass_fields(kind) if one.compare]
    else:
        return None
    return {name: getattr(value, name) for name in names}


def _is_default(kind: Any, name: str, value: object) -> bool:
    """Whether a field of an immutable object has the default of its class."""
    listed = attrs.fields(kind) if attrs.has(kind) else dataclass_fields(kind)
    default = next(field.default for field in listed if field.name == name)
    return _is_plain(value) and _is_plain(default) and repr(value) == repr(default)
