"""``logtriage audit``: findings on stdout, and what the exit code says."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner, Result

from logtriage.cli.app import app
from tests.audit.planted.holes import FEW

MINE = """
import attrs

from logtriage import get_task, make_incident
from logtriage.grading import TRIAGE_3
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId

TASK = get_task("single_crash-v4")
#: Of few ticks, as all here, so that every list of actions is soon searched.
SHEET = attrs.evolve(TASK, horizon=7)


NO_GATE = attrs.evolve(TRIAGE_3, id="acme/no-gate-1", gates=())


def fixed(state):
    return float(state.facts.fixed_at is not None), "fixed, however late"


ROWS = tuple(attrs.evolve(row, measure=fixed) if row.name == "closure" else row
             for row in TRIAGE_3.criteria)
HASTY = attrs.evolve(TRIAGE_3, id="acme/hasty-1", criteria=ROWS)


def draw(split, number):
    return draw_incident(SHEET, IncidentId(SHEET, split, number))


def lenient(split, number):
    incident = make_incident(f"cascading_failure-v4/{split}/{number}")
    return attrs.evolve(incident, wrong_page_closes=False, rubric="recorded/3", horizon=6)
"""


def audit(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", "--quick", *arguments])


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's, in the working directory."""
    (tmp_path / "mine_to_audit.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine_to_audit", raising=False)
    monkeypatch.setattr("logtriage.audit.QUICK", FEW)  # what is found is tested elsewhere
    return "mine_to_audit"


def test_a_task_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    result = audit("--task", "single_crash-v4", "--family", "measures")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("single_crash-v4")
    assert lines[1].startswith("passed    measures      ")
    assert "1 check, 0 failed" in result.stderr
    assert "slower than it can be: to grade lists at once needs" in result.stderr


def test_a_task_that_fails_has_exit_code_1_and_one_json_object_a_line(mine: str) -> None:
    result = audit("--task", f"{mine}:lenient", "--family", "ceiling", "--json")
    assert result.exit_code == 1
    found = {line["check"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert list(found) == ["oracle", "exact-maximum", "mis-page"]
    assert found["mis-page"]["verdict"] == "failed"
    assert found["mis-page"]["evidence"]["most"] == 1.0
    assert found["oracle"]["subject"] == "lenient"
    assert found["oracle"]["rubric"] == "recorded/3"


def test_what_is_the_users_own_is_imported(mine: str) -> None:
    result = audit("--task", f"{mine}:draw", "--task", f"{mine}:SHEET", "--family", "measures")
    assert result.exit_code == 0
    assert "draw  rubric logtriage/3" in result.stdout
    result = audit("--task", f"{mine}:draw", "--rubric", f"{mine}:NO_GATE", "--family", "ceiling")
    assert result.exit_code == 1
    assert "acme/no-gate-1" in result.stdout
    assert "failed    mis-page" in result.stdout


def test_what_nothing_settles_has_an_exit_code_of_its_own(mine: str) -> None:
    asked = ("--family", "ceiling", "--check", "mis-page", "--rubric", f"{mine}:HASTY")
    result = audit("--task", f"{mine}:SHEET", *asked)
    assert result.exit_code == 3
    assert "not exact mis-page" in result.stdout
    assert "1 check, 0 failed, 1 not exact, 0 untested" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--task", "x"), "unknown task 'x'"),
        (("--task", "no_such_module:x"), "no module named 'no_such_module'"),
        (("--task", "json:nothing"), "module 'json' has no 'nothing'"),
        (("--task", ":x"), "expected module:name"),
        (("--task", "sys:maxsize"), "expected a task's id"),
        (("--rubric", "json:loads"), "expected a Rubric, found function"),
        (("--rubric", "x"), "unknown rubric 'x'"),
        (("--family", "x"), "unknown family of checks 'x'"),
        (("--family", "measures", "--check", "x"), "unknown check 'x'; known: measures"),
        (("--oracle", "sys:maxsize"), "sys:maxsize: expected a function, found int"),
    ],
)
def test_what_cannot_be_audited_has_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    result = audit(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
