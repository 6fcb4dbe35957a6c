"""Trajectories in ATIF are conversations; a part of a run is refused."""

from typing import Any

import pytest

from logtriage.conversations.rows import transcript_of_row
from logtriage.errors import TranscriptError

INCIDENT = "single_crash-v4/test/531"
CALL = {"tool_call_id": "a", "function_name": "resolve", "arguments": {}}


def trajectory(*steps: Any, **more: Any) -> dict[str, Any]:
    agent = {"name": "mine", "version": "1"}
    extra = {"incident": INCIDENT}
    return {
        "schema_version": "ATIF-v1.8",
        "agent": agent,
        "extra": extra,
        "steps": [*steps],
        **more,
    }


def agents(**fields: Any) -> dict[str, Any]:
    return {"step_id": 1, "source": "agent", "message": "", **fields}


def test_calls_words_and_answers_are_read() -> None:
    results = {"results": [{"source_call_id": "a", "content": "closed"}, {"content": "more"}]}
    read = transcript_of_row(
        trajectory(
            {"step_id": 1, "source": "user", "message": "An incident."},
            agents(message="Hm.", is_copied_context=True),
            agents(tool_calls=[CALL], observation=results),
            agents(message=[{"type": "text", "text": "Done."}]),
        )
    )
    assert [one["action_type"] for one in read.actions] == ["resolve", "malformed"]
    assert (read.incident, read.agent, read.status) == (INCIDENT, "mine", "completed")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (trajectory(steps=None), "steps: expected a list, got nothing"),
        (trajectory(3), r"steps\[0\]: expected an object, got a number"),
        (trajectory(agents(source="cat")), r"steps\[0\].source: one of agent, user, system"),
        (trajectory(agents(tool_calls={})), r"steps\[0\].tool_calls: expected a list"),
        (trajectory(agents(tool_calls=[{}])), r"tool_calls\[0\]: expected an object with function"),
        (trajectory(agents(observation={})), r"observation.results: expected a list"),
        (trajectory(agents(observation={"results": [3]})), r"results\[0\]: expected an object"),
        (trajectory(agents(), continued_trajectory_ref="b"), "continued_trajectory_ref: only"),
        (trajectory(agents(), subagent_trajectories=[{}]), "subagent_trajectories: only a whole"),
    ],
)
def test_what_is_no_whole_run_is_refused_by_its_place(row: dict[str, Any], reason: str) -> None:
    with pytest.raises(TranscriptError, match=reason):
        transcript_of_row(row)
