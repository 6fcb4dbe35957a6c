"""The baselines: what each goes by, how they rank, and that they know when to be silent."""

import attrs
import pytest

import logtriage as lt
from logtriage.policies import METHODS, RankingPolicy
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy
from logtriage.topology import Service
from logtriage.world.telemetry import Alert, Signal
from tests.builders import own_topology

TOPOLOGY = own_topology(
    "t",
    ("sre-team", "security-team"),
    (
        Service("front", "edge", "sre-team", ("b", "c")),
        *(Service(name, "service", "sre-team", ()) for name in "bc"),
    ),
)


def _signals(**strays: int) -> tuple[Signal, ...]:
    return tuple(Signal(name, 1000 + 10 * stray, 1000, 10) for name, stray in strays.items())


def _screen(*signals: tuple[Signal, ...], tick: int = 0, horizon: int = 3) -> lt.Observation:
    return lt.Observation(TOPOLOGY, tick, horizon, None, True, signals=signals)


@pytest.mark.parametrize(
    ("name", "signals", "score"),
    [
        ("cpu_rise", _signals(cpu_bp=9), 9),
        ("cpu_rise", _signals(cpu_bp=-9), 0),
        ("cpu_rise", (Signal("cpu_bp", 9000),), 0),
        ("network_delay", _signals(network_ms=7, cpu_bp=9), 7),
        ("event_shift", _signals(events_bp=-6), 6),
        ("error_count", (Signal("new_errors_bp", 5000), Signal("calls", 40)), 20),
        ("error_count", (Signal("new_errors_bp", 5000),), 0.5),
    ],
)
def test_what_each_goes_by(name: str, signals: tuple[Signal, ...], score: float) -> None:
    assert METHODS[name].score({one.name: one for one in signals}) == pytest.approx(score)


@pytest.mark.parametrize(
    ("alert", "best"),
    [("HighLatency", "front"), ("LowAvailability", "c"), ("HighErrorRate", "c"), ("DiskFull", "b")],
)
def test_what_callers_show_as_well_counts_in_the_metric_that_the_alert_is_about(
    alert: str, best: str
) -> None:
    signals = (
        _signals(latency_us=20),
        _signals(latency_us=5, error_bp=40),
        _signals(latency_us=2, availability_bp=-30, error_bp=50),
    )
    if alert == "DiskFull":
        signals = (signals[0], _signals(latency_us=5, availability_bp=-60), signals[2])
    screen = attrs.evolve(_screen(*signals), alerts=(Alert("front", alert, 0),))
    policy = RankingPolicy(METHODS["combined"])
    _, memory = policy.act(screen, None)
    assert policy.ranking(screen, memory)[0] == (best,)


@pytest.mark.parametrize(
    ("name", "signals", "score"),
    [
        ("n_sigma", _signals(cpu_bp=2, p50_ms=-7), 7),
        ("n_sigma", (Signal("cpu_bp", 9000),), 0),
        ("baro", (Signal("latency_us", 1600, 1000, 100, iqr=300),), 2),
        # Without quartiles those of a normal distribution with that spread.
        ("baro", (Signal("latency_us", 1000 + 1349, 1000, 100),), 10),
        # What callers show as well counts for less than three spreads of one's own.
        ("combined", _signals(p50_ms=3), 1.5),
        ("combined", (Signal("latency_us", 1_000_000, 0, 1),), 3),
        ("combined", _signals(p50_ms=500, cpu_bp=4), 4),
        ("combined", _signals(availability_bp=-3), 1.5),
        ("combined", _signals(availability_bp=3), 0),
        ("combined", _signals(calls=90, requests=90, workload_milli=90), 0),
        ("combined", _signals(mem_milli=-8), 8),
        ("combined", _signals(events_bp=-6, new_errors_bp=5), 6),
        ("combined", _signals(cpu_bp=-9), 0),
    ],
)
def test_what_the_methods_of_the_field_go_by(
    name: str, signals: tuple[Signal, ...], score: float
) -> None:
    policy, screen = RankingPolicy(METHODS[name]), _screen(_signals(), signals, _signals())
    action, memory = policy.act(attrs.evolve(screen, tick=1), None)
    assert memory is not None
    assert policy._summed(memory)[1] == pytest.approx(score, rel=1e-4)
    assert action == (lt.IdentifyRootCause("b") if score else lt.Resolve())


def test_a_lasting_fault_beats_a_spike() -> None:
    policy, memory = RankingPolicy(METHODS["cpu_rise"]), None
    spike = (_signals(), _signals(cpu_bp=4), _signals(cpu_bp=9))
    calm = (_signals(), _signals(cpu_bp=4), _signals())
    action, memory = policy.act(_screen(*calm, horizon=5), memory)
    assert action == lt.RequestMoreLogs(None)
    action, memory = policy.act(_screen(*spike, tick=1, horizon=5), memory)
    action, memory = policy.act(_screen(*calm, tick=2, horizon=5), memory)
    action, memory = policy.act(_screen(*calm, tick=3, horizon=5), memory)
    assert action == lt.IdentifyRootCause("b")
    last = attrs.evolve(_screen(*calm, tick=4, horizon=5), root_cause="b")
    assert policy.act(last, memory)[0] == lt.Resolve()
    assert policy.ranking(last, memory) == (("b",), ("c",), ("front",))


def test_the_combined_one_finds_the_shipped_roots() -> None:
    for incident in shipped_incidents():
        policy = make_policy("combined")(incident)
        graded = lt.grade(lt.play(incident, policy))
        assert graded.criterion("root_cause").score == 1.0
        assert graded.score == pytest.approx(0.7)  # it names no class of fault
