"""The contents of the console's pages."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.actions import describe
from logtriage.cli.desk.glance import BARS, NAMES, SPAN, Look, glances
from logtriage.cli.desk.session import Session
from logtriage.cli.desk.signs import signs_of
from logtriage.cli.screens import facts, heading, screen
from logtriage.cli.typed import commands
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.rendering import render_observation

_STYLES: Final = {
    Look.UNSEEN: "dim",
    Look.QUIET: "green",
    Look.WARNS: "yellow",
    Look.ERRORS: "red",
    Look.ALERTS: "bold red",
}
_KEYS: Final = (
    ("Tab", "complete the line; again for the next possibility"),
    ("↑ ↓", "lines typed before"),
    ("PgUp PgDn", "scroll the page on the right"),
    ("F1 to F5", "help, screen, journal, rules, map"),
)
_LOOKS: Final = (
    ("?", "nothing was seen of it so far"),
    ("quiet", "it was seen without warnings, errors or odd readings"),
    ("warns, errors", "the worst line or reading when it was last seen"),
    ("alerts", "an alert fires"),
    (BARS, "the same, for each of the latest ticks"),
)
#: Services that stand on the page without scrolling.
_FIT: Final = 16


def services(session: Session, room: int = 0) -> Text:
    """Name, state and sparkline of each service; of many services, the worst first.

    As many stand side by side as fit into ``room`` characters, at least one.
    """
    entries = list(_services(session))
    across = max(1, room // (len(entries[0]) + 3))
    rows = -(-len(entries) // across)
    return Text("\n").join(Text("   ").join(entries[row::rows]) for row in range(rows))


def _services(session: Session) -> Iterator[Text]:
    rows = glances(session.observations)
    if len(rows) > _FIT:
        rows = tuple(sorted(rows, key=lambda row: -row.look))  # stable: then as they come
    width = max(len(row.service) for row in rows)
    for row in rows:
        style = _STYLES[row.look]
        yield Text.assemble(
            (row.service.ljust(width + 1), "" if row.look else "dim"),
            (NAMES[row.look].ljust(7), style),
            (row.spark.ljust(SPAN), style),
        )


def now(seen: Observation) -> Text:
    """The current screen. Its first line and the edge are at the top of the console."""
    _, *rest = render_observation(seen).split("\n")
    return screen(plain("\n".join(line for line in rest if not line.startswith("EDGE: "))))


def journal(session: Session) -> Text:
    """Every screen so far, each under the action before it; the latest comes first."""
    actions = (None, *session.state.actions)
    parts = []
    for seen, action in reversed(list(zip(session.observations, actions, strict=True))):
        done = "the alert" if action is None else describe(action)
        parts += [
            heading(f"── tick {seen.tick}: {done} ──"),
            screen(plain(render_observation(seen))),
        ]
    return Text("\n").join(parts)


def evidence_of(session: Session) -> RenderableType:
    """A list of the signs of the root cause, with the ticks in which they were shown."""
    truth = session.incident.truth
    signs = signs_of(session.observations, truth.root_causes)
    shown: RenderableType = Text("  Nothing that you saw was about the root cause.")
    if truth.benign:
        shown = Text("  Nothing: there was no fault.")
    elif signs:
        rows = [(f"tick {tick}, {service}:", plain(text)) for tick, service, text in signs]
        shown = facts(rows)
    return Group(heading("EVIDENCE"), shown)


def help_page(incident: Incident) -> RenderableType:
    """What can be typed, the keys, and what the states of services mean.

    The page is too narrow for a table, so each takes a line, which the page wraps.
    """
    parts = (("COMMANDS", commands(incident)), ("KEYS", _KEYS), ("SERVICES", _LOOKS))
    lines = [
        line
        for title, rows in parts
        for line in (
            heading(title),
            *(Text.assemble((name, "bold"), f"  {text}") for name, text in rows),
        )
    ]
    return Group(*lines)


def plain(text: str) -> str:
    """Text that others may have written, without what moves a cursor."""
    return spelled(text, "\n\t")
