"""The tasks behind :mod:`tests.audit.planted.holes`: incidents with a hole, and sound ones."""

from typing import Final

import attrs

from logtriage.actions import SEVERITIES, Severity
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import IncidentId, parse_incident_id
from logtriage.drawing.incidents import draw_from
from logtriage.incident import Incident
from logtriage.tasks import get_task
from logtriage.topology import Topology
from logtriage.world.channels import Evidence
from logtriage.world.outcomes import left_at
from logtriage.world.schedule import Doings, Row
from logtriage.world.setting import Setting
from logtriage.world.simulation import Simulation

#: The task that the holes are planted in.
TASK: Final = "single_crash-v4"
#: One with incidents that are dismissed.
OTHER_TASK: Final = "silent_degradation-v4"
#: One whose evidence they are planted in.
WORLD_TASK: Final = TASK
#: One whose signs stay, and whose hand-over has a worth.
SIGNS_TASK: Final = "cascading_failure-v4"
#: One with several faults at once.
COMPOUND_TASK: Final = "compound_failure-v4"


def one_incident(split: str, number: int) -> Incident:  # noqa: ARG001
    """The same incident, whatever is asked for."""
    return make_incident(f"{TASK}/test/1")


def _of_severity(split: str, number: int, wanted: Severity) -> Incident:
    """The first incident from that number's own block that is as bad as that."""
    block = (make_incident(f"{TASK}/{split}/{40 * number + place}") for place in range(40))
    return next(incident for incident in block if incident.truth.severity is wanted)


def even_is_p1(split: str, number: int) -> Incident:
    """Even numbers are P1, odd ones P2."""
    return _of_severity(split, number, SEVERITIES[number % 2])


def told_by_the_id(split: str, number: int) -> Incident:
    """The id has one letter more for each step of severity."""
    incident = make_incident(f"{TASK}/{split}/{number}")
    severity = incident.truth.severity
    rank = 0 if severity is None else SEVERITIES.index(severity)
    return attrs.evolve(incident, id=f"{split}/{number:06}{'x' * rank}")


def told_by_the_directory(split: str, number: int) -> Incident:
    """Owners are overridden where users are badly hurt, and nowhere else."""
    incident = make_incident(f"{TASK}/{split}/{number}")
    assert incident.world is not None
    usual = incident.world.usual_owners(incident.topology)
    others = (*usual[1:], usual[0])
    hurt = incident.truth.severity is Severity.P1
    return attrs.evolve(incident, directory=others if hurt else usual)


def told_by_the_horizon(split: str, number: int) -> Incident:
    """Benign incidents end one tick earlier."""
    incident = make_incident(f"{OTHER_TASK}/{split}/{number}")
    return attrs.evolve(incident, horizon=incident.horizon - incident.truth.benign)


def the_same_in_every_split(split: str, number: int) -> Incident:
    """The incidents of ``test`` are those of ``train`` under other ids and numbers."""
    if split != "test":
        return make_incident(f"{TASK}/{split}/{number}")
    incident = make_incident(f"{TASK}/train/{number + 1}")
    return attrs.evolve(incident, id=f"{TASK}/{split}/{number}")


def _root(incident: Incident) -> int:
    roots = sorted(incident.truth.root_causes)
    return incident.topology.index(roots[0]) if roots else 0


def named_by_the_root(split: str, number: int) -> Incident:
    """The topology's name ends in the number of the root cause."""
    incident = make_incident(f"{WORLD_TASK}/{split}/{number}")
    topology = attrs.evolve(incident.topology, name=f"system-{_root(incident)}")
    return attrs.evolve(incident, topology=topology)


def named_by_the_seed(split: str, number: int) -> Incident:
    """The topology's name holds the seed, as drawn ones once did, with a constant added."""
    incident = make_incident(f"{WORLD_TASK}/{split}/{number}")
    seed = parse_incident_id(incident.id).seed
    topology = attrs.evolve(incident.topology, name=f"random-{seed + 12_345}-7")
    return attrs.evolve(incident, topology=topology)


@attrs.frozen
class TellingTopology(Topology):
    """A topology with a field that neither its text nor its equality shows."""

    root: str = attrs.field(default="", eq=False, repr=False)


def pickled_with_the_root(split: str, number: int) -> Incident:
    """What is pickled with every observation names the root cause."""
    incident = make_incident(f"{WORLD_TASK}/{split}/{number}")
    given = {
        field.name: getattr(incident.topology, field.name)
        for field in attrs.fields(Topology)
        if field.init
    }
    root = incident.topology.names[_root(incident)]
    return attrs.evolve(incident, topology=TellingTopology(**given, root=root))


def benign(split: str, number: int) -> Incident:
    """Nothing but benign incidents, which are sound."""
    block = (make_incident(f"{OTHER_TASK}/{split}/{40 * number + place}") for place in range(40))
    return next(incident for incident in block if incident.truth.benign)


def _drawn(split: str, number: int, **changes: object) -> tuple[Incident, Simulation]:
    """An incident of the task, its setting changed."""
    task = get_task(WORLD_TASK)
    assert task.setting is not None, "a drawn task"
    setting: Setting = attrs.evolve(task.setting, **changes)  # type: ignore[arg-type]
    incident = draw_from(task, setting, IncidentId(task, split, number))
    assert isinstance(incident.telemetry, Simulation), "a simulated incident"
    return incident, incident.telemetry


class RootFirst(Simulation):
    """Lists what the roots say before what the others say."""

    def row(self, row: Row, doings: Doings) -> list[Evidence]:
        """The same evidence in another order."""
        roots = {service for _, service in self.truth.faults}
        return sorted(super().row(row, doings), key=lambda one: one.service not in roots)


def root_first(split: str, number: int) -> Incident:
    """What the root says is listed first."""
    incident, _ = _drawn(split, number)
    return _simulated_by(RootFirst, incident)


class LeftFirst(Simulation):
    """Once some faults of several are fixed, lists first what the others say."""

    def row(self, row: Row, doings: Doings) -> list[Evidence]:
        """The same evidence, and after the first fix in another order."""
        cells = super().row(row, doings)
        left = left_at(self.setting.world, self.topology, self.truth, doings, row[1] + 1)
        if left is None or left == self.truth:
            return cells
        roots = {service for _, service in left.faults}
        return sorted(cells, key=lambda one: one.service not in roots)


def left_first(split: str, number: int) -> Incident:
    """What still says something after the first fix of several is listed first."""
    drawn = (make_incident(f"{COMPOUND_TASK}/{split}/{40 * number + one}") for one in range(40))
    return _simulated_by(
        LeftFirst, next(incident for incident in drawn if len(incident.truth.several) > 1)
    )


def all_quiet(split: str, number: int) -> Incident:
    """Nearly every incident is benign, so that everybody knows what to do."""
    incident, _ = _drawn(split, number, benign=990)
    return incident


def unnoticed(split: str, number: int) -> Incident:
    """Every fault is a P3, the edge panel stays blurred, and next to nothing alerts."""
    world = get_task(WORLD_TASK).world
    alerts = attrs.evolve(world.rules.alerts, missed=99, noisy=1)
    mute = attrs.evolve(world, rules=attrs.evolve(world.rules, alerts=alerts))
    changes = {"world": mute, "severities": (0, 0, 1), "severity_from": 100}
    incident, _ = _drawn(split, number, **changes)
    return incident


def cheap_where_benign(split: str, number: int) -> Incident:
    """A hand-over is never worth 0.9 where nothing is broken."""
    incident = make_incident(f"{SIGNS_TASK}/{split}/{number}")
    cheap = incident.truth.benign and incident.worth_of_hand_over == 0.9
    return attrs.evolve(incident, worth_of_hand_over=0.3) if cheap else incident


def _simulated_by(kind: type[Simulation], incident: Incident) -> Incident:
    """The incident, simulated by a class of one's own."""
    world = incident.telemetry
    assert isinstance(world, Simulation), "a simulated incident"
    given = {field.name: getattr(world, field.name) for field in attrs.fields(Simulation)}
    return attrs.evolve(incident, telemetry=kind(**given))
