"""convert: conversations become transcripts that grade reads."""

import json
from pathlib import Path

from tests.cli.test_cli import INCIDENT, lines, logtriage
from tests.conversations.episodes import INCIDENT as WHOLE
from tests.conversations.episodes import openai

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
    told = "1 converted; 0 bad rows; 1 with the incident open at the end; 1 without a screen"
    assert result.stderr == f"{told} to check it by\n"
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


def test_a_conversation_may_stand_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", {"case": ROW["case"], "x": {"y": ROW["messages"]}})
    options = ("--incident", "case.id", "--messages")
    assert len(lines(logtriage("convert", path, *options, "x.y"))) == 1
    assert (
        "no conversation at x.z; the row has: case, x"
        in logtriage("convert", path, *options, "x.z", width=300).stderr
    )


def test_what_became_of_rows_and_calls_is_told(tmp_path: Path) -> None:
    whole = openai()
    told = whole["messages"]
    refused = "The user doesn't want to proceed with this tool use."
    between = [{**told[2]}, {**told[3], "content": refused}]
    spoken = {"role": "assistant", "content": "Hm."}
    path = write(
        tmp_path / "rows.jsonl",
        {**whole, "messages": [*told[:4], *between, *told[4:]]},
        {**whole, "messages": [told[0], *told[4:]]},
        {"incident": INCIDENT, "messages": [spoken, {"role": "user", "content": "?"}, told[2]]},
    )
    result = logtriage("convert", path, width=300)
    assert result.exit_code == 1
    assert len(lines(result)) == 2
    said = result.stderr.splitlines()
    assert said[0].startswith(f"error: {path}:2: messages[2]: a screen of tick 2 after 1 call: ")
    assert said[1:] == [
        "2 converted; 1 bad row; 1 with the incident open at the end; 1 without a screen to check "
        "it by",
        "1 call left out: no screen shows that it was carried out",
        "1 of 8 replies and calls could not be read:",
        "  1: a reply without a tool call that can be read",
    ]


def test_requests_of_one_episode_are_named_and_left_out(tmp_path: Path) -> None:
    whole = openai()
    rows = [{**whole, "messages": whole["messages"][:at]} for at in range(4, 16, 2)]
    path = write(tmp_path / "rows.jsonl", *rows)
    result = logtriage("convert", path, width=300)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        f"{path}:1, {path}:2, {path}:3, {path}:4, {path}:5: left out; {path}:6 stands for the "
        "attempt (another 'attempt' in each keeps both)",
        "1 converted; 0 bad rows; 5 rows of the same attempts left out",
    ]
    broken_off = logtriage("convert", write(path, rows[2], rows[5]), width=300)
    assert broken_off.exit_code == 1
    assert f"{path}:1: the beginning of {path}:2, in a log without a row for" in broken_off.stderr


def test_a_session_file_gets_its_incident_by_option(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", *openai()["messages"])
    (transcript,) = lines(logtriage("convert", path, "--incident", WHOLE))
    assert transcript["incident"] == WHOLE
    refused = logtriage("convert", path, "--incident", INCIDENT, width=300)
    assert (refused.exit_code, "messages[1]: the screen of tick 0 says" in refused.stderr) == (
        1,
        True,
    )


def test_standard_input() -> None:
    result = logtriage("convert", "-", stdin=json.dumps({"incident": INCIDENT, "reply": "hm"}))
    assert result.exit_code == 0
    assert len(lines(result)) == 1


def test_tools_that_are_no_actions_are_named_with_the_way_out(tmp_path: Path) -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in ("think", "hand_over")
    ]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    path = write(tmp_path / "rows.jsonl", {"incident": INCIDENT, "messages": [said]})
    result = logtriage("convert", path, width=300)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1].startswith("each of them costs a tick; --other-tool NAME")
    left_out = logtriage("convert", path, "--other-tool", "think", width=300)
    assert "unknown tool" not in left_out.stderr
