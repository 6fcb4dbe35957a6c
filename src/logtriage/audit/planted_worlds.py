"""The worlds behind :mod:`logtriage.audit.holes`: incidents of the second world, one hole each."""
# ruff: noqa: D103 - what is wrong with each stands once, in the library of holes

from collections.abc import Iterator
from typing import Final

import attrs

from logtriage.drawing import draw_second
from logtriage.incident import Incident
from logtriage.tasks import IncidentId, get_task
from logtriage.world.channels import Evidence
from logtriage.world.schedule import Doings
from logtriage.world.setting import Setting
from logtriage.world.simulation import World

#: The task of the second world that holes are planted in.
WORLD_TASK: Final = "cascading_failure-v2"


def _drawn(split: str, number: int, **changes: object) -> tuple[Incident, World]:
    """An incident of the task, its setting changed."""
    task = get_task(WORLD_TASK)
    assert task.setting is not None, "a task of the second world"
    setting: Setting = attrs.evolve(task.setting, **changes)  # type: ignore[arg-type]
    incident = draw_second(task, setting, IncidentId(task, split, number))
    assert isinstance(incident.telemetry, World), "an incident of the second world"
    return incident, incident.telemetry


class RootFirst(World):
    """Lists what the roots say before what the others say."""

    def shown(self, now: int, doings: Doings, fixed_at: int | None) -> Iterator[Evidence]:
        """The same evidence in another order."""
        roots = {service for _, service in self.truth.faults}
        cells = list(super().shown(now, doings, fixed_at))
        return iter(sorted(cells, key=lambda one: one.service not in roots))


def root_first(split: str, number: int) -> Incident:
    incident, world = _drawn(split, number)
    given = {one.name: getattr(world, one.name) for one in attrs.fields(World)}
    return attrs.evolve(incident, telemetry=RootFirst(**given))


def unnoticed(split: str, number: int) -> Incident:
    incident, _ = _drawn(split, number, alert_ticks=(), severities=(0, 0, 1))
    return incident
