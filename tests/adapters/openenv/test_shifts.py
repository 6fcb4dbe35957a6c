"""Shifts by the OpenEnv protocol: a real server, and the library's own client."""

import json

import pytest
from openenv.core import GenericEnvClient

from logtriage.errors import InvalidInput, UnknownName
from logtriage.server.shifts import ShiftEnvironment, ShiftStep, shift_app
from logtriage.shift import make_shift, play, score, shift_action_to_wire
from tests.adapters.openenv.serving import running

SHIFT = "quiet_shift-v1/train/3"
TOKEN = "0123456789abcdef"


def test_a_session_plays_a_shift_and_its_rewards_add_up_to_the_grade() -> None:
    state = play(make_shift(SHIFT), "oracle")
    with running(shift_app) as place, GenericEnvClient(base_url=place.http).sync() as client:
        seen = client.reset(seed=3)
        assert "You are on call" in seen.observation["prompt"]
        earned = 0.0
        for action in state.history:
            assert not seen.done
            seen = client.step({"text": json.dumps(shift_action_to_wire(action))})
            earned += seen.reward or 0.0
    assert seen.done
    assert seen.observation["grade"]["score"] == score(state)
    assert earned == pytest.approx(score(state))


def test_strangers_and_unknown_fields_are_kept_out() -> None:
    client = GenericEnvClient
    with running(shift_app, token=TOKEN) as place, pytest.raises(Exception, match="401"):
        client(base_url=place.http).sync().connect()
    with running(shift_app) as place, client(base_url=place.http).sync() as session:
        with pytest.raises(RuntimeError, match="seeds"):
            session.reset(seeds=3)
        assert not session.reset(seed=3).done


def test_what_cannot_be_played_is_refused() -> None:
    env = ShiftEnvironment()
    with pytest.raises(InvalidInput, match="reset first"):
        env.step(ShiftStep(text="{}"))
    with pytest.raises(InvalidInput, match="seeds: unknown field"):
        env.reset(seeds=1)
    with pytest.raises(UnknownName, match="quiet_shift-v1"):
        env.reset(task="x")
    env.reset(episode_id="e")
    assert "not understood" in env.step(ShiftStep(text="hm")).screen
    assert (env.state.episode_id, env.state.step_count) == ("e", 1)
