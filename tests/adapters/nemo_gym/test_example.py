"""The example of a resources server, with NeMo Gym itself: its routes, its sessions by cookie."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from nemo_gym.base_resources_server import BaseResourcesServerConfig
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.server_utils import ServerClient

import logtriage as lt
from logtriage.conversations.tools import call_from_action

IDS = list(lt.incident_ids("single_crash-v4", "train", 3))


@pytest.fixture(scope="module")
def example() -> Any:
    path = Path(__file__).resolve().parents[3] / "examples/adapters/nemo_gym/app.py"
    spec = importlib.util.spec_from_file_location("nemo_gym_example", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def app(example: Any) -> Any:
    """The server, without the head server that a whole NeMo Gym has."""
    config = BaseResourcesServerConfig(
        host="127.0.0.1", port=9, entrypoint="app.py", name="logtriage", domain="agent"
    )
    client = ServerClient.model_construct(head_server_config=None, global_config_dict={})
    server = example.TriageServer.model_construct(config=config, server_client=client, _episodes={})
    return server.setup_webserver()


def test_rows_are_what_nemo_gym_sends_to_models(example: Any) -> None:
    for one in IDS:
        row = example.row(one)
        NeMoGymResponseCreateParamsNonStreaming.model_validate(row["responses_create_params"])
        assert row["incident"] == one
        assert one not in json.dumps(row["responses_create_params"])


@pytest.mark.parametrize("policy", ["expert", "random:3"])
def test_the_reward_of_a_session_is_the_grade_of_its_calls(
    example: Any, app: Any, policy: str
) -> None:
    response = {
        "id": "r", "created_at": 0, "model": "m", "object": "response", "output": [],
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    for one in IDS:
        client, row = TestClient(app), example.row(one)
        assert client.post("/seed_session", json=row).status_code == 200
        incident = lt.make_incident(one)
        state = lt.play(incident, policy)
        for action in state.actions:
            name, arguments = call_from_action(action)
            answer = client.post(f"/{name}", json=arguments)
        assert answer.text.startswith("The incident is closed")
        verified = client.post("/verify", json={**row, "response": response}).json()
        assert verified["reward"] == lt.grade(state).score


def test_two_sessions_do_not_meet(example: Any, app: Any) -> None:
    first, second = TestClient(app), TestClient(app)
    for client, one in ((first, IDS[0]), (second, IDS[1]), (first, IDS[0])):
        client.post("/seed_session", json=example.row(one))
    assert first.post("/request_more_logs", json={}).text.startswith("TICK 1/")
    assert first.post("/shrug", json={}).text.startswith("TICK 2/")  # unknown, and costs a tick
    assert second.post("/request_more_logs", json={}).text.startswith("TICK 1/")
