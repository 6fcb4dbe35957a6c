"""What strangers send that no client of the library would, on sockets of their own."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from benchmarks.serving.attacks import _frame, broken
from logtriage.server import RemoteEnv
from logtriage.server.connections import SMALL_FRAMES_AT_ONCE, WebSocketConnection
from logtriage.server.launch import OTHER_CONNECTIONS
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


def text(message: dict[str, Any]) -> bytes:
    return _frame(1, json.dumps(message).encode())


def open_connections(server: Running) -> int:
    return len(server.server._doors)


# -- connections ---------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: loc"])
def test_half_a_request_is_timed_out(sent: bytes) -> None:
    with running(head_seconds=0.5) as own, wire(own, sent) as one:
        assert rest_of(one) == b""
        wait_for(lambda: open_connections(own) == 0)


def test_to_drip_does_not_help() -> None:
    with running(head_seconds=1.0) as own, wire(own, b"GET /health HTTP/1.1\r\n") as one:
        one.settimeout(0.05)
        for _ in range(400):
            try:
                one.sendall(b"X")
                if one.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("it was never cut")


def test_a_request_after_another_is_waited_for_as_long() -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(head_seconds=1.0) as own, wire(own, whole) as one:
        said = b""
        while b"healthy" not in said:
            said += one.recv(1 << 12)
        one.sendall(whole[:20])
        assert rest_of(one) == b""


def test_an_address_with_too_many_connections_keeps_nobody_out() -> None:
    with running(per_address=1, head_seconds=60.0) as own:
        most = 1 + OTHER_CONNECTIONS
        held = [socket.create_connection(("127.0.0.1", port_of(own)), 15) for _ in range(most + 30)]
        for one in held:
            with suppress(OSError):
                one.sendall(b"GET / HT")
        assert httpx.get(f"{own.http}/health", timeout=30).status_code == 200
        with RemoteEnv(own.http) as env:
            assert env.reset().tick == 0
        assert open_connections(own) <= most
        for one in held:
            one.close()
        wait_for(lambda: open_connections(own) == 0)


def test_a_session_is_no_half_request() -> None:
    with running(head_seconds=0.3) as own, RemoteEnv(own.http) as env:
        env.reset(incident=INCIDENT)
        time.sleep(1.5)
        assert env.step({"action_type": "request_more_logs"}).tick == 1


def test_a_client_that_takes_no_answers_gives_its_place_back() -> None:
    asked = text({"type": "reset", "data": {"incident": INCIDENT, "view": True}})
    with running(max_sessions=1, ping_seconds=1.0) as own, websocket(own) as one:
        one.settimeout(0.2)
        with suppress(TimeoutError, OSError):
            for _ in range(100_000):
                one.sendall(asked)
        wait_for(lambda: open_connections(own) == 0, 30.0)
        with RemoteEnv(own.http) as env:
            assert env.reset().tick == 0


@pytest.mark.parametrize(
    ("first", "frame"),
    [
        (b"", _frame(9, b"x")),
        (b"", _frame(10)),
        (_frame(1, last=False), _frame(0, last=False)),
    ],
    ids=["pings", "pongs", "empty fragments"],
)
def test_frames_without_a_message_are_bounded(server: Running, first: bytes, frame: bytes) -> None:
    with websocket(server, first) as one:
        with suppress(OSError):
            one.sendall(frame * 20 * SMALL_FRAMES_AT_ONCE)
        said = rest_of(one)
    assert said.endswith(b"too many frames without a message") or said == b""
    # A pong takes as many bytes as its ping did, less the mask: most were never answered.
    assert said.count(b"\x8a\x01x") <= 3 * SMALL_FRAMES_AT_ONCE


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


def test_whoever_sends_without_waiting_gives_way_after_each_message() -> None:
    said: list[str] = []

    async def main() -> None:
        connection = object.__new__(WebSocketConnection)
        connection.queue = asyncio.Queue()
        connection.read_paused, connection._unread = False, bytearray()
        for number in range(3):
            connection.queue.put_nowait({"type": "websocket.receive", "text": f"message {number}"})

        async def hasty() -> None:
            for _ in range(3):
                said.append((await connection.receive())["text"])

        async def other() -> None:
            for number in range(3):
                said.append(f"other {number}")
                await asyncio.sleep(0)

        await asyncio.gather(hasty(), other())

    asyncio.run(main())
    assert said == [f"{who} {number}" for number in range(3) for who in ("other", "message")]


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
            with pytest.raises(ServerError, match="MCP is off"):
                env._ask("mcp", asked)
            assert env.reset().tick == 0


def test_mcp_is_there_if_asked_for() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    with running(mcp=True) as own:
        told = httpx.post(f"{own.http}/mcp", json=asked).json()
        assert told["result"]["session_id"]
        bad = {**asked, "method": "tools/list", "params": {"session_id": []}}
        answer = httpx.post(f"{own.http}/mcp", json=bad)
        assert (answer.status_code, answer.json()) == (
            400,
            {"error": "params.session_id: expected a string"},
        )


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
def test_pages_of_other_origins_do_not_play(server: Running, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/reset"), ("GET", "/tasks"), ("POST", "/grader")):
        answer = httpx.request(method, f"{server.http}{path}", headers=headers)
        assert answer.status_code == 403
        assert next(iter(headers)) in answer.json()["error"]
    if "Origin" in headers:
        with pytest.raises(InvalidStatus, match="403"):
            connect(server.url, additional_headers=headers)
    own = {"Origin": server.http}
    assert httpx.post(f"{server.http}/reset", headers=own).status_code == 200
    with connect(server.url, additional_headers=own):
        pass


def test_with_a_token_the_name_of_the_host_does_not_matter() -> None:
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Host": "triage.example",
        "Origin": "https://triage.example",
    }
    with running(token=TOKEN) as own:
        assert httpx.post(f"{own.http}/reset", headers=headers).status_code == 200


def test_a_header_does_not_escape_the_rate() -> None:
    def codes(server: Running) -> set[int]:
        return {
            httpx.get(
                f"{server.http}/tasks", headers={"X-Forwarded-For": f"10.0.0.{n}"}
            ).status_code
            for n in range(6)
        }

    with running(rate=0.1) as own:
        assert codes(own) == {200, 429}
    with running(rate=0.1, proxies=("127.0.0.1",)) as own:
        assert codes(own) == {200}


def test_a_body_at_an_open_path_ends_the_connection(server: Running) -> None:
    head = b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"
    with wire(server, head + b"[" * 10_000) as one:
        said = rest_of(one)
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"/health takes no body" in said


def test_whatever_is_unknown_the_error_is_short(server: Running) -> None:
    keys = {f"{number:05}": number for number in range(2_000)}
    answers = [
        httpx.post(f"{server.http}{path}", json=body).text
        for path in PATHS
        for body in (keys, {"split": "test", "index": 1, **keys}, {"action": keys, "actions": keys})
    ]
    with connect(server.url) as connection:
        for kind in ("step", "reset", "state", "mcp", "nope", "x" * 20_000):
            connection.send(json.dumps({"type": kind, "data": keys}))
            answers.append(str(connection.recv(15)))
    assert max(map(len, answers)) < 1_000


def test_the_address_of_a_fork_is_that_of_its_episode() -> None:
    with running(forks=True, proxies=("127.0.0.1",), max_sessions=8) as own:

        def session(address: str) -> Any:
            return connect(own.url, additional_headers={"X-Forwarded-For": address})

        def ask(connection: Any, kind: str, **data: Any) -> dict[str, Any]:
            connection.send(json.dumps({"type": kind, **({"data": data} if data else {})}))
            answer: dict[str, Any] = json.loads(connection.recv(15))
            return answer

        with session("192.0.2.1") as one, session("192.0.2.2") as other:
            ask(one, "reset", incident=INCIDENT, episode_id="mine")
            handle = ask(one, "state")["data"]["fork"]
            for guess in ("mine", handle):
                refused = ask(other, "reset", fork=guess)
                assert refused["type"] == "error"
                assert "no open episode of yours" in refused["data"]["message"]
            with session("192.0.2.1") as again:
                assert ask(again, "reset", fork=handle)["type"] == "observation"


def test_episodes_without_cookies_do_not_hold_places() -> None:
    with running(max_sessions=3) as own:
        for number in range(10):
            begun = httpx.post(f"{own.http}/reset", json={"seed": number})
            assert begun.status_code == 200
            ended = {"action_type": "resolve", "session_id": begun.json()["session_id"]}
            assert httpx.post(f"{own.http}/step", json=ended).json()["done"]


BODIES = [
    b'{"split": "\\ud800"}',
    b'{"\\udfff": 1}',
    b'{"split": []}',
    b'{"split": {}, "index": {}}',
    b'{"split": "test", "index": 1e400}',
    b'{"split": 1e400}',
    b'{"incident": [], "actions": []}',
    b'{"incident": "cascading_failure-v3/test/42", "actions": [{"action_type": [], "value": {}}]}',
    b'{"session_id": ["x"]}',
    b'{"session_id": {}, "action": {"action_type": 1e400}}',
    b'{"task_id": {}, "task": []}',
    b'{"seed": [1], "episode_id": {}}',
    b'{"id": [], "jsonrpc": "2.0", "method": "tools/list", "params": {"session_id": []}}',
    b"[]",
    b"\xed\xa0\x80",
    b'{"a": ' * 5_000,
]
PATHS = [
    *("/reset", "/step", "/grader", "/mcp"),
    *(f"/logtriage/{one}" for one in ("task", "tasks", "num_tasks", "task_range")),
]


@pytest.mark.parametrize("path", PATHS)
def test_no_body_is_an_error_of_the_server(server: Running, path: str) -> None:
    with httpx.Client(base_url=server.http) as client:
        for method, sent in (*(("POST", body) for body in BODIES), ("GET", b""), ("PUT", b"{}")):
            answer = client.request(method, path, content=sent)
            assert answer.status_code < 500, (path, sent, answer.text)
        for query in ("session_id=%ED%A0%80", "task=%ED%A0%80", "seed=%00", "a[]=1"):
            assert client.post(f"{path}?{query}").status_code < 500


def test_broken_json_costs_its_tick_and_no_more(server: Running) -> None:
    with RemoteEnv(server.http) as env:
        env.reset(incident=INCIDENT)
        for size in (3_000, 6_000, 50_000):
            assert "broken JSON" in (env.step(broken(size)).error or "")
        assert env.state()["step_count"] == 3


def test_the_id_is_on_no_path_unless_the_reset_asked_for_it(server: Running) -> None:
    for show_id in (False, True):
        said = []
        named: dict[str, Any] = {"incident": INCIDENT, "show_id": show_id}
        with httpx.Client(base_url=server.http) as client, RemoteEnv(server.http) as env:
            said.append(client.post("/reset", json=named).text)
            said.append(str(env.reset(**named, view=True)))
            for action in ({"action_type": "request_more_logs"}, {"action_type": "resolve"}):
                said.append(client.post("/step", json=action).text)
                said.append(str(env.step(action)))
                said += [client.get("/state").text, client.post("/grader").text, str(env.state())]
        assert any(INCIDENT in one for one in said) is show_id


def test_an_end_of_the_connection_while_a_message_waits_ends_the_session() -> None:
    with running(rate=1.0) as own:
        with websocket(own, text({"type": "state"}) * 50):
            wait_for(lambda: open_connections(own) == 1)
        wait_for(lambda: open_connections(own) == 0)
        with suppress(ConnectionClosed), connect(own.url) as other:
            other.send('{"type": "state"}')
            assert json.loads(other.recv(15))["type"] == "state"
