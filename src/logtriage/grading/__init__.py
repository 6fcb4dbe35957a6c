"""Graders for evaluation suites: rubrics, grades, and functions that produce them.

``grade_batch`` and its kin load NumPy when they are first asked for.

>>> from logtriage.grading import grade_actions
>>> grade_actions("single_crash-v4/test/0", [{"action_type": "resolve"}]).score
0.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logtriage.grading.criteria import Measure, Measured
from logtriage.grading.debrief import AppliedDiscount, CriterionScore, Grade, Graded, Unscored
from logtriage.grading.grade import (
    RUBRICS,
    get_rubric,
    grade,
    grade_to_json,
    reward,
    rubric_named,
    rubric_of,
    score,
    unscored,
)
from logtriage.grading.rubric import DEFAULT, RECORDED, TRIAGE_3, Criterion, Discount, Gate, Rubric
from logtriage.grading.transcripts import (
    Resolver,
    grade_actions,
    grade_jsonl,
    grade_lines,
    grade_transcript,
)

if TYPE_CHECKING:
    from logtriage.grading.batch import BatchGrades, Truths, action_array, grade_batch, truths_of

__all__ = [
    "DEFAULT",
    "RECORDED",
    "RUBRICS",
    "TRIAGE_3",
    "AppliedDiscount",
    "BatchGrades",
    "Criterion",
    "CriterionScore",
    "Discount",
    "Gate",
    "Grade",
    "Graded",
    "Measure",
    "Measured",
    "Resolver",
    "Rubric",
    "Truths",
    "Unscored",
    "action_array",
    "get_rubric",
    "grade",
    "grade_actions",
    "grade_batch",
    "grade_jsonl",
    "grade_lines",
    "grade_to_json",
    "grade_transcript",
    "reward",
    "rubric_named",
    "rubric_of",
    "score",
    "truths_of",
    "unscored",
]

_BATCH = ("BatchGrades", "Truths", "action_array", "grade_batch", "truths_of")


def __dir__() -> list[str]:
    """The public names, including those that load NumPy."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _BATCH:
        return getattr(import_module("logtriage.grading.batch"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
