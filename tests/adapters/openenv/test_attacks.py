"""What attackers do, and what others then still have."""

import asyncio
import gc
import itertools
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.serving import attacks
from benchmarks.serving.attacks import frame
from logtriage.errors import InvalidInput
from logtriage.server import Settings, TriageAction, environment
from logtriage.server.app import build_app
from logtriage.server.connections import CONTROL_FRAMES, MAX_FRAMES, MAX_REQUEST, SessionConnection
from logtriage.server.door import FairConfig
from logtriage.server.episode import Episode
from logtriage.server.launch import make_server, warm_up
from tests.adapters.openenv.serving import Running, ServerError, Session, running, wait_for

RESETS = tuple(itertools.islice(attacks._resets("fleet_outage-v4"), 300))
STATE = frame(b'{"type": "state"}')


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The incidents of the episodes that a server has begun."""
    listed: list[str] = []

    def count(incident: str, *arguments: Any, **named: Any) -> Episode:
        listed.append(incident)
        return Episode(incident, *arguments, **named)

    monkeypatch.setattr(environment, "Episode", count)
    return listed


def wait_for_the_end(connection: socket.socket) -> None:
    """Until the server ends a connection; an error if it never does."""
    connection.settimeout(15)
    with connection, suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass


@contextmanager
def logged() -> Iterator[list[logging.LogRecord]]:
    """What the server logs: uvicorn does not hand it on to the root."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield records
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def test_the_work_of_clients_that_have_gone_is_dropped(begun: list[str]) -> None:
    with running() as own:
        for _ in range(10):
            connection = attacks._session(own.port)
            connection.sendall(b"".join(RESETS))
            connection.close()
        with Session(own.http) as env:
            assert env.reset(incident="single_crash-v4/test/0").tick == 0
        wait_for(lambda: len(own.server.server_state.connections) == 0)
    # Each had a few: those that were answered before the connection was known to be lost.
    assert len(begun) < 10 * 10


def test_a_server_ends_whatever_is_still_wanted(begun: list[str]) -> None:
    with running() as own:
        held = [attacks._session(own.port) for _ in range(20)]
        for connection in held:
            connection.sendall(b"".join(RESETS))
        wait_for(lambda: bool(begun))
        assert httpx.get(f"{own.http}/health", timeout=15).status_code == 200
    assert not [one for one in threading.enumerate() if one.name.startswith("uvicorn")]
    assert own.server.server_state.tasks == set()
    assert len(begun) < 20 * len(RESETS) / 2
    for connection in held:
        connection.close()


def test_silent_connections_make_room_and_are_cut() -> None:
    with running(max_waiting=4, request_seconds=0.5) as own, logged() as records:
        silent = [attacks._connected(own.port) for _ in range(20)]
        silent[-1].sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ")
        with Session(own.http) as env:
            assert env.reset().tick == 0
            for connection in silent:
                wait_for_the_end(connection)
            assert not env.step({"action_type": "request_more_logs"}).done
    assert len([one for one in records if "take the place of older" in one.getMessage()]) == 1


def test_a_session_is_not_cut_as_a_silent_connection_is() -> None:
    with running(request_seconds=0.2) as own, Session(own.http) as env:
        for connection in [attacks._connected(own.port) for _ in range(3)]:
            wait_for_the_end(connection)
        assert env.reset().tick == 0


def test_more_sessions_than_open_files_are_refused_at_the_start() -> None:
    with pytest.raises(InvalidInput, match="max_sessions: the server would need 1000000"):
        make_server(Settings(max_sessions=10**9))


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (frame(b"", 9) * (2 * CONTROL_FRAMES), "pings and pongs"),
        (frame(b"", 10) * (2 * CONTROL_FRAMES), "pings and pongs"),
        (frame(b"x", last=False) + frame(b"x", 0, last=False) * MAX_FRAMES, "frames"),
    ],
)
def test_too_many_control_frames_or_fragments_end_a_session(
    server: Running, sent: bytes, told: str
) -> None:
    with connect(server.url) as connection:
        connection.socket.sendall(sent)
        with pytest.raises(ConnectionClosed, match=f"1008 .*{told}"):
            connection.recv(timeout=15)


def test_a_few_pings_and_fragments_are_welcome(server: Running) -> None:
    with connect(server.url) as connection:
        for _ in range(CONTROL_FRAMES // 2):
            assert connection.ping().wait(15)
        text = json.dumps({"type": "reset"})
        connection.send(text[at : at + 4] for at in range(0, len(text), 4))
        assert json.loads(connection.recv(timeout=15))["type"] == "observation"


def test_messages_sent_at_once_are_answered_in_order(server: Running) -> None:
    reset = b'{"type": "reset", "data": {"incident": "single_crash-v4/test/0"}}'
    step = b'{"type": "step", "data": {"action_type": "wait"}}'
    with connect(server.url) as connection:
        connection.socket.sendall(frame(reset) + frame(step) * 3 + STATE)
        answers = [json.loads(connection.recv(timeout=15))["data"] for _ in range(5)]
    assert [one["observation"]["tick"] for one in answers[:4]] == [0, 1, 2, 3]
    assert answers[4]["step_count"] == 3


def test_a_list_of_thousands_of_values_is_refused_before_it_is_read(server: Running) -> None:
    with Session(server.http) as env:
        env.reset()
        with pytest.raises(ServerError, match="message of 20003 values; at most 256"):
            env.ask("step", {"value": [1] * 20_000})
        assert env.state()["step_count"] == 0


def test_pages_are_computed_once_and_a_connection_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    computed = TriageAction.model_json_schema

    def count(*arguments: Any, **named: Any) -> dict[str, Any]:
        counted.append(1)
        return computed(*arguments, **named)

    monkeypatch.setattr(TriageAction, "model_json_schema", count)
    with running() as own:
        for _ in range(3):
            answer = httpx.get(f"{own.http}/schema")
            assert answer.headers["connection"] == "close"
            assert answer.json()["action"]["properties"].keys() >= {"action_type", "text"}
        assert httpx.get(f"{own.http}/nowhere").status_code == 404
        assert httpx.post(f"{own.http}/reset", json={"seed": 1}).status_code == 400
    assert len(counted) == 1


def test_a_request_is_read_to_a_limit(server: Running) -> None:
    body = b"x" * (MAX_REQUEST // 2)
    assert httpx.post(f"{server.http}/reset", content=body).status_code == 400
    with pytest.raises(httpx.TransportError):
        httpx.post(f"{server.http}/reset", content=body * 4)


def test_clients_that_break_off_leave_no_error_in_the_log() -> None:
    with running() as own, logged() as records:
        for sent in (b"".join(RESETS[:20]), STATE * 500, b"\0garbage", frame(b"x" * 60_000)[:900]):
            connection = attacks._session(own.port)
            connection.sendall(sent)
            connection.close()
        with Session(own.http) as env:
            env.reset()
        wait_for(lambda: len(own.server.server_state.connections) == 0)
    assert [one.getMessage() for one in records] == []


def test_an_answer_to_a_client_that_has_gone_is_dropped() -> None:
    """The library would answer the error with an error, and log both."""

    async def answer() -> None:
        config = FairConfig(build_app(Settings()), max_waiting=1, request_seconds=1.0)
        connection = SessionConnection(config, ServerState(), {})
        connection.disconnected = True
        await connection.send({"type": "websocket.send", "text": "{}"})

    asyncio.run(answer())


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_what_lives_as_long_as_the_server_is_kept_from_garbage_collection() -> None:
    before = gc.get_freeze_count()
    warm_up(Settings(tasks=["single_crash-v4"]))
    assert gc.get_freeze_count() > before + 10_000
