"""Drawn scenarios: the severity can be read with a margin, and nothing gives the root away."""

from collections.abc import Iterator

import pytest

from logtriage import Incident, Severity, TaskSpec, incident_ids, make_incident, random_topology
from logtriage.generator import draw_incident
from logtriage.propagation import Mode, Scenario
from logtriage.runbook import SEVERITY_RULE, severity_of
from logtriage.tasks import IncidentId
from logtriage.telemetry import NO_EFFECTS, Effects
from tests.builders import V0_TASKS, V1_TASKS, errors_of, telemetry_of

every_task = pytest.mark.parametrize("task", [*V1_TASKS, *V0_TASKS], ids=lambda task: task.id)
every_v1_task = pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)

#: How far every threshold must be from both figures that decide on severity.
MARGIN = 0.03


def incidents(task: TaskSpec, count: int = 200) -> Iterator[Incident]:
    """Incidents of the splits test and ood, and on one large topology."""
    for split in ("test", "ood"):
        for one in incident_ids(task.id, split, count):
            yield make_incident(one)
    if not task.original:
        for index in range(count // 10):
            number = IncidentId(task, "test", index)
            yield draw_incident(task, number, random_topology(index, 80))


def scenario_of(incident: Incident) -> Scenario:
    return telemetry_of(incident).scenario


@every_task
def test_severity_is_readable_with_a_margin_at_every_tick_before_a_fix(task: TaskSpec) -> None:
    for incident in incidents(task):
        truth = incident.truth.severity
        assert truth is not None
        for tick in range(task.horizon + 1):
            reading = telemetry_of(incident).slo(tick, NO_EFFECTS)
            assert severity_of(reading) is truth, (incident.id, tick, reading)
            for severity, error_bp, p99_ms in SEVERITY_RULE:
                reached = max(errors_of(reading) / error_bp, reading.p99_ms / p99_ms)
                # A severity at least as bad as the truth's threshold is passed by a
                # margin, every worse one is missed by a margin.
                if truth <= severity:
                    assert reached >= 1 + MARGIN, (incident.id, tick, reading)
                else:
                    assert reached <= 1 - MARGIN, (incident.id, tick, reading)


@every_v1_task
def test_restarting_everything_does_not_change_the_severity_that_is_read(task: TaskSpec) -> None:
    for incident in incidents(task, 60):
        restarts = tuple((service, 2) for service in range(len(incident.topology)))
        for tick in (3, 4):
            reading = telemetry_of(incident).slo(tick, Effects(None, restarts))
            assert severity_of(reading) is incident.truth.severity


@every_task
def test_an_alert_about_the_fault_fires_from_the_start(task: TaskSpec) -> None:
    for incident in incidents(task):
        affected = {incident.topology.names[one.service] for one in scenario_of(incident).affected}
        alerts = telemetry_of(incident).alerts(0, NO_EFFECTS)
        assert any(alert.service in affected for alert in alerts), incident.id
        # At most the root and three callers: alerts are a hint, not a map.
        assert sum(alert.service in affected for alert in alerts) <= 4


def test_the_alert_of_a_cascades_root_waits_for_its_voice() -> None:
    for incident in incidents(V1_TASKS[1]):
        scenario = scenario_of(incident)
        assert scenario.mode is Mode.CASCADE
        assert 3 <= scenario.voice_at <= 6
        (root,) = incident.truth.root_causes
        for tick in range(incident.horizon):
            alerting = {alert.service for alert in telemetry_of(incident).alerts(tick, NO_EFFECTS)}
            assert (root in alerting) == (tick >= scenario.voice_at)


@pytest.mark.parametrize("task", V1_TASKS[1:], ids=lambda task: task.id)
def test_the_root_cannot_be_told_from_the_alerts_of_drifts_and_cascades(task: TaskSpec) -> None:
    hits = total = 0
    for one in incident_ids(task.id, "test", 500):
        incident = make_incident(one)
        if (
            incident.truth.benign
            or not incident.topology.callers[
                incident.topology.index(min(incident.truth.root_causes))
            ]
        ):
            continue
        alerts = telemetry_of(incident).alerts(0, NO_EFFECTS)
        total += 1
        hits += alerts[0].service in incident.truth.root_causes
    assert hits / total <= 0.45


@every_v1_task
def test_distractors_are_on_services_that_the_fault_does_not_reach(task: TaskSpec) -> None:
    some = 0
    for incident in incidents(task):
        scenario = scenario_of(incident)
        reached = {one.service for one in scenario.affected}
        places = [one.service for one in scenario.distractors]
        assert not reached & set(places)
        assert len(set(places)) == len(places)
        some += bool(places)
    assert some


@every_v1_task
def test_the_affected_are_exactly_the_callers_of_the_root(task: TaskSpec) -> None:
    for incident in incidents(task, 100):
        scenario, graph = scenario_of(incident), incident.topology
        if incident.truth.benign:
            assert len(scenario.affected) == 1
            continue
        root = graph.index(min(incident.truth.root_causes))
        hops = graph.hops_from(root)
        assert {one.service: one.hops for one in scenario.affected} == {
            service: distance for service, distance in enumerate(hops) if distance >= 0
        }
        for one in scenario.affected:
            if one.service == root:
                assert one.toward == -1
            else:
                assert one.toward in graph.calls[one.service]
                assert hops[one.toward] == one.hops - 1


@every_v1_task
def test_changes_are_newest_first_and_innocent_ones_are_always_among_them(task: TaskSpec) -> None:
    for incident in incidents(task, 100):
        changes = telemetry_of(incident).changes
        ages = [one.minutes_ago for one in changes]
        assert ages == sorted(ages)
        assert 2 <= len(changes) <= 3
        assert all(one.service in incident.topology for one in changes)
        assert {one.kind for one in changes} <= {"deploy", "config", "traffic", "advisory"}


def test_the_change_behind_a_fault_mostly_shows() -> None:
    shown = total = 0
    for one in incident_ids("single_crash-v1", "test", 1_000):
        incident = make_incident(one)
        fault = incident.truth.fault
        if fault is not None and fault.kind in ("bad_deploy", "compromised_release"):
            version = scenario_of(incident).version
            total += 1
            shown += any(
                (change.service, change.kind, change.detail)
                == (fault.service, "deploy", f"release {version}")
                for change in telemetry_of(incident).changes
            )
    assert 0.78 <= shown / total <= 0.92  # 85 %


def test_a_benign_load_rises_and_is_gone_within_the_horizon() -> None:
    for one in incident_ids("silent_degradation-v1", "test", 300):
        incident = make_incident(one)
        if not incident.truth.benign:
            continue
        (affected,) = scenario_of(incident).affected
        quiet = affected.impact.base_p99
        health = [
            telemetry_of(incident).health(affected.service, tick, NO_EFFECTS)
            for tick in range(incident.horizon + 1)
        ]
        p99 = [reading.p99_ms for reading in health if reading is not None]
        assert max(p99[:4]) > quiet + 600
        assert all(value <= quiet * 1.04 for value in p99[8:])
        assert not telemetry_of(incident).alerts(8, NO_EFFECTS) or all(
            alert.service != incident.topology.names[affected.service]
            for alert in telemetry_of(incident).alerts(8, NO_EFFECTS)
        )


def test_all_severities_are_drawn_through_both_figures() -> None:
    # Errors and latency both lead to P1 and to P2: neither figure alone decides.
    seen = set()
    for one in incident_ids("single_crash-v1", "test", 300):
        incident = make_incident(one)
        reading = telemetry_of(incident).slo(1, NO_EFFECTS)
        for severity, error_bp, p99_ms in SEVERITY_RULE:
            if incident.truth.severity is severity:
                seen.add((severity, errors_of(reading) >= error_bp, reading.p99_ms >= p99_ms))
    assert seen == {
        (severity, by_errors, not by_errors)
        for severity in (Severity.P1, Severity.P2)
        for by_errors in (True, False)
    }
