"""The default world: its tasks are named by a version, without the name of the world."""

from functools import lru_cache

from logtriage.world.loading import load_world
from logtriage.world.model import World


@lru_cache(maxsize=1)
def default_world() -> World:
    """The default world; read when it is first asked for."""
    return load_world("oncall")
