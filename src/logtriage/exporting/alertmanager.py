"""Alerts as notifications of Alertmanager's webhook, version 4."""

from collections.abc import Iterable, Iterator
from datetime import UTC, timedelta
from typing import Final

from logtriage.exporting.encoding import Json, id_of
from logtriage.exporting.tape import Tape
from logtriage.world.channels import Channel
from logtriage.world.telemetry import TICK_SECONDS, Alert

_NEVER: Final = "0001-01-01T00:00:00Z"
_URL: Final = "http://alertmanager.example.org"


def notifications(tape: Tape) -> Iterator[Json]:
    """One group of all alerts, sent again whenever an alert begins or ends.

    The first one is there even if it has no alert, so that *none fired* can be told from
    *none were recorded*.
    """
    before: frozenset[Alert] | None = None
    for now, screen in tape.screens():
        cells = [one for one in screen if one.channel is Channel.ALERT]
        firing = frozenset(tape.voice.alerts(cells))
        if firing != before:
            alerts = [_alert(tape, one, None) for one in _ordered(firing)]
            alerts += [_alert(tape, one, now) for one in _ordered((before or firing) - firing)]
            yield _notification(alerts)
        before = firing


def _ordered(alerts: Iterable[Alert]) -> list[Alert]:
    return sorted(alerts, key=lambda one: (one.since, one.service, one.name))


def _notification(alerts: list[Json]) -> Json:
    firing = any(one["status"] == "firing" for one in alerts)
    labels = [set(one["labels"].items()) for one in alerts] or [set()]
    return {
        "version": "4",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": "webhook",
        "groupLabels": {},
        "commonLabels": dict(sorted(set.intersection(*labels))),
        "commonAnnotations": {},
        "externalURL": _URL,
        "alerts": alerts,
    }


def _alert(tape: Tape, alert: Alert, ended: int | None) -> Json:
    team = tape.incident.directory[tape.simulation.topology.index(alert.service)]
    return {
        "status": "firing" if ended is None else "resolved",
        "labels": {"alertname": alert.name, "service": alert.service, "team": team},
        "annotations": {"summary": f"{alert.name} at {alert.service}"},
        "startsAt": _time(tape, alert.since),
        "endsAt": _NEVER if ended is None else _time(tape, ended),
        "generatorURL": "",
        "fingerprint": id_of(tape, 16, alert.name, alert.service),
    }


def _time(tape: Tape, tick: int) -> str:
    moment = tape.opened.astimezone(UTC) + timedelta(seconds=TICK_SECONDS * tick)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
