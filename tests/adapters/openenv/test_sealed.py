"""Sealed incidents on a server: its key draws them, and the client's must be the same."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from logtriage.errors import LogTriageError
from logtriage.evaluation import RunSpec, evaluate
from logtriage.seal import SEAL_VARIABLE, Seal
from logtriage.server import RemoteEnv, RemoteRecorder
from logtriage.server.launch import settings_of_environment
from logtriage.server.remote import ServerError
from tests.adapters.openenv.serving import Running, running
from tests.test_evaluation_runner import contents

KEY = "the key of these tests, 0123456789"
SEAL, OTHER = Seal(KEY.encode()), Seal(b"another key, of 16 bytes or more")
SPEC = RunSpec(["expert", "random:3"], ["single_crash-v2", "fleet_outage-v2"], "sealed", 2)
INCIDENT = "fleet_outage-v2/sealed/3"


@pytest.fixture(scope="module")
def sealing() -> Iterator[Running]:
    with running(seal=SEAL) as server:
        yield server


def test_an_evaluation_on_a_server_is_the_same_as_here(sealing: Running, tmp_path: Path) -> None:
    recorder = RemoteRecorder(sealing.http, seal=SEAL)
    there = evaluate(SPEC, tmp_path / "there", recorder=recorder, seal=SEAL)
    assert there == evaluate(SPEC, tmp_path / "here", seal=SEAL)
    for name, content in contents(tmp_path / "here").items():
        if name.endswith(".jsonl"):
            assert contents(tmp_path / "there")[name] == content


def test_a_server_with_another_key_is_found_out(sealing: Running, tmp_path: Path) -> None:
    recorder = RemoteRecorder(sealing.http, seal=OTHER)
    with pytest.raises(LogTriageError, match=f"not that of the seal {OTHER.fingerprint}"):
        evaluate(SPEC, tmp_path / "run", recorder=recorder, seal=OTHER)


def test_a_server_without_a_key_offers_no_sealed_incident(
    server: Running, sealing: Running
) -> None:
    with RemoteEnv(server.http) as env:
        with pytest.raises(ServerError, match="this server has no key"):
            env.reset(incident=INCIDENT)
        with pytest.raises(ServerError, match="this server has no key"):
            env.reset(task="single_crash-v2", split="sealed", index=0)
        with pytest.raises(ServerError, match="is one fixed incident and has no"):
            env.reset(task="single_crash-v0", split="sealed", index=0)
    listed = httpx.get(f"{sealing.http}/logtriage/splits").json()
    assert "sealed" in [one["name"] for one in listed]
    task = httpx.post(
        f"{sealing.http}/logtriage/task", json={"split": "sealed", "index": 1}
    ).json()["task"]
    assert task["seal"] == SEAL.fingerprint


def test_neither_the_id_nor_a_seed_nor_the_key_is_on_the_wire(sealing: Running) -> None:
    said = []
    with httpx.Client(base_url=sealing.http) as client, RemoteEnv(sealing.http) as env:
        said.append(client.post("/reset", json={"incident": INCIDENT}).text)
        said.append(str(env.reset(incident=INCIDENT, view=True)))
        for action in ({"action_type": "request_more_logs"}, {"action_type": "resolve"}):
            said.append(client.post("/step", json=action).text)
            said.append(str(env.step(action)))
            said += [client.get("/state").text, client.post("/grader").text, str(env.state())]
        said.append(client.post("/step", json={"action_type": "resolve"}).text)
        with pytest.raises(ServerError, match="is closed") as caught:
            env.step({"action_type": "resolve"})
        said.append(str(caught.value))
        said.append(client.get("/health").text)
        listed = client.post("/grader", json={"incident": INCIDENT, "actions": []})
    assert listed.status_code == 400
    assert "graded in the session that plays it" in listed.text
    for one in said:
        assert INCIDENT not in one
        assert KEY not in one


def test_a_container_takes_its_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEAL_VARIABLE, KEY)
    monkeypatch.setenv("HOST", "127.0.0.1")
    assert settings_of_environment().seal == SEAL
    monkeypatch.delenv(SEAL_VARIABLE)
    assert settings_of_environment().seal is None
