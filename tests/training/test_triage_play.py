"""A model on log lines of one's own."""

from pathlib import Path

import pytest

from logtriage.rendering import system_prompt
from logtriage.topology import SEVEN_SERVICES
from tests.adapters.trl.tiny import tiny_tokenizer
from tests.training.scripted import Scripted
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
        (["--policy", "expert", "--logs", str(tmp_path / "none")], "cannot be read"),
    ):
        with pytest.raises(SystemExit):
            program.main(options)
        assert message in capsys.readouterr().err
