"""Laws of histories: draws follow the tables, and a belief is Bayes' rule over them."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from random import Random  # noqa: TID251 -- hypothesis hands one in
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logtriage import Escalate, Remediate, State, initial_state, make_incident, transition
from logtriage.actions import Action, RequestMetrics, RequestMoreLogs, RequestTraces
from logtriage.beliefs import belief
from logtriage.beliefs.beliefs import belief_of, believed
from logtriage.beliefs.fixedpoint import RULED_OUT
from logtriage.beliefs.imagining import Imagination, imagine
from logtriage.beliefs.model import any_model_of
from logtriage.beliefs.posterior import Seen, posterior
from logtriage.drawing.ids import IncidentId
from logtriage.drawing.incidents import draw_from
from logtriage.evidence import cells_on, evidence, simulation_of
from logtriage.rng import mix
from logtriage.tasks import get_task
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.compounds import set_prior
from logtriage.world.conditions import (
    Condition,
    Hypothesis,
    accepted_remedies,
    affected,
    errors_first,
    unaffected,
)
from logtriage.world.edge import edge_reading, edge_signs
from logtriage.world.histories import (
    NEVER,
    Part,
    Rule,
    coincidences,
    drawn,
    fires_from,
    instant_of,
    lasting,
    onsets,
    part_of,
    rule_weights,
    sign_weights,
)
from logtriage.world.model import World
from logtriage.world.outcomes import edge_state, elsewhere, fixed_at, spell
from logtriage.world.prior import prior
from logtriage.world.schedule import Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, alphabet, places

INCIDENTS = tuple(f"tiny:outage/train/{index}" for index in range(40))
#: What other tasks do: a silent root, signs one by one, an edge that is blurred, two faults.
CHANGES: tuple[Mapping[str, Any], ...] = (
    {}, {"root_silent": 3}, {"creeping": True, "grows_for": 6}, {"severity_from": 3},
    {"counts": (1, 1)},
)  # fmt: skip


def histories(
    setting: Setting, sort: str, place: Place, condition: Condition, begin: int
) -> Iterator[tuple[str, int, float]]:
    """Every history under a condition that began at a tick: token, onset, probability."""
    tokens = alphabet(setting, sort, place)
    if begin:
        for token, weight in zip(tokens, lasting(setting, sort, place, condition), strict=True):
            yield token, (NEVER if token == tokens[0] else instant_of(begin)), weight / FULL
        return
    fog = setting.fog_weight / FULL
    for share, row, part in (
        (1 - fog, sign_weights(setting, sort, place, condition), part_of(setting, sort, condition)),
        (fog, coincidences(setting, sort, place), Part.ANY),
    ):
        for token, weight in zip(tokens, row, strict=True):
            if token == tokens[0]:
                yield token, NEVER, share * weight / FULL
                continue
            for onset, chance in enumerate(onsets(setting, part)):
                yield token, onset, share * weight / FULL * chance / FULL


def rules(setting: Setting, condition: Condition, onset: int) -> Iterator[tuple[int, float]]:
    """From which instant an alert fires, and how likely, given the onset of what it watches."""
    for rule, weight in rule_weights(setting.world):
        share = weight / FULL
        if rule is Rule.WORKS:
            yield fires_from(setting, condition, onset), share
        elif rule is Rule.MISSES:
            yield NEVER, share
        else:
            for instant, chance in enumerate(onsets(setting, Part.ANY)):
                yield instant, share * chance / FULL


def likelihood(
    setting: Setting,
    place: Place,
    conditions: Mapping[int, tuple[Condition, int]],
    cells: list[Evidence],
) -> float:
    """How likely cells of one service and sort are; ``conditions`` by the tick of each cell."""
    world = setting.world
    by_segment: dict[tuple[Condition, int], list[Evidence]] = {}
    for cell in cells:
        key = conditions[0 if cell.channel is Channel.CHANGE else cell.start]
        by_segment.setdefault(key, []).append(cell)
    whole = 1.0
    for (condition, begin), rows in by_segment.items():
        sort = world.sort_of(rows[0].channel, rows[0].slot)
        total = 0.0
        for token, onset, share in histories(setting, sort, place, condition, begin):
            for fires, chance in rules(setting, condition, onset):
                if all(shows(world, cell, token, onset, fires) for cell in rows):
                    total += share * chance
        whole *= total
    return whole


def shows(world: World, cell: Evidence, token: str, onset: int, fires: int) -> bool:
    """Whether a history and its alert show what stands in a cell."""
    instant = instant_of(cell.start)
    if cell.channel is Channel.ALERT:
        alert = world.tokens.alert
        return cell.token == (alert.tokens[cell.slot].name if instant >= fires else alert.ordinary)
    sort = world.sort_of(cell.channel, cell.slot)
    return cell.token == (token if instant >= onset else world.ordinary[sort])


def enumerated(state: State) -> dict[Hypothesis, float]:
    """The posterior of every hypothesis by listing all that may be."""
    simulation, doings = simulation_of(state.incident), state.facts.doings
    setting, topology = simulation.setting, state.incident.topology
    world, shown = setting.world, evidence(state)
    known = prior(setting, topology, state.incident.held)
    if setting.several:
        known = set_prior(setting, topology, state.incident.held).listed
    weights = {}
    for hypothesis, before in zip(known.hypotheses, known.weights, strict=True):
        weight = float(before)
        for service, place in enumerate(places(topology)):
            mine = [c for c in shown if c.service == service and c.token != DOWN]
            reached = affected(world, topology, hypothesis)
            kinds = (
                [(reached[service], 1.0)]
                if service in reached
                else [(c, w / FULL) for c, w in unaffected(world, topology.services[service].tier)]
            )
            total = 0.0
            for own, share in kinds:
                for rows in by_sort(world, mine).values():
                    at = {
                        tick: spell(world, topology, hypothesis, doings, tick, service, own)[:2]
                        for tick in {0, *(row.start for row in rows)}
                    }
                    share *= likelihood(setting, place, at, rows)
                total += share
            weight *= total
        weight *= others(state, hypothesis, shown, doings)
        weights[hypothesis] = weight
    whole = sum(weights.values())
    return {hypothesis: weight / whole for hypothesis, weight in weights.items()}


def by_sort(world: World, cells: list[Evidence]) -> dict[str, list[Evidence]]:
    rows: dict[str, list[Evidence]] = {}
    for cell in cells:
        rows.setdefault(world.sort_of(cell.channel, cell.slot), []).append(cell)
    return rows


def others(
    state: State, hypothesis: Hypothesis, shown: tuple[Evidence, ...], doings: Doings
) -> float:
    """How likely the edge, notes, effects and pages are."""
    simulation, topology = simulation_of(state.incident), state.incident.topology
    setting, world = simulation.setting, simulation.setting.world
    fixed = fixed_at(world, topology, hypothesis, doings)
    first = errors_first(world, hypothesis)
    panels = [cell for cell in shown if cell.channel is Channel.EDGE]
    edge = 0.0
    shares = setting.severities if hypothesis.faults else (0, 0, 1)
    for severity, share in enumerate(shares):
        likely = share / sum(shares)
        groups: dict[tuple[int, int], list[Evidence]] = {}
        for panel in panels:
            groups.setdefault(edge_state(hypothesis, severity, fixed, panel.start), []).append(
                panel
            )
        for (kept_as, _), rows in groups.items():
            tokens, row = edge_signs(setting, kept_as, first)
            kept = 0.0
            for sign, weight in zip(tokens, row, strict=True):
                one = weight / FULL
                for panel in rows:
                    read = edge_reading(setting, kept_as, sign, panel.start)
                    one *= read[world.edge_tokens.index(panel.token)] / FULL
                kept += one
            likely *= kept
        edge += likely
    for cell in shown:
        if cell.channel in (Channel.NOTE, Channel.EFFECT):
            tokens, row = elsewhere(
                setting, topology, state.incident.directory, hypothesis, cell[:4], doings
            )
            edge *= dict(zip(tokens, row, strict=True)).get(cell.token, 0) / FULL
    for _, team in doings.pages:
        teams = {
            world.team_of(topology, state.incident.directory, kind, service)
            for kind, service in hypothesis.faults
        }
        edge *= team in teams
    return edge


@st.composite
def played(draw: st.DrawFn) -> State:
    """A state of `tiny` after some requests, wrong and right remedies and right pages."""
    task = get_task("tiny:outage")
    setting = attrs.evolve(task.setting, **draw(st.sampled_from(CHANGES)))
    incident = draw_from(task, setting, IncidentId(task, "train", draw(st.integers(0, 39))))
    names, state = incident.topology.names, initial_state(incident)
    asks: list[Action] = [
        make(name) for make in (RequestMetrics, RequestTraces, RequestMoreLogs) for name in names
    ]
    asks.append(RequestMoreLogs())
    remedies: list[Action] = [
        Remediate(remedy, name) for remedy in incident.topology.remedies for name in names
    ]
    remedies += (
        [Remediate(*sorted(incident.truth.remedies)[0])] * 3 if incident.truth.remedies else []
    )
    pages: list[Action] = [Escalate(team) for team in sorted(incident.truth.teams)]
    moves = st.sampled_from(asks * 2 + remedies + pages)
    for action in draw(st.lists(moves, max_size=6)):
        if not state.is_closed:
            state = transition(state, action)
    return state


@settings(max_examples=40)
@given(played())
def test_a_belief_is_the_enumeration_of_all_histories(state: State) -> None:
    held, wanted = belief(state), enumerated(state)
    for row, probability in enumerate(held.probabilities):
        expected = wanted.pop(held.posterior.hypothesis(row))
        assert probability == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert all(left == pytest.approx(0.0, abs=1e-6) for left in wanted.values())


def test_histories_are_drawn_as_often_as_the_tables_say() -> None:
    """Of the gauges, traces and topics of many incidents, by what the condition makes likely."""
    setting = simulation_of(make_incident(INCIDENTS[0])).setting
    for service, name in ((1, "bad_release"), (2, "heavy_query")):
        place, condition = places(make_incident(INCIDENTS[0]).topology)[service], Condition(name)
        for sort in ("errors", "workers", "log"):
            counts: dict[tuple[str, int], int] = {}
            for seed in range(4000):
                one = drawn(setting, mix(seed), sort, service, place, condition)
                counts[one.token, one.onset] = counts.get((one.token, one.onset), 0) + 1
            wanted: dict[tuple[str, int], float] = {}
            for token, onset, share in histories(setting, sort, place, condition, 0):
                wanted[token, onset] = wanted.get((token, onset), 0.0) + 4000 * share
            for key, mean in wanted.items():
                assert abs(counts.get(key, 0) - mean) < 5 * max(mean, 1) ** 0.5, (sort, key)
            assert set(counts) <= set(wanted)


@given(played())
def test_the_names_of_services_change_no_belief(state: State) -> None:
    incident, doings, shown = state.incident, state.facts.doings, evidence(state)
    setting, topology = simulation_of(incident).setting, incident.topology
    other = {name: f"x-{name[::-1]}" for name in topology.names}
    services = tuple(
        attrs.evolve(one, name=other[one.name], calls=tuple(other[name] for name in one.calls))
        for one in topology.services
    )
    remedies = tuple((tick, remedy, other[name]) for tick, remedy, name in doings.remedies)
    model = any_model_of(setting, topology, None)
    renamed = any_model_of(setting, attrs.evolve(topology, services=services), None)
    before = posterior(model.listed, Seen(incident.directory, shown, doings, False, None))
    doings = attrs.evolve(doings, remedies=remedies)
    after = posterior(renamed.listed, Seen(incident.directory, shown, doings, False, None))
    assert np.array_equal(after.weights, before.weights)


@given(played(), st.randoms(use_true_random=False))
def test_evidence_in_any_order_gives_the_same_belief(state: State, order: Random) -> None:
    shown = list(evidence(state))
    held = belief_of(state, shown)
    order.shuffle(shown)
    assert np.array_equal(belief_of(state, shown).weights, held.weights)


@given(st.sampled_from(INCIDENTS), st.integers(0, 7))
def test_what_began_stays_until_a_remedy_changes_it(name: str, wait: int) -> None:
    """No series jumps: usual until an onset, then one token."""
    incident = make_incident(name)
    state = initial_state(incident)
    for _ in range(wait % incident.horizon):
        state = transition(state, RequestMetrics(incident.topology.names[0]))
    series: dict[tuple[Channel, int, int], list[str]] = {}
    for cell in sorted(evidence(state), key=lambda cell: cell.start):
        if cell.service >= 0 and cell.channel not in (Channel.WINDOW, Channel.NOTE):
            series.setdefault(cell[:3], []).append(cell.token)
    assert all(len([*groupby(tokens)]) <= 2 for tokens in series.values())


@given(played(), st.integers(0, 99))
def test_what_is_imagined_after_a_remedy_fits_its_hypothesis(state: State, key: int) -> None:
    if state.is_closed:
        return
    held, incident = belief(state), state.incident
    place = Imagination("place", key).pick(held.weights)
    hypothesis = held.posterior.hypothesis(place)
    remedies = sorted(accepted_remedies(held.world, incident.topology, hypothesis))
    doings = state.facts.doings
    for remedy in remedies[:1]:
        doings = attrs.evolve(doings, remedies=(*doings.remedies, (state.tick, *remedy)))
    shown = evidence(state)
    seen = {cell.cell for cell in shown}
    fresh = [cell for cell in cells_on(incident, state.tick + 1, doings) if cell not in seen]
    drawn = imagine(held.posterior, place, fresh, doings, Imagination("cells", key))
    updated = believed(incident, (*shown, *drawn), doings)
    rows = {updated.hypothesis(row): row for row in range(len(updated.logs))}
    assert updated.logs[rows[hypothesis]] > RULED_OUT
