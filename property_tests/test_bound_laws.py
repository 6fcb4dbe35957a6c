"""Laws of edited records: breaking off raises no bound, and no call of a conversation is free."""

import json
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import Incident, transcript_of
from logtriage.actions import RequestMetrics, RequestMoreLogs, Resolve, action_name, action_value
from logtriage.conversations.wires import actions_of_conversation
from logtriage.evaluation.statistics import bound_of, mean_interval
from logtriage.grading import grade_transcript
from logtriage.parsing import actions_from_wire
from logtriage.transcript import COMPLETED
from property_tests.strategies import episodes
from tests.builders import SEVEN_SERVICES, known

SCORES = st.none() | st.floats(0, 1)


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1), st.data())
def test_what_is_taken_out_of_a_mean_never_raises_its_bound(
    rows: list[tuple[float | None, bool]], data: st.DataObject
) -> None:
    scores = [score for score, _ in rows]
    before = bound_of(scores)
    broken = [None if breaks else score for score, breaks in rows]
    kept = broken[: data.draw(st.integers(0, len(broken)))]
    assert before is not None
    for edited, count in ((broken, None), (kept, len(scores))):
        after = known(bound_of(edited, count))
        assert after <= before
    scored = [one for one in scores if one is not None]
    mean = mean_interval(scored)
    if mean is not None:
        assert before <= mean.mean
        assert (before == mean.mean) == (len(scored) == len(scores) or mean.mean == 0.0)


@given(st.lists(episodes(), min_size=1, max_size=4), st.text(max_size=9), st.data())
def test_another_status_of_transcripts_never_raises_the_bound_of_their_grades(
    played: list[Any], status: str, data: st.DataObject
) -> None:
    incidents: dict[str, Incident] = {one[-1].incident.id: one[-1].incident for one in played}
    transcripts = [
        transcript_of(one[-1])
        for one in played
        if one[-1].incident == incidents[one[-1].incident.id]
    ]
    edited = [
        attrs.evolve(one, status=data.draw(st.sampled_from([COMPLETED, status])))
        for one in transcripts
    ]
    before, after = (
        bound_of(grade_transcript(one, resolve=incidents.__getitem__).score for one in rows)
        for rows in (transcripts, edited)
    )
    assert known(after) <= known(before)


LOOKS = (RequestMoreLogs(None), RequestMetrics("user-db"), Resolve())


@given(
    st.lists(st.tuples(st.sampled_from(LOOKS), st.sampled_from(["c1", "c2"])), min_size=1),
    st.sampled_from(["TICK 1/8", "the same answer", ""]),
)
def test_every_call_that_was_answered_is_an_action(
    plan: list[tuple[Any, str]], answer: str
) -> None:
    """Whatever its id and its answer: a look that was shown costs its tick."""
    messages: list[dict[str, Any]] = []
    for action, number in plan:
        value = action_value(action)
        arguments = json.dumps({} if value is None else {"service": value})
        call = {"id": number, "function": {"name": action_name(action), "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": number, "content": answer})
    wires = actions_of_conversation(messages, SEVEN_SERVICES)
    assert actions_from_wire(wires, SEVEN_SERVICES) == [action for action, _ in plan]
