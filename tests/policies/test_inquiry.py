"""The baseline that asks for figures: whom it asks, what it declares, and that it may see none."""

import attrs
import pytest

import logtriage as lt
from logtriage.actions import FaultCategory
from logtriage.observation import Observation
from logtriage.policies import InquiryPolicy
from logtriage.policies.inquiry import fault_class, score
from logtriage.topology import Service
from logtriage.world.telemetry import Alert, Gauge, LogLine, Signal
from tests.builders import own_topology

TOPOLOGY = own_topology(
    "t",
    ("sre-team", "security-team"),
    (
        Service("front", "edge", "sre-team", ("back", "cart")),
        Service("back", "service", "sre-team", ("db",)),
        Service("cart", "service", "sre-team", ()),
        Service("db", "datastore", "sre-team", ()),
    ),
)


def signals(**strays: int) -> tuple[Signal, ...]:
    return tuple(Signal(name, 1000 + 10 * stray, 1000, 10) for name, stray in strays.items())


def screen(
    *shown: tuple[str, tuple[Signal, ...]],
    alerts: tuple[str, ...] = (),
    errors: tuple[str, ...] = (),
    tick: int = 0,
) -> Observation:
    metrics = tuple(
        Gauge(name, one.name, (tick,), (), "", one) for name, several in shown for one in several
    )
    return Observation(
        TOPOLOGY,
        tick,
        8,
        None,
        True,
        alerts=tuple(Alert(one, "HighLatency", -1) for one in alerts),
        window=tuple(LogLine(0, one, "ERROR", "[new] it broke") for one in errors),
        metrics=metrics,
        on_request=True,
    )


def asked(seen: Observation) -> str:
    action, _ = InquiryPolicy().act(seen, None)
    assert isinstance(action, lt.RequestMetrics)
    return action.service


def test_it_asks_where_a_chain_of_alerts_ends() -> None:
    assert asked(screen(alerts=("front", "back"))) == "back"
    assert asked(screen(alerts=("front",), errors=("cart",))) == "cart"


def test_it_asks_whom_a_suspect_calls_before_anybody_else() -> None:
    policy, seen = InquiryPolicy(), screen(alerts=("back",))
    names = []
    memory = None
    for tick in range(3):
        action, memory = policy.act(attrs.evolve(seen, tick=tick), memory)
        assert isinstance(action, lt.RequestMetrics)
        names.append(action.service)
        seen = screen((action.service, signals(calls=0)), alerts=("back",), tick=tick)
    assert names == ["back", "db", "cart"]


def test_it_asks_a_service_without_figures_once_and_ignores_no_alert() -> None:
    policy, seen = InquiryPolicy(), screen(alerts=("back",))
    first, memory = policy.act(seen, None)
    again, memory = policy.act(attrs.evolve(seen, tick=1, last_actions=(first,)), memory)
    assert (first, again) == (lt.RequestMetrics("back"), lt.RequestMetrics("db"))
    assert policy.act(attrs.evolve(seen, tick=5), None)[0] == lt.IdentifyRootCause("back")
    assert policy.act(screen(tick=5), None)[0] == lt.Ignore()


def test_it_names_who_strays_and_the_class_then_closes() -> None:
    policy, seen = InquiryPolicy(), screen(("db", signals(cpu_bp=40, p50_ms=2)), tick=5)
    action, memory = policy.act(seen, None)
    assert action == lt.IdentifyRootCause("db")
    seen = attrs.evolve(screen(tick=6), root_cause="db")
    action, memory = policy.act(seen, memory)
    assert action == lt.ClassifyFault(FaultCategory.RESOURCE)
    seen = attrs.evolve(seen, tick=7, fault_category=FaultCategory.RESOURCE)
    assert policy.act(seen, memory)[0] == lt.Resolve()
    assert policy.ranking(seen, memory) == (("db",), ("front", "back", "cart"))
    # A simulated incident has no class to declare.
    assert policy.act(attrs.evolve(seen, open_loop=False, fault_category=None), memory)[0] == (
        lt.Resolve()
    )


@pytest.mark.parametrize(
    ("strays", "category"),
    [
        ({"cpu_bp": 9, "events_bp": -4}, "resource"),
        ({"cpu_bp": 9, "events_bp": -40}, "code"),
        ({"new_errors_bp": 5}, "code"),
        ({"network_ms": 8, "cpu_bp": 4}, "network"),
        ({"mem_milli": 8}, "resource"),
        # Slow with nothing of its own astray: it waits for its packets.
        ({"p50_ms": 50}, "network"),
        ({}, "network"),
    ],
)
def test_the_class_is_that_of_the_furthest_stray(strays: dict[str, int], category: str) -> None:
    assert fault_class(signals(**strays)) == category


def test_what_is_a_services_own_counts_for_more() -> None:
    assert score(signals(p50_ms=1000)) < 3 < score(signals(cpu_bp=4))
    assert score(()) == 0
