"""Worlds drawn around a base world: the same rules, but other shares, answers and names.

All shares lie on a short grid, which a runbook can state without loss. Task ``unseen_world`` plays
256 worlds of each split, with seeds of their own.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from itertools import combinations
from types import MappingProxyType
from typing import Final

import attrs

from logtriage.errors import InvalidInput
from logtriage.rng import Stream, draw, hash_name, subkey
from logtriage.world.channels import NAMES
from logtriage.world.checking import problems
from logtriage.world.default import default_world
from logtriage.world.loading import interned
from logtriage.world.model import World
from logtriage.world.renaming import renamed, shuffled
from logtriage.world.schema.parts import Affected, Kind, Shares, Signature, Task

WORLD_STREAM: Final = hash_name("drawn world")
SHARE_STREAM: Final = hash_name("shares of a drawn world")
ANSWER_STREAM: Final = hash_name("answers of a drawn world")
#: The shares that a drawn world has, in per cent.
GRID: Final = (5, 15, 30, 50, 70, 90)
#: Steps on the grid from the place nearest to the base world's share, all equally likely.
STEPS: Final = (-1, 0, 0, 1)
#: The least share that the background of a sort leaves to the ordinary token, in per cent.
_ORDINARY: Final = 5
#: The least distance of two kinds at one tier, in the per cent of :func:`apart`.
APART: Final = 100
#: The most worlds drawn in search of a valid one.
ATTEMPTS: Final = 200
#: The task, and the task of the base world that it copies.
UNSEEN: Final = "unseen_world"
_LIKE: Final = "single_crash"
#: Worlds of a split.
WORLDS: Final = 256
#: The most worlds that a batch plays or believes in.
MOST_IN_POOL: Final = 64
_NAME: Final = re.compile(r"unseen-([a-z]+)-([0-9]{1,3})")


def draw_world(world: World, seed: int) -> World:
    """Draw a world around a base world; the same seed gives the same world on every machine.

    Shares are rounded to :data:`GRID`, and all but ``common`` may move by a step. Below the grid a
    sign is not shown, except in the background. Remedies and classes are dealt out anew among the
    kinds, which keep their tiers. Whom a class pages stays. No log line names its cause. Kinds,
    teams, services and topologies have names that say nothing, and kinds another order. Tasks that
    draw topologies are left out.

    Raises:
        InvalidInput: if no attempt gives a valid world, as the base world's kinds are too alike;
            or if the base world has more of something than there are names.
    """
    return first_valid(world, seed)[1]


@lru_cache(maxsize=64)
def first_valid(world: World, seed: int) -> tuple[int, World]:
    """(key, world) of the first attempt that gives a valid world; raises as :func:`draw_world`."""
    for attempt in range(ATTEMPTS):
        key = draw(subkey(seed, WORLD_STREAM), attempt)
        drawn = renamed(_redrawn(world, key), key)
        if is_valid(drawn):
            return key, interned(drawn)
    raise InvalidInput(
        f"world {world.name!r}: none of {ATTEMPTS} worlds drawn around it with seed {seed} is "
        f"valid, with every two kinds at least {APART} apart"
    )


def is_valid(world: World) -> bool:
    """Whether a world passes the loader's checks, and any two kinds at a tier are :data:`APART`."""
    return not any(problems(world)) and all(
        apart(world, tier, first, second) >= APART
        for tier in world.tier_names
        for first, second in combinations(world.kinds_at(tier), 2)
    )


def apart(world: World, tier: str, first: Kind, second: Kind) -> int:
    """The total variation distance of two kinds' signs at a tier, in per cent, over all sorts."""
    total = 0
    for sort in world.ordinary:
        one, other = (world.signature(kind.name).get(sort, {}) for kind in (first, second))
        gaps = [one.get(t, 0) - other.get(t, 0) for t in world.tokens_at(sort, tier)[1:]]
        # The ordinary token has the rest of 100, so its gap is the sum of the others.
        total += (sum(map(abs, gaps)) + abs(sum(gaps))) // 2
    return total


# --- shares and answers ------------------------------------------------------------------


def _redrawn(world: World, key: int) -> World:
    """The world with other shares, and other remedies and classes of its kinds."""
    # Draws in another order would give other worlds for the same key.
    rules, stream, answers = world.rules, Stream(key, SHARE_STREAM), Stream(key, ANSWER_STREAM)
    common = {
        sort: {token: GRID[max(_place(share), 0)] for token, share in row.items()}
        for sort, row in rules.common.items()
    }
    background = {
        sort: {token: share for token, share in row.items() if token != NAMES}
        for sort, row in world.background.items()
    }
    every, waiting = world.tier_names, rules.affected.waiting
    moved = partial(_moved_signature, world, stream, common)
    redrawn = attrs.evolve(
        rules,
        common=_frozen(common),
        background=_moved_signature(world, stream, {}, background, every, always=True),
        healthy=moved(rules.healthy, every),
        affected=Affected(moved(waiting, every), moved(rules.affected.loaded, every)),
        distractions=tuple(
            attrs.evolve(distraction, signature=moved(distraction.signature, every))
            for distraction in rules.distractions
        ),
        fog=tuple(attrs.evolve(level, named=0) for level in rules.fog),
    )
    remedies = shuffled([kind.remedies for kind in world.kinds], answers)
    classes = shuffled([kind.fault_class for kind in world.kinds], answers)
    kinds = tuple(
        attrs.evolve(kind, signature=moved(kind.signature, kind.tiers), remedies=by, fault_class=of)
        for kind, by, of in zip(world.kinds, remedies, classes, strict=True)
    )
    benign = tuple(
        attrs.evolve(kind, signature=moved(kind.signature, kind.tiers)) for kind in world.benign
    )
    topics = tuple(attrs.evolve(topic, background=0) for topic in world.topics)
    return attrs.evolve(world, rules=redrawn, kinds=kinds, benign=benign, topics=topics)


def _moved_signature(
    world: World,
    stream: Stream,
    common: Signature,
    signature: Signature,
    tiers: Iterable[str],
    *,
    always: bool = False,
) -> Signature:
    """A signature with each share at the nearest place of the grid, or one step from there.

    Shares below the grid are left out. With ``always`` they get its lowest share, and each sort
    leaves a rest to the ordinary token.
    """
    most = 100 - _ORDINARY if always else 100
    moved = {}
    for sort, row in signature.items():
        own = {}
        for token, share in row.items():
            place = _place(share) + STEPS[stream.below(len(STEPS))]
            if share and (place >= 0 or always):
                own[token] = GRID[min(max(place, 0), len(GRID) - 1)]
        for tier in tiers:
            shown = (*world.tokens_at(sort, tier)[1:], *world.naming_tokens(sort))
            _fit(shown, own, common.get(sort, {}), most)
        moved[sort] = own
    return _frozen(moved)


def _fit(shown: tuple[str, ...], own: dict[str, int], common: Shares, most: int) -> None:
    """Lower the least shares in ``own`` until those ``shown`` fit: the strongest sign stays."""
    while sum(own.get(token, common.get(token, 0)) for token in shown) > most:
        lower = [token for token in shown if own.get(token, 0) > GRID[0]]
        if not lower:
            return  # the loader's checks refuse such a world
        least = min(lower, key=own.__getitem__)
        own[least] = GRID[GRID.index(own[least]) - 1]


def _place(share: int) -> int:
    """The index on the grid nearest to a share, the lower of two; -1 below the grid."""
    if share < GRID[0]:
        return -1
    return min(range(len(GRID)), key=lambda place: abs(GRID[place] - share))


def _frozen(signature: Mapping[str, dict[str, int]]) -> Signature:
    return MappingProxyType({sort: MappingProxyType(row) for sort, row in signature.items()})


def world_number(index: int) -> int:
    """The number of an incident's world in its split: the worlds take turns."""
    return index % WORLDS


def unseen_seed(split: str, number: int) -> int:
    """The seed of a split's world: each split has a stream of its own."""
    return subkey(number, hash_name(f"unseen worlds of split {split}"))


@lru_cache(maxsize=8 * WORLDS)
def unseen_world(split: str, number: int) -> World:
    """The world ``number`` of a split, drawn once a process around the default world."""
    drawn = draw_world(default_world(), unseen_seed(split, number))
    return interned(as_unseen(drawn, f"unseen-{split}-{number}"))


def as_unseen(drawn: World, name: str) -> World:
    """Rename a drawn world, and leave it task ``unseen_world`` alone."""
    rules = attrs.evolve(drawn.rules, name=name, tasks=(unseen_task(drawn),))
    return attrs.evolve(drawn, rules=rules)


def unseen_task(world: World) -> Task:
    """Make task ``unseen_world`` of a drawn world: a copy of the world's ``single_crash``."""
    return attrs.evolve(
        world.tasks[_LIKE],
        name=UNSEEN,
        title="One service fails in a world that nobody has seen",
        hard="only the runbook says what each fault looks like, what mends it and who is paged",
    )


def is_unseen(world: World) -> bool:
    """Whether a world is one that :func:`unseen_world` draws."""
    named = _NAME.fullmatch(world.name)
    if named is None or int(named[2]) >= WORLDS:
        return False
    return world == unseen_world(named[1], int(named[2]))
