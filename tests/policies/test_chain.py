"""The chain follower is led to the end of complaints, and believes the first line there."""

import attrs

from logtriage import (
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Severity,
    incident_ids,
    initial_state,
    make_incident,
    observe,
)
from logtriage.grading import score
from logtriage.policies import ChainPolicy
from logtriage.registry import make_policy
from logtriage.tasks import DRAWN_TASKS
from logtriage.world.telemetry import LogLine
from tests.builders import final_state

SCREEN = attrs.evolve(
    observe(initial_state(make_incident("single_crash-v4/val/0"))), alerts=(), window=()
)
INDEX = SCREEN.topology.index


def line(service: str, token: str) -> LogLine:
    return LogLine(0, service, "ERROR", "words are not read", token)


def test_it_asks_the_end_of_the_chain() -> None:
    told = attrs.evolve(
        SCREEN,
        severity=Severity.P2,
        window=(
            line("auth-service", f"timeout:{INDEX('user-db')}"),
            line("api-gateway", f"timeout:{INDEX('auth-service')}"),
        ),
    )
    assert ChainPolicy().act(told, None)[0] == RequestMoreLogs("user-db")


def test_complaints_in_a_circle_do_not_hold_it() -> None:
    told = attrs.evolve(
        SCREEN,
        severity=Severity.P2,
        window=(
            line("auth-service", f"timeout:{INDEX('user-db')}"),
            line("user-db", f"timeout:{INDEX('auth-service')}"),
        ),
    )
    assert ChainPolicy().act(told, None)[0] == RequestMoreLogs("user-db")


def test_a_line_that_names_the_cause_beats_a_telling_one() -> None:
    asked = attrs.evolve(
        SCREEN,
        severity=Severity.P2,
        alerts=(),
        last_actions=(RequestMoreLogs("api-gateway"),),
        inspection=(
            line("api-gateway", "exceptions"),
            line("api-gateway", "names:saturation"),
        ),
    )
    action, book = ChainPolicy().act(asked, None)
    assert action == IdentifyRootCause("api-gateway")
    declared = attrs.evolve(asked, root_cause="api-gateway", last_actions=(action,), inspection=())
    assert ChainPolicy().act(declared, book)[0] == Escalate(SCREEN.topology.pages("capacity"))


def test_it_classifies_first_and_reads_nothing_but_logs() -> None:
    for task in DRAWN_TASKS:
        for one in incident_ids(task, "val", 5):
            actions = final_state(make_incident(one), make_policy("chain")).actions
            assert isinstance(actions[0], ClassifySeverity)
            assert not any(isinstance(a, RequestMetrics | RequestTraces) for a in actions)


def test_fog_is_what_defeats_it() -> None:
    def total(task: str) -> float:
        return sum(
            score(final_state(make_incident(one), make_policy("chain")))
            for one in incident_ids(task, "val", 30)
        )

    assert total("cascading_failure-v4-fog0") > 1.3 * total("cascading_failure-v4")
