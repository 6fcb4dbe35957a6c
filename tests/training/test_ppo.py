"""The PPO script learns, looks only at held-out incidents to say so, and can be reloaded."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import attrs
import numpy as np
import pytest

from logtriage.actions import Escalate, action_id
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.grading.batch import CLOSINGS
from logtriage.state import Closing
from logtriage.tasks import get_task
from logtriage.vector import BatchedTriage, belief_layout_of
from logtriage.world.loading import WORLDS_VARIABLE

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("rich")

from torch.nn.functional import cross_entropy  # noqa: E402 (after the skips)

from training.common.rows import EPISODES, figures, net_value, read_rows, write_rows  # noqa: E402
from training.ppo import __main__ as script  # noqa: E402
from training.ppo import predictor as predictor_module  # noqa: E402
from training.ppo import store, teacher  # noqa: E402
from training.ppo.evaluate import Played, evaluate, play_held_out, regrade  # noqa: E402
from training.ppo.inputs import KINDS, inputs_of  # noqa: E402
from training.ppo.learn import train  # noqa: E402
from training.ppo.networks import make_agent  # noqa: E402
from training.ppo.rollouts import Collector  # noqa: E402
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
    imitation=1,
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
    settings = Settings(TASK, num_envs=8, rollout=30, lmbda=1.0, inputs="counts", imitation=0)
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


def test_a_predictor_comes_closer_to_the_exact_posterior_as_it_learns(predictor, tmp_path: Path):
    about = json.loads((Path(predictor) / predictor_module.ABOUT).read_text("utf-8"))
    assert about["cross_entropy_bits"] > about["exact_entropy_bits"] > 0
    longer = tmp_path / "longer"
    run = about["agent"]
    predictor_module.main(["--agent", run, "--output-dir", str(longer), "--rounds", "9"])
    again = json.loads((longer / predictor_module.ABOUT).read_text("utf-8"))
    assert again["exact_entropy_bits"] == about["exact_entropy_bits"]
    assert again["cross_entropy_bits"] < about["cross_entropy_bits"]


def test_predicted_inputs_are_columns_of_the_belief_made_of_counts(predictor):
    batch = BatchedTriage(TASK)
    exact, predicted = inputs_of("belief", batch), inputs_of("predicted", batch, predictor)
    screen = batch.reset("train", np.arange(8))
    one, other = exact.begin(screen), predicted.begin(screen)
    layout = belief_layout_of(batch.layout)
    kept = slice(layout["acting"].stop, layout.size)
    assert torch.equal(one[:, kept], other[:, kept])
    assert not torch.equal(one[:, layout["root"]], other[:, layout["root"]])
    torch.testing.assert_close(other[:, layout["kind"]].sum(1), torch.ones(8))


def test_the_teacher_heeds_the_price_and_beats_handing_everything_over():
    played = teacher.play(TASK, "val", 300)
    assert regrade(played) == played.scores.tolist()
    shown = figures(played.rows())
    assert shown["net_value"] > 0.3
    assert shown["heeding"] > 0.5


def test_imitation_brings_an_agent_to_the_teachers_actions():
    settings = attrs.evolve(TINY, num_envs=64, rounds=20, imitation=20, epochs=4, width=64, lr=5e-3)

    def agreement(agent):
        collector = Collector(settings)
        part = collector.collect(agent, taught=1.0).flatten()
        assert torch.equal(part["action"], part["label"])
        return float((agent.act(part["observation"], part["mask"]) == part["label"]).float().mean())

    untaught = agreement(fresh(settings))
    assert agreement(train(settings, ignore).agent) > untaught + 0.2


def test_the_auxiliary_loss_learns_to_predict_the_truth():
    settings = attrs.evolve(TINY, num_envs=64, rounds=8, epochs=4, width=64, auxiliary=1.0)

    def loss(agent):
        part = Collector(settings).collect(agent).flatten()
        return float(cross_entropy(agent.guessed(part["observation"]), part["truth"]).detach())

    assert loss(train(settings, ignore).agent) < loss(fresh(settings)) - 0.3


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


@pytest.fixture(name="predictor", scope="module")
def _predictor(tmp_path_factory):
    """A run on the exact belief, and a predictor that learnt from it."""
    run, out = (tmp_path_factory.mktemp(name) for name in ("belief", "predictor"))
    options = "--num-envs 16 --rollout 8 --width 8 --eval-incidents 20 --rounds 1 --imitation 1"
    script.main(["--task", TASK, *options.split(), "--out", str(run)])
    predictor_module.main(["--agent", str(run), "--output-dir", str(out), "--rounds", "3"])
    return str(out)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_the_same_columns_at_every_level_of_fog(kind, predictor):
    sizes = set()
    for task in (TASK, *(f"{TASK}-fog{fog}" for fog in (0, 1, 3))):
        batch = BatchedTriage(task)
        inputs = inputs_of(kind, batch, predictor)
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


def test_right_pages_are_those_that_did_not_close_the_incident():
    ids = tuple(f"{TASK}/test/{index}" for index in range(3))
    closing = np.array([CLOSINGS.index(one) for one in (Closing.RESOLVED, Closing.MISROUTED,
                                                        Closing.RESOLVED)])  # fmt: skip
    none = np.zeros(3)
    paged = np.array([True, True, False])
    played = Played(get_task(TASK), ids, np.zeros((1, 3), int), none, none, closing, paged)
    assert played.right.tolist() == [True, False, False]


def test_the_study_leaves_finished_runs_alone(tmp_path: Path, monkeypatch):
    pytest.importorskip("matplotlib")
    from training.ppo import study

    trained = []

    def pretend(command, **_):
        where = Path(command[command.index("--out") + 1])
        trained.append(f"{where.parent.name}/{where.name}")
        where.mkdir(parents=True)
        (where / store.RUN).write_text('{"finished": true}')

    monkeypatch.setattr(study.subprocess, "run", pretend)
    for arms in (["counts"], ["belief", "counts"]):
        words = ["--tasks", "single_crash-v3", "--seeds", "0", "1"]
        study.main([str(tmp_path), *words, "--arms", *arms])
    names = ["counts-0", "counts-1", "belief-0", "belief-1"]
    assert trained == [f"single_crash-v3/{name}" for name in names]


def test_the_page_has_the_losses_of_finished_runs_alone(predictor, tmp_path: Path):
    pytest.importorskip("matplotlib")
    from training.ppo import writeup

    run = Path(json.loads((Path(predictor) / predictor_module.ABOUT).read_text())["agent"])
    folder = tmp_path / TASK
    for name in ("belief-0", "belief-1", "counts-0", "counts-1"):
        shutil.copytree(run, folder / name)
    shutil.copytree(predictor, folder / writeup.PREDICTOR)
    half = json.loads((run / store.RUN).read_text()) | {"finished": False}
    (folder / "counts-1" / store.RUN).write_text(json.dumps(half))
    rows = read_rows(run / EPISODES)["test",]
    (folder / "observer").mkdir()
    better = [attrs.evolve(one, grade=one.price + 0.5 * (1 - one.price)) for one in rows[:15]]
    write_rows(folder / "observer" / EPISODES, ["split"], {("test",): better})
    to = tmp_path / "to"
    to.mkdir()
    writeup.write_up(tmp_path, [TASK, "silent_degradation-v3"], ["belief", "counts"], to)
    page = (to / writeup.PAGE).read_text()
    gap = 0.5 - net_value(rows[:15])
    same = f"{gap:+.3f} ({gap:+.3f} to {gap:+.3f})"
    assert f"| `{TASK}` | decision | observer − `belief` | 2 | {same} |" in page
    assert f"| `{TASK}` | inference | `belief` − `counts` | 2, 1 | +0.000 | +0.000 to" in page
    with (to / writeup.TABLE).open() as file:
        arms = [(row["arm"], row["seed"]) for row in csv.DictReader(file) if row["split"] == "test"]
    assert arms == [("belief", "0"), ("belief", "1"), ("counts", "0"), ("observer", "")]


@pytest.mark.parametrize("task", [TASK, f"{__name__}:OWN"])
def test_the_command_leaves_a_run_in_figures(tmp_path: Path, task):
    out = tmp_path / "run"
    options = "--num-envs 16 --rollout 8 --width 8 --eval-incidents 20 --rounds 1 --seed 3"
    script.main(["--task", task, *options.split(), "--out", str(out)])
    facts = json.loads((out / "run.json").read_text())
    assert facts["finished"]
    assert facts["scalar_core_agrees"]
    assert store.load_settings(out / "run.json").seed == 3
    with (out / "curve.csv").open() as file:
        assert [int(row["steps"]) for row in csv.DictReader(file)] == [0, 128]

    rows = read_rows(out / EPISODES)
    assert {key: len(one) for key, one in rows.items()} == {("val",): 20, ("test",): 20}
    assert facts["after"]["test"]["net_value"] == pytest.approx(net_value(rows["test",]))


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
