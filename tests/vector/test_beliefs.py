"""Batched beliefs: what they cost, what they refuse, and rows that begin anew."""

import os
import subprocess
import sys
import zlib
from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

import logtriage as lt
from logtriage.actions import action_id
from logtriage.beliefs.model import model_of
from logtriage.recorded import shipped_incidents
from logtriage.roles.splits import TRIO
from logtriage.topology import Service
from logtriage.vector import BatchedTriage, BeliefBatch, BeliefScreens, belief_batch
from logtriage.vector.cells import CHANNELS, FIELDS, IS_DOWN, cell_numbers, padded
from logtriage.world.channels import Channel, Evidence
from logtriage.world.simulation import Simulation
from logtriage.world.tables import alphabet, places
from logtriage.world.vocabulary import LOG

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)

TASK = "cascading_failure-v4"
ALERT, METRICS, TRACES, EDGE, EFFECT, NOTE = (
    CHANNELS.index(one)
    for one in (
        Channel.ALERT, Channel.METRICS, Channel.TRACES, Channel.EDGE, Channel.EFFECT,
        Channel.NOTE,
    )
)  # fmt: skip


def simulation_of(name: str) -> Simulation:
    world = lt.make_incident(name).telemetry
    assert isinstance(world, Simulation)
    return world


def batch_of(count: int, task: str = TASK) -> BeliefBatch:
    world, horizon = simulation_of(f"{task}/test/0"), lt.make_incident(f"{task}/test/0").horizon
    batch = BeliefBatch(
        model_of(world.setting, world.topology, world.held), count=count, horizon=horizon
    )
    batch.reset(np.zeros((count, 7), int))
    return batch


def test_a_row_that_begins_anew_has_forgotten_all() -> None:
    states = [lt.initial_state(lt.make_incident(f"{TASK}/test/{one}")) for one in range(3)]
    states[1] = lt.transition(states[1], lt.Remediate("restart", "user-db"))
    batch = belief_batch(states)
    fresh = lt.initial_state(lt.make_incident(f"{TASK}/test/9"))
    world = simulation_of(f"{TASK}/test/9")
    teams = world.topology.teams
    others = batch.weights[[0, 2]].copy()
    batch.reset([[teams.index(one) for one in fresh.incident.directory]], rows=[1])
    screen = batch.numbers([list(world.shown(0, fresh.facts.doings))], rows=[1])
    remedy = action_id(lt.Remediate("restart", "user-db"), world.topology)
    batch.update(screen, [remedy], rows=[1])  # of the episode before: not read
    assert batch.weights[1].tolist() == list(lt.belief(fresh).weights)
    assert not batch.fixed[1].any()
    assert (batch.weights[[0, 2]] == others).all()


def test_numbers_of_cells_follow_the_documented_layout() -> None:
    world = simulation_of(f"{TASK}/test/0")
    seen = [
        Evidence(Channel.EDGE, -1, 0, 3, "usual/slight"),
        Evidence(Channel.NOTE, -1, 0, 4, "nothing"),
        Evidence(Channel.NOTE, -1, 0, 4, "2:queueing"),
        Evidence(Channel.EFFECT, -1, 1, 4, "no_change"),
        Evidence(Channel.ALERT, 5, 0, 4, world.setting.world.tokens.alert.tokens[0].name),
        Evidence(Channel.METRICS, 5, 0, 4, "down"),
    ]
    numbers = cell_numbers(world.setting, world.topology, seen)
    lines = alphabet(world.setting, LOG, places(world.topology)[2])
    assert numbers.shape == (6, len(FIELDS))
    assert numbers.tolist() == [
        [EDGE, -1, 0, 3, 1], [NOTE, -1, 0, 4, 0], [NOTE, 2, 0, 4, 1 + lines.index("queueing")],
        [EFFECT, -1, 1, 4, 1], [ALERT, 5, 0, 4, 1], [METRICS, 5, 0, 4, IS_DOWN],
    ]  # fmt: skip
    assert padded([numbers[:1], numbers]).shape == (2, 6, len(FIELDS))
    assert (padded([numbers[:1], numbers])[0, 1:] == -1).all()


def test_screens_that_fit_no_hypothesis_are_refused() -> None:
    """A note names one service: no hypothesis allows notes about two."""
    batch, world = batch_of(3), simulation_of(f"{TASK}/test/0")
    notes = [Evidence(Channel.NOTE, -1, 0, 0, f"{service}:queueing") for service in (1, 2)]
    one, two = cell_numbers(world.setting, world.topology, notes)
    nothing = [-1] * len(FIELDS)
    with pytest.raises(lt.InvalidInput, match="row 1: no hypothesis fits the evidence"):
        batch.update(np.array([[one, nothing], [one, two], [two, nothing]]))
    assert batch.weights.any(axis=1).tolist() == [True, False, True]
    for shares in (batch.probabilities(), batch.marginals().root):
        assert shares.any(axis=1).tolist() == [True, False, True]
    batch.update(np.array([[nothing], [nothing]]), rows=[0, 2])
    with pytest.raises(lt.InvalidInput, match="row 1: no hypothesis fits the evidence"):
        batch.update(np.array([[nothing]]), rows=[1])
    batch.reset(np.zeros((1, 7), int), rows=[1])
    batch.update(np.array([[two, nothing]]), rows=[1])
    assert (batch.weights[1] == batch.weights[2]).all()


@pytest.mark.parametrize(
    ("cells", "given", "message"),
    [
        (np.zeros((1, 0, 5), int), {}, r"cells: shape \(1, 0, 5\), expected \(3, 0, 5\)"),
        (np.zeros((3, 1, 5)), {}, "cells: expected integers, got an array of float64"),
        (np.zeros((3, 0, 5)), {"actions": [0] * 6}, r"actions: shape \(6, 1\), expected \(3, 1\)"),
        (np.zeros((3, 0, 5)), {"actions": [2.9] * 3}, "actions: expected integers"),
        (np.zeros((3, 0, 5)), {"misrouted": [True]}, r"misrouted: shape \(1,\), expected \(3,\)"),
        (np.zeros((3, 0, 5)), {"misrouted": [1, 0, 0]}, "misrouted: expected booleans"),
    ],
)
def test_screens_of_other_shapes_are_refused(cells: Any, given: Any, message: str) -> None:
    batch = batch_of(3)
    with pytest.raises(lt.InvalidInput, match=message):
        batch.update(cells, **given)
    assert not batch.weights.any()
    batch.update(np.zeros((0, 0, 5)), rows=[])
    with pytest.raises(lt.InvalidInput, match="evidence: 1 lists for 3 rows"):
        batch.numbers([[]])


def test_what_bytes_cannot_count_is_refused() -> None:
    world = simulation_of(f"{TASK}/test/0")
    leaves = tuple(f"svc-{number}" for number in range(115))
    services = (Service("hub", "edge", calls=leaves), *(Service(one, "service") for one in leaves))
    model = model_of(world.setting, attrs.evolve(world.topology, services=services), None)
    with pytest.raises(lt.InvalidInput, match="service 'hub' can say 129 things"):
        BeliefBatch(model, count=1, horizon=5)
    with pytest.raises(lt.InvalidInput, match="count: -1 is not in 0 to"):
        BeliefBatch(*batch_of(1).models, count=-1, horizon=5)


def test_states_that_no_batch_can_hold_are_refused() -> None:
    first = lt.initial_state(lt.make_incident(f"{TASK}/test/0"))
    foggy = lt.initial_state(lt.make_incident(f"{TASK}-fog3/test/0"))
    recorded = lt.initial_state(shipped_incidents()[0])
    with pytest.raises(lt.InvalidInput, match="at least one state"):
        belief_batch([])
    with pytest.raises(lt.InvalidInput, match="has another setting than"):
        belief_batch([first, foggy])
    with pytest.raises(lt.InvalidInput, match="a belief needs an incident that a task draws"):
        belief_batch([recorded])


def after_remedies(number: int, task: str = TASK, *, fix: bool = False) -> lt.State:
    """A state after remedies, the accepted one among them if ``fix``; then gauges are asked for."""
    incident = lt.make_incident(f"{task}/val/{number}")
    names = incident.topology.names
    wrong = [lt.Remediate("restart", names[3]), lt.Remediate("rollback", names[5])]
    right = [lt.Remediate(*one) for one in sorted(incident.truth.remedies)[:1]]
    asked = [lt.RequestMetrics(names[number % 7]), lt.RequestMetrics(names[3])]
    state = lt.initial_state(incident)
    done: list[lt.Action] = [wrong[0], lt.RequestMoreLogs(names[3]), *right * fix, wrong[1], *asked]
    for action in done:
        state = lt.transition(state, action)
    return state


def test_who_sees_no_effect_holds_a_fix_at_any_break_for_possible() -> None:
    blind = next(role for role in TRIO.roles if "effects" not in role.views)
    states = [after_remedies(number) for number in range(4)]
    batch = belief_batch(states, blind)
    for row, state in enumerate(states):
        held = lt.belief(state, blind)
        assert batch.logs()[row].tolist() == list(held.posterior.logs)
        assert sum(held.posterior.fixed) > 0
        assert batch.severities()[row].tolist() == [list(one) for one in held.posterior.severities]
    assert batch._state.breaks.shape[1] > 1


def test_a_late_reading_of_an_epoch_before_the_fix_counts_as_before_it() -> None:
    states = [after_remedies(number, fix=True) for number in range(8)]
    assert any(state.facts.fixed_at is not None for state in states)
    batch = belief_batch(states)
    for row, state in enumerate(states):
        assert batch.logs()[row].tolist() == list(lt.belief(state).posterior.logs)


def checksum() -> str:
    """What beliefs, plans and the engine make of a few incidents, as a checksum."""
    states = [after_remedies(number, fix=number % 2 > 0) for number in range(4)]
    batch = belief_batch(states)
    assert batch.logs().tolist() == [list(lt.belief(state).posterior.logs) for state in states]
    arrays: list[NDArray[Any]] = [batch.logs(), batch.weights, batch.severities()]
    with np.errstate(over="ignore"):  # the engine's draws are modulo 2**64
        engine = BatchedTriage(TASK)
        screens = BeliefScreens(engine)
        arrays.append(screens.begin(engine.reset("val", np.arange(3))))
        for action in (9, 17, 40, 11):
            actions = np.full(3, action)
            arrays.append(screens.read(engine.step(actions), actions))
    return f"{zlib.crc32(b''.join(array.tobytes() for array in arrays))} of {len(arrays)}"


PLAIN = """
import numba
from tests.vector.test_beliefs import checksum
assert numba.config.DISABLE_JIT
print(checksum())
"""


def test_plain_python_and_kernels_agree() -> None:
    """In plain Python, a sum that its type cannot hold warns, and a warning is an error."""
    plain = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain
    assert plain.stdout.strip() == checksum()
