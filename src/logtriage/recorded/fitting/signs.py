"""The tokens of a recording: what each service's figures say, in the words of a world.

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
from logtriage.world.channels import Channel, Evidence, about
from logtriage.world.model import World
from logtriage.world.telemetry import Signal
from logtriage.world.vocabulary import LOG

#: A figure strays that lies so many spreads from what is usual.
STRAYS: Final = 3.0
#: What a signal is about, by what its name has in it.
LATENCY: Final = ("latency", "duration", "response", "p50", "p90", "p95", "p99")
ERRORS: Final = ("error", "fail")
GOOD: Final = ("availability", "success")
TRAFFIC: Final = ("calls", "requests", "workload")
NETWORK: Final = ("network", "packet", "loss", "retrans")
#: The gauges that a word in the name of a signal speaks for.
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
    """What a recording says of one service in one sort, in figures that are new at a tick."""

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

    Of all services, or at each (tick, service) of ``asked``. Figures that have not changed are
    no new reading: after the last recorded window a screen shows the last one again.

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
    """Sort, token and the figures that it was read from, of what was measured of a service."""
    known = [one for one in signals if one.usual is not None and one.spread is not None]
    for sort, words in (*_GAUGES.items(), ("network", NETWORK), ("traffic", TRAFFIC)):
        rows = [one for one in known if name_has(one.name, words)]
        if rows:
            yield sort, _level(sort, [one.stray for one in rows]), _figures(rows)
    rows = [one for one in known if name_has(one.name, (*LATENCY, "self"))]
    if rows:
        own = _furthest(rows, ("self",))
        yield "time", _where(own, slow[service], calls, slow), _figures(rows)
    rows = [one for one in known if name_has(one.name, (*ERRORS, *GOOD))]
    if rows:
        yield "errors", _where(0.0, errs[service], calls, errs), _figures(rows)
    rows = [one for one in known if one.name in ("new_errors_bp", "events_bp")]
    if rows:
        yield LOG, _topic({one.name: one for one in rows}), _figures(rows)


def _figures(rows: Iterable[Signal]) -> tuple[tuple[str, int], ...]:
    return tuple((one.name, one.value) for one in rows)


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
    furthest = max(calls, key=lambda one: strays[one], default=None)
    if furthest is None or strays[furthest] < STRAYS:
        return "itself"
    return about("calls", furthest)


def _furthest(signals: Iterable[Signal], words: Iterable[str]) -> float:
    return max((one.stray for one in signals if name_has(one.name, words)), default=0.0)


def _errs(signals: tuple[Signal, ...]) -> float:
    falls = max((-one.stray for one in signals if name_has(one.name, GOOD)), default=0.0)
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
    """The signs as evidence of a world; what the world has no word for tells nothing in it."""
    places = _places(world)
    return tuple(
        Evidence(channel, sign.service, slot, sign.tick, token)
        for sign in signs
        if sign.sort in places
        for channel, slot, tokens in [places[sign.sort]]
        for token in [
            world.ordinary[sign.sort] if sign.token == SORTS[sign.sort][0] else sign.token
        ]
        if token.partition(":")[0] in tokens
    )


@lru_cache(maxsize=64)
def _places(world: World) -> Mapping[str, tuple[Channel, int, frozenset[str]]]:
    """Channel, slot and tokens of each sort that a recording can show and the world has."""
    rows = {
        **{one.name: (Channel.METRICS, slot) for slot, one in enumerate(world.tokens.gauges)},
        **{one.name: (Channel.TRACES, slot) for slot, one in enumerate(world.tokens.spans)},
        LOG: (Channel.LOGS, 0),
    }
    named = {one.name: {token.name for token in one.tokens} for one in world.measured}
    named[LOG] = {one.name for one in world.topics if not one.dependency}
    return {
        sort: (*rows[sort], frozenset(named[sort] | {world.ordinary[sort]}))
        for sort in SORTS
        if sort in rows
    }
