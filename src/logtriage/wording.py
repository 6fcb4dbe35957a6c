"""Words and figures of a simulated incident's screens, made from the cells that they show."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

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
#: What was said last, by what it was about, each with the cells that it was said of.
Said = dict[object, tuple[object, Any]]


def saying(
    voice: Voice, trace: ScreenTrace, readings: Cells, since: int, team: str
) -> Callable[[str], object]:
    """What words the panels of a screen, by field: it knows what was shown, and no truth.

    ``readings`` are the cells of the edge, ``since`` is the tick of the trouble.
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


def voice_in(said: Said, world: Simulation) -> Voice:
    """The voice of an incident, kept with what its screens said."""
    voice: Voice = (said.get(Voice) or said.setdefault(Voice, (None, voice_of(world))))[1]
    return voice


def words(said: Said, key: object, shown: Cells, say: Callable[[Cells], Words]) -> Words:
    """What the cells of a panel say; as long as they are the same, it is said once."""
    kept = said.get(key)
    if kept is not None and kept[0] is shown:
        words: Words = kept[1]
        return words
    words = say(shown)
    said[key] = shown, words
    return words


def glance(state: State) -> tuple[tuple[Alert, ...], EdgePanel]:
    """The alerts and the edge of a simulated incident alone; InvalidInput for a recording."""
    world = state.incident.telemetry
    if not isinstance(world, Simulation):
        raise InvalidInput(f"{state.incident.id}: expected a simulated incident")
    return _glance(world, state.tick, state.facts.doings)


def edge_panel(world: Simulation, now: int, doings: Doings) -> EdgePanel:
    """The edge panel of a tick with its series."""
    since = tick_of(trouble(world.setting))
    return voice_of(world).edges(edge_readings(world, now, doings), since)


def edge_readings(world: Simulation, now: int, doings: Doings) -> Cells:
    """The cells of the edge up to a tick; every one since tick 0 stood on a screen."""
    return tuple(
        [
            cell
            for start in edge_starts(now, doings)
            for cell in world.row((Channel.EDGE, start, ((-1, 0),)), doings)
        ]
    )


def voice_of(world: Simulation) -> Voice:
    """What words the tokens of an incident."""
    return voice_with(world.setting.world, world.topology, world.seed, world.phrasing)


@lru_cache(maxsize=4096)
def _glance(world: Simulation, now: int, doings: Doings) -> tuple[tuple[Alert, ...], EdgePanel]:
    """Alerts stand in rows of their own; the other cells are not drawn."""
    alerts: list[Evidence] = []
    for row in rows(world.setting, world.topology, world.speakers(now), now, doings):
        if row[0] is Channel.ALERT:
            alerts += world.row(row, doings)
    return voice_of(world).alerts(alerts), edge_panel(world, now, doings)
