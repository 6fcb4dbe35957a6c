"""Draws incidents of a world: topology, owners, truth, severity, worth of hand-over."""

from enum import IntEnum
from functools import lru_cache
from typing import Final

from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing.ids import SEALED, IncidentId
from logtriage.errors import InvalidInput
from logtriage.incident import Fault, Incident, Part, Truth
from logtriage.rng import below, between, draw, draws, hash_name, subkey, weighted
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.world.compounds import set_prior
from logtriage.world.conditions import Hypothesis, accepted_remedies, secondary, teams_of
from logtriage.world.model import World
from logtriage.world.prior import prior
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation, draw_truth
from logtriage.world.topologies import fitting, random_topology

TRUTH_STREAM: Final = hash_name("truth of the second world")
DIRECTORY_STREAM: Final = hash_name("directory of the second world")
#: The name is part of every draw, and stays as it was.
HAND_OVER_STREAM: Final = hash_name("price of hand-over")


class Slot(IntEnum):
    """The counters of the draws that make up a truth: part of every draw, they stay as they are."""

    RANDOM_TOPOLOGY = 0
    TOPOLOGY_SIZE = 1
    TRUTH = 2
    SEVERITY = 3
    COUNT = 5


#: What a hand-over may be worth.
WORTHS_OF_HAND_OVER: Final = (0.3, 0.5, 0.7, 0.8, 0.9)
#: Phrasing groups: train and val share a group, and so do test and sealed.
_PHRASING: Final = {"train": 0, "val": 0, "test": 1, SEALED: 1, "ood": 2}


def draw_from(
    task: TaskSpec, setting: Setting, incident_id: IncidentId, own: Topology | None = None
) -> Incident:
    """An incident of a task in a setting, on the topology ``own`` if there is one.

    Raises:
        InvalidInput: for a topology of another world, without a place for the faults, or with a
            name that an id cannot hold.
        SealError: for a sealed incident without its seal.
    """
    if own is not None and "/" in own.name:
        raise InvalidInput(
            f"topology {own.name!r}: its name must have no '/' to draw incidents on it, since "
            "their ids end in @ and the name"
        )
    seed = incident_id.seed
    key = subkey(seed, TRUTH_STREAM)
    world = setting.world
    topology, held = _topology(task, world, incident_id, key, own)
    directory = _directory(world, seed, topology)
    if setting.several:
        sets = set_prior(setting, topology, held)
        truth = sets.pick(draw(key, Slot.COUNT), draw(key, Slot.TRUTH))
    else:
        truth = draw_truth(prior(setting, topology, held), draw(key, Slot.TRUTH))
    severity = Severity.P3
    if truth.faults:
        severity = SEVERITIES[weighted(draw(key, Slot.SEVERITY), setting.severities)]
    simulation = Simulation(
        setting, topology, directory, seed, truth, severity, held, _PHRASING[incident_id.split]
    )
    name = str(incident_id) if own is None else f"{incident_id}@{own.name}"
    return Incident(
        id=name,
        task=task.id,
        horizon=task.horizon,
        topology=topology,
        directory=directory,
        truth=truth_of(
            world, topology, teams_of(world, topology, directory, truth), truth, severity
        ),
        telemetry=simulation,
        rubric=task.rubric,
        par=setting.par if truth.faults else setting.par_benign,
        seal=None if incident_id.seal is None else incident_id.seal.fingerprint,
        worth_of_hand_over=worth_of_hand_over(seed) if task.takes_hand_over else None,
    )


def worth_of_hand_over(seed: int) -> float:
    """The worth of a hand-over, drawn by the seed: uniform, whatever the truth is."""
    count = len(WORTHS_OF_HAND_OVER)
    return WORTHS_OF_HAND_OVER[below(draw(subkey(seed, HAND_OVER_STREAM), 0), count)]


def _topology(
    task: TaskSpec, world: World, incident_id: IncidentId, key: int, own: Topology | None
) -> tuple[Topology, bool | None]:
    """(topology, ``held`` as :func:`~logtriage.world.prior.prior` takes it)."""
    if own is not None:
        return fitting(own, world), None
    ood, drawn = incident_id.split == "ood", world.rules.drawn_topologies
    if task.topology is None:
        sizes = task.services
        assert sizes is not None  # a task without a topology has sizes
    elif ood and drawn and below(draw(key, Slot.RANDOM_TOPOLOGY), 1000) < drawn.ood_share:
        sizes = drawn.ood_services
    else:
        return task.topology, ood
    size = between(draw(key, Slot.TOPOLOGY_SIZE), *sizes)
    return random_topology(incident_id.seed, size, world.rules.teams, world, held_out=ood), None


def _directory(world: World, seed: int, topology: Topology) -> tuple[str, ...]:
    """The owner of each service: the owner it names, or an owner drawn by its tier."""
    rows = _owners(world, topology)
    drawn = draws(subkey(seed, DIRECTORY_STREAM), (0,) * len(rows), step=1)
    return tuple([row[below(bits, len(row))] for row, bits in zip(rows, drawn, strict=True)])


@lru_cache(maxsize=512)
def _owners(world: World, topology: Topology) -> tuple[tuple[str, ...], ...]:
    """The teams that may own each service; a team stands there as often as it weighs."""
    teams = world.owning_teams(topology)
    rows = {}
    for tier, owner in {(service.tier, service.owner) for service in topology.services}:
        weights = zip(teams, world.owner_weights(topology, tier, owner), strict=True)
        rows[tier, owner] = tuple(team for team, weight in weights for _ in range(weight))
    return tuple(rows[service.tier, service.owner] for service in topology.services)


@lru_cache(maxsize=65_536)
def truth_of(
    world: World, topology: Topology, teams: tuple[str, ...], truth: Hypothesis, severity: Severity
) -> Truth:
    """The answer of an incident whose truth is this hypothesis; ``teams`` has one per fault."""
    names = topology.names
    return Truth(
        fault=Fault(truth.faults[0][0], names[truth.faults[0][1]]) if truth.faults else None,
        severity=severity,
        root_causes=frozenset(names[service] for service in truth.services),
        teams=frozenset(teams),
        remedies=frozenset(accepted_remedies(world, topology, truth)),
        several=_parts(world, topology, teams, truth) if len(truth.services) > 1 else (),
    )


def _parts(
    world: World, topology: Topology, teams: tuple[str, ...], truth: Hypothesis
) -> tuple[Part, ...]:
    """The answer of each fault of several, in the order of the hypothesis."""
    brought_about = secondary(world, topology, truth)
    return tuple(
        Part(
            fault=Fault(kind, topology.names[service]),
            root_causes=frozenset({topology.names[service]}),
            teams=frozenset({team}),
            remedies=frozenset(accepted_remedies(world, topology, Hypothesis(((kind, service),)))),
            secondary=service in brought_about,
        )
        for (kind, service), team in zip(truth.faults, teams, strict=True)
    )
