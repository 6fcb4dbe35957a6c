"""Shifts on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from logtriage.shift import make_shift, play, score
from tests.adapters.test_endpoint import completion, server
from tests.cli.test_cli import lines, logtriage

SHIFT = "quiet_shift-v1/train/0"
WAIT = {
    "id": "1", "type": "function", "function": {"name": "wait", "arguments": '{"ticks": 500}'},
}  # fmt: skip
CELL = ("--task", "quiet_shift-v1", "--split", "train", "--episodes", 1)


def test_eval_plays_shifts_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    result = logtriage("eval", "oracle", "forward_all", *CELL, "--out", tmp_path, "--json")
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["policy"] for row in rows] == ["oracle", "forward_all"]
    assert rows[0]["score"]["mean"] == score(play(make_shift(SHIFT), "oracle"))
    assert rows[1]["net"]["mean"] == 0.0
    kept = (tmp_path / "shifts.jsonl").read_text()
    assert [json.loads(line)["shift"] for line in kept.splitlines()] == [SHIFT, SHIFT]
    again = logtriage("eval", "oracle", *CELL, "--out", tmp_path)
    assert (tmp_path / "shifts.jsonl").read_text() == kept
    assert "rubric shift/1" in again.stdout
    assert "shifts.jsonl" in again.stderr
    assert "mean ticks from the first" in logtriage("report", tmp_path, "--legend").stdout
    for arguments, words in (
        (("report", tmp_path, "--html"), "a run of shifts; logtriage replay writes its page"),
        (("report", tmp_path, "--value-of-incident", 9), "--value-of-incident is not for shifts"),
        (("report", tmp_path, "--luck-adjusted"), "--luck-adjusted is not for shifts"),
        (("replay", tmp_path, SHIFT), f"{SHIFT}: the page of a run of shifts has all of them"),
    ):
        refused = logtriage(*arguments)
        assert (refused.exit_code, words in refused.stderr.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize("reply", ["tools", "json"])
def test_a_served_model_plays_a_shift(reply: str, tmp_path: Path) -> None:
    text = '{"action_type": "wait", "ticks": 500}'
    answer = completion(None, tool_calls=[WAIT]) if reply == "tools" else completion(text)
    with server(lambda _: (200, answer)) as (url, seen):
        result = logtriage(
            "eval", "openai:m", *CELL, "--base-url", url, "--reply", reply, "--screens", 2,
            "--out", tmp_path, "--json",
        )  # fmt: skip
    assert result.exit_code == 0
    row = json.loads(result.stdout)
    assert (row["shifts"], row["score"]["mean"], row["handed_over"]) == (1, 0.0, 0.0)
    assert row["missed"] == row["incidents"] == len(make_shift(SHIFT).arrivals)
    bodies: list[Any] = list(seen)
    assert all(("tools" in body) == (reply == "tools") for body in bodies)
    screens = [one for one in bodies[-1]["messages"] if "SHIFT TICK" in (one["content"] or "")]
    assert len(screens) == 2


def test_replies_that_a_shift_cannot_use_are_said() -> None:
    prose = completion("thinking").replace(b'"stop"', b'"length"')
    with server(lambda _: (200, prose)) as (url, _):
        result = logtriage("eval", "openai:m", *CELL, "--base-url", url, "--reply", "json")
    told = " ".join(result.stderr.split())
    assert (result.exit_code, "replies cannot be read; the first: no JSON" in told) == (1, True)
    assert "100% of its" in told


def test_an_unscored_shift_is_played_again_by_the_same_player(tmp_path: Path) -> None:
    answers, first = [(400, b"{}")], [(200, completion("hm"))]
    with server(lambda _: first.pop() if first else answers[-1]) as (url, _):
        words = ("eval", "openai:m", *CELL, "--base-url", url, "--out", tmp_path)
        result = logtriage(*words)
        assert (result.exit_code, "1 unscored; the first: " in result.stderr) == (1, True)
        assert "--retry-unscored plays them again" in result.stderr
        never = logtriage(*words[:-1], tmp_path / "never")
        assert (never.exit_code, "error: " in never.stderr) == (2, True)
        answers.append((200, completion(None, tool_calls=[WAIT])))
        assert logtriage(*words).exit_code == 1
        assert logtriage(*words, "--retry-unscored").exit_code == 0
        other = logtriage(*words, "--seed", 1)
        told = " ".join(other.stderr.split())
        assert (other.exit_code, "with other settings" in told) == (2, True)
        assert logtriage(*words, "--seed", 1, "--fresh").exit_code == 0
    assert len((tmp_path / "shifts.jsonl").read_text().splitlines()) == 1
    out = tmp_path / "a"
    logtriage("eval", "random", "--task", "single_crash-v4", "--episodes", 1, "--out", out)
    mixed = logtriage("eval", "oracle", *CELL, "--out", out)
    assert (mixed.exit_code, "a run of incidents" in mixed.stderr) == (2, True)


def test_a_person_plays_line_by_line_and_what_was_earned_is_kept(tmp_path: Path) -> None:
    first, out = make_shift(SHIFT).arrivals[0], tmp_path / "mine.jsonl"
    system, team = first.system, first.incident.topology.teams[0]
    typed = (
        f"help\nrules\nscreen\n{system} metrics user-db\nnowhere resolve\n{system} page x\n"
        f"note ask about user-db\nwait 2\n{system} page {team}\n\n{system} resolve\ny\n"
        f'{{"system": "{system}", "action_type": "resolve"}}\nquit\nn\nquit\ny\n'
    )
    result = logtriage("play", SHIFT, "--out", out, stdin=typed)
    assert result.exit_code == 0
    for words in (
        "METRICS user-db", "NOTES: ask about user-db", "SHIFT TICK 5/200", f"CLOSED: {system}",
        f"human on {SHIFT}: 0.000 (shift/1)", "SYSTEM ACTION", "handover  ", "You are on call",
        f"{len(make_shift(SHIFT).arrivals) - 1} incidents had not come", "'nowhere'", "Not done.",
        "unknown team 'x'", f"Page {team}? A mis-page ends the incident with 0. Type y",
        "nothing is open on", "Stop here? The grade is",
    ):  # fmt: skip
        assert words in result.output
    logtriage("play", SHIFT, "--policy", "oracle", "--brief", "--out", out)
    reported = logtriage("report", out, "--json")
    coming = len(make_shift(SHIFT).arrivals) - 1
    said = f"human left {SHIFT} at tick 5, with grade 0 for {coming} incidents still to come"
    assert [one[: len(said)] for one in reported.stderr.splitlines()] == [said]
    human, oracle = lines(reported)
    assert len(json.loads(out.read_text().splitlines()[0])["actions"]) == 5
    assert (human["policy"], human["score"]["mean"]) == ("human", 0.0)
    assert oracle["score"]["mean"] == score(play(make_shift(SHIFT), "oracle"))
    assert f"wrote {out.with_suffix('.html')}" in logtriage("replay", out, "--beliefs", 0).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("eval", "expert", *CELL), "forward_all, oracle, openai:MODEL"),
        (("show", SHIFT, "--truth"), f"{SHIFT} is a shift: play plays it, eval evaluates its task"),
        (("export", "otlp", SHIFT, "unused"), f"{SHIFT} is a shift: play plays it"),
        (("eval", "oracle", *CELL, "--split-roles", "trio"), "--split-roles is not for shifts"),
        (("play", "busy_shift-v1/test/0", "--world", "teashop"), "--world is not for shifts"),
        (("play", SHIFT, "--practice"), "--practice is not for shifts"),
        (("mcp", "--out", "unused", *CELL, "--seal-file", "key"), "--seal-file is not for shifts"),
        (("eval", "oracle", "--screens", 3), "--screens is for shifts"),
        (("eval", "oracle", *CELL, "--task", "single_crash-v4"), "take a run each"),
        (("eval", "oracle", *CELL, "--temperature", 1), "--temperature goes with"),
        (("play", SHIFT, "--policy", "expert"), "human, first_come"),
        (("play", "quiet_shift-v1/ood/0"), "train, val, test"),
    ],
)
def test_what_cannot_be_says_why(arguments: tuple[object, ...], words: str) -> None:
    result = logtriage(*arguments)
    assert result.exit_code != 0
    assert words in result.stderr.replace("\n", " ")
