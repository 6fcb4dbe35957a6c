"""PettingZoo's contract, kept by both environments of a team."""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest

import logtriage as lt
from logtriage.actions import ACTION_TYPES
from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import InvalidInput, MissingExtra, UnknownName
from logtriage.rendering import public_rules
from logtriage.roles import VIEWS, Role, RoleSplit, role_actions
from logtriage.roles.splits import ROLE_SPLITS, TRIO
from logtriage.vector import BatchedTeam, role_tokens_of
from logtriage.world.topologies import random_topology
from tests.builders import FIVE_TEAMS

if find_spec("pettingzoo") is None:
    pytest.skip("needs the extra multi", allow_module_level=True)

from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test
from pettingzoo.test.state_test import state_test

from logtriage.env import TriageEnv
from logtriage.multi import triage_team_v1
from logtriage.multi.seats import OBSERVATIONS

TASK = "cascading_failure-v4"
AGENTS = ["triage_0", "escalation_0", "remediation_0"]
MAKERS = (triage_team_v1.parallel_env, triage_team_v1.env)
#: As odd as a user may want it: overlaps, a blind role, one that cannot wait.
ODD = RoleSplit(
    "odd",
    (
        Role("blind", (), ("resolve", "ignore", "report")),
        Role("reader", VIEWS, ACTION_TYPES),
        Role("declarer", ("slo", "reports"), ("classify_severity",)),
        Role("idler_2", ("alerts",), ("wait", "report")),
    ),
)
SPLITS = (*(ROLE_SPLITS[name] for name in ("solo", "trio", "by_tier")), ODD)


def given(**actions: lt.Action) -> dict[str, int]:
    """Integers of the trio, who wait unless an action is named for a role."""
    return {
        f"{role.name}_0": role_actions(role, FIVE_TEAMS).index(actions.get(role.name, lt.Wait()))
        for role in TRIO.roles
    }


WAITING = given()


@pytest.fixture
def quiet() -> Iterator[None]:
    """PettingZoo's tests warn of what is allowed, such as spaces that differ by agent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sample(env: Any, agent: str, seen: Any, told: dict[str, Any]) -> Any:
    """An action within the mask, wherever that stands."""
    mask = seen["action_mask"] if isinstance(seen, dict) else told.get("action_mask")
    return env.action_space(agent).sample(mask)


def play(env: Any, episodes: int = 1, **reset: Any) -> list[Any]:
    """All that a parallel environment returns in whole episodes of sampled play."""
    returned = [env.reset(**reset)]
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(number)
    for episode in range(episodes):
        if episode:
            returned.append(env.reset())
        while env.agents:
            seen, *_, told = returned[-1]
            actions = {agent: sample(env, agent, seen[agent], told[agent]) for agent in env.agents}
            returned.append(env.step(actions))
    return returned


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("observations", OBSERVATIONS)
@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_pettingzoo_finds_no_fault(
    split: RoleSplit, observations: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def env(**more: Any) -> Any:
        return triage_team_v1.env(role_split=split, observations=observations, **more)

    def parallel_env() -> Any:
        return triage_team_v1.parallel_env(role_split=split, observations=observations)

    if observations == "text":
        # It asks an observation for its dtype, which no string has.
        monkeypatch.setattr(
            sys.modules[api_test.__module__],
            "_test_observation_space_compatibility",
            lambda expected, seen, recursed_keys: None,  # noqa: ARG005
        )
    api_test(env(), num_cycles=60)
    parallel_api_test(parallel_env(), num_cycles=40)
    seed_test(env, num_cycles=40)
    parallel_seed_test(parallel_env, num_cycles=100)
    render_test(env)
    state_test(env(), parallel_env(), num_cycles=20)


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout


def test_pettingzoo_is_loaded_when_an_environment_is_asked_for() -> None:
    code = """
import sys
import logtriage.multi
print([name for name in ("pettingzoo", "gymnasium") if name in sys.modules])
print(logtriage.multi.triage_team_v1.parallel_env().possible_agents)
"""
    assert run(code).splitlines() == ["[]", str(AGENTS)]
    with pytest.raises(AttributeError, match="triage_team_v9"):
        _ = __import__("logtriage.multi").multi.triage_team_v9


@pytest.mark.parametrize("missing", ["pettingzoo", "gymnasium"])
def test_without_it_the_extra_is_named(missing: str) -> None:
    code = f"""
import sys
sys.modules["{missing}"] = None
import logtriage.multi
try:
    from logtriage.multi import triage_team_v1
except ImportError as error:
    print(type(error).__name__, error)
"""
    output = run(code)
    assert output.startswith(MissingExtra.__name__)
    assert "needs the extra logtriage[multi]: pip install 'gymnasium" in output


@pytest.mark.parametrize(
    "topology", [None, random_topology(4, 12, FIVE_TEAMS.teams)], ids=["default", "own"]
)
@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_spaces_fit_the_layouts(split: RoleSplit, topology: Any) -> None:
    env = triage_team_v1.parallel_env(role_split=split, topology=topology)
    flat = triage_team_v1.parallel_env(role_split=split, topology=topology, observations="flat")
    task = lt.get_task("cascading_failure-v4")
    where = task.setting, env.topology, task.horizon
    assert env.state_space.shape == (role_tokens_of(split, None, *where).size,)
    for role in split.roles:
        agent, layout = f"{role.name}_0", role_tokens_of(split, role, *where)
        space: Any = env.observation_space(agent)
        count = len(role_actions(role, env.topology, hand_over=True))
        assert space["observation"] == flat.observation_space(agent)
        assert space["observation"].shape == (layout.size,)
        assert space["observation"].dtype == np.float32
        assert (space["observation"].low == 0).all()
        assert np.array_equal(space["observation"].high, 255 * layout.units)
        assert space["action_mask"] == spaces.Box(0, 1, (count,), np.int8)
        assert env.action_space(agent) == flat.action_space(agent) == spaces.Discrete(count)


@pytest.mark.parametrize("observations", OBSERVATIONS)
@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_a_seed_is_whole_episodes(split: RoleSplit, observations: str) -> None:
    """PettingZoo's parallel seed test ends after one step, whatever that says."""

    def make() -> Any:
        return triage_team_v1.parallel_env(role_split=split, observations=observations)

    first = play(make(), episodes=5, seed=7)
    assert data_equivalence(first, play(make(), episodes=5, seed=7))
    assert not data_equivalence(first, play(make(), episodes=5, seed=8))
    used = make()
    play(used, seed=3)
    assert data_equivalence(first, play(used, episodes=5, seed=7))


def test_agents_may_see_each_in_its_own_way() -> None:
    kinds = {"triage_0": "text", "escalation_0": "flat", "remediation_0": "dict"}
    env = triage_team_v1.parallel_env("cascading_failure-v4", observations=kinds)
    alone = triage_team_v1.parallel_env("cascading_failure-v4", observations="dict")
    seen, _ = env.reset(seed=3)
    numbers, _ = alone.reset(seed=3)
    for _ in range(3):
        assert seen["triage_0"].startswith("TICK ")
        assert np.array_equal(seen["escalation_0"], numbers["escalation_0"]["observation"])
        assert data_equivalence(seen["remediation_0"], numbers["remediation_0"])
        waits = {f"{role.name}_0": len(role_actions(role, env.topology)) - 1 for role in TRIO.roles}
        seen, *_ = env.step({**waits, "triage_0": '{"action_type": "wait"}'})
        numbers, *_ = alone.step(waits)
        assert env.state().tolist() == alone.state().tolist()
    for wrong in ({"triage_0": "text"}, {**kinds, "sre_0": "text"}, {}):
        with pytest.raises(InvalidInput, match="expected a kind for each agent: triage_0, escal"):
            triage_team_v1.parallel_env("cascading_failure-v4", observations=wrong)
    with pytest.raises(UnknownName, match="kind of observations 'image'"):
        triage_team_v1.parallel_env(observations={**kinds, "triage_0": "image"})


def test_a_horizon_or_a_task_of_one_s_own() -> None:
    short = attrs.evolve(lt.get_task("cascading_failure-v4"), horizon=3)
    for env in (
        triage_team_v1.parallel_env("cascading_failure-v4", horizon=3),
        triage_team_v1.parallel_env(short),
    ):
        env.reset(options={"id": "cascading_failure-v4/train/7"})
        waits = {f"{role.name}_0": len(role_actions(role, env.topology)) - 1 for role in TRIO.roles}
        for tick in range(3):
            assert env.agents == AGENTS
            seen, *_, truncations, infos = env.step(waits)
            assert set(truncations.values()) == {tick == 2}
        team = BatchedTeam("cascading_failure-v4", TRIO, horizon=3)
        team.reset("train", [7])
        for _ in range(3):
            screen = team.step([[waits[agent]] for agent in AGENTS])
        for lane, agent in enumerate(AGENTS):
            assert np.array_equal(seen[agent]["observation"], screen.observations[lane][0])
        assert infos["triage_0"]["score"] == screen.score[0]
        assert "You have 3 ticks" in env.system_prompt("triage_0")
    wrong: list[Any] = [0, -1, 2.0, True, "3"]
    for horizon in wrong:
        with pytest.raises(InvalidInput, match="horizon"):
            triage_team_v1.parallel_env("cascading_failure-v4", horizon=horizon)
        with pytest.raises(InvalidInput, match="horizon"):
            BatchedTeam("cascading_failure-v4", TRIO, horizon=horizon)


def test_incidents_are_played_by_id_or_follow_the_seed() -> None:
    env: Any = triage_team_v1.parallel_env(show_id=True)
    turns = triage_team_v1.env(show_id=True)
    first = env.reset(seed=7)[1]["triage_0"]["index"]
    assert first == TriageEnv(TASK, show_id=True).reset(seed=7)[1]["index"]
    assert env.reset(seed=np.int64(7))[1]["triage_0"]["index"] == first
    assert env.reset()[1]["triage_0"]["index"] == first + 1
    assert env.reset(options={"id": 3})[1]["triage_0"]["index"] == 3
    assert env.reset(options={})[1]["triage_0"]["index"] == first + 2
    turns.reset(seed=7)
    assert turns.infos["triage_0"]["index"] == first
    turns.reset(options={"id": f"{TASK}/train/9"})
    assert turns.infos["triage_0"]["index"] == 9
    unseeded = triage_team_v1.parallel_env(show_id=True).reset()[1]["triage_0"]["index"]
    assert 0 <= unseeded < MAX_INDEX


def test_agents_of_text_read_their_screens_and_reply_in_json() -> None:
    env = triage_team_v1.parallel_env(split="test", observations="text")
    screens, _ = env.reset(options={"id": 42})
    assert "EDGE" in screens["triage_0"]
    assert "DIRECTORY:" not in screens["triage_0"]
    assert "EDGE" not in screens["escalation_0"]
    said = {"action_type": "report", "value": "ask the owner — früh", "by": "remediation"}
    replies = {
        "triage_0": f"Well. {json.dumps(said, ensure_ascii=False)}",
        "escalation_0": '{"action_type": "resolve"}',
        "remediation_0": "I think that we should wait and see. 你好",
    }
    screens, rewards, terminations, _, _ = env.step(replies)
    assert not any(terminations.values())
    assert set(rewards.values()) == {0.0}
    assert "tick 0, triage: ask the owner — früh" in screens["escalation_0"]
    assert (
        "not understood: unknown action_type 'resolve'; one of: escalate, "
        "request_more_logs, report, wait" in (screens["escalation_0"])
    )
    assert 'not understood: no JSON object with a key "action_type"' in screens["remediation_0"]
    assert "not understood" not in screens["triage_0"]
    done = env.core_state.actions
    assert done[0] == lt.Report("ask the owner — früh", "triage")
    assert [isinstance(one, lt.Malformed) and one.by for one in done[1:]] == [
        "escalation",
        "remediation",
    ]
    assert all(screens[agent] in env.observation_space(agent) for agent in AGENTS)


def test_every_text_is_an_action_and_nothing_else_is() -> None:
    for make in MAKERS:
        env = make(observations="text")
        env.reset(seed=0)
        with pytest.raises(InvalidInput, match=r"action 3 of triage_0: expected text, such as \{"):
            act(env, 3)
        act(env, "x" * 300_000)
        act(env, "\0\ud800")


def act(env: Any, action: Any) -> None:
    """One tick in which the first agent does something, and the others wait, or say so."""
    wait: dict[str, Any] = dict(WAITING)
    if isinstance(env.action_space(AGENTS[0]), spaces.Text):
        wait = dict.fromkeys(AGENTS, '{"action_type": "wait"}')
    if hasattr(env, "agent_selection"):
        for agent in AGENTS:
            env.step(action if agent == AGENTS[0] else wait[agent])
    else:
        env.step({**wait, AGENTS[0]: action})


def test_prompts_are_those_of_the_roles() -> None:
    task = lt.get_task(TASK)
    env = triage_team_v1.parallel_env(TASK)
    prompt = env.system_prompt("escalation_0")
    wanted = public_rules(
        FIVE_TEAMS, task.horizon, task.rubric, task.setting, split=TRIO, role="escalation"
    )
    assert prompt == wanted
    with pytest.raises(UnknownName, match="agent 'sre_0'; known: triage_0, escalation_0"):
        env.system_prompt("sre_0")


@pytest.mark.parametrize("make", MAKERS)
def test_unknown_names_come_with_the_choices(make: Any) -> None:
    wrong = (
        ({"task": "crash"}, r"task 'crash'; known: single_crash-v4, "),
        ({"split": "dev"}, r"split 'dev'; known: train, val, test, ood"),
        ({"role_split": "quartet"}, r"role split 'quartet'; known: solo, duo, trio"),
        ({"credit": "own"}, r"credit 'own'; known: team, counterfactual"),
        ({"observations": "image"}, r"kind of observations 'image'; known: dict, flat, text"),
        ({"render_mode": "rgb_array"}, r"render mode 'rgb_array'; known: human, ansi"),
    )
    for settings, message in wrong:
        with pytest.raises(UnknownName, match=message):
            make(**settings)
    with pytest.raises(InvalidInput, match=r"give a topology, or .*: train, val, test$"):
        make(split="ood")
    with pytest.raises(InvalidInput, match=r"role split \['triage'\]: expected a name or a Role"):
        make(role_split=["triage"])
    for ask in (make().observation_space, make().action_space):
        with pytest.raises(UnknownName, match="agent 'sre_0'; known: triage_0, escalation_0, rem"):
            ask("sre_0")


@pytest.mark.parametrize("make", MAKERS)
def test_wrong_ids_and_other_options_are_refused(make: Any) -> None:
    env = make()
    with pytest.raises(InvalidInput, match=f"this environment plays {TASK}/train/"):
        env.reset(options={"id": f"{TASK}/test/3"})
    with pytest.raises(InvalidInput, match=r"incident 1.5: expected an id"):
        env.reset(options={"id": 1.5})
    with pytest.raises(InvalidInput, match="unknown option 'ids'; known: id"):
        env.reset(options={"ids": [1]})


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("action", [76, -1, 1.0, "wait", None, np.array([1])], ids=repr)
def test_actions_out_of_range_are_refused_in_the_agent_s_own_turn(make: Any, action: Any) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=r"of triage_0: expected an integer in \[0, 76\)"):
        act(env, action)
    if not hasattr(env, "agent_selection"):
        with pytest.raises(
            InvalidInput, match=r"actions of \[0, 0, 0\]: expected one of each agent"
        ):
            env.step([0, 0, 0])
    act(env, np.int32(1))  # nothing was lost
    if hasattr(env, "agent_selection"):
        env.step(0)
        with pytest.raises(InvalidInput, match=r"action 73 of escalation_0: .* in \[0, 73\)"):
            env.step(73)  # in triage's range
        assert env.agent_selection == "escalation_0"


def test_before_a_reset_nothing_can_be_had() -> None:
    env = triage_team_v1.parallel_env(render_mode="ansi")
    asked: list[Any] = [lambda: env.step(WAITING), env.state, env.render]
    for ask in asked:
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            ask()
    guarded = triage_team_v1.env()
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before observe"):
        guarded.observe("triage_0")
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        _ = guarded.agents
    assert env.agents == []
