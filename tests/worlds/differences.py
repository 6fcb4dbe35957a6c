"""How two worlds differ, field by field."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from logtriage.world.model import World
from logtriage.world.schema.canonical import document_of


@attrs.frozen
class Difference:
    """A field of a file that differs between two worlds.

    ``field`` is empty for a file that only one of them has; fields of fields follow a dot, and
    rows of a list are called by their names. ``before`` and ``after`` are what the files say:
    None where they say nothing, and for a ``moved`` field the names in their order.
    """

    file: str
    field: str
    before: Any
    after: Any
    moved: bool = False


def differences(before: World, after: World) -> tuple[Difference, ...]:
    """Every field that differs between two worlds."""
    left, right = document_of(before), document_of(after)
    rows: list[Difference] = []
    for file in _both(left, right):
        old, new = left.get(file), right.get(file)
        if old is None or new is None:
            rows.append(Difference(file, "", old, new))
        else:
            rows.extend(attrs.evolve(row, file=file) for row in _within("", old, new))
    return tuple(rows)


def _within(field: str, before: Any, after: Any) -> Iterator[Difference]:
    """What differs in a field that both have."""
    left, right = _rows(before), _rows(after)
    if left is None or right is None:
        if before != after:
            yield Difference("", field, before, after)
        return
    for name in _both(left, right):
        inner = name if not field else f"{field}{name}" if name[0] == "[" else f"{field}.{name}"
        if name in left and name in right:
            yield from _within(inner, left[name], right[name])
        else:
            yield Difference("", inner, left.get(name), right.get(name))
    before_order = [name for name in left if name in right]
    after_order = [name for name in right if name in left]
    if before_order != after_order:
        names = ", ".join(before_order), ", ".join(after_order)
        yield Difference("", field, names[0], names[1], moved=True)


def _rows(value: Any) -> Mapping[str, Any] | None:
    """What a table or a list of tables holds, by name; None for anything else."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        return None
    names = [row.get("name") for row in value]
    if None in names or len(set(names)) < len(names):
        return {f"[{place}]": row for place, row in enumerate(value)}
    return {str(row["name"]): {key: row[key] for key in row if key != "name"} for row in value}


def _both(left: Iterable[str], right: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*left, *right)))
