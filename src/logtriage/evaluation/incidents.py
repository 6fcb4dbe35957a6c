"""Where incidents come from: drawn by their ids, or recorded in a bundle."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage._lib.seal import Seal
from logtriage.drawing.ids import ALL_SPLITS, is_of_task
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.recorded import SHIPPED, RecordedTelemetry, open_bundle, shipped_incidents
from logtriage.shift.shifts import is_shift
from logtriage.tasks import as_world
from logtriage.world.loading import WorldLike
from logtriage.world.model import World

#: The task of all recorded incidents at hand.
RECORDED_TASK: Final = "recorded"
#: The task of the recorded incidents that show figures on request.
MODELS_TASK: Final = "recorded_models"
#: Tasks of recorded incidents, with the shipped source that is played without a bundle.
RECORDED_TASKS: Final = MappingProxyType({RECORDED_TASK: "trainticket", MODELS_TASK: "models"})


def is_recorded(incident_id: str) -> bool:
    """Whether an id has the form of a recorded incident, ``<source>/<name>``."""
    return incident_id.count("/") == 1


def in_order(ids: Iterable[str]) -> list[str]:
    """The ids, sorted by number within each task: intervals depend on the order.

    Tasks stand in the order of their first ids.
    """

    def number(incident_id: str) -> tuple[int, str]:
        last = incident_id.rpartition("/")[2]
        return int(last) if last.isdecimal() else 0, last

    of_task = grouped((each.rpartition("/")[0], each) for each in ids)
    return [each for group in of_task.values() for each in sorted(group, key=number)]


def digest_of(bundle: bytes) -> str:
    """The digest of a bundle's content, as 16 hexadecimal digits."""
    return blake2b(bundle, digest_size=8).hexdigest()


@attrs.frozen
class Incidents:
    """Finds incidents by id; grading uses it as a resolver, and it can go to other processes.

    Drawn incidents (``<task>/<split>/<index>``) are always at hand. Recorded incidents
    (``<source>/<name>``) come from ``bundle``, or from the package if that is None. ``digest``
    identifies the content of the bundle. ``seal`` is the key of sealed incidents; None for that of
    the environment. ``world`` is the world of all drawn incidents; None if their ids name it.
    """

    bundle: Path | None = None
    digest: str | None = None
    seal: Seal | None = None
    world: World | None = attrs.field(default=None, converter=attrs.converters.optional(as_world))

    @classmethod
    def of(
        cls,
        bundle: str | PathLike[str] | None,
        seal: Seal | None = None,
        world: WorldLike | None = None,
    ) -> "Incidents":
        """A finder with the recorded incidents of a bundle; for None, the shipped incidents.

        Raises:
            OSError, UnknownName, WorldError: for a bundle or a world that cannot be used.
        """
        if bundle is None:
            return cls(seal=seal, world=world)
        path = Path(bundle)
        return cls(path, digest_of(path.read_bytes()), seal, world)

    def __call__(self, incident_id: str) -> Incident:
        """The incident with this id.

        Raises:
            UnknownName, InvalidInput: if there is none.
            SealError: for a sealed incident, if its key is not at hand.
            BundleError: if the bundle is damaged.
        """
        if is_shift(incident_id):
            raise InvalidInput(f"{incident_id} is a shift: play plays it, eval evaluates its task")
        if not is_recorded(incident_id):
            return incident_of(incident_id, self.seal, self.world)
        recorded = self.recorded()
        if self.bundle is None and incident_id not in recorded:
            recorded = _shipped()
        try:
            return recorded[incident_id]
        except KeyError:
            _, _, name = incident_id.partition("/")
            if is_of_task(incident_id) or name in ALL_SPLITS:
                return incident_of(incident_id, self.seal, self.world)  # says what the id lacks
            own = "incidents of your own are found in a bundle (--bundle FILE)"
            where = str(self.bundle or own)
            raise UnknownName("recorded incident", incident_id, recorded, where) from None

    def recorded(self, task: str = RECORDED_TASK) -> Mapping[str, Incident]:
        """The recorded incidents of a ``task`` by id, in order.

        With a bundle, task ``recorded`` has all its incidents, and ``recorded_models`` those that
        show figures on request. Without, a task has those of its source in :data:`RECORDED_TASKS`.

        Raises:
            UnknownName: for another task.
            BundleError: naming file, line and field.
        """
        if task not in RECORDED_TASKS:
            raise UnknownName("task of recorded incidents", task, RECORDED_TASKS)
        return _recorded(self.bundle, self.digest, task)


@lru_cache(maxsize=8)
def _recorded(
    bundle: Path | None,
    digest: str | None,  # noqa: ARG001 (a bundle of another content is another bundle)
    task: str,
) -> Mapping[str, Incident]:
    if bundle is None:
        return {row.id: row for row in shipped_incidents(RECORDED_TASKS[task])}
    opened = open_bundle(bundle)
    if task == RECORDED_TASK:
        return opened
    return {
        name: row
        for name, row in opened.items()
        if isinstance(row.telemetry, RecordedTelemetry) and row.telemetry.on_request
    }


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Incident]:
    return {row.id: row for source in SHIPPED for row in shipped_incidents(source)}
