"""A model on log lines of one's own."""

from pathlib import Path
from typing import Any

import pytest

from logtriage.rendering import system_prompt
from tests.adapters.test_endpoint import completion, server
from tests.adapters.trl.tiny import tiny_tokenizer
from tests.builders import SEVEN_SERVICES
from tests.training.language.models import save_acting
from tests.training.language.scripted import Scripted
from tests.training.language.test_language_thinking import (
    NO_THOUGHT,
    random_qwen3,
    thinking_tokenizer,
)
from training.language.chat import Chat
from training.language.episodes import Decoding
from training.language.policy import ModelPolicy
from training.triage import __main__ as program
from training.triage.incident import pasted_incident
from training.triage.lines import read_lines

LOGS = """12:00:00 INFO api-gateway: fine
12:00:01 ERROR user-db: deadlock
this is no line
12:00:02 WARN stranger: hello
"""


def test_the_screen_holds_the_lines_and_nothing_that_is_not_known() -> None:
    lines, _ = read_lines(LOGS)
    incident = pasted_incident(lines, SEVEN_SERVICES, 5)
    tokenizer = tiny_tokenizer()
    model = Scripted(tokenizer, {})
    replies = [
        ("request_more_logs", {"service": "user-db"}),
        ("escalate", {"team": "dba-team"}),
        ("remediate", {"remedy": "restart", "service": "user-db"}),
        ("resolve", {}),
    ]
    model.scripts = {"-1s ERROR user-db: deadlock": replies}
    rules = system_prompt(incident, "tools")
    policy = ModelPolicy(model, Chat(tokenizer), Decoding(), rules, incident.id)
    steps = list(program.played(incident, policy))
    assert len(steps) == len(replies)
    assert steps[-1][1].closing == "resolved"
    first, asked = (one.split("<|im_start|>user")[-1] for one in model.shown[:2])
    assert "0s WARN stranger: hello" in first
    for unknown in ("SLO", "HEALTH", "ALERTS", "DIRECTORY", "CHANGES"):
        assert unknown not in first
    requested = asked.split("REQUESTED LOGS:")[1].split("\nLOGS:")[0]
    assert requested.strip() == "-1s ERROR user-db: deadlock"


def test_replies_that_are_cut_off_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, model = tmp_path / "app.log", save_acting(tmp_path / "model")
    logs.write_text(LOGS, "utf-8")
    given = ["--model", str(model), "--logs", str(logs), "--max-actions", "3"]
    assert program.main([*given, "--max-new-tokens", "1"]) == 1
    assert f"hf:{model}: 100% of its 3 replies were cut off" in capsys.readouterr().err

    def handler(request: dict[str, Any]) -> tuple[int, bytes]:
        reason = b'"length"' if request["max_tokens"] == 9 else b'"stop"'
        return 200, completion("Hm.").replace(b'"stop"', reason)

    with server(handler) as (url, seen):
        asked = ["--policy", "openai:m", "--base-url", url, *given[2:]]
        assert program.main(asked) == 0
        assert "cut off" not in capsys.readouterr().err
        assert program.main([*asked, "--max-new-tokens", "9"]) == 1
    assert "openai:m: 100% of its 3 replies were cut off" in capsys.readouterr().err
    assert [one["max_tokens"] for one in seen] == [8192] * 3 + [9] * 3


@pytest.mark.parametrize(("thinking", "tokens"), [("as_is", 512), ("off", 512), ("on", 1024)])
def test_a_model_is_told_whether_to_think(thinking: str, tokens: int, tmp_path: Path) -> None:
    tokenizer = thinking_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    random_qwen3(tokenizer).save_pretrained(tmp_path)
    incident = pasted_incident(read_lines(LOGS)[0], SEVEN_SERVICES, 5)
    policy, _ = program.make_player(f"hf:{tmp_path}", incident, thinking=thinking)
    assert isinstance(policy, ModelPolicy)
    assert policy.decoding.max_new_tokens == tokens
    shown = tokenizer.decode(policy.chat.opening([{"role": "user", "content": "?"}]))
    assert shown.endswith(NO_THOUGHT) == (thinking == "off")


def test_the_program_names_what_it_cannot_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "app.log"
    logs.write_text(LOGS, "utf-8")
    assert program.main(["--policy", "constant:resolve", "--logs", str(logs)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "closed: resolved"
    assert "line 3 was not read: 'this is no line'" in err
    assert "stranger" in err
    for options, message in (
        (["--policy", "oracle", "--logs", str(logs)], "needs the truth"),
        (["--policy", "nobody", "--logs", str(logs)], "unknown policy"),
        (["--model", "./nowhere", "--logs", str(logs)], "no such directory"),
        (
            ["--model", "./nowhere", "--logs", str(logs), "--max-new-tokens", "0"],
            "max_new_tokens at least 1",
        ),
        (["--policy", "expert", "--logs", str(tmp_path / "none")], "cannot be read"),
    ):
        with pytest.raises(SystemExit):
            program.main(options)
        assert message in capsys.readouterr().err
