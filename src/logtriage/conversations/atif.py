"""ATIF, the trajectories that Harbor and others write: a run as steps, read as messages."""

from collections.abc import Mapping
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.errors import TranscriptError

_PREFIX: Final = "ATIF-"
_ROLES: Final = {"agent": "assistant", "user": "user", "system": "system"}


def is_atif(row: Mapping[str, Any]) -> bool:
    """Whether a row is a trajectory in ATIF."""
    version = row.get("schema_version")
    return isinstance(version, str) and version.startswith(_PREFIX)


def row_of_trajectory(row: Mapping[str, Any]) -> dict[str, Any]:
    """A trajectory as a row with ``messages``; its other fields, but ``steps``, are kept.

    Steps that were copied for context are not the agent's own.

    Raises:
        TranscriptError: naming the field, for what is none, and for a run of which this is
            a part: one with subagents, or that goes on elsewhere.
    """
    for field in ("subagent_trajectories", "continued_trajectory_ref"):
        if row.get(field):
            raise TranscriptError(f"{field}: only a whole run of one agent can be read")
    steps = row.get("steps")
    if not isinstance(steps, list):
        raise TranscriptError(f"steps: expected a list, got {json_kind(steps)}")
    messages: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        messages += _messages(step, f"steps[{number}]")
    agent = row.get("agent")
    told = agent if isinstance(agent, Mapping) else {}
    name = told.get("name") if absent(told.get("model_name")) else told["model_name"]
    return {**{key: row[key] for key in row if key != "steps"}, "agent": name, "messages": messages}


def _messages(step: object, where: str) -> list[dict[str, Any]]:
    if not isinstance(step, Mapping):
        raise TranscriptError(f"{where}: expected an object, got {json_kind(step)}")
    source = step.get("source")
    if source not in _ROLES:
        raise TranscriptError(f"{where}.source: one of {', '.join(_ROLES)}; got {source!r:.40}")
    message: dict[str, Any] = {"role": _ROLES[source], "content": step.get("message", "")}
    if step.get("is_copied_context"):
        message["source"] = "input"
    calls = step.get("tool_calls")
    if not absent(calls):
        message["tool_calls"] = [
            _call(one, f"{where}.tool_calls[{number}]")
            for number, one in enumerate(_list(calls, f"{where}.tool_calls"))
        ]
    return [message, *_results(step.get("observation"), f"{where}.observation")]


def _call(call: object, where: str) -> dict[str, Any]:
    if not isinstance(call, Mapping) or not isinstance(call.get("function_name"), str):
        raise TranscriptError(f"{where}: expected an object with function_name")
    function = {"name": call["function_name"], "arguments": call.get("arguments")}
    return {"id": call.get("tool_call_id"), "function": function}


def _results(observation: object, where: str) -> list[dict[str, Any]]:
    if absent(observation):
        return []
    results = observation.get("results") if isinstance(observation, Mapping) else None
    answers = []
    for number, one in enumerate(_list(results, f"{where}.results")):
        if not isinstance(one, Mapping):
            raise TranscriptError(f"{where}.results[{number}]: expected an object")
        call, content = one.get("source_call_id"), one.get("content")
        answer = {"role": "user" if absent(call) else "tool", "content": content}
        answers.append(answer if absent(call) else {**answer, "tool_call_id": call})
    return answers


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise TranscriptError(f"{where}: expected a list, got {json_kind(value)}")
    return value
