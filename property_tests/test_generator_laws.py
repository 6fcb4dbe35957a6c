"""Laws of drawing: disjoint splits, canonical ids, truths by the public rules."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import Incident, initial_state, make_incident, observe
from logtriage.actions import Severity
from logtriage.drawing.generator import open_incident
from logtriage.drawing.ids import SPLITS, IncidentId, parse_incident_id
from logtriage.rng import MASK, below, between, draw, subkey
from logtriage.tasks import TASKS
from logtriage.world.schema.parts import OWNER
from logtriage.world.topologies import random_topology
from property_tests.strategies import incident_ids, incidents
from tests.builders import FIVE_TEAMS

numbers = st.integers(0, (1 << 48) - 1)


@given(st.sampled_from(TASKS), st.sampled_from(SPLITS), st.sampled_from(SPLITS), numbers, numbers)
def test_splits_and_indices_never_share_a_seed(
    task: object, one: str, other: str, i: int, j: int
) -> None:
    assert isinstance(task, type(TASKS[0]))
    a, b = IncidentId(task, one, i), IncidentId(task, other, j)
    assert (a.seed == b.seed) == ((one, i) == (other, j))
    assert 0 <= a.seed <= MASK
    assert str(parse_incident_id(str(a))) == str(a)


@given(incident_ids(TASKS))
def test_ids_round_trip_and_determine_everything(incident_id: str) -> None:
    assert str(parse_incident_id(incident_id)) == incident_id
    kept = make_incident(incident_id)
    open_incident.cache_clear()
    drawn = make_incident(incident_id)
    assert drawn is not kept
    assert drawn == kept
    assert hash(drawn) == hash(kept)
    assert observe(initial_state(drawn)) == observe(initial_state(kept))


@given(st.integers(0, 1 << 62), st.integers(5, 200))
def test_random_topologies_are_valid(seed: int, size: int) -> None:
    topology = random_topology(seed, size)
    assert len(topology) == size
    assert attrs.evolve(topology) == topology  # validates again
    assert (topology.edges, topology.teams) == ((0,), FIVE_TEAMS.teams)
    assert all(0 <= depth <= 4 for depth in topology.depth)
    order = {name: i for i, name in enumerate(topology.names)}
    assert all(order[s.name] < order[c] for s in topology.services for c in s.calls)  # acyclic
    for service in topology.services:
        assert service.tier not in ("datastore", "queue") or not service.calls


@given(incidents(max_services=60))
def test_the_truth_follows_the_public_rules(incident: Incident) -> None:
    truth = incident.truth
    if truth.fault is None:
        assert truth.benign
        assert (truth.severity, truth.teams, truth.remedies) == (
            Severity.P3, frozenset(), frozenset(),
        )  # fmt: skip
        return
    setting, service = incident.setting, truth.fault.service
    assert setting is not None
    kind = setting.world.kind(truth.fault.kind)
    index = incident.topology.index(service)
    assert incident.topology.services[index].tier in kind.tiers
    assert truth.root_causes == {service}
    assert truth.remedies == {(remedy, service) for remedy in kind.remedies}
    owner = incident.directory[index]
    of_class = dict(incident.topology.paged).get(kind.fault_class, owner)
    assert truth.teams == {owner if kind.pages == OWNER else kind.pages or of_class}


@given(st.integers(0, MASK), st.integers(0, 1 << 16), st.integers(-100, 100), st.integers(0, 100))
def test_bits_map_into_their_range(bits: int, n: int, low: int, width: int) -> None:
    assert 0 <= below(bits, n + 1) <= n
    assert low <= between(bits, low, low + width) <= low + width


@given(st.integers(0, MASK), st.integers(0, 300), st.integers(0, 300))
def test_draws_agree_with_numpy(seed: int, a: int, b: int) -> None:
    """The batched engine must be able to draw the same numbers with uint64 arrays."""
    import numpy as np

    from logtriage.rng import GAMMA_A, GAMMA_B, MIX_1, MIX_2

    key = subkey(seed, 7)
    with np.errstate(over="ignore"):
        value = np.array([key], np.uint64)
        value = value + np.uint64(a) * np.uint64(GAMMA_A) + np.uint64(b) * np.uint64(GAMMA_B)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(MIX_1)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(MIX_2)
        value = value ^ (value >> np.uint64(31))
    assert int(value[0]) == draw(key, a, b)
