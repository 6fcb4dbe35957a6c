"""A run from its beginning to its card: training, and evaluation before and after."""

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
