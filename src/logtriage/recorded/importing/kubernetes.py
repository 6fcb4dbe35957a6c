"""Events of Kubernetes as changes: rollouts, restarts, failed probes, evictions.

``kubectl get events -o json`` lists them, the API watches them (``{"type": …, "object": …}``), and
exporters write one a line, of ``v1`` or of ``events.k8s.io/v1``. The service is that of the object;
its name is known only when everything is read.
"""

from collections.abc import Iterator
from typing import Final

from logtriage._lib.printable import spelled
from logtriage.recorded.condensing.log_text import read_message
from logtriage.recorded.condensing.raw_rows import ChangeRow
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.reader import Reader

_WATCHED: Final = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
_FIRST: Final = (
    *("firstTimestamp", "deprecatedFirstTimestamp", "eventTime", "metadata.creationTimestamp"),
)
_LAST: Final = ("series.lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp")
_COUNT: Final = ("series.count", "count", "deprecatedCount")


def is_event(document: Field) -> bool:
    """Whether a document is an event."""
    return "involvedObject" in document or "regarding" in document


def is_kubernetes(document: Field) -> bool:
    """Whether a document is an event, a list of objects, or a watched object."""
    is_list = document["kind"].value in ("List", "EventList") and "apiVersion" in document
    is_watched = document["type"].value in _WATCHED and "object" in document
    return is_event(document) or is_list or is_watched


def changes_of(document: Field, reader: Reader) -> Iterator[ChangeRow]:
    """Yield events as changes of the objects that they name; what is no event is counted."""
    if not is_event(document):
        inner = (document["object"],) if "object" in document else document["items"].items()
        for item in inner:
            if is_event(item):
                yield from changes_of(item, reader)
            else:
                reader.left_out.add(
                    f"Kubernetes object {item['kind'].text or '?'!r:.40} is no event"
                )
        return
    about = document.first("involvedObject", "regarding")
    at = document.first(*_FIRST).moment
    last, count = document.first(*_LAST), document.first(*_COUNT)
    kind, name = about["kind"].text, about["name"].needed
    reason = spelled(document["reason"].text or document["type"].text or "event")
    text = document.first("message", "note").text.strip()
    place = "" if name in text else f" ({f'{kind} {name}'.strip()})"
    detail = read_message(None, f"{reason}: {text}{place}" if text else f"{reason}{place}").message
    until = at if last.value is None else max(at, last.moment)
    own = document["metadata"]
    names = (own[key].text for key in ("namespace", "name") if "name" in own)
    key = own["uid"].text or "/".join(names)
    space, times = about["namespace"].text, max(1, count.count)
    yield ChangeRow(at, name, reason, detail, until, times, key, space)
