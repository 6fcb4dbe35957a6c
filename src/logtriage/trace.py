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
from logtriage.world.schedule import Cell, Doings, news
from logtriage.world.simulation import Simulation

Cells = tuple[Evidence, ...]
#: What stays on the screen after it was first shown.
_STAY: Final = (Channel.ALERT, Channel.EDGE, Channel.CHANGE)
#: What is read again where it is asked for again.
_READ: Final = frozenset({Channel.METRICS, Channel.TRACES})


@attrs.frozen(eq=False)
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
    if trace is None or (whole and trace.evidence is None):
        trace = _begun(world, 0 if whole else state.tick, state.facts)
    elif trace.tick == state.tick and trace.plays == len(state.history):
        return trace
    facts = state.facts
    for now in range(trace.tick + 1, state.tick + 1):
        trace = _followed(trace, world, now, facts.doings)
    trace = attrs.evolve(trace, plays=len(state.history), facts=facts)
    state.keep(trace)
    return trace


def _begun(world: Simulation, now: int, facts: Facts) -> ScreenTrace:
    """A trace of a single screen."""
    shown = tuple(world.shown(now, facts.doings))
    readings = {one.cell: one for one in shown if one.channel in _READ}
    return ScreenTrace(
        now, 0, facts, _by_channel(shown), _once(shown) if now == 0 else None, readings
    )


def _followed(trace: ScreenTrace, world: Simulation, now: int, doings: Doings) -> ScreenTrace:
    """The trace with one more screen."""
    before, readings = trace.panels, trace.readings
    if type(world).shown is not Simulation.shown:  # it words its screens in its own way
        shown = tuple(world.shown(now, doings))
        evidence = None if trace.evidence is None else _once((*trace.evidence, *shown))
        return ScreenTrace(now, 0, trace.facts, _by_channel(shown), evidence, {})
    shown, new, asked = [], [], {}
    for cell in news(world.setting, world.topology, world.speakers(now), now, doings):
        known = readings.get(cell) or asked.get(cell) if cell[0] in _READ else None
        one = Evidence(*cell, world.token(cell, doings)) if known is None else known
        shown.append(one)
        if known is None:
            new.append(one)
            if cell[0] in _READ:
                asked[cell] = one
    panels = _by_channel(shown)
    if Channel.ALERT in panels:
        panels[Channel.ALERT] = before.get(Channel.ALERT, ()) + panels[Channel.ALERT]
    for channel in _STAY:
        if channel not in panels and channel in before:
            panels[channel] = before[channel]
    return ScreenTrace(
        now,
        0,
        trace.facts,
        panels,
        None if trace.evidence is None else (*trace.evidence, *new),
        {**readings, **asked} if asked else readings,
        dict(trace.said),
        dict(trace.pools),
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
