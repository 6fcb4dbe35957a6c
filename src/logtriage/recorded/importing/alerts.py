"""Alerts as they are sent out: notifications of Alertmanager's webhook, version 4."""

import json
from collections import Counter
from collections.abc import Collection
from typing import Final

import attrs

from logtriage._lib.printable import spelled
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.service_names import plain_name
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


@attrs.frozen
class _Alert:
    """An alert: fires from ``since`` until before ``until`` (None: to the end), Unix ms.

    ``services`` are candidates for the name of its service, the likeliest first.
    """

    key: str
    name: str
    services: tuple[str, ...]
    since: int
    until: int | None


def is_alertmanager(spot: Field) -> bool:
    """Whether a document is a notification of Alertmanager."""
    return "alerts" in spot and any(name in spot for name in ("groupKey", "version", "receiver"))


class AlertBook:
    """Collects notifications: an alert that is sent again is the same alert, and may end it."""

    def __init__(self) -> None:
        self._alerts: dict[tuple[str, int], _Alert] = {}
        #: Whether there was any notification, even without an alert.
        self.has_any = False

    def read(self, spot: Field) -> None:
        """Read a notification of Alertmanager's webhook.

        Raises:
            BundleError: naming file, line and field.
        """
        self.has_any = True
        if "version" in spot and spot["version"].value != "4":
            raise spot["version"].bad("'4', the version of Alertmanager's webhook")
        for alert in spot["alerts"].items():
            labels, since = alert["labels"], alert["startsAt"].needed_time
            name, status = labels["alertname"].needed, alert["status"].text
            if status not in ("", "firing", "resolved"):
                raise alert["status"].bad("firing or resolved")
            until = alert["endsAt"].needed_time if status == "resolved" else None
            if until is not None and until < since:
                raise alert["endsAt"].bad("a time that is not before startsAt")
            key = alert["fingerprint"].text or json.dumps(labels.value, sort_keys=True)
            before = self._alerts.get((key, since))
            if before is None or before.until is None:
                services = tuple(labels[label].text for label in SERVICE_LABELS if label in labels)
                self._alerts[key, since] = _Alert(key, name, services, since, until)

    def recorded(
        self, known: Collection[str], opened: int, around: int, horizon: int, tick_seconds: int
    ) -> tuple[tuple[RecordedAlert, ...], Counter[str]]:
        """The alerts of an incident, and the names of alerts that name none of its services.

        Args:
            known: the services of the recording.
            opened: when tick 0 begins, in Unix milliseconds.
            around: how far from it an alert may fire, in milliseconds.
            horizon: ticks of the incident.
            tick_seconds: how long a tick is.
        """
        tick = 1000 * tick_seconds
        alerts: set[RecordedAlert] = set()
        unknown: Counter[str] = Counter()
        for row in sorted(self._alerts.values(), key=lambda row: (row.since, row.name, row.key)):
            since = -((opened - row.since) // tick)  # the first tick at which it fires already
            over = row.until is not None and row.until <= opened - around
            if over or row.since >= opened + around or since > horizon:
                continue
            service = next((name for name in map(plain_name, row.services) if name in known), None)
            if service is None:
                unknown[row.name] += 1
                continue
            until = None if row.until is None else max(since, -((opened - row.until) // tick) - 1)
            alerts.add(RecordedAlert(service, spelled(row.name)[:MAX_NAME], since, until))
        order = sorted(alerts, key=lambda alert: (alert.since, alert.service, alert.name))
        return tuple(order), unknown
