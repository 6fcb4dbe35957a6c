"""eval --explain, its tables, and the belief in the debrief of play."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from logtriage.beliefs.explain import explain
from logtriage.cli import hindsight
from logtriage.drawing.generator import make_incident
from logtriage.evaluation import explaining, load_run
from logtriage.playing import play
from logtriage.report.text import signed
from tests.cli.test_cli import lines, logtriage

TASK = "single_crash-v4"
INCIDENT = f"{TASK}/test/0"


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "SAMPLES", 1)
    monkeypatch.setattr(hindsight, "SAMPLES", 1)


def run(out: Path, *more: Any, width: int = 120) -> Any:
    said = ("eval", "random", "constant:ignore", "--task", TASK, "--episodes", 3)
    return logtriage(*said, "--out", out, *more, width=width)


@pytest.mark.parametrize("width", [80, 120])
def test_tables_of_losses(tmp_path: Path, width: int) -> None:
    result = run(tmp_path / "run", "--explain", 2, width=width)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= width
    for word in ("hardness", "asking", "decision", "luck", "lucky", "handed"):
        assert word in result.stdout
    losses = load_run(tmp_path / "run").explained["random", TASK].values()
    mean = sum(one.hardness for one in losses) / 2
    assert f"{mean:.3f}" in result.stdout
    changed = sum(one.decisions for one in losses) / 2
    assert changed < -0.001
    assert f"{changed:.3f}" in result.stdout
    shown = logtriage("report", tmp_path / "run", width=width)
    assert shown.stdout == result.stdout


def test_json_has_the_losses(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "--explain", 1, "--json")
    first, _ = lines(result)
    assert first["losses"]["episodes"] == 1
    assert set(first["losses"]["luck"]) == {"mean", "low", "high"}
    assert sum(one["incidents"] for one in first["net"]["by_worth"]) == 3
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["rows"][0] == first


def test_compare_shows_differences_of_the_parts(tmp_path: Path) -> None:
    run(tmp_path / "run", "--explain", 1)
    pair = ("--policy-a", "random", "--policy-b", "constant:ignore")
    for width in (80, 120):
        told = logtriage("compare", tmp_path / "run", tmp_path / "run", *pair, width=width)
        assert "hardness" in told.stdout
        assert max(map(len, told.stdout.splitlines())) <= width
    (one,) = lines(logtriage("compare", tmp_path / "run", tmp_path / "run", *pair, "--json"))
    assert one["losses"]["episodes"] == 1


def test_grades_less_the_luck_stand_in_the_tables_where_they_are_asked_for(tmp_path: Path) -> None:
    plain = run(tmp_path / "run", "--explain", 2)
    assert "adjusted" not in plain.stdout
    shown = run(tmp_path / "run", "--explain", 2, "--luck-adjusted", "--legend")
    assert "luck adjusted  mean grade less the luck" in re.sub(r" {2,}", "  ", shown.stdout)
    losses = load_run(tmp_path / "run").explained["random", TASK].values()
    mean = sum(found.grade - found.luck for found in losses) / 2
    assert f"{mean:.3f}" in shown.stdout
    row, _ = lines(run(tmp_path / "run", "--explain", 2, "--json"))
    assert row["losses"]["without_luck"]["mean"] == pytest.approx(mean)
    pair = ("--policy-a", "random", "--policy-b", "constant:ignore", "--luck-adjusted")
    for width in (80, 120):
        told = logtriage("compare", tmp_path / "run", tmp_path / "run", *pair, width=width)
        assert "adjusted" in told.stdout
        assert max(map(len, told.stdout.splitlines())) <= width
    again = logtriage("report", tmp_path / "run", "--luck-adjusted")
    assert f"{mean:.3f}" in again.stdout


def test_tasks_without_probabilities_are_said_or_refused(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "--task", "recorded", "--explain", 1)
    assert result.exit_code == 0
    assert "not explained, because exact probabilities are unknown: recorded" in result.stderr
    alone = logtriage("eval", "oracle", "--task", "recorded", "--explain", 1)
    assert alone.exit_code == 2
    assert "nothing to explain: recorded_trainticket-v5: its probabilities" in alone.stderr
    team = logtriage("eval", "expert", "--task", TASK, "--split-roles", "solo", "--explain", 1)
    assert team.exit_code == 2
    assert "joint play is not explained" in team.stderr
    wrong = logtriage("eval", "expert", "--explain", -1)
    assert wrong.exit_code == 2


def test_debrief_shows_the_belief_beside_each_action() -> None:
    result = logtriage("play", INCIDENT, "--policy", "random", "--brief")
    assert result.exit_code == 0, result.output
    belief = " ".join(result.stdout.partition("\nBELIEF\n")[2].split())
    incident = make_incident(INCIDENT)
    found = explain(play(incident, "random"), samples=1)
    for step in found.steps:
        assert f"Expected grade {step.before:.3f}, " in belief
        assert f"{signed(step.worth)} by acting, {signed(step.luck)} by what came of it" in belief
        assert step.leading.team is not None
        assert f"{step.leading.team[0]} {100 * step.leading.team[1]:.0f} %" in belief
    assert f"{found.at_first:.3f} expected at first" in belief
    assert f"{found.asking_gained:+.3f} what asking gained; to read everything " in belief
    assert f"{found.decisions:+.3f} what the decisions cost" in belief
    assert f"{found.luck:+.3f} luck of the draw" in belief
    assert f"{found.grade:.3f} the grade" in belief
