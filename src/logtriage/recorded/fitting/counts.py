"""Counts of labelled recordings: one sign for each recording, service and sort."""

from collections import Counter
from typing import Final

import attrs

from logtriage.recorded.bundle import as_incident
from logtriage.recorded.fitting.signs import signs_of
from logtriage.recorded.records import RecordedIncident
from logtriage.world.conditions import reachable
from logtriage.world.model import HEALTHY, WAITING

#: The class of a fault if its record names no class.
UNCLASSED: Final = "other"


@attrs.frozen(eq=False)
class Counts:
    """Counts of some recordings; counts of several recordings add up.

    ``signs`` counts (condition, sort, token): each service has one sign a sort, its most frequent
    reading; a token such as ``calls`` stands without its dependency. ``readings`` counts (sort,
    token) of all readings, and ``strayed`` of the readings that differ from their sign. ``kinds``
    counts (kind, class) of incidents, and ``calm`` incidents without a fault.
    """

    signs: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    readings: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    strayed: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    kinds: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    calm: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.signs + other.signs,
            self.readings + other.readings,
            self.strayed + other.strayed,
            self.kinds + other.kinds,
            self.calm + other.calm,
        )


def counted(record: RecordedIncident) -> Counts:
    """The counts of one recording, over all its screens.

    The condition of the root cause is its kind. Its callers, direct or not, are ``waiting``; every
    other service is ``healthy``.
    """
    incident, kind = as_incident(record), record.truth.kind
    counts = Counts(calm=int(not record.truth.root_causes))
    if record.truth.root_causes:
        counts.kinds[kind, str(record.truth.category or UNCLASSED)] += 1
    topology = incident.topology
    roots = tuple(topology.index(name) for name in record.truth.root_causes)
    waiting = set(reachable(topology.callers, roots))
    by_cell: dict[tuple[int, str], list[str]] = {}
    for sign in signs_of(incident, incident.horizon - 1):
        by_cell.setdefault((sign.service, sign.sort), []).append(sign.token.partition(":")[0])
    for (service, sort), tokens in by_cell.items():
        condition = kind if service in roots else WAITING if service in waiting else HEALTHY
        (shown, _), *_ = Counter(tokens).most_common(1)
        counts.signs[condition, sort, shown] += 1
        counts.readings.update((sort, token) for token in tokens)
        counts.strayed.update((sort, token) for token in tokens if token != shown)
    return counts
