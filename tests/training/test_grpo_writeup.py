"""A run from its beginning to its page: training, evaluation, card, and what is written of it."""

import csv
import json
from pathlib import Path

import pytest

import logtriage as lt
from logtriage.errors import InvalidInput
from tests.training.models import save_acting
from training.grpo.learn import run
from training.grpo.settings import Settings
from training.grpo.writeup import CURVES, PAGE, TABLE, read, write_up

TASK = "single_crash-v2-fog0"


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
    )
    run(settings, folder / "run", "the command")
    return folder / "run"


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


def test_a_new_page_has_every_block(out: Path, tmp_path: Path) -> None:
    write_up([read(out)], tmp_path)
    text = (tmp_path / PAGE).read_text()
    for name in ("change", "behaviour", "time", "commands"):
        assert f"<!-- {name} -->\n" in text
    assert "the command" in text
    for agent in json.loads((out / "results.json").read_text())["agents"][:2]:
        played = agent["tasks"][TASK]
        assert f"| {TASK} | 7 | {agent['agent']} | {played['gated']:.1%} |" in text
        assert f"| {played['criteria']['closure']:.2f} | {played['ticks']:.1f} |" in text


def test_only_finished_runs_are_written_up(out: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no run\.json"):
        read(tmp_path)
    for name in ("run.json", "results.json"):
        content = json.loads((out / name).read_text())
        (tmp_path / name).write_text(json.dumps({**content, "finished": False}))
    with pytest.raises(InvalidInput, match="not finished"):
        read(tmp_path)
