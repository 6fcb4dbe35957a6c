"""Alerts as they are sent out: notifications of Alertmanager's webhook, version 4."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import attrs

from logtriage._lib.printable import spelled
from logtriage.recorded.formats.jsonspot import Spot
from logtriage.recorded.paths import plain_name
from logtriage.recorded.records import RecordedAlert

#: The longest name of an alert, in characters.
MAX_NAME: Final = 80
#: Labels of Prometheus that may name the service, the likeliest first.
SERVICE_LABELS: Final = (
    "service",
    "service_name",
    "app_kubernetes_io_name",
    "app",
    "deployment",
    "container",
    "job",
)
#: What Go writes for no time at all.
_NEVER: Final = "0001-"
#: The year 9999 in Unix seconds: beyond it there is no time to add to.
_TOO_LATE: Final = 253_370_764_800
#: What an alert of Alertmanager may be; it fires where nothing is said.
_STATUSES: Final = ("", "firing", "resolved")


@attrs.frozen
class AlertRow:
    """An alert: fires from ``since`` until before ``until`` (None: to the end), Unix ms.

    ``services`` are names that may be its service's, the likeliest first; ``key`` tells it
    from others.
    """

    key: str
    name: str
    services: tuple[str, ...]
    since: int
    until: int | None


def is_alertmanager(spot: Spot) -> bool:
    """Whether a document is a notification of Alertmanager."""
    return "alerts" in spot and ("groupKey" in spot or "version" in spot or "receiver" in spot)


class AlertBook:
    """Collects notifications: what is sent again is the same alert, and may end it.

    ``given``: whether there were any, be it of no alert.
    """

    def __init__(self) -> None:
        self._alerts: dict[tuple[str, int], AlertRow] = {}
        self.given = False

    def alertmanager(self, spot: Spot) -> None:
        """A notification of Alertmanager's webhook.

        Raises:
            BundleError: naming file, line and field.
        """
        self.given = True
        if "version" in spot and spot["version"].value != "4":
            raise spot["version"].bad("'4', the version of Alertmanager's webhook")
        for alert in spot["alerts"].items():
            labels, since = alert["labels"], _time(alert["startsAt"])
            name = labels["alertname"].needed
            if since is None:
                raise alert["startsAt"].bad("a time with an offset")
            if alert["status"].text not in _STATUSES:
                raise alert["status"].bad("firing or resolved")
            ended = alert["status"].text == "resolved"
            until = _time(alert["endsAt"]) if ended else None
            if ended and until is None:
                raise alert["endsAt"].bad("a time with an offset, since the alert is resolved")
            if until is not None and until < since:
                raise alert["endsAt"].bad("a time that is not before startsAt")
            key = alert["fingerprint"].text or json.dumps(labels.value, sort_keys=True)
            before = self._alerts.get((key, since))
            if before is None or before.until is None:
                services = (labels[one].text for one in SERVICE_LABELS if one in labels)
                self._alerts[key, since] = AlertRow(key, name, tuple(services), since, until)

    def within(self, since: int, until: int) -> tuple[AlertRow, ...]:
        """The alerts that fire at some time in a stretch, in Unix milliseconds."""
        found = (
            row
            for row in self._alerts.values()
            if row.since < until and (row.until is None or row.until > since)
        )
        return tuple(sorted(found, key=lambda row: (row.since, row.name, row.key)))


def recorded_alerts(
    rows: Iterable[AlertRow],
    known: Iterable[str],
    *,
    opened: int,
    horizon: int,
    tick_seconds: int,
) -> tuple[tuple[RecordedAlert, ...], tuple[AlertRow, ...]]:
    """The alerts of an incident, and those of which no service of the recording is named.

    Args:
        rows: those around the incident.
        known: the services of the recording.
        opened: when tick 0 begins, in Unix milliseconds.
        horizon: ticks of the incident.
        tick_seconds: how long a tick is.
    """
    services, tick = frozenset(known), 1000 * tick_seconds
    found: dict[RecordedAlert, None] = {}
    nobodys = []
    for row in rows:
        mine = map(plain_name, row.services)
        service = next((name for name in mine if name in services), None)
        since = -((opened - row.since) // tick)  # the first tick at which it fires already
        if since > horizon:
            continue
        if service is None:
            nobodys.append(row)
            continue
        until = None if row.until is None else max(since, -((opened - row.until) // tick) - 1)
        found[RecordedAlert(service, spelled(row.name)[:MAX_NAME], since, until)] = None
    return tuple(sorted(found, key=_order)), tuple(nobodys)


def _order(alert: RecordedAlert) -> tuple[int, str, str]:
    return alert.since, alert.service, alert.name


def _time(spot: Spot) -> int | None:
    """Unix milliseconds of an RFC 3339 time; None where there is none."""
    text = spot.text
    if not text or text.startswith(_NEVER):
        return None
    try:
        moment = datetime.fromisoformat(_whole_micros(text))
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None:
        raise spot.bad("a time with an offset such as 2031-05-06T10:21:05Z")
    if not 0 <= moment.timestamp() < _TOO_LATE:
        raise spot.bad("a time from 1970 to 9998")
    return int(moment.timestamp() * 1000)


def _whole_micros(text: str) -> str:
    """Nanoseconds as Go writes them, cut to the microseconds that Python reads."""
    head, dot, rest = text.partition(".")
    if not dot:
        return text
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return f"{head}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}"


def unknown_services(rows: Iterable[AlertRow]) -> Mapping[str, int]:
    """How many alerts of each name are of no known service."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.name] = counts.get(row.name, 0) + 1
    return counts
