"""What pointed at the root cause, and when it was on the screen: the evidence of a debrief."""

from collections.abc import Iterator, Sequence

from logtriage.observation import Observation, is_odd
from logtriage.world.clues import complaint
from logtriage.world.telemetry import LogLine
from logtriage.world.vocabulary import LOG

Sign = tuple[int, str, str]


def signs_of(observations: Sequence[Observation], roots: frozenset[str]) -> tuple[Sign, ...]:
    """(tick, service, text) of each sign of the root causes, when it was first shown.

    Everyday lines and usual readings of the root causes do not count; other services' complaints
    about them do.
    """
    first: dict[tuple[str, str], int] = {}
    for seen in observations:
        for service, text in _said(seen, roots):
            first.setdefault((service, text), seen.tick)
    return tuple((tick, service, text) for (service, text), tick in first.items())


def _said(seen: Observation, roots: frozenset[str]) -> Iterator[tuple[str, str]]:
    for alert in seen.alerts:
        if alert.service in roots:
            yield alert.service, f"alert {alert.name}"
    for line in (*seen.inspection, *seen.window):
        if _tells(line, seen, roots):
            yield line.service, line.message
    for gauge in seen.readings:
        if gauge.service in roots and is_odd(gauge, seen):
            yield gauge.service, f"{gauge.name}: {gauge.text}"


def _tells(line: LogLine, seen: Observation, roots: frozenset[str]) -> bool:
    if line.level == "INFO" or (line.token is not None and seen.is_ordinary(LOG, line.token)):
        return False
    blamed = complaint(line, seen.topology)
    return line.service in roots or (blamed is not None and blamed[1] in roots)
