"""Sources of incidents by id: registered tasks, your own tasks, and bundles.

A task is the id of a registered one, ``module:name`` of one's own (a task sheet, or a
function from split and number to an incident), or ``recorded`` or ``recorded_models``: the
incidents of a bundle, by default those that ship with the package.
"""

from logtriage.adapters.sources import is_own_task, own_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput
from logtriage.evaluation.incidents import RECORDED_TASKS, Incidents
from logtriage.incident import Incident


class Source:
    """Names incidents, and finds them again: a resolver for environments and graders.

    Args:
        bundle: recorded incidents in place of the shipped ones.

    Raises:
        OSError: if the bundle cannot be read.
    """

    def __init__(self, bundle: str | None = None) -> None:
        self._incidents = Incidents.of(bundle or None)
        self._own: dict[str, Incident] = {}

    def id_at(self, task: str, split: str, index: int) -> str:
        """The id of one incident of a drawn task.

        Raises:
            UnknownName, InvalidInput: for a task or split that does not exist.
        """
        if not is_own_task(task):
            (name,) = incident_ids(task, split, 1, index)
            return name
        drawn = own_incident(task, split, index)
        known = self._own.setdefault(drawn.id, drawn)
        if known != drawn:
            raise InvalidInput(f"{task}: {split}/{index} has the id of another one, {drawn.id!r}")
        return drawn.id

    def ids(self, task: str, split: str, count: int) -> tuple[str, ...]:
        """The ids of the first ``count`` incidents of a task; of recorded ones, whatever split.

        Raises:
            UnknownName, InvalidInput: for a task or split that does not exist, or less than
                one incident.
        """
        if count < 1:
            raise InvalidInput(f"episodes must be at least 1, got {count}")
        if task in RECORDED_TASKS:
            return tuple(self._incidents.recorded(task))[:count]
        if is_own_task(task):
            return tuple(self.id_at(task, split, number) for number in range(count))
        return incident_ids(task, split, count)

    def __call__(self, incident_id: str) -> Incident:
        """The incident of that id.

        Raises:
            UnknownName, InvalidInput, SealError, BundleError: if it cannot be had.
        """
        own = self._own.get(incident_id)
        return self._incidents(incident_id) if own is None else own
