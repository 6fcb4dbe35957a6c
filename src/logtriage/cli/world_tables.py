"""Worlds as tables: what each condition shows, and which kinds are confused."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import counted, nudged
from logtriage.cli.console import put, say
from logtriage.cli.figures import Cells, Figures, listed
from logtriage.cli.screens import facts, heading, number
from logtriage.rendering.chances import groups_of, shares_of
from logtriage.tasks import tasks_of
from logtriage.world.model import World
from logtriage.world.schema.parts import OWNER

if TYPE_CHECKING:
    from logtriage.audit import Finding

#: At most this many kinds are named that a kind is taken for, each with at least this share.
_OTHERS: Final = 3
_LEAST: Final = 0.005


def shown(console: Console, world: World) -> None:
    """Print a world: what it is, its kinds, and a table for each sort of reading."""
    rules = world.rules
    console.print(Text.assemble((world.name, "bold cyan"), f"  {rules.title}"))
    put(console, facts(list(_about(world))))
    benign = listed(
        {"kind": Text(kind.name, "bold"), "tiers": ", ".join(kind.tiers)} for kind in world.benign
    )
    for title, rows in (("KINDS OF FAULTS", _kinds(world)), ("BENIGN", benign)):
        say(console)
        say(console, heading(title))
        put(console, rows)
    say(console)
    say(
        console,
        "Per cent before fog. What a condition leaves of 100 is the ordinary token's; so is what "
        "makes no sense at a tier.",
    )
    for sort in world.ordinary:
        say(console)
        say(console, heading(sort.upper()))
        _signs(console, world, sort)


def _about(world: World) -> Iterator[tuple[str, str]]:
    rules = world.rules
    yield "fingerprint", world.fingerprint
    yield "tasks", ", ".join(world.tasks)
    yield "tiers", ", ".join(world.tier_names)
    yield "teams", ", ".join(rules.teams)
    yield "owners", ", ".join(rules.owners)
    for row in rules.classes:
        whom = "the owner" if row.pages == OWNER else row.pages
        yield f"class {row.name}", f"weight {row.weight} of 100, page {whom}"
    yield "remedies", ", ".join(rules.remedies)
    fog = (f"{level.background} %" for level in rules.fog)
    yield "fog", f"{', '.join(fog)} of readings do not show what is so, by level"
    blind = (f"{level.blind} %" for level in rules.fog)
    yield "blind", f"{', '.join(blind)} of services have no metrics, traces or requested logs each"
    for technology in world.technologies:
        held_out = ", drawn in split ood alone" if technology.held_out else ""
        yield f"technology {technology.name}", f"{', '.join(technology.tiers)}{held_out}"
    for name, layout in world.topologies.items():
        yield f"topology {name}", counted(len(layout), "service")


def _kinds(world: World) -> Table:
    return listed(
        {
            "kind": Text(kind.name, "bold"),
            "class": kind.fault_class,
            "pages": world.page_of(kind.name),
            "tiers": ", ".join(kind.tiers),
            "remedies": ", ".join(kind.remedies),
            "what happens": kind.summary,
        }
        for kind in world.kinds
    )


def _signs(console: Console, world: World, sort: str) -> None:
    """Print the tokens of a sort, a line each, with the conditions that show it, in per cent.

    The likeliest condition comes first.
    """
    tokens = grouped(
        (token, (share, name))
        for group in groups_of(world).values()
        for name, signature in group.items()
        for its_sort, shares in shares_of(world, signature)
        if its_sort == sort
        for token, share in shares.items()
    )
    rows = []
    for token, shown_by in tokens.items():
        likeliest_first = sorted(shown_by, key=lambda row: -row[0])
        rows.append((token, ", ".join(f"{name} {share}" for share, name in likeliest_first)))
    put(console, facts(rows))


def shown_json(world: World) -> dict[str, Any]:
    """A world as JSON data; signatures by group, condition, sort and token, in per cent."""
    return {
        "world": world.name,
        "title": world.rules.title,
        "fingerprint": world.fingerprint,
        "tasks": list(tasks_of(world)),
        "signatures": {
            title: {name: dict(shares_of(world, signature)) for name, signature in group.items()}
            for title, group in groups_of(world).items()
        },
    }


def checked(console: Console, findings: Sequence["Finding"]) -> None:
    """Print which kinds stay confused after a full look, and what each hand-over worth changes."""
    by_name = {finding.check: finding.evidence for finding in findings}
    figures = Figures(console)
    say(console, heading("AFTER A FULL LOOK"))
    figures.put(map(_confused, by_name["full-look"]["rows"]))
    say(console, heading("AT EACH WORTH OF A HAND-OVER"))
    figures.put(
        {
            "c": number(row["worth"], 1),
            "better handed over": _percent(row["handed_over"]),
            "gained": number(row["gained"]),
        }
        for row in by_name["hand-over"]["by_worth"]
    )
    figures.legend()


def _confused(row: Mapping[str, Any]) -> Cells:
    others = [
        f"{kind}{'*' if another else ''} {_percent(share)}"
        for kind, share, another in row["others"]
        if share >= _LEAST
    ]
    return {
        "kind": row["kind"],
        "of all": _percent(row["share"]),
        "bits left": number(row["bits"], 2),
        "recognised": _percent(row["recognised"]),
        "taken for [share]": ", ".join(others[:_OTHERS]) or "–",
    }


def _percent(share: float) -> str:
    return f"{nudged(100 * share):.0f} %"
