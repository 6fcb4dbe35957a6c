"""What the engineer sees of a shift, as data and as text; never anything that is yet to come."""

from functools import lru_cache
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import unmarked
from logtriage.actions import Malformed, Severity
from logtriage.errors import InvalidInput, UnknownName, kind_of
from logtriage.observation import Observation
from logtriage.observation import observe as observe_incident
from logtriage.rendering import Reply, public_rules, render_observation
from logtriage.rendering.panels import edge
from logtriage.shift.shifts import WEIGHTS, Shift
from logtriage.shift.states import (
    LEAST,
    MAX_NOTE,
    MEMORY,
    SHARE,
    ShiftAction,
    ShiftState,
    described,
)
from logtriage.wording import glance
from logtriage.world.telemetry import Alert, EdgePanel

#: Beyond this many characters, a screen shows less of the board. The incident in full is never
#: cut, since its answers cost ticks: a screen is longer where that alone leaves no room.
MAX_SCREEN: Final = 3000


@attrs.frozen
class BoardRow:
    """An open incident on the board; ``worth`` is what a hand-over earns now.

    ``tick`` and ``horizon`` are the incident's, ``pages`` the teams paged, ``touched`` is whether
    the engineer acted on it.
    """

    system: str
    tick: int
    horizon: int
    worth: float
    alerts: tuple[Alert, ...]
    edge: EdgePanel
    pages: tuple[str, ...]
    touched: bool


@attrs.frozen
class ShiftObservation:
    """One screenful of a shift.

    ``worth_share`` is the share of its full worth that a hand-over earns now, after ``hand_overs``
    of late. ``board`` has the open incidents in order of arrival, ``closed`` (system, closing) of
    those closed in the last tick, ``last`` the last action. ``system`` is the one touched last,
    None if its incident is not open; ``screen`` shows that incident in full.
    """

    tick: int
    ticks: int
    worth_share: float
    hand_overs: int
    board: tuple[BoardRow, ...]
    closed: tuple[tuple[str, str], ...]
    notes: str
    last: ShiftAction | None
    system: str | None
    screen: Observation | None
    over: bool

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the open incidents."""
        return tuple(row.system for row in self.board)


def observe(state: ShiftState) -> ShiftObservation:
    """What the engineer may see of a shift; InvalidInput if ``state`` is not of a shift."""
    if not isinstance(state, ShiftState):
        raise InvalidInput(f"expected the state of a shift, got {kind_of(state)}")
    rows = []
    for system, inner in state.open.items():
        alerts, panel = glance(inner)
        worth = inner.incident.worth_of_hand_over
        assert worth is not None  # all incidents of shifts have one
        pages = tuple(team for _, team in inner.facts.pages)
        horizon, touched = inner.incident.horizon, bool(inner.history)
        rows.append(BoardRow(system, inner.tick, horizon, worth, alerts, panel, pages, touched))
    closed = tuple(
        (arrival.system, str(inner.closing))
        for arrival, inner in state.arrived
        if inner.closed_at is not None and arrival.tick + inner.closed_at == state.tick
    )
    focus = state.touched if state.touched in state.open else None
    return ShiftObservation(
        tick=state.tick,
        ticks=state.shift.task.ticks,
        worth_share=state.worth_share,
        hand_overs=state.hand_overs,
        board=tuple(rows),
        closed=closed,
        notes=state.notes,
        last=state.history[-1] if state.history else None,
        system=focus,
        screen=None if focus is None else observe_incident(state.open[focus]),
        over=state.is_over,
    )


def render(seen: ShiftObservation) -> str:
    """One screen as text; beyond :data:`MAX_SCREEN` characters the board only names systems."""
    head = [f"SHIFT TICK {seen.tick}/{seen.ticks}"]
    if seen.hand_overs:
        head[0] += f"; {seen.hand_overs} handed over of late, "
        head[0] += f"so that HAND-OVERS count {seen.worth_share:g}"
    if isinstance(seen.last, Malformed):
        head.append(f"LAST: not understood: {seen.last.reason}")
    elif seen.last is not None:
        head.append(f"LAST: {described(seen.last)}")
    head.extend(f"CLOSED: {system} ({closing})" for system, closing in seen.closed)
    tail = [f"NOTES: {unmarked(seen.notes)}"] if seen.notes else []
    if seen.screen is not None:
        tail.append(f"IN FULL, {seen.system}:\n{render_observation(seen.screen)}")
    if seen.over:
        tail.append("THE SHIFT IS OVER.")
    left = MAX_SCREEN - len("\n".join((*head, *tail)))
    return "\n".join((*head, *_board(seen, left), *tail))


def _board(seen: ShiftObservation, left: int) -> list[str]:
    """The rows of the board, within ``left`` characters."""
    if not seen.board:
        return ["BOARD: nothing is open"]
    rows = ["BOARD:"]
    names = ", ".join(seen.systems)
    left -= len(rows[0]) + len(names) + 20  # rows may end in "and", the names and a line break
    for number, row in enumerate(seen.board):
        text = _row(row, in_full=row.system == seen.system)
        left -= len(text) + 1
        if left < 0:
            rows.append(f"and {', '.join(seen.systems[number:])}")
            break
        rows.append(text)
    return rows


def _row(row: BoardRow, *, in_full: bool) -> str:
    head = f"{row.system} tick {row.tick}/{row.horizon}"
    if in_full:
        return f"{head}; hand-over {row.worth:.2f}; in full below"
    alerts = grouped((alert.name, alert.service) for alert in row.alerts)
    firing = "; ".join(f"{name} {', '.join(services)}" for name, services in alerts.items())
    paged = f"; paged {', '.join(row.pages)}" if row.pages else ""
    new = "" if row.touched else ", untouched"
    return (
        f"{head}{new}; hand-over {row.worth:.2f}; "
        f"{edge(row.edge, readings=1)}; ALERTS: {firing or 'none'}{paged}"
    )


@lru_cache(maxsize=16)
def shift_prompt(shift: Shift, reply: Reply = "json") -> str:
    """The rules of a shift and of its incidents, for a ``reply`` in ``json`` or by ``tools``."""
    example = '{"system": "<system>", "action_type": "resolve"}'
    how = {
        "json": f"ON THE SHIFT every action names its system, such as {example}; besides, there "
        'are {"action_type": "note", "value": "<text>"} and {"action_type": "wait", "ticks": <n>}.',
        "tools": "ON THE SHIFT every call names its system, but for wait and note.",
    }
    if reply not in how:
        raise UnknownName("reply", reply, how)
    task, any_incident = shift.task, shift.arrivals[0].incident
    setting, topology = any_incident.setting, any_incident.topology
    counts = ", ".join(f"{severity} {weight}" for severity, weight in WEIGHTS.items())
    rules = (
        f"You are on call for a shift of {task.ticks} ticks. Incidents come, each on a system of "
        f"its own: one at tick 0, then in {task.rate / 10:g}% of ticks, none after tick "
        f"{task.last_arrival}. They are independent, and all systems are built alike. In each "
        "tick you do one thing, an action on one system, a wait or a note, and time passes for "
        f"all. An incident's ticks count from its first alert; it is open for {task.horizon}.",
        "SCREEN: the board has every open incident; the one that you touched last follows in full.",
        "WAIT lets one tick pass, or several until an incident arrives.",
        f"NOTE writes the notebook anew. It holds {MAX_NOTE} characters and stays on the screen.",
        f"HAND-OVER: each one of the last {MEMORY} ticks takes {SHARE:.0%} off what the next is "
        f"worth, down to {LEAST:.0%}. The board says what it is worth now.",
        f"GRADE: the mean of the incidents' grades, weighed by severity ({counts}; benign "
        f"{WEIGHTS[Severity.P3]}). An incident that nobody touches earns 0.",
    )
    incident_rules = public_rules(topology, task.horizon, any_incident.rubric, setting, reply)
    return "\n".join(
        (*rules, "EACH INCIDENT has the rules of one that is alone:", incident_rules, how[reply])
    )
