"""What strangers send that no client of the library would, on sockets of their own."""

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from logtriage.server import RemoteEnv
from logtriage.server.remote import ServerError
from tests.adapters.openenv.serving import Running, running, wait_for

INCIDENT = "cascading_failure-v3/test/42"
TOKEN = "0123456789abcdef0123"


def port_of(server: Running) -> int:
    return int(server.http.rpartition(":")[2])


@contextmanager
def wire(server: Running, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port_of(server)), 15) as one:
        one.sendall(sent)
        yield one


def rest_of(one: socket.socket) -> bytes:
    """All that comes until the other side ends it."""
    said = b""
    with suppress(ConnectionResetError):
        while more := one.recv(1 << 16):
            said += more
    return said


@contextmanager
def websocket(server: Running, sent: bytes = b"") -> Iterator[socket.socket]:
    """A connection after its handshake."""
    asked = (
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    with wire(server, asked.encode()) as one:
        said = b""
        while b"\r\n\r\n" not in said:
            said += one.recv(1)
        assert b" 101 " in said
        one.sendall(sent)
        yield one


def _frame(opcode: int, data: bytes = b"", *, last: bool = True) -> bytes:
    # Masked by zeros, which is as good a mask as any.
    size = len(data)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size)
    return bytes([opcode | (0x80 if last else 0)]) + length + b"\0\0\0\0" + data


def broken(size: int) -> str:
    """Objects within objects, none of which ends, with a key that looks like an action."""
    return ('{"a":1,"b":' * 200 + '{"action_type":"resolve",' * size)[:size]


def text(message: dict[str, Any]) -> bytes:
    return _frame(1, json.dumps(message).encode())


# -- connections ---------------------------------------------------------------------


def test_a_client_that_takes_no_answers_gives_its_place_back() -> None:
    asked = text({"type": "reset", "data": {"incident": INCIDENT}})
    with running(max_sessions=1, ping_seconds=1.0) as own, websocket(own) as one:
        one.settimeout(0.2)
        with suppress(TimeoutError, OSError):
            for _ in range(100_000):
                one.sendall(asked)
        wait_for(lambda: not own.server.server_state.connections, 30.0)
        with RemoteEnv(own.http) as env:
            assert env.reset().tick == 0


def test_a_message_in_fragments_is_one_message(server: Running) -> None:
    message = json.dumps({"type": "reset", "data": {"incident": INCIDENT}}).encode()
    pieces = [message[at : at + 7] for at in range(0, len(message), 7)]
    frames = [_frame(1, pieces[0], last=False)]
    frames += [_frame(0, one, last=False) for one in pieces[1:]]
    with websocket(server, b"".join(frames) + _frame(9) + _frame(0)) as one:
        one.settimeout(15)
        said = b""
        while b"TICK 0/14" not in said:
            said += one.recv(1 << 16)
    assert said.startswith(b"\x8a\0")  # the pong comes first


def test_many_messages_at_once_are_all_answered(server: Running) -> None:
    count = 700
    with websocket(server, text({"type": "state"}) * count) as one:
        one.settimeout(30)
        said = b""
        while said.count(b'"step_count"') < count:
            more = one.recv(1 << 16)
            assert more
            said += more
    assert said.count(b'"step_count"') == count


# -- what is asked -------------------------------------------------------------------


def test_no_place_is_taken_without_a_connection() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    with running(max_sessions=1) as own:
        for _ in range(3):
            told = httpx.post(f"{own.http}/mcp", json=asked).json()
            assert told["jsonrpc"] == "2.0"
            assert told["error"]["code"] == -32601
            assert "MCP is off" in told["error"]["message"]
        with pytest.raises(InvalidStatus, match="403"):
            connect(own.url.replace("/ws", "/mcp"))
        with RemoteEnv(own.http) as env:
            with pytest.raises(ServerError, match="type: 'mcp' is unknown"):
                env._ask("mcp", asked)
            assert env.reset().tick == 0


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
def test_pages_of_other_origins_do_not_play(server: Running, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/reset"), ("GET", "/metadata")):
        answer = httpx.request(method, f"{server.http}{path}", headers=headers)
        assert answer.status_code == 403
        assert next(iter(headers)) in answer.json()["error"]
    if "Origin" in headers:
        with pytest.raises(InvalidStatus, match="403"):
            connect(server.url, additional_headers=headers)
    own = {"Origin": server.http}
    assert httpx.get(f"{server.http}/metadata", headers=own).status_code == 200
    with connect(server.url, additional_headers=own):
        pass


def test_with_a_token_the_name_of_the_host_does_not_matter() -> None:
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Host": "triage.example",
        "Origin": "https://triage.example",
    }
    with running(token=TOKEN) as own:
        assert httpx.get(f"{own.http}/metadata", headers=headers).status_code == 200


def test_whatever_is_unknown_the_error_is_short(server: Running) -> None:
    keys = {f"{number:05}": number for number in range(2_000)}
    answers = [
        httpx.post(f"{server.http}{path}", json=body).text
        for path in PATHS
        for body in (keys, {"action": keys, "actions": keys})
    ]
    with connect(server.url) as connection:
        for kind in ("step", "reset", "state", "mcp", "nope", "x" * 20_000):
            connection.send(json.dumps({"type": kind, "data": keys}))
            answers.append(str(connection.recv(15)))
    assert max(map(len, answers)) < 1_000


BODIES = [
    b'{"split": "\\ud800"}',
    b'{"\\udfff": 1}',
    b'{"split": []}',
    b'{"split": {}, "index": {}}',
    b'{"split": "test", "index": 1e400}',
    b'{"split": 1e400}',
    b'{"incident": [], "actions": []}',
    b'{"incident": "cascading_failure-v3/test/42", "actions": [{"action_type": [], "value": {}}]}',
    b'{"id": [], "jsonrpc": "2.0", "method": "tools/list", "params": {"session_id": []}}',
    b"[]",
    b"\xed\xa0\x80",
    b'{"a": ' * 5_000,
]
PATHS = ["/reset", "/step", "/mcp", "/logtriage/task"]


@pytest.mark.parametrize("path", PATHS)
def test_no_body_is_an_error_of_the_server(server: Running, path: str) -> None:
    with httpx.Client(base_url=server.http) as client:
        for method, sent in (*(("POST", body) for body in BODIES), ("GET", b""), ("PUT", b"{}")):
            answer = client.request(method, path, content=sent)
            assert answer.status_code < 500, (path, sent, answer.text)
        for query in ("split=%ED%A0%80", "index=%00", "a[]=1"):
            assert client.post(f"{path}?{query}").status_code < 500


def test_broken_json_costs_its_tick_and_no_more(server: Running) -> None:
    with RemoteEnv(server.http) as env:
        env.reset(incident=INCIDENT)
        for size in (3_000, 6_000, 50_000):
            assert "broken JSON" in (env.step(broken(size)).error or "")
        assert env.state()["step_count"] == 3


def test_the_id_is_on_no_path(server: Running) -> None:
    with RemoteEnv(server.http) as env:
        texts = [str(env.reset(incident=INCIDENT))]
        for action in ({"action_type": "request_more_logs"}, {"action_type": "resolve"}):
            texts += [str(env.step(action)), str(env.state())]
    assert not any(INCIDENT in text for text in texts)
