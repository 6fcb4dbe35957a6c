"""Alerts as notifications of Alertmanager's webhook, version 4."""

from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any, Final

from logtriage.exporting.tape import Tape
from logtriage.world.channels import Channel
from logtriage.world.telemetry import TICK_SECONDS, Alert

_NEVER: Final = "0001-01-01T00:00:00Z"  # Alertmanager's end of an alert that fires


def notifications(tape: Tape) -> Iterator[dict[str, Any]]:
    """Notifications of one group with all alerts, one whenever an alert begins or ends.

    The first comes even without alerts: *none fired* differs from *none were recorded*.
    """
    before: frozenset[Alert] | None = None  # differs from every set, so the first screen is sent
    for now, screen in tape.screens():
        cells = [cell for cell in screen if cell.channel is Channel.ALERT]
        firing = frozenset(tape.voice.alerts(cells))
        if firing != before:
            alerts = [_alert(tape, alert, ended=None) for alert in sorted(firing, key=_order)]
            ended = sorted((before or firing) - firing, key=_order)
            alerts += (_alert(tape, alert, ended=now) for alert in ended)
            labels = [set(alert["labels"].items()) for alert in alerts]
            common = set.intersection(*labels) if labels else set()
            yield {
                "version": "4",
                "groupKey": "{}:{}",
                "truncatedAlerts": 0,
                "status": "firing" if firing else "resolved",
                "receiver": "webhook",
                "groupLabels": {},
                "commonLabels": dict(sorted(common)),
                "commonAnnotations": {},
                "externalURL": "http://alertmanager.example.org",
                "alerts": alerts,
            }
        before = firing


def _order(alert: Alert) -> tuple[int, str, str]:
    return alert.since, alert.service, alert.name


def _alert(tape: Tape, alert: Alert, ended: int | None) -> dict[str, Any]:
    """An alert of a notification; ``ended`` is the tick at which it no longer fires, or None."""
    team = tape.incident.directory[tape.simulation.topology.index(alert.service)]
    return {
        "status": "firing" if ended is None else "resolved",
        "labels": {"alertname": alert.name, "service": alert.service, "team": team},
        "annotations": {"summary": f"{alert.name} at {alert.service}"},
        "startsAt": _time(tape, alert.since),
        "endsAt": _NEVER if ended is None else _time(tape, ended),
        "generatorURL": "",
        "fingerprint": tape.hex_id(16, alert.name, alert.service),
    }


def _time(tape: Tape, tick: int) -> str:
    moment = tape.opened.astimezone(UTC) + timedelta(seconds=TICK_SECONDS * tick)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
