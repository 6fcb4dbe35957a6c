"""Who may enter, how much, how fast; and that one client's nonsense is no one else's."""

import json

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from logtriage.server.launch import MAX_MESSAGE
from tests.adapters.openenv.serving import Running, ServerError, Session, running, wait_for

TOKEN = "0123456789abcdef0123"


def test_messages_sent_at_once_are_answered_in_order(server: Running) -> None:
    messages = [{"type": "reset", "data": {"incident": "single_crash-v4/test/0"}}]
    messages += [{"type": "step", "data": {"action_type": "wait"}}] * 3 + [{"type": "state"}]
    with connect(server.url) as connection:
        for message in messages:
            connection.send(json.dumps(message))
        answers = [json.loads(connection.recv(timeout=15))["data"] for _ in messages]
    assert [one["observation"]["tick"] for one in answers[:4]] == [0, 1, 2, 3]
    assert answers[4]["step_count"] == 3


@pytest.mark.parametrize("sent", ["{", "[" * 60_000, '{"type": "explode"}', b"{}"])
def test_nonsense_gets_an_error_and_the_session_goes_on(server: Running, sent: str | bytes) -> None:
    with connect(server.url) as connection:
        for message in (sent, json.dumps({"type": "reset"})):
            connection.send(message)
        kinds = [json.loads(connection.recv(timeout=15))["type"] for _ in range(2)]
    assert kinds == ["error", "observation"]


def test_a_huge_message_ends_its_own_connection(server: Running) -> None:
    with Session(server.http) as env, connect(server.url) as connection:
        env.reset()
        connection.send("x" * (MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed, match="1009"):
            connection.recv(timeout=15)
        assert env.state()["step_count"] == 0


def test_sessions_beyond_the_limit_are_refused_until_a_place_is_free() -> None:
    with running(max_sessions=1) as own:
        with Session(own.http) as env, connect(own.url) as connection:
            env.reset()
            assert "CAPACITY_REACHED" in str(connection.recv(timeout=15))
        wait_for(lambda: not own.server.server_state.connections)
        with Session(own.http) as env:
            assert env.reset().tick == 0


def test_without_the_token_there_is_nothing_but_health() -> None:
    with running(token=TOKEN) as own:
        assert httpx.get(f"{own.http}/health").status_code == 200
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            for path in ("/schema", "/metadata", "/openapi.json", "/docs", "/state"):
                answer = httpx.get(f"{own.http}{path}", headers=given)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
        with pytest.raises(ServerError, match="needs a bearer token"):
            Session(own.http)
        with pytest.raises(ServerError, match="401"):
            Session(own.http, token="wrong")
        with Session(own.http, token=TOKEN) as env:
            assert env.reset().tick == 0


def test_a_silent_session_is_told_and_closed() -> None:
    with running(idle_seconds=0.4) as own, connect(own.url) as connection:
        data = json.loads(connection.recv(timeout=10))
        assert data["data"]["code"] == "IDLE_TIMEOUT"
        with pytest.raises(Exception, match="1001"):
            connection.recv(timeout=10)


def test_the_web_interface_is_off_unless_asked_for(server: Running) -> None:
    assert httpx.get(f"{server.http}/web").status_code == 404
