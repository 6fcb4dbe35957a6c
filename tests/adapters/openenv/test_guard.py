"""Who may enter, how much, how fast; and that one client's nonsense is no one else's."""

import asyncio
import json

import httpx
import pytest
from websockets.sync.client import connect

from benchmarks.serving import faults
from benchmarks.serving.plans import plans
from logtriage.errors import InvalidInput, MissingExtra
from logtriage.server import RemoteEnv, Settings
from logtriage.server.guard import Bucket
from logtriage.server.remote import ConnectionLost, ServerError
from tests.adapters.openenv.serving import Running, running

TOKEN = "0123456789abcdef0123"


def test_nonsense_gets_an_error_costs_nothing_and_leaves_others_alone(server: Running) -> None:
    rows = asyncio.run(faults.nonsense(server, plans(16, 1)))  # type: ignore[arg-type]
    assert len(rows) == len(faults.NONSENSE) + 1
    assert "all grades right" in rows[-1][1]


def test_a_huge_frame_ends_its_own_connection(server: Running) -> None:
    rows = asyncio.run(faults.frame_too_large(server))  # type: ignore[arg-type]
    assert "code 1009" in rows[0][1]


def test_places_of_clients_that_vanish_are_free_again_and_overflow_is_refused() -> None:
    rows = dict(asyncio.run(faults.vanishing(3, plans(1, 1)[0])))
    assert rows["one session too many from an address"].startswith("HTTP 503: this address has 3")
    assert {"3 connections cut mid-episode", "3 clients frozen"} <= rows.keys()


def test_sigterm_lets_running_episodes_finish() -> None:
    rows = dict(asyncio.run(faults.ending(6, plans(6, 1))))
    assert rows["SIGTERM with open episodes"] == "all 6 finished with the right grades"
    assert rows["a new session meanwhile"] == "HTTP 503"
    assert rows["the process"].endswith("exit code 0")


def test_without_the_token_there_is_nothing_but_health(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOGTRIAGE_TOKEN", raising=False)
    with running(token=TOKEN) as own:
        assert httpx.get(f"{own.http}/health").status_code == 200
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            for path in ("/schema", "/metadata", "/openapi.json", "/docs", "/state"):
                answer = httpx.get(f"{own.http}{path}", headers=given)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
        with pytest.raises(ServerError, match="needs a bearer token"):
            RemoteEnv(own.http)
        with pytest.raises(ServerError, match="401"):
            RemoteEnv(own.http, token="wrong")
        with RemoteEnv(own.http, token=TOKEN) as env:
            assert env.reset().tick == 0
        monkeypatch.setenv("LOGTRIAGE_TOKEN", TOKEN)
        with RemoteEnv(own.http) as env:
            assert env.reset().tick == 0


def test_too_many_requests_are_told_when_to_come_again() -> None:
    with running(rate=0.1) as own:
        answers = [httpx.get(f"{own.http}/metadata") for _ in range(12)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert late
        assert all(int(one.headers["retry-after"]) >= 1 for one in late)
        assert "requests a second" in late[0].json()["error"]


def test_messages_beyond_the_rate_are_late_and_none_is_lost() -> None:
    with running(rate=10) as own, RemoteEnv(own.http) as env:
        env.reset(incident="silent_degradation-v3/test/0")
        assert env.step({"action_type": "request_more_logs"}).tick == 1
        for _ in range(13):
            env.state()
        assert env.state()["step_count"] == 1


def test_a_silent_session_is_told_and_closed() -> None:
    with running(idle_seconds=0.4) as own, connect(own.url) as connection:
        data = json.loads(connection.recv(timeout=10))
        assert data["data"]["code"] == "IDLE_TIMEOUT"
        with pytest.raises(Exception, match="1001"):
            connection.recv(timeout=10)


def test_a_body_that_is_too_long_is_refused(server: Running) -> None:
    answer = httpx.post(f"{server.http}/step", content=b"x" * 70_000)
    assert answer.status_code == 413
    chunks = (b"x" * 10_000 for _ in range(10))
    assert httpx.post(f"{server.http}/step", content=chunks).status_code == 413


def test_the_web_interface_is_off_unless_asked_for(server: Running) -> None:
    assert httpx.get(f"{server.http}/web").status_code == 404


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ConnectionLost, match="no server answers"):
        RemoteEnv("http://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="expected an address"):
        RemoteEnv("localhost")


def test_other_machines_need_a_token() -> None:
    with pytest.raises(InvalidInput, match="a token is needed"):
        Settings(host="0.0.0.0")
    assert Settings(host="0.0.0.0", token=TOKEN).token == TOKEN
    assert TOKEN not in repr(Settings(token=TOKEN))
    assert MissingExtra("x", "openenv").extra == "openenv"


def test_a_bucket_gives_its_rate_and_saves_up_one_second() -> None:
    bucket = Bucket(10.0)
    start = bucket._at
    assert [bucket.take(start) for _ in range(10)] == [0.0] * 10
    assert bucket.take(start) == pytest.approx(0.1)
    assert bucket.take(start + 0.05) == pytest.approx(0.05)
    assert bucket.take(start + 0.11) == 0.0
    assert bucket.take(start + 0.12) > 0.0
    assert [bucket.take(start + 60) for _ in range(11)][-2:] == [0.0, pytest.approx(0.1)]
