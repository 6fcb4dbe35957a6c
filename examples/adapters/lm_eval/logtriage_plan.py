"""The rows and the score of logtriage_plan.yaml, for lm-evaluation-harness."""

from typing import Any

import logtriage as lt
from logtriage.adapters.plans import grade_plan, plan_rows


def rows(task: str, episodes: int) -> list[dict[str, str]]:
    """Prompts with the rules and the first screen, and the ids of their incidents."""
    return [
        {
            "prompt": "\n\n".join(message["content"] for message in row["prompt"]),
            "incident": row["incident"],
        }
        for row in plan_rows(lt.incident_ids(task, "test", episodes))
    ]


def dataset(task: str, episodes: int, **_: Any) -> dict[str, Any]:
    from datasets import Dataset  # which the harness has

    return {"test": Dataset.from_list(rows(task, episodes))}


def process_results(doc: dict[str, str], results: list[str]) -> dict[str, float | None]:
    """The grade of a reply; what holds no plan is graded as one malformed action."""
    grade = grade_plan(doc["incident"], results[0])
    return {"grade": grade.score, "gated": float(grade.gate is not None)}
