"""Structures of arrays as kernels take them: as named tuples of the same fields."""

from collections import namedtuple
from typing import Any, Final, NamedTuple, TypeVar, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from logtriage.emission import LOUD_VOICE
from logtriage.propagation import FULL, Mode
from logtriage.scenario_ranges import CHANGE_KINDS, DISTRACTOR_COUNT, RAMP, SHOWN, VOICE
from logtriage.vector.episodes import ActionTable, Episodes
from logtriage.vector.incidents import IncidentArrays
from logtriage.vector.layout import Layout
from logtriage.vector.setting import Setting
from logtriage.vector.tables import Choices, Graph, mode_of

Arrays = TypeVar("Arrays", IncidentArrays, Episodes, Graph, Choices, ActionTable)

MODES: Final = tuple(Mode)
_FIRST_CHANGE: Final = f"change:{CHANGE_KINDS[0]}"


def _names(arrays: type[Any]) -> list[str]:
    return [one.name for one in attrs.fields(arrays) if one.name != "topology"]


# Module-level names, so that cached kernels find the types of their arguments again.
IncidentFields: Any = namedtuple("IncidentFields", _names(IncidentArrays))  # type: ignore[misc]
EpisodeFields: Any = namedtuple("EpisodeFields", _names(Episodes))  # type: ignore[misc]
GraphFields: Any = namedtuple("GraphFields", _names(Graph))  # type: ignore[misc]
ChoiceFields: Any = namedtuple("ChoiceFields", _names(Choices))  # type: ignore[misc]
ActionFields: Any = namedtuple("ActionFields", _names(ActionTable))  # type: ignore[misc]

_FIELDS: Final = {
    IncidentArrays: IncidentFields,
    Episodes: EpisodeFields,
    Graph: GraphFields,
    Choices: ChoiceFields,
    ActionTable: ActionFields,
}


def fields(arrays: Arrays) -> Arrays:
    """The same arrays, under the same names, in a form that kernels can take."""
    chosen: Any = _FIELDS[type(arrays)]
    return cast(Arrays, chosen(*[getattr(arrays, name) for name in chosen._fields]))


def as_bytes(episodes: Episodes) -> tuple[NDArray[np.uint8], ...]:
    """Every array of N episodes as (N, bytes): all of one type, for a loop over them."""
    arrays = [getattr(episodes, one.name) for one in attrs.fields(Episodes)]
    return tuple(array.view(np.uint8).reshape(len(array), -1) for array in arrays)


class TaskFields(NamedTuple):
    """What kernels read of a task; ``mode`` indexes :data:`MODES`, ``noisy`` is of 1,024."""

    mode: int
    horizon: int
    noisy: int
    loud_voice: int
    ramp: tuple[int, int]
    voice: tuple[int, int]
    shown: int
    distractors: int
    benign_distractors: int
    capacity_team: int
    security_team: int

    @classmethod
    def of(cls, setting: Setting) -> "TaskFields":
        """Of the task on its topology."""
        task, topology = setting.task, setting.topology
        mode = mode_of(task)
        return cls(
            mode=MODES.index(mode),
            horizon=task.horizon,
            noisy=task.noise * 1024 // FULL,
            loud_voice=LOUD_VOICE if mode is Mode.LOUD else 1,
            ramp=RAMP[mode],
            voice=VOICE[mode],
            shown=SHOWN.get(mode, 0),
            distractors=DISTRACTOR_COUNT[mode],
            benign_distractors=DISTRACTOR_COUNT[Mode.BENIGN],
            capacity_team=topology.teams.index(topology.capacity_team),
            security_team=topology.teams.index(topology.security_team),
        )


class ColumnFields(NamedTuple):
    """The first column of every block of the observation."""

    fault_alert: np.uint64
    other_alert: np.uint64
    known: np.uint64
    error: np.uint64
    p99: np.uint64
    trend: np.uint64
    asked: np.uint64
    blamed: np.uint64
    complaining: np.uint64
    named: np.uint64
    remedied: np.uint64
    declared: np.uint64
    owners: np.uint64
    changes: np.uint64
    time: np.uint64
    slo: np.uint64
    worst: np.uint64
    severity: np.uint64
    kind: np.uint64
    named_owner: np.uint64
    paged: np.uint64
    applied: np.uint64
    closed: np.uint64

    @classmethod
    def of(cls, layout: Layout) -> "ColumnFields":
        """Of a layout."""
        starts = {name: at.start for name, at in layout.blocks.items()}
        starts |= {"owners": starts[layout.public[0]], "changes": starts[_FIRST_CHANGE]}
        return cls(*[np.uint64(starts[name]) for name in cls._fields])
