"""Scripted policies and teams: observation and memory in, action and memory out."""

from logtriage.policies.base import Follower, Memory, Player, Policy, PolicyFactory, Ranking, Ranks
from logtriage.policies.central import CentralControl, TeamAsPolicy, merge_slices
from logtriage.policies.chain import ChainPolicy
from logtriage.policies.chat import ChatPolicies, ChatPolicy
from logtriage.policies.constant import ConstantPolicy
from logtriage.policies.expert import ExpertPolicy
from logtriage.policies.first_error import FirstErrorPolicy
from logtriage.policies.following import FollowingTeam
from logtriage.policies.inquiry import InquiryPolicy
from logtriage.policies.noisy import NoisyPolicy
from logtriage.policies.observer import ObserverPolicy
from logtriage.policies.observer_team import ObserverRole, ObserverTeam
from logtriage.policies.oracle import OraclePolicy, perfect_actions
from logtriage.policies.oracle_team import OracleRole, OracleTeam, joint_schedule
from logtriage.policies.random_policy import RandomPolicy, masked_actions
from logtriage.policies.random_questions import RandomQuestionsPolicy
from logtriage.policies.ranking import METHODS, SCORES, Method, RankingPolicy
from logtriage.policies.team import (
    RoleFactory,
    RoleFailure,
    RolePolicies,
    TeamFactory,
    TeamPolicy,
    as_taken,
    idle,
)

__all__ = [
    "METHODS",
    "SCORES",
    "CentralControl",
    "ChainPolicy",
    "ChatPolicies",
    "ChatPolicy",
    "ConstantPolicy",
    "ExpertPolicy",
    "FirstErrorPolicy",
    "Follower",
    "FollowingTeam",
    "InquiryPolicy",
    "Memory",
    "Method",
    "NoisyPolicy",
    "ObserverPolicy",
    "ObserverRole",
    "ObserverTeam",
    "OraclePolicy",
    "OracleRole",
    "OracleTeam",
    "Player",
    "Policy",
    "PolicyFactory",
    "RandomPolicy",
    "RandomQuestionsPolicy",
    "Ranking",
    "RankingPolicy",
    "Ranks",
    "RoleFactory",
    "RoleFailure",
    "RolePolicies",
    "TeamAsPolicy",
    "TeamFactory",
    "TeamPolicy",
    "as_taken",
    "idle",
    "joint_schedule",
    "masked_actions",
    "merge_slices",
    "perfect_actions",
]
