"""A run from its beginning to its page: training, evaluation, card, and what is written of it."""

import csv
import io
import json
from contextlib import redirect_stderr
from pathlib import Path

import attrs
import pytest
from rich.console import Console

import logtriage as lt
from logtriage.errors import InvalidInput
from tests.training.language.models import save_acting
from training.evaluate.phases import Phases
from training.grpo.learn import run
from training.grpo.review import BASELINES, before
from training.grpo.settings import Settings
from training.grpo.store import BEFORE
from training.grpo.writeup import CURVES, PAGE, TABLE, read, write_up

TASK = "single_crash-v3-fog0"
#: What the run said, beside its directory.
SAID = "said.txt"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    settings = Settings(
        model=str(save_acting(folder / "model")),
        task=TASK,
        group=2,
        rollouts=2,
        batch=2,
        max_steps=2,
        turn_tokens=1,
        completion_tokens=2048,
        seed=7,
        precision="fp32",
        use_cpu=True,
        gradient_checkpointing=False,
        report_to="none",
        eval_episodes=3,
        eval_temperature=1.0,
        eval_explain=2,
    )
    said = io.StringIO()
    with redirect_stderr(said):
        run(settings, folder / "run", "the command")
    (folder / SAID).write_text(said.getvalue())
    return folder / "run"


def test_every_phase_says_how_far_it_is(out: Path) -> None:
    said = (out.parent / SAID).read_text().splitlines()
    expected = [
        f"loading {out.parent / 'model'} ...",
        *("held-out incidents, before training: 3 to do", "setting up the trainer ..."),
        *("GRPO steps: 2 to do", "saving model and curves ..."),
        "held-out incidents, after training: 3 to do",
        *(f"held-out incidents, {one}: 3 to do" for one in BASELINES),
        *("figures ...", "explaining what was lost: 4 to do", "explaining what was lost 4/4"),
    ]
    assert [one for one in said if one in expected] == expected


def test_replies_that_are_cut_off_are_told_before_training_and_at_its_end(out: Path) -> None:
    """A reply has one token here, and so no end."""
    said = (out.parent / SAID).read_text().splitlines()
    agents = json.loads((out / "results.json").read_text())["agents"]
    shares = [one["all"]["cut_off"] for one in agents]
    assert min(shares[:2]) > 0.1
    assert shares[2:] == [None] * len(BASELINES)
    warned = [
        f"{one['agent']}: {one['all']['cut_off']:.0%} of its {one['all']['replies']} replies"
        for one in agents[:2]
    ]
    found = [number for number, one in enumerate(said) if one.startswith(tuple(warned))]
    assert [said[number].partition(":")[0] for number in found] == ["before", "before", "after"]
    assert found[0] < said.index("GRPO steps: 2 to do") < found[1]
    assert all("Raise --turn-tokens" in said[number] for number in found)


def test_before_and_after_play_the_same_held_out_incidents(out: Path) -> None:
    test = list(lt.incident_ids(TASK, "test", 3))
    for name in ("before.jsonl", "after.jsonl"):
        lines = (out / name).read_text().splitlines()
        assert [json.loads(one)["incident"] for one in lines] == test


def test_the_model_card_has_the_results(out: Path) -> None:
    results = json.loads((out / "results.json").read_text())
    card = (out / "README.md").read_text()
    assert card.startswith("---\n")
    for word in (
        "`model`, trained to triage",
        "library_name: transformers",
        TASK,
        "| `seed` | `7` |",
    ):
        assert word in card
    assert str(out.parent) not in card  # nobody else has that directory
    assert "base_model" not in card  # it is on no hub
    grade = results["agents"][1]["tasks"][TASK]["grade"]
    assert f"{grade['mean']:.3f}" in card


def test_the_page_says_what_the_files_say(out: Path, tmp_path: Path) -> None:
    (tmp_path / PAGE).write_text("Mine.\n<!-- change -->\nold\n<!-- /change -->\nMine too.\n")
    write_up([read(out)], tmp_path)
    text = (tmp_path / PAGE).read_text()
    assert text.startswith("Mine.\n")
    assert text.endswith("Mine too.\n")
    assert "old" not in text
    one = json.loads((out / "results.json").read_text())["difference"][TASK]
    row = next(line for line in text.splitlines() if line.startswith(f"| {TASK} | 7 |"))
    assert f"| {one['before']:.3f} | {one['after']:.3f} |" in row
    with (tmp_path / TABLE).open() as file:
        assert [line["step"] for line in csv.DictReader(file)] == ["1", "2"]
    assert (tmp_path / CURVES).read_bytes().startswith(b"\x89PNG")


def test_several_seeds_are_taken_together_incident_by_incident(out: Path, tmp_path: Path) -> None:
    """Two seeds that differ: before and after of one are swapped, so that nothing is left."""
    one = read(out)
    about = {**one.about, "settings": {**one.about["settings"], "seed": 8}}
    worse = attrs.evolve(one, about=about, before=one.after, after=one.before)
    write_up([one, worse], tmp_path)
    rows = [line.split(" | ") for line in (tmp_path / PAGE).read_text().splitlines()]
    (both,) = [row for row in rows if row[:2] == [f"| {TASK}", "mean of all"]]
    assert both[2] == "3"
    assert both[3] == both[4]
    assert both[5].startswith("+0.000 (")

    write_up([one, attrs.evolve(one, about=about)], tmp_path)
    rows = [line.split(" | ") for line in (tmp_path / PAGE).read_text().splitlines()]
    alone, _, twice = [row for row in rows if row[0] == f"| {TASK}" and row[2] == "3"][:3]
    assert twice[1] == "mean of all"
    assert twice[3:] == alone[3:]


def test_ablations_are_compared_with_the_run_of_their_seed(out: Path, tmp_path: Path) -> None:
    """The ablation is the same run with another reward, before and after swapped."""
    one = read(out)
    settings = {**one.about["settings"], "reward": "step"}
    about = {**one.about, "settings": settings}
    other = attrs.evolve(one, about=about, before=one.after, after=one.before)
    write_up([one], tmp_path, [other])
    rows = [line.split(" | ") for line in (tmp_path / PAGE).read_text().splitlines()]
    (row,) = [row for row in rows if row[:3] == ["| `reward` step", "7", TASK]]
    change = json.loads((out / "results.json").read_text())["difference"][TASK]
    assert row[3] == "2"
    assert row[-1].startswith(f"{change['before'] - change['after']:+.3f} (")

    settings["seed"] = 8
    with pytest.raises(InvalidInput, match="no run has its seed, 8"):
        write_up([one], tmp_path, [attrs.evolve(other, about=about)])
    settings["seed"] = 7
    fewer = attrs.evolve(one.before, transcripts=one.before.transcripts[:2])
    with pytest.raises(InvalidInput, match="played incidents that the run of its seed did not"):
        write_up([attrs.evolve(one, before=fewer)], tmp_path, [other])
    write_up([one], tmp_path, [attrs.evolve(other, before=fewer)])  # those of both are compared


def test_a_new_page_has_every_block(out: Path, tmp_path: Path) -> None:
    write_up([read(out)], tmp_path)
    text = (tmp_path / PAGE).read_text()
    for name in ("outcome", "change", "paging", "lost", "criteria", "stages", "time", "commands"):
        assert f"<!-- {name} -->\n" in text
    assert "the command" in text
    for agent in json.loads((out / "results.json").read_text())["agents"][:2]:
        played = agent["tasks"][TASK]
        begin = f"| {TASK} | 7 | {agent['agent']} |"
        begun = f"{begin} {played['net']['mean']:+.3f} | {played['solved']:.1%} |"
        assert f"{begun} {played['handed_over']:.1%} | {played['paged_right']:.1%} |" in text
        assert f"| {played['grade']['mean']:.3f} | {played['ticks']:.1f} |" in text
        lost = played["lost"]
        assert f"{begin} {lost['episodes']} | {lost['at_first']:+.3f} |" in text
        at = played["by_price"][0]
        cell = f"{at['handed_over']:.1%}, {at['paged']:.1%}, {at['mis_paged']:.1%}"
        assert f"{begin} {cell} |" in text


def test_the_baselines_of_a_run_are_not_explained(out: Path) -> None:
    agents = json.loads((out / "results.json").read_text())["agents"]
    explained = [agent["tasks"][TASK]["lost"] is not None for agent in agents]
    assert explained == [True, True] + [False] * len(BASELINES)


def test_what_another_run_played_before_is_taken_over(out: Path, tmp_path: Path) -> None:
    settings = Settings(
        model="none", task=TASK, eval_episodes=3, eval_before=str(out / BEFORE),
        group=2, rollouts=2, batch=2,
    )  # fmt: skip
    phases = Phases(Console(quiet=True))
    before(None, None, settings, tmp_path, phases)  # no model plays
    assert (tmp_path / BEFORE).read_text() == (out / BEFORE).read_text()
    more = attrs.evolve(settings, eval_episodes=4)
    (tmp_path / BEFORE).unlink()
    with pytest.raises(InvalidInput, match="holds 3 episodes, which are not the 4 of this run"):
        before(None, None, more, tmp_path, phases)
    lost = attrs.evolve(settings, eval_before=str(tmp_path / "none.jsonl"))
    with pytest.raises(InvalidInput, match="eval_before: cannot be read"):
        before(None, None, lost, tmp_path, phases)


def test_only_finished_runs_are_written_up(out: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no run\.json"):
        read(tmp_path)
    for name in ("run.json", "results.json"):
        content = json.loads((out / name).read_text())
        (tmp_path / name).write_text(json.dumps({**content, "finished": False}))
    with pytest.raises(InvalidInput, match="not finished"):
        read(tmp_path)
