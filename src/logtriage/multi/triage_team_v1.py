"""``triage_team_v1``: a team triages one incident, as a PettingZoo environment.

``parallel_env`` is the class :class:`~logtriage.multi.parallel.TriageTeam`; ``env`` takes the same
arguments and plays the same episodes by turns (AEC). Importing this module registers both with
PettingZoo as ``logtriage/triage_team-v1``. The version changes when spaces, agents or rewards do.
"""

from typing import Any, Final

import pettingzoo
from pettingzoo.utils.conversions import parallel_to_aec_wrapper
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from logtriage.multi.parallel import TriageTeam

__all__ = ["ENV_ID", "env", "parallel_env"]

#: The id in both registries of PettingZoo.
ENV_ID: Final = "logtriage/triage_team-v1"

parallel_env = TriageTeam


class _ByTurns(parallel_to_aec_wrapper[str, Any, Any]):
    """Raises for an invalid action in the turn of its agent, not later when the team acts."""

    env: TriageTeam

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            self.env.read(agent, action)
        super().step(action)


def env(*args: Any, **kwargs: Any) -> pettingzoo.AECEnv[str, Any, Any]:
    """The environment by turns (AEC); its arguments are those of :class:`TriageTeam`."""
    return OrderEnforcingWrapper(_ByTurns(TriageTeam(*args, **kwargs)))


pettingzoo.register("parallel", ENV_ID, entry_point=f"{__name__}:parallel_env")
pettingzoo.register("aec", ENV_ID, entry_point=f"{__name__}:env")
