"""A cache of what the screens of a state have shown, so that no later state draws it again.

A trace is filled when a state is observed, or a belief is formed of it, and is passed on to the
states that follow. It refers to no state, and is no part of a state's value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import attrs

from logtriage.facts import Facts
from logtriage.state import State
from logtriage.world.channels import Channel, Evidence
from logtriage.world.schedule import Cell, news, rows
from logtriage.world.simulation import Simulation

Cells = tuple[Evidence, ...]
#: The channels whose cells stay on the screen after they were first shown.
_STAY: Final = (Channel.ALERT, Channel.EDGE, Channel.CHANGE)
#: The channels whose cells a repeated request shows again.
_READ: Final = frozenset({Channel.METRICS, Channel.TRACES, Channel.LOGS})
#: A row of gauges, traces or logs that was asked for: channel, start and service.
Asked = tuple[Channel, int, int]


@attrs.define(eq=False)
class ScreenTrace:
    """The screens of a simulated incident up to tick ``tick``.

    ``facts`` sum up the first ``plays`` actions. ``panels`` are the cells of the last screen,
    ``evidence`` those of all screens, each once; None if screens were left out. ``asked`` holds the
    cells that were asked for, ``said`` the words of panels, ``outcomes`` what beliefs made of them.
    """

    tick: int
    plays: int
    facts: Facts
    panels: Mapping[Channel, Cells]
    evidence: Cells | None
    asked: Mapping[Asked, Cells]
    said: dict[object, tuple[object, Any]] = attrs.field(factory=dict)
    outcomes: dict[Any, Any] = attrs.field(factory=dict)


def traced(state: State, simulation: Simulation, *, whole: bool = False) -> ScreenTrace:
    """The trace of a state; with ``whole`` it has the evidence of all screens so far."""
    trace = trace_of(state)
    facts, plays = state.facts, len(state.history)
    if trace is None or (whole and trace.evidence is None):
        trace = _begun(simulation, 0 if whole else state.tick, plays, facts)
    elif trace.tick == state.tick:
        if trace.plays == plays:
            return trace
        trace = attrs.evolve(trace, plays=plays, facts=facts)
    for now in range(trace.tick + 1, state.tick + 1):
        trace = _with_screen(trace, simulation, now, plays, facts)
    remember(state, trace)
    return trace


def trace_of(state: State) -> ScreenTrace | None:
    """The trace that a state has, perhaps of an earlier tick; None if it has none."""
    trace: ScreenTrace | None = state._trace
    return trace


def remember(state: State, trace: ScreenTrace | None) -> None:
    """Give a trace to a state and those that follow it. Only this module may set the attribute."""
    object.__setattr__(state, "_trace", trace)


def in_turn(states: Iterable[State]) -> Iterator[State]:
    """The states of an episode, each with the trace of the state yielded before it."""
    known = None
    for state in states:
        if known is not None:
            remember(state, known)
        yield state
        known = trace_of(state)


def _begun(simulation: Simulation, now: int, plays: int, facts: Facts) -> ScreenTrace:
    """A trace of the screen of ``now`` alone; it has evidence if that is the first screen."""
    doings, panels, asked = facts.doings, dict[Channel, Cells](), dict[Asked, Cells]()
    for row in rows(simulation.setting, simulation.topology, simulation.speakers(now), now, doings):
        channel, start, spots = row
        shown = tuple(simulation.row(row, doings))
        panels[channel] = panels.get(channel, ()) + shown
        if channel in _READ:
            asked[channel, start, spots[0][0]] = shown
    evidence = _once(chain.from_iterable(panels.values())) if now == 0 else None
    return ScreenTrace(now, plays, facts, panels, evidence, asked)


def _with_screen(
    trace: ScreenTrace, simulation: Simulation, now: int, plays: int, facts: Facts
) -> ScreenTrace:
    """The trace with the screen of ``now``, the tick after its last."""
    evidence, doings = trace.evidence, facts.doings
    by_channel, new, read = dict[Channel, list[Evidence]](), list[Evidence](), dict[Asked, Cells]()
    for row in news(simulation.setting, simulation.topology, simulation.speakers(now), now, doings):
        channel, start, spots = row
        asked = channel, start, spots[0][0]  # the spots of a row that is read have one service
        known: Sequence[Evidence] | None = trace.asked.get(asked) if channel in _READ else None
        if known is None:
            known = simulation.row(row, doings)
            new += known
            if channel in _READ:
                read[asked] = tuple(known)
        by_channel.setdefault(channel, []).extend(known)
    panels: dict[Channel, Cells] = {channel: tuple(cells) for channel, cells in by_channel.items()}
    before = trace.panels
    for channel in _STAY:
        if channel not in panels:
            panels[channel] = before.get(channel, ())
        elif channel is not Channel.EDGE:  # its new panel replaces the one before
            panels[channel] = before.get(channel, ()) + panels[channel]
    return ScreenTrace(
        tick=now,
        plays=plays,
        facts=facts,
        panels=panels,
        evidence=None if evidence is None else (*evidence, *new),
        asked={**trace.asked, **read} if read else trace.asked,
        said=trace.said.copy(),  # another state may follow the same trace
        outcomes=trace.outcomes.copy(),
    )


def _once(shown: Iterable[Evidence]) -> Cells:
    """Each cell once, as it was first shown."""
    cells: dict[Cell, Evidence] = {}
    for cell in shown:
        cells.setdefault(cell.cell, cell)
    return tuple(cells.values())
