"""Evaluation: policies and teams play incidents; runs are kept, graded and compared.

>>> from logtriage.evaluation import RunSpec, evaluate
>>> spec = RunSpec(policies=["expert"], tasks=["single_crash-v4"], episodes=20)
>>> summary = evaluate(spec, "runs/expert")  # doctest: +SKIP

A run is a directory (:mod:`logtriage.evaluation.store`) that can be interrupted,
resumed, loaded, compared and sent to others. Every figure is derived from the
transcripts in it, by the same grader.
"""

from logtriage.evaluation.compare import Comparison, check_drawn_alike, compare_runs
from logtriage.evaluation.episodes import (
    is_solved,
    joint_steps,
    play_joint_episode,
    played_state,
    record_episode,
    record_joint_episode,
)
from logtriage.evaluation.explaining import explain_run
from logtriage.evaluation.gate import Check, Margins, Verdict, gate_runs
from logtriage.evaluation.incidents import RECORDED_TASK, RECORDED_TASKS, Incidents
from logtriage.evaluation.keeping import keep_run
from logtriage.evaluation.loading import LoadedRun, load_run
from logtriage.evaluation.localisation import Located, hit_at, locate
from logtriage.evaluation.losses import PARTS, Calls, Losses
from logtriage.evaluation.net_values import AtWorth, NetValue, net_value
from logtriage.evaluation.runner import evaluate
from logtriage.evaluation.spec import RunSpec, plan
from logtriage.evaluation.statistics import (
    Interval,
    augrc,
    brier,
    mean_interval,
    paired_difference,
    pass_at_k,
    pass_hat_k,
)
from logtriage.evaluation.summary import Row, summarise
from logtriage.grading.debrief import SOLVED
from logtriage.playing import PolicyFailure, steps

__all__ = [
    "PARTS",
    "RECORDED_TASK",
    "RECORDED_TASKS",
    "SOLVED",
    "AtWorth",
    "Calls",
    "Check",
    "Comparison",
    "Incidents",
    "Interval",
    "LoadedRun",
    "Located",
    "Losses",
    "Margins",
    "NetValue",
    "PolicyFailure",
    "Row",
    "RunSpec",
    "Verdict",
    "augrc",
    "brier",
    "check_drawn_alike",
    "compare_runs",
    "evaluate",
    "explain_run",
    "gate_runs",
    "hit_at",
    "is_solved",
    "joint_steps",
    "keep_run",
    "load_run",
    "locate",
    "mean_interval",
    "net_value",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "plan",
    "play_joint_episode",
    "played_state",
    "record_episode",
    "record_joint_episode",
    "steps",
    "summarise",
]
