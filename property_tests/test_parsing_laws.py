"""Laws of reading: total on everything, and exact on what we write ourselves."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import KEPT_TEXT, action_id, check_action
from logtriage.codec import (
    decode_transcript,
    encode_transcript,
    structure_transcript,
    topology_from_json,
    topology_to_json,
    truth_to_json,
)
from logtriage.errors import TranscriptError
from logtriage.grading import grade_transcript
from logtriage.parsing import action_from_wire, action_to_wire, parse_plan, render_action
from logtriage.parsing.replies import ENDED_THINKING
from logtriage.state import State
from property_tests.strategies import (
    actions,
    episodes,
    incident_ids,
    json_values,
    topologies,
    wire_actions,
)
from tests.builders import SEVEN_SERVICES


@given(st.text())
def test_parsing_text_is_total(text: str) -> None:
    action = lt.parse_action(text, SEVEN_SERVICES)
    check_action(action, SEVEN_SERVICES)
    if isinstance(action, lt.Malformed):
        assert action.reason
        assert len(action.text) <= KEPT_TEXT


@given(st.lists(st.one_of(wire_actions(), json_values()), max_size=3), st.text(max_size=30))
def test_parsing_json_in_prose_is_total(values: list[Any], prose: str) -> None:
    text = prose.join(json.dumps(value) for value in values)
    check_action(lt.parse_action(text, SEVEN_SERVICES), SEVEN_SERVICES)


#: What opens and closes a thought.
PAIRS = [
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<THOUGHT >", "</THOUGHT >"),
    ("<seed:reasoning>", "</seed:reasoning>"), ("[THINK]", "[/THINK]"),
    ("◁analysis▷", "◁/analysis▷"), ("<|begin_of_thoughts|>", "<|end_of_thoughts|>"),
    ("<unused94>", "<unused95>"),
]  # fmt: skip
MARKS = [mark for pair in PAIRS for mark in pair]
#: What has the shape of such marks and a name that nobody knows.
ODD_PAIRS = [
    ("<{}>", "</{}>"), ("<x:{}>", "</x:{}>"), ("<|{}|>", "<|end_{}|>"), ("<|{}>", "<{}|>"),
    ("◁{}▷", "◁/{}▷"), ("[{}]", "[/{}]"),
]  # fmt: skip
CALL_MARKS = ["<tool_call>", "</tool_call>", "<function=escalate>", "<parameter=team>", "dba-team"]
#: Texts in which marks, JSON and prose come in any order.
MARKED = st.lists(
    st.one_of(
        st.sampled_from([*MARKS, *CALL_MARKS]), wire_actions().map(json.dumps), st.text(max_size=9)
    ),
    max_size=9,
).map("".join)


@given(MARKED)
def test_reading_thoughts_and_calls_is_total(text: str) -> None:
    check_action(lt.parse_action(text, SEVEN_SERVICES), SEVEN_SERVICES)
    for action in parse_plan(text, SEVEN_SERVICES):
        check_action(action, SEVEN_SERVICES)


@given(MARKED, MARKED, st.sampled_from(PAIRS))
def test_what_is_thought_changes_nothing(thought: str, reply: str, pair: tuple[str, str]) -> None:
    """Whatever stands in a thought, the reply behind it is read as if it stood alone."""
    begin, end = pair
    thought = f"{begin}{thought.replace(end, '')}{end}"
    for before in (thought, thought.removeprefix(begin)):
        if before is not thought and any(mark in before.removesuffix(end) for mark in MARKS):
            continue  # an opening mark within would pair with the end
        alone, behind = (
            (lt.parse_action(text, SEVEN_SERVICES), parse_plan(text, SEVEN_SERVICES))
            for text in (reply, f"{before}{reply}")
        )
        assert _readable(alone) == _readable(behind)


@given(
    st.from_regex(r"[a-z]{3,12}", fullmatch=True).map("q{}q".format), st.sampled_from(ODD_PAIRS),
    st.text("ab {}[]<>|\n", max_size=20), st.text("ab {}[]\n", max_size=20), st.booleans(),
)  # fmt: skip
def test_an_action_within_unknown_marks_is_never_played(
    name: str, pair: tuple[str, str], prose: str, more: str, again: bool
) -> None:
    action = '{"action_type": "ignore"}'
    begin, end = (one.format(name) for one in pair)
    text = f"{prose}{begin}{more}{action}{more}{end}{action if again else more}"
    assert isinstance(lt.parse_action(text, SEVEN_SERVICES), lt.Malformed)
    assert all(isinstance(one, lt.Malformed) for one in parse_plan(text, SEVEN_SERVICES))


def _readable(read: tuple[lt.Action, list[lt.Action]]) -> list[Any]:
    """What was read; of a reply that ended while thinking, that it did (it is kept whole)."""
    return [
        ENDED_THINKING if isinstance(one, lt.Malformed) and one.reason == ENDED_THINKING else one
        for one in (read[0], *read[1])
    ]


@given(wire_actions())
def test_reading_wire_actions_is_total_and_stable(wire: dict[str, Any]) -> None:
    action = action_from_wire(wire, SEVEN_SERVICES)
    check_action(action, SEVEN_SERVICES)
    if isinstance(action, lt.Malformed):
        assert action.reason
    assert action_from_wire(action_to_wire(action), SEVEN_SERVICES) == action


@given(st.data(), topologies())
def test_what_we_render_parses_back(data: st.DataObject, topology: lt.Topology) -> None:
    action = data.draw(actions(topology))
    if isinstance(action, lt.Malformed):
        assert action_from_wire(action_to_wire(action), topology) == action
        return
    text = render_action(action)
    assert lt.parse_action(text, topology) == action
    assert lt.parse_action(f"I think so:\n```json\n{text}\n```\n{text}", topology) == action


@given(topologies(200))
def test_canonical_integers_are_a_bijection(topology: lt.Topology) -> None:
    listed = lt.all_actions(topology)
    assert [action_id(action, topology) for action in listed] == list(range(len(listed)))
    n, teams = len(topology), len(topology.teams)
    assert len(listed) == 3 + n + teams + 5 * n + (1 + 3 * n) + 2


@given(episodes(), st.dictionaries(st.text(min_size=1, max_size=10), json_values(), max_size=3))
def test_transcripts_round_trip_and_grade_alike(
    states: tuple[State, ...], extra: dict[str, Any]
) -> None:
    known = {"schema", "incident", "actions", "status", "agent", "ticks", "role_split", "seal"}
    extra = {key: value for key, value in extra.items() if key not in known}
    state = states[-1]
    transcript = lt.transcript_of(state, agent="someone", extra=extra)
    assert decode_transcript(encode_transcript(transcript)) == transcript
    resolved = grade_transcript(transcript, resolve=lambda _: state.incident)
    own = lt.grade(state)
    assert (resolved.score, resolved.criteria, resolved.digest, resolved.closing) == (
        own.score, own.criteria, own.digest, own.closing,
    )  # fmt: skip


#: Keys of a transcript, and another one.
KEYS = ("schema", "incident", "actions", "status", "agent", "ticks", "role_split", "other")
NEAR = st.fixed_dictionaries({}, optional={key: json_values() for key in KEYS})


@pytest.mark.parametrize("values", [json_values(max_leaves=20), NEAR], ids=["any", "near"])
@given(data=st.data())
def test_reading_transcripts_fails_only_with_our_own_error(
    values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    try:
        structure_transcript(data.draw(values))
    except TranscriptError as error:
        assert error.reason


@given(st.binary(max_size=200))
def test_decoding_bytes_fails_only_with_our_own_error(data: bytes) -> None:
    try:
        decode_transcript(data)
    except TranscriptError as error:
        assert error.reason


@given(topologies(200))
def test_topologies_round_trip(topology: lt.Topology) -> None:
    text = json.dumps(topology_to_json(topology))
    assert topology_from_json(text) == topology


@given(json_values(max_leaves=20))
def test_reading_topologies_fails_only_with_our_own_error(value: Any) -> None:
    try:
        topology_from_json(json.dumps(value))
    except lt.InvalidInput as error:
        assert str(error)


@given(incident_ids())
def test_truths_are_json(incident_id: str) -> None:
    from logtriage import make_incident

    truth = truth_to_json(make_incident(incident_id))
    assert json.loads(json.dumps(truth)) == truth
