"""The original environment's paths, as its scripts use them."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from logtriage.grading import grade_actions
from logtriage.server import RemoteEnv
from logtriage.server.public import OPEN_GRADE
from logtriage.world.originals import ORIGINALS
from tests.adapters.openenv.serving import Running, running

#: What the original's own script sends for a perfect episode.
PERFECT = {
    "single_crash": ["P1", "payment-service", "restart:payment-service"],
    "cascading_failure": ["P1", "user-db", "kill-query:user-db"],
    "silent_degradation": ["P2", "payment-db", "flush-cache:payment-db"],
}
KINDS = ("classify_severity", "identify_root_cause", "remediate")


def scripted(task: str) -> list[dict[str, Any]]:
    rows = [
        {"action_type": kind, "value": value, "confidence": 0.9, "reasoning": "scripted"}
        for kind, value in zip(KINDS, PERFECT[task], strict=True)
    ]
    return [*rows, {"action_type": "resolve", "value": "resolved", "confidence": 1.0}]


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.http) as one:
        yield one


@pytest.mark.parametrize("task", ORIGINALS)
def test_a_script_of_the_original_plays_with_its_cookie_alone(
    client: httpx.Client, task: str
) -> None:
    seen = client.post("/reset", params={"task": task, "seed": 42}).json()
    assert seen["task_id"] == f"{task}-v0"
    assert {"logs", "system_state", "active_alerts", "cumulative_score", "done"} <= seen.keys()
    for action in scripted(task):
        assert not seen["done"]
        answer = client.post("/step", json=action)
        assert answer.status_code == 200
        seen = answer.json()
        assert seen["invalid_action_error"] is None
    assert seen["done"]
    told = client.post("/grader").json()
    assert told["score"] == grade_actions(f"{task}-v0/train/42", scripted(task)).score
    assert told["score"] > 0.9
    assert told["resolved"]
    assert sum(told["breakdown"].values()) == pytest.approx(told["score"], abs=0.01)
    assert (told["steps_taken"], told["max_steps"]) == (4, seen["observation"]["horizon"])


def test_clients_never_see_each_other(server: Running) -> None:
    with httpx.Client(base_url=server.http) as one, httpx.Client(base_url=server.http) as other:
        one.post("/reset", params={"task": "single_crash", "seed": 1})
        other.post("/reset", params={"task": "cascading_failure", "seed": 1})
        one.post("/step", json={"action_type": "classify_severity", "value": "P1"})
        assert one.get("/state").json()["task_id"] == "single_crash-v0"
        assert other.get("/state").json()["task_id"] == "cascading_failure-v0"
        assert other.get("/state").json()["actions_taken"] == []


@pytest.mark.parametrize("way", ["header", "query", "body"])
def test_a_session_may_be_named_in_every_way(server: Running, way: str) -> None:
    session = httpx.post(f"{server.http}/reset").json()["session_id"]
    action: dict[str, Any] = {"action_type": "classify_severity", "value": "P1"}
    headers, params = {}, {}
    if way == "header":
        headers["X-Session-Id"] = session
    elif way == "query":
        params["session_id"] = session
    else:
        action["session_id"] = session
    answer = httpx.post(f"{server.http}/step", json=action, headers=headers, params=params)
    assert answer.json()["step_count"] == 1


def test_without_a_session_there_is_no_episode(server: Running) -> None:
    for method, path in (("POST", "/step"), ("GET", "/state"), ("POST", "/grader")):
        answer = httpx.request(method, f"{server.http}{path}")
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("session_id: missing")
    answer = httpx.get(f"{server.http}/state", params={"session_id": "guessed"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("session_id: unknown")


def test_the_grade_of_an_open_episode_tells_nothing_but_the_score(client: httpx.Client) -> None:
    client.post("/reset", params={"task": "single_crash-v3", "seed": 5})
    client.post("/step", json={"action_type": "classify_severity", "value": "P1"})
    told = client.post("/grader").json()
    assert told["breakdown"] == {}
    assert told["grade"].keys() == set(OPEN_GRADE)
    assert told["score"] == client.get("/state").json()["cumulative_score"]


def test_a_list_of_actions_is_graded(server: Running) -> None:
    incident = "cascading_failure-v3/test/42"
    actions = [{"action_type": "escalate", "value": "sre-team"}, {"action_type": "resolve"}]
    url = f"{server.http}/grader"
    told = httpx.post(url, json={"incident": incident, "actions": actions}).json()
    assert told["grade"]["digest"] == grade_actions(incident, actions).digest
    assert all(row["reason"] for row in told["grade"]["criteria"])
    still_open = httpx.post(url, json={"incident": incident, "actions": actions[:1]}).json()
    assert still_open["grade"].keys() == set(OPEN_GRADE)
    for bad, told_of in (({"actions": 3}, "actions: expected"), ({"actions": [3]}, "actions[0]")):
        answer = httpx.post(url, json={"incident": incident, **bad})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(told_of)


def test_an_open_session_of_a_stranger_keeps_no_list_from_being_graded(server: Running) -> None:
    incident = "cascading_failure-v3/test/43"
    asked = {"incident": incident, "actions": [{"action_type": "resolve"}]}
    with httpx.Client(base_url=server.http) as one, RemoteEnv(server.http) as other:
        one.post("/reset", json={"incident": incident})
        other.reset(incident=incident)
        told = httpx.post(f"{server.http}/grader", json=asked)
    assert told.status_code == 200
    assert told.json()["grade"]["digest"] == grade_actions(incident, asked["actions"]).digest


def test_without_a_grader_there_is_none() -> None:
    with running(grader=False) as own, httpx.Client(base_url=own.http) as one:
        one.post("/reset")
        one.post("/step", json={"action_type": "resolve"})
        assert one.post("/grader").status_code == 404
        asked = {"incident": "cascading_failure-v3/test/42", "actions": []}
        assert one.post("/grader", json=asked).status_code == 404


def test_tasks_are_listed_with_the_original_ones_first(client: httpx.Client) -> None:
    tasks = client.get("/tasks").json()["tasks"]
    assert [one["id"] for one in tasks[:3]] == list(ORIGINALS)
    assert [one["max_steps"] for one in tasks[:3]] == [8, 12, 15]
    assert "cascading_failure-v3" in [one["id"] for one in tasks]


def test_openenv_bodies_are_understood(client: httpx.Client) -> None:
    body = {"task": "cascading_failure-v3", "split": "test", "index": 42, "episode_id": "mine"}
    seen = client.post("/reset", json=body).json()
    assert "TICK 0/14" in seen["observation"]["screen"]
    assert client.get("/state").json()["episode_id"] == "mine"
    seen = client.post("/step", json={"action": {"text": '{"action_type": "resolve"}'}}).json()
    assert seen["done"]
    assert seen["observation"]["grade"]["score"] == seen["cumulative_score"]
    bad = client.post("/step", json={"action": {"action_type": 3}})
    assert bad.status_code == 422
    assert bad.json()["error"].startswith("action_type:")


def test_nonsense_in_the_original_form_costs_a_tick(client: httpx.Client) -> None:
    client.post("/reset", params={"task": "single_crash", "seed": 1})
    seen = client.post("/step", json={"action_type": "escalate", "value": "ignore"}).json()
    assert "unknown team" in seen["invalid_action_error"]
    assert seen["step_count"] == 1


@pytest.mark.parametrize(
    ("path", "sent", "told"),
    [
        ("/reset?task=nope", b"", "unknown task 'nope'"),
        ("/reset?seed=x", b"", "seed: expected a whole number"),
        ("/reset?foo=1", b"", "foo: unknown field"),
        ("/reset", b"[1]", "expected a JSON object"),
        ("/reset", b'{"seed": NaN}', "NaN is not a JSON number"),
        ("/reset", b"[" * 500, "nested deeper"),
        ("/reset", b"\xff", "not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_told(
    client: httpx.Client, path: str, sent: bytes, told: str
) -> None:
    answer = client.post(path, content=sent)
    assert answer.status_code == 400
    assert told in answer.json()["error"]


def test_sessions_are_bounded_and_can_be_ended() -> None:
    with (
        running(max_sessions=3, per_address=2, proxies=("127.0.0.1",)) as own,
        httpx.Client(base_url=own.http) as one,
    ):
        one.post("/reset")
        httpx.post(f"{own.http}/reset")
        full = httpx.post(f"{own.http}/reset")
        assert full.status_code == 503
        assert "all 2 sessions that one address may have" in full.json()["error"]
        others = [
            httpx.post(f"{own.http}/reset", headers={"X-Forwarded-For": f"192.0.2.{n}"})
            for n in (1, 2)
        ]
        assert [answer.status_code for answer in others] == [200, 503]
        assert "all 3 sessions are in use" in others[1].json()["error"]
        assert one.post("/reset").status_code == 200  # its own place, once more
        assert one.delete("/session").status_code == 200
        assert httpx.post(f"{own.http}/reset").status_code == 200
