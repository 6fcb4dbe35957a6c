"""Shifts by the OpenEnv protocol: a real server, and the library's own client."""

import json
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from openenv.core import GenericEnvClient

from logtriage.errors import InvalidInput, UnknownName
from logtriage.server.shifts import ShiftEnvironment, ShiftStep, shift_app
from logtriage.shift import make_shift, play, score, shift_action_to_wire
from tests.adapters.openenv.serving import wait_for

SHIFT = "quiet_shift-v1/train/3"


@pytest.fixture
def url() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(shift_app(), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(15)


def test_a_session_plays_a_shift_and_its_rewards_add_up_to_the_grade(url: str) -> None:
    state = play(make_shift(SHIFT), "oracle")
    with GenericEnvClient(base_url=url).sync() as client:
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
