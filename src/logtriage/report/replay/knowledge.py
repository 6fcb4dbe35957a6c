"""What the screens up to a tick tell an agent about every service."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import attrs

from logtriage.observation import Observation, is_odd
from logtriage.rendering import panels, status_of
from logtriage.rendering.dashboard import STRAY
from logtriage.world.channels import DOWN
from logtriage.world.figures import is_down
from logtriage.world.telemetry import Gauge, Trace
from logtriage.world.vocabulary import LOG

ALERT: Final = "a"
SIGNS: Final = "s"
CALM: Final = "c"
UNKNOWN: Final = "?"


@attrs.frozen
class Reading:
    """A reading on a screen: its service, whether it was asked for, whether it is a sign.

    ``text`` is the line of the screen, or its end; ``brief`` is a log line as a fleet's list of all
    services has it. ``onset`` is the place of the first figure of the line that is a sign.
    """

    service: str
    text: str
    asked: bool
    odd: bool
    onset: int | None = None
    brief: str | None = None


def readings(observation: Observation) -> Iterator[Reading]:
    """The log lines, gauges and traces of a screen, without what is not collected."""
    for asked, lines in ((False, observation.window), (True, observation.inspection)):
        for line in lines:
            if line.token == DOWN:
                continue
            text = f"{line.second:+d}s {line.level} {line.service}: {line.message}"
            odd = line.level != "INFO"
            if line.token is not None:
                odd = not observation.is_ordinary(LOG, line.token)
            brief = f"{line.service}: {line.bare or line.message}"
            yield Reading(line.service, text, asked, odd, brief=brief)
    panes: tuple[tuple[Gauge | Trace, ...], ...] = (observation.metrics, observation.traces)
    for reads in panes:
        for _, rows in groupby(reads, key=lambda read: read.service):
            row = tuple(rows)
            if is_down(row[0].tokens):
                continue
            places = panels.shown_places(row)
            for read in row:
                odd = is_odd(read, observation)
                onset = _onset(read, places, observation)
                for text in panels.lines(read, places) if read.rows else (read.text,):
                    yield Reading(read.service, text, asked=True, odd=odd, onset=onset)


def _onset(read: Gauge | Trace, places: Sequence[int], seen: Observation) -> int | None:
    """Where among the figures shown a reading begins to be out of the ordinary."""
    for number, place in enumerate(places if read.tokens else ()):
        if read.tokens[place] != DOWN and not seen.is_ordinary(read.name, read.tokens[place]):
            return number
    return None


@attrs.frozen
class Knowledge:
    """What is known of each service at one tick, in index order.

    ``states`` are :data:`ALERT` (an alert fires), :data:`SIGNS` (what was last seen is out
    of the ordinary), :data:`CALM` (asked for, and ordinary) or :data:`UNKNOWN`; ``signs``
    counts the readings out of the ordinary on this very screen.
    """

    states: tuple[str, ...]
    signs: tuple[int, ...]


def knowledge(screens: Sequence[Observation]) -> tuple[Knowledge, ...]:
    """What is known after each of an episode's screens, which are in order."""
    known: list[Knowledge] = []
    names = screens[0].topology.names
    held = dict.fromkeys(names, UNKNOWN)
    for screen in screens:
        signs = dict.fromkeys(names, 0)
        asked: dict[str, bool] = {}  # whether any requested reading of a service is a sign
        for reading in readings(screen):
            signs[reading.service] += reading.odd
            if reading.asked:
                asked[reading.service] = asked.get(reading.service, False) or reading.odd
            elif reading.odd:
                held[reading.service] = SIGNS
        held.update((name, SIGNS if odd else CALM) for name, odd in asked.items())
        for name, health in zip(names, screen.health, strict=False):  # none without the view
            if health is not None:
                well = status_of(health) == "ok" and not asked.get(name, False)
                held[name] = CALM if well else SIGNS
        for name, figures in zip(names, screen.signals, strict=False):
            stray = sum(abs(figure.stray) >= STRAY for figure in figures)
            signs[name] += stray
            if figures:
                held[name] = SIGNS if stray or held[name] == SIGNS else CALM
        firing = {alert.service for alert in screen.alerts}
        now = tuple(ALERT if name in firing else held[name] for name in names)
        known.append(Knowledge(now, tuple(signs[name] for name in names)))
    return tuple(known)
