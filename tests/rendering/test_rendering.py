"""Text for models and people: complete, compact, and silent about the truth."""

import re
from typing import get_args

import attrs
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Incident,
    Malformed,
    Observation,
    RequestMoreLogs,
    Resolve,
    Severity,
    State,
    Topology,
    get_task,
    incident_ids,
    initial_state,
    make_incident,
    observe,
    parse_action,
    render_observation,
    system_prompt,
    transition,
)
from logtriage.actions import ACTION_TYPES, Report, Wait
from logtriage.dynamics import transition_jointly
from logtriage.grading import DEFAULT
from logtriage.recorded import shipped_incidents
from logtriage.registry import make_policy
from logtriage.rendering import Reply, public_rules, status_of
from logtriage.roles.splits import ESCALATION, REMEDIATION, TRIAGE, TRIO
from logtriage.tasks import TaskSpec
from logtriage.world.telemetry import Alert, Change, LogLine, Reading, Signal
from logtriage.world.topologies import random_topology
from tests.builders import (
    FIVE_TEAMS,
    FIX,
    OWNERS,
    P1,
    RIGHT_PAGE,
    SEVEN_SERVICES,
    SMALL_TASKS,
    WAIT,
    WRONG_PAGE,
    episode,
    played,
    real_incident,
    waits,
)

OBSERVATION_LIMIT = 2_400
PROMPT_LIMIT = 7_100
TASK = get_task("cascading_failure-v4")


def rules(topology: Topology, horizon: int, reply: Reply = "json") -> str:
    """The rules of an incident of the benchmark."""
    return public_rules(topology, horizon, DEFAULT.id, TASK.setting, reply)


every_small_task = pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)


def test_how_to_answer_is_all_that_differs_between_ways_to_answer() -> None:
    prompts = [rules(FIVE_TEAMS, 8, one) for one in get_args(Reply)]
    assert rules(FIVE_TEAMS, 8) == prompts[0]
    told = {one.split("ANSWER")[0].split("You see one screen")[0] for one in prompts}
    assert len(told) == 1
    assert "ANSWER with one word" in prompts[1]
    assert "ANSWER with one tool call a turn" in prompts[2]
    assert "ACTIONS:" not in prompts[2]
    assert "array of at most 8 objects" in prompts[3]
    assert all(len(one) <= PROMPT_LIMIT for one in prompts)


# -- sizes ----------------------------------------------------------------------------


@every_small_task
def test_one_observation_of_the_default_topology_is_short(task: TaskSpec) -> None:
    longest = 0
    for one in incident_ids(task.id, "test", 6):
        for state in episode(make_incident(one), make_policy("expert")):
            longest = max(longest, len(render_observation(observe(state))))
    assert 1_000 <= longest <= OBSERVATION_LIMIT


# -- the prompt says all public rules -------------------------------------------------


@pytest.mark.parametrize("graph", [FIVE_TEAMS, random_topology(3, 12), random_topology(3, 90)])
def test_the_prompt_names_everything_that_an_answer_may_name(graph: Topology) -> None:
    words = set(re.findall(r"[\w-]+", rules(graph, 12)))
    assert set(graph.names) <= words
    assert set(graph.teams) <= words
    assert set(Severity) <= words
    assert set(graph.remedies) <= words
    assert set(ACTION_TYPES) <= words


def test_the_prompts_own_example_is_an_action() -> None:
    for graph in (FIVE_TEAMS, random_topology(3, 12)):
        (line,) = (one for one in rules(graph, 8).splitlines() if one.startswith("ANSWER"))
        assert not isinstance(parse_action(line, graph), Malformed)


# -- what must not be said ------------------------------------------------------------


def seed_of(incident: Incident) -> int:
    assert incident.simulation is not None
    return incident.simulation.seed


@every_small_task
def test_nothing_rendered_holds_id_seed_or_task(task: TaskSpec) -> None:
    for split in ("train", "test", "ood"):
        for one in incident_ids(task.id, split, 12, start=1_234_567):
            incident = make_incident(one)
            texts = [system_prompt(incident)]
            texts.extend(
                render_observation(observe(state))
                for state in episode(incident, make_policy("expert"))
            )
            for text in texts:
                for secret in (one, one.rpartition("/")[2], str(seed_of(incident)), task.name):
                    assert secret not in text
                assert "benign=" not in text
                assert f"/{split}" not in text


def screens(incident: Incident, actions: tuple[Action, ...]) -> list[str]:
    """What is shown at the start and after each of the actions."""
    state = initial_state(incident)
    shown = [render_observation(observe(state))]
    for action in actions:
        state = transition(state, action)
        shown.append(render_observation(observe(state)))
    return shown


@every_small_task
def test_the_text_does_not_hang_on_the_truth_until_an_act_tells(task: TaskSpec) -> None:
    for one in incident_ids(task.id, "test", 30):
        incident = make_incident(one)
        if incident.truth.benign:
            continue
        other = attrs.evolve(
            incident.truth,
            severity=Severity.P2,
            root_causes=frozenset({"email-queue"}),
            teams=frozenset({"security-team"}),
            remedies=frozenset(),
        )
        looks = (
            WAIT,
            RequestMoreLogs("user-db"),
            ClassifySeverity(P1),
            IdentifyRootCause("user-db"),
        )
        assert screens(incident, looks) == screens(attrs.evolve(incident, truth=other), looks)


# -- one screen by hand ---------------------------------------------------------------


def test_a_whole_screen_word_for_word() -> None:
    rest = Reading(4, 35, 36)
    screen = Observation(
        topology=SEVEN_SERVICES,
        tick=3,
        horizon=12,
        closing=None,
        open_loop=False,
        alerts=(Alert("auth-service", "HighLatency", 0), Alert("email-queue", "DiskUsage", 2)),
        slo=Reading(742, 1800, 950),
        window=(LogLine(91, "auth-service", "ERROR", "call to user-db timed out"),),
        inspection=(LogLine(-60, "user-db", "INFO", "health probe ok"),),
        health=(None, Reading(140, 900, 300), None, None, None, None, rest),
        changes=(Change("user-db", "deploy", 12, "release 1.2.3"),),
        directory=OWNERS,
        severity=P1,
        root_cause=None,
        pages=("dba-team",),
        last_actions=(RequestMoreLogs("user-db"),),
    )
    assert render_observation(screen).splitlines() == [
        "TICK 3/12",
        "LAST: request_more_logs user-db",
        "SLO edge: errors 7.42%, p99 1800 ms (was 950)",
        "ALERTS: HighLatency auth-service (tick 0), DiskUsage email-queue (tick 2)",
        "REQUESTED LOGS:",
        "-60s INFO user-db: health probe ok",
        "LOGS:",
        "+91s ERROR auth-service: call to user-db timed out",
        "HEALTH (was: p99 2 min ago):",
        "auth-service degraded: errors 1.40%, p99 900 ms (was 300)",
        "email-queue ok: errors 0.04%, p99 35 ms (was 36)",
        "unknown: api-gateway, user-db, payment-service, payment-db, notification-service",
        "CHANGES: 12 min ago user-db release 1.2.3",
        "DIRECTORY: sre-team: api-gateway, email-queue; "
        "backend-team: auth-service, payment-service, notification-service; "
        "dba-team: user-db, payment-db",
        "DECLARED: severity P1, root cause -, paged dba-team",
    ]


@pytest.mark.parametrize(
    ("reading", "status"),
    [
        (Reading(500, 0, 0), "failing"),
        (Reading(0, 2000, 0), "failing"),
        (Reading(499, 0, 0), "degraded"),
        (Reading(0, 800, 0), "degraded"),
        (Reading(99, 799, 0), "ok"),
    ],
)
def test_a_service_has_the_status_of_the_severity_rule(reading: Reading, status: str) -> None:
    assert status_of(reading) == status


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (played(real_incident(), WAIT), "LAST: request_more_logs all"),
        (played(real_incident(), RIGHT_PAGE), "LAST: escalate dba-team: acknowledged"),
        (played(real_incident(), WRONG_PAGE), "LAST: escalate sre-team: the wrong people took it"),
        (
            played(real_incident(), FIX),
            "LAST: remediate kill-query:user-db: done",
        ),
        (
            played(real_incident(), ClassifySeverity(P1), ClassifySeverity(Severity.P3)),
            "LAST: classify_severity P3: no effect, P1 stands",
        ),
        (played(real_incident(), ClassifySeverity(P1)), "LAST: classify_severity P1"),
        (
            played(
                real_incident(), IdentifyRootCause("user-db"), IdentifyRootCause("payment-db", 0.4)
            ),
            "LAST: identify_root_cause payment-db: no effect, user-db stands",
        ),
        (
            played(real_incident(), Malformed("?", "no JSON object in the reply")),
            "LAST: not understood: no JSON object in the reply",
        ),
        (played(real_incident(), Resolve()), "CLOSED: resolved"),
        (played(real_incident(), WRONG_PAGE), "CLOSED: misrouted"),
        (played(real_incident(), *waits(12)), "CLOSED: out_of_time"),
        (played(real_incident(), WAIT), "ALERTS: none"),
        (played(real_incident()), "DECLARED: severity -, root cause -"),
    ],
)
def test_what_came_of_an_act_is_said(state: State, expected: str) -> None:
    assert expected in render_observation(observe(state)).splitlines()


def test_a_wrong_remedy_reads_like_the_right_one() -> None:
    incident = real_incident()
    right = render_observation(observe(played(incident, FIX)))
    wrong_action = attrs.evolve(FIX, remedy="scale")
    wrong = render_observation(observe(played(incident, wrong_action)))
    assert wrong == right.replace("kill-query", "scale")


def test_a_recording_says_that_remedies_change_nothing() -> None:
    screen = attrs.evolve(observe(initial_state(real_incident())), open_loop=True)
    assert "recording" in render_observation(screen).splitlines()[0]


def test_a_role_reads_its_own_parts_only() -> None:
    state = initial_state(make_incident("cascading_failure-v4/test/42"))
    page = Escalate(min(state.incident.truth.teams))
    state = transition(transition(state, RequestMoreLogs("user-db")), Report("deadlock", "triage"))
    state = transition_jointly(state, [page, Malformed("?", "not JSON", "escalation"), Wait()])
    titles = {
        role.name: {
            re.split("[: ]", line)[0]
            for line in render_observation(observe(state, role)).splitlines()
        }
        & {"EDGE", "ALERTS", "LOGS", "CHANGES", "DIRECTORY", "DECLARED", "LAST", "REPORTS"}
        for role in (TRIAGE, ESCALATION, REMEDIATION)
    }
    assert titles == {
        "triage": {"EDGE", "ALERTS", "DECLARED", "LAST", "REPORTS"},
        "escalation": {"CHANGES", "DIRECTORY", "DECLARED", "LAST", "REPORTS"},
        "remediation": {"DECLARED", "LAST", "REPORTS"},
    }
    lines = {role.name: render_observation(observe(state, role)) for role in TRIO.roles}
    assert "tick 1, triage: deadlock" in lines["remediation"]
    assert "not understood: not JSON" in lines["escalation"]
    assert "not understood" not in lines["remediation"]


def _dashboard(*signals: tuple[Signal, ...]) -> list[str]:
    """The lines of the dashboard; services that are not given have no signals."""
    first = observe(initial_state(real_incident()))
    rest = ((),) * (len(SEVEN_SERVICES) - len(signals))
    shown = render_observation(attrs.evolve(first, signals=(*signals, *rest)))
    return shown.partition("SIGNALS")[2].partition("DIRECTORY")[0].splitlines()


def test_the_dashboard_shows_what_strays_in_service_order() -> None:
    head, *rows = _dashboard(
        (Signal("cpu_bp", 9531, 120, 100), Signal("p50_ms", 50, 45, 10)),
        (Signal("p99_ms", 9000, 10), Signal("calls", 9)),
        (Signal("calls", 10, 100, 15), Signal("events_bp", 0, 8140, 1500)),
    )
    assert "stray by 3 spreads or more" in head
    assert rows == [
        "api-gateway: cpu 95.3% (1.2 ± 1.0)",
        "user-db: calls 10 (100 ± 15), events 0.0% (81.4 ± 15.0)",
        "no usual value is known:",
        "auth-service: calls 9",
    ]


def test_a_quiet_dashboard_says_so_and_none_is_not_shown() -> None:
    assert _dashboard((Signal("p50_ms", 50, 45, 10),))[1:] == ["none"]
    assert "SIGNALS" not in render_observation(observe(initial_state(real_incident())))


def test_a_dashboard_in_uproar_is_cut_and_says_so() -> None:
    loud = tuple(Signal(f"figure{n}_ms", 1000 + n, 0, 10) for n in range(10))
    head, *rows = _dashboard(*[loud] * 7)
    assert "46 more not shown" in head
    assert sum(row.count("figure") for row in rows) == 24
    assert sum(row.count("figure9_ms") + row.count("figure9 ") for row in rows) == 7


def test_a_role_without_the_health_panel_has_no_dashboard() -> None:
    state = initial_state(shipped_incidents()[0])
    assert observe(state, REMEDIATION).signals == observe(state).signals != ()
    assert observe(state, TRIAGE).signals == ()
    assert "SIGNALS" not in render_observation(observe(state, TRIAGE))
