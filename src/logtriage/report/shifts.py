"""The timeline of shifts: a page with a row for each incident, and what was done to it when.

A self-contained file that loads nothing and runs no script; no extra is needed. The name of a
system leads to its incident on a replay page beside it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any, Final
from urllib.parse import quote

import attrs

from logtriage import __version__
from logtriage._lib.files import replacing
from logtriage._lib.printable import counted
from logtriage.actions import Wait, describe
from logtriage.evaluation.cell_files import read_shifts, shifts_file
from logtriage.grading import grade as grade_alone
from logtriage.grading import unscored
from logtriage.report.episode import Episode
from logtriage.report.replay.document import MAX_BELIEFS, document
from logtriage.report.replay.page import render_replay
from logtriage.report.text import number
from logtriage.shift import ShiftState, begin, grade, make_shift, take
from logtriage.shift.grades import IncidentGrade, ShiftGrade
from logtriage.shift.screens import observe
from logtriage.shift.states import Note, On
from logtriage.state import State
from logtriage.transcript import transcript_of

#: Pixels: the width of a tick, the height of a row, the width of names and of decisions.
_TICK: Final = 5
_ROW: Final = 22
_LEFT: Final = 110
_AFTER: Final = 230
#: The mark of each type of decision, which stands after the bar of its incident.
_MARKS: Final = {
    "Escalate": "P",
    "Remediate": "R",
    "HandOver": "H",
    "IdentifyRootCause": "C",
    "ClassifySeverity": "S",
    "Resolve": "✓",
    "Ignore": "✓",
}
_STYLE: Final = (
    ":root{color-scheme:light dark}body{font:14px system-ui;margin:2em}p{max-width:92ch}"
    "text{font:12px system-ui;fill:CanvasText}a text{fill:LinkText}.none{opacity:.65}"
    ".deed{stroke:CanvasText;stroke-width:1.5}.deed.asked{opacity:.45}.grid{stroke:CanvasText;opacity:.15}"
    "line.alert{stroke:#c60;stroke-width:3}rect{stroke:#777}summary{cursor:pointer}"
    ".wide{overflow-x:auto}svg{display:block}"
)
_LEGEND: Final = (
    "Time runs to the right, in ticks. A bar is an incident from its first alert to its end, the "
    "fuller of colour the better its grade; its upper edge is orange while an alert fires. A line "
    "in it is an action: short and faint for a request, high for a decision. After it stand its "
    "decisions, each with its ticks since the first alert (P page, C root cause, S severity, "
    "R remedy, H hand-over, ✓ closed), and the grade. N below is a note."
)


def write_timelines(run: Path, out: Path, *, beliefs: int = MAX_BELIEFS) -> int:
    """Write the timelines of a run or a file of shifts; return the number of shifts.

    A replay page of every incident with an action is written beside ``out``; the names of systems
    link to it. At most ``beliefs`` of its episodes show a belief. An InvalidInput names a bad
    line.
    """
    shown, episodes, grades = list[str](), list[Episode](), dict[str, list[float]]()
    incidents = out.with_name(f"{out.stem}-incidents.html")
    failed = Counter[str]()
    for record in read_shifts(shifts_file(run)):
        policy, error = record["policy"], record["error"]
        state, firing = _replay(record["shift"], record["actions"])
        graded = grade(state)
        scores = grades.setdefault(policy, [])
        if error is not None:
            failed[policy] += 1
        else:
            scores.append(graded.score)
        shown.append(_timeline(policy, state, graded, firing, quote(incidents.name), error))
        for alone in state.states:
            if alone.history:
                episodes.append(_as_episode(policy, alone, error))
    means = "".join(
        f"<li>{escape(policy)}: mean grade {number(fmean(scores) if scores else None)} of "
        f"{counted(len(scores), 'shift')}, {failed[policy]} unscored</li>"
        for policy, scores in grades.items()
    )
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shifts</title>'
        f"<style>{_STYLE}</style><h1>Shifts</h1><ul>{means}</ul><p>{_LEGEND}</p>{''.join(shown)}</html>\n"
    )
    replays = document(run.name, __version__, episodes, beliefs=beliefs, shifts=True)
    for path, text in ((out, page), (incidents, render_replay(replays))):
        with replacing(path) as handle:
            handle.write(text.encode("utf-8", "backslashreplace"))
    return len(shown)


def _as_episode(policy: str, state: State, error: str | None) -> Episode:
    """An incident of a shift as an episode; a wait stands for the ticks after its last action."""
    if state.tick > state.history[-1][0] + 1:  # ticks passed after its last action
        state = attrs.evolve(state, history=(*state.history, (state.tick - 1, Wait())))
    graded = grade_alone(state) if error is None else unscored(state.incident, error)
    return Episode(policy, state.incident, transcript_of(state, agent=policy), graded)


def _replay(
    shift_id: str, actions: Iterable[Mapping[str, Any]]
) -> tuple[ShiftState, Mapping[str, list[int]]]:
    """The last state of a shift, and by system the ticks in which an alert fired."""
    state, firing = begin(make_shift(shift_id)), dict[str, list[int]]()
    for wire in actions:
        for row in observe(state).board:
            if row.alerts:
                firing.setdefault(row.system, []).append(state.tick)
        state = take(state, wire)
    return state, firing


def _timeline(
    policy: str,
    state: ShiftState,
    graded: ShiftGrade,
    firing: Mapping[str, list[int]],
    replays: str,
    error: str | None,
) -> str:
    """The timeline of a shift; ``replays`` is the page of its incidents, ``error`` the policy's."""
    scored = error is None
    link = f"{replays}#/e/{quote(policy, safe='')}"
    lines = []
    for place, (row, alone) in enumerate(zip(graded.incidents, state.states, strict=True)):
        lines.append(_row(place, state, row, alone, firing, link, scored))
    height = _ROW * (len(graded.incidents) + 2)
    width = _LEFT + _TICK * state.shift.task.ticks + _AFTER
    reasons = "".join(
        f"<li><b>{escape(row.system)}</b> (counts {row.weight}) {number(row.grade.score)}: "
        f"{escape(row.reason)}</li>"
        for row in graded.incidents
    )
    left = "" if state.is_over else f", left at tick {state.tick}"
    outcome = f"{number(graded.score)}{left}" if scored else f"not scored: {error}"
    title = "<summary>Why each incident earned what it did</summary>"
    return (
        f"<h2>{escape(policy)} on {escape(graded.shift)}: {escape(outcome)}</h2>"
        f'<div class="wide"><svg width="{width}" height="{height}" role="img" '
        f'aria-label="timeline">{"".join((*_axis(state, height), *lines))}</svg></div>'
        f"{f'<details>{title}<ul>{reasons}</ul></details>' if scored else ''}"
    )


def _axis(state: ShiftState, height: int) -> Iterator[str]:
    for tick in range(0, state.shift.task.ticks + 1, 20):
        yield (
            f'<text x="{_x(tick)}" y="14" text-anchor="middle">{tick}</text>'
            f'<path class="grid" d="M{_x(tick)} {_ROW}V{height - _ROW}"/>'
        )
    for tick, action in enumerate(state.history):
        if isinstance(action, Note):
            text = escape(action.text)
            yield f'<text x="{_x(tick)}" y="{height - 6}">N<title>{text}</title></text>'


def _row(
    place: int,
    shift: ShiftState,
    graded: IncidentGrade,
    state: State,
    firing: Mapping[str, list[int]],
    link: str,
    scored: bool,
) -> str:
    """The row of an incident, as :data:`_LEGEND` says; ``link`` leads to the policy's replays."""
    score = graded.grade.score if scored else None
    arrived, system = graded.arrived_at, graded.system
    end = arrived + (state.closed_at or state.tick)
    top = _ROW * (place + 1)
    opacity = 0.08 + 0.8 * (score or 0.0)
    name = f'<text x="0" y="{top + 15}">{escape(system)}</text>'
    if state.history:
        name = f'<a href="{escape(f"{link}/{quote(state.incident.id)}")}">{name}</a>'
    parts = [
        name,
        f'<rect x="{_x(arrived)}" y="{top + 3}" width="{_TICK * (end - arrived)}" height="15" '
        f'fill="#2a7" fill-opacity="{opacity:.2f}"><title>{escape(graded.reason)}</title></rect>',
    ]
    for tick in firing.get(system, ()):
        ends = f'x1="{_x(tick)}" x2="{_x(tick + 1)}" y1="{top + 3}" y2="{top + 3}"'
        parts.append(f'<line class="alert" {ends}/>')
    decisions = []
    for tick, action in enumerate(shift.history):
        if isinstance(action, On) and action.system == system and tick < end:
            mark = _MARKS.get(type(action.action).__name__)
            sort, tall = ("deed", 11) if mark else ("deed asked", 5)
            stroke = f'class="{sort}" d="M{_x(tick) + 2.5} {top + 17}v-{tall}"'
            title = f"<title>tick {tick}: {escape(describe(action.action))}</title>"
            parts.append(f"<path {stroke}>{title}</path>")
            if mark is not None:
                decisions.append(f"{mark}{tick - arrived}")
    text = f"{' '.join(decisions) or 'nothing was decided'} · {number(score, 2)}"
    faint = "" if decisions else ' class="none"'
    parts.append(f'<text x="{_x(end) + 8}" y="{top + 15}"{faint}>{text}</text>')
    return "".join(parts)


def _x(tick: int) -> int:
    return _LEFT + _TICK * tick
