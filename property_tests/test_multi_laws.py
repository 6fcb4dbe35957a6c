"""The law of the PettingZoo environments: they are joint play on the core, in both APIs."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.dynamics import transition_jointly
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.credit import credits_of
from logtriage.grading.grade import score
from logtriage.joint import observe_role, requests_left
from logtriage.parsing import render_action
from logtriage.rendering import ending
from logtriage.roles import Role, RoleSplit, as_allowed, role_actions
from logtriage.state import Closing
from logtriage.tasks import TaskSpec
from logtriage.vector import CREDITS, encode_role_tokens, encode_team_tokens
from property_tests.strategies import OF_ONE_WORLD, joint_episodes, role_splits, topologies
from property_tests.test_team_laws import role_mask

if find_spec("pettingzoo") is None:
    pytest.skip("needs the extra multi", allow_module_level=True)

from logtriage.multi import triage_team_v1
from logtriage.multi.seats import OBSERVATIONS

SPLITS = st.sampled_from(("train", "val", "test"))


class Core:
    """The same incident, played on the core: what an environment should say of it."""

    def __init__(self, incident: lt.Incident, index: int, split: RoleSplit, kind: str) -> None:
        self.state = self.before = lt.initial_state(incident)
        self.acts: tuple[lt.Action, ...] = ()
        self.index, self.split, self.kind = index, split, kind

    def play(self, acts: tuple[lt.Action, ...]) -> None:
        self.before, self.acts = self.state, acts
        self.state = transition_jointly(self.before, acts)

    def reward(self, lane: int, credit: str) -> float:
        if credit == "team":
            return score(self.state) - score(self.before)
        return credits_of(self.before, self.acts)[lane]

    def check(self, lane: int, observation: Any, info: dict[str, Any]) -> None:
        role = self.split.roles[lane]
        part, info = observe_role(self.state, self.split, role), dict(info)
        if self.kind == "text":
            assert observation == lt.render_observation(part)
        elif self.kind == "flat":
            assert np.array_equal(observation, self.row(lane))
            assert np.array_equal(info.pop("action_mask"), role_mask(part, role))
        else:
            assert observation.keys() == {"observation", "action_mask"}
            assert np.array_equal(observation["observation"], self.row(lane))
            assert np.array_equal(observation["action_mask"], role_mask(part, role))
        closing = self.state.closing
        if self.kind == "text" and closing is not None:
            assert info.pop("ending") == ending(part)
        assert info == {
            "score": score(self.state),
            "closing": -1 if closing is None else CLOSINGS.index(closing),
            "tick": self.state.tick,
            "index": self.index,
        }

    def row(self, lane: int) -> Any:
        return encode_role_tokens(self.state, self.split, self.split.roles[lane])

    def whole_row(self) -> Any:
        return encode_team_tokens(self.state, self.split)

    @property
    def ends(self) -> tuple[bool, bool]:
        truncated = self.state.closing is Closing.OUT_OF_TIME
        return self.state.is_closed and not truncated, truncated


def as_taken(
    acts: tuple[lt.Action, ...], state: lt.State, split: RoleSplit
) -> tuple[lt.Action, ...]:
    """The actions, but for requests beyond a budget or of what is not watched."""
    return tuple(
        as_allowed(act, role, state.incident.topology, requests_left(state, split, role))
        for act, role in zip(acts, split.roles, strict=True)
    )


def given_and_meant(
    data: st.DataObject, act: lt.Action, role: Role, state: lt.State, kind: str
) -> tuple[Any, lt.Action]:
    """What an agent hands over for an action, and what the core should then play."""
    if kind == "text":
        text = render_action(act)
        if isinstance(act, lt.Malformed):
            return text, lt.Malformed(text, act.reason, role.name)
        return text, act
    choices = role_actions(role, state.incident.topology)
    drawn = data.draw(st.integers(0, len(choices) - 1))
    place = choices.index(act) if act in choices else drawn  # numbers cannot say any text
    return data.draw(st.sampled_from((int, np.int64)))(place), choices[place]


@given(
    st.data(), st.sampled_from(OF_ONE_WORLD), SPLITS, st.integers(0, 1 << 40),
    st.none() | topologies(12), st.sampled_from(CREDITS), st.sampled_from(OBSERVATIONS),
)  # fmt: skip
def test_both_environments_are_joint_play_on_the_core(
    data: st.DataObject,
    task: TaskSpec,
    split: str,
    index: int,
    topology: lt.Topology | None,
    credit: str,
    kind: str,
) -> None:
    roles = data.draw(role_splits(settings=True), label="roles")
    if task.topology is None and topology is None:
        topology = data.draw(topologies(12))
    number = IncidentId(task, split, index)
    incident = (
        lt.make_incident(str(number)) if topology is None else draw_incident(task, number, topology)
    )
    _, _, joint = data.draw(joint_episodes(incident, roles))
    settings: Any = {
        "role_split": roles, "topology": topology, "credit": credit, "observations": kind,
        "show_id": True,
    }  # fmt: skip
    together = triage_team_v1.parallel_env(task.id, split, **settings)
    in_turns = triage_team_v1.env(task.id, split, **settings)
    names = together.possible_agents
    assert names == in_turns.possible_agents == [f"{role.name}_0" for role in roles.roles]
    core = Core(incident, index, roles, kind)
    observations, infos = together.reset(options={"id": index})
    in_turns.reset(options={"id": str(number)})
    rewards = dict.fromkeys(names, 0.0)
    for acts in joint:
        if core.state.is_closed:
            break
        pairs = [
            given_and_meant(data, act, role, core.state, kind)
            for act, role in zip(acts, roles.roles, strict=True)
        ]
        for lane, name in enumerate(names):
            core.check(lane, observations[name], infos[name])
            assert observations[name] in together.observation_space(name)
            assert in_turns.agent_selection == name
            seen, earned, *over, told = in_turns.last()
            core.check(lane, seen, told)
            assert (earned, over) == (rewards[name], [False, False])
            in_turns.step(pairs[lane][0])
        observations, rewards, *ends, infos = together.step(
            {name: pair[0] for name, pair in zip(names, pairs, strict=True)}
        )
        core.play(as_taken(tuple(pair[1] for pair in pairs), core.state, roles))
        whole = core.whole_row()
        assert np.array_equal(together.state(), whole)
        assert np.array_equal(in_turns.state(), whole)
        assert whole in together.state_space
        assert together.agents == ([] if any(core.ends) else names)
        for lane, name in enumerate(names):
            assert rewards[name] == core.reward(lane, credit)
            assert tuple(end[name] for end in ends) == core.ends
    for name in sorted(names) if any(core.ends) else names:
        lane = names.index(name)
        core.check(lane, observations[name], infos[name])
        assert in_turns.agent_selection == name
        seen, earned, *over, info = in_turns.last()
        core.check(lane, seen, info)
        assert (earned, tuple(over)) == (rewards[name], core.ends)
        if not any(core.ends):
            break
        in_turns.step(None)
    assert in_turns.agents == ([] if any(core.ends) else names)


@given(role_splits(), st.integers(0, 1 << 40), st.sampled_from(CREDITS))
def test_whole_episodes_pay_the_same_by_turns_and_the_team_its_grade(
    roles: RoleSplit, index: int, credit: str
) -> None:
    """Sampled within the masks, to the end."""
    settings: Any = {"role_split": roles, "credit": credit}
    together = triage_team_v1.parallel_env("single_crash-v4", **settings)
    in_turns = triage_team_v1.env("single_crash-v4", **settings)
    observations, infos = together.reset(options={"id": index})
    in_turns.reset(options={"id": index})
    total, returns = 0.0, dict.fromkeys(together.agents, 0.0)
    first, *_ = together.possible_agents
    for agent in together.possible_agents:
        together.action_space(agent).seed(index)
    while together.agents:
        actions = {
            agent: together.action_space(agent).sample(observations[agent]["action_mask"])
            for agent in together.agents
        }
        for agent in list(in_turns.agents):
            in_turns.step(actions[agent])
        observations, rewards, terminations, _, infos = together.step(actions)
        total += rewards[first]
        assert in_turns.rewards == rewards
        for agent in in_turns.agents:
            returns[agent] += in_turns.rewards[agent]
    assert terminations == in_turns.terminations
    if credit == "team":
        assert total == pytest.approx(infos[first]["score"], abs=1e-12)
        assert set(returns.values()) == {total}
