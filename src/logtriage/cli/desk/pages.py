"""What stands on the pages of the console."""

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from logtriage._lib.printable import spelled
from logtriage.actions import describe
from logtriage.cli.desk.glance import BARS, NAMES, Look, glances
from logtriage.cli.desk.session import WORDS, Session
from logtriage.cli.desk.signs import signs_of
from logtriage.cli.human import commands
from logtriage.cli.screens import facts, heading, screen
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


def services(session: Session) -> Text:
    """The services: name, state and sparkline, a line each; of many the worst first."""
    return Text("\n").join(_services(session))


def _services(session: Session) -> Iterator[Text]:
    found = glances(session.observations)
    if len(found) > _FIT:
        found = tuple(sorted(found, key=lambda one: -one.look))  # stable: then as they come
    width = max(len(one.service) for one in found)
    for one in found:
        style = _STYLES[one.look]
        yield Text.assemble(
            (one.service.ljust(width + 1), "" if one.look else "dim"),
            (NAMES[one.look].ljust(7), style),
            (one.spark, style),
        )


def now(seen: Observation) -> Text:
    """The screen at hand, without its first line and the edge, which head the console."""
    _, *rest = render_observation(seen).split("\n")
    return screen(plain("\n".join(one for one in rest if not one.startswith("EDGE: "))))


def journal(session: Session) -> Text:
    """Every screen so far under the action that led to it, the latest first."""
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
    """What of the root cause was on the screen, and when; under a heading."""
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

    One line each, which the page wraps: it is narrower than a table of these needs.
    """
    *typed, leave = commands(incident)
    words = [*typed, *WORDS.items(), leave]
    parts = (("COMMANDS", words), ("KEYS", _KEYS), ("SERVICES", _LOOKS))
    lines = [
        line
        for title, rows in parts
        for line in (
            heading(title),
            *(Text.assemble((name, "bold"), f"  {told}") for name, told in rows),
        )
    ]
    return Group(*lines)


def plain(text: str) -> str:
    """Text that others may have written, without what moves a cursor."""
    return spelled(text, "\n\t")
