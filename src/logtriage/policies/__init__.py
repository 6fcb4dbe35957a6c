"""Scripted policies and teams: observation and memory in, action and memory out.

Policies that hold a belief load NumPy, and only when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from logtriage.policies.base import Follower, Memory, Player, Policy, PolicyFactory, Ranking, Ranks
from logtriage.policies.chain import ChainPolicy
from logtriage.policies.chat import ChatPolicies, ChatPolicy
from logtriage.policies.constant import ConstantPolicy
from logtriage.policies.expert import ExpertPolicy
from logtriage.policies.first_error import FirstErrorPolicy
from logtriage.policies.inquiry import InquiryPolicy
from logtriage.policies.oracle import OraclePolicy, OracleRole, oracles, perfect_actions
from logtriage.policies.random_policy import RandomPolicy, masked_actions
from logtriage.policies.ranking import METHODS, RankingPolicy
from logtriage.policies.team import (
    RoleFactory,
    RoleFailure,
    RolePolicies,
    TeamFactory,
    TeamPolicy,
    as_taken,
)

if TYPE_CHECKING:
    from logtriage.policies.observer import ObserverPolicy, TopSuspectPolicy
    from logtriage.policies.observer_team import ObserverRole

__all__ = [
    "METHODS",
    "ChainPolicy",
    "ChatPolicies",
    "ChatPolicy",
    "ConstantPolicy",
    "ExpertPolicy",
    "FirstErrorPolicy",
    "Follower",
    "InquiryPolicy",
    "Memory",
    "ObserverPolicy",
    "ObserverRole",
    "OraclePolicy",
    "OracleRole",
    "Player",
    "Policy",
    "PolicyFactory",
    "RandomPolicy",
    "Ranking",
    "RankingPolicy",
    "Ranks",
    "RoleFactory",
    "RoleFailure",
    "RolePolicies",
    "TeamFactory",
    "TeamPolicy",
    "TopSuspectPolicy",
    "as_taken",
    "masked_actions",
    "oracles",
    "perfect_actions",
]

_BY_BELIEF: Final = {
    "ObserverPolicy": "observer",
    "ObserverRole": "observer_team",
    "TopSuspectPolicy": "observer",
}


def __dir__() -> list[str]:
    """All public names, also of policies that load NumPy."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _BY_BELIEF:
        return getattr(import_module(f"logtriage.policies.{_BY_BELIEF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
