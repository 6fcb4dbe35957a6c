"""Decoded JSON values: their kind in words, and whether they hold anything."""

from collections.abc import Mapping
from typing import Any


def absent(value: object) -> bool:
    """Whether a field holds nothing: None, or the NaN that tabular loaders pad with."""
    return value is None or (isinstance(value, float) and value != value)


def present(fields: Mapping[str, Any], name: str) -> Any:
    """The value of a field; None if it is missing or :func:`absent`."""
    value = fields.get(name)
    return None if absent(value) else value


def json_kind(value: object) -> str:
    """The kind of a JSON value, in words: ``an object``."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "nothing"
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something")
