"""Draws the recent changes of an incident: innocent ones, and the one behind the fault."""

from typing import Final

from logtriage.faults import FaultKind
from logtriage.rng import Draws, between
from logtriage.scenario_ranges import (
    CHANGE_KINDS,
    INNOCENT_CHANGES,
    RELATED_CHANGE,
    RELATED_SHOWN,
    Slot,
)
from logtriage.telemetry import Change
from logtriage.topology import Topology

#: The place of the change behind the fault, after the innocent ones.
_BEHIND: Final = INNOCENT_CHANGES


def version_behind(draws: Draws, kind: FaultKind) -> str:
    """The release, or config revision, that a fault of ``kind`` came with."""
    return _version(draws, "config" if kind.name == "config_drift" else "deploy", _BEHIND)


def draw_changes(
    draws: Draws, topology: Topology, root: int, kind: FaultKind | None, version: str
) -> tuple[Change, ...]:
    """Some innocent changes, and mostly the one behind the fault; newest first.

    ``kind`` is None where there is no fault. ``version`` is that of the fault at service
    index ``root``, by :func:`version_behind`.
    """
    changes = []
    for place in range(INNOCENT_CHANGES):
        innocent = CHANGE_KINDS[draws.below(len(CHANGE_KINDS), Slot.CHANGE_KIND, place)]
        service = topology.names[draws.below(len(topology), Slot.CHANGE_SERVICE, place)]
        release = _version(draws, innocent, place)
        changes.append(_change(draws, service, innocent, release, place))
    related = None if kind is None else RELATED_CHANGE.get(kind.name)
    if related is not None and draws.chance(RELATED_SHOWN, Slot.RELATED_SHOWN):
        changes.append(_change(draws, topology.names[root], related, version, _BEHIND))
    changes.sort(key=lambda one: (one.minutes_ago, one.service, one.detail))
    return tuple(changes)


def _version(draws: Draws, change: str, place: int) -> str:
    """A release number, or a config revision."""
    bits = draws.bits(Slot.CHANGE_DETAIL, place)
    if change == "config":
        return f"r{between(bits, 100, 999)}"
    return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"


def _change(draws: Draws, service: str, kind: str, version: str, place: int) -> Change:
    bits = draws.bits(Slot.CHANGE_DETAIL, place)
    match kind:
        case "deploy":
            detail = f"release {version}"
        case "config":
            detail = f"config {version}"
        case "traffic":
            detail = f"traffic +{between(bits, 5, 60)}%"
        case _:
            detail = f"advisory LT-{between(bits, 100, 999)}"
    return Change(service, kind, draws.between(4, 170, Slot.CHANGE_AGE, place), detail)
