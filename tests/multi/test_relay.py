"""Two engineers share a shift: PettingZoo's tests, and what the note is worth to them."""

import json
import sys

import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test

from logtriage import InvalidInput
from logtriage.errors import EpisodeOver, UnknownName
from logtriage.multi import relay_v1
from logtriage.shift import begin, grade, make_shift, play, score, shift_action_to_wire

SHIFT = make_shift("quiet_shift-v1/train/0")
WAIT = json.dumps({"action_type": "wait"})


@pytest.mark.filterwarnings("ignore:(Observation|Action)")
def test_pettingzoo_accepts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # It asks an observation for its dtype, which no string has.
    monkeypatch.setattr(
        sys.modules[api_test.__module__],
        "_test_observation_space_compatibility",
        lambda expected, seen, recursed_keys: None,  # noqa: ARG005
    )
    parallel_api_test(relay_v1.parallel_env("quiet_shift-v1"), num_cycles=250)
    parallel_seed_test(lambda: relay_v1.parallel_env("quiet_shift-v1"))
    api_test(relay_v1.env("quiet_shift-v1"), num_cycles=250)


def test_each_plays_its_half_and_both_get_the_rewards() -> None:
    env = relay_v1.parallel_env("quiet_shift-v1", render_mode="ansi")
    screens, infos = env.reset(options={"shift": SHIFT.id})
    assert infos["early_0"]["on_duty"]
    assert screens["late_0"] == "You are not on duty yet."
    state = play(SHIFT, "oracle")
    earned = {"early_0": 0.0, "late_0": 0.0}
    for action in state.history:
        reply = json.dumps(shift_action_to_wire(action))
        on_duty = env.on_duty()
        idle = next(agent for agent in env.agents if agent != on_duty)
        screens, rewards, ended, cut, infos = env.step({on_duty: reply, idle: "nonsense"})
        earned = {agent: earned[agent] + rewards[agent] for agent in earned}
        assert env.render() in screens.values()
    assert all(ended.values())
    assert not any(cut.values())
    assert env.agents == []
    assert earned == dict.fromkeys(earned, score(state))
    assert infos["late_0"]["grade"]["score"] == grade(state).score
    assert screens["early_0"] == "You have left."
    with pytest.raises(EpisodeOver, match="reset"):
        env.step({"late_0": WAIT})


def test_the_second_has_the_board_and_the_notebook_alone() -> None:
    env = relay_v1.parallel_env("busy_shift-v1")
    screens, _ = env.reset(seed=1)
    note = json.dumps({"action_type": "note", "value": "mind the queue"})
    system = next(iter(begin(env.shift_state.shift).open))
    ask = {"system": system, "action_type": "request_metrics", "value": "user-db"}
    env.step({"early_0": note, "late_0": ""})
    for _ in range(99):
        screens, *_ = env.step({"early_0": json.dumps(ask), "late_0": ""})
    assert env.on_duty() == "late_0"
    assert "NOTES: mind the queue" in screens["late_0"]
    assert "BOARD" in screens["late_0"]
    assert "IN FULL" not in screens["late_0"]
    assert "LAST" not in screens["late_0"]
    assert "tick 100" in env.system_prompt("early_0")


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownName, match="train, val, test"):
        relay_v1.parallel_env(split="ood")
    with pytest.raises(InvalidInput, match="render_mode"):
        relay_v1.parallel_env(render_mode="human")
    env = relay_v1.parallel_env()
    with pytest.raises(ResetNeeded):
        env.on_duty()
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match="early_0: expected text"):
        env.step({"early_0": 3, "late_0": WAIT})  # type: ignore[dict-item]
