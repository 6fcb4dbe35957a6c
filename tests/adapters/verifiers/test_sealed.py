"""Sealed incidents in verifiers: rows say their seal, and what the model reads says nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

import logtriage as lt
from logtriage._lib.seal import SEAL_VARIABLE, Seal
from logtriage.adapters.verifiers import TriageConfig, TriageTaskset
from logtriage.adapters.verifiers.rows import incident_of_row
from logtriage.conversations.convert import convert_file
from logtriage.drawing.sealing import incident_of
from logtriage.errors import SealError
from logtriage.grading import grade_transcript
from tests.adapters.verifiers.server import said
from tests.adapters.verifiers.test_verifiers import evaluate

KEY, OTHER_KEY = "the key of these tests, 0123456789", "another key, of 16 bytes or more"
SEAL, OTHER = Seal(KEY.encode()), Seal(OTHER_KEY.encode())
START = 48151623
INCIDENT = f"single_crash-v4/sealed/{START}"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_KEY", "x")
    monkeypatch.setenv(SEAL_VARIABLE, KEY)


def test_a_sealed_row_is_graded_and_nothing_sent_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []

    def model(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
        sent.append([messages, tools])
        turn = sum(message["role"] == "assistant" for message in messages)
        return said(("request_more_logs", {}) if turn == 0 else ("resolve", {}))

    named = {"tasks": ["single_crash-v4"], "split": "sealed", "start": START, "episodes": 1}
    (trace,) = evaluate(tmp_path, model, **named)
    actions = [lt.RequestMoreLogs(None), lt.Resolve()]
    state = lt.play(incident_of(INCIDENT), actions)
    assert trace["rewards"]["grade"]["score"] == lt.grade(state).score
    assert trace["task"]["data"]["seal"] == SEAL.fingerprint
    assert len(sent) == 2
    for hidden in (INCIDENT, str(START), "/sealed/", SEAL.fingerprint, KEY):
        assert hidden not in json.dumps(sent)
    (path,) = tmp_path.glob("*/traces.jsonl")
    assert KEY not in path.read_text(encoding="utf-8")
    (transcript,) = convert_file(path)
    assert transcript.seal == SEAL.fingerprint
    assert grade_transcript(transcript, resolve=incident_of) == lt.grade(
        state, agent=transcript.agent
    )
    monkeypatch.setenv(SEAL_VARIABLE, OTHER_KEY)
    with pytest.raises(SealError, match=f"played under the seal '{SEAL.fingerprint}'"):
        list(convert_file(path))


def test_another_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TriageConfig(
        id="logtriage-verifiers", tasks=["single_crash-v4"], split="sealed", episodes=1
    )
    (row,) = TriageTaskset(config)
    monkeypatch.setenv(SEAL_VARIABLE, OTHER_KEY)
    with pytest.raises(SealError, match=f"played under the seal '{SEAL.fingerprint}'"):
        incident_of_row(row.data)
    monkeypatch.delenv(SEAL_VARIABLE)
    with pytest.raises(SealError, match="LOGTRIAGE_SEAL"):
        incident_of_row(row.data)
    with pytest.raises(SealError, match="LOGTRIAGE_SEAL"):
        list(TriageTaskset(config))
