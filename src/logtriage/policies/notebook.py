"""What a scripted policy writes down of its screens: signs, in order."""

from collections import Counter
from collections.abc import Iterable, Iterator
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
from logtriage.world.channels import DOWN, NAMES, NOTHING_READ, SPANS, named_service
from logtriage.world.vocabulary import ALERT, CHANGE, LOG

_QUESTIONS: Final = (RequestMoreLogs, RequestMetrics, RequestTraces)


@attrs.frozen
class Sign:
    """One thing that was seen at a service: its sort (``log``, ``cpu``, ``time``) and token.

    ``start`` is the tick from which it holds, for what is read from a gauge or a trace.
    """

    service: str
    sort: str
    token: str
    start: int = 0


@attrs.frozen
class Notebook:
    """What was seen and asked so far.

    ``lines`` lists every log line, ``readings`` every gauge and span once, ``alerts``
    what fires by the last screen and ``changes`` its feed. ``worst`` is the worst band
    of the edge panel, from 0 for the most harmless; None where it is not shown. ``noted`` is
    the service that the responders wrote of. ``failed`` lists the remedies that changed nothing,
    ``eased`` says that one helped. ``dark`` lists the questions of which nothing is collected.
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
    dark: tuple[Action, ...] = ()

    @property
    def severity(self) -> Severity | None:
        """The severity that the worst panel so far stands for."""
        if self.worst is None:
            return None
        # The first two bands are those of the mildest severity.
        return SEVERITIES[-max(1, self.worst)]

    @property
    def told(self) -> tuple[Sign, ...]:
        """Everything in which a service may complain of another one."""
        return tuple(one for one in self.signs if one.sort == LOG or one.sort in SPANS)

    @property
    def signs(self) -> tuple[Sign, ...]:
        """Everything that was seen at a service; signs stay, so that most readings of one count."""
        return (*_settled((*self.lines, *self.readings)), *self.alerts, *self.changes)

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """The (kind, service) pairs that a line named as the cause, in order."""
        found = (one for one in self.lines if one.token.startswith(f"{NAMES}:"))
        return tuple((one.token.partition(":")[2], one.service) for one in found)


def _settled(read: Iterable[Sign]) -> Iterator[Sign]:
    """What most readings of each sort at a service show; of equals, the latest."""
    shown: dict[tuple[str, str], list[Sign]] = {}
    for one in read:
        shown.setdefault((one.service, one.sort), []).append(one)
    for signs in shown.values():
        counts = Counter(one.token for one in signs)
        most = max(counts.values())
        yield next(one for one in reversed(signs) if counts[one.token] == most)


def write_down(observation: Observation, book: Notebook) -> Notebook:
    """The notebook after one more screen of a simulated incident.

    Raises:
        InvalidInput: for a screen of a recording.
    """
    world = world_of(observation)
    titles = {one.title: token for token, one in world.alerts.items()}
    names = tuple(world.bands)
    lines = [
        Sign(one.service, LOG, one.token, one.second)
        for one in (*observation.inspection, *observation.window)
        if one.token is not None and one.token not in NOTHING_READ
    ]
    readings = dict.fromkeys((*book.readings, *_readings(observation)))
    bands = [] if observation.edge is None else observation.edge.token.split("/")
    worst = max((names.index(band) for band in bands), default=None)
    noted = next(
        (note.service for note in observation.notes if note.service is not None), book.noted
    )
    return Notebook(
        lines=(*book.lines, *lines),
        readings=tuple(readings),
        alerts=tuple(
            Sign(alert.service, ALERT, titles[alert.name]) for alert in observation.alerts
        ),
        changes=tuple(
            Sign(one.service, CHANGE, one.token)
            for one in observation.changes
            if one.token is not None
        ),
        worst=max((one for one in (book.worst, worst) if one is not None), default=None),
        asked=(
            *book.asked,
            *(one for one in observation.last_actions if isinstance(one, _QUESTIONS)),
        ),
        noted=noted,
        failed=(
            *book.failed,
            *((remedy, service) for remedy, service, helped in observation.effects if not helped),
        ),
        eased=book.eased or any(helped for _, _, helped in observation.effects),
        dark=(*book.dark, *_dark(observation)),
    )


def _dark(observation: Observation) -> Iterator[Action]:
    """The questions of the last tick of which nothing is collected."""
    lines = {one.service for one in observation.inspection if one.token == DOWN}
    read = {one.service for one in observation.readings if set(one.tokens) == {DOWN}}
    for one in observation.last_actions:
        if isinstance(one, _QUESTIONS):
            nowhere = lines if isinstance(one, RequestMoreLogs) else read
            if one.service in nowhere:
                yield one


def _readings(observation: Observation) -> Iterable[Sign]:
    for one in observation.readings:
        for start, token in zip(one.starts, one.tokens, strict=True):
            if token not in NOTHING_READ:
                yield Sign(one.service, one.name, token, start)


def blamed(sign: Sign, topology: Topology) -> str | None:
    """The dependency that a sign complains of: a timeout in a line, calls in a trace."""
    if sign.sort != LOG and sign.sort not in SPANS:
        return None
    service = named_service(sign.token)
    return None if service is None else topology.names[service]
