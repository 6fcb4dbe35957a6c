"""What the screens of a state have shown so far, kept so that no later state draws it again.

A trace is of one incident and of the first plays of a history, up to a tick. It is filled when a
state is observed or believed, and goes along with the states that follow; it holds none of them.
It is no part of a state's value: with it or without, everything is equal.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from logtriage.state import Facts, State
from logtriage.world.channels import Channel, Evidence
from logtriage.world.schedule import Cell, news
from logtriage.world.simulation import Simulation

Cells = tuple[Evidence, ...]
#: What stays on the screen after it was first shown.
_STAY: Final = (Channel.ALERT, Channel.EDGE, Channel.CHANGE)
#: What is read again where it is asked for again.
_READ: Final = frozenset({Channel.METRICS, Channel.TRACES})


@attrs.define(eq=False)
class ScreenTrace:
    """The screens of a simulated incident up to tick ``tick``.

    ``facts`` sum up the first ``plays`` plays. ``panels`` are the cells of the last screen by
    channel, ``evidence`` those of all screens, each once, in the order shown; None where screens
    were left out. ``readings`` are the gauges and traces asked for so far. ``said`` keeps the
    words of panels that stay, ``pools`` what a belief made of the evidence.
    """

    tick: int
    plays: int
    facts: Facts
    panels: Mapping[Channel, Cells]
    evidence: Cells | None
    readings: Mapping[Cell, Evidence]
    said: dict[object, tuple[object, Any]] = attrs.field(factory=dict)
    pools: dict[object, Any] = attrs.field(factory=dict)


def traced(state: State, world: Simulation, *, whole: bool = False) -> ScreenTrace:
    """The trace of a state of a simulated incident; ``whole``: with the evidence of all screens."""
    trace: ScreenTrace | None = state.trace
    facts, plays = state.facts, len(state.history)
    if trace is None or (whole and trace.evidence is None):
        trace = _begun(world, 0 if whole else state.tick, plays, facts)
    elif trace.tick == state.tick:
        if trace.plays == plays:
            return trace
        trace = attrs.evolve(trace, plays=plays, facts=facts)
    for now in range(trace.tick + 1, state.tick + 1):
        trace = _followed(trace, world, now, plays, facts)
    state.keep(trace)
    return trace


def _begun(world: Simulation, now: int, plays: int, facts: Facts) -> ScreenTrace:
    """A trace of a single screen."""
    shown = tuple(world.shown(now, facts.doings))
    readings = {one.cell: one for one in shown if one.channel in _READ}
    evidence = _once(shown) if now == 0 else None
    return ScreenTrace(now, plays, facts, _by_channel(shown), evidence, readings)


def _followed(
    trace: ScreenTrace, world: Simulation, now: int, plays: int, facts: Facts
) -> ScreenTrace:
    """The trace with one more screen."""
    evidence, readings, doings = trace.evidence, trace.readings, facts.doings
    if type(world).shown is not Simulation.shown:  # it words its screens in its own way
        shown = tuple(world.shown(now, doings))
        evidence = None if evidence is None else _once((*evidence, *shown))
        return ScreenTrace(now, plays, facts, _by_channel(shown), evidence, {})
    panels: dict[Channel, list[Evidence]] = {}
    new: list[Evidence] = []
    asked: dict[Cell, Evidence] = {}
    own = world.kept.own if not doings.remedies else None
    for cell in news(world.setting, world.topology, world.speakers(now), now, doings):
        channel = cell[0]
        one = None
        if channel in _READ:
            one = readings.get(cell) or asked.get(cell)
        if one is None:
            token = world.token(cell, doings) if own is None or cell[1] < 0 else own(cell)
            one = Evidence(channel, cell[1], cell[2], cell[3], token)
            new.append(one)
            if channel in _READ:
                asked[cell] = one
        row = panels.get(channel)
        if row is None:
            panels[channel] = [one]
        else:
            row.append(one)
    before, after = trace.panels, {channel: tuple(row) for channel, row in panels.items()}
    for channel in _STAY:
        if channel in before:
            if channel not in after:
                after[channel] = before[channel]
            elif channel is Channel.ALERT:
                after[channel] = before[channel] + after[channel]
    return ScreenTrace(
        now,
        plays,
        facts,
        after,
        None if evidence is None else (*evidence, *new),
        {**readings, **asked} if asked else readings,
        trace.said.copy(),
        trace.pools.copy(),
    )


def _by_channel(shown: Iterable[Evidence]) -> dict[Channel, Cells]:
    rows: dict[Channel, list[Evidence]] = {}
    for one in shown:
        row = rows.get(one.channel)
        if row is None:
            rows[one.channel] = [one]
        else:
            row.append(one)
    return {channel: tuple(row) for channel, row in rows.items()}


def _once(shown: Iterable[Evidence]) -> Cells:
    """Each cell once, as it was first shown."""
    found: dict[Cell, Evidence] = {}
    for one in shown:
        found.setdefault(one.cell, one)
    return tuple(found.values())
