"""A metric of DeepEval: the grade of a plan, without a model as a judge."""

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from logtriage.adapters.plans import grade_plan


class TriageMetric(BaseMetric):
    """The grade of a reply, with the reasons of its criteria."""

    def __init__(self, threshold: float = 0.9) -> None:
        self.threshold = threshold

    def measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        metadata = getattr(test_case, "metadata", None) or test_case.additional_metadata
        graded = grade_plan(metadata["incident"], test_case.actual_output)
        self.score = graded.score
        self.score_breakdown = {row.name: row.score for row in graded.criteria}
        self.reason = "; ".join(f"{row.name}: {row.reason}" for row in graded.criteria)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "triage"
