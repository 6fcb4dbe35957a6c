"""How a world is fitted: what is chosen and not counted, by what holds on groups left out."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import log
from typing import Final, TypeVar

import attrs

from logtriage._lib.progress import OnProgress, watched
from logtriage.beliefs.recordings import modelled
from logtriage.recorded.bundle import as_incident
from logtriage.recorded.fitting.tables import Counts, Smoothing, counted
from logtriage.recorded.fitting.worlds import fitted_world
from logtriage.recorded.records import RecordedIncident
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.state import State
from logtriage.topology import Topology
from logtriage.world.model import World

#: What is tried: how many recordings the average of all kinds counts for, and the temperature.
CHOICES: Final = tuple(
    Smoothing(strength, temperature)
    for strength, temperature in product((1.0, 4.0), (1.0, 0.75, 0.5))
)
#: Parts of whole groups that a choice is judged by.
PARTS: Final = 4
#: No probability of the right answer counts as less.
LEAST: Final = 1e-6
Result = TypeVar("Result")


@attrs.frozen(eq=False)
class Recorded:
    """A recording made ready to be fitted: its counts, and its last screen with all figures.

    Repeated injections of a kind at a service are near copies: its ``group`` is both.
    """

    record: RecordedIncident
    counts: Counts
    state: State

    @classmethod
    def of(cls, record: RecordedIncident) -> "Recorded":
        """Count a record."""
        shown = RecordedTelemetry(record.recording)
        incident = attrs.evolve(as_incident(record), telemetry=shown)
        return cls(record, counted(record), State(incident, tick=incident.horizon - 1))

    @property
    def group(self) -> tuple[str, ...]:
        """The kind of fault, and the services that were at fault."""
        return (self.record.truth.kind, *sorted(self.record.truth.root_causes))


@attrs.frozen
class Fit:
    """How worlds of recordings are made: from the world ``like``, under a ``name``."""

    like: World
    name: str = "fitted"

    def world(self, rows: Sequence[Recorded], smoothing: Smoothing) -> World:
        """The world of some recordings, with the topology that has the most services.

        Raises:
            WorldError: as :func:`~logtriage.recorded.fitting.worlds.fitted_world`.
        """
        counts = sum((row.counts for row in rows), Counts())
        return fitted_world(counts, self.like, _largest(rows), self.name, smoothing)

    def choose(self, rows: Sequence[Recorded], on_progress: OnProgress | None = None) -> Smoothing:
        """The choice with the lowest log loss on groups left out; the first with one group.

        Groups are left out in :data:`PARTS` parts, so that a choice takes a few worlds.
        """
        groups = sorted({row.group for row in rows if row.record.truth.root_causes})
        if len(groups) < 2:
            return CHOICES[0]
        parts = {group: place % PARTS for place, group in enumerate(groups)}
        choices = watched(CHOICES, on_progress, len(CHOICES))
        return min(choices, key=lambda smoothing: self._loss(rows, smoothing, parts))

    def _loss(
        self, rows: Sequence[Recorded], smoothing: Smoothing, parts: Mapping[tuple[str, ...], int]
    ) -> float:
        def lost(world: World, row: Recorded) -> float:
            return -log(max(LEAST, right(row, world)))

        def part_of(row: Recorded) -> object:
            return parts.get(row.group)

        return sum(left_out(rows, lambda kept: self.world(kept, smoothing), lost, part_of))


def left_out(
    rows: Sequence[Recorded],
    make: Callable[[Sequence[Recorded]], World],
    read: Callable[[World, Recorded], Result],
    group_of: Callable[[Recorded], object] = lambda row: row.group,
) -> list[Result]:
    """What is read of each recording with a fault by the world of all groups but its own."""
    worlds: dict[object, World] = {}
    results = []
    for row in rows:
        if not row.record.truth.root_causes:
            continue
        group = group_of(row)
        if group not in worlds:
            worlds[group] = make([other for other in rows if group_of(other) != group])
        results.append(read(worlds[group], row))
    return results


def right(row: Recorded, world: World) -> float:
    """The probability of the true root causes."""
    _, posterior = modelled(row.state, world)
    names = row.state.incident.topology.names
    hit = sum(
        weight
        for hypothesis, weight in zip(posterior.hypotheses, posterior.weights, strict=True)
        if {names[service] for service in hypothesis.services} & set(row.record.truth.root_causes)
    )
    return hit / posterior.total


def _largest(rows: Sequence[Recorded]) -> Topology:
    """The topology of the recording with the most services, under the name of its source."""
    largest = max((row.state.incident for row in rows), key=lambda incident: len(incident.topology))
    return attrs.evolve(largest.topology, name=largest.id.partition("/")[0])
