"""The contents of the console's pages."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.actions import describe
from logtriage.cli.desk.session import Session
from logtriage.cli.screens import heading, screen
from logtriage.cli.typed import commands
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.rendering import render_observation
from logtriage.report.replay.knowledge import ALERT, CALM, SIGNS, UNKNOWN, knowledge

#: What is known of a service, the least first: a word, a bar and a style.
_LOOKS: Final = {
    UNKNOWN: ("?", "·", "dim"),
    CALM: ("calm", "▁", "green"),
    SIGNS: ("signs", "▅", "yellow"),
    ALERT: ("alerts", "█", "bold red"),
}
_KEYS: Final = (
    ("Tab", "complete the line; again for the next possibility"),
    ("↑ ↓", "lines typed before"),
    ("PgUp PgDn", "scroll the page on the right"),
    ("F1 to F5", "help, screen, journal, rules, map"),
)
_MEANINGS: Final = (
    ("?", "nothing is known of it"),
    ("calm", "what was last seen of it is ordinary"),
    ("signs", "what was last seen of it is out of the ordinary"),
    ("alerts", "an alert fires"),
    ("".join(bar for _, bar, _ in _LOOKS.values()), "the same, for each of the latest ticks"),
)
#: Ticks that a sparkline shows.
_SPAN: Final = 8
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
    names = session.incident.topology.names
    ticks = [row.states for row in knowledge(session.observations)]
    rows = list(zip(names, *ticks, strict=True))
    if len(rows) > _FIT:
        order = [*_LOOKS]
        rows.sort(key=lambda row: -order.index(row[-1]))  # stable: then as they come
    width = max(map(len, names))
    for name, *states in rows:
        word, _, style = _LOOKS[states[-1]]
        spark = "".join(_LOOKS[state][1] for state in states[-_SPAN:])
        yield Text.assemble(
            (name.ljust(width + 1), "dim" if states[-1] == UNKNOWN else ""),
            (word.ljust(7), style),
            (spark.ljust(_SPAN), style),
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


def help_page(incident: Incident) -> RenderableType:
    """What can be typed, the keys, and what the states of services mean, a line each."""
    parts = (("COMMANDS", commands(incident)), ("KEYS", _KEYS), ("SERVICES", _MEANINGS))
    lines = []
    for title, rows in parts:
        lines.append(heading(title))
        lines += (Text.assemble((name, "bold"), f"  {text}") for name, text in rows)
    return Group(*lines)


def plain(text: str) -> str:
    """Text that others may have written, without what moves a cursor."""
    return spelled(text, "\n\t")
