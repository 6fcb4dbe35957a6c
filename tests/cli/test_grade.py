"""grade: transcripts from files and pipes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from logtriage import make_incident
from logtriage.codec import decode_transcript
from logtriage.grading import DEFAULT, RUBRICS, grade_to_json, grade_transcript
from tests.builders import HALVED
from tests.cli.test_cli import BUFFERED, INCIDENT, command, lines, logtriage

RESOLVE = {"action_type": "resolve"}


def line(incident: str = INCIDENT, actions: Any = (RESOLVE,), **others: Any) -> str:
    return json.dumps({"incident": incident, "actions": list(actions), **others})


def write(path: Path, *texts: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_one_grade_a_line(tmp_path: Path) -> None:
    texts = [line(agent="me"), line("single_crash-v3/test/0", [])]
    result = logtriage("grade", write(tmp_path / "runs.jsonl", *texts), "--json")
    assert result.exit_code == 0
    assert lines(result) == [grade_to_json(grade_transcript(decode_transcript(t))) for t in texts]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", "\ufeff" + line(), line())
    assert len(lines(logtriage("grade", path, "--json"))) == 2


def test_grade_on_the_wire_has_everything_that_it_is_made_of(tmp_path: Path) -> None:
    incident = make_incident("single_crash-v3/test/2")
    wrong = min(set(incident.topology.teams) - incident.truth.teams)
    page = {"action_type": "escalate", "value": wrong}
    text = line(incident.id, [page, RESOLVE], agent="me")
    (graded,) = lines(logtriage("grade", write(tmp_path / "runs.jsonl", text), "--json"))
    assert list(graded) == [
        "incident", "task", "rubric", "rubric_digest", "status", "score", "criteria", "gate",
        "gate_reason", "closing", "ticks", "unplayed", "cause", "agent", "fault_kind",
        "discounts", "malformed", "digest",
    ]  # fmt: skip
    assert graded["status"] == "scored"
    assert (graded["gate"], graded["score"], graded["closing"]) == (
        "wrong_escalation",
        0.0,
        "misrouted",
    )
    assert graded["unplayed"] == 1
    assert isinstance(graded["criteria"], list)
    assert set(graded["criteria"][0]) == {"name", "score", "weight", "reason"}


def test_bad_lines_are_named_and_the_good_ones_graded(tmp_path: Path) -> None:
    path = write(
        tmp_path / "runs.jsonl",
        line(),
        "{",
        line("nope-v1/test/0"),
        "",
        line(actions="resolve"),
        line(agent=7),
        line(),
    )
    result = logtriage("grade", path, "--json", width=300)
    assert [one["incident"] for one in lines(result)] == [INCIDENT, INCIDENT]
    assert result.exit_code == 1
    named = [text for text in result.stderr.splitlines() if text.startswith("error: ")]
    assert [text.split(": ")[1] for text in named] == [f"{path}:{n}" for n in (2, 3, 5, 6)]
    assert "not JSON" in named[0]
    assert "unknown task 'nope-v1'; known: single_crash-v3" in named[1]
    assert "agent: expected a string, got a number" in named[3]
    said = "2 graded, mean 0.000 (0.000 with what is unscored or bad as 0); 0 unscored; 4 bad lines"
    assert said in result.stderr


def test_unscored_transcripts_exit_1_and_enter_no_mean(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line(status="connection lost"))
    result = logtriage("grade", path)
    assert result.exit_code == 1
    assert "unscored: connection lost" in result.stdout
    assert result.stderr == "0 graded; 1 unscored; 0 bad lines\n"


def test_standard_input() -> None:
    done = subprocess.run(
        command("grade", "-", "--json"), input=f"{line()}\nnope\n", capture_output=True, text=True
    )
    assert json.loads(done.stdout)["incident"] == INCIDENT
    assert "error: <stdin>:2: not JSON" in done.stderr
    assert done.returncode == 1


def test_input_is_graded_as_it_comes() -> None:
    with subprocess.Popen(
        command("grade", "-", "--json"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=BUFFERED,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line()}\n".encode())
        process.stdin.flush()
        first = json.loads(process.stdout.readline())  # though the input goes on
        assert first["incident"] == INCIDENT
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


def test_output_for_people_has_criteria_and_gates(tmp_path: Path) -> None:
    ignore = line("single_crash-v3/test/0", [{"action_type": "ignore"}], agent="me")
    result = logtriage("grade", write(tmp_path / "runs.jsonl", ignore))
    (text,) = result.stdout.splitlines()
    assert text.startswith("0.000  single_crash-v3/test/0  me  severity 0.00")
    assert text.endswith("ignored_incident: a real fault was ignored")


def test_output_for_people_has_discounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RUBRICS, DEFAULT.id, HALVED)
    result = logtriage("grade", write(tmp_path / "runs.jsonl", line("single_crash-v3/test/0")))
    (text,) = result.stdout.splitlines()
    assert text.endswith("  halved x 0.500")


def test_another_rubric(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", line())
    (graded,) = lines(logtriage("grade", path, "--rubric", "recorded/3", "--json"))
    assert graded["rubric"] == "recorded/3"
    (graded,) = lines(logtriage("grade", path, "--rubric", "tests.builders:HALVED", "--json"))
    assert [one["name"] for one in graded["discounts"]] == ["halved"]


def test_transcripts_of_a_run_are_graded_alike(tmp_path: Path) -> None:
    run = tmp_path / "run"
    row = lines(logtriage("eval", "random", "--task", "recorded", "--out", run, "--json"))[0]
    files = sorted((run / "transcripts").iterdir())
    graded = lines(logtriage("grade", *files, "--json"))
    scores = [one["score"] for one in graded if isinstance(one["score"], float)]
    assert isinstance(row["grade"], dict)
    assert sum(scores) / len(scores) == pytest.approx(row["grade"]["mean"])


def test_output_has_what_a_report_of_the_impact_was_worth(tmp_path: Path) -> None:
    report = {"action_type": "report_impact", "value": "api-gateway->auth-service"}
    texts = [line("compound_failure-v3/test/0", [report, RESOLVE]), line()]
    result = logtriage("grade", write(tmp_path / "runs.jsonl", *texts))
    first, second = result.stdout.splitlines()[:2]
    found = grade_transcript(decode_transcript(texts[0])).impact
    assert found is not None
    assert f"path F1 {found.node_f1:.3f} nodes {found.edge_f1:.3f} edges, roots not exact" in first
    assert "path F1" not in second


def test_a_run_has_a_table_of_them() -> None:
    policy = "constant:report_impact=api-gateway->auth-service,ignore"
    result = logtriage(
        "eval",
        policy,
        "expert",
        "--task",
        "compound_failure-v3",
        "--episodes",
        2,
        "--legend",
        width=120,
    )
    assert result.exit_code == 0, result.output
    assert "node F1" in result.stdout
    assert "never part of a grade" in result.stdout
    silent = logtriage("eval", "oracle", "--task", "compound_failure-v3", "--episodes", 2)
    assert "node F1" not in silent.stdout
