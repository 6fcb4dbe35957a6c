"""Which cells stand on which screen: a public function of what was done, not of the truth."""

from collections.abc import Iterator

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


@attrs.frozen(cache_hash=True)
class Doings:
    """What was done, as far as it decides what is shown.

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

    Every third one, and the one after each remedy, so that its effect can be seen.
    """
    starts = {*range(0, now + 1, EPOCH), *(when + 1 for when, _, _ in doings.remedies)}
    return tuple(sorted(start for start in starts if start <= now))


def alert_starts(setting: Setting, now: int, doings: Doings) -> tuple[int, ...]:
    """The ticks up to ``now`` at which alerts were judged anew."""
    starts = {*setting.alert_ticks, *(when + 1 for when, _, _ in doings.remedies)}
    return tuple(sorted(start for start in starts if start <= now))


def note_tick(doings: Doings, now: int) -> int | None:
    """The tick of the page whose note stands on the screen of ``now``.

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
    every = range(len(topology))
    for start in alert_starts(setting, now, doings):
        yield from ((Channel.ALERT, service, 0, start) for service in every)
    yield Channel.EDGE, -1, 0, epoch_starts(now, doings)[-1]
    for slot in range(WINDOW_LINES):
        yield Channel.WINDOW, speakers[slot], slot, now
    yield from ((Channel.CHANGE, service, 0, 0) for service in every)
    yield from _answers(setting, topology, now, doings)


def news(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Cell]:
    """Those of :func:`cells` that stood on no earlier screen, in the same order.

    Readings that were asked for are all there, new or not.
    """
    every = range(len(topology))
    remedied = now - 1 in [when for when, _, _ in doings.remedies]
    if remedied or now in setting.alert_ticks:
        yield from [(Channel.ALERT, service, 0, now) for service in every]
    if remedied or not now % EPOCH:
        yield Channel.EDGE, -1, 0, now
    for slot in range(WINDOW_LINES):
        yield Channel.WINDOW, speakers[slot], slot, now
    if not now:
        yield from [(Channel.CHANGE, service, 0, 0) for service in every]
    yield from _answers(setting, topology, now, doings)


def _answers(setting: Setting, topology: Topology, now: int, doings: Doings) -> Iterator[Cell]:
    """What was asked for in the last tick, the note, and what became of remedies."""
    yield from _requested(len(topology), now, doings)
    for channel, asked in ((Channel.METRICS, doings.metrics), (Channel.TRACES, doings.traces)):
        services = [service for when, service in asked if when == now - 1]
        if services:
            slots = range(len(setting.world.slots[channel]))
            for service in services:
                for start in epoch_starts(now, doings)[-SERIES:]:
                    yield from [(channel, service, slot, start) for slot in slots]
    if note_tick(doings, now) is not None:
        yield Channel.NOTE, -1, 0, now
    for slot, (when, _, _) in enumerate(doings.remedies):
        if when == now - 1:
            yield Channel.EFFECT, -1, slot, now


def _requested(services: int, now: int, doings: Doings) -> Iterator[Cell]:
    """The lines asked for in the last tick: new ones each time."""
    asked: dict[int, int] = {}
    for when, service in doings.logs:
        count = asked[service] = asked.get(service, 0) + 1
        if when != now - 1:
            continue
        if service < 0:
            yield from ((Channel.OVERVIEW, one, count - 1, now) for one in range(services))
        else:
            first = (count - 1) * LINES
            yield from ((Channel.LOGS, service, first + line, now) for line in range(LINES))
