"""Which incidents an environment plays: those asked for, then one after another."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.errors import InvalidInput
from logtriage.tasks import MAX_INDEX, SPLITS, TaskSpec, check_split, parse_incident_id

Ints = NDArray[np.int64]


class Playlist:
    """Indices of incidents of one split of a task.

    From a drawn beginning on, every incident comes once before any comes again.

    Raises:
        UnknownName: for an unknown split.
        InvalidInput: for split ``ood`` or ``fleet_outage`` without a topology of one's own,
            and for split ``sealed`` of a task that has none.
    """

    def __init__(self, task: TaskSpec, split: str, own_topology: bool) -> None:
        check_split(task, split)
        if split == "ood" and not own_topology:
            raise InvalidInput(
                "half of split 'ood' lies on random topologies, whose observations have other "
                "shapes; give a topology, or choose a split from: "
                + ", ".join(one for one in SPLITS if one != "ood")
            )
        if task.topology is None and not own_topology:
            raise InvalidInput(
                f"every incident of task {task.id!r} has a topology of its own; give one "
                "topology for all of them, or choose another task"
            )
        self._task, self._split = task, split
        self._next: int | None = None
        self._asked: Ints = np.empty(0, np.int64)

    @property
    def begun(self) -> bool:
        """Whether a beginning was drawn."""
        return self._next is not None

    def begin(self, random: np.random.Generator) -> None:
        """Draw where the sequence begins."""
        self._next = int(random.integers(MAX_INDEX))

    def ask(self, ids: Iterable[Any], at_least: int = 0) -> None:
        """Play these ids (or indices) next; what was asked for before is dropped.

        Raises:
            UnknownName: for an id with an unknown task or split.
            InvalidInput: for anything else that is not an incident of the task and split,
                and for fewer than ``at_least``.
        """
        asked = np.array([self._index_of(one) for one in ids], np.int64)
        if len(asked) < at_least:
            raise InvalidInput(
                f"{len(asked)} ids for {at_least} environments; give at least one each"
            )
        self._asked = asked

    def take(self, count: int) -> Ints:
        """The next ``count`` indices."""
        asked, self._asked = self._asked[:count], self._asked[count:]
        missing = count - len(asked)
        if not missing:
            return asked
        assert self._next is not None, "begin() comes first"
        following = (self._next + np.arange(missing)) % MAX_INDEX
        self._next = (self._next + missing) % MAX_INDEX
        return np.concatenate([asked, following])

    def _index_of(self, one: Any) -> int:
        if isinstance(one, str):
            parsed = parse_incident_id(one)
            if (parsed.task.id, parsed.split) != (self._task.id, self._split):
                raise InvalidInput(
                    f"incident id {one!r}: this environment plays {self._task.id}/{self._split}/…; "
                    "make another one for another task or split"
                )
            return parsed.index
        whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
        if not (whole and 0 <= one < MAX_INDEX):
            raise InvalidInput(
                f"incident {one!r}: expected an id, {self._task.id}/{self._split}/<index>, or a "
                f"whole number in [0, {MAX_INDEX})"
            )
        return int(one)


def option(options: dict[str, Any] | None, name: str, *, strict: bool = True) -> Any:
    """The one option that a reset knows, None if not given.

    Any other one, which would do nothing, is not passed over in silence: if not
    ``strict`` a warning says so.

    Raises:
        InvalidInput: for any other option, if ``strict``.
    """
    given = options or {}
    for other in given:
        if other != name:
            reason = f"unknown option {other!r}; known: {name}"
            if strict:
                raise InvalidInput(reason)
            warnings.warn(reason, stacklevel=3)
    return given.get(name)
