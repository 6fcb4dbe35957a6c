"""Several faults at once: the exact search, and what reasons say."""

from typing import Final

import attrs

from logtriage import Action, Escalate, IdentifyRootCause, Incident, Remediate, Resolve, grade
from logtriage.audit.situations import Situations
from logtriage.dynamics import play
from logtriage.grading import TRIAGE_3
from logtriage.incident import Fault, Part
from logtriage.topology import Service
from tests.builders import own_topology, owners_by_tier, real_incident


def part(kind: str, service: str, team: str, remedy: str) -> Part:
    return Part(
        Fault(kind, service),
        frozenset({service}),
        frozenset({team}),
        frozenset({(remedy, service)}),
    )


def several(*parts: Part, horizon: int = 16) -> Incident:
    """Faults at once, by hand."""
    incident = real_incident(horizon=horizon)
    truth = attrs.evolve(
        incident.truth,
        fault=parts[0].fault,
        root_causes=frozenset().union(*(each.root_causes for each in parts)),
        teams=frozenset().union(*(each.teams for each in parts)),
        remedies=frozenset().union(*(each.remedies for each in parts)),
        several=parts,
    )
    return attrs.evolve(incident, truth=truth, par=8)


QUERY: Final = part("slow_query", "user-db", "dba-team", "kill-query")
LOCKED: Final = part("deadlock", "auth-service", "dba-team", "restart")
LOADED: Final = part("saturation", "email-queue", "sre-team", "scale")
THREE: Final = several(QUERY, LOCKED, LOADED)
PAGE: Final = {"dba": Escalate("dba-team"), "sre": Escalate("sre-team")}
FIX: Final[list[Action]] = [Remediate(*min(one.remedies)) for one in (QUERY, LOCKED, LOADED)]
NAME: Final[list[Action]] = [
    IdentifyRootCause(min(one.root_causes)) for one in (QUERY, LOCKED, LOADED)
]
WRONG: Final = Remediate("rollback", "api-gateway")
NOT: Final[list[Action]] = [IdentifyRootCause("api-gateway"), IdentifyRootCause("payment-db")]


def test_the_exact_search_of_two_faults_ends_at_the_oracle() -> None:
    """On two services, by a rubric that leaves the severity out: few situations, all searched."""
    small = own_topology(
        "small",
        ("red", "blue"),
        (Service("front", "edge", "red", ("store",)), Service("store", "datastore", "blue")),
        "red",
        "red",
    )
    two = several(
        part("bad_deploy", "front", "blue", "rollback"),
        part("slow_query", "store", "blue", "kill-query"),
        horizon=6,
    )
    two = attrs.evolve(two, par=6, topology=small, directory=owners_by_tier(small))
    rubric = attrs.evolve(
        TRIAGE_3,
        criteria=[
            attrs.evolve(row, weight=0.1 if row.name == "closure" else 0.3)
            for row in TRIAGE_3.criteria
            if row.name != "severity"
        ],
    )
    situations = Situations(two, rubric)
    assert not situations.unknown
    searched = situations.search()
    assert searched.best.score == 1.0
    assert searched.misrouted is not None
    assert searched.misrouted.score == 0.0


def test_reasons_name_what_is_missing() -> None:
    state, _ = play(THREE, [NAME[0], NOT[0], PAGE["sre"], FIX[2], WRONG, Resolve()])
    told = {criterion.name: criterion.reason for criterion in grade(state).criteria}
    assert told["root_cause"] == (
        "1 of 3 root causes named; api-gateway is none; auth-service, email-queue not among the "
        "first 3 declared"
    )
    assert told["escalation"] == "the team of 1 of 3 faults paged; dba-team never paged"
    assert told["remediation"] == (
        "1 of 3 faults fixed; not applied: kill-query:user-db, restart:auth-service; 1 wrong "
        "remedy was applied"
    )
    assert told["closure"] == "resolved while a fault was still there"
    assert [discount.reason for discount in grade(state).discounts] == [
        "nobody paged dba-team, so only 32% of that share counts"
    ]
