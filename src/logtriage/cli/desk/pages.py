"""The contents of the console's pages."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from logtriage._lib.printable import spelled
from logtriage.actions import describe
from logtriage.cli.desk.session import Session
from logtriage.cli.screens import heading, screen
from logtriage.cli.typed import commands
from logtriage.errors import UnknownName
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.rendering import render_observation
from logtriage.report.replay.knowledge import ALERT, CALM, SIGNS, UNKNOWN, knowledge
from logtriage.topology import Topology

#: Word, bar and style for what is known of a service, in ascending order of trouble.
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
    ("?", "nobody asked for it, and no sign of trouble was seen"),
    ("calm", "what was last seen of it is ordinary"),
    ("signs", "what was last seen of it is out of the ordinary"),
    ("alerts", "an alert fires"),
    ("".join(bar for _, bar, _ in _LOOKS.values()), "the same, for each of the latest ticks"),
)
_SPAN: Final = 8
#: The number of services that fit on the page without scrolling.
_FIT: Final = 16


def services(session: Session, room: int = 0) -> Text:
    """Name, state and sparkline of each service; if they do not fit the page, the worst first.

    There are as many columns as fit into ``room`` characters, at least one.
    """
    entries = list(_services(session))
    gap = "   "
    across = max(1, room // (len(entries[0]) + len(gap)))
    rows = -(-len(entries) // across)  # rounded up
    return Text("\n").join(Text(gap).join(entries[row::rows]) for row in range(rows))


def _services(session: Session) -> Iterator[Text]:
    names = session.incident.topology.names
    ticks = [row.states for row in knowledge(session.observations)]
    rows = list(zip(names, *ticks, strict=True))
    if len(rows) > _FIT:
        order = [*_LOOKS]
        rows.sort(key=lambda row: -order.index(row[-1]))  # stable: equals keep their order
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
    """The current screen without its first line and the edge, which the console shows on top."""
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
    """A page with the commands, the keys, and the meaning of services' states."""
    parts = (("COMMANDS", commands(incident)), ("KEYS", _KEYS), ("SERVICES", _MEANINGS))
    lines = []
    for title, rows in parts:
        lines.append(heading(title))
        lines += (Text.assemble((name, "bold"), f"  {text}") for name, text in rows)
    return Group(*lines)


def plain(text: str) -> str:
    """Text with control characters spelled out, except line breaks and tabs."""
    return spelled(text, "\n\t")


def map_of(topology: Topology) -> RenderableType:
    """The service graph as trees from the edge services; calls of a service are drawn once."""
    drawn: set[int] = set()
    return Group(*(_tree(topology, entry, drawn) for entry in topology.edges))


def _tree(topology: Topology, service: int, drawn: set[int]) -> Tree:
    name, calls = topology.names[service], topology.calls[service]
    if service in drawn:
        return Tree(f"{name} (above)" if calls else name)
    drawn.add(service)
    tree = Tree(name)
    tree.children.extend(_tree(topology, callee, drawn) for callee in calls)
    return tree


def who(name: str, topology: Topology, owners: Sequence[str]) -> str:
    """The public facts of a service: tier, technology, owner, calls, callers; or UnknownName."""
    if name not in topology:
        raise UnknownName("service", name, topology.names)
    index = topology.index(name)
    calls = ", ".join(topology.names[at] for at in topology.calls[index]) or "nothing"
    callers = ", ".join(topology.names[at] for at in topology.callers[index]) or "only users"
    owner = f"owned by {owners[index]}" if owners else "of an unknown owner"
    service = topology.services[index]
    tier = service.tier if service.technology is None else f"{service.tier} ({service.technology})"
    return f"{name}: {tier}, {owner}; calls {calls}; called by {callers}"
