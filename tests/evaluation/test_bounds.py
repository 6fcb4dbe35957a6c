"""Means beside their bounds: what leaves a mean does not leave its bound."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from logtriage.cli.app import app
from logtriage.evaluation import RunSpec, compare_runs, evaluate, load_run, summarise
from logtriage.evaluation.statistics import bound_of
from logtriage.report.figures import cells_of
from logtriage.report.run import read_run

TASK = "single_crash-v4"
EPISODES = 8


@pytest.fixture
def run(tmp_path: Path) -> Path:
    evaluate(RunSpec(["random:3"], [TASK], episodes=EPISODES), tmp_path / "run")
    evaluate(RunSpec(["random:2"], [TASK], episodes=EPISODES), tmp_path / "other")
    return tmp_path / "run"


def edit(run: Path, *, missing: bool = False) -> list[str]:
    """Break off the worst episodes of a run, or leave out its last one, as an editor would."""
    (path,) = (run / "transcripts").iterdir()
    lines = path.read_text().splitlines()
    grades = [grade.score or 0.0 for grade in load_run(run).grades["random:3", TASK]]
    assert max(grades) > min(grades) == grades[-1] == 0.0
    worst = [json.loads(line) for line in lines]
    edited = [
        {**one, "status": "error"} if grade == 0.0 and not missing else one
        for one, grade in zip(worst, grades, strict=True)
    ]
    lines = [json.dumps(one) for one in edited[: -1 if missing else None]]
    path.write_text("".join(f"{line}\n" for line in lines))
    return lines


@pytest.mark.parametrize("missing", [False, True])
def test_an_edited_run_raises_the_mean_and_not_the_bound(run: Path, missing: bool) -> None:
    (before,) = summarise(load_run(run))
    edit(run, missing=missing)
    (after,) = summarise(load_run(run))
    assert before.grade is not None
    assert after.grade is not None
    assert after.grade.mean > before.grade.mean
    assert after.bound == before.bound == pytest.approx(before.grade.mean)
    report = read_run(run)
    assert [cell.bound for cell in cells_of(report)] == [before.bound]


def test_a_comparison_has_the_bounds_of_what_both_planned(run: Path) -> None:
    other = load_run(run.parent / "other")
    names = {"policy_a": "random:3", "policy_b": "random:2"}
    (before,) = compare_runs(load_run(run), other, **names)
    assert (before.bound_a, before.bound_b) == pytest.approx((before.mean_a, before.mean_b))
    edit(run)
    (after,) = compare_runs(load_run(run), other, **names)
    assert after.mean_a > before.mean_a
    assert (after.bound_a, after.bound_b) == (before.bound_a, before.bound_b)
    flags = ["--policy-a", "random:3", "--policy-b", "random:2"]
    shown = CliRunner().invoke(
        app, ["compare", str(run), str(run.parent / "other"), *flags], env={"COLUMNS": "200"}
    )
    assert shown.exit_code == 0, shown.output
    assert f"{after.bound_a:.3f}" in shown.output
    assert "unscored" in shown.output


def test_nothing_has_no_bound() -> None:
    assert bound_of([]) is None
    assert bound_of([None]) == bound_of([], 3) == 0.0
    assert bound_of([1.0, None], 4) == 0.25
