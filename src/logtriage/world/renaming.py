"""Other names for what is in a world, which say nothing of what they stand for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import attrs

from logtriage.errors import InvalidInput
from logtriage.rng import Stream, hash_name
from logtriage.world.model import World
from logtriage.world.schema.parts import OWNER, Benign, Kind, Layout, NounPhrases, Phrasings

NAME_STREAM: Final = hash_name("names of a drawn world")
ORDER_STREAM: Final = hash_name("order of a drawn world")
#: Names for kinds of faults, and for benign ones: birds.
KINDS: Final = (
    "avocet", "bittern", "bulbul", "bunting", "buzzard", "chough", "condor", "coot", "crake",
    "crane", "curlew", "dipper", "dunlin", "egret", "eider", "finch", "fulmar", "gannet", "grebe",
    "harrier", "heron", "hobby", "hoopoe", "ibis", "jacana", "kestrel", "kite", "knot", "lapwing",
    "linnet", "magpie", "merlin", "oriole", "osprey", "pipit", "plover", "puffin", "quail",
    "rook", "ruff", "serin", "shrike", "siskin", "skua", "smew", "snipe", "stint", "tern",
    "thrush", "wagtail", "wigeon", "wryneck",
)  # fmt: skip
#: For services: trees and shrubs.
SERVICES: Final = (
    "acacia", "alder", "almond", "aspen", "balsa", "bamboo", "baobab", "beech", "birch", "cedar",
    "cherry", "ebony", "elder", "elm", "fig", "ginkgo", "hazel", "holly", "larch", "laurel",
    "lime", "linden", "mango", "maple", "myrtle", "oak", "olive", "palm", "pear", "pine", "plane",
    "poplar", "rowan", "spruce", "sumac", "teak", "walnut", "willow", "yew",
)  # fmt: skip
#: For teams: stones.
TEAMS: Final = (
    "agate", "amber", "basalt", "beryl", "chalk", "coral", "flint", "garnet", "gneiss", "jade",
    "jasper", "marble", "mica", "onyx", "opal", "pearl", "pumice", "quartz", "ruby", "shale",
    "slate", "topaz", "tuff",
)  # fmt: skip
#: For topologies: rivers.
TOPOLOGIES: Final = (
    "amur", "danube", "dnieper", "douro", "ebro", "elbe", "ganges", "garonne", "indus", "loire",
    "mekong", "neva", "niger", "oder", "orinoco", "rhine", "rhone", "severn", "tagus", "tiber",
    "ural", "vistula", "volga", "yukon",
)  # fmt: skip
#: What lines say of the cause at hand, and of one that is over, by group of phrasings.
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
    conditions = (*world.kind_names, *(one.name for one in world.benign))
    kinds = _dealt(conditions, KINDS, stream)
    layouts = _dealt((one.name for one in world.layouts), TOPOLOGIES, stream)
    named = (service.name for layout in world.layouts for service in layout.services)
    services = _dealt(named, SERVICES, stream)
    teams = {OWNER: OWNER} | _dealt(rules.teams, TEAMS, stream)
    second = rules.secondary_fault
    said = attrs.evolve(
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
    benign = [attrs.evolve(one, name=kinds[one.name]) for one in world.benign]
    drawn = attrs.evolve(
        world,
        rules=said,
        kinds=_ordered([_kind(one, kinds, teams) for one in world.kinds], order),
        benign=_ordered(benign, order),
        layouts=tuple(
            sorted(
                (_layout(one, layouts, services, teams) for one in world.layouts),
                key=lambda layout: layout.name,
            )
        ),
    )
    name = f"drawn-{drawn.fingerprint[:12]}"
    return attrs.evolve(drawn, rules=attrs.evolve(said, name=name))


def _dealt(names: Iterable[str], pool: Sequence[str], stream: Stream) -> dict[str, str]:
    """Another name for each.

    Raises:
        InvalidInput: if there are more than the pool has.
    """
    old = tuple(dict.fromkeys(names))
    if len(old) > len(pool):
        raise InvalidInput(f"{len(old)} names, such as {old[0]!r}: a drawn world has {len(pool)}")
    return dict(zip(old, shuffled(pool, stream), strict=False))


def _listed(old: Iterable[str], new: Mapping[str, str]) -> tuple[str, ...]:
    """The new names by the alphabet, so that no place among them says what a name was."""
    return tuple(sorted(new[name] for name in old))


def _kind(kind: Kind, names: Mapping[str, str], teams: Mapping[str, str]) -> Kind:
    """A kind under its new name, which all that is said of it goes by."""
    name = names[kind.name]
    causes = ((("ERROR", f"{text} {name}"),) for text in _CAUSES)
    return attrs.evolve(
        kind,
        name=name,
        pages=teams.get(kind.pages or ""),
        summary=name,
        names=Phrasings(*causes),
        past=NounPhrases(*((f"{text} {name}",) for text in _PAST)),
    )


def _layout(
    layout: Layout, names: Mapping[str, str], services: Mapping[str, str], teams: Mapping[str, str]
) -> Layout:
    rows = tuple(
        attrs.evolve(
            one,
            name=services[one.name],
            owner=teams[one.owner],
            calls=tuple(services[callee] for callee in one.calls),
        )
        for one in layout.services
    )
    return Layout(names[layout.name], rows, layout.teams and _listed(layout.teams, teams))


def _ordered(rows: Sequence[_Ranked], stream: Stream) -> tuple[_Ranked, ...]:
    """Rows in another order; draws go by it."""
    return tuple(attrs.evolve(row, order=place) for place, row in enumerate(shuffled(rows, stream)))


def shuffled(rows: Sequence[_Row], stream: Stream) -> list[_Row]:
    """Rows in an order that a stream draws."""
    left = list(rows)
    for last in range(len(left) - 1, 0, -1):
        place = stream.below(last + 1)
        left[last], left[place] = left[place], left[last]
    return left
