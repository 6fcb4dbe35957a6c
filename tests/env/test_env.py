"""Gymnasium's contract, kept by the scalar and the batched environment."""

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from logtriage.actions import Resolve, action_id
from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import EpisodeOver, InvalidInput, MissingExtra, SealError, UnknownName
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage, BeliefScreens, token_layout_of
from logtriage.world.topologies import random_topology
from tests.builders import FIVE_TEAMS

if find_spec("gymnasium") is None:
    pytest.skip("needs the extra env", allow_module_level=True)

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from logtriage.env import ENV_IDS, TriageEnv, TriageVectorEnv

TASK = "cascading_failure-v4"
ACTIONS = 75
RESOLVE = action_id(Resolve(), FIVE_TEAMS)
ASK = RESOLVE - 1


def play(envs: TriageVectorEnv, steps: int, **reset: Any) -> list[tuple[Any, ...]]:
    """Everything that random play returns, flat."""
    observations, infos = envs.reset(**reset)
    returned: list[tuple[Any, ...]] = [(observations, *infos.values())]
    rng, space = np.random.default_rng(0), envs.single_action_space
    for _ in range(steps):
        *arrays, infos = envs.step(rng.integers(0, space.n, envs.num_envs))  # type: ignore[attr-defined]
        returned.append((*arrays, *infos.values()))
    return returned


def same(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    return all(
        np.array_equal(a, b)
        for one, other in zip(left, right, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("env_id", ["logtriage/Cascading-v4", "logtriage/Silent-fog0-v4"])
def test_gymnasium_makes_them_without_an_import_of_ours(env_id: str) -> None:
    code = f"""
import gymnasium
env = gymnasium.make("logtriage.env:{env_id}")
envs = gymnasium.make_vec("{env_id}", num_envs=3, vectorization_mode="vector_entry_point")
print(type(env.unwrapped).__name__, type(envs).__name__, envs.spec.id, envs.num_envs)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["TriageEnv", "TriageVectorEnv", env_id, "3"]


def test_without_gymnasium_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["gymnasium"] = None
import logtriage.vector
try:
    import logtriage.env
except ImportError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(MissingExtra.__name__)
    assert "needs the extra logtriage[env]: pip install 'gymnasium" in done.stdout


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_gymnasium_finds_no_fault(env_id: str) -> None:
    fleet = "Fleet" in env_id
    given: Any = {"topology": random_topology(4, 20, FIVE_TEAMS.teams)} if fleet else {}
    check_env(gymnasium.make(env_id, **given).unwrapped)


def test_spaces() -> None:
    env, envs = TriageEnv(TASK), TriageVectorEnv(TASK, 3)
    assert envs.single_observation_space == env.observation_space
    assert envs.single_action_space == env.action_space == gymnasium.spaces.Discrete(ACTIONS)
    assert envs.action_space == gymnasium.spaces.MultiDiscrete(3 * [ACTIONS])
    assert envs.observation_space.dtype == env.observation_space.dtype == np.float32
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    layout = token_layout_of(get_task(TASK).setting, FIVE_TEAMS, get_task(TASK).horizon)
    space: Any = env.observation_space
    assert envs.observation_space.shape == (3, layout.size)
    assert (space.low == 0).all()
    assert np.array_equal(space.high, 255 * layout.units)


def test_observations_may_be_bytes() -> None:
    envs, small = TriageVectorEnv(TASK, 8), TriageVectorEnv(TASK, 8, dtype="uint8")
    box: Any = envs.single_observation_space
    for wanted, found in zip(play(envs, 15, seed=2), play(small, 15, seed=2), strict=True):
        assert found[0] in small.observation_space
        assert np.array_equal(found[0] * (box.high / 255).astype(np.float32), wanted[0])
    with pytest.raises(InvalidInput, match="dtype 'uint8': beliefs are float32"):
        TriageVectorEnv(TASK, 8, dtype="uint8", observations="belief")
    with pytest.raises(UnknownName, match=r"unknown dtype 'float'.*; known: float32, uint8"):
        TriageVectorEnv(TASK, 8, dtype="float")


def test_sealed_incidents_are_played_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SealError, match="LOGTRIAGE_SEAL"):
        TriageEnv(TASK, "sealed")
    monkeypatch.setenv("LOGTRIAGE_SEAL", "a key that nobody knows but this test")
    env = TriageEnv(TASK, "sealed")
    observation = env.reset(options={"id": f"{TASK}/sealed/7"})[0]
    assert observation in env.observation_space
    assert np.array_equal(observation, env.reset(options={"id": 7})[0])
    with pytest.raises(InvalidInput, match="play them one at a time"):
        TriageVectorEnv(TASK, 2, "sealed")


def test_seeds_reproduce_and_differ() -> None:
    envs = TriageVectorEnv(TASK, 16)
    first = play(envs, 30, seed=7)
    assert same(first, play(envs, 30, seed=7))
    assert same(first, play(TriageVectorEnv(TASK, 16), 30, seed=7))
    assert not same(first, play(envs, 30, seed=8))


def test_a_reset_without_a_seed_goes_on() -> None:
    envs = TriageVectorEnv(TASK, 4, show_id=True)
    start = envs.reset(seed=7)[1]["index"]
    assert start.tolist() == [start[0] + n for n in range(4)]
    assert envs.reset()[1]["index"].tolist() == [start[0] + n for n in range(4, 8)]
    envs.step(np.full(4, RESOLVE))
    assert envs.step(np.full(4, RESOLVE))[4]["index"].tolist() == [
        start[0] + n for n in range(8, 12)
    ]
    env = TriageEnv(TASK, show_id=True)
    assert [env.reset(seed=7)[1]["index"], env.reset()[1]["index"]] == start[:2].tolist()
    unseeded = TriageEnv(TASK, show_id=True).reset()[1]["index"]
    assert 0 <= unseeded < MAX_INDEX


def test_incidents_are_played_by_id() -> None:
    envs = TriageVectorEnv(TASK, 2, "test", show_id=True)
    first = envs.reset(seed=7)[1]["index"][0]
    ids = [f"{TASK}/test/5", 3, np.int64(9)]
    assert envs.reset(seed=7, options={"ids": ids})[1]["index"].tolist() == [5, 3]
    envs.step(np.array([RESOLVE, RESOLVE]))  # both are free: what is left, then the sequence
    assert envs.step(np.array([0, 0]))[4]["index"].tolist() == [9, first]
    assert envs.reset(options={"ids": np.arange(9)})[1]["index"].tolist() == [0, 1]
    assert envs.reset()[1]["index"].tolist() == [first + 1, first + 2]  # the rest is dropped
    env = TriageEnv(TASK, "test")
    by_id, by_index = (env.reset(options={"id": incident_id})[0] for incident_id in ids[:2])
    observations, _ = envs.reset(options={"ids": ids[:2]})
    assert np.array_equal(observations, [by_id, by_index])


@pytest.mark.parametrize("make", [TriageEnv, TriageVectorEnv])
def test_unknown_names_come_with_the_choices(make: Any) -> None:
    with pytest.raises(UnknownName, match=r"task 'crash'; known: single_crash-v4, "):
        make("crash")
    with pytest.raises(UnknownName, match=r"split 'dev'; known: train, val, test, ood"):
        make(TASK, split="dev")
    with pytest.raises(InvalidInput, match=r"give a topology, or .*: train, val, test$"):
        make(TASK, split="ood")
    with pytest.raises(InvalidInput, match=r"get_rubric\('logtriage/3'\)"):
        make(TASK, rubric="logtriage/3")
    with pytest.raises(InvalidInput, match="topology: expected a Topology, got 'shop'"):
        make(TASK, topology="shop")
    with pytest.raises(InvalidInput, match="every incident of task 'fleet_outage-v4' has a top"):
        make("fleet_outage-v4")


BAD_IDS = (
    ("crash/train/3", "unknown task 'crash'; known: "),
    (f"{TASK}/dev/3", "unknown split 'dev'; known: train"),
    (f"{TASK}/test/3", f"this environment plays {TASK}/train/"),
    ("single_crash-v4/train/3", f"this environment plays {TASK}/train/"),
    (f"{TASK}/train/-3", "index must be a whole number below"),
    (-1, f"incident -1: expected an id, {TASK}/train/<index>, or a whole number in"),
    (MAX_INDEX, "or a whole number in"),
    (1.5, "incident 1.5: expected an id"),
    (True, "incident True: expected an id"),
)


@pytest.mark.parametrize(("given", "message"), BAD_IDS, ids=str)
def test_bad_ids_are_refused(given: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        TriageEnv(TASK).reset(options={"id": given})
    with pytest.raises(InvalidInput, match=message):
        TriageVectorEnv(TASK, 1).reset(options={"ids": [given]})


def test_other_misuse() -> None:
    env, envs = TriageEnv(TASK), TriageVectorEnv(TASK, 2)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="reset"):
        envs.step(np.zeros(2, int))
    with pytest.raises(InvalidInput, match="unknown option 'ids'; known: id"):
        env.reset(options={"ids": [1]})
    with pytest.raises(InvalidInput, match="unknown option 'id'; known: ids"):
        envs.reset(options={"id": 1})
    with pytest.raises(InvalidInput, match="1 ids for 2 environments"):
        envs.reset(options={"ids": [1]})
    with pytest.raises(InvalidInput, match="at least 1, got 0"):
        TriageVectorEnv(TASK, 0)
    with pytest.raises(UnknownName, match="render mode 'human'; known: ansi"):
        TriageEnv(TASK, render_mode="human")
    env.reset()
    envs.reset()
    with pytest.raises(InvalidInput, match=r"action 75: expected an integer in \[0, 75\)"):
        env.step(ACTIONS)
    with pytest.raises(InvalidInput, match=r"actions: .*expected"):
        envs.step(np.zeros(3, int))
    env.step(RESOLVE)
    with pytest.raises(EpisodeOver):
        env.step(RESOLVE)


def test_a_belief_may_be_the_observation() -> None:
    envs = TriageVectorEnv("single_crash-v4", 8, observations="belief")
    plain = TriageVectorEnv("single_crash-v4", 8)
    batch = BatchedTriage("single_crash-v4")
    screens = BeliefScreens(batch)
    ids = list(range(200))
    seen, infos = envs.reset(options={"ids": ids})
    plain.reset(options={"ids": ids})
    wanted = screens.begin(batch.reset("train", np.arange(8)))
    rng, following, closed = np.random.default_rng(0), iter(ids[8:]), np.zeros(8, bool)
    restarts = 0
    for _ in range(25):
        assert seen in envs.observation_space
        assert np.array_equal(seen, wanted)
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in infos["action_mask"]])
        fresh = np.flatnonzero(closed)
        batch.restart(fresh, np.array([next(following) for _ in fresh], np.int64))
        wanted = screens.read(batch.step(actions, ~closed), actions, fresh)
        seen, *told, infos = envs.step(actions)
        # What is told besides is that of the other kind of observation.
        _, *others, _ = plain.step(actions)
        assert all(np.array_equal(one, other) for one, other in zip(told, others, strict=True))
        closed = np.logical_or(told[1], told[2])
        restarts += len(fresh)
    assert restarts > 8
