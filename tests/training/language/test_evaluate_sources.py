"""Evaluation on ood, on tasks and rubrics of one's own, and on recorded incidents."""

import io
import json
from pathlib import Path

import attrs
import pytest
from rich.console import Console

import logtriage as lt
from logtriage.grading import TRIAGE_3, Discount
from training.evaluate import Judge, compare, markdown, scripted
from training.evaluate.__main__ import main
from training.evaluate.phases import Phases

ONE = "single_crash-v3-fog0"
HALF = attrs.evolve(
    TRIAGE_3,
    id="half/1",
    discounts=(Discount("half", lambda _: (0.5, "for the test")),),
)


def own(split: str, number: int) -> lt.Incident:
    """A task of one's own."""
    return attrs.evolve(lt.make_incident(f"{ONE}/{split}/{number}"), id=f"own/{split}/{number}")


def test_ood_has_a_row_for_what_training_never_shows() -> None:
    found = compare(None, scripted("observer", ONE, 12, split="ood"))
    rows = found["agents"][0]["tasks"][ONE]["by_part"]
    assert sum(one["incidents"] for one in rows.values()) == 12
    assert {name.split(", ")[0] for name in rows} >= {"random topology"}
    assert any("held-out pair" in name for name in rows)
    assert "### Mean grade by held out" in markdown(found)
    assert compare(None, scripted("oracle", ONE, 2))["agents"][0]["tasks"][ONE]["by_part"] == {}


def test_tasks_rubrics_and_recorded_incidents_by_name(tmp_path: Path) -> None:
    given = ["--policy", "oracle", "--baselines", "", "--episodes", "2"]
    mine = ["--task", f"{__name__}:own", "--rubric", f"{__name__}:HALF"]
    assert main([*given, *mine, "--output-dir", str(tmp_path / "a")]) == 0
    results = json.loads((tmp_path / "a" / "results.json").read_text("utf-8"))
    assert results["agents"][0]["all"]["grade"]["mean"] == pytest.approx(0.5)
    assert main([*given, "--task", "recorded", "--output-dir", str(tmp_path / "b")]) == 0
    played = (tmp_path / "b" / "transcripts" / "oracle.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(one)["incident"].split("/")[0] for one in played] == ["nezha"] * 2


def test_grades_are_explained_by_their_parts() -> None:
    played = scripted("expert", ONE, 3)
    content = compare(None, played, explained=2)
    lost = content["agents"][0]["tasks"][ONE]["lost"]
    first = [grade.score or 0.0 for grade in played.grades[:2]]
    assert lost["episodes"] == 2
    made = lost["at_first"] + lost["asking_gained"] - lost["decision_cost"] + lost["luck"]
    assert made == pytest.approx(sum(first) / 2)
    assert "How grades came about" in markdown(content)


def test_explaining_says_how_many_of_how_many_from_the_start() -> None:
    told: list[tuple[int, int]] = []
    before, after, other = (scripted(one, ONE, 3) for one in ("random", "expert", "first_error"))
    counts = {"explained": 2, "on_progress": lambda *one: told.append(one)}
    compare(before, after, [other], explain_baselines=False, **counts)
    assert told == [(done, 4) for done in range(5)]
    told.clear()
    compare(before, after, on_progress=counts["on_progress"])
    assert told == []
    recorded = scripted("inquiry", "recorded_models", 2)  # of which no probabilities are known
    (agent,) = compare(None, recorded, **counts)["agents"]
    assert [one["lost"] for one in agent["tasks"].values()] == [None] * len(agent["tasks"])
    assert told == []


def test_a_scripted_policy_says_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    scripted("expert", f"{ONE} single_crash-v3", 2, on_progress=lambda *one: told.append(one))
    assert told == [(done, 4) for done in range(1, 5)]


def test_a_counted_phase_begins_with_its_first_call() -> None:
    out = io.StringIO()
    phases = Phases(Console(file=out, width=200))
    phases.begin("figures")
    on_progress = phases.counted("explaining")
    assert out.getvalue() == "figures ...\n"
    for done in range(3):
        on_progress(done, 2)
    assert out.getvalue().splitlines()[1:] == ["explaining: 2 to do", "explaining 2/2"]
    phases.begin("openai:m", 1)
    assert out.getvalue().splitlines()[-1] == "openai:m: 1 to do"  # and no picture of an m


def test_a_judge_without_a_name_grades_by_the_task() -> None:
    assert Judge.of().rubric is None
    assert Judge.of("logtriage/3").rubric is TRIAGE_3


def test_without_a_terminal_progress_is_plain_lines_from_the_first_moment() -> None:
    out = io.StringIO()
    phases = Phases(Console(file=out, width=200))
    phases.begin("held-out incidents", 4)
    assert out.getvalue() == "held-out incidents: 4 to do\n"
    for done in range(1, 5):
        phases.advance(done)  # within a moment: the last one alone is worth a line
    assert out.getvalue().splitlines()[1:] == ["held-out incidents 4/4"]
    phases.begin("GRPO steps", 3, done=1)
    phases.advance(2, "reward 0.5", every=True)
    assert out.getvalue().splitlines()[-1].startswith("GRPO steps 2/3  reward 0.5  about 0 s left")
    phases.begin("loading")
    assert out.getvalue().splitlines()[-1] == "loading ..."
