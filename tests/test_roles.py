"""Roles and role splits as data: the built-in ones, and what is refused."""

import pytest

from logtriage import InvalidInput, UnknownName
from logtriage.actions import ACTION_TYPES
from logtriage.faults import FAULT_KINDS
from logtriage.roles import (
    BOARD,
    DUO,
    ESCALATION,
    REMEDIATION,
    REPORT_WORDS,
    ROLE_SPLITS,
    SOLO,
    TRIAGE,
    TRIO,
    TRIO_WITHOUT_BOARD,
    VIEWS,
    Role,
    RoleSplit,
    get_role_split,
)

ALL = Role("all", VIEWS, ACTION_TYPES)


def test_the_default_split_is_the_one_of_the_design() -> None:
    assert TRIAGE.views == {"alerts", "slo", "window", "inspection", "traces"}
    assert TRIAGE.may == {
        "classify_severity",
        "identify_root_cause",
        "request_more_logs",
        "request_traces",
        "report",
        "wait",
    }
    assert ESCALATION.views == {"directory", "changes", "notes", "declarations", "reports"}
    assert ESCALATION.may == {"escalate", "wait"}
    assert REMEDIATION.views == {"health", "metrics", "effects", "declarations", "reports"}
    assert REMEDIATION.may == {"remediate", "request_metrics", "resolve", "ignore", "wait"}
    assert TRIO.roles == (TRIAGE, ESCALATION, REMEDIATION)


@pytest.mark.parametrize("split", [DUO, TRIO], ids=lambda split: split.name)
def test_a_team_shares_out_all_views_and_each_action_once(split: RoleSplit) -> None:
    shared = [kind for role in split.roles for kind in role.may if kind in ACTION_TYPES]
    assert sorted(shared) == sorted(ACTION_TYPES)
    assert {view for role in split.roles for view in role.views} == set(VIEWS)


def test_solo_is_the_single_agent() -> None:
    (role,) = SOLO.roles
    assert role == Role("solo", VIEWS, ACTION_TYPES)


def test_without_the_board_nothing_but_the_board_is_missing() -> None:
    for role, deaf in zip(TRIO.roles, TRIO_WITHOUT_BOARD.roles, strict=True):
        assert deaf.name == role.name
        assert role.views - deaf.views == role.views & set(BOARD)
        assert role.may - deaf.may == role.may & {"report"}


def test_the_report_words_are_the_fault_kinds_and_that_there_is_none() -> None:
    assert (*(kind.name for kind in FAULT_KINDS), "no_fault") == REPORT_WORDS


def test_splits_by_name() -> None:
    assert [get_role_split(name) for name in ROLE_SPLITS] == [SOLO, DUO, TRIO, TRIO_WITHOUT_BOARD]
    with pytest.raises(UnknownName, match="unknown role split 'quartet'; known: solo, duo, trio"):
        get_role_split("quartet")
    assert TRIO.role("escalation") is ESCALATION
    with pytest.raises(UnknownName, match="unknown role 'sre'; known: triage, escalation"):
        TRIO.role("sre")


def test_a_role_is_a_value_made_of_any_iterables() -> None:
    one = Role("r", ["slo", "alerts"], iter(("escalate",)))
    assert one == Role("r", frozenset(("alerts", "slo")), frozenset(("escalate",)))
    assert hash(one) == hash(Role("r", frozenset(("alerts", "slo")), frozenset(("escalate",))))


def test_unknown_views_action_types_and_names_are_named() -> None:
    with pytest.raises(UnknownName, match="unknown view 'truth'; known: alerts, slo"):
        Role("r", frozenset({"truth"}), frozenset())
    with pytest.raises(UnknownName, match="unknown action type 'fix'; known: classify_severity"):
        Role("r", frozenset(), frozenset({"fix"}))
    with pytest.raises(InvalidInput, match="expected a list of names, got the string 'slo'"):
        Role("r", "slo", frozenset())
    for name in ("Triage", "on call", ""):
        with pytest.raises(InvalidInput, match="expected a lower-case identifier"):
            Role(name, frozenset(), frozenset())


def test_a_split_must_have_distinct_roles_that_may_do_everything_between_them() -> None:
    with pytest.raises(InvalidInput, match="'empty' has no roles"):
        RoleSplit("empty", ())
    with pytest.raises(InvalidInput, match="two roles are called 'all'"):
        RoleSplit("twice", (ALL, ALL))
    with pytest.raises(InvalidInput, match="'idle' may do nothing"):
        RoleSplit("lazy", (ALL, Role("idle", VIEWS, ())))
    for kind in ACTION_TYPES:
        some = Role("some", VIEWS, set(ACTION_TYPES) - {kind})
        with pytest.raises(InvalidInput, match=f"no role may '{kind}'"):
            RoleSplit("short", (some,))
