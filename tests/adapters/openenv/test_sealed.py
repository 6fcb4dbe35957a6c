"""Sealed incidents on a server: its key draws them, and each has one attempt."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.drawing.generator import make_incident
from logtriage.errors import InvalidInput
from logtriage.grading import grade_transcript
from logtriage.server import Settings
from logtriage.server.episode import OPEN_GRADE
from logtriage.server.launch import make_server, settings_of_environment
from logtriage.server.ledger import LEDGER_VARIABLE, RUN_VARIABLE, UNFINISHED, Ledger
from tests.adapters.openenv.serving import Running, ServerError, Session, running, wait_for

KEY = "the key of these tests, 0123456789"
SEAL, OTHER = Seal(KEY.encode()), Seal(b"another key, of 16 bytes or more")
INCIDENT, ANOTHER = "fleet_outage-v4/sealed/3", "fleet_outage-v4/sealed/4"
RESOLVE = {"action_type": "resolve"}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def sealing(ledger: Path) -> Iterator[Running]:
    with running(seal=SEAL, ledger=ledger) as server:
        yield server


def test_neither_the_id_nor_a_seed_nor_the_key_is_on_the_wire(sealing: Running) -> None:
    said = []
    with Session(sealing.http) as env:
        for incident in (INCIDENT, ANOTHER):
            said.append(str(env.reset(incident=incident)))
            for action in ({"action_type": "request_more_logs"}, {"action_type": "resolve"}):
                said += [str(env.step(action)), str(env.state())]
        with pytest.raises(ServerError, match="is closed") as caught:
            env.step({"action_type": "resolve"})
        said.append(str(caught.value))
    for one in said:
        assert INCIDENT not in one
        assert ANOTHER not in one
        assert KEY not in one


def test_a_container_takes_its_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEAL_VARIABLE, KEY)
    monkeypatch.setenv("HOST", "127.0.0.1")
    with pytest.raises(InvalidInput, match="counts the attempts"):
        settings_of_environment()
    monkeypatch.setenv(LEDGER_VARIABLE, "/data/ledger.jsonl")
    monkeypatch.setenv(RUN_VARIABLE, "alice")
    settings = settings_of_environment()
    assert (settings.seal, settings.ledger) == (SEAL, Path("/data/ledger.jsonl"))
    assert settings.run == "alice"
    for name in (SEAL_VARIABLE, LEDGER_VARIABLE):
        monkeypatch.delenv(name)
    assert settings_of_environment().seal is None


def test_a_sealed_episode_ends_with_its_score_and_no_reason(sealing: Running) -> None:
    with Session(sealing.http) as env:
        env.reset(incident=INCIDENT)
        grade = env.step(RESOLVE).grade
    assert grade is not None
    assert grade.keys() == {*OPEN_GRADE, "seal"}
    assert (grade["closing"], grade["seal"]) == ("resolved", SEAL.fingerprint)


def test_a_second_attempt_is_refused_on_every_way_and_after_a_restart(ledger: Path) -> None:
    with (
        running(seal=SEAL, ledger=ledger) as own,
        Session(own.http) as env,
        Session(own.http) as other,
    ):
        env.reset(incident=INCIDENT)
        for named in (
            {"incident": INCIDENT},
            {"task": "fleet_outage-v4", "split": "sealed", "index": 3},
        ):
            with pytest.raises(ServerError, match="has had its attempt at this sealed"):
                other.reset(**named)
        assert not env.step({"action_type": "request_more_logs"}).done  # it plays on
        other.reset(incident=ANOTHER)
    with running(seal=SEAL, ledger=ledger) as again, Session(again.http) as env:
        for incident in (INCIDENT, ANOTHER):
            with pytest.raises(ServerError, match="run 'default' has had its attempt"):
                env.reset(incident=incident)
    with running(seal=SEAL, ledger=ledger, run="other") as another, Session(another.http) as env:
        assert env.reset(incident=INCIDENT).tick == 0
    with running(seal=OTHER, ledger=ledger) as keyed, Session(keyed.http) as env:
        assert env.reset(incident=INCIDENT).tick == 0


def test_the_reasons_come_from_the_closed_run(sealing: Running, ledger: Path) -> None:
    with Session(sealing.http) as env:
        env.reset(incident=INCIDENT)
        ended = env.step(RESOLVE)
        env.reset(incident=ANOTHER)
    with pytest.raises(InvalidInput, match="another process holds this ledger"):
        Ledger(ledger, "default")
    sealing.server.should_exit = True
    wait_for(lambda: sealing.server.ledger._descriptor < 0)
    with Ledger(ledger, "default") as held:
        played, unfinished = held.transcripts()
        held.close_run()
    graded = grade_transcript(played, resolve=partial(make_incident, seal=SEAL))
    assert ended.grade is not None
    assert graded.score == ended.grade["score"]
    assert all(row.reason for row in graded.criteria)
    assert (unfinished.incident, unfinished.status) == (ANOTHER, UNFINISHED)
    with pytest.raises(InvalidInput, match="run: 'default' is closed"):
        make_server(Settings(port=0, seal=SEAL, ledger=ledger))
