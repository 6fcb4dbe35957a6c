"""Environments of tasks whose incidents can be handed over: an action more, and its worth."""

from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import HandOver, InvalidInput, all_actions, grade, initial_state, make_incident, play
from logtriage.env import TriageEnv
from logtriage.tasks import get_task
from logtriage.vector import encode_tokens

pytest.importorskip("pettingzoo")

TASK = "single_crash-v4"


def test_the_hand_over_is_the_last_action_where_it_has_a_worth() -> None:
    env = TriageEnv(TASK, "val")
    topology = get_task(TASK).topology
    assert topology is not None
    actions: Any = env.action_space
    assert actions.n == len(all_actions(topology, hand_over=True)) == len(all_actions(topology)) + 1
    _, info = env.reset(options={"id": 3})
    assert info["action_mask"].shape == (actions.n,)
    assert info["action_mask"][-1] == 1
    incident = make_incident(f"{TASK}/val/3")
    _, earned, terminated, truncated, info = env.step(actions.n - 1)
    assert (terminated, truncated) == (True, False)
    assert earned == info["score"] == grade(play(incident, [HandOver()])).score
    assert earned == pytest.approx(incident.worth_of_hand_over)
    env.reset(options={"id": 3})
    with pytest.raises(InvalidInput, match=r"expected an integer in \[0, 75\)"):
        env.step(actions.n)


def test_the_observation_carries_the_worth() -> None:
    env = TriageEnv(TASK, "val")
    worths = set()
    for index in range(40):
        seen, _ = env.reset(options={"id": index})
        assert seen in env.observation_space
        start = initial_state(make_incident(f"{TASK}/val/{index}"))
        assert np.array_equal(seen, encode_tokens(start))
        layout = env._layout
        worth = start.incident.worth_of_hand_over
        assert worth is not None
        assert seen[layout["worth"]] == pytest.approx(worth)
        worths.add(round(worth, 1))
        other = attrs.evolve(start.incident, worth_of_hand_over=0.3)
        changed = encode_tokens(initial_state(other))
        assert np.array_equal(
            np.flatnonzero(changed != seen), [layout["worth"].start] * (worth != 0.3)
        )
    assert worths == {0.3, 0.5, 0.7, 0.8, 0.9}
