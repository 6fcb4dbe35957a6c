"""The command ``logtriage mcp`` as a process, and its clients."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from logtriage.evaluation import LoadedRun, load_run

#: The arguments of a small run.
SMALL = ("--task", "single_crash-v4", "--episodes", "2")
_SERVE = ("-m", "logtriage", "mcp")


@asynccontextmanager
async def over_stdio(out: Path, *more: str) -> AsyncIterator[ClientSession]:
    """A session with a server of its own, which the client has started."""
    arguments = [*_SERVE, *(more or SMALL), "--out", str(out)]
    with Path(os.devnull).open("w") as quiet:
        async with (
            stdio_client(
                StdioServerParameters(command=sys.executable, args=arguments), quiet
            ) as to,
            ClientSession(*to) as session,
        ):
            await session.initialize()
            yield session


@asynccontextmanager
async def over_http(url: str, token: str | None = None) -> AsyncIterator[ClientSession]:
    """A session with a server at a URL."""
    headers = None if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        streamablehttp_client(url, headers) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as session,
    ):
        await session.initialize()
        yield session


@contextmanager
def serving(out: Path, *more: str) -> Iterator[list[str]]:
    """A server over HTTP on a free port: the URLs that it says."""
    arguments = [*_SERVE, "--http", "--port", "0", "--out", str(out), *more]
    process = subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    urls: list[str] = []
    try:
        for line in process.stderr:
            urls.append(line.rstrip().removeprefix("serving on "))
            assert urls[-1].startswith("http://127.0.0.1:"), line
            if "--role" not in more or len(urls) == more.count("--role"):
                break
        yield urls
    finally:
        process.terminate()
        process.communicate(timeout=30)


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Until the condition holds; an error if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


async def call(session: ClientSession, tool: str, **arguments: Any) -> str:
    """What an agent reads after a call."""
    result = await session.call_tool(tool, arguments)
    (block,) = result.content
    return str(getattr(block, "text", None))


def played(out: Path) -> list[tuple[str, list[str], float | None]]:
    """Of each episode of a run: its number, the kinds of its actions, and its score."""
    run: LoadedRun = load_run(out)
    return [
        (
            transcript.incident.rpartition("/")[2],
            [str(wire["action_type"]) for wire in transcript.actions],
            grade.score,
        )
        for key in run.grades
        for transcript, grade in zip(run.transcripts[key], run.grades[key], strict=True)
    ]


def rpc(method: str, **params: Any) -> str:
    """A request of JSON-RPC as text."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
