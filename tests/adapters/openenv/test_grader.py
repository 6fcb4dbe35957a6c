"""Lists of actions, graded without a session; and the paths that need a session."""

import httpx
import pytest

from logtriage.grading import grade_actions
from logtriage.server import RemoteEnv
from logtriage.server.public import OPEN_GRADE
from tests.adapters.openenv.serving import Running, running

INCIDENT = "cascading_failure-v3/test/42"


def test_a_list_of_actions_is_graded(server: Running) -> None:
    actions = [{"action_type": "escalate", "value": "sre-team"}, {"action_type": "resolve"}]
    url = f"{server.http}/grader"
    graded = httpx.post(url, json={"incident": INCIDENT, "actions": actions}).json()
    assert graded["digest"] == grade_actions(INCIDENT, actions).digest
    assert all(row["reason"] for row in graded["criteria"])
    still_open = httpx.post(url, json={"incident": INCIDENT, "actions": actions[:1]}).json()
    assert still_open.keys() == set(OPEN_GRADE)


def test_an_open_session_of_a_stranger_keeps_no_list_from_being_graded(server: Running) -> None:
    body = {"incident": INCIDENT, "actions": [{"action_type": "resolve"}]}
    with RemoteEnv(server.http) as env:
        env.reset(incident=INCIDENT)
        answer = httpx.post(f"{server.http}/grader", json=body)
    assert answer.status_code == 200
    assert answer.json()["digest"] == grade_actions(INCIDENT, body["actions"]).digest


def test_without_a_grader_there_is_none() -> None:
    with running(grader=False) as own:
        body = {"incident": INCIDENT, "actions": []}
        assert httpx.post(f"{own.http}/grader", json=body).status_code == 404


@pytest.mark.parametrize("method_and_path", ["POST /reset", "POST /step", "GET /state"])
def test_an_episode_needs_a_session(server: Running, method_and_path: str) -> None:
    method, path = method_and_path.split()
    answer = httpx.request(method, f"{server.http}{path}")
    assert answer.status_code == 400
    assert "connect to /ws" in answer.json()["error"]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "incident id '': expected"),
        (b'{"incident": "nope/test/1"}', "unknown task 'nope'"),
        (b'{"incident": "cascading_failure-v3/test/42"}', "actions: expected a list"),
        (b'{"incident": "cascading_failure-v3/test/42", "actions": [3]}', "actions[0]"),
        (b'{"foo": 1}', "foo: unknown field"),
        (b"[1]", "expected a JSON object"),
        (b'{"seed": NaN}', "NaN is not a JSON number"),
        (b"[" * 50_000, "nested too deep"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_with_the_reason(
    server: Running, sent: bytes, reason: str
) -> None:
    answer = httpx.post(f"{server.http}/grader", content=sent)
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
