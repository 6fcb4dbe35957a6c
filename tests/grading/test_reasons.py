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
)
from tests.builders import (
    FIX,
    P1,
    P2,
    P3,
    RIGHT_CAUSE,
    RIGHT_PAGE,
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
OPEN_TO_WRONG_PAGES = real_incident(wrong_page_closes=False)


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
