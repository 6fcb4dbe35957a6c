"""Rename everything in a world; the new names say nothing of what they stand for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import attrs

from logtriage.errors import InvalidInput
from logtriage.rng import Stream, hash_name
from logtriage.world.model import World
from logtriage.world.schema.parts import OWNER, Benign, Kind, Layout, NounPhrases, Phrasings

NAME_STREAM: Final = hash_name("names of a drawn world")
ORDER_STREAM: Final = hash_name("order of a drawn world")
#: Names for kinds of faults and for benign kinds: birds.
KINDS: Final = (
    "coot", "crake", "crane", "crow", "dove", "egret", "eider", "finch", "grebe", "hawk", "heron",
    "hobby", "ibis", "jay", "kite", "knot", "lark", "loon", "owl", "pipit", "quail", "rail",
    "raven", "robin", "rook", "ruff", "serin", "skua", "smew", "snipe", "stint", "stork", "swan",
    "swift", "teal", "tern", "wren",
)  # fmt: skip
#: For services: trees and shrubs.
SERVICES: Final = (
    "alder", "aspen", "balsa", "beech", "birch", "cedar", "ebony", "elder", "elm", "fig", "hazel",
    "holly", "kapok", "larch", "lilac", "lime", "mango", "maple", "oak", "olive", "osier", "palm",
    "peach", "pear", "pine", "plane", "plum", "rowan", "sumac", "teak", "thorn", "yew",
)  # fmt: skip
#: For teams: stones.
TEAMS: Final = (
    "agate", "amber", "beryl", "chalk", "coral", "flint", "jade", "mica", "onyx", "opal", "pearl",
    "ruby", "shale", "slate", "topaz", "tuff",
)  # fmt: skip
#: For topologies: rivers.
TOPOLOGIES: Final = (
    "amur", "danube", "dnieper", "douro", "ebro", "elbe", "ganges", "garonne", "indus", "loire",
    "mekong", "neva", "niger", "oder", "orinoco", "rhine", "rhone", "severn", "tagus", "tiber",
    "ural", "vistula", "volga", "yukon",
)  # fmt: skip
#: How log lines name the present cause and a past cause, by group of phrasings.
_CAUSES: Final = ("the cause is", "traced to", "this comes from")
_PAST: Final = ("a case of", "an instance of", "a bout of")
_Row = TypeVar("_Row")
_Ranked = TypeVar("_Ranked", Kind, Benign)


def renamed(world: World, key: int) -> World:
    """The world with other names, and its rows in another order.

    Raises:
        InvalidInput: if it has more of something than there are names.
    """
    stream, order, rules = Stream(key, NAME_STREAM), Stream(key, ORDER_STREAM), world.rules
    conditions = (*world.kind_names, *(kind.name for kind in world.benign))
    kinds = _dealt(conditions, KINDS, stream)
    layouts = _dealt((layout.name for layout in world.layouts), TOPOLOGIES, stream)
    named = (service.name for layout in world.layouts for service in layout.services)
    services = _dealt(named, SERVICES, stream)
    # Without an owner or a page, .get("") is None: no team has an empty name.
    teams = {OWNER: OWNER} | _dealt(rules.teams, TEAMS, stream)
    second = rules.secondary_fault
    new_rules = attrs.evolve(
        rules,
        title=f"Drawn around the world {rules.name}",
        tiers=tuple(attrs.evolve(row, owner=teams.get(row.owner or "")) for row in rules.tiers),
        teams=_listed(rules.teams, teams),
        owners=_listed(rules.owners, teams),
        classes=tuple(attrs.evolve(row, pages=teams[row.pages]) for row in rules.classes),
        distractions=tuple(shuffled(rules.distractions, order)),
        secondary_fault=second and attrs.evolve(second, kind=kinds[second.kind]),
        drawn_topologies=None,
        tasks=tuple(
            attrs.evolve(task, topology=layouts[task.topology])
            for task in rules.tasks
            if task.topology is not None
        ),
    )
    benign = [attrs.evolve(kind, name=kinds[kind.name]) for kind in world.benign]
    places = [_layout(layout, layouts, services, teams) for layout in world.layouts]
    drawn = attrs.evolve(
        world,
        rules=new_rules,
        kinds=_ordered([_kind(kind, kinds, teams) for kind in world.kinds], order),
        benign=_ordered(benign, order),
        layouts=tuple(sorted(places, key=lambda layout: layout.name)),
    )
    name = f"drawn-{drawn.fingerprint[:12]}"
    return attrs.evolve(drawn, rules=attrs.evolve(new_rules, name=name))


def _dealt(names: Iterable[str], pool: Sequence[str], stream: Stream) -> dict[str, str]:
    """A new name from ``pool`` for each old one; InvalidInput if the pool is too small."""
    old = tuple(dict.fromkeys(names))
    if len(old) > len(pool):
        raise InvalidInput(f"{len(old)} names, such as {old[0]!r}: a drawn world has {len(pool)}")
    return dict(zip(old, shuffled(pool, stream), strict=False))


def _listed(old: Iterable[str], new: Mapping[str, str]) -> tuple[str, ...]:
    """The new names of ``old``, sorted, so that no place in the list tells the old name."""
    return tuple(sorted(new[name] for name in old))


def _kind(kind: Kind, names: Mapping[str, str], teams: Mapping[str, str]) -> Kind:
    """A kind under its new name, also in its texts."""
    name = names[kind.name]
    causes = [("ERROR", f"{text} {name}") for text in _CAUSES]
    return attrs.evolve(
        kind,
        name=name,
        pages=teams.get(kind.pages or ""),
        summary=name,
        names=Phrasings(*((cause,) for cause in causes)),
        past=NounPhrases(*((f"{text} {name}",) for text in _PAST)),
    )


def _layout(
    layout: Layout, names: Mapping[str, str], services: Mapping[str, str], teams: Mapping[str, str]
) -> Layout:
    """A layout under its new name, with services and teams under theirs."""
    rows = tuple(
        attrs.evolve(
            service,
            name=services[service.name],
            owner=teams.get(service.owner or ""),
            calls=tuple(services[callee] for callee in service.calls),
        )
        for service in layout.services
    )
    return Layout(names[layout.name], rows, layout.teams and _listed(layout.teams, teams))


def _ordered(rows: Sequence[_Ranked], stream: Stream) -> tuple[_Ranked, ...]:
    """The rows shuffled, with their new places as ``order``, by which draws go."""
    return tuple(attrs.evolve(row, order=place) for place, row in enumerate(shuffled(rows, stream)))


def shuffled(rows: Sequence[_Row], stream: Stream) -> list[_Row]:
    """The rows in a random order from a stream."""
    left = list(rows)
    for last in range(len(left) - 1, 0, -1):
        place = stream.below(last + 1)
        left[last], left[place] = left[place], left[last]
    return left
