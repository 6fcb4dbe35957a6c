"""Checks of the arguments of a batch: tasks, pools of worlds, indices, rows and actions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logtriage.drawing.ids import MAX_INDEX, SPLITS
from logtriage.errors import InvalidInput, UnknownName
from logtriage.tasks import TaskSpec, task_of
from logtriage.vector.arrays import Bools, Ints, Longs
from logtriage.vector.layout import MOST_TICKS
from logtriage.world.drawn import MOST_IN_POOL, WORLDS
from logtriage.world.loading import WorldLike


def checked_task(
    task: str | TaskSpec, horizon: Any = None, world: WorldLike | None = None
) -> TaskSpec:
    """The task, with ``horizon`` in place of its own unless None.

    Raises:
        UnknownName: for a task that does not exist.
        InvalidInput: if the horizon has no ticks, or more than :data:`MOST_TICKS`.
    """
    spec = task_of(task, world, horizon)
    if spec.horizon > MOST_TICKS:
        raise InvalidInput(
            f"horizon {spec.horizon} of task {spec.id!r}: expected 1 to {MOST_TICKS}"
        )
    return spec


def checked_pool(task: TaskSpec, pool: Sequence[int] | None) -> tuple[int, ...]:
    """The numbers of the worlds of a pool, by default the first; empty for a task of one world.

    Raises:
        InvalidInput: for a pool of a task of one world, and for no, too many, unknown or equal
            numbers, or other values than integers.
    """
    if not task.unseen:
        if pool is not None:
            raise InvalidInput(f"pool: task {task.id!r} has one world, and needs none")
        return ()
    numbers = tuple(range(MOST_IN_POOL)) if pool is None else tuple(pool)
    if not 1 <= len(numbers) <= MOST_IN_POOL or len(set(numbers)) != len(numbers):
        raise InvalidInput(
            f"pool: expected 1 to {MOST_IN_POOL} different worlds of a split, got {len(numbers)}"
        )
    return tuple(checked_integers("pool", numbers, (len(numbers),), 0, WORLDS - 1).tolist())


def nth_index(pool: Sequence[int], numbers: Ints) -> Ints:
    """The indices (R,) of incidents by ``numbers`` (R,) in a pool, whose worlds take turns."""
    if not pool:
        return numbers
    index: Ints = numbers // len(pool) * WORLDS + np.array(pool)[numbers % len(pool)]
    return index


def places_in(pool: Sequence[int], index: Ints) -> Ints:
    """The place in the pool of each incident's world (R,); 0 without a pool.

    Raises:
        InvalidInput: naming the first incident whose world the pool lacks.
    """
    place_of = np.full(WORLDS, -1 if pool else 0)
    place_of[list(pool)] = np.arange(len(pool))
    places = place_of[index % WORLDS]
    if (places < 0).any():
        missing = int(index[places.argmin()])
        named = ", ".join(map(str, pool[:4]))
        if len(pool) > 4:
            named += ", …"
        raise InvalidInput(
            f"incident {missing} is of world {missing % WORLDS}, which is none of the {len(pool)} "
            f"of this batch's pool: {named}"
        )
    return places


def checked_indices(split: str, index: ArrayLike, *, ood: bool) -> Ints:
    """The indices (R,) of incidents of a split, checked; ``ood``: the batch may play split ``ood``.

    Raises:
        UnknownName: if the split is unknown.
        InvalidInput: for indices that are not whole numbers in range, and for ``ood`` unless the
            batch may play it.
    """
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if split == "ood" and not ood:
        raise InvalidInput(
            "half of split 'ood' lies on random topologies; a batch has one: give a topology"
        )
    array = np.asarray(index)
    return checked_integers("index", array, (array.size,), 0, MAX_INDEX - 1)


def checked_array(
    name: str, values: ArrayLike, shape: tuple[int, ...], kinds: str = "iu"
) -> NDArray[Any]:
    """The values as an array; InvalidInput for another shape, or for none of NumPy's ``kinds``."""
    array = np.asarray(values)
    if array.dtype.kind not in kinds and array.size:  # an empty list is an array of floats
        wanted = "booleans" if kinds == "b" else "integers"
        raise InvalidInput(f"{name}: expected {wanted}, got an array of {array.dtype}")
    if array.shape != shape:
        raise InvalidInput(f"{name}: shape {array.shape}, expected {shape}")
    return array


def checked_mask(name: str, values: ArrayLike, count: int) -> Bools:
    """The values (N,) as booleans; InvalidInput for another type or shape."""
    return checked_array(name, values, (count,), kinds="b").astype(np.bool_)


def checked_integers(
    name: str,
    values: ArrayLike,
    shape: tuple[int, ...],
    low: int | None = None,
    high: int | None = None,
) -> Longs:
    """The values as int64; InvalidInput for another type or shape, or outside two given bounds."""
    array = checked_array(name, values, shape)
    if array.size and low is not None and high is not None:
        bad = array.argmin() if array.min() < low else array.argmax()
        place = tuple(map(int, np.unravel_index(bad, shape)))
        if not low <= array[place] <= high:
            raise InvalidInput(
                f"{name}{list(place) or ''}: {array[place]} is not in {low} to {high}"
            )
    return array.astype(np.int64)


def as_rows(rows: ArrayLike | None, every: Longs, name: str = "rows") -> Longs:
    """The given rows, or ``every`` (N,) for None; InvalidInput for unknown or repeated rows."""
    if rows is None:
        return every
    array = np.asarray(rows)
    chosen = checked_integers(name, array, (array.size,), 0, len(every) - 1)
    taken = np.zeros(len(every), bool)
    taken[chosen] = True
    if np.count_nonzero(taken) != len(chosen):
        raise InvalidInput(f"{name}: each row may be named once")
    return chosen


def checked_actions(actions: ArrayLike, size: int, count: int, role: str | None = None) -> Longs:
    """The actions (N,) of a batch of ``size`` N as int64; each is below ``count``.

    Raises:
        InvalidInput: as :func:`checked_integers`; it names the ``role``, unless that is None.
    """
    name = "actions" if role is None else f"actions of {role}"
    return checked_integers(name, actions, (size,), 0, count - 1)


def checked_team_actions(
    actions: Sequence[ArrayLike], size: int, counts: Sequence[int], roles: Sequence[str]
) -> list[Ints]:
    """The actions (N,) of each role, below its count; raises as :func:`checked_actions`."""
    if len(actions) != len(roles):
        raise InvalidInput(
            f"expected actions of {len(roles)} roles ({', '.join(roles)}), got {len(actions)}"
        )
    return [
        checked_actions(chosen, size, count, role)
        for chosen, count, role in zip(actions, counts, roles, strict=True)
    ]
