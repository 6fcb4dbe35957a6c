"""Policies by specification: what is known, what is refused, and that workers can have it."""

import pytest

import logtriage as lt
from logtriage.errors import UnknownName
from logtriage.policies import (
    ConstantPolicy,
    ExpertPolicy,
    FirstErrorPolicy,
    OraclePolicy,
    RandomPolicy,
)
from logtriage.registry import constant_actions, make_policy
from logtriage.world.topologies import random_topology
from tests.builders import FIVE_TEAMS, SEVEN_SERVICES

INCIDENT = lt.make_incident("cascading_failure-v4/test/3")


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("oracle", OraclePolicy), ("expert", ExpertPolicy), ("first_error", FirstErrorPolicy),
        ("random", RandomPolicy), ("random:12", RandomPolicy), ("constant:resolve", ConstantPolicy),
        ("constant:", ConstantPolicy),
    ],
)  # fmt: skip
def test_what_a_specification_makes(spec: str, kind: type) -> None:
    assert type(make_policy(spec)(INCIDENT)) is kind


@pytest.mark.parametrize("spec", ["", "Oracle", "oracle:1", "expert:", "heuristic", "human "])
def test_an_unknown_policy_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(
        lt.InvalidInput, match="'pooled' plays as a team; give its roles by --split-"
    ):
        make_policy("pooled")
    with pytest.raises(UnknownName, match="known: oracle, observer, top_suspect, "):
        make_policy(spec)


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", " 1", "\u0661"])
def test_a_seed_is_a_whole_number(seed: str) -> None:
    with pytest.raises(lt.InvalidInput, match="expected a whole number from 0 as the seed"):
        make_policy(f"random:{seed}")


def test_a_constant_list_is_read() -> None:
    text = (
        "classify_severity=P1, escalate=sre-team,remediate=flush-cache:user-db,,"
        "request_more_logs,resolve,"
    )
    assert constant_actions(text, SEVEN_SERVICES) == (
        lt.ClassifySeverity(lt.Severity.P1), lt.Escalate("sre-team"),
        lt.Remediate("flush-cache", "user-db"), lt.RequestMoreLogs(None), lt.Resolve(),
    )  # fmt: skip
    assert constant_actions("", SEVEN_SERVICES) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reboot", "constant action 'reboot': unknown action_type 'reboot'"),
        ("resolve,escalate", "constant action 'escalate': no team; one of: sre-team"),
        ("classify_severity=P9", "constant action 'classify_severity=P9': unknown severity 'P9'"),
        ("remediate=restart", "constant action 'remediate=restart': remediate wants"),
        ("identify_root_cause", "constant action 'identify_root_cause': no service"),
        ("malformed=x", "constant action 'malformed=x': "),
        ("=P1", "constant action '=P1': unknown action_type ''"),
    ],
)
def test_a_wrong_item_of_a_constant_list_is_named(text: str, message: str) -> None:
    with pytest.raises(lt.InvalidInput) as caught:
        constant_actions(text, SEVEN_SERVICES)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "item",
    [
        "escalate=x-team", "identify_root_cause=pay-db", "request_more_logs=pay-db",
        "remediate=restart:pay-db", "remediate=reboot:user-db",
    ],
)  # fmt: skip
def test_names_that_another_topology_may_have_are_kept(item: str) -> None:
    first, second = constant_actions(f"{item},resolve", SEVEN_SERVICES)
    assert isinstance(first, lt.Malformed)
    assert "unknown" in first.reason
    assert second == lt.Resolve()


def test_names_of_another_topology_are_malformed_there() -> None:
    policy = make_policy("constant:identify_root_cause=user-db,resolve")
    graph = random_topology(1, 5)
    there = lt.make_incident("single_crash-v4/ood/0")
    while there.topology == FIVE_TEAMS:
        number = int(there.id.rpartition("/")[2]) + 1
        there = lt.make_incident(f"single_crash-v4/ood/{number}")
    assert "user-db" not in graph
    action, _ = policy(there).act(lt.observe(lt.initial_state(there)), None)
    assert isinstance(action, lt.Malformed)
    assert "unknown service 'user-db'" in action.reason
