import inspect

import pytest

from logtriage import InvalidInput
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.trl import ShiftEnv
from logtriage.adapters.turns import LEFT_OUT
from logtriage.errors import EpisodeOver
from logtriage.parsing.tools import SHIFT_TOOLS
from logtriage.shift import make_shift, play, score, shift_action_to_wire

SHIFT = make_shift("quiet_shift-v1/train/0")
SYSTEM = SHIFT.arrivals[0].system
ASK: dict[str, object] = {
    "name": "request_metrics",
    "arguments": {"system": SYSTEM, "service": "user-db"},
}


def said(call: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "1", **call}]}


def test_a_call_is_answered_with_the_next_screen() -> None:
    episode = ShiftEpisode(SHIFT)
    turn = episode.step(said(ASK))
    assert "METRICS user-db" in turn.text
    assert turn.messages[0]["role"] == "tool"
    assert episode.actions == (
        {"action_type": "request_metrics", "value": "user-db", "system": SYSTEM},
    )


def test_a_reply_without_a_call_costs_its_tick_and_is_told_so() -> None:
    episode = ShiftEpisode(SHIFT)
    assert "not understood: a reply without a tool call" in episode.step("hm").text
    assert episode.state.tick == 1


def test_ticks_are_a_number_in_marks_without_types() -> None:
    call = "<tool_call>wait\n<arg_key>ticks</arg_key>\n<arg_value>3</arg_value></tool_call>"
    assert ShiftEpisode(SHIFT).step(call).actions == ({"action_type": "wait", "ticks": 3},)


def test_rewards_add_up_to_the_grade_of_what_a_player_did() -> None:
    state = play(SHIFT, "oracle")
    episode = ShiftEpisode(SHIFT)
    for action in state.history:
        episode.act(shift_action_to_wire(action))
    assert (episode.stop, episode.done) == ("over", True)
    assert sum(episode.rewards) == episode.reward == score(state) == episode.grade.score
    late = episode.act({"action_type": "wait"})
    assert (late.text, late.reward) == ("The shift is over; this had no effect.", 0.0)
    assert episode.state == state


def test_a_conversation_plays_again_to_the_same_grade() -> None:
    episode = ShiftEpisode(SHIFT)
    episode.step(said(ASK))
    episode.step(said({"name": "hand_over", "arguments": {"system": SYSTEM}}))
    again = ShiftEpisode(SHIFT).play(episode.messages)
    assert (again.state, again.grade) == (episode.state, episode.grade)


def test_only_the_latest_screens_stay_and_every_reply_does() -> None:
    episode = ShiftEpisode(SHIFT, screens=2)
    for _ in range(3):
        episode.step(said(ASK))
    contents = [one["content"] for one in episode.messages if one["role"] != "assistant"]
    assert contents[0] == episode.prompt[0]["content"]
    assert contents[1:3] == [LEFT_OUT, LEFT_OUT]
    assert all("SHIFT TICK" in one for one in contents[3:])
    assert sum(message["role"] == "assistant" for message in episode.messages) == 3
    assert len(ShiftEpisode(SHIFT).messages) == 2


def test_forks_part_ways_and_failures_are_no_zero() -> None:
    episode = ShiftEpisode(SHIFT)
    other = episode.fork()
    episode.step(said(ASK))
    assert other.state.tick == 0
    episode.fail("the endpoint is gone")
    assert (episode.stop, episode.reward) == ("error", None)
    with pytest.raises(EpisodeOver, match="the endpoint is gone"):
        episode.act({"action_type": "wait"})
    with pytest.raises(InvalidInput, match="a cause"):
        other.fail("")


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="screens must be at least 1"):
        ShiftEpisode(SHIFT, screens=0)
    with pytest.raises(InvalidInput, match=r"column 'shift'.*columns: incident"):
        ShiftEpisode.of_row({"incident": "x"})


def test_the_environment_of_trl_has_the_tools_of_a_shift() -> None:
    env = ShiftEnv()
    with pytest.raises(InvalidInput, match="reset"):
        env.get_reward()
    opening = env.reset(shift=SHIFT.id)
    assert "HAND-OVER" in opening
    assert "BOARD" in opening
    assert "METRICS user-db" in env.request_metrics(system=SYSTEM, service="user-db")
    assert env.get_reward() == 0.0
    for name, tool in SHIFT_TOOLS.items():
        method = getattr(env, name)
        assert method.__doc__ == tool.docstring()
        assert list(inspect.signature(method).parameters) == [
            parameter.name for parameter in tool.parameters
        ]
    env.wait(ticks=1000)
    while not env.episode.done:
        env.wait(ticks=1000)
    assert "over" in env.wait()
