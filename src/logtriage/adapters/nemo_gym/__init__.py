"""NeMo Gym: rows of its data sets, and how a stored rollout is graded.

Nothing here imports NeMo Gym; :mod:`logtriage.adapters.nemo_gym.server` does.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from logtriage.adapters.episode import opening, row_of
from logtriage.adapters.rewards import by_criterion, metrics_of, reward_names
from logtriage.conversations.tools import tools_of
from logtriage.conversations.wires import wire_of
from logtriage.evaluation import Incidents
from logtriage.grading import Grade, Resolver, get_rubric, grade_actions
from logtriage.incident import Incident
from logtriage.parsing.calls import Wire

INCIDENTS: Final = Incidents()
#: Routes of a resources server: a call of that name never reaches an incident.
ROUTES: Final = frozenset({"seed_session", "close_session", "verify", "aggregate_metrics", "mcp"})


def nemo_gym_rows(
    incident_ids: Iterable[str], *, resolve: Resolver = INCIDENTS
) -> list[dict[str, Any]]:
    """Rows of a JSON Lines file: the request to the model, and the incident's id beside it."""
    return [
        {
            "responses_create_params": {
                "input": opening(drawn, "tools"),
                "tools": _tools(drawn),
                "parallel_tool_calls": False,
            },
            **row_of(drawn),
        }
        for drawn in map(resolve, incident_ids)
    ]


def _tools(incident: Incident) -> list[dict[str, Any]]:
    """The incident's tools as the responses API takes them."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.json_schema(),
            "strict": False,
        }
        for tool in tools_of(incident)
    ]


def wires_of(output: Sequence[Mapping[str, Any]]) -> list[Wire]:
    """The wire actions of a response's items: the calls that reached the resources server.

    NeMo Gym's agent itself answers a call whose arguments are not JSON, and ends the episode
    at a reply without a call. Neither reaches the incident, so neither is an action.
    """
    return [wire_of(item) for item in output if _reaches_incident(item)]


def _reaches_incident(item: Mapping[str, Any]) -> bool:
    if item.get("type") != "function_call" or item.get("name") in ROUTES:
        return False
    try:
        json.loads(item["arguments"])
    except (ValueError, TypeError):
        return False
    return True


def verified(incident: Incident, output: Sequence[Mapping[str, Any]]) -> Grade:
    """The grade of a stored rollout, from its calls alone."""
    return grade_actions(incident, wires_of(output))


def reward_of(incident: Incident, grade: Grade) -> dict[str, Any]:
    """The fields that ``/verify`` adds: reward, components by criterion, and metrics.

    The components have the same names for all incidents of a rubric, and add up to the reward.
    """
    names = reward_names(get_rubric(incident.rubric))
    components = {**dict.fromkeys(names, 0.0), **by_criterion(grade)}
    return {"reward": grade.score, "reward_components": components, **metrics_of(grade)}
