"""convert: conversations become transcripts that grade reads."""

import json
from pathlib import Path

from tests.cli.test_cli import INCIDENT, lines, logtriage

CALL = {"function": {"name": "submit", "arguments": "{}"}}
ROW = {"case": {"id": INCIDENT}, "messages": [{"role": "assistant", "tool_calls": [CALL]}]}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_transcripts_come_out_one_a_line_and_can_be_graded(tmp_path: Path) -> None:
    text = 'I think {"action_type": "classify_severity", "value": "P1"}'
    path = write(tmp_path / "rows.jsonl", {"incident": INCIDENT, "completion": text})
    result = logtriage("convert", path)
    assert result.exit_code == 0
    assert result.stderr == "1 converted; 0 bad rows; 1 without a screen to check it by\n"
    (transcript,) = lines(result)
    assert transcript["actions"] == [{"action_type": "classify_severity", "value": "P1"}]
    graded = logtriage("grade", "-", "--json", stdin=result.stdout)
    assert lines(graded)[0]["ticks"] == 1


def test_bad_rows_are_named_and_the_others_converted(tmp_path: Path) -> None:
    path = write(
        tmp_path / "rows.jsonl", {"incident": INCIDENT}, {"incident": INCIDENT, "output": ""}
    )
    result = logtriage("convert", path, width=300)
    assert result.exit_code == 1
    assert f"error: {path}:1: no conversation at nodes, messages" in result.stderr
    assert len(lines(result)) == 1


def test_options_say_where_the_incident_is_and_what_is_no_action(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", ROW)
    (counted,) = lines(logtriage("convert", path, "--incident", "case.id"))
    assert isinstance(counted["actions"], list)
    assert [one["action_type"] for one in counted["actions"]] == ["malformed"]
    options = ("--incident", "case.id", "--other-tool", "submit", "--style", "tools")
    (left_out,) = lines(logtriage("convert", path, *options))
    assert left_out["actions"] == []


def test_standard_input() -> None:
    result = logtriage("convert", "-", stdin=json.dumps({"incident": INCIDENT, "reply": "hm"}))
    assert result.exit_code == 0
    assert len(lines(result)) == 1
