"""Worlds drawn around another one: the same rules, but other shares, answers and names.

All shares lie on a short grid, which a runbook can state without loss. Whether a drawn world is
valid is judged on the world alone, before any truth is drawn, and from streams of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import Final, TypeVar

import attrs

from logtriage.errors import InvalidInput
from logtriage.rng import Stream, draw, hash_name, subkey
from logtriage.topology import Service
from logtriage.world import unseen_names
from logtriage.world.channels import NAMES
from logtriage.world.checking import problems
from logtriage.world.loading import interned
from logtriage.world.model import World
from logtriage.world.schema.parts import (
    OWNER,
    Affected,
    Benign,
    Kind,
    Layout,
    NounPhrases,
    Phrasings,
    Shares,
    Signature,
)

WORLD_STREAM: Final = hash_name("drawn world")
#: The shares that a drawn world has, in per cent.
GRID: Final = (5, 15, 30, 50, 70, 90)
#: From the place on the grid that is nearest to the base world's share: each as likely.
STEPS: Final = (-1, 0, 0, 1)
#: What any service might show leaves at least this to the ordinary token.
_ORDINARY: Final = 5
#: How far two kinds at one tier are apart at least: per cent of signs that differ, summed over
#: all sorts.
APART: Final = 100
#: So many worlds are drawn in search of a valid one.
ATTEMPTS: Final = 200
#: What lines say of the cause at hand, and of one that is over, by group of phrasings.
_CAUSES: Final = ("the cause is", "traced to", "this comes from")
_PAST: Final = ("a case of", "an instance of", "a bout of")
_Row = TypeVar("_Row")
_Ranked = TypeVar("_Ranked", Kind, Benign)


class Stage(IntEnum):
    """What has a stream of its own in each attempt."""

    SHARES = 0
    ANSWERS = 1
    NAMES = 2
    ORDER = 3


def draw_world(world: World, seed: int) -> World:
    """The world that a seed draws around another one: the same on every machine.

    Shares move by at most a step on :data:`GRID`; what is never shown stays so, and what happens
    anyway (``common``) is only rounded. Remedies and classes are dealt out anew among the kinds,
    which keep their tiers. Whom a class pages stays. No line names its cause. Kinds, teams,
    services and topologies have names that say nothing, and kinds another order. Tasks whose
    incidents draw topologies of their own go: the names there would be the base world's.

    Raises:
        InvalidInput: if no valid world is drawn: where the base world's kinds are too alike, or
            it has more of something than there are names.
    """
    key = valid_key(world, seed)
    return _renamed(_redrawn(world, key), key)


def remembered(world: World, seed: int) -> World:
    """The base world under the names and in the order of the world that a seed draws around it.

    What somebody believes of a drawn world who knows which of its kinds, services and teams
    stands for which of the base world's, and nothing else of it.

    Raises:
        InvalidInput: as :func:`draw_world`.
    """
    return _renamed(world, valid_key(world, seed))


@lru_cache(maxsize=4096)
def valid_key(world: World, seed: int) -> int:
    """The key of the first attempt that draws a valid world.

    Raises:
        InvalidInput: as :func:`draw_world`.
    """
    for attempt in range(ATTEMPTS):
        key = draw(subkey(seed, WORLD_STREAM), attempt)
        if is_valid(_renamed(_redrawn(world, key), key)):
            return key
    raise InvalidInput(
        f"world {world.name!r}: none of {ATTEMPTS} worlds drawn around it with seed {seed} is "
        f"valid, with every two kinds at least {APART} apart"
    )


def is_valid(world: World) -> bool:
    """Whether a world passes the loader's checks, and its kinds are told apart."""
    return not any(problems(world)) and all(
        apart(world, tier, one, other) >= APART
        for tier in world.tier_names
        for one, other in combinations(world.kinds_at(tier), 2)
    )


def apart(world: World, tier: str, one: Kind, other: Kind) -> int:
    """How many per cent of signs differ between two kinds at a tier, summed over all sorts."""
    total = 0
    for sort in world.ordinary:
        rows = [world.signature(kind.name).get(sort, {}) for kind in (one, other)]
        moved = [rows[0].get(t, 0) - rows[1].get(t, 0) for t in world.tokens_at(sort, tier)[1:]]
        total += (sum(map(abs, moved)) + abs(sum(moved))) // 2
    return total


# --- shares and answers ------------------------------------------------------------------


def _redrawn(world: World, key: int) -> World:
    """The world with other shares, and other remedies and classes of its kinds."""
    shares, answers = Stream(key, Stage.SHARES), Stream(key, Stage.ANSWERS)
    rules, every = world.rules, world.tier_names
    common = {
        sort: {t: GRID[_place(s)] for t, s in row.items()} for sort, row in rules.common.items()
    }

    def moved(row: Signature, tiers: Sequence[str] = every) -> Signature:
        return _moved(world, row, tiers, shares, common)

    background = {
        sort: {token: share for token, share in row.items() if token != NAMES}
        for sort, row in rules.background.items()
    }
    rules = attrs.evolve(
        rules,
        common=_frozen(common),
        background=_moved(world, background, every, shares, {}, 100 - _ORDINARY),
        healthy=moved(rules.healthy),
        affected=Affected(moved(rules.affected.waiting), moved(rules.affected.loaded)),
        distractions=tuple(
            attrs.evolve(one, signature=moved(one.signature)) for one in rules.distractions
        ),
        fog=tuple(attrs.evolve(level, named=0) for level in rules.fog),
    )
    remedies = _shuffled([kind.remedies for kind in world.kinds], answers)
    classes = _shuffled([kind.fault_class for kind in world.kinds], answers)
    kinds = tuple(
        attrs.evolve(
            kind, signature=moved(kind.signature, kind.tiers), remedies=mend, fault_class=of
        )
        for kind, mend, of in zip(world.kinds, remedies, classes, strict=True)
    )
    benign = tuple(
        attrs.evolve(one, signature=moved(one.signature, one.tiers)) for one in world.benign
    )
    return attrs.evolve(world, rules=rules, kinds=kinds, benign=benign)


def _moved(
    world: World,
    signature: Signature,
    tiers: Sequence[str],
    stream: Stream,
    common: Signature,
    most: int = 100,
) -> Signature:
    """A signature on the grid, each share a step or none from the nearest place."""
    found = {}
    for sort, row in signature.items():
        own = {}
        for token, share in row.items():
            step = STEPS[stream.below(len(STEPS))]
            if share:
                own[token] = GRID[min(max(_place(share) + step, 0), len(GRID) - 1)]
        for tier in tiers:
            shown = (*world.tokens_at(sort, tier)[1:], *world.naming_tokens(sort))
            _fit(shown, own, common.get(sort, {}), most)
        found[sort] = own
    return _frozen(found)


def _fit(shown: tuple[str, ...], own: dict[str, int], common: Shares, most: int) -> None:
    """Lower the least shares first, so that the strongest sign stays, until all fit."""
    while sum({**common, **own}.get(token, 0) for token in shown) > most:
        lower = [token for token in shown if own.get(token, 0) > GRID[0]]
        if not lower:
            return  # which no check passes
        least = min(lower, key=own.__getitem__)
        own[least] = GRID[GRID.index(own[least]) - 1]


def _place(share: int) -> int:
    """The place on the grid nearest to a share, the lower of two."""
    return min(range(len(GRID)), key=lambda place: abs(GRID[place] - share))


def _frozen(signature: Mapping[str, dict[str, int]]) -> Signature:
    return MappingProxyType({sort: MappingProxyType(row) for sort, row in signature.items()})


# --- names and order ---------------------------------------------------------------------


def _renamed(world: World, key: int) -> World:
    """The world with other names, and its rows in another order."""
    stream, order, rules = Stream(key, Stage.NAMES), Stream(key, Stage.ORDER), world.rules
    benign = tuple(one.name for one in world.benign)
    conditions = _dealt((*world.kind_names, *benign), unseen_names.KINDS, stream)
    layouts = _dealt((one.name for one in world.layouts), unseen_names.TOPOLOGIES, stream)
    named = (service.name for layout in world.layouts for service in layout.services)
    services = _dealt(named, unseen_names.SERVICES, stream)
    teams = {OWNER: OWNER} | _dealt(rules.teams, unseen_names.TEAMS, stream)
    second = rules.secondary_fault
    if second is not None:
        second = attrs.evolve(second, kind=conditions[second.kind])
    renamed = attrs.evolve(
        rules,
        title=f"Drawn around the world {rules.name}",
        tiers=tuple(attrs.evolve(row, owner=teams.get(row.owner or "")) for row in rules.tiers),
        teams=_listed(rules.teams, teams),
        owners=_listed(rules.owners, teams),
        classes=tuple(attrs.evolve(row, pages=teams[row.pages]) for row in rules.classes),
        distractions=tuple(_shuffled(rules.distractions, order)),
        secondary_fault=second,
        drawn_topologies=None,
        tasks=tuple(
            attrs.evolve(task, topology=layouts[task.topology])
            for task in rules.tasks
            if task.topology is not None
        ),
    )
    drawn = attrs.evolve(
        world,
        rules=renamed,
        kinds=_ordered([_kind(one, conditions, teams) for one in world.kinds], order),
        benign=_ordered(
            [attrs.evolve(one, name=conditions[one.name]) for one in world.benign], order
        ),
        layouts=tuple(
            sorted(
                (_layout(one, layouts, services, teams) for one in world.layouts),
                key=lambda layout: layout.name,
            )
        ),
    )
    name = f"drawn-{drawn.fingerprint[:12]}"
    return interned(attrs.evolve(drawn, rules=attrs.evolve(renamed, name=name)))


def _dealt(names: Iterable[str], pool: Sequence[str], stream: Stream) -> dict[str, str]:
    """Another name for each.

    Raises:
        InvalidInput: if there are more than the pool has.
    """
    old = tuple(dict.fromkeys(names))
    if len(old) > len(pool):
        raise InvalidInput(f"{len(old)} names, such as {old[0]!r}: a drawn world has {len(pool)}")
    return dict(zip(old, _shuffled(pool, stream), strict=False))


def _listed(old: Iterable[str], new: Mapping[str, str]) -> tuple[str, ...]:
    """The new names by the alphabet, so that no place among them says what a name was."""
    return tuple(sorted(new[name] for name in old))


def _kind(kind: Kind, names: Mapping[str, str], teams: Mapping[str, str]) -> Kind:
    """A kind under its new name, which all that is said of it goes by."""
    name = names[kind.name]
    said = ((("ERROR", f"{text} {name}"),) for text in _CAUSES)
    return attrs.evolve(
        kind,
        name=name,
        pages=teams.get(kind.pages or ""),
        summary=name,
        names=Phrasings(*said),
        past=NounPhrases(*((f"{text} {name}",) for text in _PAST)),
    )


def _layout(
    layout: Layout, names: Mapping[str, str], services: Mapping[str, str], teams: Mapping[str, str]
) -> Layout:
    return Layout(
        names[layout.name],
        tuple(
            Service(
                services[one.name],
                one.tier,
                teams[one.owner],
                tuple(services[callee] for callee in one.calls),
            )
            for one in layout.services
        ),
        None if layout.teams is None else _listed(layout.teams, teams),
    )


def _ordered(rows: Sequence[_Ranked], stream: Stream) -> tuple[_Ranked, ...]:
    """Rows in another order; draws go by it."""
    return tuple(
        attrs.evolve(row, order=place) for place, row in enumerate(_shuffled(rows, stream))
    )


def _shuffled(rows: Sequence[_Row], stream: Stream) -> list[_Row]:
    left = list(rows)
    for last in range(len(left) - 1, 0, -1):
        place = stream.below(last + 1)
        left[last], left[place] = left[place], left[last]
    return left
