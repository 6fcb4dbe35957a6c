"""The library's own clients, and evaluation over a served environment."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from openenv.core import GenericEnvClient
from typer.testing import CliRunner, Result

from logtriage.cli.app import app
from logtriage.errors import LogTriageError
from logtriage.evaluation import RunSpec, evaluate, load_run
from logtriage.grading import grade_actions
from logtriage.server import LogTriageClient, RemoteRecorder, Served, Settings
from logtriage.server.catalogue import MAX_LISTED
from logtriage.server.launch import HARD_LIMIT_FACTOR
from logtriage.server.remote import ConnectionLost
from tests.adapters.openenv.serving import Running, running

INCIDENT = "cascading_failure-v3/test/42"
ROOT = Path(__file__).resolve().parents[3]


def test_the_typed_client_plays_asynchronously(server: Running) -> None:
    async def episode() -> Served:
        async with LogTriageClient(server.http) as env:
            result = await env.reset(incident=INCIDENT)
            assert isinstance(result.observation, Served)
            assert "TICK 0/14" in result.observation.screen
            result = await env.step('{"action_type": "escalate", "value": "sre-team"}')
            assert result.reward == 0.25
            assert (await env.state())["step_count"] == 1
            result = await env.step({"action_type": "resolve"})
            assert result.done
            served: Served = result.observation
            return served

    served = asyncio.run(episode())
    actions = [{"action_type": "escalate", "value": "sre-team"}, {"action_type": "resolve"}]
    assert served.grade is not None
    assert served.grade["digest"] == grade_actions(INCIDENT, actions).digest


def test_the_typed_client_plays_synchronously(server: Running) -> None:
    with LogTriageClient(server.http).sync() as env:
        shown = env.reset(split="test", index=127, show_id=True)
        assert shown.observation.incident == "fleet_outage-v3/test/31"
        assert env.step({"action_type": "ignore"}).observation.closing == "ignored"


def test_the_generic_client_plays(server: Running) -> None:
    with GenericEnvClient(server.http).sync() as env:
        assert env.reset(incident=INCIDENT).observation["horizon"] == 14
        assert env.step({"action_type": "resolve"}).done


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_evaluation_on_a_server_is_the_same_as_here(
    server: Running, tmp_path: Path, jobs: int
) -> None:
    policies = ["expert", "random:3", "first_error", "constant:classify_severity=P3,ignore"]
    spec = RunSpec(policies, ["silent_degradation-v3", "cascading_failure-v3"], "ood", 4)
    there = evaluate(spec, tmp_path / "there", jobs=jobs, recorder=RemoteRecorder(server.http))
    assert there == evaluate(spec, tmp_path / "here")
    for path in (tmp_path / "here" / "transcripts").iterdir():
        assert path.read_bytes() == (tmp_path / "there" / "transcripts" / path.name).read_bytes()


def test_a_policy_that_wants_the_truth_is_unscored(server: Running, tmp_path: Path) -> None:
    spec = RunSpec(["oracle"], ["single_crash-v3"], episodes=2)
    (row,) = evaluate(spec, tmp_path, recorder=RemoteRecorder(server.http))
    assert row.unscored == 2
    grades = load_run(tmp_path).grades["oracle", "single_crash-v3"]
    assert "the truth stays on the server" in str(grades[0].cause)


def test_a_server_of_another_version_is_found_out(
    server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from logtriage.server import remote

    def other(*_: object, **__: object) -> object:
        return grade_actions(INCIDENT, [])

    monkeypatch.setattr(remote, "grade_transcript", other)
    spec = RunSpec(["expert"], ["single_crash-v3"], episodes=1)
    with pytest.raises(LogTriageError, match="it runs another version"):
        evaluate(spec, tmp_path, recorder=RemoteRecorder(server.http))


def test_a_server_plays_single_agents_on_drawn_incidents() -> None:
    for given, told in (
        (("--task", "recorded"), "a server plays drawn incidents only"),
        (("--split-roles", "trio"), "a server plays single agents only"),
    ):
        refused = cli("eval", "expert", *given, "--env-url", "http://127.0.0.1:9")
        assert (refused.exit_code, told in refused.stderr) == (2, True)
    nobody = cli("eval", "expert", "--env-url", "http://127.0.0.1:9")
    assert (nobody.exit_code, "no server answers" in nobody.stderr) == (2, True)


def test_a_server_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    spec = RunSpec(["expert"], ["single_crash-v3"], episodes=1)
    with pytest.raises(ConnectionLost):
        evaluate(spec, tmp_path, recorder=RemoteRecorder("http://127.0.0.1:9"))


def cli(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(app, arguments, env=env)


def test_eval_takes_the_url_of_a_server(server: Running) -> None:
    asked = ("eval", "expert", "--task", "single_crash-v3", "--episodes", "3", "--json")
    there = cli(*asked, "--env-url", server.http)
    assert there.exit_code == 0, there.stderr
    assert json.loads(there.stdout) == json.loads(cli(*asked).stdout)
    assert cli("eval", "expert", "--env-url", "nowhere").exit_code == 2
    recorded = cli("eval", "expert", "--task", "recorded", "--env-url", server.http)
    assert recorded.exit_code == 2
    assert "drawn incidents only" in recorded.stderr


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


def test_the_page_says_what_is_so() -> None:
    """Its Python runs against a real server, and it states the defaults of the code."""
    text = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    shared: dict[str, object] = {"__name__": "page"}
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    with running() as server:
        for block in blocks:
            exec(block.replace("http://127.0.0.1:8000", server.http), shared)
    flat, default = " ".join(text.split()), Settings()
    for stated in (
        f"| sessions, `--max-sessions` | {default.max_sessions} |",
        f"| {default.max_message:,} bytes |",
        f"| {HARD_LIMIT_FACTOR} times the largest message |",
        f"| {default.rate:,.0f} messages a second on a connection, {default.rate:,.0f} requests",
        f"| {default.idle_seconds:g} s | `IDLE_TIMEOUT`",
        f"| a ping after {default.ping_seconds:g} s, and {default.ping_seconds:g} s more",
        f"| {default.drain_seconds:g} s | the connections end",
        f"`--per-address` | {default.per_address};",
        f"on http://{default.host}:{default.port}",
        f"(at most {MAX_LISTED:,} at a time)",
    ):
        assert stated in flat
    for name in Served.__annotations__:
        assert f"`{name}`" in flat


def test_the_example_runs(server: Running) -> None:
    for example in sorted((ROOT / "examples" / "server").glob("*.py")):
        done = subprocess.run(
            [sys.executable, str(example), server.http],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) >= 3
