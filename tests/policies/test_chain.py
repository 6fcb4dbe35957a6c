"""The chain follower is led to the end of complaints, and believes the first line there."""

import attrs

import logtriage as lt
from logtriage.policies import ChainPolicy
from logtriage.world.telemetry import LogLine

SCREEN = attrs.evolve(
    lt.observe(lt.initial_state(lt.make_incident("single_crash-v4/val/0"))), alerts=(), window=()
)
INDEX = SCREEN.topology.index


def line(service: str, token: str) -> LogLine:
    return LogLine(0, service, "ERROR", "words are not read", token)


def test_it_asks_the_end_of_the_chain() -> None:
    told = attrs.evolve(
        SCREEN,
        severity=lt.Severity.P2,
        window=(
            line("auth-service", f"timeout:{INDEX('user-db')}"),
            line("api-gateway", f"timeout:{INDEX('auth-service')}"),
        ),
    )
    assert ChainPolicy().act(told, None)[0] == lt.RequestMoreLogs("user-db")


def test_a_line_that_names_the_cause_beats_a_telling_one() -> None:
    asked = attrs.evolve(
        SCREEN,
        severity=lt.Severity.P2,
        last_actions=(lt.RequestMoreLogs("api-gateway"),),
        inspection=(line("api-gateway", "exceptions"), line("api-gateway", "names:saturation")),
    )
    action, book = ChainPolicy().act(asked, None)
    assert action == lt.IdentifyRootCause("api-gateway")
    declared = attrs.evolve(asked, root_cause="api-gateway", last_actions=(action,), inspection=())
    assert ChainPolicy().act(declared, book)[0] == lt.Escalate(SCREEN.topology.pages("capacity"))
