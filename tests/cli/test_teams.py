"""Teams through the command line: eval, play, grade, compare and report."""

import json
from pathlib import Path

import pytest

from logtriage.codec import role_split_to_json
from logtriage.roles import RoleSplit
from logtriage.roles.splits import TRIO
from tests.cli.test_cli import grades, lines, logtriage
from tests.evaluation.test_runner import contents

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


@pytest.fixture
def split_file(tmp_path: Path) -> Path:
    split = RoleSplit("backwards", TRIO.roles[::-1])
    (tmp_path / "backwards.json").write_text(json.dumps(role_split_to_json(split)))
    return tmp_path / "backwards.json"


def test_eval_says_which_roles_played(trio: tuple[Path, str]) -> None:
    directory, told = trio
    assert f"{TASK}/test  4 episodes, roles trio, rubric logtriage/3" in told
    again = logtriage("report", directory)
    assert again.stdout == told
    rows = lines(logtriage("report", directory, "--json"))
    assert [row["role_split"] for row in rows] == ["trio", "trio"]


def test_eval_tells_the_doubt_of_the_team_and_of_each_role(tmp_path: Path) -> None:
    task = "cascading_failure-v4"
    arguments = ("eval", "expert", "--split-roles", "trio", "--task", task, "--episodes", 3)
    shown = logtriage(*arguments, "--legend", "--out", tmp_path / "run")
    assert "bits of doubt  episodes  pooled  triage  escalation  remediation" in shown.stdout
    assert "pooled " in shown.stdout.partition("LEGEND")[2]
    (row,) = lines(logtriage("report", tmp_path / "run", "--json"))
    assert row["teamwork"]["episodes"] == 3
    assert list(row["teamwork"]["alone"]) == list(TRIO.names)


def test_any_number_of_jobs_prints_and_writes_the_same(tmp_path: Path, split_file: Path) -> None:
    common = [*EVAL, "expert", "--split-roles", split_file]
    one = logtriage(*common, "--out", tmp_path / "one")
    two = logtriage(*common, "--out", tmp_path / "two", "--jobs", 2)
    assert one.exit_code == 0
    assert "roles backwards" in one.stdout
    assert one.stdout == two.stdout
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_another_split_is_another_run(trio: tuple[Path, str]) -> None:
    before = contents(trio[0])
    refused = logtriage(*EVAL, "--split-roles", "duo", "--out", trio[0])
    assert refused.exit_code == 2
    assert 'role_split is "trio", asked for "duo"' in refused.stderr
    assert logtriage(*EVAL, "--out", trio[0]).exit_code == 2
    assert contents(trio[0]) == before


def test_transcripts_of_teams_are_graded(trio: tuple[Path, str]) -> None:
    graded = logtriage("grade", trio[0] / f"transcripts/expert--{TASK}.jsonl", "--json")
    assert graded.exit_code == 0
    summary = json.loads((trio[0] / "summary.json").read_text())["rows"]
    scores = [float(str(row["score"])) for row in grades(graded)]
    assert sum(scores) / 4 == pytest.approx(summary[0]["grade"]["mean"])


def test_compare_says_that_the_splits_differ(trio: tuple[Path, str], tmp_path: Path) -> None:
    logtriage(*EVAL, "--out", tmp_path / "b")
    result = logtriage("compare", trio[0], tmp_path / "b")
    assert result.exit_code == 0
    told = "A is of teams (trio: triage, escalation, remediation), B of single agents"
    assert told in result.stderr
    assert logtriage("compare", trio[0], trio[0]).stderr == ""


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


def test_play_in_brief_is_the_debrief_alone() -> None:
    result = logtriage("play", ID, "--policy", "oracle", "--split-roles", "trio", "--brief")
    assert result.stdout.startswith(f"oracle on {ID}")
    assert " sees" not in result.stdout
    assert result.stdout.count("\n  tick 0  ") == 3
    graded = logtriage("play", ID, "--policy", "oracle", "--split-roles", "duo", "--json")
    assert json.loads(graded.stdout)["score"] == 1.0


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


def test_a_damaged_split_file_is_named_with_its_field(split_file: Path) -> None:
    raw = json.loads(split_file.read_text())
    raw["roles"][0]["views"] = ["slow"]
    split_file.write_text(json.dumps(raw))
    result = logtriage(*EVAL, "--split-roles", split_file)
    assert result.exit_code == 2
    assert "unknown view 'slow' (did you mean 'slo'?); known: alerts" in result.stderr
    assert "roles[0]" in result.stderr


def test_a_human_plays_alone() -> None:
    result = logtriage("play", ID, "--split-roles", "trio")
    assert result.exit_code == 2
    assert "a person plays alone: leave out --split-roles, or name a team" in result.stderr


def test_an_unknown_team_lists_the_known_ones() -> None:
    result = logtriage("eval", "medic=expert", "--split-roles", "trio", "--episodes", 1)
    assert result.exit_code == 2
    assert "unknown role 'medic'; known: triage, escalation, remediation" in result.stderr
