"""Roles and role splits as data: the built-in ones, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage import InvalidInput, Report, RequestTraces, Topology
from logtriage.actions import ACTION_TYPES
from logtriage.codec import load_role_split, role_split_to_json
from logtriage.errors import UnknownName
from logtriage.evaluation import RunSpec
from logtriage.joint import observe_roles
from logtriage.policies import ChatPolicies
from logtriage.roles import VIEWS, Role, RoleSplit, role_actions, role_words, watched
from logtriage.roles.splits import (
    BY_CHANNEL,
    BY_TIER,
    DUO,
    ESCALATION,
    NORTH_SOUTH,
    ROLE_SPLITS,
    SOLO,
    TRIAGE,
    TRIO,
    TRIO_WITHOUT_BOARD,
    TRIO_WITHOUT_REPORTS,
    get_role_split,
)
from logtriage.roles.words import report_words
from logtriage.vector import BatchedTeam, encode_role_tokens
from logtriage.world.loading import load_world
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES

ALL = Role("all", VIEWS, ACTION_TYPES)


@pytest.mark.parametrize("split", [DUO, TRIO, BY_CHANNEL], ids=lambda split: split.name)
def test_a_team_shares_out_all_views_and_each_action_once(split: RoleSplit) -> None:
    shared = [kind for role in split.roles for kind in role.may if kind in ACTION_TYPES]
    assert sorted(shared) == sorted(ACTION_TYPES)
    left = {"window"} if split is TRIO else set()  # nobody of the trio tails all logs
    assert {view for role in split.roles for view in role.views} == set(VIEWS) - left


def test_without_reports_nobody_speaks_and_all_see_what_was_declared() -> None:
    for split, quiet in (
        (TRIO, TRIO_WITHOUT_REPORTS),
        (BY_CHANNEL, ROLE_SPLITS["by_channel_without_reports"]),
        (NORTH_SOUTH, ROLE_SPLITS["north_south_without_reports"]),
        (BY_TIER, ROLE_SPLITS["by_tier_without_reports"]),
    ):
        assert quiet.name == f"{split.name}_without_reports"
        for role, silent in zip(split.roles, quiet.roles, strict=True):
            assert role.views - silent.views == {"reports"}
            assert role.may - silent.may == {"report"}
            assert (role.name, role.watches) == (silent.name, silent.watches)


def test_splits_by_name() -> None:
    assert [get_role_split(name) for name in ROLE_SPLITS] == [
        SOLO, DUO, TRIO, TRIO_WITHOUT_REPORTS, TRIO_WITHOUT_BOARD, BY_CHANNEL,
        ROLE_SPLITS["by_channel_without_reports"], NORTH_SOUTH,
        ROLE_SPLITS["north_south_without_reports"], BY_TIER,
        ROLE_SPLITS["by_tier_without_reports"],
    ]  # fmt: skip
    with pytest.raises(UnknownName, match="unknown role split 'quartet'; known: solo, duo, trio"):
        get_role_split("quartet")
    assert TRIO.role("escalation") is TRIO.role(ESCALATION) is ESCALATION
    with pytest.raises(InvalidInput, match="role 'solo': expected a role of the split 'trio'"):
        TRIO.role(SOLO.roles[0])
    with pytest.raises(UnknownName, match="unknown role 'sre'; known: triage, escalation"):
        TRIO.role("sre")


def test_what_takes_a_split_takes_its_name_and_nothing_else() -> None:
    incident = lt.make_incident("cascading_failure-v4/test/42")
    state, role = lt.initial_state(incident), TRIO.roles[0]
    doors: tuple[Callable[[Any], Any], ...] = (
        lambda split: lt.belief(state, split).entropy,
        lambda split: lt.system_prompt(incident, split=split, role=role),
        lambda split: lt.transcript_of(state, role_split=split),
        lambda split: observe_roles(state, split),
        lambda split: BatchedTeam("cascading_failure-v4", split).split,
        lambda split: encode_role_tokens(state, split, role).tolist(),
        lambda split: ChatPolicies(str, split, "triage")(incident),
        lambda split: RunSpec(["expert"], ["cascading_failure-v4"], role_split=split),
    )
    for door in doors:
        assert door("trio") == door(TRIO)
        with pytest.raises(InvalidInput, match="role split 3: expected a name or a RoleSplit"):
            door(3)


def test_unknown_views_action_types_and_names_are_named() -> None:
    with pytest.raises(UnknownName, match="unknown view 'truth'; known: alerts, slo"):
        Role("r", frozenset({"truth"}), frozenset())
    with pytest.raises(UnknownName, match=r"'hand_over'; known: .*; it comes with 'escalate'"):
        Role("x", VIEWS, {"hand_over"})
    with pytest.raises(UnknownName, match="unknown action type 'fix'; known: classify_severity"):
        Role("r", frozenset(), frozenset({"fix"}))
    with pytest.raises(InvalidInput, match="expected a list of names, got the string 'slo'"):
        Role("r", "slo", frozenset())
    for name in ("Triage", "on call", ""):
        with pytest.raises(InvalidInput, match="expected a name of the form"):
            Role(name, frozenset(), frozenset())


def test_a_split_must_have_distinct_roles_that_may_do_everything_between_them() -> None:
    with pytest.raises(InvalidInput, match="'empty' has no roles"):
        RoleSplit("empty", ())
    with pytest.raises(InvalidInput, match="role split: the name is empty"):
        RoleSplit("", (ALL,))
    with pytest.raises(InvalidInput, match="two roles are called 'all'"):
        RoleSplit("twice", (ALL, ALL))
    with pytest.raises(InvalidInput, match="'idle' may do nothing"):
        RoleSplit("lazy", (ALL, Role("idle", VIEWS, ())))
    for kind in ACTION_TYPES:
        some = Role("some", VIEWS, set(ACTION_TYPES) - {kind})
        with pytest.raises(InvalidInput, match=f"no role may '{kind}'"):
            RoleSplit("short", (some,))


def test_settings_out_of_range_are_named() -> None:
    for settings, message in (
        ({"watches": "edge"}, "expected a list of names, got the string 'edge'"),
        ({"words": "kinds"}, "expected a list of words, got the string 'kinds'"),
        ({"words": ["a", "a"]}, "role 'r': word 'a' is given twice"),
        ({"words": ["kind"]}, r"unknown group of words of role 'r': 'kind' \(did you mean 'kinds'"),
        ({"words": [""]}, "a report has 1 to 200 characters, got 0"),
        ({"words": ["two\nlines"]}, "is not one printable line"),
        ({"delay": -1}, "role 'r': delay must be a whole number from 0 to 100, got -1"),
        ({"loss": 101}, "role 'r': loss must be a whole number from 0 to 100, got 101"),
        ({"loss": 0.5}, "loss must be a whole number from 0 to 100, got 0.5"),
        ({"budget": True}, "budget must be a whole number from 0 to 250, got True"),
    ):
        with pytest.raises((InvalidInput, UnknownName), match=message):
            Role("r", VIEWS, ACTION_TYPES, **settings)


@pytest.mark.parametrize("topology", [SEVEN_SERVICES, random_topology(3, 30)])
@pytest.mark.parametrize("split", [NORTH_SOUTH, BY_TIER], ids=lambda split: split.name)
def test_each_service_is_watched_by_one_role(split: RoleSplit, topology: Topology) -> None:
    seen = [service for role in split.roles for service in watched(role, topology)]
    assert sorted(seen) == list(range(len(topology)))
    for role in split.roles:
        assert watched(role, topology)
        asked = {
            action.service
            for action in role_actions(role, topology)
            if isinstance(action, RequestTraces)
        }
        assert asked == {topology.names[service] for service in watched(role, topology)}


def test_the_parts_of_the_default_topology() -> None:
    names = SEVEN_SERVICES.names
    parts = {
        role.name: {names[service] for service in watched(role, SEVEN_SERVICES)}
        for split in (NORTH_SOUTH, BY_TIER)
        for role in split.roles
    }
    services = {"auth-service", "payment-service", "notification-service"}
    assert parts["north"] == {"api-gateway", *services}
    assert parts["edge"] == {"api-gateway"}
    assert parts["service"] == services
    assert parts["south"] == parts["data"] == {"user-db", "payment-db", "email-queue"}


def test_words_are_groups_and_one_s_own() -> None:
    role = attrs.evolve(TRIAGE, words=("services", "kinds", "ask escalation", "slow_query"))
    words = role_words(role, SEVEN_SERVICES)
    assert words == (*SEVEN_SERVICES.names, *report_words(load_world("oncall")), "ask escalation")
    reports = [
        action for action in role_actions(role, SEVEN_SERVICES) if isinstance(action, Report)
    ]
    assert reports == [Report(word, "triage") for word in words]
    assert role_words(DUO.role("action"), SEVEN_SERVICES) == ()
    for one in TRIO.roles:
        others = [f"ask {name}" for name in TRIO.names if name != one.name]
        assert [
            word for word in role_words(one, SEVEN_SERVICES) if word.startswith("ask")
        ] == others
        assert set(load_world("oncall").board_words) <= set(role_words(one, SEVEN_SERVICES))


@pytest.mark.parametrize("split", [TRIO, TRIO_WITHOUT_REPORTS], ids=lambda split: split.name)
def test_the_splits_of_two_requests_are_the_built_in_ones_with_a_budget(split: RoleSplit) -> None:
    name = split.name.replace("trio", "trio_two_requests")
    folder = Path(__file__).parents[2] / "training" / "splits"
    roles = tuple(attrs.evolve(role, budget=2) for role in split.roles)
    assert load_role_split(folder / f"{name}.json") == RoleSplit(name, roles)


@pytest.mark.parametrize("place", ["split", "role_split"])  # of a trained team, of a run
def test_the_record_of_a_run_holds_its_split(tmp_path: Path, place: str) -> None:
    record = {"split": "test", place: role_split_to_json(TRIO)}
    (tmp_path / "run.json").write_text(json.dumps(record), encoding="utf-8")
    assert load_role_split(tmp_path / "run.json") == TRIO


def test_a_part_that_a_topology_does_not_have_is_named() -> None:
    west = Role("r", VIEWS, ACTION_TYPES, watches=("west",))
    with pytest.raises(UnknownName) as caught:
        watched(west, SEVEN_SERVICES)
    assert str(caught.value) == (
        "unknown part 'west'; known: north, south, entries, callers, leaves, edge, service, "
        "datastore, queue; role 'r' watches it"
    )


def test_the_split_by_tier_tells_the_services_of_any_world_apart() -> None:
    shop = load_world("tiny").topologies["shop"]
    for topology in (SEVEN_SERVICES, shop):
        parts = [watched(role, topology) for role in get_role_split("by_tier").roles]
        assert sorted(one for part in parts for one in part) == list(range(len(topology)))
    assert parts == [{0}, {1}, {2}]
