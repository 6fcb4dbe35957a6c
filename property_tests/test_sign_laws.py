"""Laws of worlds whose signs stay: the belief is Bayes' rule over all that signs may be."""

from collections import defaultdict
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logtriage.beliefs.pools import Pools
from logtriage.world.signs import edge_reading, edge_signs, reading, sign_weights

from logtriage import (
    Remediate,
    RequestMetrics,
    RequestMoreLogs,
    RequestTraces,
    State,
    get_task,
    initial_state,
    make_incident,
    transition,
)
from logtriage.beliefs import belief
from logtriage.beliefs.beliefs import belief_of
from logtriage.beliefs.fixedpoint import Longs
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import SPLITS, IncidentId
from logtriage.evidence import evidence
from logtriage.policies import perfect_actions
from logtriage.roles.splits import TRIO
from logtriage.tasks import DEFAULT_TASKS, TaskSpec
from logtriage.world.channels import DOWN, GAP, Channel, Evidence
from logtriage.world.compounds import set_prior
from logtriage.world.conditions import Condition, Hypothesis, affected, teams_of, unaffected
from logtriage.world.drawn import draw_world
from logtriage.world.loading import load_world
from logtriage.world.outcomes import condition_at, elsewhere, fixed_at, left_at
from logtriage.world.prior import prior
from logtriage.world.setting import FULL
from logtriage.world.simulation import Simulation
from logtriage.world.tables import CALM, RECOVERED, alphabet, places
from property_tests.strategies import episodes, world_incidents
from property_tests.test_belief_laws import asked, check_calibrated
from property_tests.test_compound_laws import TINY

#: Every rule that a sign can meet: silence, growth, several faults, blind spots, all levels of fog;
#: and other shares.
TASKS = (
    *map(get_task, DEFAULT_TASKS),
    *(get_task(name) for name in ("tiny:outage", "tiny:outage-fog0")),
    *(get_task("outage", draw_world(load_world("tiny"), seed)) for seed in range(2)),
)


def world_of(state: State) -> Simulation:
    world = state.incident.telemetry
    assert isinstance(world, Simulation)
    return world


@st.composite
def states(draw: st.DrawFn, tasks: tuple[TaskSpec, ...] = TASKS) -> State:
    """Open states of few services: right and wrong pages and remedies, and requests."""
    task = draw(st.sampled_from(tasks))
    topology = TINY if task.version else None
    number = IncidentId(task, draw(st.sampled_from(SPLITS)), draw(st.integers(0, 100_000)))
    incident = draw_incident(task, number, topology)
    service = st.sampled_from(incident.topology.names)
    right = perfect_actions(incident)[:-1]
    ask = st.one_of(
        st.builds(RequestMoreLogs, service),
        st.builds(RequestMetrics, service),
        st.builds(RequestTraces, service),
    )
    other = st.sampled_from(right or (RequestMoreLogs(None),))
    wrong = st.builds(Remediate, st.sampled_from(incident.topology.remedies), service)
    state = initial_state(incident)
    for action in draw(st.lists(st.one_of(ask, ask, other, wrong), max_size=9)):
        if not state.is_closed:
            state = transition(state, action)
    return state


# --- enumeration ------------------------------------------------------------------------


class Enumeration:
    """What hypotheses make of the evidence of a state, by summing over all that signs may be.

    It reads the tables of single signs and readings, and nothing of the belief.
    """

    def __init__(self, state: State) -> None:
        self.state, self.world = state, world_of(state)
        self.setting, self.topology = self.world.setting, self.world.topology
        self.public, self.doings = self.setting.world, state.facts.doings
        self.shown = evidence(state)
        self.of_service: dict[int, list[Evidence]] = defaultdict(list)
        for cell in self.shown:
            self.of_service[cell.service].append(cell)
        self.kept: dict[Any, float] = {}
        self.kept_edges: dict[tuple[int | None, bool | None], list[float]] = {}

    def weights(self) -> dict[Hypothesis, float]:
        """The weight of each hypothesis, up to a factor."""
        if self.setting.several:
            table = set_prior(self.setting, self.topology, self.world.held).listed
        else:
            table = prior(self.setting, self.topology, self.world.held)
        found = {
            one: weight * self.likelihood(one)
            for one, weight in zip(table.hypotheses, table.weights, strict=True)
        }
        whole = sum(found.values())
        return {one: weight / whole for one, weight in found.items()}

    def likelihood(self, one: Hypothesis) -> float:
        right = teams_of(self.public, self.topology, self.world.directory, one)
        if any(team not in right for _, team in self.doings.pages):
            return 0.0
        reached = affected(self.public, self.topology, one)
        found = self.nobodys(one)
        for service, row in enumerate(self.topology.services):
            if not found:
                break
            if service in reached:
                found *= self.service(one, service, reached[service])
            else:
                if service not in self.kept:
                    self.kept[service] = sum(
                        share / FULL * self.service(one, service, condition)
                        for condition, share in unaffected(self.public, row.tier)
                    )
                found *= self.kept[service]
        return found

    def condition(self, one: Hypothesis, service: int, own: Condition, tick: int) -> Condition:
        left = left_at(self.public, self.topology, one, self.doings, tick)
        return condition_at(self.public, self.topology, one, left, service, own)

    def service(self, one: Hypothesis, service: int, own: Condition) -> float:
        """The likelihood of a service's readings, by the spells of its conditions."""
        cells = self.of_service[service]
        if not cells:
            return 1.0
        spells: list[tuple[Condition, int]] = []  # (condition, begin) of every tick
        last = max(cell.start for cell in cells)
        for tick in range(last + 1):
            condition = self.condition(one, service, own, tick)
            if not spells or spells[-1][0] != condition:
                spells.append((condition, tick))
            else:
                spells.append(spells[-1])
        key = (service, *(spell for tick, spell in enumerate(spells) if spell[1] == tick))
        if key not in self.kept:
            self.kept[key] = self.read_in(service, spells)
        return self.kept[key]

    def read_in(self, service: int, spells: list[tuple[Condition, int]]) -> float:
        """The likelihood of a service's readings, by the spell of each tick."""
        signs: dict[Any, list[tuple[str, int, str]]] = defaultdict(list)
        for cell in self.of_service[service]:
            if cell.token != DOWN:
                sort = self.public.sort_of(cell.channel, cell.slot)
                condition, begin = spells[cell.start]
                hidden = (
                    condition.name in self.public.kind_names
                    and cell.start < self.setting.root_silent
                    and sort in ("alert", "window")
                )
                base = "log" if sort == "window" else sort
                signs[base, condition, begin, hidden].append((sort, cell.start, cell.token))
        return prod(
            self.summed(service, base, condition, hidden, tuple(read))
            for (base, condition, _, hidden), read in signs.items()
        )

    def summed(
        self,
        service: int,
        base: str,
        condition: Condition,
        hidden: bool,
        read: tuple[tuple[str, int, str], ...],
    ) -> float:
        """The sum over what a sign may be of its weight times those of its readings."""
        key = service, base, condition, hidden, read
        if key not in self.kept:
            place = places(self.topology)[service]
            tokens = alphabet(self.setting, base, place)
            row = sign_weights(self.setting, base, place, condition, hidden=hidden)
            self.kept[key] = sum(
                weight / FULL * prod(self.reading(one, place, sign, tokens) for one in read)
                for sign, weight in zip(tokens, row, strict=True)
                if weight
            )
        return self.kept[key]

    def reading(
        self, one: tuple[str, int, str], place: Any, sign: str, tokens: tuple[str, ...]
    ) -> float:
        sort, start, token = one
        row = reading(self.setting, sort, place, start)
        if token == GAP:
            return row.gap / FULL
        return (row.sign * (token == sign) + row.other[tokens.index(token)]) / FULL

    def nobodys(self, one: Hypothesis) -> float:
        """The likelihood of notes, effects and the edge's panels."""
        found = 1.0
        for cell in self.shown:
            if cell.service < 0 and cell.channel is not Channel.EDGE:
                tokens, row = elsewhere(
                    self.setting, self.topology, self.world.directory, one, cell.cell,
                    self.doings,
                )  # fmt: skip
                found *= row[tokens.index(cell.token)] / FULL if cell.token in tokens else 0.0
        return found * sum(self.edges(one)) if found else 0.0

    def edges(self, one: Hypothesis) -> list[float]:
        """The likelihood of the edge's panels, with each severity and its share."""
        fixed = fixed_at(self.public, self.topology, one, self.doings)
        first = (
            any(self.public.kind(kind).errors_first for kind, _ in one.faults)
            if one.faults
            else None
        )
        if (fixed, first) not in self.kept_edges:
            self.kept_edges[fixed, first] = self.edges_of(fixed, first)
        return self.kept_edges[fixed, first]

    def edges_of(self, fixed: int | None, first: bool | None) -> list[float]:
        """The same for faults fixed in a tick; ``first`` is None if there are none."""
        panels = [cell for cell in self.shown if cell.channel is Channel.EDGE]
        before = [cell for cell in panels if fixed is None or cell.start <= fixed]
        after = [cell for cell in panels if fixed is not None and cell.start > fixed]
        shares = [share / sum(self.setting.severities) for share in self.setting.severities]
        ranks = [(CALM, 1.0)] if first is None else enumerate(shares)
        return [
            share
            * self.panels(severity, first, before)
            * (self.panels(RECOVERED, first, after) if after else 1.0)
            for severity, share in ranks
        ]

    def panels(self, severity: int, first: bool | None, cells: list[Evidence]) -> float:
        tokens = self.public.edge_tokens
        return sum(
            weight
            / FULL
            * prod(
                edge_reading(self.setting, severity, sign, cell.start)[tokens.index(cell.token)]
                / FULL
                for cell in cells
            )
            for sign, weight in zip(*edge_signs(self.setting, severity, first), strict=True)
        )


def error_of(state: State) -> float:
    """The largest difference between the belief and the enumeration."""
    by_hand, held = Enumeration(state).weights(), belief(state)
    believed = dict(zip(held.hypotheses, held.probabilities, strict=True))
    return max(abs(share - believed.get(one, 0.0)) for one, share in by_hand.items())


@settings(max_examples=60)
@given(states())
def test_the_posterior_sums_over_all_that_signs_may_be(state: State) -> None:
    assert error_of(state) < 3e-6


@settings(max_examples=25)
@given(episodes(source=world_incidents(several=True)))
def test_it_does_so_in_worlds_that_nobody_ships(states: tuple[State, ...]) -> None:
    state = [one for one in states if not one.is_closed][-1]
    assert error_of(state) < 1e-5


def _asking(state: State, name: str) -> State:
    for kind in (RequestMetrics, RequestMoreLogs, RequestTraces):
        state = transition(state, kind(name))
    return state


def test_a_pool_that_becomes_the_root() -> None:
    """A database exhausts its caller's pool, which shows its own signs once that is well."""
    task = get_task("compound_failure-v3")
    for number in range(2000):
        incident = draw_incident(task, IncidentId(task, "train", number), TINY)
        hidden = [part for part in incident.truth.several if part.secondary]
        if hidden:
            break
    caller = min(hidden[0].root_causes)
    database = next(part for part in incident.truth.several if "store" in part.root_causes)
    state = _asking(initial_state(incident), caller)
    state = _asking(transition(state, Remediate(*min(database.remedies))), caller)
    world = world_of(state)
    index, here = TINY.index(caller), Enumeration(state)
    spells = {
        here.condition(world.truth, index, world.conditions[index], tick).name
        for tick in range(state.tick)
    }
    assert spells == {"waiting", "pool_exhaustion"}
    assert error_of(state) < 3e-6


@pytest.mark.parametrize(
    "task", ["cascading_failure-v3", "silent_degradation-v3", "single_crash-v3-fog3"]
)
def test_silence_growth_and_recovery(task: str) -> None:
    """Asked before and after a wrong remedy and the right one, through everything that grows."""
    spec, found = get_task(task), 0
    for number in range(40):
        incident = draw_incident(spec, IncidentId(spec, "val", number), TINY)
        if incident.truth.benign:
            continue
        root, *_ = incident.truth.root_causes
        wrong = Remediate("flush-cache", "front")
        if (wrong.remedy, wrong.service) in incident.truth.remedies:
            continue
        state = transition(_asking(initial_state(incident), root), wrong)
        state = transition(_asking(state, root), Remediate(*min(incident.truth.remedies)))
        state = transition(state, RequestMetrics(root))
        assert {one.token for one in evidence(state) if one.channel is Channel.EFFECT} == {
            "eases", "no_change",
        }  # fmt: skip
        assert error_of(state) < 3e-6
        found += 1
        if found == 3:
            return
    pytest.fail("no such incident")


def test_readings_that_are_added_as_if_drawn_anew_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted bug: two readings of a sign tell as much as those of two signs."""
    incident = make_incident("cascading_failure-v3/test/3")
    state = initial_state(incident)
    for _ in range(2):
        for kind in (RequestMetrics, RequestMoreLogs, RequestTraces):
            state = transition(state, kind(incident.topology.names[2]))
    assert error_of(state) < 3e-6

    def added(pools: Pools, *_: int) -> Longs:
        listed = pools.listed
        found = np.zeros((len(listed.readers), listed.widest), np.int64)
        for one in evidence(state):
            if one.service >= 0:
                reader = listed.readers[one.service]
                sort = listed.model.world.sort_of(one.channel, one.slot)
                found[one.service, : len(reader.conditions)] += reader.column(
                    sort, one.start, one.token
                )
        return found

    monkeypatch.setattr(Pools, "whole", added)
    assert error_of(state) > 0.01


# --- calibration -------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["single_crash-v3", "cascading_failure-v3-fog1", "tiny:outage"])
def test_what_is_believed_comes_true_as_often(task: str) -> None:
    roots: list[tuple[float, bool]] = []
    severe: list[tuple[float, bool]] = []
    for number in range(120):
        incident = make_incident(f"{task}/train/{number}")
        held = belief(asked(incident, number % 5))
        for service, share in held.root_causes.items():
            roots.append((share, service in incident.truth.root_causes))
        for severity, share in held.severities.items():
            severe.append((share, severity == incident.truth.severity))
    check_calibrated(roots, "root causes")
    check_calibrated(severe, "severities")


# --- roles -------------------------------------------------------------------------------


@settings(max_examples=15)
@given(states())
def test_roles_together_know_what_all_of_them_were_shown(state: State) -> None:
    """What two roles read of one sign is united, cell by cell, and pooled once."""
    shown = [one for role in TRIO.roles for one in evidence(state, role)]
    united = tuple(dict.fromkeys(shown))
    weights = belief(state, TRIO).weights
    assert belief_of(state, united).weights == weights
    assert len(united) <= len(shown)
    assert set(united) <= set(evidence(state))
