"""Reasons that a grade can give, word for word; those that hang on order are in test_triage."""

import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Incident,
    Resolve,
    grade,
    make_incident,
)
from logtriage.incident import ClosingRules
from logtriage.registry import constant_actions
from logtriage.transition import play
from tests.builders import (
    FIX,
    P1,
    P2,
    P3,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    SEVEN_SERVICES,
    WAIT,
    WRONG_PAGE,
    benign_incident,
    played,
    real_incident,
)

SEVERAL = real_incident(
    root_causes=("user-db", "payment-db"),
    teams=("sre-team", "dba-team"),
    remedies=(("restart", "user-db"), ("kill-query", "user-db")),
)
NOT_KNOWN = real_incident(None, teams=(), remedies=())
OPEN_TO_WRONG_PAGES = real_incident(closing=ClosingRules(wrong_page=False))


@pytest.mark.parametrize(
    ("incident", "criterion", "actions", "reason"),
    [
        (real_incident(P1), "severity", (), "never classified"),
        (real_incident(P1), "severity", (ClassifySeverity(P1),), "P1 is right"),
        (
            real_incident(P1),
            "severity",
            (ClassifySeverity(P2),),
            "P2 given, P1 was right: one class off",
        ),
        (real_incident(P1), "severity", (ClassifySeverity(P3),), "P3 given, P1 was right"),
        (
            NOT_KNOWN,
            "severity",
            (ClassifySeverity(P3),),
            "P3 given, but the true severity is not known",
        ),
        (real_incident(), "root_cause", (), "no root cause identified"),
        (real_incident(), "root_cause", (RIGHT_CAUSE,), "user-db is the root cause"),
        (
            SEVERAL,
            "root_cause",
            (IdentifyRootCause("api-gateway"),),
            "api-gateway is not the root cause; it was payment-db or user-db",
        ),
        (SEVERAL, "escalation", (), "dba-team or sre-team never paged"),
        (NOT_KNOWN, "escalation", (), "nobody never paged"),
        (real_incident(), "escalation", (RIGHT_PAGE,), "dba-team was the team to page"),
        (
            SEVERAL,
            "remediation",
            (),
            "no accepted remedy applied (kill-query:user-db or restart:user-db)",
        ),
        (benign_incident(), "dismissal", (), "not dismissed"),
        (benign_incident(), "dismissal", (Resolve(),), "closed as resolved, not dismissed"),
        (benign_incident(), "dismissal", (FIX, Ignore()), "rightly dismissed"),
        (benign_incident(), "closure", (), "not dismissed"),
        (benign_incident(), "closure", (RIGHT_CAUSE, Ignore()), "not dismissed"),
        (benign_incident(), "closure", (Resolve(),), "not dismissed"),
        (
            benign_incident(),
            "closure",
            (WAIT, Ignore()),
            "dismissed in 2 ticks (par is 2, the horizon 15)",
        ),
    ],
)
def test_reason(
    incident: Incident, criterion: str, actions: tuple[Action, ...], reason: str
) -> None:
    assert grade(played(incident, *actions)).criterion(criterion).reason == reason


@pytest.mark.parametrize(
    ("incident", "actions", "gate", "reason"),
    [
        (
            real_incident(),
            (WRONG_PAGE,),
            "wrong_escalation",
            "sre-team was paged; dba-team was right",
        ),
        (
            SEVERAL,
            (Escalate("security-team"),),
            "wrong_escalation",
            "security-team was paged; dba-team or sre-team was right",
        ),
        (
            OPEN_TO_WRONG_PAGES,
            (RIGHT_PAGE, WRONG_PAGE),
            "wrong_escalation",
            "sre-team was paged; dba-team was right",
        ),
        (
            benign_incident(),
            (RIGHT_PAGE,),
            "wrong_escalation",
            "dba-team was paged; nobody needed",
        ),
        (real_incident(), (Ignore(),), "ignored_incident", "a real fault was ignored"),
        (benign_incident(), (Ignore(),), None, None),
        (real_incident(), (RIGHT_PAGE,), None, None),
    ],
)
def test_reason_of_a_gate(
    incident: Incident, actions: tuple[Action, ...], gate: str | None, reason: str | None
) -> None:
    graded = grade(played(incident, *actions))
    assert (graded.gate, graded.gate_reason) == (gate, reason)


# -- the original's -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "text", "criterion", "score", "reason"),
    [
        ("single_crash", "", "severity", 0.0, "+0.00: never classified"),
        ("single_crash", "classify_severity=P1", "severity", 1.0, "+0.30: classified P1"),
        ("single_crash", "classify_severity=P3", "severity", 0.0, "+0.00: classified P3"),
        ("single_crash", "", "root_cause", 0.0, "+0.00: never identified"),
        (
            "single_crash",
            "identify_root_cause=payment-service",
            "root_cause",
            1.0,
            "+0.35: payment-service",
        ),
        (
            "single_crash",
            "identify_root_cause=payment-db",
            "root_cause",
            0.1 / 0.35,
            "+0.10: payment-db: same family",
        ),
        ("single_crash", "identify_root_cause=user-db", "root_cause", 0.0, "+0.00: user-db"),
        ("single_crash", "", "remediation", 0.0, "+0.00: nothing done to payment-service"),
        (
            "single_crash",
            "remediate=restart:payment-service",
            "remediation",
            1.0,
            "+0.25: restart:payment-service",
        ),
        (
            "single_crash",
            "remediate=scale:payment-service",
            "remediation",
            0.32,
            "+0.08: scale:payment-service",
        ),
        ("single_crash", "", "speed", -1.0, "-0.10: never resolved"),
        ("single_crash", "resolve", "speed", 1.0, "+0.10: resolved in 1 steps"),
        ("single_crash", "", "ignored", -0.0, "not ignored"),
        ("single_crash", "ignore", "ignored", -1.0, "ignored"),
        (
            "cascading_failure",
            "identify_root_cause=payment-db",
            "root_cause",
            0.1 / 0.35,
            "+0.10: payment-db: right tier",
        ),
        (
            "cascading_failure",
            "identify_root_cause=api-gateway",
            "root_cause",
            0.0,
            "+0.00: api-gateway",
        ),
        ("cascading_failure", "identify_root_cause=user-db", "root_cause", 1.0, "+0.35: user-db"),
        ("cascading_failure", "", "root_cause", 0.0, "+0.00: never identified"),
        ("cascading_failure", "", "remediation", 0.0, "+0.00: never fixed"),
        ("cascading_failure", "remediate=restart:user-db", "remediation", 1.0, "+0.25: fixed"),
        (
            "cascading_failure",
            "",
            "ordering",
            0.0,
            "+0.00: neither the root nor a symptom was remediated",
        ),
        (
            "cascading_failure",
            "remediate=restart:user-db",
            "ordering",
            1.0,
            "+0.10: the root was remediated first",
        ),
        (
            "cascading_failure",
            "remediate=scale:auth-service",
            "ordering",
            -1.0,
            "-0.10: auth-service remediated before the root",
        ),
        ("silent_degradation", "", "root_cause", 0.0, "+0.00: never identified"),
        (
            "silent_degradation",
            "identify_root_cause=payment-service",
            "root_cause",
            0.1 / 0.3,
            "+0.10: payment-service",
        ),
        ("silent_degradation", "", "remediation", 0.0, "+0.00: neither remediated nor escalated"),
        ("silent_degradation", "escalate=dba-team", "remediation", 0.75, "+0.15: dba-team paged"),
        (
            "silent_degradation",
            "remediate=scale:payment-db",
            "remediation",
            0.25,
            "+0.05: scale:payment-db",
        ),
        ("silent_degradation", "", "restraint", 1.0, "+0.10: 0 spurious acts"),
        ("silent_degradation", "escalate=backend-team", "restraint", 0.0, "+0.00: 1 spurious acts"),
        ("silent_degradation", "", "speed", -1.0, "-0.10: never acted on"),
        ("silent_degradation", "escalate=dba-team", "speed", 1.0, "+0.10: acted within 1 steps"),
        (
            "silent_degradation",
            "request_more_logs=all,resolve",
            "speed",
            1.0,
            "+0.10: acted within 2 steps",
        ),
    ],
)
def test_reason_of_the_original(
    task: str, text: str, criterion: str, score: float, reason: str
) -> None:
    state, _ = play(make_incident(f"{task}-v0/test/0"), constant_actions(text, SEVEN_SERVICES))
    found = grade(state).criterion(criterion)
    assert found.score == pytest.approx(score)
    assert found.reason == reason
