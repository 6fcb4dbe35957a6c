"""Write TOML, as in the files of a world's folder."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(said: Mapping[str, Any]) -> str:
    """The data of a file as TOML; each table in a list stands on its own line."""
    return "\n".join(_lines(said)) + "\n"


def _lines(said: Mapping[str, Any]) -> Iterator[str]:
    # Tables come last: every key below the header of a table is a key of that table.
    for key, value in said.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{_key(key)} = ["
            yield from (f"  {_value(row)}," for row in value)
            yield "]"
        elif not isinstance(value, Mapping):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in said.items():
        if isinstance(value, Mapping):
            yield ""
            yield f"[{_key(key)}]"
            yield from (f"{_key(name)} = {_value(inner)}" for name, inner in value.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    match value:
        case Mapping():
            rows = (f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
            return f"{{ {', '.join(rows)} }}" if value else "{}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
    # A string, a whole number or a truth value; TOML writes them as JSON does, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
