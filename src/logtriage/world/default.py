"""The worlds whose tasks are named without them."""

from functools import lru_cache
from typing import Final

from logtriage.world.loading import load_world
from logtriage.world.model import World


@lru_cache(maxsize=1)
def second_world() -> World:
    """The world of whatever is not handed one; read when it is first asked for."""
    return load_world("second")


#: The name of the world of :func:`oncall`.
ONCALL: Final = "oncall"


@lru_cache(maxsize=1)
def oncall() -> World:
    """The world of tasks of version 3."""
    return load_world(ONCALL)
