"""Teams through the command line: eval, play, grade, compare and report."""

import json
from io import StringIO
from pathlib import Path

import attrs
import pytest
from rich.console import Console

from logtriage.cli.figures import Figures
from logtriage.codec import role_split_to_json
from logtriage.roles import RoleSplit
from logtriage.roles.splits import TRIO
from tests.cli.test_cli import lines, logtriage

TASK = "single_crash-v4"
ID = "cascading_failure-v4/test/42"
EVAL = ("eval", "expert", "random", "--task", TASK, "--episodes", 4)


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of teams, which is only read, and what was printed of it."""
    directory = tmp_path_factory.mktemp("trio") / "run"
    result = logtriage(*EVAL, "--split-roles", "trio", "--out", directory)
    assert result.exit_code == 0
    return directory, result.stdout


def test_eval_says_which_roles_played(trio: tuple[Path, str]) -> None:
    directory, told = trio
    assert f"{TASK}/test  4 episodes, roles trio, rubric logtriage/3" in told
    again = logtriage("report", directory)
    assert again.stdout == told
    rows = lines(logtriage("report", directory, "--json"))
    assert [row["role_split"] for row in rows] == ["trio", "trio"]


def test_compare_says_that_the_splits_differ(trio: tuple[Path, str], tmp_path: Path) -> None:
    logtriage(*EVAL, "--out", tmp_path / "b")
    result = logtriage("compare", trio[0], tmp_path / "b")
    assert result.exit_code == 0
    told = "A is of teams (trio: triage, escalation, remediation), B of single agents"
    assert told in result.stderr
    assert logtriage("compare", trio[0], trio[0]).stderr == ""
    for words in ((), ("--json",)):
        gated = logtriage("gate", trio[0], tmp_path / "b", "--lenient", *words)
        assert told.replace("A", "RUN").replace("B", "BASE") in gated.stderr


def test_two_splits_of_one_name_are_told_apart(tmp_path: Path) -> None:
    kept, marks = [], []
    for name in ("1", "2"):
        roles = (attrs.evolve(role, budget=int(name)) for role in TRIO.roles)
        split, file, run = RoleSplit("mine", roles), tmp_path / f"{name}.json", tmp_path / name
        file.write_text(json.dumps(role_split_to_json(split)))
        assert logtriage(*EVAL, "--split-roles", file, "--out", run).exit_code == 0
        kept.append((file, min(run.rglob("*.jsonl")), run))
        marks.append(split.fingerprint)
    (mine, played, run), (other, _, another) = kept
    assert logtriage("grade", played, "--split-roles", mine).exit_code == 0
    refused = logtriage("grade", played, "--split-roles", other)
    assert refused.exit_code == 2
    assert all(mark in refused.stderr for mark in marks)
    told = logtriage("compare", run, another).stderr
    assert all(f"remediation, fingerprint {mark})" in told for mark in marks)
    bare = json.loads(played.read_text().splitlines()[0])
    assert bare.pop("role_split_mark") == marks[0]
    played.write_text(json.dumps(bare))
    assert logtriage("grade", played, "--split-roles", other).exit_code == 0


def test_eval_and_report_tell_of_refused_actions(tmp_path: Path) -> None:
    script = "constant:remediate=restart:nowhere,resolve"
    told = logtriage("eval", script, "--task", TASK, "--episodes", 2, "--out", tmp_path / "run")
    for stderr in (told.stderr, logtriage("report", tmp_path / "run").stderr):
        assert "2 actions refused; the first: " in stderr


def test_the_name_of_a_team_breaks_between_its_roles() -> None:
    text = StringIO()
    team = "triage=expert,escalation=observer,remediation=expert"
    Figures(Console(width=50, file=text)).put([{"policy": team, "mean grade": "0.912"}])
    assert "\nescalation=observer," in text.getvalue()


def test_play_shows_each_role_its_screen_and_action() -> None:
    result = logtriage("play", ID, "--policy", "expert", "--split-roles", "trio")
    assert result.exit_code == 0
    text = result.stdout
    first = text[: text.index("\ntriage: ")]
    triage, escalation, remediation = first.split(" sees\n")[1:]
    assert "EDGE:" in triage
    assert "DIRECTORY:" in escalation
    assert "EDGE:" not in escalation + remediation
    debrief = text[text.index("\nACTIONS") :]
    assert "triage: identify_root_cause" in debrief


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split-roles", "quartet"], "unknown role split 'quartet'; known: solo, duo, trio"),
        (["--split-roles", "nowhere.json"], "nowhere.json: No such file"),
    ],
)
def test_a_split_that_is_not_there_is_named(arguments: list[str], message: str) -> None:
    for command in (EVAL, ("play", ID, "--policy", "expert")):
        result = logtriage(*command, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
