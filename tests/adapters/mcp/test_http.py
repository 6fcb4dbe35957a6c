"""``logtriage mcp --http``: sessions apart, and what is refused."""

import asyncio
import logging
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest

from logtriage.adapters.mcp.http import MAX_BODY, _is_news
from tests.adapters.mcp.serving import SMALL, call, over_http, played, rpc, serving, wait_for

TOKEN = "0123456789abcdef"
INITIALIZE = rpc(
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "me", "version": "1"},
)


def send(url: str, body: str = INITIALIZE, **headers: str) -> HTTPResponse:
    """The answer to a request, which was read."""
    place = urlsplit(url)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = HTTPConnection(place.netloc, timeout=30)
    connection.request("POST", place.path, body, sent)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def post(url: str, body: str = INITIALIZE, **headers: str) -> int:
    """The status of the answer to a request."""
    return send(url, body, **headers).status


def begin(url: str) -> None:
    """Take an incident in a session that then says nothing more."""
    session = send(url).headers["mcp-session-id"]
    post(url, '{"jsonrpc": "2.0", "method": "notifications/initialized"}', mcp_session_id=session)
    called = rpc("tools/call", name="next_incident", arguments={})
    assert post(url, called, mcp_session_id=session) == 200


def test_sessions_play_apart(tmp_path: Path) -> None:
    async def play(url: str) -> str:
        async with over_http(url) as one, over_http(url) as other:
            await call(one, "next_incident")
            await call(other, "next_incident")
            await call(other, "ignore")
            await call(one, "request_metrics", service="user-db")
            return await call(other, "next_incident")

    with serving(tmp_path, *SMALL) as (url,):
        assert asyncio.run(play(url)).startswith("All incidents are done")
        wait_for(lambda: len(played(tmp_path)) == 2)  # a session that ends leaves its incident
    assert [row[1] for row in played(tmp_path)] == [["request_metrics"], ["ignore"]]


def test_a_server_that_ends_leaves_the_incident_as_it_stands(tmp_path: Path) -> None:
    with serving(tmp_path, *SMALL) as (url,):
        begin(url)
        assert played(tmp_path) == []
    ((_, kinds, score),) = played(tmp_path)
    assert kinds == []
    assert score is not None


def test_other_hosts_and_origins_and_sizes_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, *SMALL, "--max-sessions", "2") as (url,):
        assert post(url) == 200
        assert post(url, Host="evil.example") == 403
        assert post(url, Origin="http://evil.example") == 403
        assert post(url, Origin="null") == 403
        assert post(url, "x" * (MAX_BODY + 1)) == 413
        assert post(url, "{") == 400
        assert post(url, rpc("tools/list")) == 400  # no session, and none is made for it
        assert post(url, mcp_session_id="0" * 32) == 404
        assert post(f"{url}/other") == 404
        assert post(url) == 200
        assert post(url) == 503


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    async def tools(url: str) -> int:
        async with over_http(url, TOKEN) as session:
            return len((await session.list_tools()).tools)

    with serving(tmp_path, *SMALL, "--token", TOKEN) as (url,):
        assert post(url) == 401
        assert post(url, Authorization=f"Bearer {TOKEN}x") == 401
        assert post(url, Authorization=f"Bearer {TOKEN}", Host="evil.example") == 403
        assert asyncio.run(tools(url)) > 10


def test_an_idle_session_ends_and_leaves_its_incident(tmp_path: Path) -> None:
    with serving(tmp_path, "--idle-seconds", "0.3", *SMALL) as (url,):
        begin(url)
        wait_for(lambda: bool(played(tmp_path)))
        assert [row[1] for row in played(tmp_path)] == [[]]


def test_a_seat_with_a_name_outlives_its_sessions(tmp_path: Path) -> None:
    async def once(url: str, tool: str) -> str:
        async with over_http(url) as session:
            return await call(session, tool)

    with serving(tmp_path, *SMALL, "--max-sessions", "1") as (url,):
        for tool, wanted in (("next_incident", "TICK 0/"), ("resolve", "(resolved: ")):
            assert wanted in asyncio.run(once(f"{url}?seat=me", tool))
        other = asyncio.run(once(f"{url}?seat=other", "next_incident"))
        assert other == "there are 1 seats with a name already"
        asyncio.run(once(f"{url}?seat=me", "next_incident"))
    assert [row[1] for row in played(tmp_path)] == [["resolve"], []]


def test_each_role_of_a_team_has_a_path(tmp_path: Path) -> None:
    async def play(urls: list[str]) -> list[str]:
        async with over_http(urls[0]) as one, over_http(urls[1]) as other:
            for session in (one, other):
                await call(session, "next_incident")
            return await asyncio.gather(call(one, "wait"), call(other, "wait"))

    roles = ("--split-roles", "duo", "--role", "diagnosis", "--role", "action")
    with serving(tmp_path, *SMALL, *roles) as urls:
        assert [url.rpartition("/mcp/")[2] for url in urls] == ["diagnosis", "action"]
        assert [text[:6] for text in asyncio.run(play(urls))] == ["TICK 1"] * 2
    assert played(tmp_path)[0][1] == ["wait", "wait"]


@pytest.mark.parametrize(("error", "news"), [(anyio.ClosedResourceError, False), (OSError, True)])
def test_a_client_that_leaves_is_no_error(error: type[Exception], news: bool) -> None:
    said, raised = "Error in standalone SSE writer", (error, error(), None)
    assert _is_news(logging.LogRecord("mcp", logging.ERROR, "", 0, said, None, raised)) is news
