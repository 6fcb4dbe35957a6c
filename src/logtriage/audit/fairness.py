"""Equal tokens, equal screens: nothing that is shown tells of the truth but the tokens.

An incident is played with every request that it has, and everything that was shown is
written down, token by token. Then a *twin* of it is made: the same system, seed and
actions under another truth, with the tokens of the first one put in the place of its own.
The texts of the two must be the same, screen by screen. What differs would be known to an
agent and to no belief: the ordering of lines, a figure, a phrasing.

Where there may be several faults at once, sets are compared with sets. The last twin of each
incident keeps one fault of it, which is fixed in both: what is left must not show either.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

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
)
from logtriage.audit.findings import NOT_OF_A_WORLD, Check, Finding
from logtriage.audit.limits import Sizes, Thresholds
from logtriage.audit.subject import Subject
from logtriage.audit.vocabulary import word
from logtriage.drawing.incidents import truth_of
from logtriage.evidence import evidence
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.rng import hash_name, mix
from logtriage.state import State, initial_state
from logtriage.topology import Topology
from logtriage.transition import transition
from logtriage.world.channels import SERIES, Evidence
from logtriage.world.compounds import set_prior
from logtriage.world.conditions import Hypothesis, accepted_remedies, teams_of
from logtriage.world.model import World
from logtriage.world.prior import prior
from logtriage.world.schedule import Cell, Doings, cells
from logtriage.world.simulation import Simulation, draw_truth, speakers

#: Twins of each incident: other truths, drawn from the prior.
TWINS = 3
_Plan = tuple[Action, ...]


def fairness(subject: Subject, sizes: Sizes, limits: Thresholds) -> Iterator[Check]:  # noqa: ARG001
    """The check ``fairness``."""
    yield Check("fairness", lambda: _fairness(subject, sizes))


def _fairness(subject: Subject, sizes: Sizes) -> Finding:
    incidents = [
        incident for incident in subject.incidents("test", sizes.twins) if incident.simulation
    ]
    if not incidents:
        return Finding.skipped("fairness", NOT_OF_A_WORLD)
    screens = pairs = sets = 0
    told: list[str] = []
    for incident in incidents:
        world = cast(Simulation, incident.simulation)
        for number in range(TWINS):
            truth, severity = _another(incident, world, number)
            plan = _plan(incident, world.setting.world, truth, number)
            mine = list(_states(incident, plan))
            tokens = {one.cell: one.token for state in mine for one in evidence(state)}
            twin = _twin(incident, world, truth, severity, tokens)
            pairs += 1
            sets += min(len(world.truth.faults), len(truth.faults)) > 1
            for place, (one, other) in enumerate(zip(mine, _states(twin, plan), strict=True)):
                screens += 1
                first, second = (render_observation(observe(state)) for state in (one, other))
                if first != second:
                    told.append(_difference(incident, world, truth, plan[:place], first, second))
                    break
    return Finding.judged(
        "fairness",
        not told,
        "; ".join(told[:2])
        or f"{screens:,} screens of {pairs:,} pairs of truths with the same tokens are the same, "
        "letter by letter",
        screens=screens,
        pairs=pairs,
        sets=sets,
        differing=len(told),
        examples=told[:3],
    )


def _another(incident: Incident, world: Simulation, number: int) -> tuple[Hypothesis, Any]:
    """Another truth and severity, by a hash of the incident and a number.

    Every other one is looked for among truths that a page for this one is right for, so that
    what a page brings is compared, too.
    """
    public, topology = world.setting.world, world.topology
    paged = set(teams_of(public, topology, world.directory, world.truth))
    for attempt in range(200):
        bits = mix(hash_name(f"{incident.id} twin {number} {attempt}"))
        found = _drawn(world, bits, keeps=number == TWINS - 1)
        theirs = set(teams_of(public, topology, world.directory, found))
        alike = bool(theirs & paged) or theirs == paged
        if found != world.truth and (alike or number % 2 or attempt > 150):
            rank = bits % len(SEVERITIES) if found.faults else len(SEVERITIES) - 1
            return found, SEVERITIES[rank]
    raise AssertionError("unreachable: a prior has more than one hypothesis")


def _drawn(world: Simulation, bits: int, *, keeps: bool) -> Hypothesis:
    """A truth by the prior; of several faults, one that ``keeps`` a fault of the world's."""
    if not world.setting.several:
        return draw_truth(prior(world.setting, world.topology, world.held), bits)
    sets = set_prior(world.setting, world.topology, world.held)
    found = sets.pick(mix(bits), bits)
    if not keeps or not world.truth.faults:
        return found
    kept = world.truth.faults[bits % len(world.truth.faults)]
    others = [one for one in found.faults if one[1] != kept[1]][: len(world.setting.counts) - 1]
    return Hypothesis(tuple(sorted((kept, *others), key=lambda one: one[1])))


def _plan(incident: Incident, world: World, other: Hypothesis, number: int) -> _Plan:
    """What is asked and done: all that leaves both incidents open and alike.

    Pages that are right for both, a remedy that is wrong for both, where there are several
    faults one that is right for both; then requests of every kind, those at the services of
    both truths first.
    """
    topology, truth = incident.topology, incident.truth
    names = topology.names
    guilty = [*truth.root_causes, *(names[at] for _, at in other.faults)]
    if other.benign is not None:
        guilty.append(names[other.benign[1]])
    order = [*dict.fromkeys(guilty), *(one for one in names if one not in guilty)]
    shared = truth.teams.intersection(teams_of(world, topology, incident.directory, other))
    wanted = accepted_remedies(world, topology, other)
    accepted = {*truth.remedies, *wanted}
    fixing = sorted(one for one in truth.remedies if one in wanted) if truth.several else []
    wrong = [
        Remediate(remedy, name)
        for name in order
        for remedy in topology.remedies
        if (remedy, name) not in accepted
    ]
    asked: list[Action] = []
    for name in order:
        asked += [RequestMoreLogs(name), RequestMetrics(name), RequestTraces(name)]
    start: list[Action] = [
        IdentifyRootCause(order[0]),
        *map(Escalate, sorted(shared)),
        wrong[number],
        *(Remediate(*one) for one in fixing[:1]),
    ]
    plan = [*start, *asked[: SERIES * 2], RequestMoreLogs(None), *asked[SERIES * 2 :]]
    return tuple(plan[: incident.horizon])


def _states(incident: Incident, plan: Sequence[Action]) -> Iterator[State]:
    """The state before each action and after the last."""
    state = initial_state(incident)
    yield state
    for action in plan:
        if state.is_closed:
            return
        state = transition(state, action)
        yield state


def _twin(
    incident: Incident, world: Simulation, truth: Hypothesis, severity: Any, tokens: dict[Cell, str]
) -> Incident:
    """The incident under another truth, whose world says these tokens instead of its own."""

    def shown(self: Simulation, now: int, doings: Doings) -> Iterator[Evidence]:
        voices = speakers(self.seed, len(self.topology), now)
        for cell in cells(self.setting, self.topology, voices, now, doings):
            yield Evidence(*cell, tokens[cell])

    kind = type("Twin", (type(world),), {"shown": shown})
    given = {one.alias: getattr(world, one.name) for one in attrs.fields(type(world)) if one.init}
    other = kind(**{**given, "truth": truth, "severity": severity})
    public = world.setting.world
    teams = teams_of(public, incident.topology, world.directory, truth)
    answer = truth_of(public, incident.topology, teams, truth, severity)
    return attrs.evolve(incident, telemetry=other, truth=answer)


def _difference(
    incident: Incident,
    world: Simulation,
    other: Hypothesis,
    plan: _Plan,
    first: str,
    second: str,
) -> str:
    """The first line that is not the same, and under which truths."""
    lines = next(
        (
            pair
            for pair in zip(first.splitlines(), second.splitlines(), strict=False)
            if len(set(pair)) > 1
        ),
        ("", "(one screen is longer)"),
    )
    after = f" after {word(plan[-1])}" if plan else ""
    return (
        f"{incident.id}{after}: with the same tokens, {lines[0][:120]!r} under "
        f"{_named(world.truth, world.topology)} and {lines[1][:120]!r} under "
        f"{_named(other, world.topology)}"
    )


def _named(truth: Hypothesis, topology: Topology) -> str:
    rows = truth.faults or (truth.benign,)
    return " and ".join(f"{row[0]} at {topology.names[row[1]]}" for row in rows if row)
