"""Training with RLlib, as far as it needs no Ray: settings, environment, and trying an agent."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from logtriage.errors import InvalidInput, UnknownName
from training.rllib.settings import Settings

TASK = "single_crash-v3-fog0"
ROOT = Path(__file__).parents[2]

WRONG = (
    ({"task": "crash"}, UnknownName, "task 'crash'; known: single_crash-v3"),
    ({"task": "fleet_outage-v3"}, InvalidInput, "task 'fleet_outage-v3': expected a task that"),
    ({"task": "single_crash-v0"}, InvalidInput, "expected a task that draws incidents of"),
    ({"task": "compound_failure-v3"}, InvalidInput, "incidents of one fault on one topology"),
    ({"rounds": 0}, InvalidInput, "rounds must be at least 1, got 0"),
    ({"runners": -1}, InvalidInput, "runners must be at least 0, got -1"),
    ({"gamma": 1.5}, InvalidInput, "gamma must lie above 0, up to 1, got 1.5"),
    ({"lr": float("nan")}, InvalidInput, "lr must not be negative, got nan"),
    ({"max_grad_norm": 0.0}, InvalidInput, "max_grad_norm must be above 0, got 0.0"),
    ({"num_envs": 2, "rollout": 8, "minibatch": 33}, InvalidInput, "minibatch must be at most 32"),
)


@pytest.mark.parametrize(("given", "error", "message"), WRONG, ids=lambda one: str(one)[:40])
def test_settings_that_make_no_sense_are_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Settings(**{"task": TASK, **given})


def test_a_round_has_the_steps_of_all_runners() -> None:
    sizes = {"num_envs": 8, "rollout": 16, "minibatch": 64}
    assert Settings(TASK, runners=3, **sizes).batch == 3 * 8 * 16
    assert Settings(TASK, runners=0, **sizes).batch == 8 * 16


@pytest.mark.skipif(find_spec("rich") is None, reason="needs rich")
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("training.rllib", ["--task", "crash", "--out", "{out}"]),
        ("training.rllib", ["--task", TASK, "--rounds", "0", "--out", "{out}"]),
        ("training.rllib.sweep", ["{out}", "--tasks", TASK, "--gamma", "2"]),
    ],
)
def test_a_wrong_command_is_refused_before_ray_is_loaded(
    module: str, words: list[str], tmp_path: Any
) -> None:
    script = (
        "import runpy, sys\n"
        "sys.modules['ray'] = sys.modules['torch'] = None\n"  # importing either would fail
        f"sys.argv = [{module!r}, *{[one.format(out=tmp_path / 'run') for one in words]!r}]\n"
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2, done.stderr
    assert "error: " in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec("gymnasium") is None, reason="needs the extra env")
class TestEnvironment:
    def make(self, num_envs: int, **given: Any) -> Any:
        import gymnasium

        from training.rllib.environment import ENV

        return gymnasium.make_vec(ENV, num_envs=num_envs, task=TASK, **given)

    def test_what_may_be_done_stands_in_the_observation(self) -> None:
        import numpy as np

        from logtriage.env import TriageVectorEnv

        envs, plain = self.make(4), TriageVectorEnv(TASK, 4, observations="belief")
        seen, infos = envs.reset(seed=3)
        wanted, told = plain.reset(seed=3)
        rng = np.random.default_rng(0)
        over = 0
        for _ in range(24):
            assert infos == {}
            assert seen in envs.observation_space
            assert np.array_equal(seen["observations"], wanted)
            assert np.array_equal(seen["action_mask"], told["action_mask"])
            actions = np.array([rng.choice(np.flatnonzero(row)) for row in seen["action_mask"]])
            seen, rewards, ended, cut, infos = envs.step(actions)
            wanted, others, terminations, truncations, told = plain.step(actions)
            assert np.array_equal(rewards, others)
            # Time runs out by the task's own rule: nothing is left to be estimated then.
            assert np.array_equal(ended, terminations | truncations)
            assert not cut.any()
            over += int(truncations.sum())
        assert over

    def test_a_resumed_run_plays_other_incidents(self) -> None:
        import numpy as np

        first, again, resumed = (self.make(4, resumed=one) for one in (0, 0, 20))
        begun = [one.reset(seed=7)[0]["observations"] for one in (first, again, resumed)]
        assert np.array_equal(begun[0], begun[1])
        assert not np.array_equal(begun[0], begun[2])
        assert np.array_equal(begun[2], self.make(4, resumed=20).reset(seed=7)[0]["observations"])
