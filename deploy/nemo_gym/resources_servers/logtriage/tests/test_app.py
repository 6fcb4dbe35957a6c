"""The server verifies its stored example rollouts as they were, and without their sessions."""

import json
from pathlib import Path
from unittest.mock import MagicMock

from fastapi.testclient import TestClient
from nemo_gym.server_utils import ServerClient

from logtriage.adapters.nemo_gym.server import TriageServer, TriageServerConfig

ROLLOUTS = Path(__file__).resolve().parent.parent / "data" / "example_rollouts.jsonl"


def test_stored_rollouts_are_verified_again() -> None:
    config = TriageServerConfig(
        host="127.0.0.1", port=9, entrypoint="app.py", name="logtriage", domain="agent"
    )
    server = TriageServer(config=config, server_client=MagicMock(spec=ServerClient))
    client = TestClient(server.setup_webserver())
    for line in ROLLOUTS.read_text(encoding="utf-8").splitlines():
        stored = json.loads(line)
        asked = {key: stored[key] for key in ("responses_create_params", "response", "incident")}
        found = client.post("/verify", json=asked).json()
        assert found["reward"] == stored["reward"]
        assert found["reward_components"] == stored["reward_components"]
        asked["response"]["output"].clear()
        assert client.post("/verify", json=asked).json()["reward"] == 0.0  # by its calls alone
