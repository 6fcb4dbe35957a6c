"""Worlds fitted to recordings, and what they make of other recordings."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import sqrt
from pathlib import Path

import attrs
import pytest

import logtriage as lt
from logtriage.actions import HandOver
from logtriage.beliefs import belief
from logtriage.beliefs.fitting import CHOICES, Fit, Recorded, left_out, right
from logtriage.errors import InvalidInput, WorldError
from logtriage.policies import RecordedObserverPolicy
from logtriage.policies.recorded_observer import best_answer
from logtriage.recorded import (
    RecordedIncident,
    RecordedService,
    RecordedTruth,
    Recording,
    Series,
    Shift,
    as_incident,
    load_records,
    on_request,
)
from logtriage.recorded.figures import FIRST_TICK, Measure
from logtriage.recorded.fitting.signs import evidence_of, signs_of
from logtriage.recorded.fitting.tables import ANOTHER, Counts, Smoothing, counted
from logtriage.recorded.fitting.worlds import fitted_world
from logtriage.registry import make_policy
from logtriage.rng import draw
from logtriage.state import State
from logtriage.world.copies import write_world
from logtriage.world.histories import history_key, sign_weights
from logtriage.world.loading import load_world
from logtriage.world.model import HEALTHY, WAITING, World
from logtriage.world.simulation import Simulation
from logtriage.world.tables import alphabet, picked, places

ONCALL = load_world("oncall")
#: A column of figures that begins with tick 0.
BEFORE = (None,) * -FIRST_TICK
#: The figure of CPU that reads as each token, in hundredths of a percent.
CPU = {"usual": 1000, "high": 9000, "low": 100}


@cache
def shipped() -> tuple[RecordedIncident, ...]:
    path = files("logtriage").joinpath("data", "recorded", "trainticket.jsonl.gz")
    return load_records(Path(str(path)))


def service(name: str, calls: tuple[str, ...], cpu: str, *, errors: bool) -> RecordedService:
    """A service whose CPU and log read as they are told, twice, in figures that move a little."""
    column = (*BEFORE, CPU[cpu], CPU[cpu] + 1)
    share = (*BEFORE, 5000 * errors, 5000 * errors)
    return RecordedService(
        name,
        calls=calls,
        baseline=Measure(cpu_bp=1000),
        spread=Measure(cpu_bp=100),
        series=Series(cpu_bp=column),
        new_errors=Shift(share, (*BEFORE, 0, 0), (*BEFORE, 100, 100)),
    )


def recording_of(incident: lt.Incident) -> RecordedIncident:
    """A drawn incident as a recording of the signs of its services, without fog."""
    simulation = incident.telemetry
    assert isinstance(simulation, Simulation)
    setting, rows = simulation.setting, []
    for place, row in enumerate(incident.topology.services):
        here, condition = places(incident.topology)[place], simulation.conditions[place]
        signs = {}
        for sort in ("cpu", "log"):
            point = draw(history_key(simulation.seed, sort), place) >> 48
            weights = sign_weights(setting, sort, here, condition)
            signs[sort] = alphabet(setting, sort, here)[picked(weights, point)]
        errors = signs["log"] == "exceptions"
        rows.append(
            attrs.evolve(service(row.name, row.calls, signs["cpu"], errors=errors), tier=row.tier)
        )
    faults = simulation.truth.faults
    names = incident.topology.names
    truth = (
        RecordedTruth((names[faults[0][1]],), faults[0][0], "code")
        if faults
        else RecordedTruth((), "none")
    )
    return RecordedIncident(
        f"drawn/{incident.id.replace('/', '-')}",
        "2031-05-06T10:00:00Z",
        Recording(tuple(rows), baseline="fault-free"),
        truth,
    )


@pytest.fixture(scope="module")
def drawn() -> list[RecordedIncident]:
    return [recording_of(lt.make_incident(f"single_crash-v4/train/{n}")) for n in range(500)]


@pytest.fixture(scope="module")
def counts(drawn: list[RecordedIncident]) -> Counts:
    return sum(map(counted, drawn), Counts())


def test_counts_give_the_tables_of_the_simulator_back(counts: Counts) -> None:
    """Within five standard deviations of a binomial draw, for every kind and for who waits."""
    signs = counts.signs
    checked = 0
    for condition in (*ONCALL.kind_names, WAITING):
        for sort, tokens in (("cpu", ("high", "low")), ("log", ("exceptions",))):
            count = sum(n for (of, at, _), n in signs.items() if (of, at) == (condition, sort))
            for token in tokens:
                share = ONCALL.signature(condition).get(sort, {}).get(token, 0) / 100
                off = abs(signs[condition, sort, token] - count * share)
                assert off <= 5 * sqrt(count * share * (1 - share)) + 1e-9, (condition, token)
                checked += count > 10
    assert checked > 20


def test_a_fitted_world_says_what_was_counted(
    drawn: list[RecordedIncident], counts: Counts
) -> None:
    topology = as_incident(drawn[0]).topology
    world = fitted_world(counts, ONCALL, attrs.evolve(topology, name="t"), "mine", Smoothing(1e-6))
    assert world.kind_names == (*sorted(kind for kind, _ in counts.kinds), ANOTHER)
    for kind, _ in counts.kinds:
        of = sum(counts.signs[kind, "cpu", token] for token in CPU)
        seen = 100 * counts.signs[kind, "cpu", "high"] / of
        assert abs(world.kind(kind).signature["cpu"]["high"] - max(1, seen)) <= 2
    assert world.rules.fog[0].background == 1  # no reading differs from its sign
    assert world.rules.tasks[0].benign == 1000 * counts.calm // 500


def test_a_kind_that_nobody_saw_shows_what_all_kinds_show(
    drawn: list[RecordedIncident], counts: Counts
) -> None:
    topology = as_incident(drawn[0]).topology
    world = fitted_world(counts, ONCALL, topology, "mine", Smoothing(1e9))
    rows = {tuple(world.kind(kind).signature["cpu"].items()) for kind in world.kind_names}
    assert len(rows) == 1


def test_without_temperature_kinds_look_healthy(
    drawn: list[RecordedIncident], counts: Counts
) -> None:
    topology = as_incident(drawn[0]).topology
    world = fitted_world(counts, ONCALL, topology, "mine", Smoothing(1.0, 0.0))
    assert world.kind("saturation").signature["cpu"] == world.signature(HEALTHY)["cpu"]


def test_the_fitted_belief_of_drawn_recordings_is_calibrated(drawn: list[RecordedIncident]) -> None:
    """Fitted to one half, what it says of the other half comes true as often as it says."""
    rows = [Recorded.of(one) for one in drawn]
    world = Fit(ONCALL).world(rows[:250], Smoothing(2.0, 1.0))
    tops = []
    for row in rows[250:]:
        if row.record.truth.root_causes:
            name, share = next(iter(belief(row.state, world=world).root_causes.items()))
            tops.append((share, name in row.record.truth.root_causes))
    said, was = (sum(column) / len(tops) for column in zip(*tops, strict=True))
    assert abs(said - was) < 3 * sqrt(said * (1 - said) / len(tops))


def test_recordings_that_came_with_the_package_make_a_world(tmp_path: Path) -> None:
    rows = [Recorded.of(one) for one in shipped()]
    fit = Fit(ONCALL, "trains")
    assert fit.choose(rows) in CHOICES
    world = fit.world(rows, CHOICES[0])
    assert world.kind_names == ("cpu_contention", "network_delay", "return", ANOTHER)
    write_world(world, tmp_path / "trains")
    assert load_world(tmp_path / "trains") == world
    policy = make_policy(f"observer:{tmp_path / 'trains'}")
    ends = [lt.play(one, policy(one)) for one in map(as_incident, shipped())]
    answered = [end for end in ends if not isinstance(end.actions[-1], HandOver)]
    assert all(lt.grade(end).score == pytest.approx(1.0) for end in answered)
    assert len(answered) >= len(ends) - 1


def test_each_reading_counts_once() -> None:
    """After the last recorded tick a screen shows old figures: they are no new reading."""
    record = recording_of(lt.make_incident("single_crash-v4/train/0"))
    incident = as_incident(record)
    assert signs_of(incident, 1) == signs_of(incident, 7)
    assert {sign.tick for sign in signs_of(incident, 7)} == {0, 1}
    log = [sign for sign in signs_of(incident, 7) if sign.sort == "log"]
    assert {sign.tick for sign in log} == {0}


def test_only_what_was_asked_for_is_evidence() -> None:
    world = Fit(ONCALL).world([Recorded.of(one) for one in shipped()], CHOICES[0])
    incident = as_incident(on_request(shipped()[0]))
    before = belief(lt.initial_state(incident), world=world)
    assert len({round(share, 9) for share in before.root_causes.values()}) == 1
    root = next(iter(incident.truth.root_causes))
    state = lt.transition(lt.initial_state(incident), lt.RequestMetrics(root))
    after = belief(state, world=world).root_causes
    assert next(iter(after)) == root
    assert after[root] > 5 * before.root_causes[root]


def test_a_word_that_a_world_lacks_tells_nothing_in_it() -> None:
    incident = as_incident(shipped()[2])
    signs = signs_of(incident, 7)
    assert {"network", "cpu"} <= {sign.sort for sign in signs}
    slots = [one.name for one in ONCALL.tokens.gauges]
    seen = evidence_of(signs, ONCALL)
    assert {slots[one.slot] for one in seen if one.channel == "metrics"} == {"cpu", "traffic"}


def test_a_belief_of_a_recording_takes_a_world_and_has_no_plan() -> None:
    state = lt.initial_state(as_incident(shipped()[0]))
    with pytest.raises(InvalidInput, match="logtriage world fit"):
        belief(state)
    held = belief(state, world=ONCALL)
    assert sum(held.root_causes.values()) + held.benign == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="neither teams nor remedies"):
        held.best()
    with pytest.raises(InvalidInput, match="no recording"):
        belief(lt.initial_state(lt.make_incident("single_crash-v4/train/0")), world=ONCALL)


def test_a_group_left_out_is_in_no_world_that_reads_it(drawn: list[RecordedIncident]) -> None:
    rows = [Recorded.of(one) for one in drawn[:60]]
    groups = {row.group for row in rows}
    kept_groups: list[set[tuple[str, ...]]] = []

    def made(kept: Sequence[Recorded]) -> World:
        kept_groups.append({row.group for row in kept})
        return Fit(ONCALL).world(kept, CHOICES[0])

    seen = left_out(rows, made, lambda world, row: (row.group, right(row, world)))
    faulty = [row.group for row in rows if row.record.truth.root_causes]
    assert [group for group, _ in seen] == faulty
    assert [groups - kept for kept in kept_groups] == [{group} for group in dict.fromkeys(faulty)]


def test_who_is_sure_answers_and_who_doubts_hands_over(drawn: list[RecordedIncident]) -> None:
    rows = [Recorded.of(one) for one in drawn]
    world = Fit(ONCALL).world(rows[:250], Smoothing(2.0, 1.0))
    closed: Counter[bool] = Counter()
    for row in rows[250:290]:
        incident = as_incident(row.record)
        assert incident.worth_of_hand_over is not None
        held = belief(State(incident, tick=incident.horizon - 3), world=world)
        worth = best_answer(held).worth
        actions = lt.play(incident, RecordedObserverPolicy(incident, world)).actions
        handed = isinstance(actions[-1], HandOver)
        assert handed is (worth <= incident.worth_of_hand_over)
        closed[handed] += 1
    assert min(closed.values()) > 2


def test_recordings_without_a_fault_fit_nothing() -> None:
    record = attrs.evolve(recording_of(lt.make_incident("single_crash-v4/train/0")))
    calm = attrs.evolve(record, truth=RecordedTruth((), "none"))
    assert counted(calm).calm == 1
    with pytest.raises(WorldError, match="no recording has a fault"):
        Fit(ONCALL).world([Recorded.of(calm)], CHOICES[0])


def test_a_world_without_a_tier_of_the_recordings_is_refused() -> None:
    queue = service("q", (), "usual", errors=False)
    rows = (
        attrs.evolve(service("a", ("q",), "high", errors=False), tier="edge"),
        attrs.evolve(queue, tier="queue"),
    )
    record = RecordedIncident(
        "mine/1", "2031-05-06T10:00:00Z", Recording(rows), RecordedTruth(("a",), "odd", "code")
    )
    with pytest.raises(WorldError, match="world 'tiny' has no tier queue"):
        Fit(load_world("tiny")).world([Recorded.of(record)], CHOICES[0])


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({("odd", "code"): 1, ("odd", "network"): 2}, "kind 'odd' is of class 'code' in one"),
        ({("waiting", "code"): 1}, "call the recorded kind 'waiting' something else"),
        ({("Odd kind", "code"): 1}, "Odd kind"),
    ],
)
def test_kinds_that_a_world_cannot_have_are_refused(
    kinds: dict[tuple[str, str], int], message: str
) -> None:
    topology = as_incident(shipped()[0]).topology
    with pytest.raises(WorldError, match=message):
        fitted_world(Counts(kinds=Counter(kinds)), ONCALL, topology, "mine", CHOICES[0])
