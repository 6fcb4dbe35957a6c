"""The library's own client, and what the pages say of the server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from openenv.core import GenericEnvClient
from typer.testing import CliRunner, Result

from logtriage.cli.app import app
from logtriage.grading import grade_actions
from logtriage.server import Settings, TriageObservation
from logtriage.server.connections import CONTROL_FRAMES, MAX_FRAMES
from logtriage.server.launch import HARD_LIMIT_FACTOR
from logtriage.server.messages import MAX_MESSAGE, MAX_VALUES
from tests.adapters.openenv.serving import Running, running

INCIDENT = "cascading_failure-v4/test/1464"
ROOT = Path(__file__).resolve().parents[3]


def test_the_generic_client_plays(server: Running) -> None:
    actions = [{"action_type": "escalate", "value": "sre-team"}, {"action_type": "resolve"}]
    with GenericEnvClient(server.http).sync() as env:
        assert env.reset(incident=INCIDENT).observation["horizon"] == 17
        assert env.step(actions[0]).reward == 0.25
        assert env.state()["step_count"] == 1
        result = env.step(actions[1])
        assert result.done
        assert result.observation["grade"]["digest"] == grade_actions(INCIDENT, actions).digest
        screen = env.reset(split="test", index=127).observation["screen"]
        assert screen == env.reset(incident="fleet_outage-v4/test/31").observation["screen"]


def cli(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(app, arguments, env=env)


def test_serve_says_what_is_wrong(tmp_path: Path) -> None:
    result = cli("serve", "--host", "0.0.0.0", LOGTRIAGE_TOKEN="")
    assert result.exit_code == 2
    assert "a token is needed" in result.stderr
    empty = tmp_path / "token"
    empty.write_text("\n")
    assert "empty" in cli("serve", "--token-file", str(empty)).stderr
    result = cli("serve", "--port", "99999")
    assert "port: expected a number" in result.stderr
    assert "Traceback" not in result.stderr
    assert "docs/server.md has a configuration for nginx" in " ".join(
        cli("serve", "--help").output.split()
    )


def test_the_start_beyond_loopback_names_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logtriage.server.serve", lambda *_: None, raising=False)
    told = [
        cli("serve", "--host", host, LOGTRIAGE_TOKEN="0123456789abcdef")
        for host in ("0.0.0.0", "::1")
    ]
    assert ["put a proxy in front" in " ".join(one.stderr.split()) for one in told] == [True, False]


def test_the_page_says_what_is_so() -> None:
    """Its Python runs against a real server, and it states the defaults of the code."""
    text = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    shared: dict[str, object] = {"__name__": "page"}
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    with running() as server:
        for block in blocks:
            exec(block.replace("http://127.0.0.1:8000", server.http), shared)
    flat, default = " ".join(text.split()), Settings()
    for stated in (
        f"| sessions, `--max-sessions` | {default.max_sessions} |",
        f"| {MAX_MESSAGE:,} bytes, {MAX_VALUES} values |",
        f"| {default.max_waiting}, for {default.request_seconds:g} s each |",
        f"| {MAX_FRAMES}; {CONTROL_FRAMES}, then one a second |",
        f"| {HARD_LIMIT_FACTOR} times the largest message |",
        f"| {default.idle_seconds:g} s | `IDLE_TIMEOUT`",
        f"| a ping after {default.ping_seconds:g} s, and {default.ping_seconds:g} s more",
        f"on http://{default.host}:{default.port}",
    ):
        assert stated in flat
    for name in {*TriageObservation.model_fields} - {"metadata"}:
        assert f"`{name}`" in flat


def test_the_example_runs(server: Running) -> None:
    for example in sorted((ROOT / "examples" / "server").glob("*.py")):
        done = subprocess.run(
            [sys.executable, str(example), server.http], check=False, capture_output=True,
            text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) >= 3
