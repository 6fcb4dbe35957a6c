"""TRL: reward functions for one-shot plans, and environments for multi-turn GRPO.

Nothing here imports TRL, so that rewards can be tried and tested without it.

>>> from logtriage.adapters.trl import TriageEnv, triage_rows  # doctest: +SKIP
>>> GRPOTrainer(..., environment_factory=TriageEnv,
...             train_dataset=Dataset.from_list(triage_rows(ids)))  # doctest: +SKIP
"""

from logtriage.adapters.trl.environments import (
    NotationEnv,
    Playing,
    RecordedEnv,
    ShiftEnv,
    TriageEnv,
    TriageTools,
    environment_for,
    environment_of,
    tools_offered,
)
from logtriage.adapters.trl.rewards import (
    criterion_rewards,
    triage_criteria,
    triage_reward,
    triage_rows,
)

__all__ = [
    "NotationEnv",
    "Playing",
    "RecordedEnv",
    "ShiftEnv",
    "TriageEnv",
    "TriageTools",
    "criterion_rewards",
    "environment_for",
    "environment_of",
    "tools_offered",
    "triage_criteria",
    "triage_reward",
    "triage_rows",
]
