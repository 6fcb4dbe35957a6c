"""How incidents, truths and grades look in a terminal."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logtriage.actions import describe
from logtriage.grading import Grade
from logtriage.incident import Incident
from logtriage.roles import RoleSplit
from logtriage.state import State

_HEADING: Final = re.compile(r"^(?:TICK \S+|HEALTH|[A-Z][A-Za-z ]*:)", re.MULTILINE)
_BAD: Final = re.compile(r"\b(?:FATAL|ERROR|failing)\b")
_POOR: Final = re.compile(r"\b(?:WARN|degraded)\b")
_DIM: Final = re.compile(r"^[+-]\d+s ", re.MULTILINE)


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a fixed number of digits; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def screen(rendered: str) -> Text:
    """A rendered observation with a little colour."""
    text = Text(rendered)
    text.highlight_regex(_HEADING, "bold cyan")
    text.highlight_regex(_BAD, "red")
    text.highlight_regex(_POOR, "yellow")
    text.highlight_regex(_DIM, "dim")
    return text


def facts(rows: list[tuple[str, str]]) -> RenderableType:
    """Names and values in two columns."""
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def truth(incident: Incident) -> RenderableType:
    """The answer, for people."""
    answer = incident.truth
    rows = [
        ("fault", "none: benign" if answer.fault is None else _fault(incident)),
        ("severity", str(answer.severity or "not known")),
    ]
    if not answer.benign:
        remedies = sorted(f"{remedy}:{service}" for remedy, service in answer.remedies)
        rows += [
            ("root cause", " or ".join(sorted(answer.root_causes))),
            ("page", " or ".join(sorted(answer.teams)) or "not known"),
            ("remedy", " or ".join(remedies) or "not known"),
        ]
    return facts(rows)


def _fault(incident: Incident) -> str:
    fault = incident.truth.fault
    return "" if fault is None else f"{fault.kind} on {fault.service}"


def debrief(state: State, grade: Grade, roles: RoleSplit | None = None) -> RenderableType:
    """What was done, what it was worth and why, and what would have been right."""
    done = [(f"tick {tick + 1}", text) for tick, text in _told(state, roles)]
    return Group(
        heading("ACTIONS"),
        facts(done or [("none", "")]),
        heading("GRADE"),
        Padding(criteria(grade), (0, 0, 0, 2)),
        verdict(grade),
        heading("TRUTH"),
        truth(state.incident),
    )


def _told(state: State, roles: RoleSplit | None) -> Iterator[tuple[int, str]]:
    """Each action with its tick, and in joint play with the role that took it."""
    if roles is None:
        yield from ((tick, describe(action)) for tick, action in state.history)
        return
    for tick, plays in groupby(state.history, key=lambda one: one[0]):
        for role, (_, action) in zip(roles.names, plays, strict=False):
            yield tick, f"{role}: {describe(action)}"


def heading(text: str) -> Text:
    """A line above something else."""
    return Text(text, style="bold cyan")


def criteria(grade: Grade) -> Table:
    """Every criterion with its score, weight, points and reason."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("criterion", no_wrap=True)
    for name in ("score", "weight", "points"):
        table.add_column(name, justify="right")
    table.add_column("why", ratio=1)
    for one in grade.criteria:
        style = "green" if one.score >= 1 else "red" if one.score <= 0 else "yellow"
        table.add_row(
            one.name,
            Text(number(one.score, 2), style=style),
            number(one.weight, 2),
            number(one.score * one.weight),
            one.reason,
        )
    return table


def verdict(grade: Grade) -> Text:
    """The total, the discounts that lowered it, and the gate that made it zero if one did."""
    if grade.score is None:
        return Text(f"  not scored: {grade.cause}", style="bold yellow")
    text = Text.assemble("  ", (number(grade.score), "bold"), f"  by rubric {grade.rubric}")
    for one in grade.discounts:
        text.append(f"\n  {one.name} leaves {number(one.factor)} of it: {one.reason}", "yellow")
    if grade.gate is not None:
        text.append(f"\n  {grade.gate} makes it 0: {grade.gate_reason}", style="red")
    return text
