"""What cells can hold under a hypothesis. Draws from the truth and beliefs both read it."""

from logtriage.errors import InvalidInput
from logtriage.topology import Topology
from logtriage.world.channels import EASES, NO_CHANGE, NO_NEWS, Channel
from logtriage.world.conditions import (
    WELL,
    Condition,
    Hypothesis,
    accepted_remedies,
    affected,
    without,
)
from logtriage.world.model import World
from logtriage.world.schedule import Cell, Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import CALM, RECOVERED, Weights, note_weights

#: The tokens that a cell can hold, and the weight of each; the weights sum to 65,536.
Outcomes = tuple[tuple[str, ...], Weights]


def fixing(
    world: World, topology: Topology, hypothesis: Hypothesis, doings: Doings
) -> dict[int, int]:
    """For each service whose fault is fixed, the index of the first remedy that fixes it."""
    fixed: dict[int, int] = {}
    if doings.remedies:
        wanted = accepted_remedies(world, topology, hypothesis)
        for slot, (_, remedy, name) in enumerate(doings.remedies):
            if (remedy, name) in wanted:
                fixed.setdefault(topology.index(name), slot)
    return fixed


def fixed_at(
    world: World, topology: Topology, hypothesis: Hypothesis, doings: Doings
) -> int | None:
    """The tick in which the last fault of a hypothesis was fixed; None while a fault is left."""
    slots = fixing(world, topology, hypothesis, doings)
    if not slots or len(slots) < len(hypothesis.services):
        return None
    return doings.remedies[max(slots.values())][0]


def left_at(
    world: World, topology: Topology, hypothesis: Hypothesis, doings: Doings, start: int
) -> Hypothesis | None:
    """The hypothesis with the faults that are left at tick ``start``; None if all are fixed."""
    if not hypothesis.faults or not doings.remedies:
        return hypothesis
    slots = fixing(world, topology, hypothesis, doings)
    fixed = {service for service, slot in slots.items() if doings.remedies[slot][0] < start}
    if not fixed:
        return hypothesis
    return without(hypothesis, fixed) if len(fixed) < len(hypothesis.services) else None


def condition_at(
    world: World,
    topology: Topology,
    hypothesis: Hypothesis,
    left: Hypothesis | None,
    service: int,
    own: Condition,
) -> Condition:
    """The condition of a service while the faults ``left`` last (None: all are fixed).

    ``own`` is its condition from the start; it stays where the hypothesis does not reach.
    """
    if left is hypothesis or service not in affected(world, topology, hypothesis):
        return own
    return WELL if left is None else affected(world, topology, left).get(service, WELL)


def spell(
    world: World,
    topology: Topology,
    hypothesis: Hypothesis,
    doings: Doings,
    start: int,
    service: int,
    own: Condition,
) -> tuple[Condition, int, int | None]:
    """(condition of a service at a tick, its first tick, its last tick or None if it stays).

    ``own`` as in :func:`condition_at`. Remedies that leave the service as it is end no spell.
    """
    if not doings.remedies:
        return own, 0, None

    def shown(tick: int) -> Condition:
        left = left_at(world, topology, hypothesis, doings, tick)
        return condition_at(world, topology, hypothesis, left, service, own)

    here, begin, end = shown(start), 0, None
    slots = fixing(world, topology, hypothesis, doings).values()
    fixes = sorted({doings.remedies[slot][0] for slot in slots})
    for tick in reversed(fixes):  # so that the nearest change on each side stands
        if tick >= start and shown(tick + 1) != here:
            end = tick
        elif tick < start and shown(tick) != here:
            begin = tick + 1
            break
    return here, begin, end


def elsewhere(
    setting: Setting,
    topology: Topology,
    directory: tuple[str, ...],
    hypothesis: Hypothesis,
    cell: Cell,
    doings: Doings,
) -> Outcomes:
    """The outcomes of a note or of a remedy's effect; InvalidInput for any other cell."""
    channel, _, slot, _ = cell
    world = setting.world
    if channel is Channel.EFFECT:
        eases = slot in fixing(world, topology, hypothesis, doings).values()
        return (EASES if eases else NO_CHANGE,), (FULL,)
    if channel is Channel.NOTE:
        fault = _noted_fault(world, topology, directory, hypothesis, doings)
        if fault is None:
            return (NO_NEWS,), (FULL,)
        kind, service = fault
        tokens, weights = zip(
            *note_weights(setting, kind, topology.services[service].tier), strict=True
        )
        return tuple(t if t == NO_NEWS else f"{service}:{t}" for t in tokens), weights
    raise InvalidInput(f"a cell of channel {channel!r} shows a sign that stays: {cell}")


def edge_state(
    hypothesis: Hypothesis, severity: int, fixed: int | None, start: int
) -> tuple[int, int]:
    """(what the edge shows at a tick: a severity, ``CALM`` or ``RECOVERED``; its first tick)."""
    if fixed is not None and start > fixed:
        return RECOVERED, fixed + 1
    return severity if hypothesis.faults else CALM, 0


def _noted_fault(
    world: World,
    topology: Topology,
    directory: tuple[str, ...],
    hypothesis: Hypothesis,
    doings: Doings,
) -> tuple[str, int] | None:
    """The fault that the note of the first page is about; None for a note without news.

    It is the first fault for which owners are paged at a service that the paged team owns. With
    one sick service the owner needs no check: only a right page brings a note.
    """
    alone, team = len(hypothesis.services) == 1, doings.pages[0][1]
    for kind, service in hypothesis.faults:
        if world.pages(kind, topology) is None and (alone or directory[service] == team):
            return kind, service
    return None
