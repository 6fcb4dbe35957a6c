"""A kind added in two files is known to the prompt, the belief, the engine, and the check."""

import numpy as np
import pytest

from logtriage import Escalate, Incident, grade, initial_state, make_incident, system_prompt
from logtriage.actions import all_actions
from logtriage.beliefs import belief
from logtriage.dynamics import play, transition
from logtriage.world.model import World
from tests.worlds.newcomer import KIND, TEAM, newcomers_world


@pytest.fixture(name="bench", scope="module")
def bench_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return newcomers_world(tmp_path_factory.mktemp("worlds") / "bench")


def of_kind(bench: World) -> list[Incident]:
    """Incidents of the new kind."""
    drawn = (make_incident(f"single_crash/test/{one}", world=bench) for one in range(120))
    found = [one for one in drawn if one.truth.fault is not None and one.truth.fault.kind == KIND]
    assert len(found) >= 3
    return found


def test_the_prompt_tells_whom_to_page_and_what_it_shows(bench: World) -> None:
    prompt = system_prompt(of_kind(bench)[0])
    before, _, row = prompt.partition(f"\n{KIND}! ")
    assert before.rpartition("\n")[2] == f"code (page {TEAM}):"
    assert row.startswith("s rollback: ")
    assert "40 name lookup" in row.partition("\n")[0]


def test_the_team_is_paged_whoever_owns_the_service_and_may_own_others(bench: World) -> None:
    incidents = of_kind(bench)
    assert {one.truth.teams for one in incidents} == {frozenset({TEAM})}
    owners = {one.directory[one.topology.index(*one.truth.root_causes)] for one in incidents}
    assert owners - {TEAM}
    assert TEAM in {owner for one in incidents for owner in one.directory}
    for one in incidents:
        paged = transition(initial_state(one), Escalate(TEAM))
        assert not paged.is_closed
        assert belief(paged).teams == {TEAM: pytest.approx(1.0)}


def test_batches_believe_and_grade_as_the_scalar_core(bench: World) -> None:
    pytest.importorskip("numba")
    from logtriage.vector import BatchedTriage, belief_batch

    states = [initial_state(one) for one in of_kind(bench)]
    paged = [transition(one, Escalate(TEAM)) for one in states]
    for group in (states, paged):
        held = [belief(one) for one in group]
        assert belief_batch(group).logs().tolist() == [list(one.posterior.logs) for one in held]
    batch = BatchedTriage("single_crash", world=bench)
    numbers = np.arange(60)
    screen = batch.reset("test", numbers)
    incidents = [make_incident(f"single_crash/test/{one}", world=bench) for one in numbers]
    assert KIND in {one.truth.fault.kind for one in incidents if one.truth.fault is not None}
    choices = all_actions(batch.topology)
    taken, closed_at = [], np.full(len(numbers), batch.task.horizon)
    for tick in range(batch.task.horizon):
        actions = (numbers * 13 + tick * 7) % len(choices)
        taken.append(actions)
        screen = batch.step(actions)
        closed_at[(screen.closing >= 0) & (closed_at == batch.task.horizon)] = tick + 1
        for row in np.flatnonzero((screen.closing >= 0) & (closed_at == tick + 1)).tolist():
            plan = [choices[one[row]] for one in taken]
            assert screen.score[row] == grade(play(incidents[row], plan)[0]).score
