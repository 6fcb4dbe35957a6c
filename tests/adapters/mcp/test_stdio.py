"""``logtriage mcp`` over stdin and stdout, with the client of the official SDK."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from logtriage import make_incident
from logtriage.adapters.mcp import USAGE
from logtriage.conversations.tools import tools_of
from logtriage.evaluation import load_run
from logtriage.evaluation.usage import Usage, usage_in
from tests.adapters.mcp.serving import SMALL, call, over_stdio, played


def test_an_agent_plays_a_run_by_its_tools(tmp_path: Path) -> None:
    async def play() -> list[str]:
        async with over_stdio(tmp_path) as session:
            offered = (await session.list_tools()).tools
            wanted = tools_of(make_incident("single_crash-v4/test/0"))
            assert {tool.name: tool.inputSchema for tool in offered[1:]} == {
                tool.name: tool.json_schema() for tool in wanted
            }
            meta = {USAGE: {"prompt_tokens": 50, "completion_tokens": 5}}
            read = [await call(session, "next_incident")]
            await session.call_tool("request_metrics", {"service": "user-db"}, meta=meta)
            wrong = await session.call_tool("remediate", {"remedy": 3}, meta={USAGE: "many"})
            assert not wrong.isError
            read.append(getattr(wrong.content[0], "text", ""))
            for tool in ("hand_over", "next_incident", "ignore", "next_incident"):
                read.append(await call(session, tool))
            return read

    read = asyncio.run(play())
    assert "not understood: remediate wants the strings remedy and service" in read[1]
    assert read[-1].startswith("All incidents are done")
    assert not any(str(tmp_path) in text or "/test/" in text for text in read)
    assert [row[:2] for row in played(tmp_path)] == [
        ("0", ["request_metrics", "malformed", "hand_over"]),
        ("1", ["ignore"]),
    ]
    ((first, _),) = load_run(tmp_path).transcripts.values()
    assert usage_in(first.extra) == Usage(1, 50, 5)
    assert first.extra["seconds"] > 0


class Bare:
    """A server process that is spoken to line by line, so that its end is the test's to choose."""

    def __init__(self, out: Path) -> None:
        command = [sys.executable, "-m", "logtriage", "mcp", *SMALL, "--out", str(out)]
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        self.ask("initialize", **about, clientInfo={"name": "me", "version": "1"})
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: str) -> str:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def ask(self, method: str, **params: object) -> str:
        self._say({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=30)
        return self.process.returncode

    def _say(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(message)}\n")
        self.process.stdin.flush()


def test_a_killed_server_loses_no_action_and_its_run_goes_on(tmp_path: Path) -> None:
    first = Bare(tmp_path)
    first.call("next_incident")
    assert "TICK 1/15" in first.call("request_metrics", service="user-db")
    first.end(signal.SIGKILL)
    second = Bare(tmp_path)
    assert "TICK 0/15" in second.call("next_incident")
    assert "All incidents are done" in second.call("hand_over")
    second.end(signal.SIGKILL)
    kept, after = played(tmp_path)
    assert kept == ("0", ["request_metrics"], None)
    assert after[:2] == ("1", ["hand_over"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_the_incident_as_it_stands(tmp_path: Path, number: signal.Signals) -> None:
    server = Bare(tmp_path)
    server.call("next_incident")
    assert server.end(number) == 0
    ((place, kinds, score),) = played(tmp_path)
    assert (place, kinds) == ("0", [])
    assert score is not None


def test_a_second_server_in_a_directory_is_refused(tmp_path: Path) -> None:
    async def twice() -> str:
        async with over_stdio(tmp_path):
            command = [sys.executable, "-m", "logtriage", "mcp", *SMALL, "--out", str(tmp_path)]
            done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (2, "")
            return done.stderr

    assert "another process evaluates here" in asyncio.run(twice())
