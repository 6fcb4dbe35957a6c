"""States are their history: facts by hand, and values that never change."""

from logtriage import (
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    RequestMoreLogs,
    initial_state,
)
from logtriage.facts import facts_of
from tests.builders import FIX, P1, P2, RIGHT_PAGE, benign_incident, played, real_incident


def test_an_initial_state_is_open_and_empty() -> None:
    state = initial_state(real_incident())
    assert (state.tick, state.history, state.closing, state.closed_at) == (0, (), None, None)
    assert not state.is_closed
    assert state.actions == ()
    facts = state.facts
    assert (facts.severity, facts.root_cause, facts.confidence, facts.fixed_at) == (None,) * 4
    assert (facts.root_cause_at, facts.paged_at, facts.unapproved_remedies) == (None, None, 0)


def test_facts_of_a_busy_history() -> None:
    restart, flush = (Remediate("restart", "api-gateway"), Remediate("flush-cache", "user-db"))
    state = played(
        *(real_incident(), RequestMoreLogs("user-db"), ClassifySeverity(P2), ClassifySeverity(P1)),
        *(IdentifyRootCause("auth-service", 0.4), IdentifyRootCause("user-db", 0.9)),
        *(restart, FIX, flush, FIX, RIGHT_PAGE, RequestMoreLogs(None)),
    )
    facts = state.facts
    assert facts.severity is P2
    assert facts.root_cause == "auth-service"
    assert facts.confidence == 0.4
    assert facts.pages == ((9, "dba-team"),)
    assert facts.remedies == (
        (5, "restart", "api-gateway"),
        (6, "kill-query", "user-db"),
        (7, "flush-cache", "user-db"),
        (8, "kill-query", "user-db"),
    )
    assert facts.requests == ((0, 2), (10, -1))
    assert facts.fixed_at == 6
    assert facts.wrong_remedies == 2
    assert facts.wrong_pages == 0
    assert (facts.root_cause_at, facts.paged_at, facts.unapproved_remedies) == (3, 9, 2)


def test_a_confidence_belongs_to_the_declaration_that_stands() -> None:
    state = played(real_incident(), IdentifyRootCause("user-db"), IdentifyRootCause("user-db", 0.9))
    assert state.facts.confidence is None


def test_wrong_pages_are_counted_where_they_do_not_close() -> None:
    incident = benign_incident()
    plays = ((0, Escalate("sre-team")), (0, Escalate("dba-team")))
    assert facts_of(incident, plays).wrong_pages == 2
