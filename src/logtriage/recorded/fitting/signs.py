"""The tokens of a recording: the figures of each service in the words of a world.

A figure strays from :data:`STRAYS` spreads of its fault-free baseline on. Neither the truth nor
the moment of the injection is read. Alerts are left out, since they were computed from the same
figures. Names follow the shipped world ``oncall``; gauge ``network`` stands in fitted worlds alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.world.channels import Channel, Evidence
from logtriage.world.channels import about as naming
from logtriage.world.model import World
from logtriage.world.telemetry import Signal
from logtriage.world.vocabulary import LOG

#: A figure strays from this many spreads on.
STRAYS: Final = 3.0
#: Words in the name of a signal that say what it is about.
LATENCY: Final = ("latency", "duration", "response", "p50", "p90", "p95", "p99")
ERRORS: Final = ("error", "fail")
GOOD: Final = ("availability", "success")
TRAFFIC: Final = ("calls", "requests", "workload")
NETWORK: Final = ("network", "packet", "loss", "retrans")
#: Gauges, each with words in the names of its signals.
_GAUGES: Final[Mapping[str, tuple[str, ...]]] = {"cpu": ("cpu",), "memory": ("mem",)}
#: The sorts of readings, each with its ordinary token first.
SORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "cpu": ("usual", "high", "low"),
    "memory": ("usual", "high"),
    "network": ("usual", "high"),
    "traffic": ("usual", "more"),
    "time": ("nowhere", "itself", "calls"),
    "errors": ("nowhere", "itself", "calls"),
    LOG: ("everyday", "exceptions", "risen", "vanished"),
}


@attrs.frozen
class Sign:
    """A token of one service in one sort, read from figures that are new at a tick."""

    service: int
    sort: str
    tick: int
    token: str


def name_has(name: str, words: Iterable[str]) -> bool:
    """Whether the name of a signal has any of the words in it."""
    return any(word in name for word in words)


def signs_of(
    incident: Incident, last: int, asked: Iterable[tuple[int, int]] | None = None
) -> tuple[Sign, ...]:
    """The signs on the screens of ticks 0 to ``last``, each reading once.

    Without ``asked`` every service is read at every tick, else each (tick, service) in it.
    Unchanged figures are no new reading: a screen shows the last recorded window again.

    Raises:
        InvalidInput: for an incident that is no recording.
    """
    telemetry = incident.telemetry
    if not isinstance(telemetry, RecordedTelemetry):
        raise InvalidInput(f"{incident.id}: no recording: its figures were made of tokens")
    screens = _screens(telemetry, incident.topology.calls)
    if asked is None:
        shown = [(tick, row) for tick in range(last + 1) for row in range(len(incident.topology))]
    else:
        shown = [(tick, service) for tick, service in asked if tick <= last]
    every = (screens[min(tick, len(screens) - 1)][service] for tick, service in shown)
    return tuple(dict.fromkeys(sign for signs in every for sign in signs))


@lru_cache(maxsize=512)
def _screens(
    telemetry: RecordedTelemetry, calls: tuple[tuple[int, ...], ...]
) -> tuple[tuple[tuple[Sign, ...], ...], ...]:
    """The signs of each tick, by service; the last tick stands for all after it."""
    screens: list[tuple[tuple[Sign, ...], ...]] = []
    before: dict[tuple[int, str], tuple[object, int]] = {}
    for tick in range(telemetry.recorded):
        shown = telemetry.figures(tick)
        slow = [_furthest(signals, LATENCY) for signals in shown]
        errs = [_errs(signals) for signals in shown]
        rows: list[tuple[Sign, ...]] = []
        for service, signals in enumerate(shown):
            row = []
            for sort, token, figures in _read(signals, calls[service], slow, errs, service):
                known, since = before.get((service, sort), (None, tick))
                since = since if known == figures else tick
                before[service, sort] = figures, since
                row.append(Sign(service, sort, since, token))
            rows.append(tuple(row))
        screens.append(tuple(rows))
    return tuple(screens)


def _read(
    signals: tuple[Signal, ...],
    calls: tuple[int, ...],
    slow: list[float],
    errs: list[float],
    service: int,
) -> Iterator[tuple[str, str, object]]:
    """Sort, token, and the figures from which it is read, of a service."""
    known = [row for row in signals if row.usual is not None and row.spread is not None]

    def about(*words: str) -> list[Signal]:
        return [row for row in known if name_has(row.name, words)]

    for sort, words in (*_GAUGES.items(), ("network", NETWORK), ("traffic", TRAFFIC)):
        if rows := about(*words):
            yield sort, _level(sort, [row.stray for row in rows]), _figures(rows)
    if rows := about(*LATENCY, "self"):
        own = _furthest(rows, ("self",))
        yield "time", _where(own, slow[service], calls, slow), _figures(rows)
    if rows := about(*ERRORS, *GOOD):
        yield "errors", _where(0.0, errs[service], calls, errs), _figures(rows)
    if rows := [row for row in known if row.name in ("new_errors_bp", "events_bp")]:
        yield LOG, _topic({row.name: row for row in rows}), _figures(rows)


def _figures(rows: Iterable[Signal]) -> tuple[tuple[str, int], ...]:
    return tuple((row.name, row.value) for row in rows)


def _level(sort: str, strays: list[float]) -> str:
    ordinary, above, *below = SORTS[sort]
    if max(strays) >= STRAYS:
        return above
    return below[0] if below and min(strays) <= -STRAYS else ordinary


def _where(own: float, stray: float, calls: tuple[int, ...], strays: list[float]) -> str:
    """Where time goes or errors start: nowhere, at a callee that strays as well, or in itself."""
    if own >= STRAYS:
        return "itself"
    if stray < STRAYS:
        return "nowhere"
    furthest = max(calls, key=strays.__getitem__, default=None)
    if furthest is None or strays[furthest] < STRAYS:
        return "itself"
    return naming("calls", furthest)


def _furthest(signals: Iterable[Signal], words: Iterable[str]) -> float:
    return max((row.stray for row in signals if name_has(row.name, words)), default=0.0)


def _errs(signals: tuple[Signal, ...]) -> float:
    falls = max((-row.stray for row in signals if name_has(row.name, GOOD)), default=0.0)
    return max(falls, _furthest(signals, ERRORS))


def _topic(rows: Mapping[str, Signal]) -> str:
    """The loud topic: an error that the baseline never had, or the line that shifted most."""
    new, shifted = rows.get("new_errors_bp"), rows.get("events_bp")
    if new is not None and new.value > 0:
        return "exceptions"
    if shifted is None or abs(shifted.stray) < STRAYS:
        return "everyday"
    return "risen" if shifted.stray > 0 else "vanished"


def evidence_of(signs: Iterable[Sign], world: World) -> tuple[Evidence, ...]:
    """The newest sign of each service and sort as evidence of a world.

    Recordings flicker where histories do not, so that a later sign replaces an earlier one. Signs
    without a token in the world are left out.
    """
    places = _places(world)
    newest = {(sign.service, sign.sort): sign for sign in sorted(signs, key=lambda row: row.tick)}
    return tuple(
        Evidence(channel, sign.service, slot, sign.tick, token)
        for sign in newest.values()
        if sign.sort in places
        for channel, slot, tokens in [places[sign.sort]]
        for token in [
            world.ordinary[sign.sort] if sign.token == SORTS[sign.sort][0] else sign.token
        ]
        if token.partition(":")[0] in tokens
    )


@lru_cache(maxsize=64)
def _places(world: World) -> Mapping[str, tuple[Channel, int, frozenset[str]]]:
    """Channel, slot and tokens of each sort that recordings can show and the world has."""
    rows = {
        **{gauge.name: (Channel.METRICS, slot) for slot, gauge in enumerate(world.tokens.gauges)},
        **{span.name: (Channel.TRACES, slot) for slot, span in enumerate(world.tokens.spans)},
        LOG: (Channel.LOGS, 0),
    }
    named = {sort.name: {token.name for token in sort.tokens} for sort in world.measured}
    named[LOG] = {topic.name for topic in world.topics if not topic.dependency}
    return {
        sort: (*rows[sort], frozenset(named[sort] | {world.ordinary[sort]}))
        for sort in SORTS
        if sort in rows
    }
