"""Grades of sealed incidents: they carry the fingerprint of the key, and answer to no other."""

import json
from functools import partial
from io import StringIO

import attrs
import pytest

from logtriage import InvalidInput, make_incident
from logtriage.drawing import Seal
from logtriage.errors import SealError
from logtriage.grading import grade_actions, grade_jsonl, grade_transcript
from logtriage.transcript import Transcript

SEAL, OTHER = (
    Seal(b"the key of these tests, 0123456789"),
    Seal(b"another key, of 16 bytes or more"),
)
NAME = "single_crash-v4/sealed/7"
FIND = partial(make_incident, seal=SEAL)
INCIDENT = FIND(NAME)


def test_a_record_is_graded_under_its_own_seal_only() -> None:
    right = Transcript(NAME, ({"action_type": "resolve"},), seal=SEAL.fingerprint)
    assert grade_transcript(right, resolve=FIND).score is not None
    with pytest.raises(SealError, match=f"was played under the seal '{OTHER.fingerprint}'"):
        grade_transcript(attrs.evolve(right, seal=OTHER.fingerprint), resolve=FIND)


def test_a_file_names_the_line_whose_seal_is_another() -> None:
    line = {"incident": NAME, "actions": [], "seal": OTHER.fingerprint}
    file = StringIO("\n" + json.dumps(line) + "\n")
    file.name = "runs.jsonl"
    with pytest.raises(SealError, match=r"^runs\.jsonl:2: seal: "):
        list(grade_jsonl(file, resolve=FIND))


def test_strict_names_the_action_and_what_is_wrong() -> None:
    actions = [{"action_type": "resolve"}, {"action_type": "escalate", "value": "nobody"}]
    with pytest.raises(InvalidInput, match=r"^actions\[1\]: unknown team 'nobody'"):
        grade_actions("single_crash-v4/test/0", actions, strict=True)
