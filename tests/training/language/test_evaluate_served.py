"""Models as users have them: behind a server, or in the roles of a team."""

import json
from pathlib import Path
from typing import Any

import pytest

from logtriage.parsing import action_from_wire
from logtriage.tasks import get_task
from tests.adapters.test_endpoint import completion, server
from tests.builders import SEVEN_SERVICES
from tests.training.language.models import TASK, acting_model, acting_tokenizer, save_acting
from training.evaluate import held_out
from training.evaluate.__main__ import main
from training.language.chat import Chat
from training.language.episodes import Decoding
from training.language.policy import reply_to


class Served:
    """A model behind the API of OpenAI: renders, generates and reads calls, for each request."""

    def __init__(self) -> None:
        self.model, self.chat = acting_model(SEED).eval(), Chat(acting_tokenizer())

    def __call__(self, body: dict[str, Any]) -> tuple[int, bytes]:
        assert body["tools"]
        ids = self.chat.opening([_rendered(one) for one in body["messages"]])
        decoding = Decoding(body["temperature"], max_new_tokens=body["max_tokens"])
        reply = reply_to(self.model, self.chat, ids, decoding.draws("", 0, 0), decoding)
        message = self.chat.read(reply, ids)
        for number, call in enumerate(message.get("tool_calls", ())):
            call["id"] = f"call_{number}"
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
        used = {"prompt_tokens": len(ids), "completion_tokens": len(reply)}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {**used, "total_tokens": sum(used.values())},
        }
        return 200, json.dumps(answer).encode()


def _rendered(message: dict[str, Any]) -> dict[str, Any]:
    """A message as chat templates take it: arguments as objects."""
    calls = [
        {**call, "function": {**call["function"],
                              "arguments": json.loads(call["function"]["arguments"])}}
        for call in message.get("tool_calls", ())
    ]  # fmt: skip
    return {**message, "tool_calls": calls} if calls else message


def transcripts(out: Path) -> list[dict[str, Any]]:
    (file,) = (out / "transcripts").iterdir()
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


#: Its likeliest replies are several kinds of action.
SEED = 3
GIVEN = ["--task", TASK, "--episodes", "2", "--baselines", "", "--max-new-tokens", "2"]


def test_behind_a_server_a_model_plays_as_it_does_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    here = held_out(acting_model(SEED), acting_tokenizer(), TASK, 2, max_new_tokens=2)
    with server(Served()) as (url, seen):
        options = ["--policy", "openai:acting", "--base-url", url, "--concurrency", "2"]
        assert main([*options, *GIVEN, "--output-dir", str(tmp_path)]) == 0
    there = transcripts(tmp_path)
    for one, graded in zip(there, here.grades, strict=True):
        # A call after the last tick is kept as well; it has no effect.
        assert tuple(_actions(one["actions"])[: len(graded.actions)]) == graded.actions
    kinds = {action["action_type"] for one in there for action in one["actions"]}
    assert len(kinds - {"malformed"}) > 1  # they are real actions, and not all alike
    how = json.loads((tmp_path / "results.json").read_text("utf-8"))["agents"][0]["how"]
    assert how["requests"] == len(seen)
    assert how["completion_tokens"] >= len(seen)


def _actions(wires: Any) -> list[Any]:
    return [action_from_wire(wire, SEVEN_SERVICES) for wire in wires]


def test_one_model_plays_every_role_of_a_team(tmp_path: Path) -> None:
    model = save_acting(tmp_path / "model")
    out = tmp_path / "out"
    options = ["--policy", f"hf:{model}", "--split-roles", "trio", "--output-dir", str(out)]
    main([*options, *GIVEN])
    for one in transcripts(out):
        assert one["status"] == "completed"
        assert one["requests"] in range(len(one["actions"]), len(one["actions"]) + 3)
        assert one["role_split"] == "trio"
        ticks = one["ticks"]
        last = ticks[-1]  # in which the incident may be closed before all have acted
        assert all(ticks.count(tick) == 3 for tick in range(last))


def test_replies_of_a_team_that_are_cut_off_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it says in a role is its likeliest token and, if there is room, the end."""
    model = save_acting(tmp_path / "model")
    options = ["--policy", f"hf:{model}", "--split-roles", "duo", *GIVEN[:-2]]
    assert main([*options, "--max-new-tokens", "1", "--output-dir", str(tmp_path / "short")]) == 1
    played = transcripts(tmp_path / "short")
    replies = sum(one["requests"] for one in played)
    assert sum(one["cut_off"] for one in played) == replies > 0
    assert f"100% of its {replies} replies were cut off" in capsys.readouterr().err
    results = json.loads((tmp_path / "short" / "results.json").read_text("utf-8"))
    assert results["agents"][0]["all"]["cut_off"] == 1.0


def test_a_model_plays_one_role_among_scripted_ones(tmp_path: Path) -> None:
    """Its screens are those of its role; the others act as they do without it."""
    out = tmp_path / "out"
    asked: list[str] = []

    def handler(request: dict[str, Any]) -> tuple[int, bytes]:
        asked.extend(one["content"] for one in request["messages"] if one["role"] == "system")
        return 200, completion('{"action_type": "wait"}')

    team = "triage=expert,escalation=model,remediation=expert"
    with server(handler) as (url, _):
        options = ["--policy", "openai:one", "--base-url", url, "--concurrency", "1"]
        roles = ["--split-roles", "trio", "--team", team, "--output-dir", str(out)]
        assert main([*options, *GIVEN, *roles]) == 0
    assert asked
    assert all(one.startswith("You are escalation in a team of 3") for one in asked)
    for one in transcripts(out):
        assert {action["action_type"] for action in one["actions"][1::3]} == {"wait"}
        assert {action["action_type"] for action in one["actions"]} > {"wait", "classify_severity"}
    results = json.loads((out / "results.json").read_text("utf-8"))
    assert results["agents"][0]["how"]["team"] == team


def test_whether_a_model_heeds_what_it_is_told_is_measured_by_role(tmp_path: Path) -> None:
    """It waits until somebody reports something, and then asks for lines."""
    out = tmp_path / "out"

    def handler(request: dict[str, Any]) -> tuple[int, bytes]:
        told = ", triage: " in request["messages"][-1]["content"]
        words = {"action_type": "request_more_logs", "service": "user-db"}
        return 200, completion(json.dumps(words if told else {"action_type": "wait"}))

    team = "triage=observer,escalation=model,remediation=observer"
    with server(handler) as (url, _):
        options = ["--policy", "openai:one", "--base-url", url, "--listening"]
        roles = ["--split-roles", "trio", "--team", team, "--output-dir", str(out)]
        assert main([*options, *GIVEN, *roles]) == 0
    results = json.loads((out / "results.json").read_text("utf-8"))
    (task,) = results["tasks"]
    heeded = results["agents"][0]["tasks"][task]["listening"]
    assert set(heeded) == {"triage", "escalation", "remediation"}
    model = heeded["escalation"]
    assert model["heard"] == model["asked_twice"] > 0
    assert model["wavered"] == 0
    assert 0 < model["changed"] <= model["heard"]
    row = f"| {task} | openai:one | escalation | {model['heard']} | "
    assert row in (out / "results.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "openai:one"], "expected split_roles"),
        (
            ["--policy", "hf:model", "--split-roles", "trio", "--temperature", "0.5"],
            "expected temperature 0 with hf:, got 0.5",
        ),
        (
            [
                "--policy",
                "openai:one",
                "--before",
                "hf:model",
                "--split-roles",
                "trio",
                "--temperature",
                "0.5",
            ],
            "expected temperature 0 with hf:, got 0.5",
        ),
    ],
)
def test_listening_that_could_not_be_measured_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    with pytest.raises(SystemExit):
        main([*options, *GIVEN, "--listening", "--output-dir", str(tmp_path / "out")])
    assert words in capsys.readouterr().err


def test_replies_that_are_cut_off_are_a_column_and_many_of_them_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model that thinks until the limit: its zeros are not taken for its figures."""
    answers = [completion(None).replace(b'"stop"', b'"length"'), completion("Hm.")]

    def given(share: int) -> tuple[int, str, dict[str, Any]]:
        asked = 0

        def handler(_: dict[str, Any]) -> tuple[int, bytes]:
            nonlocal asked
            asked += 1
            return 200, answers[0] if asked % share == 0 else answers[1]

        with server(handler) as (url, seen):
            out = tmp_path / str(share)
            options = ["--policy", "openai:thinker", "--base-url", url, "--concurrency", "1"]
            body = ["--extra-body", '{"reasoning": {"effort": "low"}}', "--output-dir", str(out)]
            code = main([*options, *GIVEN[:-2], *body])
        assert {str(one["reasoning"]) for one in seen} == {"{'effort': 'low'}"}
        assert {one["max_tokens"] for one in seen} == {8192}
        return code, capsys.readouterr().err, json.loads((out / "results.json").read_text("utf-8"))

    replies = 2 * get_task(TASK).horizon  # none is a call, so that each costs a tick
    code, said, results = given(2)
    assert code == 1
    assert f"50% of its {replies} replies were cut off" in said.replace("\n", " ")
    assert results["agents"][0]["all"]["cut_off"] == 0.5
    assert "| cut off |" in (tmp_path / "2" / "results.md").read_text("utf-8")
    code, said, results = given(replies)
    assert (code, results["agents"][0]["tasks"][TASK]["cut_off"]) == (0, 1 / replies)
    assert "cut off" not in said


@pytest.mark.parametrize("text", ["[1]", "{", "3"])
def test_an_extra_body_that_is_no_object_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--policy", "openai:m", "--extra-body", text, "--output-dir", str(tmp_path)])
    assert "--extra-body: expected a JSON object" in capsys.readouterr().err
