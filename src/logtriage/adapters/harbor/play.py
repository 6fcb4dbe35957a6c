"""The container ``triage`` of a Harbor task: plays one incident over HTTP, and records it.

    python -m logtriage.adapters.harbor.play INCIDENT RECORD [--host ADDRESS] [--port PORT]

``GET /`` answers with the screen. ``POST /`` plays a call, ``{"name": …, "arguments": {…}}``,
and answers with the next screen. Nothing else is answered: no grade, no reset.
"""

import argparse
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

from logtriage.actions import MAX_IMPACT
from logtriage.adapters.episode import Episode, answer
from logtriage.adapters.harbor.record import append, read_actions, read_incident
from logtriage.errors import InvalidInput
from logtriage.server.messages import read_object

#: The most bytes of a call.
LIMIT: Final = 65_536
#: The most values of a call: a report of an impact names services and pairs of them.
VALUES: Final = 8 * MAX_IMPACT
#: Seconds for the request of a client; others wait for it.
PATIENCE: Final = 10.0


class Table:
    """One episode for many requests; an action is recorded before its answer is sent."""

    def __init__(self, incident: Path, record: Path) -> None:
        self.episode = Episode(read_incident(incident))
        self._record = record
        record.parent.mkdir(parents=True, exist_ok=True)
        record.touch()
        for wire in read_actions(record):  # begun before this process was
            self.episode.act(wire)

    @property
    def screen(self) -> str:
        """The text that the agent reads now."""
        return answer(self.episode.incident, self.episode.actions)

    def call(self, body: bytes) -> str:
        """Play a call; returns the next screen."""
        called = read_object(body, LIMIT, VALUES)
        if not isinstance(called.get("name"), str):
            raise InvalidInput('expected {"name": "<tool>", "arguments": {…}}')
        ahead = self.episode.fork()
        turn = ahead.step({"role": "assistant", "tool_calls": [called]})
        for wire in turn.actions:
            append(self._record, wire)
        self.episode = ahead
        return turn.text


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server: "_Server"

    def do_GET(self) -> None:
        self._answer(200, self.server.table.screen)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > LIMIT:
            self._answer(400, f"a call has a Content-Length of at most {LIMIT} bytes")
            return
        try:
            self._answer(200, self.server.table.call(self.rfile.read(int(length))))
        except InvalidInput as error:
            self._answer(400, str(error))

    def _answer(self, status: int, text: str) -> None:
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


class _Server(HTTPServer):
    def __init__(self, address: tuple[str, int], table: Table) -> None:
        super().__init__(address, _Handler)
        self.table = table


def main(arguments: list[str] | None = None) -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(prog="logtriage.adapters.harbor.play")
    parser.add_argument("incident", type=Path)
    parser.add_argument("record", type=Path)
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args(arguments)
    table = Table(options.incident, options.record)
    with _Server((options.host, options.port), table) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
