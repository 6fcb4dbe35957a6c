"""The criteria and gates that hang on no order of actions: every cell by hand."""

import pytest

from logtriage import (
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Resolve,
    Severity,
    initial_state,
)
from logtriage.grading import criteria
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
    waits,
)

# -- severity -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "declared", "expected"),
    [
        (P1, P1, 1.0),
        (P1, P2, 0.25),
        (P1, P3, 0.0),
        (P2, P1, 0.25),
        (P2, P2, 1.0),
        (P2, P3, 0.25),
        (P3, P1, 0.0),
        (P3, P2, 0.25),
        (P3, P3, 1.0),
    ],
)
def test_severity(truth: Severity, declared: Severity, expected: float) -> None:
    measured = criteria.severity(played(real_incident(truth), ClassifySeverity(declared)))
    assert measured[0] == expected
    assert declared in measured[1]


@pytest.mark.parametrize("truth", [P1, P2, P3])
def test_severity_undeclared_earns_nothing(truth: Severity) -> None:
    measured = criteria.severity(played(real_incident(truth), WAIT))
    assert measured == (0.0, "never classified")


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(P3, P1, 0.0), (P2, P1, 0.25), (P1, P3, 1.0)]
)
def test_severity_the_first_declaration_stands(
    first: Severity, second: Severity, expected: float
) -> None:
    state = played(real_incident(P1), ClassifySeverity(first), ClassifySeverity(second))
    assert criteria.severity(state)[0] == expected


def test_severity_that_is_not_known_earns_nothing() -> None:
    state = played(real_incident(None), ClassifySeverity(P1))
    assert criteria.severity(state)[0] == 0.0
    assert "not known" in criteria.severity(state)[1]


# -- root cause -----------------------------------------------------------------------


@pytest.mark.parametrize("service", SEVEN_SERVICES.names)
def test_root_cause_is_right_or_worth_nothing(service: str) -> None:
    # A symptom (auth-service, api-gateway) earns as little as anything else.
    measured = criteria.root_cause(played(real_incident(), IdentifyRootCause(service)))
    assert measured[0] == (1.0 if service == "user-db" else 0.0)
    assert service in measured[1]


def test_root_cause_several_may_be_accepted() -> None:
    incident = real_incident(root_causes=("user-db", "auth-service"))
    for service in ("user-db", "auth-service"):
        assert criteria.root_cause(played(incident, IdentifyRootCause(service)))[0] == 1.0
    assert criteria.root_cause(played(incident, IdentifyRootCause("api-gateway")))[0] == 0.0


def test_root_cause_the_first_declaration_stands() -> None:
    wrong, right = IdentifyRootCause("auth-service"), RIGHT_CAUSE
    assert criteria.root_cause(played(real_incident(), wrong, right))[0] == 0.0
    assert criteria.root_cause(played(real_incident(), right, wrong))[0] == 1.0


def test_root_cause_undeclared_earns_nothing() -> None:
    assert criteria.root_cause(played(real_incident(), WAIT)) == (0.0, "no root cause identified")


@pytest.mark.parametrize("confidence", [None, 0.0, 0.5, 1.0])
def test_root_cause_confidence_is_never_graded(confidence: float | None) -> None:
    right = played(real_incident(), IdentifyRootCause("user-db", confidence))
    wrong = played(real_incident(), IdentifyRootCause("payment-db", confidence))
    assert criteria.root_cause(right)[0] == 1.0
    assert criteria.root_cause(wrong)[0] == 0.0


# -- escalation -----------------------------------------------------------------------


@pytest.mark.parametrize("team", SEVEN_SERVICES.teams)
def test_escalation(team: str) -> None:
    measured = criteria.escalation(played(real_incident(), Escalate(team)))
    assert measured[0] == (1.0 if team == "dba-team" else 0.0)


def test_escalation_several_teams_may_be_accepted() -> None:
    incident = real_incident(teams=("dba-team", "sre-team"))
    for team in ("dba-team", "sre-team"):
        assert criteria.escalation(played(incident, Escalate(team)))[0] == 1.0


def test_escalation_never_paged() -> None:
    assert criteria.escalation(played(real_incident(), FIX)) == (0.0, "dba-team never paged")


def test_escalation_stays_earned_beside_a_wrong_page() -> None:
    # The gate zeroes the total; the criterion says what was earned.
    assert criteria.escalation(played(real_incident(), RIGHT_PAGE, WRONG_PAGE))[0] == 1.0


# -- gates ----------------------------------------------------------------------------


@pytest.mark.parametrize("team", SEVEN_SERVICES.teams)
def test_gate_wrong_escalation(team: str) -> None:
    held = criteria.wrong_escalation(played(real_incident(), Escalate(team)))
    assert held == (None if team == "dba-team" else f"{team} was paged; dba-team was right")


@pytest.mark.parametrize("team", SEVEN_SERVICES.teams)
def test_gate_any_page_on_a_benign_incident(team: str) -> None:
    held = criteria.wrong_escalation(played(benign_incident(), Escalate(team)))
    assert held == f"{team} was paged; nobody needed"


@pytest.mark.parametrize("order", [(RIGHT_PAGE, WRONG_PAGE), (WRONG_PAGE, RIGHT_PAGE)])
def test_gate_one_wrong_page_among_right_ones(order: tuple[Escalate, ...]) -> None:
    state = played(real_incident(wrong_page_closes=False), *order, RIGHT_PAGE)
    assert criteria.wrong_escalation(state) == "sre-team was paged; dba-team was right"


def test_gate_no_page_no_gate() -> None:
    assert criteria.wrong_escalation(initial_state(real_incident())) is None
    assert criteria.wrong_escalation(played(real_incident(), RIGHT_PAGE, RIGHT_PAGE)) is None


def test_gate_ignored_incident() -> None:
    assert criteria.ignored_incident(played(real_incident(), Ignore())) is not None
    assert criteria.ignored_incident(played(real_incident(), FIX, Ignore())) is not None
    assert criteria.ignored_incident(played(benign_incident(), Ignore())) is None
    assert criteria.ignored_incident(played(real_incident(), Resolve())) is None
    assert criteria.ignored_incident(played(real_incident(), *waits(12))) is None
