"""The worlds of task ``unseen_world``: 256 for each split, with seeds of its own."""

import re
from functools import lru_cache
from typing import Final

import attrs

from logtriage.rng import hash_name, subkey
from logtriage.world.default import default_world
from logtriage.world.drawn import draw_world
from logtriage.world.loading import interned
from logtriage.world.model import World
from logtriage.world.schema.parts import Task

#: The task, and the task of the base world that it copies.
UNSEEN: Final = "unseen_world"
_LIKE: Final = "single_crash"
#: Worlds of a split.
WORLDS: Final = 256
#: The most worlds that a batch plays or believes in.
MOST_IN_POOL: Final = 64
_NAME: Final = re.compile(r"unseen-([a-z]+)-([0-9]{1,3})")


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
    """A drawn world under a name, with its only task."""
    rules = attrs.evolve(drawn.rules, name=name, tasks=(unseen_task(drawn),))
    return attrs.evolve(drawn, rules=rules)


def unseen_task(world: World) -> Task:
    """The task ``unseen_world`` as a row of a drawn world: a copy of its ``single_crash``."""
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
