"""Scripted policies: observation and memory in, action and memory out."""

from logtriage.policies.base import Memory, Policy, PolicyFactory
from logtriage.policies.chat import ChatPolicies, ChatPolicy
from logtriage.policies.constant import ConstantPolicy
from logtriage.policies.expert import ExpertPolicy
from logtriage.policies.first_error import FirstErrorPolicy
from logtriage.policies.noisy import NoisyPolicy
from logtriage.policies.oracle import OraclePolicy, perfect_actions
from logtriage.policies.random_policy import RandomPolicy, masked_actions

__all__ = [
    "ChatPolicies",
    "ChatPolicy",
    "ConstantPolicy",
    "ExpertPolicy",
    "FirstErrorPolicy",
    "Memory",
    "NoisyPolicy",
    "OraclePolicy",
    "Policy",
    "PolicyFactory",
    "RandomPolicy",
    "masked_actions",
    "perfect_actions",
]
