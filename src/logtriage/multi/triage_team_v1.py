"""``triage_team_v1``: a team triages one incident, as a PettingZoo environment.

``parallel_env`` is the class :class:`~logtriage.multi.parallel.TriageTeam`; ``env`` and
``raw_env`` take the same arguments and play the same episodes by turns (AEC). Importing
this registers both with PettingZoo as ``logtriage/triage_team-v1``. The version moves
when spaces, agents or rewards do.
"""

from typing import Any, Final

from logtriage.errors import MissingExtra

try:
    import pettingzoo
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("pettingzoo", "gymnasium"):
        raise
    raise MissingExtra("logtriage.multi", "multi") from None

from logtriage.multi.aec import InOrder, TriageTeamTurns
from logtriage.multi.parallel import TriageTeam

__all__ = ["ENV_ID", "env", "parallel_env", "raw_env"]

#: What is registered with PettingZoo, in both of its registries.
ENV_ID: Final = "logtriage/triage_team-v1"

parallel_env = TriageTeam


def raw_env(*args: Any, **kwargs: Any) -> TriageTeamTurns:
    """The environment by turns; arguments as :class:`TriageTeam`."""
    return TriageTeamTurns(TriageTeam(*args, **kwargs))


def env(*args: Any, **kwargs: Any) -> InOrder:
    """:func:`raw_env` behind PettingZoo's guard against calls in a wrong order."""
    return InOrder(raw_env(*args, **kwargs))


pettingzoo.register("parallel", ENV_ID, entry_point=f"{__name__}:parallel_env")
pettingzoo.register("aec", ENV_ID, entry_point=f"{__name__}:env")
