"""Grades as JSON data."""

import json

from logtriage import Malformed, Resolve, grade, initial_state, make_incident
from logtriage.grading import grade_to_json, unscored
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    WRONG_PAGE,
    played,
    real_incident,
)


def test_a_grade_is_plain_json() -> None:
    state = played(
        real_incident(), RIGHT_SEVERITY, Malformed("?", "why"), FIX, RIGHT_PAGE, WRONG_PAGE
    )
    data = grade_to_json(grade(state, agent="me", unplayed=1))
    assert json.loads(json.dumps(data)) == data
    assert data["score"] == 0.0
    assert data["status"] == "scored"
    assert data["gate"] == "wrong_escalation"
    assert data["closing"] == "misrouted"
    assert (data["ticks"], data["unplayed"]) == (5, 1)
    assert data["agent"] == "me"
    assert [row["name"] for row in data["criteria"]] == [
        "severity", "root_cause", "escalation", "remediation", "closure",
    ]  # fmt: skip
    assert set(data["criteria"][0]) == {"name", "score", "weight", "reason"}


def test_the_digest_is_part_of_it() -> None:
    one = grade(played(real_incident(), RIGHT_CAUSE, Resolve()))
    assert grade_to_json(one)["digest"] == one.digest


def test_an_unscored_grade_has_a_null_score() -> None:
    data = grade_to_json(unscored(real_incident(), "timeout"))
    assert (data["status"], data["score"], data["cause"]) == ("unscored", None, "timeout")


def test_the_keys_are_these_and_an_open_episode_has_no_closing() -> None:
    open_one = grade_to_json(grade(initial_state(make_incident("single_crash-v4/test/0"))))
    keys = (
        "incident task rubric rubric_digest status score criteria gate gate_reason closing ticks "
        "unplayed cause agent fault_kind discounts malformed digest"
    )
    assert list(open_one) == keys.split()
    assert (open_one["status"], open_one["closing"]) == ("scored", None)
    assert type(open_one["status"]) is str
