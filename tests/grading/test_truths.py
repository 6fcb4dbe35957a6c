"""The truths of many incidents: what is read off them, and what is refused."""

import attrs
import numpy as np
import pytest

from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.errors import UnknownName
from logtriage.grading import truths_of
from logtriage.world.topologies import random_topology
from tests.builders import SEVEN_SERVICES
from tests.grading.test_batch import BENIGN, REAL, refused


def test_truths_of_incidents() -> None:
    truths = truths_of([REAL, BENIGN])
    assert len(truths) == 2
    assert truths.severity.tolist() == [0, 2]
    assert truths.benign.tolist() == [False, True]
    assert truths.root_causes[0].nonzero()[0].tolist() == [SEVEN_SERVICES.index("user-db")]
    assert truths.teams[0].nonzero()[0].tolist() == [SEVEN_SERVICES.teams.index("dba-team")]
    assert truths.remedies[0].nonzero()[0].tolist() == [4 * 7 + SEVEN_SERVICES.index("user-db")]
    assert truths.remedies.shape == (2, 35)
    assert truths.horizon.tolist() == [12, 12]
    assert truths.take([1, 0, 1]).benign.tolist() == [True, False, True]


def test_truths_need_one_topology() -> None:
    with refused("truths_of needs at least one incident: its topology is the batch's"):
        truths_of([])
    number = parse_incident_id("single_crash-v4/test/0")
    other = draw_incident(number.task, number, random_topology(1, 9))
    with refused(
        f"incidents[1] ({other.id}) is of topology '{other.topology.name}', those before of "
        "'seven-services'; a batch has one: grade them apart"
    ):
        truths_of([REAL, other])


def test_an_equal_topology_is_the_same() -> None:
    copy = attrs.evolve(BENIGN, topology=attrs.evolve(SEVEN_SERVICES))
    assert copy.topology is not BENIGN.topology
    assert truths_of([REAL, copy]).benign.tolist() == [False, True]


def test_a_truth_beyond_the_topology_is_refused() -> None:
    truth = attrs.evolve(REAL.truth, teams=frozenset({"pay-team"}))
    with refused(
        "unknown team 'pay-team'; known: sre-team, backend-team, dba-team, security-team",
        UnknownName,
    ):
        truths_of([attrs.evolve(REAL, truth=truth)])


@pytest.mark.parametrize("horizon", [[7], [1, 1], [9, 2, 9, 0, 3], [3, 1, 2, 0], [1000, 3, 1000]])
def test_clocks_are_the_distinct_ones_in_order(horizon: list[int]) -> None:
    truths = truths_of(attrs.evolve(REAL, horizon=one) for one in horizon)
    truths = attrs.evolve(truths, task_par=truths.par)
    assert truths.clocks == tuple((one, 5) for one in sorted(set(horizon)))
    assert all(type(one) is int for clock in truths.clocks for one in clock)
    assert [truths.clocks[at] for at in truths.clock_slots[0]] == [(one, 5) for one in horizon]
    unsigned = attrs.evolve(truths, horizon=np.array(horizon, np.uint64))
    assert unsigned.clocks == truths.clocks
    other = attrs.evolve(truths, task_par=np.array([3] * len(horizon)))
    assert len(other.clocks) == 2 * len(truths.clocks)
    assert [other.clocks[at] for at in other.clock_slots[1]] == [(one, 3) for one in horizon]
