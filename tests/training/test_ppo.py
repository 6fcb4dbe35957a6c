"""The PPO script learns, looks only at held-out incidents to say so, and can be reloaded."""

import csv
import json
import re
import shlex
from functools import partial
from pathlib import Path
from statistics import fmean

import attrs
import numpy as np
import pytest

from logtriage.actions import Escalate, action_id
from logtriage.belief.shaping import value_of
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.errors import InvalidInput
from logtriage.grading import grade_jsonl
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing, initial_state
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage
from logtriage.world.loading import WORLDS_VARIABLE

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("rich")

from training import held_out  # noqa: E402 (after the skips)
from training.common.tasks import file_name, incident_of  # noqa: E402
from training.ppo import __main__ as script  # noqa: E402 (after the skips)
from training.ppo import store  # noqa: E402
from training.ppo.curriculum import task_at, with_fog  # noqa: E402
from training.ppo.evaluate import Played, evaluate, play_held_out, regrade  # noqa: E402
from training.ppo.inputs import KINDS, inputs_of  # noqa: E402
from training.ppo.learn import train  # noqa: E402
from training.ppo.networks import make_agent  # noqa: E402
from training.ppo.rollouts import Collector  # noqa: E402
from training.ppo.runs import Written, name_of  # noqa: E402
from training.ppo.settings import Settings  # noqa: E402

TASK = "single_crash-v3"
OWN = attrs.evolve(get_task(TASK), name="mine", horizon=12)
TINY = Settings(
    TASK,
    num_envs=32,
    rollout=8,
    epochs=1,
    minibatches=2,
    width=16,
    eval_incidents=40,
    rounds=3,
    inputs="counts",
)


def fresh(settings=TINY):
    torch.manual_seed(0)
    return make_agent(settings)


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


def test_it_trains_on_train_and_is_tried_on_test(monkeypatch):
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
    settings = Settings(TASK, num_envs=8, rollout=30, lmbda=1.0, inputs="counts")
    collector, agent = Collector(settings), fresh(settings)
    for weight in agent.value.parameters():
        weight.detach().zero_()
    experience = collector.collect(agent)
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


def test_shaped_rewards_sum_to_the_grade_less_what_was_expected():
    settings = Settings(TASK, num_envs=4, rollout=12, lmbda=1.0, inputs="counts", shaping=True)
    collector, agent = Collector(settings), fresh(settings)
    for weight in agent.value.parameters():
        weight.detach().zero_()
    experience = collector.collect(agent)
    batch = BatchedTriage(TASK)
    batch.reset("train", np.arange(4))
    for actions in experience["action"].numpy():
        screen = batch.step(actions)
    states = [initial_state(make_incident(f"{TASK}/train/{index}")) for index in range(4)]
    expected = screen.score - [value_of(state) for state in states]
    torch.testing.assert_close(
        experience["advantage"][0, :, 0], torch.from_numpy(expected).float(), atol=1e-5, rtol=0
    )


def test_masked_actions_are_never_taken():
    experience = Collector(TINY).collect(fresh()).flatten()
    assert experience["mask"].gather(1, experience["action"][:, None]).all()
    assert torch.isfinite(experience["action_log_prob"]).all()


def test_the_scalar_core_grades_what_was_played_alike():
    played = play_held_out(fresh(), TASK, 20, sampled=True)
    assert regrade(played) == played.scores.tolist()


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


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_the_same_columns_at_every_level_of_fog(kind):
    sizes = set()
    for fog in range(4):
        batch = BatchedTriage(with_fog(TASK, fog))
        inputs = inputs_of(kind, batch)
        seen = inputs.begin(batch.reset("train", np.arange(3)))
        assert seen.shape == (3, inputs.size)
        sizes.add(inputs.size)
    assert len(sizes) == 1


def played(kind):
    """What a batch of one row shows, screen after screen, and as these inputs."""
    batch = BatchedTriage(TASK)
    inputs = inputs_of(kind, batch)
    screen = batch.reset("train", np.arange(1))
    found, none = [(screen, inputs.begin(screen))], np.zeros(0, int)
    requests = batch.action_count - 3 - 3 * len(batch.topology)
    for action in (requests, requests + 3, requests + 3):
        taken = np.array([action])
        screen = batch.step(taken)
        found.append((screen, inputs.read(screen, taken, none)))
    return inputs.blocks, found


def test_a_screen_alone_shows_what_is_new_and_counts_recall_the_sum():
    blocks, alone = played("screen")
    _, recalled = played("counts")
    lines = blocks["seen:log"]  # of every service, for some show none
    summed = torch.zeros_like(alone[0][1][:, lines])
    for (_, new), (_, so_far) in zip(alone, recalled, strict=True):
        summed += new[:, lines]
        assert torch.equal(summed, so_far[:, lines])
    assert summed.any()


def test_a_screen_alone_forgets_what_an_earlier_incident_showed():
    batch = BatchedTriage(TASK)
    inputs = inputs_of("screen", batch)
    inputs.begin(batch.reset("train", np.arange(2)))
    ignore = np.full(2, batch.action_count - 1)
    batch.step(ignore)
    batch.restart([0, 1], [7, 8])
    again = inputs.read(batch.look(), ignore, np.arange(2))
    fresh_batch = BatchedTriage(TASK)
    anew = inputs_of("screen", fresh_batch).begin(fresh_batch.reset("train", np.array([7, 8])))
    assert torch.equal(again, anew)


def test_the_page_of_an_owner_follows_the_directory():
    batch = BatchedTriage(TASK)
    inputs = inputs_of("counts", batch)
    seen = inputs.begin(batch.reset("train", np.arange(6)))
    agent, n = fresh(), len(batch.topology)
    head = [one for one in agent.logits.body.modules() if isinstance(one, torch.nn.Linear)][-1]
    head.weight.detach().zero_()
    head.bias.detach().zero_()
    head.bias.detach()[4] = 9.0  # a score for the fifth service, and nothing else
    logits = agent.logits(seen)
    for row, index in enumerate(range(6)):
        owner = make_incident(f"{TASK}/train/{index}").directory[4]
        wanted = torch.zeros(batch.action_count)
        wanted[action_id(Escalate(owner), batch.topology)] = 9.0
        assert torch.equal(logits[row], wanted)
    assert logits.shape == (6, batch.action_count)
    assert n == 7


def test_a_curriculum_ends_at_the_fog_of_the_task():
    settings = Settings(TASK, fogs="0,1")
    tasks = [task_at(settings, progress) for progress in (0.0, 0.24, 0.26, 0.49, 0.5, 0.99)]
    fog0, fog1 = f"{TASK}-fog0", f"{TASK}-fog1"
    assert [one.id for one in tasks] == [fog0, fog0, fog1, fog1, TASK, TASK]
    assert task_at(Settings(TASK), 0.0) is get_task(TASK)
    assert tasks[0] == get_task(fog0)


def test_a_curriculum_of_no_levels_is_refused():
    with pytest.raises(InvalidInput, match=r"fogs '0\.\.2': expected levels of 0, 1, 2, 3"):
        task_at(Settings(TASK, fogs="0..2"), 0.0)


def test_training_goes_through_the_curriculum(monkeypatch):
    begun = []
    begin = Collector.__init__

    def spy(self, settings, task):
        begun.append(task.id)
        begin(self, settings, task)

    monkeypatch.setattr(Collector, "__init__", spy)
    settings = attrs.evolve(TINY, fogs="0", rounds=4)
    run = train(settings, ignore)
    assert begun == [f"{TASK}-fog0", TASK]
    assert run.points[-1].steps == 4 * settings.batch


def test_the_trial_out_of_distribution_is_of_the_tasks_own_topology():
    played = play_held_out(fresh(), TASK, 4, split="ood")
    assert len(played.ids) == 4
    for one, score in zip(played.ids, played.scores, strict=True):
        assert parse_incident_id(one).split == "ood"
        assert make_incident(one).topology == BatchedTriage(TASK).topology
        assert 0 <= score <= 1


def test_right_pages_are_those_that_did_not_close_the_incident():
    ids = tuple(f"{TASK}/test/{index}" for index in range(3))
    closing = np.array([CLOSINGS.index(one) for one in (Closing.RESOLVED, Closing.MISROUTED,
                                                        Closing.RESOLVED)])  # fmt: skip
    none = np.zeros(3)
    paged = np.array([True, True, False])
    played = Played(get_task(TASK), ids, np.zeros((1, 3), int), none, none, closing, paged)
    assert played.right.tolist() == [True, False, False]
    faults = [one for one in ids if make_incident(one).truth.teams]
    assert sum(count for count, _ in played.by_team().values()) == len(faults)


def test_the_study_leaves_finished_runs_alone(tmp_path: Path, monkeypatch):
    pytest.importorskip("matplotlib")
    from training.ppo import study

    called = []
    monkeypatch.setattr(study.subprocess, "run", lambda *given, **_: called.append(given))
    settings = study.plan()[0]
    where = tmp_path / name_of(settings)
    where.mkdir()
    (where / store.RUN).write_text('{"finished": true}')
    assert study.train(settings, tmp_path, []) == 0
    assert not called
    names = [name_of(one) for one in study.plan()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("task", [TASK, f"{__name__}:OWN"])
def test_the_command_leaves_everything_that_the_writeup_needs(tmp_path: Path, task):
    pytest.importorskip("matplotlib")
    from training.ppo.writeup import write_up

    out = tmp_path / "run"
    options = "--num-envs 16 --rollout 8 --width 8 --eval-incidents 20 --rounds 1 --seed 3"
    script.main(["--task", task, *options.split(), "--out", str(out)])
    facts = json.loads((out / "run.json").read_text())
    assert facts["finished"]
    assert facts["scalar_core_agrees"]
    assert store.load_settings(out / "run.json").seed == 3
    with (out / "curve.csv").open() as file:
        assert [int(row["steps"]) for row in csv.DictReader(file)] == [0, 128]

    write_up([Written.read(out)], tmp_path / "results")
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert written == {
        "ppo-results.md",
        "ppo-curves.png",
        f"ppo-{file_name(task)}-belief-seed3.csv",
    }
    page = (tmp_path / "results" / "ppo-results.md").read_text()
    assert f"| `{task}` | PPO, seed 3 | " in page
    # Of a task of one's own no scripted policy was measured, to whom it could be compared.
    assert (f"| `{task}` | `observer` | 0." in page) == (task == TASK)

    # The same agent on the same incidents, by the command for whatever was trained.
    held_out.main([str(out), "--incidents", "20", "--ood", "20"])
    assert json.loads((out / held_out.TRIALS).read_text()) == facts["trials"]
    found = grade_jsonl(out / held_out.TRANSCRIPTS, resolve=partial(incident_of, task))
    assert fmean(one.score for one in found) == pytest.approx(facts["after"]["grade"])


def test_shaping_is_told_by_pairs_of_one_seed():
    pytest.importorskip("matplotlib")
    from training.ppo.writeup import shaping_of

    def run(seed, grade, steps, *, shaping):
        facts = {"trials": {"fog2": {"grade": grade}}}
        curve = [{"steps": 0.0, "val_grade": 0.1}, {"steps": steps, "val_grade": 0.8}]
        return Written(Settings(TASK, seed=seed, shaping=shaping), facts, curve, Path())

    plain = [run(0, 0.90, 400.0, shaping=False), run(1, 0.80, 600.0, shaping=False)]
    shaped = [run(1, 0.70, 500.0, shaping=True), run(0, 0.90, 500.0, shaping=True)]
    told = list(shaping_of([*plain, *shaped]))
    # Differences 0 and -0.1: a mean of -0.05, and 12.706 standard errors of 0.05 around it.
    assert "| grade on `test` | 0.850 | 0.800 | -0.050 [-0.685, 0.585] |" in told
    assert "| steps to 70% of the observer's | 500 | 500 | 0 [-1,271, 1,271] |" in told
    assert list(shaping_of([*plain, *shaped[:1]])) == []


def test_what_is_no_run_is_not_tried(tmp_path: Path, capsys):
    for text, wanted in ((None, "run.json"), ('{"settings": {"task": "x"}}', "training.rllib")):
        if text is not None:
            (tmp_path / "run.json").write_text(text)
        with pytest.raises(SystemExit):
            held_out.main([str(tmp_path)])
        assert wanted in capsys.readouterr().err


def test_it_trains_in_a_world_of_one_s_own(tmp_path: Path, monkeypatch):
    """The command of docs/own-world.md, with fewer rounds."""
    root = Path(__file__).parents[2]
    page = (root / "docs/own-world.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^python -m training.ppo (.*)$", page, re.MULTILINE)
    monkeypatch.setenv(WORLDS_VARIABLE, "")
    monkeypatch.chdir(root)
    options = shlex.split(line)
    options[options.index("--rounds") + 1] = "1"
    options[options.index("--out") + 1] = str(tmp_path / "run")
    script.main([*options, "--num-envs", "16", "--eval-incidents", "20"])
    about = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert about["settings"]["task"] == "teashop:outage"
    assert about["finished"]
    assert about["scalar_core_agrees"]
