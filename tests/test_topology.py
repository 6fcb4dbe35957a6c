"""Topologies: the default one, derived graph facts, and every rule that is enforced."""

from typing import Any

import pytest

from logtriage import Topology
from logtriage.errors import TopologyError, UnknownName
from logtriage.topology import Service, Tier
from tests.builders import SEVEN_SERVICES

TEAMS = ("sre-team", "security-team")
TIERS = (Tier("edge", entry=True, calls=True), Tier("service", calls=True), Tier("store"))


def topology(*services: Service, **changes: Any) -> Topology:
    fields = {"name": "t", "teams": TEAMS, "tiers": TIERS, "remedies": ("restart",), **changes}
    return Topology(services=services, **fields)


def edge(*calls: str) -> Service:
    return Service("gate", "edge", "sre-team", calls)


def inner(name: str, *calls: str, tier: str = "service", owner: str = "sre-team") -> Service:
    return Service(name, tier, owner, calls)


def test_the_default_topology_is_the_one_of_the_design() -> None:
    assert {one.name: one.calls for one in SEVEN_SERVICES.services} == {
        "api-gateway": ("auth-service", "payment-service", "notification-service"),
        "auth-service": ("user-db",), "user-db": (), "payment-service": ("payment-db",),
        "payment-db": (), "notification-service": ("email-queue",), "email-queue": (),
    }  # fmt: skip
    assert SEVEN_SERVICES.teams == ("sre-team", "backend-team", "dba-team", "security-team")


def test_graph_facts_of_a_small_graph_by_hand() -> None:
    # gate -> a -> c, gate -> b -> c; a also calls b
    graph = topology(edge("a", "b"), inner("a", "c", "b"), inner("b", "c"), inner("c"))
    assert graph.names == ("gate", "a", "b", "c")
    assert graph.calls == ((1, 2), (3, 2), (3,), ())
    assert graph.callers == ((), (0,), (0, 1), (1, 2))
    assert graph.edges == (0,)
    assert graph.depth == (0, 1, 1, 2)
    assert graph.hops_from(3) == (2, 1, 1, 0)
    assert graph.hops_from(1) == (1, 0, -1, -1)
    assert len(graph) == 4


def test_names_are_looked_up_or_refused_with_the_choices() -> None:
    assert SEVEN_SERVICES.index("user-db") == 2
    assert "user-db" in SEVEN_SERVICES
    assert "user" not in SEVEN_SERVICES
    assert 2 not in SEVEN_SERVICES
    with pytest.raises(UnknownName, match="unknown service 'pay-db'; known: api-gateway, auth"):
        SEVEN_SERVICES.index("pay-db")


@pytest.mark.parametrize(
    "name", ["a" * 100, "café-3", "склад", "订单-api", "注文サービス", "Ära", "x.y_z"]
)
def test_names_of_any_one_script_are_names(name: str) -> None:
    assert topology(edge(name), inner(name)).index(name) == 1


def test_names_that_differ_in_case_are_apart() -> None:
    graph = topology(edge("A", "a", "Склад", "склад"), *map(inner, ("A", "a", "Склад", "склад")))
    assert len(graph) == 5


@pytest.mark.parametrize("name", ["", "a/", "/", "a/b/c", "a@b", "a/@b", "a b", "-", "\n"])
def test_the_name_of_a_topology_has_the_letters_of_other_names(name: str) -> None:
    """Ids of incidents end in @ and the name."""
    with pytest.raises(TopologyError) as caught:
        topology(edge(), name=name)
    assert str(caught.value).startswith(f"topology {name!r}: its name must be letters of one")
    # Only the names of services and teams stand where all and none mean something.
    assert topology(edge(), name="all").name == "all"
    # A recording's is its id.
    assert topology(edge(), name="mine/1").name == "mine/1"


@pytest.mark.parametrize(
    ("services", "changes", "message"),
    [
        ((), {}, "no services"),
        ((edge(),), {"teams": ()}, "no teams"),
        ((edge(),), {"teams": ("a", "a")}, "team 'a' appears twice"),
        ((edge(), inner("a"), inner("a")), {}, "service 'a' appears twice"),
        ((edge(""), inner("")), {}, "service name '' must be letters of one script, digits"),
        ((edge("a b"), inner("a b")), {}, "service name 'a b' must be"),
        ((edge("n\u0435t"), inner("n\u0435t")), {},
         r"service name 'n\u0435t' must be letters of one"),
        ((edge("a\u3164"), inner("a\u3164")), {}, r"service name 'a\u3164' must be"),
        ((edge("a" * 101), inner("a" * 101)), {}, "at most 100"),
        ((edge("\u043e\u0441\u0430"), inner("\u043e\u0441\u0430")), {},
         r"service name '\u043e\u0441\u0430' must be"),
        ((edge("all"), inner("all")), {}, "service name 'all' is reserved"),
        ((edge("None"), inner("None")), {}, "service name 'None' is reserved"),
        ((edge("a"), inner("a", tier="cache")), {}, "'a': unknown tier 'cache'; known: edge, s"),
        ((edge("a"), inner("a", owner="x")), {}, "'a': owner: unknown team 'x'; known: sre"),
        ((edge("a"), inner("a", "b")), {},
         "service 'a': calls: unknown service 'b'; known: gate, a"),
        ((edge("a"), inner("a", "a")), {}, "service 'a': calls itself"),
        ((edge("a", "a"), inner("a")), {}, "service 'gate': calls 'a' twice"),
        ((inner("a"),), {}, "no service of a tier with entry, which users reach; such are: edge"),
        ((edge(), inner("a"), inner("b", "a")), {}, "no call from an entry reaches a, b"),
        ((edge(),), {"tiers": ()}, "no tiers"),
        ((edge(),), {"tiers": (TIERS[0], TIERS[0])}, "tier 'edge' appears twice"),
        ((edge(),), {"tiers": (Tier("edge"),)}, "with entry, which users reach; no tier has it"),
        ((edge(),), {"remedies": ()}, "no remedies"),
        ((edge(),), {"remedies": ("a:b",)},
         "remedy name 'a:b' must be letters of one script, digits"),
        ((edge(),), {"paged": {"speed": "x"}}, "paged: speed: unknown team 'x'; known: sre-team"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named(
    services: tuple[Service, ...], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TopologyError) as caught:
        topology(*services, **changes)
    assert message in str(caught.value)
    assert str(caught.value).startswith("topology 't': ")


def test_who_is_paged_for_a_class_is_said_by_name_and_never_guessed() -> None:
    graph = topology(edge(), paged={"speed": "security-team", "capacity": "sre-team"})
    assert graph.pages("speed") == "security-team"
    assert graph == topology(edge(), paged={"capacity": "sre-team", "speed": "security-team"})
    with pytest.raises(TopologyError, match=r"unknown class in paged 'power'; known: capacity, sp"):
        graph.pages("power")
    with pytest.raises(TopologyError, match="unknown class in paged 'speed'"):
        topology(edge()).pages("speed")
