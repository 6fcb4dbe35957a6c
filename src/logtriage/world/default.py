"""The world of whatever is not handed one yet."""

from functools import lru_cache

from logtriage.world.loading import load_world
from logtriage.world.model import World


@lru_cache(maxsize=1)
def second_world() -> World:
    """The world of all tasks; read when it is first asked for."""
    return load_world("second")
