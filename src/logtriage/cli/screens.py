"""How incidents, truths and grades look in a terminal."""

import re
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logtriage.grading import Graded
from logtriage.grading.debrief import COLUMNS, debrief_of
from logtriage.incident import Incident
from logtriage.rendering.sparklines import sparklined
from logtriage.report.text import number as of_pages
from logtriage.report.text import truth_of
from logtriage.roles import RoleSplit
from logtriage.state import State

_HEADING: Final = re.compile(
    r"^(?:TICK [^;\s]+|(?:METRICS|TRACES) [^:]+:|CHANGES[^:]*:|HEALTH|[A-Z][A-Za-z ]*:)",
    re.MULTILINE,
)
_BAD: Final = re.compile(r"\b(?:FATAL|ERROR|failing)\b")
_POOR: Final = re.compile(r"\b(?:WARN|degraded)\b")
_DIM: Final = re.compile(r"^[+-]\d+s ", re.MULTILINE)


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a fixed number of digits; a dash where there is none."""
    return of_pages(value, digits).replace("−", "-")


def signed(value: float) -> str:
    """A figure with its sign; a rounded 0 has a plus."""
    text = number(value)
    return text if value < 0 and float(text) else f"+{text}"


def screen(rendered: str) -> Text:
    """A rendered observation with colours, and a sparkline for each series."""
    text = Text("\n".join(map(sparklined, rendered.split("\n"))))
    text.highlight_regex(_HEADING, "bold cyan")
    text.highlight_regex(_BAD, "red")
    text.highlight_regex(_POOR, "yellow")
    text.highlight_regex(_DIM, "dim")
    return text


def facts(rows: list[tuple[str, str]]) -> RenderableType:
    """Names and values in two columns. Markup in them is shown as text."""
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def truth(incident: Incident) -> RenderableType:
    """The answer, for people."""
    return facts(list(truth_of(incident).items()))


def debrief(
    state: State, grade: Graded, roles: RoleSplit | None = None, luck: Sequence[str] = ()
) -> RenderableType:
    """The grade with its reasons, the truth, and the actions; ``luck`` is that of the verdict."""
    words = debrief_of(grade, None if roles is None else roles.names, luck)
    return Group(
        Text(words.verdict, style="bold"),
        heading("GRADE"),
        total(grade),
        Padding(criteria_table(grade), (0, 0, 0, 2)),
        heading("TRUTH"),
        truth(state.incident),
        heading("ACTIONS"),
        facts(list(words.actions) or [("none", "")]),
    )


def heading(text: str) -> Text:
    """A heading."""
    return Text(text, style="bold cyan")


def criteria_table(grade: Graded) -> Table:
    """A table of every criterion with its score, weight, points and reason."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    first, *figures, why = COLUMNS
    table.add_column(first, no_wrap=True)
    for column in figures:
        table.add_column(column, justify="right")
    table.add_column(why, ratio=1)
    for criterion, (name, told, *rest) in zip(
        grade.criteria, debrief_of(grade).criteria, strict=True
    ):
        style = "green" if criterion.score >= 1 else "red" if criterion.score <= 0 else "yellow"
        table.add_row(Text(name), Text(told, style=style), *map(Text, rest))
    return table


def total(grade: Graded) -> Text:
    """The score, then the gates and discounts that changed it."""
    score, *others = debrief_of(grade).total
    text = Text(f"  {score}", style="bold yellow" if grade.score is None else "bold")
    for line in others:
        text.append(f"\n  {line}", style="red")
    return text
