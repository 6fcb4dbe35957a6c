"""Policies and teams by the names that the command line and run files use."""

from logtriage.registry.own import is_own
from logtriage.registry.policies import POLICIES, constant_actions, make_policy
from logtriage.registry.teams import TEAMS, has_network, is_shipped, make_team, roles_of

__all__ = [
    "POLICIES",
    "TEAMS",
    "constant_actions",
    "has_network",
    "is_own",
    "is_shipped",
    "make_policy",
    "make_team",
    "roles_of",
]
