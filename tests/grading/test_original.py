"""Rubrics ``logtriage-env/0``: every partial credit and penalty of the original, by hand.

Actions are written as ``remediate=restart:user-db``; ``wait`` is a request for logs.
Numbers in a comment are points of severity + root cause + remediation + ... + speed.
"""

import pytest

from logtriage import Action, Grade, grade, make_incident
from logtriage.grading import RUBRICS, grade_actions
from logtriage.registry import constant_actions
from logtriage.transition import play
from tests.builders import SEVEN_SERVICES, V0_TASKS

LOW, HIGH = 0.0001, 0.9999


def actions(text: str) -> tuple[Action, ...]:
    return constant_actions(text.replace("wait", "request_more_logs=all"), SEVEN_SERVICES)


def graded(task: str, text: str) -> Grade:
    state, _ = play(make_incident(f"{task}-v0/test/5"), actions(text))
    return grade(state)


def waits(count: int) -> str:
    return ",".join(["wait"] * count)


P1, P2, P3 = (f"classify_severity={one}" for one in ("P1", "P2", "P3"))


@pytest.mark.parametrize(
    ("task", "right"),
    [
        (
            "single_crash",
            f"{P1},identify_root_cause=payment-service,remediate=restart:payment-service,resolve",
        ),
        (
            "cascading_failure",
            f"{P1},identify_root_cause=user-db,remediate=kill-query:user-db,resolve",
        ),
        (
            "cascading_failure",
            f"{P1},identify_root_cause=user-db,remediate=restart:user-db,resolve",
        ),
        (
            "silent_degradation",
            f"{P2},identify_root_cause=payment-db,remediate=flush-cache:payment-db,resolve",
        ),
        (
            "silent_degradation",
            f"{P2},identify_root_cause=payment-db,remediate=kill-query:payment-db,resolve",
        ),
    ],
)
def test_constant_right_answers_give_9999_on_every_incident(task: str, right: str) -> None:
    for split in ("train", "val", "test", "ood"):
        for index in range(10):
            one = grade_actions(f"{task}-v0/{split}/{index}", actions(right))
            assert (one.score, one.gate) == (HIGH, None)


@pytest.mark.parametrize("task", V0_TASKS, ids=lambda task: task.id)
def test_bounds_digits_and_no_gates(task: object) -> None:
    for rubric in RUBRICS.values():
        if rubric.id.startswith("logtriage-env/0/"):
            assert (rubric.bounds, rubric.digits, rubric.gates) == ((LOW, HIGH), 4, ())
    assert task in V0_TASKS


RESTART = "remediate=restart:payment-service"
SCALE = "remediate=scale:payment-service"
CAUSE = "identify_root_cause"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LOW),  # 0 + 0 + 0 - .10
        (waits(8), LOW),
        ("resolve", 0.10),
        # severity: P1 .30, P2 .10, P3 0; the first answer counts
        (P1, 0.20),  # .30 - .10, never resolved
        (f"{P1},resolve", 0.40),
        (f"{P2},resolve", 0.20),
        (f"{P3},resolve", 0.10),
        (f"{P2},{P1},resolve", 0.20),
        (f"{P1},{P2},resolve", 0.40),
        # root cause: .35, same family .10
        (f"{CAUSE}=payment-service,resolve", 0.45),
        (f"{CAUSE}=payment-db,resolve", 0.20),
        (f"{CAUSE}=user-db,resolve", 0.10),
        (f"{CAUSE}=api-gateway,resolve", 0.10),
        (f"{CAUSE}=payment-db,{CAUSE}=payment-service,resolve", 0.20),
        (f"{CAUSE}=payment-service,{CAUSE}=user-db,resolve", 0.45),
        # remediation: .25, right service but other remedy .08; the first of them ends the search
        (f"{RESTART},resolve", 0.35),
        (f"{SCALE},resolve", 0.18),
        ("remediate=rollback:payment-service,resolve", 0.18),
        ("remediate=flush-cache:payment-service,resolve", 0.18),
        ("remediate=kill-query:payment-service,resolve", 0.18),
        (f"{SCALE},{RESTART},resolve", 0.18),
        (f"{RESTART},{SCALE},resolve", 0.35),
        ("remediate=restart:user-db,resolve", 0.10),
        (f"remediate=restart:payment-db,{RESTART},resolve", 0.35),
        (f"remediate=scale:user-db,{SCALE},{RESTART},resolve", 0.18),
        # speed: resolved within 5 steps +.10, later 0, never -.10
        (f"{RESTART},{waits(3)},resolve", 0.35),
        (f"{RESTART},{waits(4)},resolve", 0.25),
        (f"{RESTART},{waits(6)},resolve", 0.25),
        (f"{RESTART},{waits(7)}", 0.15),
        (RESTART, 0.15),
        # any ignore -.30; it closes, since the incident is a P1
        (f"{P1},{CAUSE}=payment-service,{RESTART},ignore", 0.50),  # .30 + .35 + .25 - .10 - .30
        ("ignore", LOW),
        (f"{P1},{CAUSE}=payment-service,ignore,resolve", 0.25),  # .65 - .10 - .30
        # a mis-page costs its step and nothing else
        (f"escalate=security-team,{P1},{CAUSE}=payment-service,{RESTART},resolve", HIGH),
        (f"escalate=dba-team,escalate=dba-team,{RESTART},resolve", 0.35),
        (f"escalate=dba-team,wait,{P1},{CAUSE}=payment-service,{RESTART},resolve", 0.90),
        # all answers, late
        (f"{P1},{CAUSE}=payment-service,{RESTART},wait,resolve", HIGH),
        (f"{P1},{CAUSE}=payment-service,{RESTART},wait,wait,resolve", 0.90),
        (f"{P1},{CAUSE}=payment-service,{RESTART},{waits(5)}", 0.80),
        (f"{P2},{CAUSE}=payment-db,{SCALE},resolve", 0.38),  # .10 + .10 + .08 + .10
    ],
)
def test_single_crash(text: str, expected: float) -> None:
    assert graded("single_crash", text).score == pytest.approx(expected, abs=1e-9)


KILL = "remediate=kill-query:user-db"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LOW),
        ("resolve", 0.10),
        # severity: P1 .20, P2 .08
        (f"{P1},resolve", 0.30),
        (f"{P2},resolve", 0.18),
        (f"{P3},resolve", 0.10),
        (f"{P2},{P1},resolve", 0.18),
        # root cause: .35; api-gateway or auth-service 0; another name with "db" .10
        (f"{CAUSE}=user-db,resolve", 0.45),
        (f"{CAUSE}=payment-db,resolve", 0.20),
        (f"{CAUSE}=api-gateway,resolve", 0.10),
        (f"{CAUSE}=auth-service,resolve", 0.10),
        (f"{CAUSE}=email-queue,resolve", 0.10),
        (f"{CAUSE}=auth-service,{CAUSE}=user-db,resolve", 0.10),
        # remediation .25 and ordering .10
        (f"{KILL},resolve", 0.45),
        ("remediate=restart:user-db,resolve", 0.45),
        ("remediate=scale:user-db,resolve", 0.10),
        ("remediate=kill-query:payment-db,resolve", 0.10),
        (f"remediate=scale:user-db,{KILL},resolve", 0.45),
        (f"remediate=restart:payment-service,{KILL},resolve", 0.45),  # no symptom service
        (f"remediate=restart:api-gateway,{KILL},resolve", 0.25),  # .25 - .10 + .10
        (f"remediate=scale:auth-service,{KILL},resolve", 0.25),
        (f"{KILL},remediate=restart:api-gateway,resolve", 0.45),
        (f"{KILL},remediate=restart:auth-service,{KILL},resolve", 0.45),
        (f"{P1},remediate=restart:auth-service,resolve", 0.20),  # .20 - .10 + .10
        (f"{P1},remediate=restart:api-gateway", LOW),  # .20 - .10 - .10
        (f"{P1},{CAUSE}=user-db,remediate=restart:api-gateway", 0.35),  # .55 - .10 - .10
        # speed: resolved within 8 steps +.10, later 0, never -.10
        (f"{P1},{CAUSE}=user-db,{KILL},{waits(4)},resolve", HIGH),
        (f"{P1},{CAUSE}=user-db,{KILL},{waits(5)},resolve", 0.90),
        (f"{P1},{CAUSE}=user-db,{KILL},{waits(8)},resolve", 0.90),
        (f"{P1},{CAUSE}=user-db,{KILL},{waits(9)}", 0.80),
        (KILL, 0.25),  # .25 + .10 - .10
        # ignore closes a P1 and is only a missing resolve here
        (f"{P1},{CAUSE}=user-db,{KILL},ignore", 0.80),
        (f"escalate=security-team,{P1},{CAUSE}=user-db,{KILL},resolve", HIGH),
    ],
)
def test_cascading_failure(text: str, expected: float) -> None:
    assert graded("cascading_failure", text).score == pytest.approx(expected, abs=1e-9)


FLUSH = "remediate=flush-cache:payment-db"
RIGHT = f"{P2},{CAUSE}=payment-db,{FLUSH}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LOW),  # restraint .10, speed -.10
        (waits(15), LOW),
        ("resolve", 0.20),  # restraint .10, speed .10
        # severity: P2 .30, P1 or P3 -.15
        (f"{P2},resolve", 0.50),
        (f"{P1},resolve", 0.05),
        (f"{P3},resolve", 0.05),
        (f"{P1},{P2},resolve", 0.05),
        (P1, LOW),  # -.15 + .10 - .10
        # root cause: .30, payment-service .10
        (f"{CAUSE}=payment-db,resolve", 0.50),
        (f"{CAUSE}=payment-service,resolve", 0.30),
        (f"{CAUSE}=payment-service,{CAUSE}=payment-db,resolve", 0.30),
        # remediation on payment-db: .20, another remedy .05, whichever comes first
        (f"{FLUSH},resolve", 0.40),
        ("remediate=kill-query:payment-db,resolve", 0.40),
        ("remediate=restart:payment-db,resolve", 0.25),
        ("remediate=scale:payment-db,resolve", 0.25),
        ("remediate=rollback:payment-db,resolve", 0.25),
        (f"remediate=restart:payment-db,{FLUSH},resolve", 0.25),
        (f"{FLUSH},remediate=restart:payment-db,resolve", 0.40),
        (f"remediate=flush-cache:payment-service,{FLUSH},resolve", 0.40),
        ("remediate=flush-cache:payment-service,resolve", 0.20),
        # if none of these, a page to dba-team .15 counts as remediation
        ("escalate=dba-team,resolve", 0.35),
        ("escalate=dba-team,remediate=restart:payment-db,resolve", 0.25),
        (f"escalate=dba-team,{FLUSH},resolve", 0.40),
        ("escalate=sre-team,resolve", 0.20),
        ("escalate=sre-team,escalate=dba-team,resolve", 0.35),
        # spurious acts: none .10, one 0, more -.05
        (f"{CAUSE}=user-db,resolve", 0.10),
        (f"{CAUSE}=api-gateway,resolve", 0.10),
        (f"{CAUSE}=auth-service,resolve", 0.10),
        (f"{CAUSE}=notification-service,resolve", 0.10),
        (f"{CAUSE}=email-queue,resolve", 0.10),
        (f"{CAUSE}=payment-db,{CAUSE}=user-db,resolve", 0.40),
        ("remediate=restart:email-queue,resolve", 0.10),
        ("remediate=restart:payment-service,resolve", 0.20),
        ("escalate=backend-team,resolve", 0.10),
        ("escalate=security-team,resolve", 0.10),
        ("escalate=backend-team,escalate=security-team,resolve", 0.05),
        (f"{CAUSE}=user-db,remediate=restart:user-db,resolve", 0.05),
        (f"{CAUSE}=user-db,remediate=restart:user-db,escalate=backend-team,resolve", 0.05),
        (f"{RIGHT},remediate=restart:user-db,escalate=backend-team,resolve", 0.85),
        # speed: resolved or remediation scored, +.10 within 10 steps; neither -.10
        (f"{RIGHT},{waits(6)},resolve", HIGH),
        (f"{RIGHT},{waits(7)},resolve", 0.90),
        (RIGHT, HIGH),  # still open after three steps
        (f"{RIGHT},{waits(12)}", 0.90),
        (f"escalate=dba-team,{waits(9)}", 0.35),
        (f"escalate=dba-team,{waits(14)}", 0.25),
        (f"{P2},{waits(14)}", 0.30),  # .30 + .10 - .10
        (f"{waits(9)},resolve", 0.20),
        (f"{waits(10)},resolve", 0.10),
        # ignore closes only a P1: here it is one more step
        (f"ignore,{RIGHT},resolve", HIGH),
        (f"{P2},ignore", 0.30),
    ],
)
def test_silent_degradation(text: str, expected: float) -> None:
    assert graded("silent_degradation", text).score == pytest.approx(expected, abs=1e-9)


def test_points_are_shown_by_criterion() -> None:
    one = graded("single_crash", f"{P2},{CAUSE}=payment-db,{SCALE},ignore")
    points = {row.name: row.score * row.weight for row in one.criteria}
    assert points == {
        "severity": pytest.approx(0.10),
        "root_cause": pytest.approx(0.10),
        "remediation": pytest.approx(0.08),
        "speed": pytest.approx(-0.10),
        "ignored": pytest.approx(-0.30),
    }
    assert one.score == LOW
    assert all(row.reason for row in one.criteria)


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("single_crash", ["severity", "root_cause", "remediation", "speed", "ignored"]),
        ("cascading_failure", ["severity", "root_cause", "remediation", "ordering", "speed"]),
        ("silent_degradation", ["severity", "root_cause", "remediation", "restraint", "speed"]),
    ],
)
def test_criteria_of_each_task(task: str, names: list[str]) -> None:
    assert [row.name for row in graded(task, "resolve").criteria] == names


def test_acts_after_the_closing_one_were_never_played() -> None:
    text = f"{P1},{CAUSE}=payment-service,{RESTART},resolve,ignore,ignore"
    one = grade_actions("single_crash-v0/test/5", actions(text))
    assert (one.score, one.unplayed) == (HIGH, 2)


def test_malformed_answers_cost_their_step() -> None:
    junk = [{"action_type": "reboot"}] * 2
    right = actions(f"{P1},{CAUSE}=payment-service,{RESTART},resolve")
    assert grade_actions("single_crash-v0/test/5", [*junk[:1], *right]).score == HIGH
    assert grade_actions("single_crash-v0/test/5", [*junk, *right]).score == pytest.approx(0.90)
