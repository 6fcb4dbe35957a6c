"""Find incidents of given kinds of faults, or of given benign kinds."""

from collections.abc import Callable, Collection, Iterable
from itertools import islice

from logtriage.drawing.ids import MAX_INDEX
from logtriage.errors import InvalidInput, UnknownName
from logtriage.incident import Incident
from logtriage.tasks import TaskSpec
from logtriage.world.default import default_world
from logtriage.world.model import World
from logtriage.world.prior import prior

#: A search looks through this many numbers, and this many more for each incident wanted.
_LOOKED_AT, _FOR_EACH = 10_000, 1_000


def kinds_of(incident: Incident) -> frozenset[str]:
    """The kinds of a drawn incident: those of its faults, or its benign kind."""
    assert incident.simulation is not None, "only drawn incidents have kinds of a world"
    truth = incident.simulation.truth
    benign = () if truth.benign is None else (truth.benign[0],)
    return frozenset((*benign, *(kind for kind, _ in truth.faults)))


def kinds_drawn(task: TaskSpec, split: str) -> tuple[str, ...]:
    """The kinds that a task draws in a split: faults, then benign kinds, in the world's order."""
    world, setting, held = task.world, task.setting, split == "ood"
    if task.topology is None or (held and world.rules.drawn_topologies):
        faults = [kind.name for kind in world.kinds if kind.drifts or not setting.creeping]
        benign = [kind.name for kind in world.benign] if setting.benign else []
        return (*faults, *benign)
    table = prior(setting, task.topology, held)
    rows = zip(table.hypotheses, table.weights, strict=True)
    possible = [hypothesis for hypothesis, weight in rows if weight]
    names = {kind for hypothesis in possible for kind, _ in hypothesis.faults}
    names.update(hypothesis.benign[0] for hypothesis in possible if hypothesis.benign)
    return tuple(name for name in _known(world) if name in names)


def check_kinds(kinds: Iterable[str], task: TaskSpec, split: str) -> None:
    """Raise UnknownName or InvalidInput for kinds that a task never draws in a split."""
    known = _known(task.world)
    for kind in kinds:
        if task.unseen:
            raise InvalidInput(
                f"kind {kind!r}: each incident of {task.id!r} has a world of its own, with kinds "
                "of its own"
            )
        if kind not in known:
            default = _known(default_world())
            own_first = sorted(known, key=lambda name: name in default)
            raise UnknownName("kind", kind, own_first, f"world {task.world.name!r}", whole=True)
        drawn = kinds_drawn(task, split)
        if kind not in drawn:
            raise InvalidInput(
                f"kind {kind!r}: {task.id} never draws it in split {split!r}; it draws "
                f"{', '.join(drawn)}"
            )


def ids_of_kinds(
    kinds: Collection[str],
    task: TaskSpec,
    split: str,
    count: int,
    start: int,
    incident_of: Callable[[str], Incident],
) -> tuple[str, ...]:
    """The ids of the first ``count`` incidents of any of the kinds, from number ``start`` on.

    Raises as :func:`check_kinds`; InvalidInput if too few are found.
    """
    check_kinds(kinds, task, split)
    stop = min(start + _LOOKED_AT + _FOR_EACH * count, MAX_INDEX)
    every = (f"{task.id}/{split}/{number}" for number in range(start, stop))
    wanted = (name for name in every if not kinds_of(incident_of(name)).isdisjoint(kinds))
    ids = tuple(islice(wanted, count))
    if len(ids) < count:
        raise InvalidInput(
            f"kind {' or '.join(kinds)}: {len(ids)} of {count} incidents found among numbers "
            f"{start} to {stop - 1} of {task.id}/{split}"
        )
    return ids


def _known(world: World) -> tuple[str, ...]:
    """All kinds of a world: faults, then benign kinds."""
    return (*(kind.name for kind in world.kinds), *(kind.name for kind in world.benign))
