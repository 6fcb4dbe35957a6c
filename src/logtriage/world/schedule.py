"""Which cells stand on which screen: a function of the public actions, not of the truth."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import attrs

from logtriage.topology import Topology
from logtriage.world.channels import (
    EPOCH,
    LINES,
    NOTE_DELAY,
    SERIES,
    WINDOW_LINES,
    Channel,
)
from logtriage.world.setting import Setting

#: A cell: channel, service, slot, start (see :class:`logtriage.world.channels.Evidence`).
Cell = tuple[Channel, int, int, int]
#: Where a cell of a channel stands: service and slot.
Spot = tuple[int, int]
#: Cells that belong together: channel, start, and their spots.
Row = tuple[Channel, int, tuple[Spot, ...]]
_NOWHERE: Final[tuple[Spot, ...]] = ((-1, 0),)


@attrs.frozen(cache_hash=True)
class Doings:
    """The actions that decide what is shown.

    ``logs`` (tick, service; -1 for all services), ``metrics`` and ``traces`` (tick,
    service) are requests, ``remedies`` (tick, remedy, service name) and ``pages``
    (tick, team) what was applied and who was paged.
    """

    logs: tuple[tuple[int, int], ...] = ()
    metrics: tuple[tuple[int, int], ...] = ()
    traces: tuple[tuple[int, int], ...] = ()
    remedies: tuple[tuple[int, str, str], ...] = ()
    pages: tuple[tuple[int, str], ...] = ()


def epoch_starts(now: int, doings: Doings) -> tuple[int, ...]:
    """The ticks up to ``now`` at which gauges were read anew.

    These are every third tick, and the tick after each remedy, which shows its effect.
    """
    starts = {*range(0, now + 1, EPOCH), *(when + 1 for when, _, _ in doings.remedies)}
    return tuple(sorted(start for start in starts if start <= now))


def alert_starts(setting: Setting, now: int, doings: Doings) -> tuple[int, ...]:
    """The ticks up to ``now`` at which alerts were judged anew."""
    starts = {*setting.alert_ticks, *(when + 1 for when, _, _ in doings.remedies)}
    return tuple(sorted(start for start in starts if start <= now))


def note_tick(doings: Doings, now: int) -> int | None:
    """The tick of the page that brings a note to the screen of ``now``, or None.

    Only a right page leaves the incident open, and only the first page brings a note.
    """
    if doings.pages and doings.pages[0][0] + NOTE_DELAY == now:
        return doings.pages[0][0]
    return None


def cells(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Cell]:
    """The cells on the screen of a tick.

    ``speakers`` are the services of the window's lines. Notes and effects of remedies
    belong to no service (-1).
    """
    for channel, start, spots in rows(setting, topology, speakers, now, doings):
        for service, slot in spots:
            yield channel, service, slot, start


def rows(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Row]:
    """:func:`cells`, those that belong together at once."""
    every = _every(len(topology))
    for start in alert_starts(setting, now, doings):
        yield Channel.ALERT, start, every
    yield Channel.EDGE, epoch_starts(now, doings)[-1], _NOWHERE
    yield Channel.WINDOW, now, tuple(zip(speakers, range(WINDOW_LINES), strict=True))
    yield Channel.CHANGE, 0, every
    yield from _answers(setting, len(topology), now, doings)


def news(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Row]:
    """Those of :func:`rows` that stood on no earlier screen, in the same order.

    Readings that were asked for are all there, new or not.
    """
    every = _every(len(topology))
    remedied = any(when == now - 1 for when, _, _ in doings.remedies)
    if remedied or now in setting.alert_ticks:
        yield Channel.ALERT, now, every
    if remedied or not now % EPOCH:
        yield Channel.EDGE, now, _NOWHERE
    yield Channel.WINDOW, now, tuple(zip(speakers, range(WINDOW_LINES), strict=True))
    if not now:
        yield Channel.CHANGE, 0, every
    yield from _answers(setting, len(topology), now, doings)


def _answers(setting: Setting, services: int, now: int, doings: Doings) -> Iterator[Row]:
    """What was asked for in the last tick, the note, and what became of remedies."""
    last = now - 1
    if doings.logs and doings.logs[-1][0] >= last:
        yield from _requested(services, now, doings)
    for channel, asked in ((Channel.METRICS, doings.metrics), (Channel.TRACES, doings.traces)):
        for when, service in asked:
            if when == last:
                slots = range(len(setting.world.slots[channel]))
                spots = tuple([(service, slot) for slot in slots])
                for start in epoch_starts(now, doings)[-SERIES:]:
                    yield channel, start, spots
    if note_tick(doings, now) is not None:
        yield Channel.NOTE, now, _NOWHERE
    for slot, (when, _, _) in enumerate(doings.remedies):
        if when == last:
            yield Channel.EFFECT, now, ((-1, slot),)


def _requested(services: int, now: int, doings: Doings) -> Iterator[Row]:
    """The lines asked for in the last tick: new lines each time."""
    asked: dict[int, int] = {}
    for when, service in doings.logs:
        before = asked.get(service, 0)
        asked[service] = before + 1
        if when != now - 1:
            continue
        if service < 0:
            yield Channel.OVERVIEW, now, tuple([(service, before) for service in range(services)])
        else:
            first = before * LINES
            yield Channel.LOGS, now, tuple([(service, first + line) for line in range(LINES)])


@lru_cache(maxsize=256)
def _every(services: int) -> tuple[Spot, ...]:
    return tuple([(service, 0) for service in range(services)])
