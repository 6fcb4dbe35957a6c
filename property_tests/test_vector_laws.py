"""The law of the batched engine: row by row it is the scalar core."""

from collections.abc import Sequence
from importlib.util import find_spec

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import SEVERITIES, Wait, action_id
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.dynamics import transition_jointly
from logtriage.grading import TRIAGE_3, criteria, score
from logtriage.grading.batch import CLOSINGS
from logtriage.rng import MASK
from logtriage.tasks import TASKS, TaskSpec, tasks_of
from logtriage.vector import BatchedTriage, Step, action_mask, encode_tokens
from logtriage.vector.engine import NOTHING
from logtriage.vector.tokens.incidents import WORTHS
from logtriage.world.simulation import Simulation
from property_tests.strategies import OTHER_WORLDS, topologies

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

from logtriage.vector.tokens.compiled.drawing import high_product

#: What a batch plays: tasks with one fault and one world, whose signs stay.
DRAWN = [task for task in TASKS if not (task.several or task.unseen)]
#: Those of ``tiny`` and of worlds that nobody ships, each on its own topology.
ELSEWHERE = [
    task
    for world in OTHER_WORLDS
    for task in tasks_of(world).values()
    if task.topology is not None and not task.several and task not in TASKS
]
indices = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=6)
TRAINING = st.sampled_from(("train", "val", "test"))
tasks = st.sampled_from([task for task in DRAWN if task.topology is not None])
any_task = st.sampled_from(DRAWN)


def incident_of(
    task: TaskSpec, split: str, index: int, topology: lt.Topology | None
) -> lt.Incident:
    return draw_incident(task, IncidentId(task, split, index), topology)


def agree(batch: BatchedTriage, screen: Step, row: int, state: lt.State, lanes: int = 1) -> None:
    """The batch shows in this row what the scalar state shows."""
    wanted, got = encode_tokens(state, lanes), screen.observation[row]
    if not np.array_equal(wanted, got):
        wrong = int(np.flatnonzero(wanted != got)[0])
        block = next(n for n, s in batch.layout.blocks.items() if s.start <= wrong < s.stop)
        raise AssertionError(f"{block}[{wrong}]: {wanted[wrong]} scalar, {got[wrong]} batched")
    assert np.array_equal(action_mask(lt.observe(state)), screen.mask[row])
    number = int(screen.closing[row])
    assert (None if number < 0 else CLOSINGS[number]) == state.closing
    assert int(screen.tick[row]) == state.tick


def choices_on(topology: lt.Topology) -> tuple[lt.Action, ...]:
    """Every action by its integer, the hand-over last."""
    return lt.all_actions(topology, hand_over=True)


def right_actions(incident: lt.Incident) -> list[lt.Action]:
    """What a random action seldom is: the page, the remedies, the root."""
    truth = incident.truth
    return [
        *(lt.IdentifyRootCause(name) for name in sorted(truth.root_causes)),
        *(lt.Escalate(team) for team in sorted(truth.teams)),
        *(lt.Remediate(*one) for one in sorted(truth.remedies)),
    ]


def chosen_actions(incident: lt.Incident) -> st.SearchStrategy[int]:
    """Any action by its integer, often a request, often a right one.

    Made once an episode: to make such a strategy takes longer than to draw from it.
    """
    topology = incident.topology
    count, n = len(choices_on(topology)), len(topology)
    right = right_actions(incident)
    requests = st.integers(count - 4 - 3 * n, count - 4)
    ways = [st.integers(0, count - 1), requests]
    if right:
        ways.append(st.sampled_from([action_id(one, topology) for one in right]))
    return st.one_of(ways)


def chosen_rows(states: Sequence[lt.State]) -> st.SearchStrategy[tuple[int, ...]]:
    """An action for each row."""
    return st.tuples(*(chosen_actions(state.incident) for state in states))


def play_both(
    data: st.DataObject, task: TaskSpec, split: str, index: list[int], topology: lt.Topology | None
) -> None:
    batch = BatchedTriage(task, topology=topology, world=task.world)
    screen = batch.reset(split, np.array(index))
    states = [lt.initial_state(incident_of(task, split, one, topology)) for one in index]
    choices = choices_on(batch.topology)
    actions = chosen_rows(states)
    for _ in range(task.horizon + 1):
        for row, state in enumerate(states):
            agree(batch, screen, row, state)
        if all(state.is_closed for state in states):
            break
        chosen = np.array(data.draw(actions, label="actions"))
        screen = batch.step(chosen)
        for row, before in enumerate(states):
            if before.is_closed:
                assert screen.reward[row] == 0.0
                continue
            states[row] = lt.transition(before, choices[chosen[row]])
            earned, total = lt.reward(before, states[row]), score(states[row])
            assert (screen.reward[row], screen.score[row]) == (earned, total)


@given(st.data(), tasks, TRAINING, indices)
def test_batched_and_scalar_agree_on_the_tasks_own_topology(
    data: st.DataObject, task: TaskSpec, split: str, index: list[int]
) -> None:
    play_both(data, task, split, index[:2], None)


@given(st.data(), st.integers(0, len(ELSEWHERE) - 1), TRAINING, indices)
def test_batched_and_scalar_agree_in_other_worlds(
    data: st.DataObject, number: int, split: str, index: list[int]
) -> None:
    play_both(data, ELSEWHERE[number], split, index[:2], None)


@settings(max_examples=2)
@given(st.sampled_from(("train", "ood")), st.integers(0, 1 << 20))
def test_notes_in_a_pool_of_worlds_are_those_of_the_scalar_core(split: str, first: int) -> None:
    batch, told = BatchedTriage("unseen_world-v4"), 0
    index = batch.nth(np.arange(first, first + 256))
    screen = batch.reset(split, index)
    states = [lt.initial_state(lt.make_incident(f"{batch.task.id}/{split}/{one}")) for one in index]
    for pages in (True, False):
        numbers = []
        for row, state in enumerate(states):
            teams = sorted(state.incident.truth.teams) * pages
            action = lt.Escalate(teams[0]) if teams else lt.RequestMoreLogs()
            numbers.append(action_id(action, state.incident.topology))
            states[row] = lt.transition(state, action)
        screen = batch.step(numbers)
    for row, state in enumerate(states):
        agree(batch, screen, row, state)
        told += bool(screen.observation[row, batch.layout["note"]].any())
    assert told > len(states) // 4


@given(st.data(), any_task, st.sampled_from(("train", "ood")), indices, topologies(40))
def test_batched_and_scalar_agree_on_other_topologies(
    data: st.DataObject, task: TaskSpec, split: str, index: list[int], topology: lt.Topology
) -> None:
    play_both(data, task, split, index[:2], topology)


@given(st.data(), tasks, st.integers(1, 60), indices, st.none() | topologies(12))
def test_batched_and_scalar_agree_on_any_horizon(
    data: st.DataObject,
    task: TaskSpec,
    horizon: int,
    index: list[int],
    topology: lt.Topology | None,
) -> None:
    play_both(data, attrs.evolve(task, horizon=horizon), "train", index[:1], topology)


@given(st.data(), tasks, indices)
def test_several_who_act_in_a_tick_agree_with_joint_play(
    data: st.DataObject, task: TaskSpec, index: list[int]
) -> None:
    lanes = data.draw(st.integers(2, 3))
    batch = BatchedTriage(task, lanes=lanes)
    screen = batch.reset("train", np.array(index[:2]))
    states = [lt.initial_state(incident_of(task, "train", one, None)) for one in index[:2]]
    choices = choices_on(batch.topology)
    # Half of the roles wait: an `or` of strategies would count each way to choose as one more.
    lane = st.tuples(*(st.tuples(st.booleans(), chosen_actions(one.incident)) for one in states))
    actions = st.tuples(*[lane] * lanes)
    for _ in range(task.horizon):
        for row, state in enumerate(states):
            agree(batch, screen, row, state, lanes)
        if all(state.is_closed for state in states):
            break
        acts = [
            np.array([NOTHING if waits else number for waits, number in row])
            for row in data.draw(actions, label="whether each waits, and its action")
        ]
        rows = batch.open_rows()
        idle = [np.full(len(batch), NOTHING), *acts[1:]]
        without = batch.scores_if(idle, rows)
        earned, _ = batch.play(acts, rows)
        screen = batch.look()
        for row, before in enumerate(states):
            if before.is_closed:
                assert earned[row] == 0.0
                continue
            joint = [Wait() if chosen[row] == NOTHING else choices[chosen[row]] for chosen in acts]
            states[row] = transition_jointly(before, joint)
            wanted = (
                lt.reward(before, states[row]),
                score(transition_jointly(before, [Wait(), *joint[1:]])),
            )
            assert (earned[row], without[row]) == wanted


@given(st.data(), tasks, indices, indices)
def test_restarted_rows_are_as_fresh_ones(
    data: st.DataObject, task: TaskSpec, index: list[int], later: list[int]
) -> None:
    later = later[: len(index)]
    places = data.draw(st.permutations(range(len(index))))[: len(later)]
    rubric = attrs.evolve(TRIAGE_3, id="mine/1", bounds=(0.25, 1.0))
    batch, fresh = (BatchedTriage(task, rubric=rubric) for _ in range(2))
    batch.reset("train", np.array(index))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    for _ in range(data.draw(st.integers(0, task.horizon))):
        batch.step(rng.integers(0, batch.action_count, len(index)))
    batch.restart(np.array(places, int), np.array(later, int))
    screen, wanted = batch.look(), fresh.reset("train", np.array(later))
    for _ in range(task.horizon):
        for name in ("observation", "mask", "closing", "score", "tick"):
            assert np.array_equal(getattr(screen, name)[places], getattr(wanted, name)), name
        actions = rng.integers(0, batch.action_count, len(index))
        screen, wanted = batch.step(actions), fresh.step(actions[places])
        assert np.array_equal(screen.reward[places], wanted.reward)


@given(st.data(), tasks, indices, st.booleans())
def test_a_rubric_of_ones_own_pays_alike(
    data: st.DataObject, task: TaskSpec, index: list[int], benign: bool
) -> None:
    measure = data.draw(st.sampled_from((criteria.severity, criteria.root_cause)))
    base = TRIAGE_3
    more = attrs.evolve(base.criteria[0], name="more", measure=measure)
    rubric = attrs.evolve(
        base, id="mine/1", gates=base.gates[:1], discounts=base.discounts[1:],
        handed_over=() if benign else base.handed_over, penalties=() if benign else (more,),
        benign=base.benign if benign else (),
        bounds=(0.25, 1.0) if benign else (0.0, 0.9),
    )  # fmt: skip
    batch = BatchedTriage(task, rubric=rubric)
    batch.reset("val", np.array(index))
    states = [lt.initial_state(incident_of(task, "val", one, None)) for one in index]
    choices = choices_on(batch.topology)
    actions = chosen_rows(states)
    for _ in range(6):
        chosen = np.array(data.draw(actions))
        screen = batch.step(chosen)
        for row, state in enumerate(states):
            if not state.is_closed:
                states[row] = lt.transition(state, choices[chosen[row]])
                assert screen.reward[row] == lt.reward(state, states[row], rubric)


@given(any_task, TRAINING, indices, topologies(60))
def test_drawn_arrays_are_the_drawn_incidents(
    task: TaskSpec, split: str, index: list[int], topology: lt.Topology
) -> None:
    own = None if topology == task.topology else topology
    batch = BatchedTriage(task, topology=own)
    batch.reset(split, np.array(index))
    arrays, tables = batch.incidents, batch.setting.tables
    for row, one in enumerate(index):
        incident = incident_of(task, split, one, own)
        world, truth = incident.telemetry, incident.truth
        assert isinstance(world, Simulation)
        assert int(arrays.seed[row]) == world.seed
        assert SEVERITIES[arrays.severity[row]] is truth.severity
        assert WORTHS[arrays.worth[row]] == incident.worth_of_hand_over
        hypothesis = arrays.hypothesis[row]
        assert tables.has_fault[0, hypothesis] == (not truth.benign)
        if not truth.benign:
            names = batch.topology.names
            assert {names[tables.root[0, hypothesis]]} == truth.root_causes
            assert {batch.topology.teams[arrays.team[row]]} == truth.teams
        places = batch.setting.models[0].listed.conditions
        assert world.conditions == tuple(
            places[service][at] for service, at in enumerate(arrays.conditions[row])
        )


@given(st.lists(st.integers(0, MASK), min_size=1), st.integers(1, MASK))
def test_the_high_half_of_a_product_is_exact(bits: list[int], whole: int) -> None:
    low, high = np.uint64(whole & 0xFFFFFFFF), np.uint64(whole >> 32)
    found = [int(high_product(np.uint64(one), low, high)) for one in bits]
    assert found == [one * whole >> 64 for one in bits]
