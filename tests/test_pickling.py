"""Whatever uses the package can be sent to another process, as cluster engines send it."""

import multiprocessing
from collections.abc import Callable
from typing import Any

import attrs
import cloudpickle
import gymnasium
import pytest

import logtriage as lt
from logtriage.adapters.trl import TriageEnv as TrlEnv
from logtriage.adapters.trl import criterion_rewards
from logtriage.env import TriageEnv
from logtriage.grading import DEFAULT, Criterion
from logtriage.multi import ScriptedTeam, triage_team_v1
from logtriage.registry import make_policy

INCIDENT = "single_crash-v4/test/53"


def opened() -> Any:
    state = lt.initial_state(lt.make_incident(INCIDENT))
    return lt.transition(state, lt.RequestMoreLogs(None))


def gymnasium_env() -> Any:
    env = TriageEnv("single_crash-v4", split="test")
    env.reset(options={"id": INCIDENT})
    env.step(0)
    return env


def team() -> Any:
    env = triage_team_v1.parallel_env("single_crash-v4", split="test")
    env.reset(options={"id": INCIDENT})
    return env, ScriptedTeam(env, "oracle")


def trl_env() -> Any:
    env = TrlEnv()
    env.reset(incident=INCIDENT)
    return env


def hasty(state: lt.State) -> tuple[float, str]:
    return 1.0 / (1 + state.tick), "quick is good"


def own_rubric() -> Any:
    """A rubric whose criteria are a user's own functions."""
    criteria = (Criterion("hasty", 1.0, hasty),)
    return attrs.evolve(DEFAULT, id="own/hasty-1", criteria=criteria, gates=(), discounts=())


#: What is sent, and what the other process does with it: both are a user's, so sent by value.
SENT: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "a function": (lambda: lambda: lt.make_incident(INCIDENT), lambda function: function()),
    "a state": (opened, lambda state: lt.render_observation(lt.observe(state))),
    "a grade": (lambda: lt.grade(opened()), lambda grade: grade),
    "a rubric": (own_rubric, lambda rubric: lt.grade(opened(), rubric).score),
    "an expert": (lambda: make_policy("expert"),
        lambda make: make(lt.make_incident(INCIDENT)).act(lt.observe(opened()), None)),
    "an observer": (lambda: make_policy("observer")(lt.make_incident(INCIDENT)),
        lambda policy: policy.act(lt.observe(opened()), None)[0]),
    "gymnasium": (gymnasium_env, lambda env: env.step(1)[1:4]),
    "PettingZoo": (team, lambda two: two[0].step(two[1].actions())[1]),
    "by turns": (lambda: triage_team_v1.env("single_crash-v4"),
        lambda env: (env.reset(seed=0), env.last()[1:])[1]),
    "TRL": (trl_env, lambda env: (env.request_more_logs(service="all"), env.get_reward())),
    "rewards": (lambda: criterion_rewards("logtriage/3"),
        lambda rewards: [(one.__name__, one(["", ""], [trl_env(), 3])) for one in rewards]),
}  # fmt: skip


def received(payloads: dict[str, bytes]) -> dict[str, Any]:
    """What the other process makes of what it was sent."""
    results = {}
    for name, payload in payloads.items():
        thing, use = cloudpickle.loads(payload)
        results[name] = use(thing)
    return results


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_everything_works_in_another_process(method: str) -> None:
    made = {name: (make(), use) for name, (make, use) in SENT.items()}
    payloads = {name: cloudpickle.dumps(both) for name, both in made.items()}
    with multiprocessing.get_context(method).Pool(1) as pool:
        there = pool.apply(received, (payloads,))
    assert there == {name: use(thing) for name, (thing, use) in made.items()}


def test_vector_environments_of_processes_step() -> None:
    """Stable-Baselines3's SubprocVecEnv sends its functions in the same way."""
    makes = [lambda: TriageEnv("single_crash-v4", split="test")] * 2
    envs = gymnasium.vector.AsyncVectorEnv(makes, context="spawn")
    try:
        envs.reset(options={"id": INCIDENT})
        alone = makes[0]()
        alone.reset(options={"id": INCIDENT})
        _, rewards, *_ = envs.step([0, 1])
        assert rewards[0] == alone.step(0)[1]
    finally:
        envs.close()
