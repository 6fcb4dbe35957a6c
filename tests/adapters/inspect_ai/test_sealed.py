"""Sealed incidents in Inspect: samples say their seal, and no message says anything."""

import json
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log

import logtriage as lt
from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.adapters.inspect_ai import triage, triage_scorer
from logtriage.drawing.sealing import incident_of
from logtriage.errors import SealError

KEY, OTHER_KEY = "the key of these tests, 0123456789", "another key, of 16 bytes or more"
SEAL, OTHER = Seal(KEY.encode()), Seal(OTHER_KEY.encode())
START = 48151623
INCIDENT = f"fleet_outage-v4/sealed/{START}"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalLog:
    """A log of one sealed incident, played by the expert."""
    monkeypatch.setenv(SEAL_VARIABLE, KEY)
    task = triage("fleet_outage-v4", split="sealed", episodes=1, start=START)
    (log,) = evaluate(task, model="logtriage/expert", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def test_a_sealed_sample_is_graded_and_its_messages_name_nothing(log: EvalLog) -> None:
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.metadata["seal"] == SEAL.fingerprint
    incident = incident_of(INCIDENT)
    played = lt.play(incident, "expert")
    assert sample.scores is not None
    score = sample.scores["triage_scorer"]
    assert score.value["grade"] == lt.grade(played).score  # type: ignore[index, call-overload]
    assert score.metadata is not None
    assert score.metadata["seal"] == SEAL.fingerprint
    said = json.dumps([one.model_dump(include={"role", "content"}) for one in sample.messages])
    for hidden in (INCIDENT, str(START), "/sealed/", SEAL.fingerprint, KEY):
        assert hidden not in said
    # The key is nowhere in the log.
    text = log.model_dump_json()
    assert KEY not in text
    assert SEAL._digest is not None
    assert SEAL._digest.hex() not in text


def test_another_key_scores_nothing(log: EvalLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEAL_VARIABLE, OTHER_KEY)
    with pytest.raises(SealError, match=f"played under the seal '{SEAL.fingerprint}'"):
        score(log, triage_scorer(), display="none")


def test_without_the_key_there_are_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SEAL_VARIABLE, raising=False)
    with pytest.raises(SealError, match="LOGTRIAGE_SEAL"):
        triage("fleet_outage-v4", split="sealed", episodes=1)
