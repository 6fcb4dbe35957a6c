"""Roles as data, and the default split in which nobody can solve an incident alone."""

import pytest

from logtriage import UnknownName
from logtriage.actions import ACTION_TYPES
from logtriage.roles import ESCALATION, REMEDIATION, TRIAGE, TRIO, VIEWS, Role


def test_the_default_split_is_the_one_of_the_design() -> None:
    assert TRIAGE.views == {"alerts", "slo", "window", "inspection"}
    assert TRIAGE.may == {"classify_severity", "identify_root_cause", "request_more_logs"}
    assert ESCALATION.views == {"directory", "changes", "declarations"}
    assert ESCALATION.may == {"escalate"}
    assert REMEDIATION.views == {"health", "effects", "declarations"}
    assert REMEDIATION.may == {"remediate", "resolve", "ignore"}


def test_the_trio_shares_out_all_actions_and_all_views() -> None:
    assert sorted(action for role in TRIO for action in role.may) == sorted(ACTION_TYPES)
    assert {view for role in TRIO for view in role.views} == set(VIEWS)


def test_a_role_is_a_value_made_of_any_iterables() -> None:
    one = Role("r", ["slo", "alerts"], iter(("escalate",)))
    assert one == Role("r", frozenset(("alerts", "slo")), frozenset(("escalate",)))
    assert hash(one) == hash(Role("r", frozenset(("alerts", "slo")), frozenset(("escalate",))))


def test_unknown_views_and_action_types_are_named() -> None:
    with pytest.raises(UnknownName, match="unknown view 'truth'; known: alerts, slo"):
        Role("r", frozenset({"truth"}), frozenset())
    with pytest.raises(UnknownName, match="unknown action type 'fix'; known: classify_severity"):
        Role("r", frozenset(), frozenset({"fix"}))
