"""NeMo Gym for real: its server's routes, sessions by its cookies, its metrics."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from nemo_gym.base_resources_server import ReverifyMode
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.server_utils import ServerClient

import logtriage as lt
from logtriage.adapters.nemo_gym import nemo_gym_rows
from logtriage.adapters.nemo_gym.server import (
    TriageServer,
    TriageServerConfig,
    TriageVerifyResponse,
)
from logtriage.conversations.tools import call_from_action
from logtriage.evaluation import play_episode
from logtriage.registry import make_policy

IDS = list(lt.incident_ids("single_crash-v3", "train", 3))


def triage_server() -> TriageServer:
    """The server, without the head server that a whole NeMo Gym would have."""
    config = TriageServerConfig(
        host="127.0.0.1", port=9, entrypoint="app.py", name="logtriage", domain="agent"
    )
    client = ServerClient.model_construct(head_server_config=None, global_config_dict={})
    return TriageServer.model_construct(config=config, server_client=client, _episodes={})


@pytest.fixture
def server() -> TriageServer:
    return triage_server()


def rollout(client: TestClient, row: dict[str, Any], policy: str) -> dict[str, Any]:
    """As the simple agent plays a row: seed, a call a step, and what it hands to /verify."""
    assert client.post("/seed_session", json=row).status_code == 200
    incident = lt.make_incident(row["incident"])
    output: list[dict[str, Any]] = []
    for n, action in enumerate(play_episode(incident, make_policy(policy)(incident)).actions):
        name, arguments = call_from_action(action)
        answer = client.post(f"/{name}", json=arguments)
        assert answer.status_code == 200
        call = {"name": name, "arguments": json.dumps(arguments), "call_id": f"c{n}"}
        output.append({"type": "function_call", "id": f"f{n}", "status": "completed", **call})
        output.append({"type": "function_call_output", "call_id": f"c{n}", "output": answer.text})
        assert row["incident"] not in answer.text
    response = {
        "id": "r", "created_at": 0, "model": "m", "object": "response", "output": output,
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    return {**row, "response": response}


@pytest.mark.parametrize("policy", ["expert", "random:3"])
def test_a_session_is_played_and_verified_twice(server: TriageServer, policy: str) -> None:
    app = server.setup_webserver()
    for row in nemo_gym_rows(IDS):
        client = TestClient(app)  # a session each
        body = rollout(client, row, policy)
        incident = lt.make_incident(row["incident"])
        grade = lt.grade(play_episode(incident, make_policy(policy)(incident)))
        assert body["response"]["output"][-1]["output"].startswith("The incident is closed")
        for asked in (client, TestClient(app)):  # stored, it needs no session
            answer = asked.post("/verify", json=body).json()
            assert answer["reward"] == grade.score
            assert sum(answer["reward_components"].values()) == grade.score
            assert answer["ticks"] == grade.ticks
            TriageVerifyResponse.model_validate(answer)
    assert not server._episodes
    assert client.get("/reverify_mode").json() == ReverifyMode.STATELESS.value


def test_requests_are_what_nemo_gym_sends_to_models() -> None:
    for row in nemo_gym_rows(IDS):
        NeMoGymResponseCreateParamsNonStreaming.model_validate(row["responses_create_params"])


def test_two_sessions_do_not_meet_and_a_call_before_the_first_row_is_refused(
    server: TriageServer,
) -> None:
    app = server.setup_webserver()
    rows = nemo_gym_rows(IDS)
    one, other = TestClient(app), TestClient(app)
    assert one.post("/resolve", json={}).status_code == 409
    one.post("/seed_session", json=rows[0])
    other.post("/seed_session", json=rows[1])
    one.post("/seed_session", json=rows[0])
    assert one.post("/request_more_logs", json={}).text.startswith("TICK 1/")
    assert one.post("/shrug", json={}).text.startswith("TICK 2/")  # unknown, and it costs a tick
    assert other.post("/request_more_logs", json={}).text.startswith("TICK 1/")


def test_metrics_of_a_run(server: TriageServer) -> None:
    client = TestClient(server.setup_webserver())
    done = []
    for n, row in enumerate(nemo_gym_rows(IDS)):
        found = client.post("/verify", json=rollout(client, row, "expert")).json()
        done.append({**found, "_ng_task_index": n, "_ng_rollout_index": 0})
    answer = client.post("/aggregate_metrics", json={"verify_responses": done}).json()
    mean = sum(one["reward"] for one in done) / len(done)
    assert answer["agent_metrics"]["mean/reward"] == pytest.approx(mean)
    assert "mean/root_cause" in answer["agent_metrics"]
