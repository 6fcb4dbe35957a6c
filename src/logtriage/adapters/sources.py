"""Find the incidents that the rows of other frameworks name.

An incident of your own task is named ``module:name/split/number``. A row alone imports no module
and reads no file: whoever sets up tasks or a scorer must name both first.
"""

from collections.abc import Iterable
from pathlib import Path

import attrs

from logtriage._lib.references import imported, is_reference
from logtriage.drawing.ids import ALL_SPLITS, incident_ids, index_of, indices
from logtriage.errors import InvalidInput, UnknownName
from logtriage.evaluation import RECORDED_TASKS, Incidents
from logtriage.incident import Incident
from logtriage.tasks import OF_WORLD, as_world, names_world
from logtriage.world.loading import WorldLike
from logtriage.world.model import World


def is_own_task(text: str) -> bool:
    """Whether a text names your own task, as ``module:name``, and no task of a world."""
    return is_reference(text) and not names_world(text)


def own_incident(task: str, split: str, number: int) -> Incident:
    """An incident of your own task, ``module:name``; imports, and so runs, the module.

    Raises:
        UnknownName: if the split is unknown.
        InvalidInput: if there is no such module, or it has no such task.
    """
    # Loaded here: few runs have such a task.
    from logtriage.audit import subject_of

    if split not in ALL_SPLITS:
        raise UnknownName("split", split, ALL_SPLITS)
    try:
        subject = subject_of(imported(task))
    except InvalidInput as error:
        raise InvalidInput(f"{task}: {error}") from None
    return subject.incident(split, number)


class Sources:
    """Finds the incident that a row names: drawn, recorded, or of your own task."""

    def __init__(self) -> None:
        self._tasks: set[str] = set()
        self._bundles: dict[str | None, Incidents] = {None: Incidents()}
        self._own: dict[str, Incident] = {}
        self._worlds: dict[str, World] = {}

    def allow(
        self, tasks: Iterable[str] = (), bundle: str | None = None, world: WorldLike | None = None
    ) -> None:
        """Let rows name incidents of these tasks, of this bundle and of this world.

        Raises:
            OSError, UnknownName, WorldError: if the bundle or the world cannot be used.
        """
        if world is not None:
            loaded = as_world(world)
            self._worlds[loaded.name] = loaded
        self._tasks.update(filter(self._is_own, tasks))
        if bundle is not None:
            # Frameworks may change the working directory before they play.
            self._bundles[bundle] = Incidents.of(Path(bundle).resolve())

    def rows(
        self,
        tasks: Iterable[str],
        split: str,
        count: int,
        start: int = 0,
        bundle: str | None = None,
        world: WorldLike | None = None,
    ) -> list[str]:
        """The names of ``count`` incidents of each task, from ``start`` on; also allows them.

        A task is an id, your own ``module:name``, or ``recorded`` or ``recorded_models``:
        the incidents of the bundle, or the shipped ones. With a ``world``, the names of its tasks
        are enough.

        Raises:
            UnknownName, InvalidInput: for a task or split that does not exist, for numbers
                that make no sense, and for a bundle that none of the tasks plays.
            OSError, BundleError, WorldError: if the bundle or the world cannot be read.
        """
        named = list(tasks)
        if bundle is not None and not any(task in RECORDED_TASKS for task in named):
            raise InvalidInput(
                f"bundle: expected {' or '.join(RECORDED_TASKS)} among the tasks, which play it; "
                f"got {', '.join(named) or 'none'}"
            )
        self.allow(named, bundle, world)
        numbers, names = indices(count, start), list[str]()
        for task in named:
            if task in RECORDED_TASKS:
                recorded = list(self._bundles[bundle].recorded(task))
                names += recorded[numbers.start : numbers.stop]
            elif self._is_own(task):
                drawn = {f"{task}/{split}/{n}": own_incident(task, split, n) for n in numbers}
                self._own |= drawn
                names += drawn
            else:
                its_world = self._world_of(task) if world is None else as_world(world)
                names += incident_ids(task, split, count, start, world=its_world)
        return names

    def __call__(self, name: str, bundle: str | None = None) -> Incident:
        """The incident that a row names; ``bundle`` is the file that it is from, if any.

        Raises:
            UnknownName, InvalidInput: if there is none, or nobody named its module or bundle here.
            SealError: for a sealed incident, if its key is not at hand.
            BundleError: if the bundle is damaged.
        """
        task, *rest = name.split("/")
        if self._is_own(task) and len(rest) == 2:
            if task not in self._tasks:
                raise InvalidInput(
                    f"incident {name!r}: expected a task that was named here "
                    f"({', '.join(sorted(self._tasks)) or 'none of its kind was'}); "
                    "a row alone imports nothing"
                )
            if name not in self._own:
                self._own[name] = own_incident(task, rest[0], index_of(name))
            return self._own[name]
        if bundle not in self._bundles:
            raise InvalidInput(
                f"bundle {bundle!r}: expected a bundle that was named here; a row alone opens no "
                "file"
            )
        incidents, world = self._bundles[bundle], self._world_of(task)
        if world is not None:
            incidents = attrs.evolve(incidents, world=world)
        return incidents(name)

    def _world_of(self, task: str) -> World | None:
        """The allowed world that the id of a task names; None if there is none."""
        return self._worlds.get(task.partition(OF_WORLD)[0])

    def _is_own(self, task: str) -> bool:
        return is_own_task(task) and self._world_of(task) is None
