"""Graders for evaluation suites: rubrics, grades, and functions that produce them.

>>> from logtriage.grading import grade_actions
>>> grade_actions("single_crash-v1/test/0", [{"action_type": "resolve"}]).score
0.0
"""

from logtriage.grading.criteria import Measure, Measured
from logtriage.grading.encoding import grade_to_json
from logtriage.grading.grade import (
    RUBRICS,
    CriterionScore,
    Grade,
    GradeStatus,
    get_rubric,
    grade,
    reward,
    rubric_of,
    score,
    unscored,
)
from logtriage.grading.rubric import DEFAULT, RECORDED, Criterion, Gate, Rubric
from logtriage.grading.transcripts import (
    Resolver,
    grade_actions,
    grade_jsonl,
    grade_transcript,
)

__all__ = [
    "DEFAULT",
    "RECORDED",
    "RUBRICS",
    "Criterion",
    "CriterionScore",
    "Gate",
    "Grade",
    "GradeStatus",
    "Measure",
    "Measured",
    "Resolver",
    "Rubric",
    "get_rubric",
    "grade",
    "grade_actions",
    "grade_jsonl",
    "grade_to_json",
    "grade_transcript",
    "reward",
    "rubric_of",
    "score",
    "unscored",
]
