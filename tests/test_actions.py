"""The closed union of actions, their canonical integers, and what is refused."""

from typing import get_args

import pytest

import logtriage as lt
from logtriage.actions import (
    FaultCategory,
    action_id,
    action_name,
    action_value,
    check_action,
    describe,
)
from logtriage.errors import UnknownName
from tests.builders import FIVE_TEAMS, SEVEN_SERVICES


def test_the_canonical_order_of_the_default_topology() -> None:
    names, teams = SEVEN_SERVICES.names, SEVEN_SERVICES.teams
    actions = lt.all_actions(SEVEN_SERVICES)
    assert len(actions) == 73
    assert actions[:3] == tuple(lt.ClassifySeverity(one) for one in ("P1", "P2", "P3"))
    assert actions[3:10] == tuple(lt.IdentifyRootCause(name) for name in names)
    assert actions[10:14] == tuple(lt.Escalate(team) for team in teams)
    assert actions[14:49] == tuple(
        lt.Remediate(remedy, name)
        for remedy in ("restart", "rollback", "scale", "flush-cache", "kill-query")
        for name in names
    )
    assert actions[49] == lt.RequestMoreLogs(None)
    assert actions[50:57] == tuple(lt.RequestMoreLogs(name) for name in names)
    assert actions[57:64] == tuple(lt.RequestMetrics(name) for name in names)
    assert actions[64:71] == tuple(lt.RequestTraces(name) for name in names)
    assert actions[71:] == (lt.Resolve(), lt.Ignore())
    assert action_id(lt.IdentifyRootCause("user-db", 0.7), SEVEN_SERVICES) == 5


def test_a_hand_over_is_the_last_action_where_it_has_a_worth_and_none_elsewhere() -> None:
    plain = lt.all_actions(FIVE_TEAMS)
    assert lt.all_actions(FIVE_TEAMS, hand_over=True) == (*plain, lt.HandOver())
    assert action_id(lt.HandOver(), FIVE_TEAMS, hand_over=True) == len(plain) == 74
    for action in plain:
        number = action_id(action, FIVE_TEAMS)
        assert action_id(action, FIVE_TEAMS, hand_over=True) == number
    with pytest.raises(lt.InvalidInput, match="hand_over has no canonical integer"):
        action_id(lt.HandOver(), FIVE_TEAMS)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lt.IdentifyRootCause("pay-db"), "unknown service 'pay-db'; known: api-gateway"),
        (lt.RequestMoreLogs("all"), r"known: .*; RequestMoreLogs\(\) asks for all"),
        (lt.RequestMetrics("pay-db"), "unknown service 'pay-db'"),
        (lt.RequestTraces("pay-db"), "unknown service 'pay-db'"),
        (lt.Remediate("scale", "pay-db"), "unknown service 'pay-db'"),
        (lt.Escalate("x-team"), "unknown team 'x-team'; known: sre-team, backend-team"),
    ],
)
def test_names_that_the_topology_lacks_are_refused(action: lt.Action, message: str) -> None:
    for refuse in (action_id, check_action):
        with pytest.raises(UnknownName, match=message):
            refuse(action, SEVEN_SERVICES)


def test_a_malformed_action_has_no_integer_but_may_be_played() -> None:
    with pytest.raises(lt.InvalidInput, match="no canonical integer"):
        action_id(lt.Malformed("x", "why"), SEVEN_SERVICES)
    check_action(lt.Malformed("x", "why"), SEVEN_SERVICES)


def test_severities_and_remedies_are_converted_or_refused() -> None:
    assert lt.ClassifySeverity("P2").severity is lt.Severity.P2
    assert lt.Remediate("scale", "user-db").remedy == "scale"
    with pytest.raises(ValueError, match="P4"):
        lt.ClassifySeverity("P4")


def test_names_and_values() -> None:
    cases: dict[lt.Action, tuple[str, str | None, str]] = {
        lt.ClassifySeverity(lt.Severity.P1): ("classify_severity", "P1", "classify_severity P1"),
        lt.IdentifyRootCause("user-db", 0.2):
            ("identify_root_cause", "user-db", "identify_root_cause user-db"),
        lt.ClassifyFault(FaultCategory.CODE): ("classify_fault", "code", "classify_fault code"),
        lt.Escalate("dba-team"): ("escalate", "dba-team", "escalate dba-team"),
        lt.Remediate("flush-cache", "user-db"):
            ("remediate", "flush-cache:user-db", "remediate flush-cache:user-db"),
        lt.RequestMoreLogs(None): ("request_more_logs", "all", "request_more_logs all"),
        lt.RequestMoreLogs("user-db"):
            ("request_more_logs", "user-db", "request_more_logs user-db"),
        lt.RequestMetrics("user-db"): ("request_metrics", "user-db", "request_metrics user-db"),
        lt.RequestTraces("user-db"): ("request_traces", "user-db", "request_traces user-db"),
        lt.Resolve(): ("resolve", None, "resolve"),
        lt.Ignore(): ("ignore", None, "ignore"),
        lt.HandOver(): ("hand_over", None, "hand_over"),
        lt.Malformed("text", "why"): ("malformed", None, "malformed (why)"),
        lt.Report("memory_leak", "triage"): ("report", "memory_leak", "report memory_leak"),
        lt.ReportImpact((("a", "b"), ("b", "c"), ("a", "b"))):
            ("report_impact", "a->b, b->c", "report_impact a->b, b->c"),
        lt.Wait(): ("wait", None, "wait"),
    }  # fmt: skip
    assert {type(action) for action in cases} == set(get_args(lt.Action))
    for action, (name, value, text) in cases.items():
        assert action_name(action) == name
        assert action_value(action) == value
        assert describe(action) == text
