"""Who may enter, how much, how fast; and that one client's nonsense is no one else's."""

import asyncio
import json

import httpx
import pytest
from websockets.sync.client import connect

from benchmarks.serving import faults
from benchmarks.serving.plans import plans
from tests.adapters.openenv.serving import Running, ServerError, Session, running

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
    assert rows["one session too many"].startswith("`CAPACITY_REACHED`")
    assert {"3 connections cut mid-episode", "3 clients frozen"} <= rows.keys()


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
