"""``eval openai:MODEL``: a model behind an endpoint, through the real client, on this machine."""

import json
import os
import shlex
import signal
import subprocess
from collections import Counter
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from logtriage.conversations.words import words_of
from logtriage.drawing.generator import make_incident
from logtriage.evaluation import load_run
from logtriage.rendering import system_prompt
from logtriage.roles.splits import TRIO
from tests.adapters.test_endpoint import completion, server
from tests.cli.test_cli import command, logtriage

pytest.importorskip("openai")

TASK = "single_crash-v4"
RESOLVE = '{"action_type": "resolve"}'
#: What the scripted model says, turn by turn.
SCRIPT = ('{"action_type": "request_more_logs", "value": "user-db"}', "Hm.", RESOLVE)
#: Three replies an episode.
TURNS = len(SCRIPT)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def turn_of(body: dict[str, Any]) -> int:
    return sum(one["role"] == "assistant" for one in body["messages"])


def scripted(body: dict[str, Any]) -> tuple[int, bytes]:
    return 200, completion(SCRIPT[turn_of(body)])


def words(*more: object, url: str, policy: str = "openai:m", episodes: int = 6) -> list[str]:
    given = ["eval", policy, "--base-url", url, "--task", TASK, "--episodes", episodes]
    reply = () if "--reply" in more else ("--reply", "json")
    return [str(one) for one in (*given, *reply, *more)]


def played(out: Path) -> list[dict[str, Any]]:
    files = sorted((out / "transcripts").iterdir())
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_a_run_ends_with_the_command_that_shows_its_episodes(tmp_path: Path) -> None:
    out = tmp_path / "the run"
    with server(scripted) as (url, seen):
        done = logtriage(*words("--concurrency", 3, "--out", out, url=url))
    assert done.exit_code == 0, done.output
    assert len(seen) == 6 * TURNS
    assert {one["max_tokens"] for one in seen} == {8192}
    assert all("temperature" not in one and "seed" not in one for one in seen)
    for number, one in enumerate(played(out)):
        assert one["incident"] == f"{TASK}/test/{number}"
        kinds = [action["action_type"] for action in one["actions"]]
        assert kinds == ["request_more_logs", "malformed", "resolve"]
        counts = ("requests", "prompt_tokens", "completion_tokens", "cut_off", "retries")
        assert [one[name] for name in counts] == [TURNS, 10 * TURNS, 3 * TURNS, 0, 0]
    told = done.stderr.splitlines()
    asked = "18 requests, 180 + 54 tokens"
    assert f"openai:m: {asked}, 0 sent again, 0 replies cut off" in told
    last = told[-1].partition(": ")[2]
    program, *rest = shlex.split(last)
    assert (program, rest) == ("logtriage", ["replay", str(out), "--open"])
    assert logtriage(*rest[:-1]).exit_code == 0
    assert (out / "replay.html").exists()
    (row,) = json.loads((out / "summary.json").read_text("utf-8"))["rows"]
    assert row["usage"]["requests"] == 18


def test_what_fails_later_is_unscored_and_played_again_when_asked_to(tmp_path: Path) -> None:
    broken = True

    def handler(body: dict[str, Any]) -> tuple[int, bytes]:
        if broken and turn_of(body) == 1:
            return 500, b"{}"
        return scripted(body)

    with server(handler) as (url, _):
        given = words("--retries", 0, "--concurrency", 2, "--out", tmp_path, url=url)
        done = logtriage(*given)
        assert done.exit_code == 1
        assert "unscored: 6 episodes; --retry-unscored plays them again" in done.stderr
        assert {one["status"][:20] for one in played(tmp_path)} == {"error: <m at http://"}
        broken = False
        assert logtriage(*given).exit_code == 1  # kept as they are
        assert logtriage(*given, "--retry-unscored").exit_code == 0
    assert {one["status"] for one in played(tmp_path)} == {"completed"}


UNREACHABLE = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("answer", "more", "said"),
    [
        (None, (), "APIConnectionError: Connection error. ([Errno 111] Connection refused)"),
        ((401, b'{"error": {"message": "who are you?"}}'), (), "who are you?"),
        ((404, b"{}"), (), "(does the address end in /v1, and is this the model's name there?)"),
        ((400, b"{}"), ("--reply", "tools"), "(a server that takes no tools needs --reply json)"),
        ((200, b"<html>"), (), "the answer is no chat completion"),
    ],
    ids=["unreachable", "no key", "no such model", "no tools", "a page"],
)
def test_an_endpoint_that_never_answered_ends_the_run(
    answer: tuple[int, bytes] | None, more: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with server(lambda _: answer or (200, b"")) as (url, _):
        where = UNREACHABLE if answer is None else url
        given = words("--retries", 0, "--out", tmp_path / "run", *more, url=where)
        done = logtriage(*given)
    assert done.exit_code == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: <m at http://127.0.0.1:")
    assert said in last
    assert played(tmp_path / "run") == []  # nobody is blamed; the same command may try again


def test_replies_that_were_cut_off_are_told_and_fail_the_run(tmp_path: Path) -> None:
    cut = completion(None, reasoning_content="Let me think").replace(b'"stop"', b'"length"')
    with server(lambda _: (200, cut)) as (url, _):
        done = logtriage(*words("--max-tokens", 50, "--out", tmp_path, url=url, episodes=1))
    assert done.exit_code == 1
    assert "100% of its 15 replies were cut off at the limit, most likely" in done.stderr
    assert "Raise --max-tokens, or turn its thinking off." in done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["rows"][0]["usage"]["cut_off"] == 15


def test_a_killed_run_asks_for_no_finished_episode_again(tmp_path: Path) -> None:
    """The first episode hangs while others finish; then the process dies."""
    screens = {_first_screen(number): number for number in range(6)}
    process: subprocess.Popen[str] | None = None
    killed, asked = Event(), Counter[int]()

    def handler(body: dict[str, Any]) -> tuple[int, bytes]:
        number = screens[body["messages"][1]["content"]]
        asked[number] += 1
        if not killed.is_set():
            if number == 0:
                killed.wait(60)
            elif number == 3 and process is not None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                killed.set()
        return scripted(body)

    with server(handler) as (url, _):
        given = words("--concurrency", 2, "--out", tmp_path, url=url)
        process = subprocess.Popen(
            command(*given), text=True, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
        )
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        assert {one["incident"] for one in played(tmp_path)} == {
            f"{TASK}/test/{number}" for number in (1, 2)
        }
        assert asked == {0: 1, 1: TURNS, 2: TURNS, 3: 1}
        asked.clear()
        done = logtriage(*given)
    assert done.exit_code == 0, done.output
    assert asked == dict.fromkeys((0, 3, 4, 5), TURNS)
    assert [one["incident"] for one in played(tmp_path)] == [
        f"{TASK}/test/{number}" for number in range(6)
    ]
    assert "openai:m: 18 requests" in done.stderr  # those of both processes


def _first_screen(number: int) -> str:
    from logtriage.adapters.episode import Episode

    incident = make_incident(f"{TASK}/test/{number}")
    rules, screen = Episode(incident, "json").prompt
    assert rules["content"] == system_prompt(incident)
    return screen["content"]


def heed_interrupts() -> None:
    """What a shell starts in the background ignores interrupts, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    process: subprocess.Popen[str] | None = None
    hold = Event()

    def handler(body: dict[str, Any]) -> tuple[int, bytes]:
        if _number(body) == 2 and process is not None:
            process.send_signal(signal.SIGINT)
            hold.wait(60)  # nobody waits for this reply
        return scripted(body)

    screens = {_first_screen(number): number for number in range(6)}

    def _number(body: dict[str, Any]) -> int:
        return screens[body["messages"][1]["content"]]

    with server(handler) as (url, _):
        given = words("--concurrency", 1, "--out", tmp_path, url=url)
        process = subprocess.Popen(
            command(*given), text=True, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
        )
        _, said = process.communicate(timeout=120)
        hold.set()
    assert process.returncode == 130
    assert f"interrupted: 2 of 6 episodes are kept in {tmp_path}; the same command" in said
    assert {one["incident"] for one in played(tmp_path)} == {f"{TASK}/test/{one}" for one in (0, 1)}


def test_a_run_is_not_resumed_with_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(scripted) as (url, _):
        assert logtriage(*words("--out", tmp_path, url=url)).exit_code == 0
        other = logtriage(*words("--out", tmp_path, "--temperature", 1, url=url))
        assert other.exit_code == 2
        assert (
            f"policy 'openai:m' is \"base_url {url}, reply json, max_tokens 8192\"" in other.stderr
        )
        assert "max_tokens 8192, temperature 1.0" in other.stderr
        same = words("--out", tmp_path, "--retries", 5, "--timeout", 7, url=url)
        assert logtriage(*same).exit_code == 0
        monkeypatch.setenv("OPENAI_BASE_URL", url)  # the same address, from elsewhere
        assert logtriage(*(one for one in same if one not in ("--base-url", url))).exit_code == 0


@pytest.mark.parametrize(
    ("team", "roles"),
    [
        ("openai:m", {"triage", "escalation", "remediation"}),
        ("triage=expert,escalation=openai:m,remediation=expert", {"escalation"}),
    ],
)
def test_a_model_plays_roles_of_a_team(team: str, roles: set[str], tmp_path: Path) -> None:
    asked: set[str] = set()

    def handler(body: dict[str, Any]) -> tuple[int, bytes]:
        asked.add(role := body["messages"][0]["content"].split()[2])
        act = "" if role == "escalation" else '{"action_type": "wait"}'
        return 200, completion(f"{role}. {act}", reasoning_content="Hm.")

    with server(handler) as (url, seen):
        given = words("--split-roles", "trio", "--out", tmp_path, url=url, policy=team, episodes=2)
        done = logtriage(*given)
    assert done.exit_code == 0, done.output
    assert asked == roles
    assert "refused; the first: escalation: " in done.stderr
    run = load_run(tmp_path)
    (transcripts,) = run.transcripts.values()
    assert sum(one.extra["requests"] for one in transcripts) == len(seen)
    assert {one.role_split for one in transcripts} == {"trio"}
    for said, role in zip(words_of(transcripts[0]), cycle(TRIO.names), strict=False):
        assert (said or "").startswith(f"Hm.\n\n{role}.") == (role in roles)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["openai:"], "policy 'openai:': expected the name of a model after openai:"),
        (["openai:m", "--base-url", "127.0.0.1:8000"], "base_url: expected http:// or https://"),
        (["openai:m"], "no key: set OPENAI_API_KEY, or give a base_url of your own"),
        (["openai:m", "--base-url", UNREACHABLE, "--reply", "xml"], "reply must be one of tools"),
        (["openai:m", "--base-url", UNREACHABLE, "--extra-body", "[]"], "--extra-body: expected a"),
        (["openai:m", "--base-url", UNREACHABLE, "--concurrency", "0"], "concurrency must be at"),
        (["triage=openai:m", "--base-url", UNREACHABLE], "is a team: expected a role split"),
        (["expert", "--base-url", UNREACHABLE], "--base-url goes with a model behind an endpoint"),
        (["expert", "--extra-body", '{"a": 1}'], "--extra-body goes with a model"),
        (["expert", "--max-tokens", "7"], "--max-tokens goes with a model behind an endpoint"),
    ],
)
def test_wrong_usage_is_named(given: list[str], said: str, tmp_path: Path) -> None:
    done = logtriage("eval", *given, "--task", TASK, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (tmp_path / "run" / "run.json").exists()


def test_elsewhere_a_served_model_is_refused_with_the_way_to_it() -> None:
    done = logtriage("play", f"{TASK}/test/0", "--policy", "openai:m")
    assert done.exit_code == 2
    assert "logtriage eval plays a model" in done.stderr
