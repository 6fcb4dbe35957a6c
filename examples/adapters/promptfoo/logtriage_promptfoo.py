"""promptfoo asks once for a plan: the prompt, the tests and the grade of a reply."""

from typing import Any

import logtriage as lt
from logtriage.adapters.plans import grade_plan, plan_rows


def generate_tests(config: dict[str, Any]) -> list[dict[str, Any]]:
    """A test for each incident."""
    ids = lt.incident_ids(config["task"], config["split"], config["episodes"])
    return [{"description": one, "vars": {"incident": one}} for one in ids]


def create_prompt(context: dict[str, Any]) -> list[dict[str, str]]:
    """The rules and the first screen."""
    (row,) = plan_rows([context["vars"]["incident"]])
    return row["prompt"]


def get_assert(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """The grade of a reply, with the reasons of its criteria."""
    graded = grade_plan(context["vars"]["incident"], output)
    reasons = [f"{row.name} {row.score:g}: {row.reason}" for row in graded.criteria]
    if graded.gate is not None:
        reasons.insert(0, f"{graded.gate}: {graded.gate_reason}")
    return {
        "pass": graded.score >= context["config"]["threshold"],
        "score": graded.score,
        "reason": "; ".join(reasons),
        "namedScores": {row.name: row.score for row in graded.criteria},
    }
