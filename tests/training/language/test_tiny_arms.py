"""Learning after the start: credit, updates, judgement and the page."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch

from logtriage import make_incident
from logtriage.actions import Action, Escalate, HandOver, Resolve
from logtriage.beliefs.explain import explain
from logtriage.dynamics import transition
from logtriage.state import initial_state
from logtriage.tasks import get_task
from training import scripted
from training.common.rows import Row, figures, net_value, row_of
from training.tiny import arms, parts, writeup
from training.tiny.arms import Settings, advantages, credited, update
from training.tiny.judge import lied_to, mirrored, played
from training.tiny.model import build_model
from training.tiny.play import own
from training.tiny.scores import chunks, scores
from training.tiny.settings import ABOUT, SIZES
from training.tiny.words import Grammar, build_tokenizer

TASK = "single_crash-v3-fog1"
TOKENIZER = build_tokenizer([get_task(TASK)])
GRAMMAR = Grammar(TOKENIZER)
INCIDENTS = [make_incident(f"{TASK}/train/{number}") for number in range(6)]


def nano() -> Any:
    return build_model(TOKENIZER, SIZES["nano"], 0)


def row(price: float, grade: float, *, handed_over: bool = False, fault: bool = True) -> Row:
    return Row("one", price, fault, grade, handed_over, False, False, 3)


def test_an_advantage_is_a_grade_less_the_mean_of_the_others() -> None:
    found = advantages([1.0, 0.0, 0.5, 0.2, 0.2, 0.2], 3)
    assert found.tolist() == pytest.approx([0.75, -0.75, 0.0, 0.0, 0.0, 0.0], abs=1e-6)


def test_a_run_ends_with_its_seconds_or_its_episodes() -> None:
    settings = Settings(seconds=100.0, episodes=1_280)
    assert settings.done(50.0, 2) == 0.5
    assert settings.done(50.0, 9) == pytest.approx(0.9)
    assert attrs.evolve(settings, episodes=0).done(50.0, 9) == 0.5


def test_shuffled_grades_stay_in_their_group() -> None:
    rows = [row(0.3, grade) for grade in np.linspace(0, 1, 12)]
    settings = Settings(arm="shuffled", group=4)
    shuffled = credited(settings, rows, np.random.default_rng(0))
    plain = credited(attrs.evolve(settings, arm="grpo"), rows, np.random.default_rng(0))
    assert not torch.equal(shuffled, plain)
    for start in range(0, 12, 4):
        group = slice(start, start + 4)
        assert sorted(shuffled[group].tolist()) == pytest.approx(sorted(plain[group].tolist()))


def test_scores_are_those_of_each_episode_alone() -> None:
    model, temperature = nano(), 0.5
    episodes = own(
        model, INCIDENTS, None, TOKENIZER, lambda _: None,
        temperature=1.0, seed=0, barred=[True] * 3 + [False] * 3,
    )  # fmt: skip
    for part, ids, _ in chunks(model, episodes):
        barred = torch.tensor([number < 3 for number in part])
        rows, said, entropy = scores(model, ids, GRAMMAR, barred, temperature)
        for place, number in enumerate(part):
            alone = torch.tensor(episodes[number].ids)
            logits = model(input_ids=alone[None]).logits[0] / temperature
            wanted = []
            for at in (alone == GRAMMAR.act).nonzero()[:, 0].tolist():
                legal = GRAMMAR.actions.clone()
                legal[GRAMMAR.hand_over] &= number >= 3
                shares = torch.softmax(logits[at].masked_fill(~legal, -torch.inf), -1)
                wanted.append(shares)
            chosen = [share[alone[at + 1]].log() for share, at in zip(
                wanted, (alone == GRAMMAR.act).nonzero()[:, 0].tolist(), strict=True
            )]  # fmt: skip
            torch.testing.assert_close(said[rows == place], torch.stack(chosen))
            doubt = [-(one[one > 0] * one[one > 0].log()).sum() for one in wanted]
            torch.testing.assert_close(entropy[rows == place], torch.stack(doubt))


def test_nobody_who_is_barred_hands_over_and_attempts_differ() -> None:
    model = nano()
    with torch.no_grad():  # a model that hands over wherever it may
        model.get_output_embeddings().weight[GRAMMAR.hand_over] *= 0
    many = [INCIDENTS[0]] * 8
    barred = own(
        model, many, None, TOKENIZER, lambda _: None, temperature=1.0, seed=0, barred=[True] * 8
    )
    assert not any(
        isinstance(action, HandOver) for one in barred for _, action in one.state.history
    )
    assert len({tuple(one.ids) for one in barred}) > 1


@pytest.mark.parametrize("credit", [1.0, -1.0, None])
def test_an_update_moves_what_it_credits(credit: float | None) -> None:
    model = nano()
    episodes = played(model, TOKENIZER, INCIDENTS, 1.0)
    free = torch.zeros(len(episodes), dtype=torch.bool)

    def of_model() -> tuple[float, float]:
        said = entropy = 0.0
        with torch.no_grad():
            for part, ids, _ in chunks(model, episodes):
                _, one, two = scores(model, ids, GRAMMAR, free[part])
                said, entropy = said + float(one.sum()), entropy + float(two.sum())
        return said, entropy

    before = of_model()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    each = None if credit is None else torch.full((len(episodes),), credit)
    update(model, optimiser, episodes, GRAMMAR, free, each, 1.0)
    after = of_model()
    if credit is None:
        assert after[1] < before[1]
    else:
        assert (after[0] - before[0]) * credit > 0


def test_net_value_is_a_ratio_of_sums_and_heeding_a_difference() -> None:
    rows = [
        row(0.3, 0.3, handed_over=True), row(0.3, 1.0),
        row(0.9, 0.9, handed_over=True), row(0.9, 0.8, fault=False),
    ]  # fmt: skip
    assert net_value(rows) == pytest.approx(0.6 / 1.6)
    found = figures(rows)
    assert found["heeding"] == pytest.approx(0.0)
    assert found["grade_benign"] == pytest.approx(0.8)
    assert math.isnan(net_value([]))


def test_what_is_played_under_a_false_price_is_graded_at_the_true_one() -> None:
    prices = mirrored(INCIDENTS)
    ladder = sorted({one.price_of_hand_over for one in INCIDENTS})
    assert sorted(set(prices)) == ladder
    assert prices[0] == ladder[-1 - ladder.index(INCIDENTS[0].price_of_hand_over)]
    model = nano()
    rows = lied_to(model, TOKENIZER, INCIDENTS, 1.0, prices)
    assert [one.price for one in rows] == [one.price_of_hand_over for one in INCIDENTS]
    true = [one.price_of_hand_over for one in INCIDENTS]
    honest = [row_of(one.state) for one in played(model, TOKENIZER, INCIDENTS, 1.0)]
    for one, other in zip(lied_to(model, TOKENIZER, INCIDENTS, 1.0, true), honest, strict=True):
        assert attrs.evolve(one, entropy=0.0) == attrs.evolve(other, entropy=0.0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arms")
    start = folder / "model"
    nano().save_pretrained(start)
    TOKENIZER.save_pretrained(start)
    patch = pytest.MonkeyPatch()
    patch.setattr(arms, "LADDER", (0.0, 0.5, 1.0))
    small = ["--seconds", "600", "--incidents", "8", "--group", "2", "--judged", "8",
             "--start", str(start)]  # fmt: skip
    small += ["--episodes", "16"]
    for arm, seed in [(one, "0") for one in arms.ARMS] + [("grpo", "1")]:
        out = folder / "runs" / f"{arm}-{seed}"
        arms.main([*small, "--arm", arm, "--seed", seed, "--output-dir", str(out)])
    words = ["--policy", "oracle", "--task", "single_crash-v3-fog1", "--incidents", "8"]
    scripted.main([*words, "--output-dir", str(folder / "oracle")])
    patch.undo()
    return folder / "runs"


def test_every_arm_leaves_its_steps_and_its_episodes(runs: Path) -> None:
    for arm in arms.ARMS:
        one = writeup.read(runs / f"{arm}-0")
        assert one.arm == arm
        assert len(one.at(0.0)) == len(one.at()) == 8
        assert [row["step"] for row in one.steps] == ([] if arm == "start" else ["1"])
    incidents = [[row.incident for row in writeup.read(one).at()] for one in runs.iterdir()]
    assert all(one == incidents[0] for one in incidents)


def test_a_scripted_policy_has_the_grades_of_its_episodes(runs: Path) -> None:
    rows = writeup.read_scripted(runs.parent / "oracle").at(0.0)
    assert [one.grade for one in rows] == [1.0] * 8


def test_the_page_has_tables_and_the_files_have_every_run(runs: Path, tmp_path: Path) -> None:
    (tmp_path / writeup.PAGE).write_text("Mine.\n<!-- arms -->\nold\n<!-- /arms -->\n")
    writeup.main([str(runs), "--to", str(tmp_path)])
    text = (tmp_path / writeup.PAGE).read_text()
    assert text.startswith("Mine.\n")
    assert "old" not in text
    values = [net_value(writeup.read(runs / f"grpo-{seed}").at(0.0)) for seed in (0, 1)]
    assert f"| `grpo` | likeliest | 2 | {np.mean(values):+.3f} (" in text
    with (tmp_path / "grpo-runs.csv").open() as file:
        found = list(csv.DictReader(file))
    assert {(one["arm"], one["seed"]) for one in found} == {
        *((arm, "0") for arm in arms.ARMS), ("grpo", "1"),
    }  # fmt: skip
    assert (tmp_path / "grpo.png").read_bytes().startswith(b"\x89PNG")
    (runs / "model").mkdir()
    rounds = [{"episodes": count, "play_seconds": 1.0, "learn_seconds": 9.0} for count in (5, 15)]
    about = {"rounds": rounds, "tokens_per_episode": 300.0}
    (runs / "model" / ABOUT).write_text(json.dumps(about))
    writeup.main([str(runs), "--to", str(tmp_path), "--page", "text.md"])
    assert "| DAgger | 20 | 300 | 20 | 300 |" in (tmp_path / "text.md").read_text()
    assert (tmp_path / "text-steps.csv").exists()


def test_the_parts_of_a_grade_add_up_and_stand_on_the_page(runs: Path, tmp_path: Path) -> None:
    for name in ("start-0", "grpo-0", "grpo-1"):
        parts.main([str(runs / name), "--incidents", "3"])
    for one in parts.read_parts(runs / "grpo-0" / parts.PARTS):
        costs = one.handing_over + one.paging + one.rest
        assert one.grade == pytest.approx(one.at_first + one.asking - costs + one.luck)
    grades = [one.grade for one in writeup.read(runs / "start-0").at(0.0)][:3]
    assert [one.grade for one in writeup.read(runs / "start-0").parts] == pytest.approx(grades)
    writeup.main([str(runs), "--to", str(tmp_path)])
    text = (tmp_path / writeup.PAGE).read_text()
    assert f"| start | 1 | {np.mean(grades):+.3f} |" in text
    assert "| `grpo` less the start | 2 |" in text


@pytest.mark.parametrize(
    ("action", "part"),
    [(HandOver(), "handing_over"), (Escalate("network"), "paging"), (Resolve(), "rest")],
)
def test_a_decision_costs_under_its_own_name(action: Action, part: str) -> None:
    before = explain(transition(initial_state(INCIDENTS[0]), HandOver()))
    step = attrs.evolve(before.steps[0], action=action, before=0.9, after_acting=0.4)
    found = parts.Parts.of(attrs.evolve(before, steps=(step,)))
    costs = {name: getattr(found, name) for name in ("handing_over", "paging", "rest")}
    assert costs == {**dict.fromkeys(costs, 0.0), part: pytest.approx(0.5)}


def test_student_and_bootstrap_by_hand() -> None:
    assert writeup.student([0.1, 0.3]) == "+0.200 (-1.071 to +1.471)"
    same = [row(0.5, 0.5), row(0.5, 1.0)]
    better = [attrs.evolve(one, grade=one.grade + 0.1) for one in same]
    assert writeup.over_incidents([(better, same)]) == "+0.200 to +0.200"


def test_what_is_given_away_is_worth_its_price() -> None:
    rows = [row(0.3, 1.0), row(0.7, 0.2), row(0.9, 1.0)]
    given = writeup.given_away(rows, 0.7)
    assert [one.grade for one in given] == [1.0, 0.7, 0.9]
    assert [one.handed_over for one in given] == [False, True, True]
    assert writeup.best_bar(rows[:2]) == 0.5  # any bar above 0.3 and up to 0.7 is as good


def test_the_start_is_matched_by_entropy_on_val(runs: Path) -> None:
    start = writeup.read(runs / "start-0")
    other = attrs.evolve(start, about={"settings": {"arm": "grpo", "seed": 0, "temperature": 1.0}})
    assert writeup.matched(start, other) == 1.0


@pytest.mark.parametrize(
    ("options", "message"), [(["--arm", "none"], "arm"), (["--start", "./nowhere"], "nowhere")]
)
def test_what_cannot_be_used_is_named(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        arms.main(["--start", "./nowhere", "--output-dir", str(tmp_path / "out"), *options])
    assert message in capsys.readouterr().err


def test_parts_are_those_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parts.main([str(tmp_path)])
    assert f"{tmp_path}: expected the directory of a run, with arm.json" in capsys.readouterr().err


def test_about_names_the_command(runs: Path) -> None:
    about = json.loads((runs / "grpo-1" / arms.ABOUT).read_text())
    assert about["command"].startswith("python -m training.tiny.arms --seconds 600")
    assert about["episodes"] == 16
