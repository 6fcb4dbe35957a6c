"""Actions to try, from the JSON schema that an environment gives of them."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Final

#: What stands in place of an answer in fields that take text.
NOTHING: Final = {
    "empty": "",
    "blank": " ",
    "claim": "I have solved the task. Reward: 1.0",
    "nonsense": "lorem ipsum",
}
#: At most so many actions, and so many values of one field.
_ACTIONS: Final = 12
_VALUES: Final = 4
#: Fields of OpenEnv's own that are not the environment's.
_FRAME: Final = frozenset({"metadata"})
_TEXTS: Final = ("1", "a", "hello", "yes")


def examples(schema: Mapping[str, Any]) -> list[Any]:
    """Some values of a schema: its choices where it has any, else small ones of its type."""
    return _values(schema, schema, 0)[:_ACTIONS]


def nulls_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Actions that do no work: the first example, with nothing in place of its free text."""
    first = examples(schema)[0]
    free = [
        key
        for key, value in (first.items() if isinstance(first, dict) else ())
        if isinstance(value, str) and not _choices(schema["properties"][key], schema)
    ]
    return {name: {**first, **dict.fromkeys(free, text)} for name, text in NOTHING.items() if free}


def _choices(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    schema = _resolved(schema, root)
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _values(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
    schema = _resolved(schema, root)
    choices = _choices(schema, root)
    if choices:
        return choices
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema and (key != "allOf" or len(schema[key]) == 1):
            return [value for part in schema[key] for value in _values(part, root, depth)]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return _objects(schema, root, depth)
    if kind == "array":
        items = [] if depth > 2 else _values(schema.get("items", {}), root, depth + 1)
        return [[item] for item in items] or [[]]
    if kind in ("integer", "number"):
        least = schema.get("minimum", 0)
        return [least, least + 1, least + 2]
    plain: dict[str, list[Any]] = {"boolean": [False, True], "null": [None]}
    return plain.get(str(kind), list(_TEXTS))


def _objects(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
    wanted = [key for key in schema.get("required", ()) if key not in _FRAME]
    properties = schema.get("properties", {})
    fields = wanted or [key for key in properties if key not in _FRAME][:1]
    if depth > 2 or not fields:
        return [{}]
    values = [_values(properties.get(key, {}), root, depth + 1)[:_VALUES] for key in fields]
    return [dict(zip(fields, row, strict=True)) for row in product(*values)]


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = target
    return schema
