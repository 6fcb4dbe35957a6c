"""Names on the command line and in run files: policies and teams by specification."""

from logtriage.registry.own import is_own
from logtriage.registry.policies import CONSTANT, POLICY_HELP, constant_actions, make_policy
from logtriage.registry.teams import TEAM_HELP, make_team, roles_of

__all__ = [
    "CONSTANT",
    "POLICY_HELP",
    "TEAM_HELP",
    "constant_actions",
    "is_own",
    "make_policy",
    "make_team",
    "roles_of",
]
