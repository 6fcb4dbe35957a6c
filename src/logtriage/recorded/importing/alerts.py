"""Alerts as Alertmanager, Grafana, Prometheus, PagerDuty and Opsgenie send or list them.

Each reader yields the alerts of one document; :class:`AlertBook` merges several reports of an
alert, and finds its service and its ticks. Nobody may have saved the end of an alert, so each
report says until when the alert surely fired.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Final

import attrs

from logtriage._lib.printable import spelled
from logtriage.recorded.importing.answered import SERVICE_LABELS
from logtriage.recorded.importing.fields import Field
from logtriage.recorded.importing.names import (
    EXPORTERS,
    MAX_NAME,
    Names,
    named_in,
    plain_name,
    shortened,
)
from logtriage.recorded.importing.reader import Reader
from logtriage.recorded.records import RecordedAlert

_MORE_LABELS: Final = ("service.name", "component", "statefulset", "daemonset")
#: Labels of the target that was scraped.
_OF_TARGET: Final = ("service", "job")
#: Actions of Opsgenie on open alerts alone; a note may be added to a closed one.
_STILL_OPEN: Final = ("Acknowledge", "UnAcknowledge", "Snooze", "SnoozeEnded", "Escalate")


@attrs.frozen
class SentAlert:
    """An alert: fires from ``since`` until before ``until`` (None: not known), Unix ms.

    It surely fired until ``seen``. ``services`` are candidates for the name of its service, the
    likeliest first; ``pod`` runs it, in the namespace ``space``, and ``texts`` may mention it. The
    same ``key`` and ``since`` is the same alert.
    """

    key: str
    name: str
    services: tuple[str, ...]
    since: int
    until: int | None
    seen: int
    pod: str = ""
    space: str = ""
    texts: tuple[str, ...] = ()


def _listed(alerts: Iterable[SentAlert], sent: int = 0) -> Iterator[SentAlert]:
    """Yield the alerts of one document; open ones fired at its latest time, ``sent`` at least."""
    rows = list(alerts)
    latest = max([sent, *(row.seen for row in rows)])
    for row in rows:
        yield row if row.until is not None else attrs.evolve(row, seen=latest)


def _labelled(labels: Field, own: str | None = None) -> tuple[str, ...]:
    """The services that labels may name; a target that measures others lends some of its own.

    ``own`` is a label that names them before all others.
    """
    wanted = (*filter(None, (own,)), *SERVICE_LABELS, *_MORE_LABELS)
    named = {label: labels[label].text for label in wanted if label in labels}
    if any(EXPORTERS.search(named.get(label, "")) for label in _OF_TARGET):
        lent = {label for label in named if EXPORTERS.search(named[label])}
        named = {label: named[label] for label in named if label not in {*lent, *_OF_TARGET}}
    return tuple(named_in(label, text)[0] for label, text in named.items())


def webhook_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield the alerts of a notification (Alertmanager's version 4, Grafana's 1), or of a group."""
    if "version" in document and document["version"].value not in ("4", "1"):
        raise document["version"].bad("'4', of Alertmanager's webhook, or '1', of Grafana's")
    yield from _listed(labelled_alerts(document["alerts"].items(), reader))


def labelled_alerts(alerts: Iterable[Field], reader: Reader) -> Iterator[SentAlert]:
    """Yield alerts with labels, of a notification (their status is a word) or the API (an object).

    The ``endsAt`` of a notification ends an alert, even if it fires. The API gives active alerts,
    whose ``endsAt`` is when they end unless they are sent again, and silenced and inhibited alerts.
    These were not sent, and are left out.
    """
    for alert in alerts:
        status = alert["status"]
        if isinstance(status.value, dict) and status["state"].text == "suppressed":
            name = alert["labels"]["alertname"].needed
            reader.left_out.add(f"alert {name!r:.80} was silenced or inhibited")
        else:
            yield _labelled_alert(alert, reader.label)


def _labelled_alert(alert: Field, own: str | None) -> SentAlert:
    labels, since = alert["labels"], alert["startsAt"].needed_time
    status, ends = alert["status"], alert["endsAt"]
    until = None
    if isinstance(status.value, dict):
        state = status["state"]
        if state.text not in ("", "active", "unprocessed"):
            raise state.bad("active, suppressed or unprocessed")
    elif status.text not in ("", "firing", "resolved"):
        raise status.bad("firing or resolved")
    else:
        until = ends.needed_time if status.text == "resolved" else ends.time
    if until is not None and until < since:
        raise ends.bad("a time that is not before startsAt")
    seen = max(since, alert["updatedAt"].time or 0) if until is None else until
    return _of_labels(labels, since, until, seen, own, alert["fingerprint"].text)


def _of_labels(
    labels: Field, since: int, until: int | None, seen: int, own: str | None, key: str = ""
) -> SentAlert:
    prefix = "exported_" if "exported_namespace" in labels else ""
    key = key or json.dumps(labels.value, sort_keys=True)  # all its labels tell an alert apart
    name, services = labels["alertname"].needed, _labelled(labels, own)
    pod, space = labels["pod"].text, labels[f"{prefix}namespace"].text
    return SentAlert(key, name, services, since, until, seen, pod=pod, space=space)


def prometheus_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield the alerts that fire; other alerts are counted and left out."""
    data = document["data"]
    if isinstance(data.value, list):
        yield from _listed(labelled_alerts(data.items(), reader))
        return
    rules = [rule for group in data["groups"].items() for rule in group["rules"].items()]
    alerts = [*data["alerts"].items(), *(row for rule in rules for row in rule["alerts"].items())]
    times = [rule["lastEvaluation"].time or 0 for rule in rules]
    firing = list[SentAlert]()
    for alert in alerts:
        labels, state = alert["labels"], alert["state"].text
        if state not in ("firing", "pending", "inactive"):
            raise alert["state"].bad("firing, pending or inactive")
        name, since = labels["alertname"].needed, alert["activeAt"].needed_time
        times.append(since)
        if state == "firing":
            firing.append(_of_labels(labels, since, None, since, reader.label))
        else:
            reader.left_out.add(f"alert {name!r:.80} does not fire, it is {state}")
    yield from _listed(firing, max(times, default=0))


def pagerduty_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield a document's incidents as alerts; an event about no incident is counted, left out."""
    event = document["event"]
    if event.value is not None:
        about = event["data"]
        kind = event["event_type"].needed
        if about["created_at"].value is None or not kind.startswith("incident."):
            reader.left_out.add(f"PagerDuty's event {kind!r:.40} opens or ends no incident")
            return
        yield _incident(about, event["occurred_at"])
    for message in document["messages"].items():
        is_over = message["event"].value == "incident.resolve"
        yield _incident(message["incident"], message["created_on"], is_over=is_over)
    yield from _listed(
        _incident(about, about.first("resolved_at", "last_status_change_at"))
        for about in document["incidents"].items()
    )


def _incident(about: Field, at: Field, *, is_over: bool = False) -> SentAlert:
    """An incident of PagerDuty as its status was ``at`` a time."""
    title, service = about.first("title", "summary", "description"), about["service"]
    names = tuple(filter(None, (service["summary"].text, service["name"].text)))
    since = about["created_at"].needed_time
    until, seen = _end_and_seen(at, since, is_over=is_over or about["status"].text == "resolved")
    key, texts = about["id"].needed, (*names, title.text)
    return SentAlert(key, title.needed, names, since, until, seen, texts=texts)


def _end_and_seen(at: Field, since: int, *, is_over: bool) -> tuple[int | None, int]:
    """(end or None, last time at which it surely fired) of an alert that is open or over ``at``."""
    if not is_over:
        return None, since if at.value is None else max(since, at.moment)
    if (until := at.moment) < since:
        raise at.bad("a time that is not before the alert's beginning")
    return until, since


def opsgenie_alerts(document: Field, reader: Reader) -> Iterator[SentAlert]:
    """Yield the alerts of a document; closing or deleting an alert ends it."""
    if isinstance(document["data"].value, list):
        yield from _listed(
            _opsgenie(alert, alert["updatedAt"], reader, is_over=alert["status"].text == "closed")
            for alert in document["data"].items()
        )
        return
    alert, action = document["alert"], document["action"].text
    is_over = action in ("Close", "Delete")
    at = alert["updatedAt" if is_over or action in _STILL_OPEN else "createdAt"]
    yield _opsgenie(alert, at, reader, is_over=is_over)


def _opsgenie(alert: Field, at: Field, reader: Reader, *, is_over: bool) -> SentAlert:
    message, since = alert["message"], alert["createdAt"].moment
    took = alert.first("report.closeTime").whole  # from its beginning, in milliseconds
    until, seen = (since + took, since) if took else _end_and_seen(at, since, is_over=is_over)
    details = alert["details"]
    tags = tuple(tag.text.removeprefix("service:") for tag in alert["tags"].items())
    labels = _labelled(details, reader.label) if isinstance(details.value, dict) else ()
    services = (*labels, *filter(None, (alert["entity"].text, *tags)))
    texts = (message.text, alert["alias"].text, alert["description"].text)
    key = alert.first("alertId", "id").needed
    return SentAlert(key, message.needed, services, since, until, seen, texts=texts)


class AlertBook:
    """Collects alerts; an alert may be sent several times, and the last time with its end."""

    def __init__(self) -> None:
        self._alerts: dict[tuple[str, int], SentAlert] = {}

    def add(self, alert: SentAlert) -> None:
        """Keep an alert; of several reports, with the first end at which it no longer fired."""
        before = self._alerts.get((alert.key, alert.since), alert)
        seen = max(before.seen, alert.seen)
        ends = [end for end in (before.until, alert.until) if end is not None and end >= seen]
        merged = attrs.evolve(alert, until=min(ends, default=None), seen=seen)
        self._alerts[alert.key, alert.since] = merged

    def settle(self, names: Names) -> None:
        """Give the services of all alerts their final names; that of a pod comes last."""
        for key, alert in self._alerts.items():
            services = [names.settled(service, alert.space) for service in alert.services]
            if alert.pod and (owner := names.owner(alert.pod, alert.space)) is not None:
                services.append(owner)
            self._alerts[key] = attrs.evolve(alert, services=tuple(services))

    def recorded(
        self, known: Collection[str], opened: int, around: int, horizon: int, tick_seconds: int
    ) -> tuple[tuple[RecordedAlert, ...], Counter[str], int]:
        """(alerts of an incident, counts by name of those of no ``known`` service, open ones).

        Tick 0 begins at ``opened``, in Unix milliseconds. An alert is of the incident if it began
        within the horizon, and surely fired at most ``around`` milliseconds before tick 0, or
        later. The last number counts alerts that began earlier and are left out without an end.
        """
        tick = 1000 * tick_seconds
        alerts: set[RecordedAlert] = set()
        unknown: Counter[str] = Counter()
        stale = 0
        for row in sorted(self._alerts.values(), key=lambda row: (row.since, row.name, row.key)):
            since = -((opened - row.since) // tick)  # rounded up: the first tick at which it fires
            if row.since >= opened + around or since > horizon:
                continue
            if (row.seen if row.until is None else row.until) <= opened - around:
                stale += row.until is None
                continue
            service = _service_of(row, known)
            if service is None:
                unknown[row.name] += 1
                continue
            # At its end it fires no longer.
            until = None if row.until is None else max(since, -((opened - row.until) // tick) - 1)
            name = shortened(spelled(row.name), MAX_NAME)
            alerts.add(RecordedAlert(service, name, since, until))
        order = sorted(alerts, key=lambda alert: (alert.since, alert.service, alert.name))
        return tuple(order), unknown, stale


def _service_of(alert: SentAlert, known: Collection[str]) -> str | None:
    """The known service that an alert names, in any letter case, or mentions in its text."""
    # Of names that differ in case alone, the first in order counts.
    folded = {name.casefold(): name for name in sorted(known, reverse=True)}
    names = [plain_name(name) for name in alert.services]
    exact = (name for name in names if name in known)
    alike = (folded[name.casefold()] for name in names if name.casefold() in folded)
    longest = sorted(folded, key=len, reverse=True)
    mentioned = (
        folded[service]
        for text in alert.texts
        for service in longest
        if re.search(rf"(?<![\w-]){re.escape(service)}(?![\w-])", text.casefold())
    )
    return next(chain(exact, alike, mentioned), None)
