"""A taskset of verifiers (v1) as a black box: a seed is a task, a step is a whole rollout.

What a model would say stands behind an endpoint on this machine; verifiers does all the rest.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from logtriage.adapters.strangers.answers import NOTHING
from logtriage.audit.blackbox import BlackBox, Shown
from logtriage.errors import MissingExtra

try:
    import verifiers.v1  # noqa: F401
except ModuleNotFoundError as error:
    if error.name not in ("verifiers", "verifiers.v1"):
        raise
    raise MissingExtra("logtriage audit --env verifiers:", "verifiers") from None

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

#: The variable that holds the endpoint's key; it wants none.
_KEY: Final = "LOGTRIAGE_NO_KEY"
_SAID: Final = ("1", "A", "yes", "I do not know.")


@contextmanager
def _speaking(said: Any, heard: list[list[Any]]) -> Iterator[str]:
    """An endpoint that gives one answer to everything, and keeps what it was asked."""
    message = {"role": "assistant", **({"content": said} if isinstance(said, str) else said)}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            heard.append(body["messages"])
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            reply = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "scripted",
                "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class VerifiersRollouts:
    """One instance: the rollouts of one task after another."""

    def __init__(self, taskset: str) -> None:
        self._taskset, self._task = taskset, 0

    def reset(self, seed: int) -> Shown:
        """Show what a model is asked first about the task of that number."""
        self._task = seed
        asked, trace = self._rollout("")
        return Shown({"messages": asked[0]}, beside={"task": _task_of(trace)})

    def step(self, action: Any) -> Shown:
        """Play the task to its end with one answer to everything."""
        asked, trace = self._rollout(action)
        return Shown({"messages": asked[-1]}, trace.reward, True, {"task": _task_of(trace)})

    def close(self) -> None:
        """Nothing is kept open."""

    def _rollout(self, said: Any) -> tuple[list[list[Any]], Any]:
        heard: list[list[Any]] = []
        with _speaking(said, heard) as url, tempfile.TemporaryDirectory() as folder:
            os.environ[_KEY] = "none"
            config = EvalConfig.model_validate(
                {
                    "env": {"taskset": {"id": self._taskset}},
                    "client": {"base_url": url, "api_key_var": _KEY},
                    "model": "scripted",
                    "select": {"skip": self._task, "limit": 1},
                    "push": False,  # nothing leaves this machine
                    "rich": None,
                    "output_dir": folder,
                }
            )
            (episode,) = asyncio.run(run_eval(config))
        trace = episode.traces[0]
        if not trace.ok:
            raise RuntimeError(str(trace.last_error))
        return heard, trace


def _task_of(trace: Any) -> Any:
    return trace.task.data.model_dump(mode="json")


def verifiers_box(name: str, taskset: str) -> BlackBox:
    """The black box of a taskset's id; importing it runs its code. Rewards are at most 1."""
    return BlackBox(name, lambda: VerifiersRollouts(taskset), _SAID, NOTHING, steps=1, best=1.0)
