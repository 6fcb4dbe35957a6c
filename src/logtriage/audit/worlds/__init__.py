"""Whether a user's world is fit to be played: the findings of ``logtriage world check``."""

from logtriage.audit.worlds.check import check_world
from logtriage.audit.worlds.twins import Twins, twins

__all__ = ["Twins", "check_world", "twins"]
