"""Make the words and figures of a simulated incident's screens from the cells on them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

from logtriage.errors import InvalidInput
from logtriage.state import State
from logtriage.trace import Cells, ScreenTrace
from logtriage.world.channels import Channel, Evidence
from logtriage.world.histories import tick_of, trouble
from logtriage.world.schedule import Doings, edge_starts, rows
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import Alert, EdgePanel
from logtriage.world.voice import Voice
from logtriage.world.voice import voice_of as voice_with

Words = TypeVar("Words")
#: A cache of words by what they are about: (cells that they were made from, words).
Said = dict[object, tuple[object, Any]]


def saying(
    voice: Voice, trace: ScreenTrace, readings: Cells, since: int, team: str
) -> Callable[[str], object]:
    """A function that makes the value of a field of an observation from what was shown.

    ``readings`` are the cells of the edge so far, ``since`` is the tick at which the trouble began,
    ``team`` the team of the note. The function does not hold the truth.
    """
    said, cells = trace.said, trace.panels.get

    def edge() -> EdgePanel:
        return words(
            said, Channel.EDGE, cells(Channel.EDGE, ()), lambda _: voice.edges(readings, since)
        )

    def say(field: str) -> object:
        match field:
            case "alerts":
                return words(said, Channel.ALERT, cells(Channel.ALERT, ()), voice.alerts)
            case "window":
                return tuple(voice.lines(cells(Channel.WINDOW, ())))
            case "inspection":
                return tuple(voice.lines((*cells(Channel.LOGS, ()), *cells(Channel.OVERVIEW, ()))))
            case "changes":
                return words(said, Channel.CHANGE, cells(Channel.CHANGE, ()), voice.changes)
            case "edge":
                return edge()
            case "metrics":
                return voice.gauges(cells(Channel.METRICS, ()))
            case "traces":
                asked = cells(Channel.TRACES, ())
                return voice.traces(asked, edge()) if asked else ()
            case "notes":
                return tuple([voice.note(cell, team) for cell in cells(Channel.NOTE, ())])
        raise AssertionError(field)

    return say


def voice_in(said: Said, simulation: Simulation) -> Voice:
    """The voice of an incident, cached in ``said``."""
    if Voice not in said:
        said[Voice] = None, voice_of(simulation)  # it is made from no cells
    voice: Voice = said[Voice][1]
    return voice


def words(said: Said, key: object, shown: Cells, say: Callable[[Cells], Words]) -> Words:
    """``say(shown)``, cached in ``said`` under ``key`` for as long as ``shown`` is the same."""
    cells, made = said.get(key, (None, None))
    if cells is not shown:
        made = say(shown)
        said[key] = shown, made
    return cast(Words, made)


def glance(state: State) -> tuple[tuple[Alert, ...], EdgePanel]:
    """(alerts, edge panel) of a simulated incident's screen; InvalidInput for a recording."""
    simulation = state.incident.telemetry
    if not isinstance(simulation, Simulation):
        raise InvalidInput(f"{state.incident.id}: expected a simulated incident")
    return _glance(simulation, state.tick, state.facts.doings)


def edge_panel(simulation: Simulation, now: int, doings: Doings) -> EdgePanel:
    """The edge panel of a tick with its series."""
    since = tick_of(trouble(simulation.setting))
    return voice_of(simulation).edges(edge_readings(simulation, now, doings), since)


def edge_readings(simulation: Simulation, now: int, doings: Doings) -> Cells:
    """The cells of the edge from tick 0 up to a tick, all of which stood on a screen."""
    return tuple(
        [
            cell
            for start in edge_starts(now, doings)
            for cell in simulation.row((Channel.EDGE, start, ((-1, 0),)), doings)
        ]
    )


def voice_of(simulation: Simulation) -> Voice:
    """The voice of an incident, which words its tokens."""
    return voice_with(
        simulation.setting.world, simulation.topology, simulation.seed, simulation.phrasing
    )


@lru_cache(maxsize=4096)
def _glance(
    simulation: Simulation, now: int, doings: Doings
) -> tuple[tuple[Alert, ...], EdgePanel]:
    """:func:`glance`; draws the rows of alerts and the edge, and no other cells."""
    alerts: list[Evidence] = []
    for row in rows(simulation.setting, simulation.topology, simulation.speakers(now), now, doings):
        if row[0] is Channel.ALERT:
            alerts += simulation.row(row, doings)
    return voice_of(simulation).alerts(alerts), edge_panel(simulation, now, doings)
