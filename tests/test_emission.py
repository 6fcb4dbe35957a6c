"""Simulated telemetry: who speaks when, what is said of a fault, and what a remedy does to it."""

import re
from collections.abc import Iterator
from functools import lru_cache

import attrs
import pytest

from logtriage import Incident, TaskSpec, Topology, incident_ids, make_incident
from logtriage.emission import (
    OVERVIEW_LINES,
    SERVICE_LINES,
    WINDOW_LINES,
)
from logtriage.generator import open_incident
from logtriage.phrases import BENIGN, CUES, DISTRACTORS, HEALTHY, NOISE, RESTARTED
from logtriage.propagation import Scenario
from logtriage.telemetry import LEVELS, NO_EFFECTS, Effects, LogLine
from tests.builders import V1_TASKS, errors_of, telemetry_of

every_v1_task = pytest.mark.parametrize("task", V1_TASKS, ids=lambda task: task.id)
CASCADING = V1_TASKS[1]


@lru_cache(maxsize=3)
def incidents(task: TaskSpec, count: int = 60) -> tuple[Incident, ...]:
    return tuple(
        make_incident(one)
        for split in ("test", "ood")
        for one in incident_ids(task.id, split, count)
    )


def scenario_of(incident: Incident) -> Scenario:
    return telemetry_of(incident).scenario


def root_of(incident: Incident) -> str:
    (root,) = incident.truth.root_causes
    return root


def pattern_of(text: str) -> re.Pattern[str]:
    """Matches what a phrase becomes once its placeholders are filled in."""
    parts = re.split(r"\{\w+\}", text)
    return re.compile("[^ ]+".join(re.escape(part) for part in parts))


EVERYDAY = tuple(pattern_of(text) for _, text in NOISE)
UNRELATED = tuple(pattern_of(text) for _, _, text in DISTRACTORS)
CALM = tuple(pattern_of(text) for text in HEALTHY)
SETTLING = tuple(pattern_of(text) for _, text in BENIGN)
TREND = re.compile(r"p99 over the last 3 min: [\d ]+ ms")


def says(line: LogLine, patterns: tuple[re.Pattern[str], ...]) -> bool:
    return any(pattern.fullmatch(line.message) for pattern in patterns)


def kinds_named_by(line: LogLine) -> set[str]:
    text = line.message.lower()
    return {kind for kind, cues in CUES.items() if any(cue in text for cue in cues)}


def blamed(line: LogLine, graph: Topology) -> set[str]:
    """The other services that a line names."""
    return {name for name in graph.names if name != line.service} & set(
        re.findall(r"[\w.-]*\w", line.message)
    )


def everything_said(incident: Incident, effects: Effects = NO_EFFECTS) -> Iterator[LogLine]:
    telemetry = telemetry_of(incident)
    for tick in range(incident.horizon + 1):
        yield from telemetry.window(tick, effects)
        yield from telemetry.overview(tick, effects)
        for service in range(len(incident.topology)):
            yield from telemetry.service_logs(service, tick, effects)


# -- who names the cause --------------------------------------------------------------


@every_v1_task
def test_only_the_root_names_a_cause_and_only_its_own(task: TaskSpec) -> None:
    named = 0
    for incident in incidents(task):
        for line in everything_said(incident):
            kinds = kinds_named_by(line)
            if kinds:
                assert incident.truth.fault is not None, line
                assert kinds == {incident.truth.fault.kind}, line
                assert line.service == incident.truth.fault.service, line
                named += 1
    assert named


@every_v1_task
def test_the_root_names_its_cause_at_every_tick_when_asked(task: TaskSpec) -> None:
    for incident in incidents(task):
        if incident.truth.fault is None:
            continue
        root = incident.topology.index(incident.truth.fault.service)
        for tick in range(incident.horizon + 1):
            lines = telemetry_of(incident).service_logs(root, tick, NO_EFFECTS)
            assert any(kinds_named_by(line) for line in lines), (incident.id, tick)


@every_v1_task
def test_a_broad_look_never_names_a_cause(task: TaskSpec) -> None:
    for incident in incidents(task):
        for tick in range(incident.horizon + 1):
            lines = telemetry_of(incident).overview(tick, NO_EFFECTS)
            assert not any(kinds_named_by(line) or says(line, SETTLING) for line in lines)
            speakers = [line.service for line in lines]
            assert (
                len(speakers) == len(set(speakers)) == min(OVERVIEW_LINES, len(incident.topology))
            )


def test_the_root_of_a_cascade_is_silent_in_the_window_before_its_voice() -> None:
    heard_later = 0
    for incident in incidents(CASCADING):
        root, voice_at = root_of(incident), scenario_of(incident).voice_at
        for tick in range(incident.horizon + 1):
            for line in telemetry_of(incident).window(tick, NO_EFFECTS):
                if line.service != root:
                    continue
                if tick < voice_at:
                    # Everyday lines are all that is heard of it: nothing of the fault.
                    assert says(line, EVERYDAY), (incident.id, tick, line)
                heard_later += bool(kinds_named_by(line))
    assert heard_later


def test_the_callers_of_a_cascade_complain_from_the_first_tick() -> None:
    complaining = 0
    for incident in incidents(CASCADING):
        lines = telemetry_of(incident).window(0, NO_EFFECTS)
        complaining += any(blamed(line, incident.topology) for line in lines)
    assert complaining / len(incidents(CASCADING)) >= 0.95


@every_v1_task
def test_complaints_lead_from_any_affected_service_to_the_root(task: TaskSpec) -> None:
    for incident in incidents(task):
        if incident.truth.benign:
            continue
        graph, root = incident.topology, root_of(incident)
        for affected in scenario_of(incident).affected:
            here, hops = graph.names[affected.service], 0
            while here != root:
                lines = telemetry_of(incident).service_logs(graph.index(here), 5, NO_EFFECTS)
                named = set().union(*(blamed(one, graph) for one in lines))
                assert len(named) == 1, (incident.id, here, lines)
                (here,) = named
                hops += 1
                assert hops <= affected.hops
            assert hops == affected.hops


@every_v1_task
def test_services_out_of_reach_say_that_all_is_well(task: TaskSpec) -> None:
    for incident in incidents(task):
        reached = {one.service for one in scenario_of(incident).affected}
        for service in range(len(incident.topology)):
            if service in reached:
                continue
            for tick in (0, 3, incident.horizon):
                for line in telemetry_of(incident).service_logs(service, tick, NO_EFFECTS):
                    assert (
                        says(line, CALM)
                        or says(line, EVERYDAY)
                        or says(line, UNRELATED)
                        or TREND.fullmatch(line.message)
                    ), line


def test_a_benign_incident_explains_itself_when_asked_and_blames_nobody() -> None:
    benign = [one for one in incidents(V1_TASKS[2]) if one.truth.benign]
    assert benign
    for incident in benign:
        (affected,) = scenario_of(incident).affected
        lines = telemetry_of(incident).service_logs(affected.service, 1, NO_EFFECTS)
        assert any(says(line, SETTLING) for line in lines)
        assert not any(blamed(line, incident.topology) for line in everything_said(incident))


# -- shape of what is said ------------------------------------------------------------


@every_v1_task
def test_lines_are_well_formed(task: TaskSpec) -> None:
    for incident in incidents(task)[::4]:
        for line in everything_said(incident):
            assert line.service in incident.topology
            assert line.level in LEVELS
            assert line.message.isprintable()
            assert "{" not in line.message


@every_v1_task
def test_a_window_has_its_lines_in_the_order_of_their_time(task: TaskSpec) -> None:
    for incident in incidents(task):
        for tick in range(incident.horizon + 1):
            lines = telemetry_of(incident).window(tick, NO_EFFECTS)
            seconds = [line.second for line in lines]
            assert len(lines) == WINDOW_LINES
            assert seconds == sorted(seconds)
            assert 30 * tick <= seconds[0] <= seconds[-1] <= 30 * (tick + 1)


@every_v1_task
def test_asked_lines_are_few_and_recent(task: TaskSpec) -> None:
    for incident in incidents(task)[::2]:
        for service in range(len(incident.topology)):
            for tick in (0, 4, incident.horizon):
                lines = telemetry_of(incident).service_logs(service, tick, NO_EFFECTS)
                assert 2 <= len(lines) <= SERVICE_LINES
                assert {line.service for line in lines} == {incident.topology.names[service]}
                assert all(30 * tick - 150 <= line.second <= 30 * tick for line in lines)


@every_v1_task
def test_the_noise_of_a_window_is_the_tasks(task: TaskSpec) -> None:
    noisy = total = 0
    for one in incident_ids(task.id, "test", 300):
        incident = make_incident(one)
        if incident.truth.benign:
            continue
        for tick in range(scenario_of(incident).voice_at, incident.horizon):
            for line in telemetry_of(incident).window(tick, NO_EFFECTS):
                noisy += says(line, EVERYDAY) or says(line, UNRELATED)
                total += 1
    assert noisy / total == pytest.approx(task.noise / 1000, abs=0.02)


def test_the_trend_line_shows_the_panels_own_figures() -> None:
    for incident in incidents(V1_TASKS[2])[:30]:
        for service in range(len(incident.topology)):
            (line,) = (
                one
                for one in telemetry_of(incident).service_logs(service, 7, NO_EFFECTS)
                if TREND.fullmatch(one.message)
            )
            readings = [
                telemetry_of(incident).health(service, tick, NO_EFFECTS) for tick in (1, 3, 5, 7)
            ]
            figures = " ".join(str(one.p99_ms) for one in readings if one is not None)
            assert line.message == f"p99 over the last 3 min: {figures} ms"


def test_telemetry_is_the_same_in_any_order_of_asking() -> None:
    for one in incident_ids("cascading_failure-v1", "test", 10):
        first, second = open_incident.__wrapped__(one), open_incident.__wrapped__(one)
        ticks = range(first.horizon)
        forth = [telemetry_of(first).window(tick, NO_EFFECTS) for tick in ticks]
        back = [telemetry_of(second).window(tick, NO_EFFECTS) for tick in reversed(ticks)]
        assert forth == back[::-1]


# -- what responders do to it ---------------------------------------------------------


@every_v1_task
@pytest.mark.parametrize("fixed_at", [0, 3, 6])
def test_impact_is_gone_two_ticks_after_an_accepted_remedy(task: TaskSpec, fixed_at: int) -> None:
    fixed = Effects(fixed_at)
    for incident in incidents(task):
        if incident.truth.benign:
            continue
        telemetry, scenario = telemetry_of(incident), scenario_of(incident)
        distractors = {incident.topology.names[one.service] for one in scenario.distractors}
        for tick in range(fixed_at + 1):
            assert telemetry.slo(tick, fixed) == telemetry.slo(tick, NO_EFFECTS)
        for tick in range(fixed_at + 2, incident.horizon + 1):
            edge = telemetry.slo(tick, fixed)
            assert edge.p99_ms <= 1.03 * scenario.slo.base_p99
            assert errors_of(edge) <= 1.03 * scenario.slo.base_error
            assert {alert.service for alert in telemetry.alerts(tick, fixed)} <= distractors
            for affected in scenario.affected:
                health = telemetry.health(affected.service, tick, fixed)
                assert health is not None
                assert health.p99_ms <= 1.03 * affected.impact.base_p99
                assert errors_of(health) <= 1.03 * affected.impact.base_error
            for line in telemetry.window(tick, fixed):
                assert says(line, EVERYDAY) or says(line, UNRELATED), line
            root = incident.topology.index(root_of(incident))
            assert not any(map(kinds_named_by, telemetry.service_logs(root, tick, fixed)))


@every_v1_task
def test_a_needless_restart_is_a_blip_of_that_service_and_nothing_else(task: TaskSpec) -> None:
    for incident in incidents(task):
        telemetry, names = telemetry_of(incident), incident.topology.names
        restarted = len(names) // 2
        effects = Effects(None, ((restarted, 2),))
        for tick in range(incident.horizon + 1):
            blip = tick in (3, 4)
            assert telemetry.alerts(tick, effects) == telemetry.alerts(tick, NO_EFFECTS)
            calm, edge = telemetry.slo(tick, NO_EFFECTS), telemetry.slo(tick, effects)
            assert edge == attrs.evolve(calm, error_bp=errors_of(calm) + 15 * blip)
            for service in range(len(names)):
                before = telemetry.health(service, tick, NO_EFFECTS)
                after = telemetry.health(service, tick, effects)
                assert before is not None
                assert after is not None
                if service == restarted and blip:
                    assert errors_of(after) >= errors_of(before) + 300
                    assert after.p99_ms >= before.p99_ms + 150
                elif service != restarted:
                    assert after == before
            lines = telemetry.window(tick, effects)
            changed = [
                new
                for old, new in zip(telemetry.window(tick, NO_EFFECTS), lines, strict=True)
                if old != new
            ]
            if tick == 3:
                assert [(one.service, one.message) for one in changed] == [
                    (names[restarted], RESTARTED)
                ]
            else:
                assert not changed


def test_a_needless_restart_is_said_by_the_service_when_asked() -> None:
    for incident in incidents(CASCADING)[:20]:
        effects = Effects(None, ((1, 2),))
        said = [
            any(
                one.message == RESTARTED
                for one in telemetry_of(incident).service_logs(1, tick, effects)
            )
            for tick in range(2, 7)
        ]
        assert said == [False, True, True, False, False]


def test_remedies_do_something_here() -> None:
    assert not incidents(CASCADING)[0].telemetry.open_loop
