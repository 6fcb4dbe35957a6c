"""For ``deepeval test run test_triage.py``."""

import pytest
from deepeval import assert_test
from deepeval.test_case import LLMTestCase
from logtriage_deepeval import TriageMetric
from my_model import ask  # your model: from messages to its reply

import logtriage as lt
from logtriage.adapters.plans import plan_rows


@pytest.mark.parametrize("row", plan_rows(lt.incident_ids("single_crash-v4", "test", 20)))
def test_plan(row):
    case = LLMTestCase(
        input=row["prompt"][-1]["content"],
        actual_output=ask(row["prompt"]),
        metadata={"incident": row["incident"]},
    )
    assert_test(case, [TriageMetric()])
