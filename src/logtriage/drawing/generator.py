"""Draw incidents by their ids from a task's distribution."""

from functools import lru_cache

from logtriage._lib.seal import Seal
from logtriage.drawing.ids import IncidentId, is_sealed, parse_incident_id, world_of_incident
from logtriage.drawing.incidents import draw_from
from logtriage.incident import Incident
from logtriage.tasks import TaskSpec, check_one_world
from logtriage.topology import Topology
from logtriage.world.loading import WorldLike
from logtriage.world.model import World


def make_incident(
    incident_id: str, *, seal: Seal | None = None, world: WorldLike | None = None
) -> Incident:
    """The incident of an id: the same on every machine, in every process.

    Args:
        incident_id: ``<task>/<split>/<index>``; a task of any world but the default one is
            ``<world>:<task>``.
        seal: the key of sealed incidents; other incidents need none.
        world: as in :func:`~logtriage.tasks.get_task`; a folder is read at each call.

    Raises:
        UnknownName: if the world, task or split is unknown.
        InvalidInput: if the id is not ``<task>/<split>/<index>``, or is of another world.
        WorldError, OSError: for a world that cannot be used.
        SealError: for a sealed incident without its seal.
    """
    chosen = world_of_incident(incident_id, world)
    if seal is None or not is_sealed(incident_id):
        return open_incident(incident_id, chosen)
    parsed = parse_incident_id(incident_id, seal, chosen)
    return draw_incident(parsed.task, parsed)


@lru_cache(maxsize=4096)
def open_incident(incident_id: str, world: World) -> Incident:
    """The incident of an id that needs no key, so the cache holds no secret."""
    parsed = parse_incident_id(incident_id, world=world)
    return draw_incident(parsed.task, parsed)


def draw_incident(
    task: TaskSpec, incident_id: IncidentId, topology: Topology | None = None
) -> Incident:
    """An incident of ``task``, on the split's topology or on ``topology``.

    On a topology of your own the id ends in ``@`` and the topology's name; graders then need a
    ``resolve`` function that finds the incident.

    Raises:
        InvalidInput: for a task of unseen worlds, or for a topology that has no place for the
            task's faults (a cascade needs a caller).
        SealError: for a sealed incident without its seal.
    """
    check_one_world(task)
    return draw_from(task, task.setting, incident_id, topology)
