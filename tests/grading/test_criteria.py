"""Every cell of the rubric table of DESIGN.md, section 5, with its number by hand."""

import pytest

from logtriage import (
    SEVEN_SERVICES,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Malformed,
    Remediate,
    Remedy,
    Resolve,
    Severity,
    initial_state,
)
from logtriage.grading import criteria
from logtriage.incident import ClosingRules
from tests.builders import (
    FIX,
    P1,
    P2,
    P3,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    WAIT,
    WRONG_PAGE,
    WRONG_REMEDY,
    benign_incident,
    played,
    real_incident,
    waits,
)

NOTHING_CLOSES = ClosingRules(wrong_page=False)

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


# -- remediation ----------------------------------------------------------------------

BY_WRONG_REMEDIES = {0: 1.0, 1: 0.8, 2: 0.6, 3: 0.4, 4: 0.2, 5: 0.0, 6: 0.0}


@pytest.mark.parametrize(("wrong", "expected"), BY_WRONG_REMEDIES.items())
@pytest.mark.parametrize("before", range(7))
def test_remediation_with_wrong_remedies_before_and_after_the_fix(
    wrong: int, expected: float, before: int
) -> None:
    if before > wrong:
        before = wrong
    actions = (*(WRONG_REMEDY,) * before, FIX, *(WRONG_REMEDY,) * (wrong - before))
    measured = criteria.remediation(played(real_incident(), *actions))
    assert measured[0] == pytest.approx(expected, abs=1e-12)
    assert f"fixed in tick {before + 1}" in measured[1]
    assert ("wrong remed" in measured[1]) == bool(wrong)


@pytest.mark.parametrize("wrong", range(7))
def test_remediation_without_an_accepted_remedy(wrong: int) -> None:
    measured = criteria.remediation(played(real_incident(), *(WRONG_REMEDY,) * wrong))
    assert measured[0] == 0.0
    assert "kill-query:user-db" in measured[1]


@pytest.mark.parametrize(
    "wrong",
    [
        Remediate(Remedy.RESTART, "user-db"),  # the right service, another remedy
        Remediate(Remedy.KILL_QUERY, "payment-db"),  # the right remedy, another service
        Remediate(Remedy.RESTART, "auth-service"),
    ],
)
def test_remediation_what_is_wrong(wrong: Remediate) -> None:
    assert criteria.remediation(played(real_incident(), wrong))[0] == 0.0
    assert criteria.remediation(played(real_incident(), wrong, FIX))[0] == pytest.approx(0.8)


def test_remediation_an_accepted_remedy_again_is_not_wrong() -> None:
    incident = real_incident(remedies=((Remedy.KILL_QUERY, "user-db"), (Remedy.RESTART, "user-db")))
    both = played(incident, Remediate(Remedy.RESTART, "user-db"), FIX, FIX)
    assert criteria.remediation(both)[0] == 1.0


# -- closure --------------------------------------------------------------------------

#: horizon -> {ticks used when resolved after the fix: score}
CLOSURE = {
    8: {2: 1, 3: 1, 4: 1, 5: 1, 6: 2 / 3, 7: 1 / 3, 8: 0},
    12: {2: 1, 5: 1, 6: 6 / 7, 7: 5 / 7, 8: 4 / 7, 9: 3 / 7, 10: 2 / 7, 11: 1 / 7, 12: 0},
    15: {
        2: 1, 5: 1, 6: 0.9, 7: 0.8, 8: 0.7, 9: 0.6, 10: 0.5,
        11: 0.4, 12: 0.3, 13: 0.2, 14: 0.1, 15: 0,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("horizon", "used", "expected"),
    [(horizon, used, score) for horizon, row in CLOSURE.items() for used, score in row.items()],
)
def test_closure_by_ticks_used(horizon: int, used: int, expected: float) -> None:
    for fix_at in {0, used - 2}:
        actions = [*waits(used - 1), Resolve()]
        actions[fix_at] = FIX
        state = played(real_incident(horizon=horizon), *actions)
        assert criteria.closure(state)[0] == pytest.approx(expected, abs=1e-12)


def test_closure_needs_the_fix_first() -> None:
    for actions in ((Resolve(),), (WRONG_REMEDY, Resolve())):
        assert criteria.closure(played(real_incident(), *actions)) == (
            0.0,
            "resolved while the fault was still there",
        )


@pytest.mark.parametrize(
    "actions",
    [(FIX,), (FIX, Ignore()), (FIX, WRONG_PAGE), (FIX, *waits(11))],
    ids=["open", "ignored", "misrouted", "out of time"],
)
def test_closure_only_by_resolving(actions: tuple[Resolve, ...]) -> None:
    measured = criteria.closure(played(real_incident(), *actions))
    assert measured[0] == 0.0
    assert "not resolved" in measured[1]


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_closure_where_the_horizon_leaves_no_time_to_lose(horizon: int) -> None:
    if horizon > 1:
        state = played(real_incident(horizon=horizon), *waits(horizon - 2), FIX, Resolve())
        assert criteria.closure(state)[0] == 1.0
    assert criteria.benign_closure(played(benign_incident(horizon), Ignore()))[0] == 1.0


# -- benign incidents -----------------------------------------------------------------

SCALE = Remediate(Remedy.SCALE, "email-queue")


@pytest.mark.parametrize(("applied", "expected"), BY_WRONG_REMEDIES.items())
def test_dismissal_by_remedies_applied(applied: int, expected: float) -> None:
    state = played(benign_incident(), *(SCALE,) * applied, Ignore())
    assert criteria.dismissal(state)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("remedy", Remedy)
def test_dismissal_every_remedy_counts_against_it(remedy: Remedy) -> None:
    state = played(benign_incident(), Remediate(remedy, "user-db"), Ignore())
    assert criteria.dismissal(state)[0] == pytest.approx(0.8)


@pytest.mark.parametrize("service", SEVEN_SERVICES.names)
def test_dismissal_is_void_if_anyone_was_blamed(service: str) -> None:
    state = played(benign_incident(), IdentifyRootCause(service), Ignore())
    assert criteria.dismissal(state) == (0.0, f"dismissed, but {service} was blamed")
    assert criteria.benign_closure(state)[0] == 0.0


@pytest.mark.parametrize(
    "actions",
    [(WAIT,), (Resolve(),), (RIGHT_PAGE,), waits(15)],
    ids=["open", "resolved", "paged", "out of time"],
)
def test_dismissal_only_by_ignoring(actions: tuple[Resolve, ...]) -> None:
    state = played(benign_incident(), *actions)
    assert criteria.dismissal(state)[0] == 0.0
    assert criteria.benign_closure(state)[0] == 0.0


#: horizon -> {ticks used when ignored: score}
BENIGN_CLOSURE = {
    8: {1: 1, 2: 1, 3: 5 / 6, 4: 4 / 6, 5: 3 / 6, 6: 2 / 6, 7: 1 / 6, 8: 0},
    15: {1: 1, 2: 1, 3: 12 / 13, 4: 11 / 13, 8: 7 / 13, 14: 1 / 13, 15: 0},
}


@pytest.mark.parametrize(
    ("horizon", "used", "expected"),
    [
        (horizon, used, score)
        for horizon, row in BENIGN_CLOSURE.items()
        for used, score in row.items()
    ],
)
def test_benign_closure_by_ticks_used(horizon: int, used: int, expected: float) -> None:
    state = played(benign_incident(horizon), *waits(used - 1), Ignore())
    assert criteria.benign_closure(state)[0] == pytest.approx(expected, abs=1e-12)


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
    state = played(real_incident(closing=NOTHING_CLOSES), *order, RIGHT_PAGE)
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


def test_malformed_actions_earn_nothing_and_only_cost_time() -> None:
    noise = Malformed("?", "unreadable")
    state = played(real_incident(horizon=8), noise, noise, noise, noise, FIX, Resolve())
    assert criteria.remediation(state)[0] == 1.0
    assert criteria.closure(state)[0] == pytest.approx(2 / 3)
