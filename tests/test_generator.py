"""Drawn incidents: balance, the directory, held-out pairs, splits, and canonical truths.

The bounds are those of the issue; they are checked on 2,000 incidents per task.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

import pytest

from logtriage import (
    SEVEN_SERVICES,
    Incident,
    InvalidInput,
    Severity,
    TaskSpec,
    UnknownName,
    get_task,
    incident_ids,
    make_incident,
    random_topology,
)
from logtriage.emission import SimulatedTelemetry
from logtriage.faults import FAULT_KINDS, FaultClass, fault_kind
from logtriage.generator import draw_incident, held_out, open_incident
from logtriage.incident import Fault
from logtriage.runbook import responsible_team
from logtriage.tasks import SPLITS, IncidentId
from logtriage.topology import Service, Topology
from tests.builders import V0_TASKS, V1_TASKS

SAMPLE = 2_000
every_v1_task = pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)
every_split = pytest.mark.parametrize("split", SPLITS)


@lru_cache(maxsize=12)
def sample(task_id: str, split: str) -> tuple[Incident, ...]:
    return tuple(make_incident(one) for one in incident_ids(task_id, split, SAMPLE))


def real(task_id: str, split: str) -> list[Incident]:
    return [one for one in sample(task_id, split) if not one.truth.benign]


def fault_of(incident: Incident) -> Fault:
    assert incident.truth.fault is not None
    return incident.truth.fault


def root_of(incident: Incident) -> int:
    return incident.topology.index(fault_of(incident).service)


def telemetry_of(incident: Incident) -> SimulatedTelemetry:
    assert isinstance(incident.telemetry, SimulatedTelemetry)
    return incident.telemetry


def largest_share(
    incidents: list[Incident], values: Callable[[Incident], Iterable[object]]
) -> float:
    counts = Counter(value for one in incidents for value in set(values(one)))
    return max(counts.values()) / len(incidents)


@every_v1_task
@pytest.mark.parametrize("split", ["train", "val", "test"])
class TestBalance:
    def test_no_severity_above_45_percent(self, task: TaskSpec, split: str) -> None:
        assert largest_share([*sample(task.id, split)], lambda i: [i.truth.severity]) <= 0.45
        # ... and each of the three is a real possibility
        counts = Counter(one.truth.severity for one in sample(task.id, split))
        assert min(counts[severity] for severity in Severity) >= 0.25 * SAMPLE

    def test_no_severity_of_a_real_fault_above_45_percent(self, task: TaskSpec, split: str) -> None:
        assert largest_share(real(task.id, split), lambda i: [i.truth.severity]) <= 0.45

    def test_no_root_cause_service_above_25_percent(self, task: TaskSpec, split: str) -> None:
        assert largest_share(real(task.id, split), lambda i: i.truth.root_causes) <= 0.25

    def test_no_team_above_40_percent(self, task: TaskSpec, split: str) -> None:
        assert largest_share(real(task.id, split), lambda i: i.truth.teams) <= 0.40

    def test_no_remedy_above_35_percent(self, task: TaskSpec, split: str) -> None:
        assert (
            largest_share(real(task.id, split), lambda i: [r for r, _ in i.truth.remedies]) <= 0.35
        )

    def test_the_directory_overrides_the_roots_owner_in_25_to_40_percent(
        self, task: TaskSpec, split: str
    ) -> None:
        incidents = real(task.id, split)
        overridden = [
            one
            for one in incidents
            if one.directory[root_of(one)] != one.topology.owners[root_of(one)]
        ]
        assert 0.25 <= len(overridden) / len(incidents) <= 0.40

    def test_the_override_matters_in_25_to_40_percent(self, task: TaskSpec, split: str) -> None:
        incidents = real(task.id, split)
        matters = 0
        for one in incidents:
            kind = fault_kind(fault_of(one).kind)
            habit = responsible_team(kind, root_of(one), one.topology, one.topology.owners)
            matters += habit not in one.truth.teams
        assert 0.25 <= matters / len(incidents) <= 0.40

    def test_every_service_is_as_likely_to_be_handed_over_as_the_root(
        self, task: TaskSpec, split: str
    ) -> None:
        incidents = real(task.id, split)
        others = [
            owner != habit
            for one in incidents
            for service, (owner, habit) in enumerate(
                zip(one.directory, one.topology.owners, strict=True)
            )
            if service != root_of(one)
        ]
        share = sum(others) / len(others)
        assert 0.36 <= share <= 0.40

    def test_benign_incidents(self, task: TaskSpec, split: str) -> None:
        benign = SAMPLE - len(real(task.id, split))
        if task.mode == "drift":
            assert 0.20 * SAMPLE <= benign <= 0.30 * SAMPLE
        else:
            assert benign == 0


def test_any_window_of_ids_has_its_share_of_benign_incidents() -> None:
    benign = [one.truth.benign for one in sample("silent_degradation-v1", "test")]
    for start in range(0, SAMPLE - 100, 37):
        assert 19 <= sum(benign[start : start + 100]) <= 31


@every_v1_task
@every_split
def test_the_truth_fits_the_public_rules(task: TaskSpec, split: str) -> None:
    for one in sample(task.id, split):
        truth = one.truth
        assert len(one.directory) == len(one.topology)
        assert set(one.directory) <= set(one.topology.teams)
        assert (one.task, one.horizon, one.rubric) == (task.id, task.horizon, "logtriage/1")
        if truth.fault is None:
            assert truth.severity is Severity.P3
            assert not (truth.root_causes | truth.teams | truth.remedies)
            continue
        kind, service = fault_kind(truth.fault.kind), truth.fault.service
        assert truth.root_causes == {service}
        assert truth.remedies == {(remedy, service) for remedy in kind.remedies}
        assert truth.teams == {responsible_team(kind, root_of(one), one.topology, one.directory)}
        assert one.topology.services[root_of(one)].tier in kind.tiers


@every_v1_task
@every_split
def test_held_out_pairs_are_in_split_ood_only(task: TaskSpec, split: str) -> None:
    seen = {
        held_out(one.topology, root_of(one), fault_kind(fault_of(one).kind))
        for one in real(task.id, split)
        if one.topology is SEVEN_SERVICES
    }
    assert seen == {split == "ood"}


def test_pairs_of_ood_and_of_the_other_splits_are_disjoint_and_cover_the_table() -> None:
    def pairs(splits: Iterable[str]) -> set[tuple[str, str]]:
        return {
            (fault_of(one).service, fault_of(one).kind)
            for task in V1_TASKS
            for split in splits
            for one in real(task.id, split)
            if one.topology is SEVEN_SERVICES
        }

    usual, unusual = pairs(("train", "val", "test")), pairs(("ood",))
    assert not usual & unusual
    possible = {
        (service.name, kind.name)
        for service in SEVEN_SERVICES.services
        for kind in FAULT_KINDS
        if service.tier in kind.tiers
    }
    assert usual | unusual == possible
    # No kind and no service is unheard of outside ood.
    assert {kind for _, kind in usual} == {kind.name for kind in FAULT_KINDS}
    assert {service for service, _ in usual} == set(SEVEN_SERVICES.names)


@every_v1_task
def test_random_topologies_and_other_phrasings_are_in_split_ood_only(task: TaskSpec) -> None:
    for split in SPLITS:
        incidents = sample(task.id, split)
        random_ones = sum(one.topology is not SEVEN_SERVICES for one in incidents)
        phrasings = {telemetry_of(one).phrasing for one in incidents}
        if split == "ood":
            assert 0.45 <= random_ones / SAMPLE <= 0.55
            assert phrasings == {1}
            sizes = {len(one.topology) for one in incidents}
            assert min(sizes) == 5
            assert max(sizes) == 30
        else:
            assert random_ones == 0
            assert phrasings == {0}


@every_v1_task
def test_splits_and_neighbours_share_no_scenario(task: TaskSpec) -> None:
    seeds = [telemetry_of(one).scenario.seed for split in SPLITS for one in sample(task.id, split)]
    assert len(set(seeds)) == len(seeds)


def test_cascades_start_at_a_dependency() -> None:
    for one in real("cascading_failure-v1", "ood"):
        assert one.topology.callers[root_of(one)]


def test_drifting_faults_are_of_kinds_that_can_drift() -> None:
    kinds = {fault_of(one).kind for one in real("silent_degradation-v1", "test")}
    assert all(fault_kind(kind).drifts for kind in kinds)
    loud = {fault_of(one).kind for one in real("single_crash-v1", "test")}
    assert loud == {kind.name for kind in FAULT_KINDS}


def test_every_class_strikes() -> None:
    for task in V1_TASKS:
        classes = Counter(
            fault_kind(fault_of(one).kind).fault_class for one in real(task.id, "test")
        )
        assert set(classes) == set(FaultClass)


def test_an_id_determines_the_incident_in_any_order_of_calls() -> None:
    ids = [one for task in V1_TASKS for one in incident_ids(task.id, "ood", 40)]
    first = {one: open_incident.__wrapped__(one) for one in ids}
    second = {one: open_incident.__wrapped__(one) for one in reversed(ids)}
    assert first == second
    assert {one: hash(incident) for one, incident in first.items()} == {
        one: hash(incident) for one, incident in second.items()
    }
    assert all(incident.id == one for one, incident in first.items())


def test_a_bad_id_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown task"):
        make_incident("nosuch-v1/test/0")
    with pytest.raises(
        InvalidInput, match="the split and the number are missing; expected single_crash-v1/test/0"
    ):
        make_incident("single_crash-v1")


@pytest.mark.parametrize("size", [5, 40, 200])
def test_incidents_can_be_drawn_on_a_topology_of_ones_own(size: int) -> None:
    graph = random_topology(8, size)
    for task in V1_TASKS:
        for index in range(30):
            incident = draw_incident(task, IncidentId(task, "test", index), graph)
            assert incident.topology is graph
            assert incident.truth.root_causes <= set(graph.names)


V0_TRUTHS = {
    "single_crash-v0": (
        "payment-service",
        "P1",
        {"restart:payment-service"},
        {"sre-team", "backend-team"},
    ),
    "cascading_failure-v0": (
        "user-db",
        "P1",
        {"kill-query:user-db", "restart:user-db"},
        {"dba-team", "sre-team"},
    ),
    "silent_degradation-v0": (
        "payment-db",
        "P2",
        {"flush-cache:payment-db", "kill-query:payment-db"},
        {"dba-team", "sre-team"},
    ),
}


@pytest.mark.parametrize("task", V0_TASKS, ids=lambda task: task.id)
def test_v0_truths_are_fixed(task: TaskSpec) -> None:
    service, severity, remedies, teams = V0_TRUTHS[task.id]
    for split in SPLITS:
        for one in (make_incident(i) for i in incident_ids(task.id, split, 20)):
            assert one.topology is SEVEN_SERVICES
            assert one.directory == SEVEN_SERVICES.owners
            assert one.truth.root_causes == {service}
            assert one.truth.severity == severity
            assert {f"{remedy}:{where}" for remedy, where in one.truth.remedies} == remedies
            assert one.truth.teams == teams
            assert not one.closing.wrong_page
            assert one.closing.ignore_only_p1
            assert one.rubric == get_task(task.id).rubric == f"logtriage-env/0/{task.name}"


def test_a_topology_without_a_place_for_the_fault_is_refused() -> None:
    gate = Service("gate", "edge", "sre-team")
    alone = Topology("alone", ("sre-team", "security-team"), (gate,))
    task = get_task("cascading_failure-v1")
    with pytest.raises(InvalidInput, match="a cascade needs a service that another one calls"):
        draw_incident(task, IncidentId(task, "train", 0), alone)
