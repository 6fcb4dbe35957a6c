"""The shapes of OTLP in JSON: resources, attributes, ids."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, Final

from logtriage.exporting.tape import Tape

#: JSON as OTLP has it.
Json = dict[str, Any]
SCOPE: Final[Json] = {"name": "logtriage", "version": version("logtriage")}


def attributes(found: Mapping[str, str | int | float]) -> list[Json]:
    """Attributes in their encoding."""
    return [{"key": key, "value": _value(value)} for key, value in found.items()]


def _value(value: str | int | float) -> Json:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}


def by_resource(tape: Tape, rows: Iterable[tuple[int, Json]], kind: str, items: str) -> Json | None:
    """One line of a file: items of services, each below its resource; None without any.

    Args:
        tape: whose services they are.
        rows: index of a service, and an item.
        kind: ``Logs``, ``Spans`` or ``Metrics``.
        items: what a scope calls its items, such as ``logRecords``.
    """
    found: dict[int, list[Json]] = {}
    for service, item in rows:
        found.setdefault(service, []).append(item)
    if not found:
        return None
    return {
        f"resource{kind}": [
            {
                "resource": {
                    "attributes": attributes(
                        {
                            "service.name": tape.names[service],
                            "service.owner": tape.incident.directory[service],
                        }
                    )
                },
                f"scope{kind}": [{"scope": SCOPE, items: found[service]}],
            }
            for service in sorted(found)
        ]
    }


def id_of(tape: Tape, digits: int, *parts: object) -> str:
    """A hexadecimal id of that many digits, the same for the same parts; never all zeros."""
    text = "/".join(map(str, (tape.incident.id, *parts)))
    return blake2b(text.encode(), digest_size=digits // 2).hexdigest()
