"""Whether a world of one's own is fit to be played: what ``logtriage world check`` says."""

from logtriage.audit.worlds.check import check_world
from logtriage.audit.worlds.confusions import Confusions
from logtriage.audit.worlds.twins import Twins, twins

__all__ = ["Confusions", "Twins", "check_world", "twins"]
