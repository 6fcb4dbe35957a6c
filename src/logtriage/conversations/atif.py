"""ATIF, the trajectories that Harbor and others write: a run as steps, read as messages."""

from collections.abc import Iterator, Mapping
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
    """A trajectory as a row with ``messages``; its other fields are kept.

    Steps that were copied for context are not the agent's own. A TranscriptError names the field,
    also for a part of a run, with subagents or with a continuation elsewhere.
    """
    for field in ("subagent_trajectories", "continued_trajectory_ref"):
        if row.get(field):
            raise TranscriptError(f"{field}: only a whole run of one agent can be read")
    messages: list[dict[str, Any]] = []
    for where, step in _items(row.get("steps"), "steps"):
        messages += _messages(step, where)
    about = agent if isinstance(agent := row.get("agent"), Mapping) else {}
    name = about.get("name") if absent(about.get("model_name")) else about["model_name"]
    return {**{key: row[key] for key in row if key != "steps"}, "agent": name, "messages": messages}


def _messages(step: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    source = step.get("source")
    if source not in _ROLES:
        raise TranscriptError(f"{where}.source: one of {', '.join(_ROLES)}; got {source!r:.40}")
    message: dict[str, Any] = {"role": _ROLES[source], "content": step.get("message", "")}
    if step.get("is_copied_context"):
        message["source"] = "input"
    calls = step.get("tool_calls")
    if not absent(calls):
        message["tool_calls"] = [_call(*item) for item in _items(calls, f"{where}.tool_calls")]
    yield message
    observation = step.get("observation")
    if not absent(observation):
        results = observation.get("results") if isinstance(observation, Mapping) else None
        for _, result in _items(results, f"{where}.observation.results"):
            call = result.get("source_call_id")
            about = {"role": "user"} if absent(call) else {"role": "tool", "tool_call_id": call}
            yield {**about, "content": result.get("content")}


def _call(where: str, call: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(call.get("function_name"), str):
        raise TranscriptError(f"{where}: expected an object with function_name")
    function = {"name": call["function_name"], "arguments": call.get("arguments")}
    return {"id": call.get("tool_call_id"), "function": function}


def _items(value: object, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its place."""
    if not isinstance(value, list):
        raise TranscriptError(f"{where}: expected a list, got {json_kind(value)}")
    for number, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise TranscriptError(f"{where}[{number}]: expected an object, got {json_kind(item)}")
        yield f"{where}[{number}]", item
