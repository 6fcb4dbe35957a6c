"""Which cells stand on which screen: a function of the public actions, not of the truth."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import attrs

from logtriage.topology import Topology
from logtriage.world.channels import EARLIEST, NOTE_DELAY, SCRAPE, WINDOW_LINES, Channel
from logtriage.world.setting import Setting

#: A cell: channel, service, slot, start (see :class:`logtriage.world.channels.Evidence`).
Cell = tuple[Channel, int, int, int]
#: Service and slot of a cell.
Spot = tuple[int, int]
#: Cells that are read together: channel, start, and their spots.
Row = tuple[Channel, int, tuple[Spot, ...]]
_NOWHERE: Final[tuple[Spot, ...]] = ((-1, 0),)


@attrs.frozen(cache_hash=True)
class Doings:
    """The actions that decide what is shown.

    ``logs`` (tick, service; -1 for all services), ``metrics`` and ``traces`` (tick, service) are
    requests; ``remedies`` are (tick, remedy, service name), ``pages`` (tick, team) may bring notes.
    """

    logs: tuple[tuple[int, int], ...] = ()
    metrics: tuple[tuple[int, int], ...] = ()
    traces: tuple[tuple[int, int], ...] = ()
    remedies: tuple[tuple[int, str, str], ...] = ()
    pages: tuple[tuple[int, str], ...] = ()


def scrapes(now: int, doings: Doings) -> tuple[int, ...]:
    """The ticks up to ``now`` at which services were read: every third, and after each remedy."""
    usual = _usual_scrapes(now)
    if not doings.remedies:
        return usual
    ticks = {*usual, *[when + 1 for when, _, _ in doings.remedies if when < now]}
    return tuple(sorted(ticks))


@lru_cache(maxsize=256)
def _usual_scrapes(now: int) -> tuple[int, ...]:
    return tuple(range(EARLIEST, now + 1, SCRAPE))


def edge_starts(now: int, doings: Doings) -> tuple[int, ...]:
    """The ticks up to ``now`` at which the edge panel was read anew."""
    return tuple([tick for tick in scrapes(now, doings) if tick >= 0])


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
    """The cells on the screen of a tick; ``speakers`` are the services of the window's lines."""
    for channel, start, spots in rows(setting, topology, speakers, now, doings):
        for service, slot in spots:
            yield channel, service, slot, start


def rows(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Row]:
    """The cells of :func:`cells`, row by row."""
    ticks = scrapes(now, doings)
    for tick in ticks:
        yield from _panels(setting, len(topology), tick)
    yield Channel.EDGE, max(0, ticks[-1]), _NOWHERE
    yield Channel.WINDOW, now, tuple(zip(speakers, range(WINDOW_LINES), strict=True))
    yield from _answers(setting, len(topology), now, doings, ticks)


def news(
    setting: Setting, topology: Topology, speakers: tuple[int, ...], now: int, doings: Doings
) -> Iterator[Row]:
    """The rows of :func:`rows` that are new on the screen of ``now``, and all answers."""
    ticks = scrapes(now, doings)
    for tick in ticks:
        if not now or tick == now:
            yield from _panels(setting, len(topology), tick)
            if tick >= 0:
                yield Channel.EDGE, tick, _NOWHERE
    yield Channel.WINDOW, now, tuple(zip(speakers, range(WINDOW_LINES), strict=True))
    yield from _answers(setting, len(topology), now, doings, ticks)


def _panels(setting: Setting, services: int, tick: int) -> Iterator[Row]:
    """The alerts and changes of a scrape, which nobody has to ask for."""
    yield Channel.ALERT, tick, _every(services, len(setting.world.slots[Channel.ALERT]))
    yield Channel.CHANGE, tick, _every(services, 1)


def _answers(
    setting: Setting, services: int, now: int, doings: Doings, ticks: tuple[int, ...]
) -> list[Row]:
    """The answers to requests and remedies of the last tick, and the note that is due."""
    last, answers = now - 1, list[Row]()
    for when, service in doings.logs:
        if when == last and service < 0:
            answers.append((Channel.OVERVIEW, ticks[-1], _every(services, 1)))
        elif when == last:
            answers += [(Channel.LOGS, tick, ((service, 0),)) for tick in ticks]
    for channel, asked in ((Channel.METRICS, doings.metrics), (Channel.TRACES, doings.traces)):
        for when, service in asked:
            if when == last:
                spots = range(len(setting.world.slots[channel]))
                row = tuple([(service, slot) for slot in spots])
                answers += [(channel, tick, row) for tick in ticks]
    if note_tick(doings, now) is not None:
        answers.append((Channel.NOTE, now, _NOWHERE))
    for slot, (when, _, _) in enumerate(doings.remedies):
        if when == last:
            answers.append((Channel.EFFECT, now, ((-1, slot),)))
    return answers


@lru_cache(maxsize=256)
def _every(services: int, slots: int) -> tuple[Spot, ...]:
    return tuple([(service, slot) for service in range(services) for slot in range(slots)])
