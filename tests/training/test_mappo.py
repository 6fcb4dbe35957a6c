"""Teams learn, look only at held-out incidents to say so, and can be taken up again."""

import csv
import json
from functools import partial
from pathlib import Path

import attrs
import numpy as np
import pytest

from logtriage import Escalate, Ignore, Report, Resolve, initial_state, make_incident
from logtriage.beliefs import belief
from logtriage.codec import role_split_to_json
from logtriage.drawing.ids import parse_incident_id
from logtriage.evaluation import play_joint_episode
from logtriage.evaluation.net_values import net_value_of
from logtriage.grading import grade_jsonl
from logtriage.registry import make_team as make_players
from logtriage.roles import role_actions
from logtriage.roles.splits import ROLE_SPLITS
from logtriage.tasks import get_task
from logtriage.trained import networks
from logtriage.vector import BatchedTeam
from logtriage.vector.role_inputs import ODDS

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("rich")

from training import mappo  # noqa: E402 (after the skips)
from training.common.figures import EPISODES, figures, net_value, read_rows, row_of  # noqa: E402
from training.common.files import load_json  # noqa: E402
from training.common.ppo import begin  # noqa: E402
from training.common.tasks import ids_of, incident_of, role_split_of  # noqa: E402
from training.mappo import (  # noqa: E402
    TRUST,
    Collector,
    Inputs,
    Played,
    Settings,
    Teacher,
    Training,
    make_batch,
    make_team,
    play_held_out,
    save_team,
)

TASK = "cascading_failure-v4"
OWN = attrs.evolve(get_task(TASK), name="mine", horizon=12)
TINY = Settings(TASK, num_envs=16, rollout=8, epochs=1, minibatches=2, width=16, eval_incidents=20,
                rounds=4, imitation=2, eval_every=2)  # fmt: skip
SPLITS = pytest.mark.parametrize("split", ["solo", "trio", "by_tier"])
CRITICS = pytest.mark.parametrize("critic", ["central", "independent"])
CREDITS = pytest.mark.parametrize("credit", ["team", "counterfactual"])


def fresh(settings=TINY):
    torch.manual_seed(0)
    return make_team(make_batch(settings), settings)


def ignore(_):
    pass


def weights(training):
    return {name: one.clone() for name, one in training.team.modules().state_dict().items()}


def same(one, other):
    return set(one) == set(other) and all(torch.equal(one[name], other[name]) for name in one)


def without_time(points):
    return [{**point, "seconds": 0.0} for point in points]


@SPLITS
@CRITICS
@CREDITS
def test_gradients_reach_every_role_and_every_critic(split, critic, credit):
    training = Training(attrs.evolve(TINY, split=split, critic=critic, credit=credit, rounds=1))
    before = weights(training)
    training.run(ignore)
    after = weights(training)
    assert set(before) == set(after)
    assert {name.split(".")[1] for name in after if name.startswith("policy.")} == {
        str(role) for role in range(len(ROLE_SPLITS[split]))
    }
    assert all(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.isfinite(one).all() for one in after.values())


def test_a_critic_is_shared_only_where_all_roles_foretell_the_same():
    count = {
        (critic, credit): len(fresh(attrs.evolve(TINY, critic=critic, credit=credit)).critics)
        for critic in ("central", "independent")
        for credit in ("team", "counterfactual")
    }
    assert count == {
        ("central", "team"): 1,
        ("central", "counterfactual"): 3,
        ("independent", "team"): 3,
        ("independent", "counterfactual"): 3,
    }


def test_policies_have_the_input_of_their_role_and_the_central_critic_has_all_of_them():
    team, inputs = fresh(), Inputs(make_batch(TINY))
    sizes = [next(one.parameters()).shape[1] for one in (*team.policies, *team.values)]
    assert sizes == [*inputs.sizes, sum(inputs.sizes)]
    alone = fresh(attrs.evolve(TINY, critic="independent"))
    assert [next(one.parameters()).shape[1] for one in alone.values] == sizes[:3]


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    runs = []
    for seed in (0, 0, 1):
        training = Training(attrs.evolve(TINY, seed=seed))
        training.run(ignore)
        runs.append(training)
    one, again, other = map(weights, runs)
    assert same(one, again)
    assert without_time(runs[0].points) == without_time(runs[1].points)
    assert not same(one, other)


def test_it_trains_on_train_and_evaluates_on_test(monkeypatch):
    seen = []
    reset = BatchedTeam.reset

    def spy(self, split, index):
        seen.append((split, list(index)))
        return reset(self, split, index)

    monkeypatch.setattr(BatchedTeam, "reset", spy)
    Collector(TINY).collect(fresh())
    assert seen == [("train", list(range(16)))]
    seen.clear()
    played = play_held_out(fresh(), TINY)
    assert seen == [("test", list(range(20)))]
    seen.clear()
    play_held_out(fresh(), TINY, "val")
    assert seen == [("val", list(range(20)))]
    ids = [parse_incident_id(one) for one in played.ids]
    assert [(one.split, one.index) for one in ids] == [("test", index) for index in range(20)]


def test_no_training_incident_is_played_twice(monkeypatch):
    begun = []
    restart = BatchedTeam.restart

    def spy(self, rows, index):
        begun.extend(index)
        restart(self, rows, index)

    monkeypatch.setattr(BatchedTeam, "restart", spy)
    collector, team = Collector(TINY), fresh()
    collector.collect(team)
    collector.collect(team)
    assert begun
    assert begun == list(range(16, 16 + len(begun)))
    assert collector.incidents == len(begun)


@SPLITS
def test_masked_actions_are_never_taken(split):
    settings = attrs.evolve(TINY, split=split)
    rounds = Collector(settings).collect(fresh(settings))
    assert len(rounds) == len(ROLE_SPLITS[split])
    for each in rounds:
        assert each["mask"].gather(1, each["action"][:, None]).all()
        assert torch.isfinite(each["action_log_prob"]).all()
    assert not all(each["mask"].all() for each in rounds)


@CREDITS
def test_advantages_without_a_critic_are_what_is_yet_to_come(credit):
    settings = attrs.evolve(
        TINY, num_envs=8, rollout=30, lmbda=1.0, credit=credit, critic="independent"
    )
    team = fresh(settings)
    for value in team.values:
        for weight in value.parameters():
            weight.detach().zero_()
    rounds = [each.reshape(30, 8) for each in Collector(settings).collect(team)]
    batch = make_batch(settings)
    batch.reset("train", np.arange(8))
    earned = np.zeros((3, 8))
    for tick in range(30):
        screen = batch.step([each["action"][tick].numpy() for each in rounds])
        earned += screen.rewards
    assert (screen.closing >= 0).all()
    for role, each in enumerate(rounds):
        assert each["advantage"].shape == (30, 8, 1)
        torch.testing.assert_close(
            each["advantage"][0, :, 0], torch.from_numpy(earned[role]).float()
        )
    if credit == "team":
        assert np.allclose(earned, screen.score)


@SPLITS
def test_the_scalar_core_grades_what_was_played_alike(split):
    settings = attrs.evolve(TINY, split=split)
    played = play_held_out(fresh(settings), settings)
    states = list(played.states(settings))
    reviewed, net = list(map(row_of, states)), net_value_of((each, 0.0) for each in states)
    told = figures(reviewed)  # as ``logtriage report`` tells them
    for name in ("handed_over", "paged_right", "mis_paged"):
        assert told[name] == pytest.approx(getattr(net, name))
    assert [one.grade for one in reviewed] == played.scores.tolist()
    assert [one.incident for one in reviewed] == list(played.ids)
    assert [one.ticks for one in reviewed] == played.ticks.tolist()


def test_the_input_of_a_role_is_its_posterior_and_what_it_heard_raises_the_odds():
    batch = BatchedTeam(TASK, ROLE_SPLITS["trio"])
    inputs, topology = Inputs(batch), batch.topology
    triage, _, remediation = inputs.roles
    screen = batch.reset("train", np.arange(6))
    first = inputs.begin(screen)
    role = batch.split.roles[2]
    states = [initial_state(make_incident(f"{TASK}/train/{row}")) for row in range(6)]
    own = [
        [belief(one, role).root_causes.get(name, 0.0) for name in topology.names] for one in states
    ]
    root = remediation.blocks["root"]
    np.testing.assert_allclose(first[2][:, root].numpy(), own, atol=1e-5)
    heard = remediation.blocks["heard_root"]
    np.testing.assert_allclose(first[2][:, heard].numpy(), own, atol=1e-5)

    say = role_actions(batch.split.roles[0], topology).index(Report("user-db", "triage"))
    waits = [np.full(6, count - 1) for count in batch.action_counts]
    screen = batch.step([np.full(6, say), waits[1], waits[2]])
    after = inputs.read(screen, np.arange(6), np.zeros(0, np.int64))
    place = topology.names.index("user-db")
    alone, told = after[2][:, root][:, place], after[2][:, heard][:, place]
    torch.testing.assert_close(told, ODDS * alone / (1 + (ODDS - 1) * alone), atol=1e-4, rtol=0)
    mine = triage.blocks
    assert torch.equal(after[0][:, mine["root"]], after[0][:, mine["heard_root"]])


def test_actions_that_name_what_is_likely_are_pointed_at():
    batch = make_batch(TINY)
    inputs, team = Inputs(batch), fresh()
    seen = inputs.begin(batch.reset("train", np.arange(4)))
    for role, policy, one in zip(batch.split.roles, team.policies, seen, strict=True):
        for weight in policy.body.parameters():
            weight.detach().zero_()
        logits = policy(one)
        actions = role_actions(role, batch.topology)
        kinds = {
            type(actions[place]).__name__ for place in (logits > 0).any(dim=0).nonzero().ravel()
        }
        pointed = {"triage": {"IdentifyRootCause", "Report"}, "escalation": {"Escalate", "Report"},
                   "remediation": {"Remediate", "Ignore", "Report"}}  # fmt: skip
        assert kinds == pointed[role.name]
        assert not (logits < 0).any()


def test_a_team_begins_all_but_silent_and_says_what_it_is_sure_of():
    batch = make_batch(TINY)
    team, inputs = fresh(), Inputs(batch).roles
    for role, policy, one in zip(batch.split.roles, team.policies, inputs, strict=True):
        logits = policy(torch.zeros(one.size)).detach()
        actions = role_actions(role, batch.topology, hand_over=True)
        words = torch.tensor([isinstance(each, Report) for each in actions])
        assert logits[words].max() < -0.9 * TINY.quiet < -0.1 < logits[~words].min()
        sure = torch.zeros(one.size)
        sure[one.blocks["kind"]] = 1.0
        pointed = policy(sure).detach()[[actions.index(Report("slow_query", role.name))]]
        assert pointed.item() == pytest.approx(TRUST, abs=0.3)


def test_evaluating_leaves_the_random_stream_alone():
    team = fresh()
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    play_held_out(team, TINY)
    assert torch.equal(torch.rand(3), expected)


def small(rounds):
    text = "--num-envs 8 --rollout 8 --minibatches 2 --width 8 --eval-incidents 20 --eval-every 1"
    text += " --imitation 1"
    return [*text.split(), "--rounds", str(rounds)]


def run(out: Path, *options: str) -> None:
    mappo.main(["--out", str(out), "--task", TASK, *small(2), *options])


def test_the_command_leaves_team_curve_and_transcripts(tmp_path: Path, capsys):
    out = tmp_path / "run"
    run(out, "--split", "duo", "--seed", "3")
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if "ticks  net" in line]
    assert len(said) == 3
    starts = ["before:", "after: ", "after, ", "gain in", "run:   ", "next:  "]
    assert [line[:7] for line in lines[-6:]] == starts
    assert lines[-1] == (
        f"next:   logtriage eval net:{out} expert observer --split-roles duo --task {TASK} "
        f"--episodes 300 --out {out}-eval"
    )
    assert {path.name for path in out.iterdir()} == {
        "curve.csv", "episodes.csv", "run.json", "team.json",
        "team.npz", "transcripts.jsonl",
    }  # fmt: skip
    facts = load_json(out / mappo.RUN)
    assert facts["finished"]
    assert (facts["train_split"], facts["test_split"]) == ("train", "test")
    with (out / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["ticks"]) for row in rows] == [0, 64, 128]
    assert 0 <= float(rows[-1]["val_grade"]) <= 1
    assert {"entropy_diagnosis", "entropy_action"} <= set(rows[0])

    grades = list(grade_jsonl(out / "transcripts.jsonl"))
    rows = read_rows(out / EPISODES)["own",]
    assert [one.score for one in grades] == [one.grade for one in rows]
    assert f"before: net value {facts['before']['net_value']:+.3f} [" in lines[-6]
    assert facts["after"]["own"]["grade"] == pytest.approx(np.mean([one.grade for one in rows]))
    assert facts["after"]["own"]["net_value"] == pytest.approx(net_value(rows).mean)


def never_closing(settings, seed=0):
    """Drawn networks that play to the horizon: fresh ones close incidents at once."""
    team, topology = fresh(settings), make_batch(settings).topology
    torch.manual_seed(seed)
    with torch.no_grad():
        for role, policy in zip(settings.roles.roles, team.policies, strict=True):
            for weight in policy.parameters():
                weight.add_(0.5 * torch.randn_like(weight))
            bias, actions = list(policy.parameters())[-1], role_actions(role, topology)
            closing = [isinstance(one, Escalate | Ignore | Resolve) for one in actions]
            bias[len(bias) - len(actions) :] -= 100 * torch.tensor(closing).float()
    return team


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_network_plays_on_the_scalar_core_what_it_plays_in_batches(tmp_path, activation):
    settings = attrs.evolve(TINY, activation=activation, eval_incidents=4)
    team, split = never_closing(settings), settings.roles
    played = play_held_out(team, settings)
    assert len(played.actions) == get_task(TASK).horizon
    save_team(tmp_path, team, settings)
    networks = make_players(f"net:{tmp_path}", split)
    for state, name in zip(played.states(settings), played.ids, strict=True):
        incident = make_incident(name)
        assert play_joint_episode(incident, networks(incident), split).actions == state.actions


def test_a_split_of_one_s_own_is_trained_and_kept_in_full(tmp_path: Path, capsys):
    mine, out = tmp_path / "mine.json", tmp_path / "run"
    mute = [attrs.evolve(role, words=()) for role in ROLE_SPLITS["duo"].roles]
    split = attrs.evolve(ROLE_SPLITS["duo"], name="mine", roles=mute)
    mine.write_text(json.dumps(role_split_to_json(split)))
    run(out, "--split", str(mine))
    assert "nobody said a word" in capsys.readouterr().err
    role_split_of.cache_clear()
    mine.unlink()  # the run says what was in it
    assert load_json(out / mappo.RUN)["role_split"] == role_split_to_json(split)
    assert networks.read_team(out).split == split

    role_split_of.cache_clear()
    mine.write_text("{}")
    with pytest.raises(SystemExit):
        run(tmp_path / "other", "--split", str(mine))
    assert f"{mine}: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(tmp_path / "other", "--split", str(tmp_path / "gone.json"))
    assert "gone.json: No such file" in capsys.readouterr().err


def test_a_task_of_one_s_own_is_trained_on_and_its_transcripts_graded(tmp_path: Path):
    out, mine = tmp_path / "run", f"{__name__}:OWN"
    run(out, "--task", mine)
    grades = list(grade_jsonl(out / "transcripts.jsonl", resolve=partial(incident_of, mine)))
    assert {one.incident for one in grades} == set(ids_of(mine, "test", len(grades)))
    rows = read_rows(out / EPISODES)["own",]
    assert [grade.score for grade in grades] == [one.grade for one in rows]


def test_a_run_that_only_imitates_says_so(tmp_path, capsys):
    begin(attrs.evolve(TINY, rounds=3), tmp_path, "mappo")
    assert capsys.readouterr().err == ""
    begin(attrs.evolve(TINY, rounds=2), tmp_path, "mappo")
    assert "every round imitates the teacher" in capsys.readouterr().err


def test_another_run_is_not_overwritten_and_the_same_is_begun_anew(tmp_path: Path, capsys):
    out = tmp_path / "run"
    run(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(SystemExit):
        run(out)
    assert "holds a finished run" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    about = load_json(out / mappo.RUN) | {"finished": False}
    (out / mappo.RUN).write_text(json.dumps(about))
    with pytest.raises(SystemExit):
        run(out, "--split", "duo", "--rounds", "1")
    assert "has rounds 2, not 1; split 'trio', not 'duo'" in capsys.readouterr().err
    run(out)
    assert load_json(out / mappo.RUN)["finished"]


def test_bad_names_are_refused_before_anything_is_written(tmp_path: Path, capsys):
    out = tmp_path / "run"
    with pytest.raises(SystemExit):
        run(out, "--split", "quartet")
    assert "'quartet'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        mappo.main(["--out", str(out), "--task", "cascade"])
    assert "unknown task 'cascade'" in capsys.readouterr().err
    assert not out.exists()


def test_scrambled_words_are_those_of_the_row_before_and_nothing_else_changes():
    settings = attrs.evolve(TINY, split="by_channel")
    batch, again = make_batch(settings), make_batch(settings)
    own, scrambled = Inputs(batch), Inputs(again, scrambled=True)
    screens = batch.reset("train", np.arange(6)), again.reset("train", np.arange(6))
    own.begin(screens[0])
    scrambled.begin(screens[1])
    said = [np.full(6, len(role_actions(role, batch.topology, hand_over=True)) - 3)
            for role in settings.roles.roles]  # fmt: skip
    one = own.read(batch.step(said), np.arange(6), np.zeros(0, int))
    other = scrambled.read(again.step(said), np.arange(6), np.zeros(0, int))
    # All said the same word: each hears it from whichever incident.
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    said[0][:3] -= 1
    one = own.read(batch.step(said), np.arange(6), np.zeros(0, int))
    other = scrambled.read(again.step(said), np.arange(6), np.zeros(0, int))
    assert not torch.equal(one[1][0], other[1][0])  # its neighbour said another word
    assert torch.equal(one[1][1:3], other[1][1:3])


@pytest.mark.parametrize("split", ["by_channel", "north_south"])
def test_the_teacher_of_a_team_is_worth_more_than_handing_everything_over(split):
    settings = attrs.evolve(TINY, task="single_crash-v4", split=split, eval_incidents=200)
    batch = make_batch(settings)
    teacher, screen = Teacher(batch), batch.reset("val", np.arange(200))
    labels, taken = teacher.begin(screen), []
    while (screen.closing < 0).any():
        going = np.flatnonzero(screen.closing < 0)
        for label, mask in zip(labels, screen.masks, strict=True):
            assert mask[going, label[going]].all()
        taken.append(np.stack(labels))
        screen = batch.step(labels)
        labels = teacher.read(screen, going, np.zeros(0, int))
    played = Played(ids_of(settings.task, "val", 200), np.stack(taken), screen.tick, screen.score)
    rows = [row_of(state) for state in played.states(settings)]
    assert figures(rows)["net_value"] > 0.3
    assert [row.grade for row in rows] == screen.score.tolist()


@pytest.mark.parametrize("words", [("services",), ("kinds",), ("tokens", "ask reader")])
def test_a_teacher_reports_by_the_words_that_a_role_has(words):
    roles = [attrs.evolve(role, words=words) for role in ROLE_SPLITS["duo"].roles]
    batch = BatchedTeam(TASK, attrs.evolve(ROLE_SPLITS["duo"], name="mine", roles=roles))
    teacher, screen = Teacher(batch), batch.reset("val", np.arange(8))
    labels = teacher.begin(screen)
    while (screen.closing < 0).any():
        going = np.flatnonzero(screen.closing < 0)
        for label, mask in zip(labels, screen.masks, strict=True):
            assert mask[going, label[going]].all()
        screen = batch.step(labels)
        labels = teacher.read(screen, going, np.zeros(0, int))


def test_a_team_comes_to_do_what_its_teacher_does():
    settings = attrs.evolve(TINY, num_envs=48, rounds=10, imitation=10, epochs=4, width=48,
                            lr=5e-3)  # fmt: skip

    def agreement(team):
        rounds = Collector(settings).collect(team, taught=1.0)
        acted = team.act([one["observation"] for one in rounds], [one["mask"] for one in rounds])
        assert all(torch.equal(one["action"], one["label"]) for one in rounds)
        return np.mean([
            (chosen == one["label"]).float().mean()
            for chosen, one in zip(acted, rounds, strict=True)
        ])  # fmt: skip

    training = Training(settings)
    before = agreement(training.team)
    training.run(lambda _: None)
    assert agreement(training.team) > before + 0.2
