"""The notes of a scripted policy on its screens: the signs it saw and the requests it made."""

from collections.abc import Iterable
from typing import Final

import attrs

from logtriage.actions import (
    SEVERITIES,
    Action,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Severity,
)
from logtriage.observation import Observation, world_of
from logtriage.topology import Topology
from logtriage.world.channels import DOWN, NAMES, SPANS, named_service
from logtriage.world.model import World
from logtriage.world.vocabulary import CHANGE, LOG

_QUESTIONS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


@attrs.frozen
class Sign:
    """A sign of a service: its sort (``log``, ``cpu``, ``time``) and token.

    ``start`` is the tick at which a gauge or a trace first showed it, or the second of a line.
    """

    service: str
    sort: str
    token: str
    start: int = 0


@attrs.frozen
class Notebook:
    """Signs and requests so far.

    ``lines`` lists the first line of each service and topic, in the order in which they were read,
    ``readings`` what each gauge and span shows by now, ``alerts`` the alerts of the last screen and
    ``changes`` its feed. ``worst`` is the worst band of the edge panel, from 0 for the most
    harmless; None if it is not shown. ``noted`` is the service that the responders wrote of.
    ``failed`` lists the remedies that changed nothing, ``eased`` says that a remedy helped.
    """

    lines: tuple[Sign, ...] = ()
    readings: tuple[Sign, ...] = ()
    alerts: tuple[Sign, ...] = ()
    changes: tuple[Sign, ...] = ()
    worst: int | None = None
    asked: tuple[Action, ...] = ()
    noted: str | None = None
    failed: tuple[tuple[str, str], ...] = ()
    eased: bool = False

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst panel so far."""
        if self.worst is None:
            return None
        # Severities begin with the worst, bands with the mildest; the two mildest are P3.
        return SEVERITIES[-max(1, self.worst)]

    @property
    def complaints(self) -> tuple[Sign, ...]:
        """The signs in which a service may complain about another."""
        return tuple(sign for sign in self.signs if sign.sort == LOG or sign.sort in SPANS)

    @property
    def signs(self) -> tuple[Sign, ...]:
        """All signs of services; an alert stands for what it watches until that is read."""
        topics = {sign.service: sign for sign in self.lines}  # the last one of each service
        read = {(sign.service, sign.sort) for sign in self.readings}
        watched = (sign for sign in self.alerts if (sign.service, sign.sort) not in read)
        return (*topics.values(), *self.readings, *watched, *self.changes)

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """The (kind, service) pairs that a line named as the cause, in order."""
        naming = (line for line in self.lines if line.token.startswith(f"{NAMES}:"))
        return tuple((line.token.partition(":")[2], line.service) for line in naming)


def write_down(observation: Observation, book: Notebook) -> Notebook:
    """The notebook after another screen of a simulated incident.

    Raises:
        InvalidInput: for a screen of a recording.
    """
    world = world_of(observation)
    watched = {rule.title: rule.watches for rule in world.tokens.alert.tokens}
    band_names = tuple(world.bands)
    lines = {(sign.service, sign.token): sign for sign in book.lines}
    for line in (*observation.inspection, *observation.window):
        if line.token is not None and line.token != DOWN:
            sign = Sign(line.service, LOG, line.token, line.second)
            first = lines.setdefault((line.service, line.token), sign)
            if sign.start < first.start:
                lines[line.service, line.token] = sign
    # Once a topic began, ordinary lines are dropped.
    for service in {service for service, token in lines if token != world.ordinary[LOG]}:
        lines.pop((service, world.ordinary[LOG]), None)
    readings = {(sign.service, sign.sort): sign for sign in book.readings}
    readings |= {(sign.service, sign.sort): sign for sign in _readings(observation)}
    panel = [] if observation.edge is None else observation.edge.token.split("/")
    bands = [band_names.index(band) for band in panel]
    if book.worst is not None:
        bands.append(book.worst)
    asked = [action for action in observation.last_actions if isinstance(action, _QUESTIONS)]
    noted = [note.service for note in observation.notes if note.service is not None]
    failed = [(remedy, service) for remedy, service, helped in observation.effects if not helped]
    return Notebook(
        lines=tuple(lines.values()),
        readings=tuple(readings.values()),
        alerts=tuple(
            Sign(alert.service, watched[alert.name], _ill(world, watched[alert.name]), alert.since)
            for alert in observation.alerts
        ),
        changes=tuple(
            Sign(change.service, CHANGE, change.token)
            for change in observation.changes
            if change.token is not None
        ),
        worst=max(bands, default=None),
        asked=(*book.asked, *asked),
        noted=noted[0] if noted else book.noted,
        failed=(*book.failed, *failed),
        eased=book.eased or any(helped for _, _, helped in observation.effects),
    )


def _ill(world: World, span: str) -> str:
    """The token that an alert stands for: its half of a trace is ill by itself."""
    return world.tokens_at(span, world.tier_names[0])[1]  # token 0 is the ordinary one


def _readings(observation: Observation) -> Iterable[Sign]:
    """What each gauge and half of a trace read last shows, and since when."""
    for reading in observation.readings:
        token = reading.tokens[-1]
        if token != DOWN:
            begun = len(reading.tokens) - 1
            while begun and reading.tokens[begun - 1] == token:
                begun -= 1
            yield Sign(reading.service, reading.name, token, reading.starts[begun])


def blamed(sign: Sign, topology: Topology) -> str | None:
    """The dependency that a line or a trace complains about; None for all other signs."""
    if sign.sort != LOG and sign.sort not in SPANS:
        return None
    service = named_service(sign.token)
    return None if service is None else topology.names[service]
