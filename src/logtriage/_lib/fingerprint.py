"""Descriptions that tell two functions apart: by their names in modules, else by code and values.

Measures of a rubric and policies of a caller are functions or callable objects. Two closures of
one factory, or two partials, share a name and do different things. So everything that decides is
described in full, down to the cells of a closure.
"""

import builtins
import dis
import sys
from collections.abc import Mapping
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
#: Methods that attrs and dataclasses write; they follow from the fields.
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


def _is_found(thing: Any) -> bool:
    """Whether the module of a function or class has it under its name."""
    known: object = sys.modules.get(getattr(thing, "__module__", None) or "")
    for part in getattr(thing, "__qualname__", "<>").split("."):
        known = getattr(known, part, None)
    return known is thing


class _Describer:
    """Describes values.

    If ``whole``, it describes or refuses everything that decides what a function does, and names
    functions and classes of modules. If not, it describes these by their code, and values that may
    change by their type.
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
        match value:
            case Enum():
                return f"{_name(type(value))}.{value.name}"
            case tuple() if self._is(value, tuple):
                return f"({', '.join(map(self.of, value))})"
            case frozenset() if self._is(value, frozenset):
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
            case partial() if self._is(value, partial):
                keywords = self._named(value.keywords)
                return f"partial {self.of(value.func)} {self.of(value.args)} {keywords}"
            case type():
                return self._class(value)
            case ModuleType():
                return f"module {value.__name__}"
        if isinstance(value, _PLAIN) and (self._is(value, *_PLAIN) or _is_path(value)):
            return repr(value)
        return self._object(value)

    def _is(self, value: Any, *kinds: type) -> bool:
        """Whether a value is of one of these kinds; if ``whole``, of no subclass."""
        return type(value) in kinds or not self._whole

    def _is_named(self, thing: Any) -> bool:
        """Whether the name of a function or class says everything."""
        return self._whole and _is_found(thing) and thing.__module__ != "__main__"

    def _function(self, function: FunctionType) -> str:
        attributes = {name: held for name, held in vars(function).items() if name != "__wrapped__"}
        suffix = f" with {self._named(attributes)}" if attributes else ""
        if self._is_named(function):
            return f"{_name(function)}{suffix}"
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        defaults = self.of(function.__defaults__), self._named(function.__kwdefaults__ or {})
        # Of a player, the globals would be the whole program.
        read = _globals(function.__code__, function.__globals__) if self._whole else {}
        return (
            f"{_name(function)} {self.of(function.__code__)} {cells} {defaults} "
            f"{self._named(read)}{suffix}"
        )

    def _cell(self, cell: Any) -> str:
        try:
            held = cell.cell_contents
        except ValueError:  # of a name that is not bound yet
            return "<empty>"
        return self.of(held)

    def _class(self, kind: type) -> str:
        if kind.__module__ == "builtins":
            return _name(kind)
        is_named = self._is_named(kind)
        parts: dict[str, object] = {}
        for row in reversed(kind.__mro__[:-1]):
            if row.__module__ in ("builtins", "functools", "enum", "abc", "typing"):
                continue
            written = attrs.has(row) or is_dataclass(row)
            for name, value in vars(row).items():
                held = value.fget if isinstance(value, property) else value
                held = held.func if isinstance(held, cached_property) else held
                held = getattr(held, "__func__", held)
                if isinstance(held, FunctionType):
                    if (is_named and _is_found(held)) or (written and name in _WRITTEN):
                        continue
                elif isinstance(value, _CODE) or name[:2] == "__" or name == "_abc_impl":
                    continue
                parts[name] = held
        return f"{_name(kind)} {self._named(parts)}" if parts else _name(kind)

    def _object(self, value: Any) -> str:
        if self._whole and hasattr(value, "__qualname__") and _is_found(value):
            return _name(value)  # compiled, or wrapped as by lru_cache
        if isinstance(value, _LRU_CACHE):
            return f"{_name(type(value))} of {self.of(value.__wrapped__)}"
        fields = self._fields(value)
        if fields is None:
            return self._other(value)
        # A field at its default is left out, so that a new field changes no description.
        kept = {
            name: field
            for name, field in fields.items()
            if not _is_default(type(value), name, field)
        }
        return f"{self.of(type(value))} {self._named(kept)}" if fields else self.of(type(value))

    def _other(self, value: Any) -> str:
        """A value with unknown content: its type and its plain public fields.

        Raises:
            InvalidInput: if ``whole``.
        """
        if self._whole:
            raise InvalidInput(
                f"{value!r:.80} cannot be told from another {type(value).__name__}; use a function "
                "of a module, plain values, tuples, or a frozen attrs class"
            )
        held = getattr(value, "__dict__", {})
        fields = {name: held[name] for name in held if name[0] != "_" and _is_plain(held[name])}
        return f"{self.of(type(value))} {sorted(fields.items(), key=lambda row: row[0])!r}"

    def _fields(self, value: Any) -> dict[str, object] | None:
        """The fields of an immutable object; None for others, and if it may hold more.

        If not ``whole``, the fields by which it equals another object.
        """
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
            compared = {field.name: field.eq for field in attrs.fields(kind)}
        elif is_dataclass(kind):
            compared = {field.name: field.compare for field in dataclass_fields(kind)}
        else:
            return None
        lazy = {
            name
            for row in rows
            for name in vars(row)
            if isinstance(vars(row)[name], cached_property)
        }
        if held - compared.keys() - lazy:
            return None
        names = (name for name, counts in compared.items() if counts or self._whole)
        return {name: getattr(value, name) for name in names}

    def _named(self, values: Mapping[str, object]) -> str:
        return f"{[(name, self.of(values[name])) for name in sorted(values)]}"


def _globals(code: CodeType, known: Mapping[str, object]) -> dict[str, object]:
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
            read |= _globals(part, known)
    return read


def _is_path(value: object) -> bool:
    return isinstance(value, PurePath) and type(value).__module__.partition(".")[0] == "pathlib"


def _is_native(kind: type) -> bool:
    """Whether a class is written in C.

    That is: no statement made it, it cannot be changed, or its constructor is built in.
    """
    made = kind.__flags__ & 1 << 9 and not kind.__flags__ & 1 << 8
    return not made or isinstance(vars(kind).get("__new__"), BuiltinFunctionType)


def _slots(kind: type) -> set[str]:
    slots = vars(kind).get("__slots__", ())
    return {slots} if isinstance(slots, str) else {*slots} - {"__dict__", "__weakref__"}


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _is_default(kind: Any, name: str, value: object) -> bool:
    """Whether a field of an immutable object has the default of its class."""
    listed = attrs.fields(kind) if attrs.has(kind) else dataclass_fields(kind)
    default = next(field.default for field in listed if field.name == name)
    return _is_plain(value) and _is_plain(default) and repr(value) == repr(default)
