"""A scripted model behind an OpenAI-compatible endpoint on this machine."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

#: From the messages and the tools of a request to the model's message; None: the server fails.
Model = Callable[[list[dict[str, Any]], list[dict[str, Any]]], dict[str, Any] | None]


@contextmanager
def serving(model: Model) -> Iterator[str]:
    """The base URL of the endpoint, while it is up."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = model(body["messages"], body.get("tools", []))
            if message is None:
                self.send_error(500, "the model is down")
                return
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            choice = {"index": 0, "finish_reason": reason, "message": message}
            reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
            data = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256  # as many as an evaluation asks at once

    server = Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def said(*calls: tuple[str, dict[str, Any] | str], text: str | None = None) -> dict[str, Any]:
    """A model's message: tool calls, or text."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, (name, given) in enumerate(calls)
        ]
    return message
