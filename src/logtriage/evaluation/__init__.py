"""Evaluation: policies and teams play incidents, and what they did is kept, graded and compared.

>>> from logtriage.evaluation import RunSpec, evaluate
>>> spec = RunSpec(policies=["expert"], tasks=["single_crash-v1"], episodes=20)
>>> summary = evaluate(spec, "runs/expert")  # doctest: +SKIP

A run is a directory (:mod:`logtriage.evaluation.store`) that can be interrupted,
resumed, loaded, compared and sent to others. Every figure is derived from the
transcripts in it, by the one grader.
"""

from logtriage.evaluation.compare import Comparison, compare_runs
from logtriage.evaluation.episodes import (
    PolicyFailure,
    failure_of,
    joint_steps,
    play_episode,
    play_joint_episode,
    played_state,
    record_episode,
    record_joint_episode,
    steps,
)
from logtriage.evaluation.incidents import Incidents, is_recorded
from logtriage.evaluation.loading import LoadedRun, load_run
from logtriage.evaluation.localisation import Located, hit_at, locate
from logtriage.evaluation.manifest import Manifest
from logtriage.evaluation.recorders import Recorder
from logtriage.evaluation.runner import evaluate
from logtriage.evaluation.spec import RECORDED_TASK, Cell, RunSpec, plan
from logtriage.evaluation.statistics import (
    Interval,
    brier,
    mean_interval,
    paired_difference,
    pass_at_k,
    pass_hat_k,
)
from logtriage.evaluation.summary import SOLVED, Row, summarise

__all__ = [
    "RECORDED_TASK",
    "SOLVED",
    "Cell",
    "Comparison",
    "Incidents",
    "Interval",
    "LoadedRun",
    "Located",
    "Manifest",
    "PolicyFailure",
    "Recorder",
    "Row",
    "RunSpec",
    "brier",
    "compare_runs",
    "evaluate",
    "failure_of",
    "hit_at",
    "is_recorded",
    "joint_steps",
    "load_run",
    "locate",
    "mean_interval",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "plan",
    "play_episode",
    "play_joint_episode",
    "played_state",
    "record_episode",
    "record_joint_episode",
    "steps",
    "summarise",
]
