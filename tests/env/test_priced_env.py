"""Environments of tasks whose incidents can be handed over: an action more, and its price."""

from typing import Any

import attrs
import numpy as np
import pytest

from logtriage import (
    HandOver,
    InvalidInput,
    all_actions,
    grade,
    initial_state,
    make_incident,
    observe,
    play,
)
from logtriage.actions import action_id
from logtriage.env import TriageEnv
from logtriage.multi import triage_team_v1
from logtriage.roles import role_actions
from logtriage.roles.splits import TRIO
from logtriage.tasks import get_task
from logtriage.vector import action_mask, encode_tokens

pytest.importorskip("pettingzoo")

TASK = "single_crash-v4"


def test_the_hand_over_is_the_last_action_where_it_has_a_price() -> None:
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
    assert earned == pytest.approx(incident.price_of_hand_over)
    env.reset(options={"id": 3})
    with pytest.raises(InvalidInput, match=r"expected an integer in \[0, 75\)"):
        env.step(actions.n)


def test_the_observation_carries_the_price() -> None:
    env = TriageEnv(TASK, "val")
    prices = set()
    for index in range(40):
        seen, _ = env.reset(options={"id": index})
        assert seen in env.observation_space
        start = initial_state(make_incident(f"{TASK}/val/{index}"))
        assert np.array_equal(seen, encode_tokens(start))
        layout = env._layout
        price = start.incident.price_of_hand_over
        assert price is not None
        assert seen[layout["price"]] == pytest.approx(price)
        prices.add(round(price, 1))
        other = attrs.evolve(start.incident, price_of_hand_over=0.3)
        changed = encode_tokens(initial_state(other))
        assert np.array_equal(
            np.flatnonzero(changed != seen), [layout["price"].start] * (price != 0.3)
        )
    assert prices == {0.3, 0.5, 0.7, 0.8, 0.9}


def test_masks_know_whether_there_is_a_hand_over() -> None:
    incident = make_incident(f"{TASK}/val/0")
    for one, more in ((incident, 1), (attrs.evolve(incident, price_of_hand_over=None), 0)):
        seen = observe(initial_state(one))
        assert len(action_mask(seen)) == len(all_actions(seen.topology)) + more
        assert action_mask(seen).all()


@pytest.mark.parametrize("observations", ["dict", "flat"])
def test_a_role_that_pages_may_hand_over(observations: str) -> None:
    env = triage_team_v1.parallel_env(TASK, "val", observations=observations)
    seen, infos = env.reset(options={"id": 0})
    able = [role.name for role in TRIO.roles if "escalate" in role.may]
    waits = {}
    for role in TRIO.roles:
        agent = f"{role.name}_0"
        space: Any = env.action_space(agent)
        few = len(role_actions(role, env.topology))
        assert space.n == few + (role.name in able)
        mask = infos[agent]["action_mask"] if observations == "flat" else seen[agent]["action_mask"]
        assert mask.shape == (space.n,)
        assert seen[agent] in env.observation_space(agent)
        waits[agent] = few - 1  # the last of every role but a hand-over
    assert env.state() in env.state_space
    (pager,) = able
    last: Any = env.action_space(f"{pager}_0")
    *_, terminated, _, infos = env.step({**waits, f"{pager}_0": last.n - 1})
    assert all(terminated.values())
    price = make_incident(f"{TASK}/val/0").price_of_hand_over
    assert infos[f"{pager}_0"]["score"] == pytest.approx(price)


def test_the_canonical_integer_of_a_hand_over_closes_the_list() -> None:
    topology = get_task(TASK).topology
    assert topology is not None
    last = action_id(HandOver(), topology, hand_over=True)
    assert all_actions(topology, hand_over=True)[last] == HandOver()
