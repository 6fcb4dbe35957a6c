"""What an agent is told follows from the wire actions alone."""

import pytest

import logtriage as lt
from logtriage.adapters.episode import Episode, opening, row_of
from logtriage.adapters.plans import grade_plan
from logtriage.conversations.tools import call_from_action
from logtriage.errors import EpisodeOver, SealError, UnknownName
from logtriage.grading import grade_actions, grade_transcript
from logtriage.policies import perfect_actions
from logtriage.rendering import system_prompt

INCIDENT = lt.make_incident("single_crash-v4/test/531")


def test_the_opening_is_the_rules_and_the_first_screen() -> None:
    system, user = opening(INCIDENT, "tools")
    assert system == {"role": "system", "content": system_prompt(INCIDENT, "tools")}
    assert user["content"] == lt.render_observation(lt.observe(lt.initial_state(INCIDENT)))


def called(name: str, **arguments: object) -> dict[str, object]:
    return {"role": "assistant", "tool_calls": [{"name": name, "arguments": arguments}]}


def test_an_episode_is_told_what_the_core_shows_and_graded_as_it_grades() -> None:
    episode = Episode(INCIDENT)
    assert list(episode.prompt) == opening(INCIDENT, "tools")
    state = lt.initial_state(INCIDENT)
    for action in perfect_actions(INCIDENT):
        name, arguments = call_from_action(action)
        before, state = state, lt.transition(state, action)
        turn = episode.step(called(name, **arguments))
        assert turn.reward == lt.reward(before, state)
        assert turn.done == state.is_closed
        if not turn.done:
            assert turn.text == lt.render_observation(lt.observe(state))
    assert (episode.stop, episode.reward) == ("resolved", 1.0)
    assert episode.grade == lt.grade(state)
    assert episode.floor + sum(episode.rewards) == 1.0
    assert INCIDENT.id not in str(episode.prompt)


def test_calls_are_answered_one_by_one_and_late_ones_are_told_so() -> None:
    many = {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "function": {"name": "request_more_logs", "arguments": "{}"}},
            {"id": "b", "function": {"name": "resolve", "arguments": "{}"}},
            {"id": "c", "function": {"name": "shrug", "arguments": "{}"}},
        ],
    }
    episode = Episode(INCIDENT)
    turn = episode.step(many)
    assert [message.get("tool_call_id") for message in turn.messages] == ["a", "b", "c"]
    assert turn.messages[2]["content"].endswith("this had no effect.")
    assert (episode.grade.unplayed, len(episode.rewards)) == (1, 1)
    assert episode.grade == grade_actions(INCIDENT, episode.actions)


def test_words_alone_cost_their_tick() -> None:
    episode = Episode(INCIDENT)
    turn = episode.step("Hm.")
    assert [action["action_type"] for action in turn.actions] == ["malformed"]
    assert turn.messages[0]["role"] == "user"
    assert turn.text.startswith(f"TICK 1/{INCIDENT.horizon};")
    (in_text,) = episode.step('<tool_call>{"name": "resolve"}</tool_call>').messages
    assert (in_text["role"], episode.stop) == ("user", "resolved")


def test_another_form_of_reply_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"reply 'tool'.*did you mean 'tools'"):
        Episode(INCIDENT, "tool")  # type: ignore[arg-type]


def test_replies_of_one_action_and_plans() -> None:
    one = Episode(INCIDENT, "json")
    assert one.step('{"action_type": "resolve"}').done
    plan = Episode(INCIDENT, "plan")
    turn = plan.step('[{"action_type": "classify_severity", "value": "P1"}]')
    assert (turn.done, plan.stop) == (True, "out_of_turns")
    assert plan.grade == grade_plan(INCIDENT, '[{"action_type":"classify_severity","value":"P1"}]')
    with pytest.raises(EpisodeOver, match="out_of_turns"):
        plan.step("[]")
    empty = Episode(INCIDENT, "plan").step("[]")
    assert empty.text  # an empty plan is told where it stands


def test_an_error_is_kept_apart_from_zero() -> None:
    episode = Episode(INCIDENT)
    episode.step("Hm.")
    episode.fail("model server gone")
    assert (episode.done, episode.stop, episode.reward) == (True, "error", None)
    assert episode.by_criterion == {}
    assert grade_transcript(episode.transcript()).cause == "error: model server gone"
    with pytest.raises(EpisodeOver, match="model server gone"):
        episode.step("Hm.")
    with pytest.raises(lt.InvalidInput, match="a cause in words"):
        episode.fail("")


def test_rows_name_the_incident_and_the_host_alone_reads_them() -> None:
    assert Episode.of_row(row_of(INCIDENT)).incident == INCIDENT
    with pytest.raises(lt.InvalidInput, match="columns: prompt"):
        Episode.of_row({"prompt": []})
    with pytest.raises(SealError, match="not sealed"):
        Episode.of_row({"incident": INCIDENT.id, "seal": "ab"})
    with pytest.raises(lt.InvalidInput, match="turns must be at least 1"):
        Episode(INCIDENT, turns=0)
    with pytest.raises(lt.InvalidInput, match="expected text or messages, got a number"):
        Episode(INCIDENT).step(3)  # type: ignore[arg-type]
