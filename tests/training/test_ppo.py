"""The PPO script learns, looks only at held-out incidents to say so, and can be reloaded."""

import csv
import json
import re
import shlex
from pathlib import Path

import attrs
import numpy as np
import pytest

from logtriage.actions import Escalate, action_id
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.grading import grade_jsonl
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage
from logtriage.world.loading import WORLDS_VARIABLE

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("rich")

from training import ppo  # noqa: E402 (after the skips)
from training.common import files  # noqa: E402
from training.common.figures import EPISODES, figures, line_of, net_value, read_rows  # noqa: E402
from training.common.tasks import words_for  # noqa: E402
from training.ppo import (  # noqa: E402
    KINDS,
    Collector,
    Settings,
    inputs_of,
    make_agent,
    play_held_out,
    train,
)

TASK = "single_crash-v4"
OWN = attrs.evolve(get_task(TASK), name="mine", horizon=12)
TINY = Settings(TASK, num_envs=32, rollout=8, epochs=1, minibatches=2, width=16, eval_incidents=40,
                rounds=3, imitation=1, inputs="counts")  # fmt: skip


def fresh(settings=TINY):
    torch.manual_seed(0)
    return make_agent(settings)


def ignore(*_):
    pass


def weights(agent):
    return {name: one.detach().clone() for name, one in agent.networks.state_dict().items()}


def test_training_moves_the_weights_and_reports_before_and_after():
    reported = []
    agent = train(TINY, lambda point, agent: reported.append((point["steps"], weights(agent))))
    (first, before), (last, after) = reported[0], reported[-1]
    assert (first, last) == (0, 3 * TINY.batch)
    assert all(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.isfinite(tensor).all() for tensor in after.values())
    assert all(torch.equal(tensor, after[name]) for name, tensor in weights(agent).items())


def test_the_same_seed_gives_the_same_weights():
    one, other = (weights(train(TINY, ignore)) for _ in range(2))
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
    played = play_held_out(fresh(), attrs.evolve(TINY, eval_incidents=5))
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
    settings = Settings(TASK, num_envs=8, rollout=30, lmbda=1.0, inputs="counts", imitation=0)
    collector, agent = Collector(settings), fresh(settings)
    for weight in agent.networks["value"].parameters():
        weight.detach().zero_()
    (experience,) = collector.collect(agent)
    experience = experience.reshape(30, 8)
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


def test_the_teacher_heeds_the_worth_and_beats_handing_everything_over():
    played = play_held_out(None, TINY, "val", incidents=300)
    shown = figures(played.rows())
    assert shown["net_value"] > 0.3
    assert shown["heeding"] > 0.2  # the observer: 0.3


def test_imitation_brings_an_agent_to_the_teachers_actions():
    settings = attrs.evolve(TINY, num_envs=64, rounds=20, imitation=20, epochs=4, width=64, lr=5e-3)

    def agreement(agent):
        collector = Collector(settings)
        part = collector.collect(agent, taught=1.0)[0]
        assert torch.equal(part["action"], part["label"])
        return float((agent.act(part["observation"], part["mask"]) == part["label"]).float().mean())

    untaught = agreement(fresh(settings))
    assert agreement(train(settings, ignore)) > untaught + 0.2


def test_masked_actions_are_never_taken():
    experience = Collector(TINY).collect(fresh())[0]
    assert experience["mask"].gather(1, experience["action"][:, None]).all()
    assert torch.isfinite(experience["action_log_prob"]).all()


def test_the_scalar_core_grades_what_was_played_alike():
    played = play_held_out(fresh(), TINY, incidents=20, sampled=True)
    assert [row.grade for row in played.rows()] == played.scores.tolist()


def test_evaluating_leaves_the_random_stream_alone():
    agent = fresh()
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    play_held_out(agent, TINY, incidents=5, sampled=True)
    assert torch.equal(torch.rand(3), expected)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(where):
        where.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        files.replace(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_the_same_columns_at_every_level_of_fog(kind):
    sizes = set()
    for task in (TASK, *(f"{TASK}-fog{fog}" for fog in (0, 1, 3))):
        batch = BatchedTriage(task)
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
    head = [
        one for one in agent.networks["logits"].body.modules() if isinstance(one, torch.nn.Linear)
    ][-1]
    head.weight.detach().zero_()
    head.bias.detach().zero_()
    head.bias.detach()[4] = 9.0  # a score for the fifth service, and nothing else
    logits = agent.networks["logits"](seen)
    for row, index in enumerate(range(6)):
        owner = make_incident(f"{TASK}/train/{index}").directory[4]
        wanted = torch.zeros(batch.action_count)
        wanted[action_id(Escalate(owner), batch.topology)] = 9.0
        assert torch.equal(logits[row], wanted)
    assert logits.shape == (6, batch.action_count)
    assert n == 7


@pytest.mark.parametrize("task", [TASK, f"{__name__}:OWN"])
def test_the_command_leaves_a_run_in_figures_and_tells_its_end(tmp_path: Path, task, capsys):
    out = tmp_path / "run"
    options = "--num-envs 16 --rollout 8 --width 8 --eval-incidents 20 --rounds 1 --seed 3"
    ppo.main(["--task", task, *options.split(), "--out", str(out)])
    facts = json.loads((out / "run.json").read_text())
    assert facts["finished"]
    settings = Settings(**facts["settings"])
    agent = fresh(settings)
    agent.networks.load_state_dict(torch.load(out / "checkpoint.pt", weights_only=True))
    assert settings.seed == 3
    with (out / "curve.csv").open() as file:
        assert [int(row["steps"]) for row in csv.DictReader(file)] == [0, 128]

    rows = read_rows(out / EPISODES)
    assert {key: len(one) for key, one in rows.items()} == dict.fromkeys(
        [("val",), ("test",), ("test, before",)], 20
    )
    assert facts["before"] == pytest.approx(figures(rows["test, before",]))
    assert facts["after"]["test"]["net_value"] == pytest.approx(net_value(rows["test",]).mean)
    assert play_held_out(agent, settings).rows() == rows["test",]
    if task == TASK:
        grades = [grade.score for grade in grade_jsonl(out / "transcripts.jsonl")]
        assert grades == [row.grade for row in rows["test",]]

    end = capsys.readouterr().err.splitlines()[-5:]
    mean = facts["before"]["net_value"]
    assert end[0].startswith(f"before: net value {mean:+.3f} [")
    assert end[1] == f"after:  {line_of(rows['test',])}"
    assert end[3] == f"run:    {out}"
    again = f"python -m training.ppo --task {task} {options} --out {out} --seed 4 --out {out}-seed4"
    theirs = f"logtriage grade {out}/transcripts.jsonl --out {out}-graded"
    assert end[4] == f"next:   {theirs if task == TASK else again}"

    (out / "run.json").write_text(json.dumps(facts | {"finished": False}))
    with pytest.raises(SystemExit):
        ppo.main(["--task", task, *options.split(), "--out", str(out), "--seed", "4"])
    assert "the run there has seed 3, not 4; give another directory" in capsys.readouterr().err


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
    ppo.main([*options, "--num-envs", "16", "--eval-incidents", "20"])
    about = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert about["settings"]["task"] == "teashop:outage"
    assert words_for("teashop:outage") == f"--task teashop:outage --world {root}/examples/teashop"
    assert about["finished"]
