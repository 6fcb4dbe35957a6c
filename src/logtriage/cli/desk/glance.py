"""How bad each service looked in each tick, from the screens so far."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

import attrs

from logtriage.observation import Observation, is_odd
from logtriage.rendering.screens import status_of


class Look(IntEnum):
    """The worst that a screen shows of a service."""

    UNSEEN = 0
    QUIET = 1
    WARNS = 2
    ERRORS = 3
    ALERTS = 4


#: A bar and a word for each look, so that colour is not needed.
BARS: Final = "·▁▃▅█"
NAMES: Final = ("?", "quiet", "warns", "errors", "alerts")
_LEVELS: Final = {"WARN": Look.WARNS, "ERROR": Look.ERRORS, "FATAL": Look.ERRORS}
_STATUS: Final = {"ok": Look.QUIET, "degraded": Look.WARNS, "failing": Look.ERRORS}
#: Ticks that a sparkline shows.
SPAN: Final = 8


@attrs.frozen
class Glance:
    """How a service looked when it was last seen, and in each of the latest ticks."""

    service: str
    look: Look
    looks: tuple[Look, ...]

    @property
    def spark(self) -> str:
        """The looks as a sparkline, the latest last."""
        return "".join(BARS[look] for look in self.looks)


def glances(observations: Sequence[Observation]) -> tuple[Glance, ...]:
    """Every service, in the topology's order."""
    ticks = [dict(_looks(observation)) for observation in observations]
    rows = []
    for name in observations[-1].topology.names:
        looks = [tick.get(name, Look.UNSEEN) for tick in ticks]
        seen = [look for look in looks if look]
        rows.append(Glance(name, seen[-1] if seen else Look.UNSEEN, tuple(looks[-SPAN:])))
    return tuple(rows)


def _looks(seen: Observation) -> Iterator[tuple[str, Look]]:
    """The worst look of each service on a screen."""
    worst: dict[str, Look] = {}
    for service, look in _signs(seen):
        worst[service] = max(look, worst.get(service, Look.UNSEEN))
    yield from worst.items()


def _signs(seen: Observation) -> Iterator[tuple[str, Look]]:
    for alert in seen.alerts:
        yield alert.service, Look.ALERTS
    for line in (*seen.window, *seen.inspection):
        yield line.service, _LEVELS.get(line.level, Look.QUIET)
    for reading in seen.readings:
        yield reading.service, Look.WARNS if is_odd(reading, seen) else Look.QUIET
    for name, health in zip(seen.topology.names, seen.health, strict=False):
        if health is not None:
            yield name, _STATUS[status_of(health)]
