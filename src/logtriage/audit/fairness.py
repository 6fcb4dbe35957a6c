"""The check that equal tokens give equal screens: nothing else may tell of the truth.

An incident is played with requests of every kind. Then its *twin* is played: the same system,
seed and actions under another truth, which shows the tokens of the first incident. The texts must
be the same, screen by screen: a difference would tell an agent what no belief can know.

If several faults are possible, the last twin of each incident shares a fault with it, which is
fixed in both: the faults that are left must not show either.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import cast

import attrs

from logtriage.actions import (
    SEVERITIES,
    Action,
    Escalate,
    IdentifyRootCause,
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    Severity,
)
from logtriage.audit.findings import NOT_OF_A_WORLD, Outcome, Verdict, judged
from logtriage.audit.subject import Work
from logtriage.audit.vocabulary import matter, word
from logtriage.drawing.incidents import truth_of
from logtriage.dynamics import transition
from logtriage.evidence import evidence
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.rng import hash_name, mix
from logtriage.state import State, initial_state
from logtriage.world.channels import Evidence
from logtriage.world.compounds import set_prior
from logtriage.world.conditions import Hypothesis, accepted_remedies, teams_of
from logtriage.world.model import World
from logtriage.world.prior import prior
from logtriage.world.schedule import Cell, Doings, Row
from logtriage.world.simulation import Simulation, draw_truth

#: Twins of each incident: other truths, drawn from the prior.
TWINS = 3
#: At most so many truths are drawn for a twin; after ``_PATIENCE``, it need not share a page.
_DRAWS = 200
_PATIENCE = 150
_Plan = tuple[Action, ...]
_Tokens = dict[Cell, str]


def fairness(work: Work) -> Outcome:
    """Equal tokens give equal screens, whatever the truth."""
    drawn = work.subject.incidents("test", work.sizes.twins)
    incidents = [incident for incident in drawn if incident.simulation]
    if not incidents:
        return Outcome(Verdict.SKIPPED, NOT_OF_A_WORLD)
    screens = pairs = sets = 0
    differences: list[str] = []
    for incident in incidents:
        world = cast(Simulation, incident.simulation)
        for number in range(TWINS):
            truth, severity = _other_truth(incident, world, number)
            plan = _plan(incident, world.setting.world, truth, number)
            states = list(_states(incident, plan))
            tokens = {cell.cell: cell.token for state in states for cell in evidence(state)}
            twin = _twin(incident, world, truth, severity, tokens)
            pairs += 1
            sets += min(len(world.truth.faults), len(truth.faults)) > 1  # both have several faults
            for place, both in enumerate(zip(states, _states(twin, plan), strict=True)):
                screens += 1
                first, second = (render_observation(observe(state)) for state in both)
                if first != second:
                    line = _difference(world, truth, first, second)
                    after = f" after {word(plan[place - 1])}" if place else ""
                    differences.append(f"{incident.id}{after}: with the same tokens, {line}")
                    break
    return judged(
        not differences,
        "; ".join(differences[:2])
        or f"{screens:,} screens of {pairs:,} pairs of truths with the same tokens are the same, "
        "letter by letter",
        screens=screens,
        pairs=pairs,
        sets=sets,
        differing=len(differences),
        examples=differences[:3],
    )


def _other_truth(incident: Incident, world: Simulation, number: int) -> tuple[Hypothesis, Severity]:
    """Another truth and its severity, by a hash; every second twin shares a right page."""
    public, topology = world.setting.world, world.topology
    paged = set(teams_of(public, topology, world.directory, world.truth))
    for attempt in range(_DRAWS):
        bits = mix(hash_name(f"{incident.id} twin {number} {attempt}"))
        truth = _draw_truth(world, bits, keeps_fault=number == TWINS - 1)
        theirs = set(teams_of(public, topology, world.directory, truth))
        shares_page = bool(theirs & paged) or theirs == paged  # two benign truths page nobody
        may_differ = number % 2 == 1 or attempt > _PATIENCE
        if truth != world.truth and (shares_page or may_differ):
            return truth, SEVERITIES[bits % len(SEVERITIES)] if truth.faults else Severity.P3
    raise AssertionError("unreachable: a prior has more than one hypothesis")


def _draw_truth(world: Simulation, bits: int, *, keeps_fault: bool) -> Hypothesis:
    """A truth drawn from the prior; it may keep a fault where several are possible."""
    if not world.setting.several:
        return draw_truth(prior(world.setting, world.topology, world.held), bits)
    sets = set_prior(world.setting, world.topology, world.held)
    drawn = sets.pick(mix(bits), bits)
    if not keeps_fault or not world.truth.faults:
        return drawn
    kept = world.truth.faults[bits % len(world.truth.faults)]
    others = [fault for fault in drawn.faults if fault[1] != kept[1]]  # at other services
    chosen = (kept, *others[: len(world.setting.counts) - 1])  # counts has a weight for each number
    return Hypothesis(tuple(sorted(chosen, key=lambda fault: fault[1])))


def _plan(incident: Incident, world: World, other: Hypothesis, number: int) -> _Plan:
    """Actions that leave an incident and its twin open and alike.

    They are: pages that are right for both; a remedy that is wrong for both and, with several
    faults, one that is right for both; requests of every kind, first at the faulty services.
    """
    topology, truth = incident.topology, incident.truth
    names = topology.names
    guilty = [*truth.root_causes, *(names[at] for _, at in other.faults)]
    if other.benign is not None:
        guilty.append(names[other.benign[1]])
    order = [*dict.fromkeys((*guilty, *names))]
    shared = truth.teams.intersection(teams_of(world, topology, incident.directory, other))
    wanted = accepted_remedies(world, topology, other)
    fixing = sorted(truth.remedies.intersection(wanted)) if truth.several else []
    remedies = [(remedy, name) for name in order for remedy in topology.remedies]
    wrong = [remedy for remedy in remedies if remedy not in {*truth.remedies, *wanted}]
    kinds = (RequestMoreLogs, RequestMetrics, RequestTraces)
    asked: list[Action] = [kind(name) for name in order for kind in kinds]
    start: list[Action] = [
        IdentifyRootCause(order[0]),
        *map(Escalate, sorted(shared)),
        *(Remediate(*remedy) for remedy in (*wrong[number : number + 1], *fixing[:1])),
    ]
    first = 2 * len(kinds)  # two services, before the lines of all
    plan = [*start, *asked[:first], RequestMoreLogs(None), *asked[first:]]
    return tuple(plan[: incident.horizon])


def _states(incident: Incident, plan: Sequence[Action]) -> Iterator[State]:
    state = initial_state(incident)
    yield state
    for action in plan:
        if state.is_closed:
            return
        state = transition(state, action)
        yield state


def _twin(
    incident: Incident, world: Simulation, truth: Hypothesis, severity: Severity, tokens: _Tokens
) -> Incident:
    """The incident under another truth, whose telemetry shows ``tokens`` all the same."""

    def shown_row(_: Simulation, row: Row, __: Doings) -> list[Evidence]:
        channel, start, spots = row
        cells = [(channel, service, slot, start) for service, slot in spots]
        return [Evidence(*cell, tokens[cell]) for cell in cells]

    # All evidence of a simulation comes from its method ``row``.
    kind = type("Twin", (type(world),), {"row": shown_row})
    fields = [field for field in attrs.fields(type(world)) if field.init]
    values = {field.alias: getattr(world, field.name) for field in fields}
    other = kind(**values | {"truth": truth, "severity": severity})
    public = world.setting.world
    teams = teams_of(public, incident.topology, world.directory, truth)
    answer = truth_of(public, incident.topology, teams, truth, severity)
    return attrs.evolve(incident, telemetry=other, truth=answer)


def _difference(world: Simulation, other: Hypothesis, first: str, second: str) -> str:
    lines = zip_longest(first.splitlines(), second.splitlines(), fillvalue="(no line)")
    left, right = next(pair for pair in lines if pair[0] != pair[1])
    return (
        f"{left[:120]!r} under {matter(world.truth, world.topology)} and {right[:120]!r} under "
        f"{matter(other, world.topology)}"
    )
