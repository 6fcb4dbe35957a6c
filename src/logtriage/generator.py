"""Draws incidents: the truth from a task and a seed, then a scenario that fits it."""

from enum import IntEnum
from functools import lru_cache
from typing import Final

from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing import draw_second
from logtriage.emission import SimulatedTelemetry
from logtriage.errors import InvalidInput
from logtriage.faults import FAULT_KINDS, FaultClass, FaultKind, fault_kind
from logtriage.incident import ClosingRules, Fault, Incident, Truth
from logtriage.originals import ORIGINALS, Original
from logtriage.propagation import Mode
from logtriage.rng import Draws, below, draw, hash_name, subkey
from logtriage.runbook import responsible_team
from logtriage.seal import Seal
from logtriage.tasks import IncidentId, TaskSpec, is_sealed, parse_incident_id, stratum
from logtriage.topologies import random_topology
from logtriage.topology import SEVEN_SERVICES, Topology

TRUTH_STREAM: Final = hash_name("truth")
DIRECTORY_STREAM: Final = hash_name("directory")
BENIGN_STREAM: Final = hash_name("benign")


class TruthSlot(IntEnum):
    """The draws of the truth."""

    RANDOM_TOPOLOGY = 0
    TOPOLOGY_SIZE = 1
    ROOT = 2
    FAULT_CLASS = 3
    KIND = 4
    SEVERITY = 5


#: Any service has another owner than its default in this share of incidents, per mille.
#: The same for all services, so that an override says nothing about the root.
OVERRIDE_SHARE: Final = 370
#: Shares of the fault classes, per cent: of code, data, capacity, security.
_CLASSES: Final = tuple(FaultClass)
_CLASS_WEIGHTS: Final = (47, 31, 11, 11)
_DATASTORE_CLASS_WEIGHTS: Final = (26, 52, 11, 11)
#: About one in seven (service, kind) pairs is kept for split ``ood``; the pattern was chosen
#: to keep remedies balanced on either side, and to leave every service some of both.
_HELD_OUT_EVERY: Final = 7
_HELD_OUT_OFFSET: Final = 2
#: Share of ``ood`` incidents on a random topology, per mille, and its size.
_RANDOM_TOPOLOGY_SHARE: Final = 500
_RANDOM_SIZES: Final = (5, 30)


def held_out(topology: Topology, service: int, kind: FaultKind) -> bool:
    """Whether a (service, fault) pair is kept from every split but ``ood``.

    A kind that can strike only one service is never held out: no kind is unseen.
    """
    if sum(one.tier in kind.tiers for one in topology.services) == 1:
        return False
    number = FAULT_KINDS.index(kind)
    return (service + 2 * number + _HELD_OUT_OFFSET) % _HELD_OUT_EVERY == 0


def make_incident(incident_id: str, *, seal: Seal | None = None) -> Incident:
    """The incident of that id: the same on every machine, in every process.

    ``seal`` holds the key of sealed incidents; others are drawn without.

    Raises:
        UnknownName: for an unknown task or split.
        InvalidInput: for an id that is not ``<task>/<split>/<index>``, and for a split that
            the task lacks.
        SealError: for a sealed incident without its seal.
    """
    if seal is None or not is_sealed(incident_id):
        return open_incident(incident_id)
    parsed = parse_incident_id(incident_id, seal)
    return draw_incident(parsed.task, parsed)


@lru_cache(maxsize=4096)
def open_incident(incident_id: str) -> Incident:
    """The incident of an id that needs no key; what is kept here tells of none.

    Raises:
        UnknownName, InvalidInput, SealError: as :func:`make_incident`.
    """
    parsed = parse_incident_id(incident_id)
    if parsed.task.original:
        return _original_incident(parsed)
    return draw_incident(parsed.task, parsed)


def draw_incident(
    task: TaskSpec, incident_id: IncidentId, topology: Topology | None = None
) -> Incident:
    """An incident of ``task``; on ``topology``, if given, instead of the split's own.

    On a topology of one's own the id ends in ``@`` and its name, so that it cannot be
    mistaken for the incident that :func:`make_incident` draws; hand graders a
    ``resolve`` that knows it.

    Raises:
        InvalidInput: for a ``*-v0`` task, whose incident is fixed, or a topology that
            has no place for the task's faults (a cascade needs a caller).
    """
    if task.setting is not None:
        return draw_second(task, task.setting, incident_id, topology)
    if task.original or task.mode is None:
        raise InvalidInput(f"task {task.id!r} is one fixed incident; nothing can be drawn from it")
    seed = incident_id.seed
    ood = incident_id.split == "ood"
    draws = Draws(seed, TRUTH_STREAM)
    name, restrict = str(incident_id), None
    if topology is not None:
        name = f"{incident_id}@{topology.name}"
    elif ood and draws.chance(_RANDOM_TOPOLOGY_SHARE, TruthSlot.RANDOM_TOPOLOGY):
        topology = random_topology(seed, draws.between(*_RANDOM_SIZES, TruthSlot.TOPOLOGY_SIZE))
    else:
        topology, restrict = SEVEN_SERVICES, ood
    directory = _draw_directory(seed, topology)
    if _is_benign(task, incident_id):
        return _benign_incident(name, task, seed, topology, directory, ood)
    root, kind = _draw_fault(draws, task.mode, topology, restrict)
    severity = SEVERITIES[draws.weighted(task.severity_weights, TruthSlot.SEVERITY)]
    return _real_incident(name, task, seed, topology, directory, root, kind, severity, int(ood))


def _is_benign(task: TaskSpec, incident_id: IncidentId) -> bool:
    """Exactly ``task.benign`` of 1,000: one place in each block of neighbouring ids."""
    if not task.benign:
        return False
    block = 1000 // task.benign
    return stratum(incident_id, block, hash_name(task.id) ^ BENIGN_STREAM) == 0


def _draw_directory(seed: int, topology: Topology) -> tuple[str, ...]:
    key, teams = subkey(seed, DIRECTORY_STREAM), topology.teams
    owners = []
    for service, owner in enumerate(topology.owners):
        bits = draw(key, service)
        if (bits & 0xFFFF) * 1000 >> 16 < OVERRIDE_SHARE and len(teams) > 1:
            # Any team but the default owner, who is skipped by counting past it.
            pick = below(bits, len(teams) - 1)
            owner = teams[pick + (pick >= teams.index(owner))]
        owners.append(owner)
    return tuple(owners)


def _draw_fault(
    draws: Draws, mode: Mode, topology: Topology, ood: bool | None
) -> tuple[int, FaultKind]:
    """A root and a kind. ``ood`` True: held-out pairs only, False: none of them, None: any."""
    roots, kinds = candidates(mode, topology, ood)
    pick = draws.below(len(roots), TruthSlot.ROOT)
    weights = class_weights(topology, roots[pick], kinds[pick])
    choices = kinds[pick][draws.weighted(weights, TruthSlot.FAULT_CLASS)]
    return roots[pick], choices[draws.below(len(choices), TruthSlot.KIND)]


def class_weights(
    topology: Topology, root: int, kinds: tuple[tuple[FaultKind, ...], ...]
) -> tuple[int, ...]:
    """The shares of the fault classes at a root; 0 where none of their kinds is possible."""
    datastore = topology.services[root].tier == "datastore"
    weights = _DATASTORE_CLASS_WEIGHTS if datastore else _CLASS_WEIGHTS
    return tuple(weight if row else 0 for weight, row in zip(weights, kinds, strict=True))


@lru_cache(maxsize=256)
def candidates(
    mode: Mode, topology: Topology, ood: bool | None
) -> tuple[tuple[int, ...], tuple[tuple[tuple[FaultKind, ...], ...], ...]]:
    """Possible roots, and for each the possible kinds by class; ``ood`` as in the draw.

    Raises:
        InvalidInput: if the topology has no root for any of them.
    """
    roots, kinds = [], []
    for service, row in enumerate(topology.services):
        if mode is Mode.CASCADE and not topology.callers[service]:
            continue
        fitting = [
            kind
            for kind in FAULT_KINDS
            if row.tier in kind.tiers
            and (kind.drifts or mode is not Mode.DRIFT)
            and (ood is None or held_out(topology, service, kind) == ood)
        ]
        if fitting:
            roots.append(service)
            kinds.append(
                tuple(tuple(k for k in fitting if k.fault_class is one) for one in _CLASSES)
            )
    if not roots:
        raise InvalidInput(
            f"topology {topology.name!r} has no place for a fault of mode {str(mode)!r}: "
            "a cascade needs a service that another one calls"
        )
    return tuple(roots), tuple(kinds)


def _real_incident(
    incident_id: str,
    task: TaskSpec,
    seed: int,
    topology: Topology,
    directory: tuple[str, ...],
    root: int,
    kind: FaultKind,
    severity: Severity,
    phrasing: int,
) -> Incident:
    service = topology.names[root]
    assert task.mode is not None  # tasks of the second world are drawn elsewhere
    return Incident(
        id=incident_id,
        task=task.id,
        horizon=task.horizon,
        topology=topology,
        directory=directory,
        truth=Truth(
            fault=Fault(kind.name, service),
            severity=severity,
            root_causes=frozenset((service,)),
            teams=frozenset((responsible_team(kind, root, topology, directory),)),
            remedies=frozenset((remedy, service) for remedy in kind.remedies),
        ),
        telemetry=SimulatedTelemetry(
            topology, seed, task.mode, root, kind, severity, task.noise, phrasing
        ),
        rubric=task.rubric,
    )


def _benign_incident(
    incident_id: str,
    task: TaskSpec,
    seed: int,
    topology: Topology,
    directory: tuple[str, ...],
    ood: bool,
) -> Incident:
    service = Draws(seed, TRUTH_STREAM).below(len(topology), TruthSlot.ROOT)
    return Incident(
        id=incident_id,
        task=task.id,
        horizon=task.horizon,
        topology=topology,
        directory=directory,
        truth=Truth(None, Severity.P3, frozenset(), frozenset(), frozenset()),
        telemetry=SimulatedTelemetry(
            topology, seed, Mode.BENIGN, service, None, Severity.P3, task.noise, int(ood)
        ),
        rubric=task.rubric,
    )


def _original_incident(incident_id: IncidentId) -> Incident:
    """The fixed truth of a ``*-v0`` task; only the telemetry's noise hangs on the seed."""
    task, topology = incident_id.task, SEVEN_SERVICES
    original: Original = ORIGINALS[task.name]
    root = topology.index(original.service)
    kind = fault_kind(original.kind)
    assert task.mode is not None  # every original unfolds as one of the first world
    return Incident(
        id=str(incident_id),
        task=task.id,
        horizon=task.horizon,
        topology=topology,
        directory=topology.owners,
        truth=Truth(
            fault=Fault(original.kind, original.service),
            severity=original.severity,
            root_causes=frozenset((original.service,)),
            teams=frozenset(original.teams),
            remedies=frozenset((remedy, original.service) for remedy in original.remedies),
        ),
        telemetry=SimulatedTelemetry(
            topology, incident_id.seed, task.mode, root, kind, original.severity, task.noise
        ),
        closing=ClosingRules(wrong_page=False, ignore_only_p1=True),
        rubric=task.rubric,
    )
