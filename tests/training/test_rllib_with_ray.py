"""RLlib trains, stops, goes on and is tried: run by ``make test-multi-frameworks``."""

import json

import attrs
import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
torch = pytest.importorskip("torch")

from rich.console import Console  # noqa: E402 (after the skips)

from logtriage.grading import grade_jsonl  # noqa: E402
from logtriage.tasks import get_task  # noqa: E402
from training import held_out  # noqa: E402
from training.rllib import learn, store, sweep  # noqa: E402
from training.rllib.directory import (  # noqa: E402
    AGENT,
    CHECKPOINTS,
    CURVE,
    last_checkpoint,
    load_run,
)
from training.rllib.run import begin, run  # noqa: E402
from training.rllib.settings import Settings  # noqa: E402
from training.rllib.start import started  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
OWN = attrs.evolve(get_task("single_crash-v3-fog0"), name="mine", horizon=9)
TINY = Settings(
    "single_crash-v3-fog0",
    rounds=3,
    num_envs=8,
    rollout=8,
    epochs=1,
    minibatch=32,
    width=16,
    eval_every=1,
    eval_incidents=20,
)


@pytest.fixture(scope="module", autouse=True)
def _ray():
    with started("", 3, Console(quiet=True)):
        yield


class Stopped(Exception):
    """In place of a kill, right after a checkpoint."""


def test_a_run_that_was_stopped_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    about = begin(TINY, tmp_path, "test", resume=False)
    told = []

    def stopping(rounds, *_):
        told.append(rounds)
        if rounds == 2:
            raise Stopped

    with pytest.raises(Stopped):
        learn.train(TINY, tmp_path, stopping)
    assert told == [0, 1, 2]
    assert last_checkpoint(tmp_path)[0] == 2
    assert [one.name for one in (tmp_path / CHECKPOINTS).iterdir()] == ["00002"]
    weights = store.load_agent(tmp_path / AGENT, TINY).networks.state_dict()

    restored = []
    take_over = learn.take_over

    def spy(algorithm, agent):
        take_over(algorithm, agent)
        restored.append((algorithm.iteration, agent.networks.state_dict()))

    build = learn.configuration

    def built(settings, resumed=0):
        restored.append(resumed)
        return build(settings, resumed)

    monkeypatch.setattr(learn, "configuration", built)
    monkeypatch.setattr(learn, "take_over", spy)
    run(TINY, tmp_path, about, Console(quiet=True))
    # It begins where it stopped, on other incidents, and plays the one round that is left.
    assert restored[0] == 2
    assert [one[0] for one in restored[1:]] == [3]
    assert any(not torch.equal(one, weights[name]) for name, one in restored[1][1].items())
    points = store.load_curve(tmp_path / CURVE)
    assert [(one.rounds, one.steps) for one in points] == [
        (done, done * TINY.batch) for done in range(4)
    ]
    assert load_run(tmp_path)["finished"]


def test_the_checkpoint_holds_the_weights_and_the_rounds(tmp_path):
    learn.train(attrs.evolve(TINY, rounds=1), tmp_path, lambda *_: None)
    weights = store.load_agent(tmp_path / AGENT, TINY).networks.state_dict()
    algorithm = learn.configuration(TINY, 1).build_algo()
    agent = learn.make_agent(TINY)
    try:
        learn.take_over(algorithm, agent)
        fresh = agent.networks.state_dict()
        assert any(not torch.equal(fresh[name], weights[name]) for name in weights)
        algorithm.restore_from_path(str(last_checkpoint(tmp_path)[1]))
        learn.take_over(algorithm, agent)
        assert algorithm.iteration == 1
    finally:
        algorithm.stop()
    restored = agent.networks.state_dict()
    assert all(torch.equal(restored[name], weights[name]) for name in weights)


def test_it_trains_on_a_task_of_one_s_own_in_env_runners_too(tmp_path):
    settings = attrs.evolve(TINY, task=f"{__name__}:OWN", rounds=1, runners=1)
    points = learn.train(settings, tmp_path, lambda *_: None)
    assert points[-1].steps == settings.batch
    assert store.load_agent(tmp_path / AGENT, settings).networks is not None


def test_a_sweep_is_tried_as_any_other_agent(tmp_path):
    sizes = [f"--{name.replace('_', '-')}={getattr(TINY, name)}" for name in
             ("num_envs", "rollout", "epochs", "minibatch", "width", "eval_incidents")]  # fmt: skip
    ray.shutdown()
    sweep.main([str(tmp_path), "--tasks", TINY.task, "--seeds", "0", "1", "--rounds=1", *sizes])
    lines = (tmp_path / sweep.TABLE).read_text().splitlines()
    assert len(lines) == 3
    where = tmp_path / f"{TINY.task}-seed1"
    held_out.main([str(where), "--incidents", "12", "--ood", "3"])
    trials = json.loads((where / held_out.TRIALS).read_text())
    grades = [one.score for one in grade_jsonl(where / held_out.TRANSCRIPTS)]
    assert len(grades) == 12
    assert trials["fog0"]["grade"] == pytest.approx(sum(grades) / 12)
    # What is finished is left alone: nothing is trained, so Ray is not even started.
    sweep.main([str(tmp_path), "--tasks", TINY.task, "--seeds", "0", "1", "--rounds=1", *sizes])
    assert not ray.is_initialized()
