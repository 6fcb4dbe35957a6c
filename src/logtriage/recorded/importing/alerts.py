"""Alerts as Alertmanager, Grafana, Prometheus, PagerDuty and Opsgenie send or list them.

Each reader yields the alerts of one document; :class:`AlertBook` merges several reports of an
alert, and finds its service and its ticks.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

import attrs

from logtriage._lib.printable import spelled
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.names import plain_name, shortened
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.records import RecordedAlert

MAX_NAME: Final = 80
#: Labels that may name the service, the likeliest first. If there is also a label with the prefix
#: ``exported_``, that is the metric's own, and the plain label names the target that was scraped.
_LABELS: Final = (
    *("service", "service_name", "app_kubernetes_io_name", "app", "deployment", "container", "job"),
)
SERVICE_LABELS: Final = (*(f"exported_{label}" for label in _LABELS), *_LABELS)
_MORE_LABELS: Final = ("service.name", "component", "statefulset", "daemonset")


@attrs.frozen
class SentAlert:
    """An alert: fires from ``since`` until before ``until`` (None: to the end), Unix ms.

    ``services`` are candidates for the name of its service, the likeliest first; ``pod`` runs it,
    and ``texts`` may mention it. The same ``key`` and ``since`` is the same alert.
    """

    key: str
    name: str
    services: tuple[str, ...]
    since: int
    until: int | None
    pod: str = ""
    texts: tuple[str, ...] = ()


def _labelled(labels: Field) -> tuple[str, ...]:
    wanted = (*SERVICE_LABELS, *_MORE_LABELS)
    return tuple(labels[label].text for label in wanted if label in labels)


def is_webhook(document: Field) -> bool:
    """Whether a document is a notification of Alertmanager or Grafana, or a group of alerts."""
    return "alerts" in document and any(
        name in document for name in ("groupKey", "version", "receiver", "orgId")
    )


def webhook_alerts(document: Field, _: Reader) -> Iterator[SentAlert]:
    """Yield the alerts of a notification (Alertmanager's version 4, Grafana's 1), or of a group."""
    if "version" in document and document["version"].value not in ("4", "1"):
        raise document["version"].bad("'4', of Alertmanager's webhook, or '1', of Grafana's")
    for alert in document["alerts"].items():
        yield labelled_alert(alert)


def labelled_alert(alert: Field) -> SentAlert:
    """An alert with labels, of a notification (its status is a word) or of the API (an object).

    The API gives active alerts, whose ``endsAt`` is when they end unless they are sent again.
    """
    labels, since = alert["labels"], alert["startsAt"].needed_time
    name, status = labels["alertname"].needed, alert["status"]
    if isinstance(status.value, dict):
        state = status["state"]
        if state.text not in ("", "active", "suppressed", "unprocessed"):
            raise state.bad("active, suppressed or unprocessed")
    elif status.text not in ("", "firing", "resolved"):
        raise status.bad("firing or resolved")
    until = alert["endsAt"].needed_time if status.value == "resolved" else None
    if until is not None and until < since:
        raise alert["endsAt"].bad("a time that is not before startsAt")
    key = alert["fingerprint"].text or json.dumps(labels.value, sort_keys=True)
    return SentAlert(key, name, _labelled(labels), since, until, labels["pod"].text)


def prometheus_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield the alerts that fire; other alerts are counted and left out."""
    data = document["data"]
    if isinstance(data.value, list):
        yield from map(labelled_alert, data.items())
        return
    alerts = list(data["alerts"].items())
    for group in data["groups"].items():
        alerts += (alert for rule in group["rules"].items() for alert in rule["alerts"].items())
    for alert in alerts:
        labels, state = alert["labels"], alert["state"].text
        if state not in ("firing", "pending", "inactive"):
            raise alert["state"].bad("firing, pending or inactive")
        name, since = labels["alertname"].needed, alert["activeAt"].needed_time
        if state == "firing":
            key = json.dumps(labels.value, sort_keys=True)
            yield SentAlert(key, name, _labelled(labels), since, None, labels["pod"].text)
        else:
            reader.left_out.add(f"alert {name!r:.80} does not fire, it is {state}")


def is_pagerduty(document: Field) -> bool:
    """Whether a document is a webhook of PagerDuty (V3 or V2), or a list of its incidents."""
    lists = (("messages", "incident"), ("incidents", "created_at"))
    listed = (
        isinstance(document[name].value, list) and all(key in row for row in document[name].items())
        for name, key in lists
        if name in document
    )
    return "event_type" in document["event"] or any(listed)


def pagerduty_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield a document's incidents as alerts; an event about no incident is counted, left out."""
    event = document["event"]
    if event.value is not None:
        about = event["data"]
        kind = event["event_type"].needed
        if about["created_at"].value is None or not kind.startswith("incident."):
            reader.left_out.add(f"PagerDuty's event {kind!r:.40} opens or ends no incident")
            return
        ended = event["occurred_at"] if about["status"].text == "resolved" else None
        yield _incident(about, ended)
    for message in document["messages"].items():
        about, inner = message["incident"], message["event"]
        kind = inner.text if isinstance(inner.value, str) else ""
        ended = message["created_on"] if kind == "incident.resolve" else None
        yield _incident(about, ended)
    for about in document["incidents"].items():
        over = about.first("resolved_at", "last_status_change_at")
        yield _incident(about, over if about["status"].text == "resolved" else None)


def _incident(about: Field, ended: Field | None) -> SentAlert:
    title, service = about.first("title", "summary", "description"), about["service"]
    names = tuple(filter(None, (service["summary"].text, service["name"].text)))
    since = about["created_at"].needed_time
    until = None if ended is None else _end(ended, since)
    return SentAlert(
        about["id"].needed, title.needed, names, since, until, "", (*names, title.text)
    )


def _end(ended: Field, since: int) -> int:
    if (until := ended.moment) < since:
        raise ended.bad("a time that is not before the alert's beginning")
    return until


def opsgenie_alerts(document: Field, _: Reader) -> Iterator[SentAlert]:
    """Yield the alerts of a document; closing or deleting an alert ends it."""
    if isinstance(document["data"].value, list):
        for alert in document["data"].items():
            over = alert.first("report.closeTime", "updatedAt")
            yield _opsgenie(alert, over if alert["status"].text == "closed" else None)
        return
    alert, is_over = document["alert"], document["action"].text in ("Close", "Delete")
    yield _opsgenie(alert, alert["updatedAt"] if is_over else None)


def _opsgenie(alert: Field, ended: Field | None) -> SentAlert:
    message, since = alert["message"], alert["createdAt"].moment
    until = None if ended is None else _end(ended, since)
    details = alert["details"] if isinstance(alert["details"].value, dict) else alert["none"]
    tags = tuple(tag.text.removeprefix("service:") for tag in alert["tags"].items())
    services = (*_labelled(details), *filter(None, (alert["entity"].text, *tags)))
    texts = (message.text, alert["alias"].text, alert["description"].text)
    key = alert.first("alertId", "id").needed
    return SentAlert(key, message.needed, services, since, until, "", texts)


class AlertBook:
    """Collects alerts; an alert may be sent several times, and the last time with its end."""

    def __init__(self) -> None:
        self._alerts: dict[tuple[str, int], SentAlert] = {}

    def add(self, alert: SentAlert) -> None:
        """Keep an alert, unless its end is known already."""
        before = self._alerts.get((alert.key, alert.since))
        if before is None or before.until is None:
            self._alerts[alert.key, alert.since] = alert

    def recorded(
        self, known: Collection[str], opened: int, around: int, horizon: int, tick_seconds: int
    ) -> tuple[tuple[RecordedAlert, ...], Counter[str]]:
        """(alerts of an incident, counts by name of the alerts that name no ``known`` service).

        Tick 0 begins at ``opened``, in Unix milliseconds. Only alerts that fire at most ``around``
        milliseconds from it, and begin within the horizon, are of the incident.
        """
        tick = 1000 * tick_seconds
        alerts: set[RecordedAlert] = set()
        unknown: Counter[str] = Counter()
        for row in sorted(self._alerts.values(), key=lambda row: (row.since, row.name, row.key)):
            since = -((opened - row.since) // tick)  # the first tick at which it fires already
            over = row.until is not None and row.until <= opened - around
            if over or row.since >= opened + around or since > horizon:
                continue
            service = _service_of(row, known)
            if service is None:
                unknown[row.name] += 1
                continue
            until = None if row.until is None else max(since, -((opened - row.until) // tick) - 1)
            name = shortened(spelled(row.name), MAX_NAME)
            alerts.add(RecordedAlert(service, name, since, until))
        order = sorted(alerts, key=lambda alert: (alert.since, alert.service, alert.name))
        return tuple(order), unknown


def _service_of(alert: SentAlert, known: Collection[str]) -> str | None:
    """The service that an alert names: exactly, in another case, as a pod, or in its text."""
    folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    names = [plain_name(name) for name in alert.services]
    for name in names:
        if name in known:
            return name
    for name in map(str.casefold, names):
        if name in folded:
            return folded[name]
    longest = sorted(folded, key=len, reverse=True)
    pod = alert.pod.casefold()
    starts = (service for service in longest if pod.startswith(f"{service}-"))
    texts = (
        service
        for text in alert.texts
        for service in longest
        if re.search(rf"(?<![\w-]){re.escape(service)}(?![\w-])", text.casefold())
    )
    label = next(starts, None) or next(texts, None)
    return None if label is None else folded[label]
