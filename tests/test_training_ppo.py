"""The PPO script learns, looks only at held-out incidents to say so, and can be reloaded."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from logtriage.tasks import parse_incident_id
from logtriage.vector import BatchedTriage

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("rich")

from training.ppo import __main__ as script  # noqa: E402 (after the skips)
from training.ppo import store  # noqa: E402
from training.ppo.evaluate import evaluate, play_held_out, regrade  # noqa: E402
from training.ppo.learn import train  # noqa: E402
from training.ppo.networks import make_agent  # noqa: E402
from training.ppo.rollouts import Collector  # noqa: E402
from training.ppo.settings import Settings  # noqa: E402

TASK = "single_crash-v1"
TINY = Settings(
    TASK, num_envs=32, rollout=8, epochs=1, minibatches=2, width=16, eval_incidents=40, rounds=3
)


def fresh():
    batch = BatchedTriage(TASK)
    torch.manual_seed(0)
    return make_agent(batch.layout.size, batch.action_count, TINY)


def ignore(*_):
    pass


def test_training_moves_the_weights_and_reports_before_and_after():
    reported = []
    run = train(TINY, lambda point, agent: reported.append((point, agent.state())))
    (first, before), (last, after) = reported[0], reported[-1]
    assert first.steps == 0
    assert last.steps == 3 * TINY.batch
    assert set(before) == set(after)
    assert all(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.isfinite(tensor).all() for tensor in after.values())
    assert run.points == tuple(point for point, _ in reported)


def test_the_same_seed_gives_the_same_weights():
    one, other = (train(TINY, ignore).agent.state() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_it_trains_on_train_and_evaluates_on_test(monkeypatch):
    seen = []
    reset = BatchedTriage.reset

    def spy(self, split, index):
        seen.append((split, len(index)))
        return reset(self, split, index)

    monkeypatch.setattr(BatchedTriage, "reset", spy)
    Collector(TINY).collect(fresh())
    assert seen == [("train", 32)]
    seen.clear()
    played = play_held_out(fresh(), TASK, 5)
    assert seen == [("test", 5)]
    ids = [parse_incident_id(one) for one in played.ids]
    assert [(one.split, one.index) for one in ids] == [("test", index) for index in range(5)]


def test_no_training_incident_is_played_twice(monkeypatch):
    begun = []
    restart = BatchedTriage.restart

    def spy(self, rows, index):
        begun.extend(index)
        restart(self, rows, index)

    monkeypatch.setattr(BatchedTriage, "restart", spy)
    collector = Collector(TINY)
    collector.collect(fresh())
    collector.collect(fresh())
    assert begun
    assert begun == list(range(32, 32 + len(begun)))
    assert collector.incidents == len(begun)


def test_rewards_between_restarts_sum_to_the_grades():
    settings = Settings(TASK, num_envs=8, rollout=30, lmbda=1.0)
    collector, agent = Collector(settings), fresh()
    for weight in agent.value.parameters():
        weight.detach().zero_()
    experience = collector.collect(agent).reshape(30, 8)
    # With no critic, an advantage is all that is yet to come; at a start, the grade.
    assert experience["advantage"][0].shape == (8, 1)
    batch = BatchedTriage(TASK)
    batch.reset("train", np.arange(8))
    screen = batch.look()
    for actions in experience["action"].numpy():
        screen = batch.step(actions)
    assert (screen.closing >= 0).all()
    torch.testing.assert_close(
        experience["advantage"][0, :, 0], torch.from_numpy(screen.score).float()
    )


def test_masked_actions_are_never_taken():
    experience = Collector(TINY).collect(fresh())
    assert experience["mask"].gather(1, experience["action"][:, None]).all()
    assert torch.isfinite(experience["action_log_prob"]).all()


def test_the_scalar_core_grades_what_was_played_alike():
    played = play_held_out(fresh(), TASK, 20, sampled=True)
    assert regrade(played, TASK) == played.scores.tolist()


def test_evaluating_leaves_the_random_stream_alone():
    agent = fresh()
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    evaluate(agent, TASK, 5, sampled=True)
    assert torch.equal(torch.rand(3), expected)


def test_a_checkpoint_reloads_to_the_same_actions(tmp_path: Path):
    agent = train(TINY, ignore).agent
    path = tmp_path / "checkpoint.pt"
    store.save_agent(path, agent)
    again = store.load_agent(path, TINY)
    assert list(tmp_path.iterdir()) == [path]
    one, other = play_held_out(agent, TASK, 30), play_held_out(again, TASK, 30)
    assert (one.actions == other.actions).all()
    assert one.result() == other.result()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(where):
        where.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        store.replace(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_command_leaves_everything_that_the_writeup_needs(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from training.ppo.writeup import Written, write_up

    out = tmp_path / "run"
    options = "--num-envs 16 --rollout 8 --width 8 --eval-incidents 20 --rounds 1 --seed 3"
    script.main(["--task", TASK, *options.split(), "--out", str(out)])
    facts = json.loads((out / "run.json").read_text())
    assert facts["finished"]
    assert facts["scalar_core_agrees"]
    assert store.load_settings(out / "run.json").seed == 3
    with (out / "curve.csv").open() as file:
        assert [int(row["steps"]) for row in csv.DictReader(file)] == [0, 128]

    write_up([Written.read(out)], tmp_path / "results")
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert written == {"ppo-results.md", "ppo-curves.png", f"ppo-{TASK}-seed3.csv"}
    assert "--seed 3" in (tmp_path / "results" / "ppo-results.md").read_text()
