"""Scripted policies: observation and memory in, action and memory out."""

from logtriage.policies.base import Memory, Policy, PolicyFactory, Ranking, Ranks
from logtriage.policies.constant import ConstantPolicy
from logtriage.policies.expert import ExpertPolicy
from logtriage.policies.first_error import FirstErrorPolicy
from logtriage.policies.oracle import OraclePolicy, perfect_actions
from logtriage.policies.random_policy import RandomPolicy, masked_actions
from logtriage.policies.ranking import SCORES, RankingPolicy

__all__ = [
    "SCORES",
    "ConstantPolicy",
    "ExpertPolicy",
    "FirstErrorPolicy",
    "Memory",
    "OraclePolicy",
    "Policy",
    "PolicyFactory",
    "RandomPolicy",
    "Ranking",
    "RankingPolicy",
    "Ranks",
    "masked_actions",
    "perfect_actions",
]
