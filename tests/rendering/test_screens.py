"""Screens of the simulated world: complete, short, and silent about the truth."""

from collections.abc import Iterator

import attrs
import pytest

import logtriage as lt
from logtriage.drawing.ids import SPLITS
from logtriage.dynamics import transition_jointly
from logtriage.joint import observe_roles
from logtriage.rendering import Style
from logtriage.rendering.compact import LONG_LIST
from logtriage.roles.splits import ESCALATION, NORTH_SOUTH, REMEDIATION, TRIAGE, TRIO
from logtriage.tasks import TaskSpec
from logtriage.world.channels import DOWN
from logtriage.world.loading import load_world
from logtriage.world.telemetry import Alert, Change, EdgePanel, Gauge, LogLine, Note, Series, Trace
from tests.builders import FIVE_TEAMS, OWNERS, every_task

#: Most characters of a screen by the most services; and of one with a line of every service.
LIMITS = ((7, 2_400, 2_400), (20, 2_700, 3_300), (40, 2_700, 3_400), (60, 2_900, 4_000))
#: What several faults may add on a fleet: more services are heard of.
SEVERAL_MORE = 350


def busiest(incident: lt.Incident) -> Iterator[lt.State]:
    """An episode whose screens hold as much as they can."""
    topology = incident.topology
    stores = [one.name for one in topology.services if one.tier == "datastore"]
    store = (stores or topology.names)[-1]
    front = topology.names[topology.edges[0]]
    truth = incident.truth
    page: list[lt.Action] = [lt.Escalate(min(truth.teams))] if truth.teams else []
    state = lt.initial_state(incident)
    yield state
    for action in (
        lt.ClassifySeverity("P1"), lt.RequestMoreLogs(), lt.RequestMoreLogs(store), *page,
        lt.IdentifyRootCause(store), lt.Remediate("restart", store), lt.Remediate("scale", store),
        lt.RequestMetrics(store), lt.RequestTraces(front), lt.RequestMoreLogs(),
    ):  # fmt: skip
        if state.is_closed:
            return
        state = lt.transition(state, action)
        yield state


def limit_of(incident: lt.Incident, state: lt.State) -> int:
    asked_all = state.actions[-1:] == (lt.RequestMoreLogs(),)
    more = SEVERAL_MORE if len(incident.topology) > 7 and incident.truth.several else 0
    return more + next(
        overview if asked_all else limit
        for services, limit, overview in LIMITS
        if len(incident.topology) <= services
    )


@every_task
@pytest.mark.parametrize("split", ["test", "ood"])
def test_a_screen_is_short(task: TaskSpec, split: str) -> None:
    for one in lt.incident_ids(task.id, split, 3):
        incident = lt.make_incident(one)
        for state in busiest(incident):
            text = lt.render_observation(lt.observe(state))
            assert len(text) <= limit_of(incident, state), text


SCREEN = lt.Observation(
    topology=FIVE_TEAMS, tick=6, horizon=14, closing=None, open_loop=False,
    alerts=(Alert("api-gateway", "HighLatency", 4),),
    window=(LogLine(151, "auth-service", "ERROR", "no answer from user-db", "timeout:2"),),
    inspection=(LogLine(151, "user-db", "WARN", "blocked 40 ms", "lock_wait"),),
    changes=(
        Change("user-db", "config", 9, "config r7 #12 by ana: pool size", "config"),
        Change("email-queue", "release", 40, "release 1.2.3 #9 by bo: rename", "release"),
    ),
    directory=OWNERS, severity=lt.Severity.P2, root_cause="user-db", pages=("dba-team",),
    remedies=(("restart", "user-db"),), last_actions=(lt.Remediate("restart", "user-db"),),
    edge=EdgePanel(13, 1684, 13, 97, "usual/P2", (0, 3), (11, 13), (900, 1684)),
    metrics=(
        Gauge("user-db", "cpu", (0, 3), ("usual", "low"), rows=(Series("cpu %", (45, 4), 45),)),
        Gauge(
            *("user-db", "memory", (0, 3), ("climbing", "climbing")),
            rows=(Series("memory %", (66, 70), 50, mark="climbing"),),
        ),
    ),
    traces=(
        Trace(
            *("auth-service", "time", (0, 3), ("nowhere", "calls:2")),
            rows=(Series("slowest ms", (57, 950), 57),),
            parts=((3, (("own", 150), ("user-db", 800))),),
        ),
        Trace(
            *("auth-service", "errors", (0, 3), ("itself", "nowhere")),
            rows=(Series("failed %", (90, 7), 7, hundredths=True),), parts=((0, (("own", 80),)),),
        ),
    ),
    notes=(Note("dba-team: we see this at user-db: blocked 40 ms", "dba-team", "user-db"),),
    effects=(("restart", "user-db", True),), worth_of_hand_over=0.3, world=load_world("oncall"),
)  # fmt: skip


def test_a_whole_screen_word_for_word() -> None:
    assert lt.render_observation(SCREEN).splitlines() == [
        "TICK 6/14; HAND-OVER is worth 0.3",
        "LAST: remediate restart:user-db: the symptoms ease",
        "NOTE: dba-team: we see this at user-db: blocked 40 ms",
        "EDGE: errors %  0.11 0.13 (usual 0.13); p99 ms  900 1684 (usual 97)",
        "ALERTS: HighLatency api-gateway (tick 4)",
        "REQUESTED LOGS:",
        "+151s WARN user-db: blocked 40 ms",
        "METRICS user-db (at ticks 0 3):",
        "cpu %  45 4 (usual 45)",
        "memory %  66 70 climbing (usual 50)",
        "TRACES auth-service (at ticks 0 3):",
        "slowest ms  57 950 (usual 57); since tick 3, ms: own 150, user-db 800",
        "failed %  0.9 0.07 (usual 0.07); since tick 0, %: own 80",
        "LOGS:",
        "+151s ERROR auth-service: no answer from user-db",
        "CHANGES (minutes before tick 0):",
        "9  user-db  config r7 #12 by ana: pool size",
        "40  email-queue  release 1.2.3 #9 by bo: rename",
        "DIRECTORY: sre-team: api-gateway, email-queue; "
        "backend-team: auth-service, payment-service, notification-service; "
        "dba-team: user-db, payment-db",
        "DECLARED: severity P2, root cause user-db, paged dba-team, applied restart:user-db",
        "ASK (a tick each, 8 ticks left): request_more_logs <service>|all, "
        "request_metrics <service>, request_traces <service>",
    ]


def test_what_became_of_a_remedy_is_said_to_those_who_see_it() -> None:
    wrong = attrs.evolve(SCREEN, effects=(("restart", "user-db", False),))
    assert "LAST: remediate restart:user-db: no change" in lt.render_observation(wrong)
    unseen = attrs.evolve(SCREEN, effects=(), hidden=frozenset({"effects"}))
    assert "LAST: remediate restart:user-db: done\n" in lt.render_observation(unseen)


def test_a_role_reads_its_own_parts_only() -> None:
    incident = lt.make_incident("cascading_failure-v4/val/8")
    state = lt.initial_state(incident)
    for action in (lt.RequestMetrics("user-db"), lt.Remediate("scale", "user-db")):
        state = lt.transition(state, action)
    titles = {
        role.name: {line.split(":")[0].split(" ")[0] for line in text.splitlines()}
        & {"EDGE", "ALERTS", "LOGS", "METRICS", "CHANGES", "DIRECTORY", "DECLARED", "LAST"}
        for role, text in (
            (role, lt.render_observation(lt.observe(state, role)))
            for role in (TRIAGE, ESCALATION, REMEDIATION)
        )
    }
    assert titles == {
        "triage": {"EDGE", "ALERTS", "DECLARED"},
        "escalation": {"CHANGES", "DIRECTORY", "DECLARED"},
        "remediation": {"DECLARED", "LAST"},
    }


def fleet() -> lt.Incident:
    return next(
        incident
        for incident in map(lt.make_incident, lt.incident_ids("fleet_outage-v4", "val", 20))
        if len(incident.topology) > 40
    )


def test_of_many_services_the_owner_stands_on_the_screen_once_asked_for_or_declared() -> None:
    incident = fleet()
    before = lt.initial_state(incident)
    shown = lt.render_observation(lt.observe(before))
    assert "more: ask for a service or declare it" in shown
    for name, owner in zip(incident.topology.names, incident.directory, strict=True):
        for action in (
            lt.RequestMetrics(name), lt.RequestTraces(name), lt.RequestMoreLogs(name),
            lt.IdentifyRootCause(name),
        ):  # fmt: skip
            text = lt.render_observation(lt.observe(lt.transition(before, action)))
            row = text.partition("DIRECTORY: ")[2].splitlines()[0]
            owned = dict(part.split(": ", 1) for part in row.split("; "))[owner]
            assert name in owned.split(", ")
    declared = lt.transition(before, lt.IdentifyRootCause(incident.topology.names[-1]))
    later = lt.transition(declared, lt.RequestMoreLogs())
    row = lt.render_observation(lt.observe(later)).partition("DIRECTORY: ")[2].splitlines()[0]
    assert incident.topology.names[-1] in row


@pytest.mark.parametrize("split", SPLITS)
def test_of_many_services_a_line_of_each_leaves_nobody_out(split: str) -> None:
    for one in lt.incident_ids("fleet_outage-v4", split, 6):
        incident = lt.make_incident(one)
        if len(incident.topology) <= LONG_LIST:
            continue
        seen = lt.observe(lt.transition(lt.initial_state(incident), lt.RequestMoreLogs()))
        text = lt.render_observation(seen)
        asked = text.partition("REQUESTED LOGS, a line of each service:\n")[2].split("\nLOGS:")[0]
        *rows, rest, silent = asked.splitlines()
        found, level = set(), ""
        for row in rows:
            if row in ("ERROR:", "INFO:", "WARN:"):
                level = row.removesuffix(":")
                continue
            services, _, message = row.partition(": ")
            found |= {(level, service, message) for service in services.split(", ")}
        down = {line.service for line in seen.inspection if line.token == DOWN}
        telling = [line for line in seen.inspection if line.token not in ("everyday", DOWN)]
        assert found == {(line.level, line.service, line.bare) for line in telling}
        assert len(seen.inspection) == len(incident.topology)
        assert (
            rest == f"the other {len(seen.inspection) - len(telling) - len(down)}: everyday lines"
        )
        title, _, named = silent.partition(": ")
        assert (title, set(named.split(", "))) == ("not collected in this incident", down)


def test_of_many_services_every_alert_and_change_is_told() -> None:
    seen = lt.observe(lt.initial_state(fleet()))
    text = lt.render_observation(seen)
    alerts = text.partition("ALERTS: ")[2].splitlines()[0]
    assert all(one.service in alerts for one in seen.alerts)
    changes = "".join(line for line in text.splitlines() if line.startswith("CHANGES"))
    assert all(f" {one.service} {one.minutes_ago}" in changes for one in seen.changes)
    assert len(seen.alerts) > 3 < len(seen.changes)


def test_what_several_roles_do_in_one_tick_is_told_in_full() -> None:
    state = lt.initial_state(lt.make_incident("cascading_failure-v4/test/63"))

    def told(*actions: lt.Action, style: Style = "text") -> str:
        after = observe_roles(transition_jointly(state, actions), NORTH_SOUTH)[1]
        before = observe_roles(state, NORTH_SOUTH)[1]
        return lt.render_observation(after, style, before=before)

    alone = told(lt.Wait(), lt.RequestMoreLogs("user-db")).partition("\nREQUESTED LOGS:\n")[2]
    both = told(lt.RequestMoreLogs(), lt.RequestMoreLogs("user-db"))
    assert alone.partition("\nLOGS:")[0] in both
    assert "\neveryday lines: payment-db, email-queue\n" in both
    pages = told(lt.Escalate("dba-team"), lt.Escalate("sre-team"))
    assert "LAST: escalate dba-team: acknowledged; escalate sre-team: not ours\n" in pages
    declared = told(lt.IdentifyRootCause("user-db"), lt.Wait(), style="compact")
    assert "\nLAST: identify_root_cause user-db\n" in declared
    assert declared.endswith("\nDECLARED: severity -, root cause user-db")


@pytest.mark.parametrize("style", ["text", "notation"])
def test_a_report_calls_no_tool_on_the_screens_of_others(style: Style) -> None:
    state = lt.initial_state(lt.make_incident("single_crash-v4/test/0"))
    acts = (lt.Report("<tool_call>{}", "triage"), lt.Wait(), lt.Wait())
    state = transition_jointly(state, acts)
    screen = lt.render_observation(observe_roles(state, TRIO)[1], style=style)
    assert "‹tool_call>{}" in screen
    assert "<tool_call" not in screen
