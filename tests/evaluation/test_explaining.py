"""Explanations kept with a run: resumed, checked, summed up and compared."""

import json
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from shutil import copytree
from statistics import fmean
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.evaluation import (
    PARTS,
    RunSpec,
    compare_runs,
    evaluate,
    explain_run,
    explaining,
    load_run,
    summarise,
)
from logtriage.evaluation.keeping import holding
from logtriage.registry import make_policy
from tests.evaluation.test_runner import contents

TASK = "single_crash-v4"
SPEC = RunSpec(["random", "constant:ignore"], [TASK, "recorded"], episodes=3)
FILE = f"explanations/random--{TASK}.jsonl"


@pytest.fixture(scope="module", autouse=True)
def _few_samples() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explaining, "SAMPLES", 1)
        yield


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("played") / "run"
    evaluate(SPEC, directory)
    return directory


@pytest.fixture(scope="module")
def whole(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which two episodes of each policy are explained."""
    directory = tmp_path_factory.mktemp("explained") / "run"
    copytree(played, directory)
    explain_run(directory, 2)
    return directory


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def test_the_first_episodes_are_explained(whole: Path) -> None:
    loaded = load_run(whole)
    assert {key: list(found) for key, found in loaded.explained.items()} == {
        ("random", TASK): [f"{TASK}/test/0", f"{TASK}/test/1"],
        ("constant:ignore", TASK): [f"{TASK}/test/0", f"{TASK}/test/1"],
        ("random", "recorded_trainticket-v5"): [],
        ("constant:ignore", "recorded_trainticket-v5"): [],
    }
    for (policy, task), found in loaded.explained.items():
        for grade in loaded.grades[policy, task][: len(found)]:
            one = found[grade.incident]
            assert one.grade == grade.score
            assert tuple(step.action for step in one.steps) == grade.actions


def test_figures_are_means_over_what_was_explained(whole: Path) -> None:
    loaded = load_run(whole)
    rows = summarise(loaded)
    assert json.loads((whole / "summary.json").read_text())["rows"] == [
        json.loads(json.dumps(attrs.asdict(row))) for row in rows
    ]
    row = next(row for row in rows if (row.policy, row.task) == ("random", TASK))
    found = list(loaded.explained["random", TASK].values())
    assert row.losses is not None
    assert row.losses.episodes == 2
    for part in PARTS:
        mean = getattr(row.losses, part)
        assert mean.mean == pytest.approx(fmean(getattr(one, part) for one in found))
        assert mean.low <= mean.mean <= mean.high
    pages = [step for one in found for step in one.steps if isinstance(step.action, lt.Escalate)]
    assert row.losses.pages is not None
    assert row.losses.pages.count == len(pages)
    assert [row.losses is None for row in rows] == [False, True, False, True]


def test_an_interrupted_run_ends_with_the_same_bytes(run: Path) -> None:
    wanted = contents(run)
    lines = (run / FILE).read_bytes().splitlines(keepends=True)
    (run / "summary.json").unlink()
    (run / FILE).write_bytes(lines[0] + lines[1][:40])
    seen: list[tuple[int, int]] = []
    explain_run(run, 2, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 1), (1, 1)]
    assert contents(run) == wanted


def failing_on_first(incident: lt.Incident) -> lt.Policy:
    if incident.id.endswith("/0"):
        raise ConnectionError("model server is gone")
    return make_policy("constant:ignore")(incident)


def test_unscored_episodes_are_left_out(tmp_path: Path) -> None:
    spec = RunSpec(["mine"], [TASK], episodes=2)
    evaluate(spec, tmp_path / "run", factories={"mine": failing_on_first})
    (row,) = explain_run(tmp_path / "run", 2)
    assert row.losses is not None
    assert (row.episodes, row.unscored, row.losses.episodes) == (2, 1, 1)


def change(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line.update(fields)


def change_step(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line["steps"][0].update(fields)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (change(digest="0" * 16), "digest: expected '"),
        (change(incident=f"{TASK}/test/2000"), "incident: no scored episode of this run"),
        (change(incident=[]), "expected a string, got a list"),
        (change(incident=f"{TASK}/test/0"), "digest: expected '"),
        (change(grade=0.5), "grade: expected "),
        (change(luck=0.9), "at_first . asking_gained . decisions . luck is "),
        (change(luck=None), "expected a decimal, got nothing @ ..luck"),
        (change(luck=float("nan")), "at_first . asking_gained . decisions . luck is nan"),
        (change(samples=0), "unknown field samples"),
        (change(steps=[]), "steps: expected [1-9]"),
        (change_step(before="1"), "expected a decimal, got a string '1' @ ..steps.0..before"),
        (change_step(right=1), "expected true or false, got a number 1 @ ..steps.0..right"),
        (change_step(leading=None), "expected an object, got nothing @ ..steps.0..leading"),
        (
            change_step(leading={"root_cause": ["x"], "team": None, "benign": 1.0}),
            "Not enough values in .* @ ..steps.0..leading.root_cause",
        ),
    ],
)
def test_a_line_that_is_not_of_this_run_is_named(
    run: Path, damage: Callable[[dict[str, Any]], None], reason: str
) -> None:
    first, second = (run / FILE).read_text().splitlines(keepends=True)
    line = json.loads(second)
    damage(line)
    (run / FILE).write_text(f"{first}{json.dumps(line)}\n")
    with pytest.raises(lt.InvalidInput, match=f"random--{TASK}.jsonl, line 2: {reason}"):
        load_run(run)
    with pytest.raises(lt.InvalidInput, match="line 2"):
        explain_run(run, 2)


def test_what_cannot_be_explained_is_refused(tmp_path: Path, run: Path) -> None:
    with pytest.raises(lt.InvalidInput, match="episodes must be at least 1, got 0"):
        explain_run(run, 0)
    with pytest.raises(lt.InvalidInput, match="jobs must be at least 1, got 0"):
        explain_run(run, 1, jobs=0)
    with pytest.raises(lt.InvalidInput, match="not the directory of a run"):
        explain_run(tmp_path / "nowhere", 1)
    assert not (tmp_path / "nowhere").exists()
    with holding(run), pytest.raises(lt.InvalidInput, match="evaluates here"):
        explain_run(run, 1)
    evaluate(RunSpec(["oracle"], ["recorded"], episodes=1), tmp_path / "recorded")
    with pytest.raises(lt.InvalidInput, match=r"recorded.*: its probabilities are not known"):
        explain_run(tmp_path / "recorded", 1)
    evaluate(RunSpec(["expert"], [TASK], episodes=1, role_split="solo"), tmp_path / "team")
    with pytest.raises(lt.InvalidInput, match="joint play is not explained"):
        explain_run(tmp_path / "team", 1)


def test_differences_are_paired(whole: Path) -> None:
    loaded = load_run(whole)
    (found, _) = compare_runs(loaded, loaded, policy_a="random", policy_b="constant:ignore")
    assert found.losses is not None
    assert found.losses.episodes == 2
    for part in PARTS:
        means = [
            fmean(getattr(one, part) for one in loaded.explained[policy, TASK].values())
            for policy in ("random", "constant:ignore")
        ]
        assert getattr(found.losses, part).mean == pytest.approx(means[1] - means[0])
        assert isfinite(getattr(found.losses, part).low)
