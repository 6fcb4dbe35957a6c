"""The likelihood of readings whose sign stays: pooled, for each condition and while it lasts.

Readings of a sign are independent given the sign alone. Let reading r show the sign with f_r, else
token t with q_r(t), whatever the condition. The likelihood of a condition that shows sign s with
P(s) is then, as a multiple of what all conditions share,

    L = 1 - sum of P(s) over the seen s + sum of P(s) * product of (1 + f_r / q_r(s)) over r

where the product goes over the readings that show s. Gaps, and channels that are down, tell
nothing.

A remedy that changes a condition begins a new pool. *Segments* are the ticks between remedies; a
run of them, from the first to the last in which a service stays what it is, is one pool. A root
that keeps silent at first has two: what it shows by then is a healthy service's.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import Final

import attrs
import numpy as np

from logtriage.beliefs.fixedpoint import Longs, log2, log2s, log_sums_of
from logtriage.beliefs.model import NONE, UNFIXED, Bools, Listed, Reader
from logtriage.world.channels import DOWN, NOTHING_READ, Channel, Evidence
from logtriage.world.setting import FULL
from logtriage.world.signs import blinded, is_root, reading, sign_weights, silent
from logtriage.world.tables import alphabet, base_of

#: The logarithm of each weight.
LOGS: Final = log2s(np.arange(FULL + 1))
_LOG_FULL: Final = log2(FULL)


@attrs.frozen
class PooledReading:
    """A reading that tells something: ``gain`` is log2(1 + f/q) of its token.

    ``hidden`` says that a root would not show its own sign there.
    """

    segment: int
    start: int
    token: str
    gain: int
    hidden: bool


#: The readings by service and sort.
Readings = dict[tuple[int, str], list[PooledReading]]
#: What the readings of each service and sort say (C,), and their sums by service (n, C).
Sums = tuple[dict[tuple[int, str], Longs], Longs]


@attrs.frozen(eq=False)
class Pools:
    """The readings of the services' cells, by service and sort, and what they say of conditions.

    ``down`` says of a service's channels that were asked whether they are down, ``edge`` holds the
    panels of the edge. ``last`` is the number of the last segment, ``count`` that of the cells.
    The sums in ``begun`` leave out the readings ``stale``.
    """

    listed: Listed
    last: int
    readings: Readings
    down: dict[tuple[int, Channel], bool]
    edge: Sequence[Evidence]
    count: int
    stale: Set[tuple[int, str]]
    begun: Sums | None
    _tables: dict[tuple[int, int], Longs] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(
        cls,
        listed: Listed,
        breaks: Sequence[int],
        cells: Sequence[Evidence],
        edge: Sequence[Evidence],
        before: "Pools | None" = None,
    ) -> "Pools":
        """The pools of the cells of services; ``breaks`` are the ticks of remedies, in order.

        ``before`` are the pools of the first of these cells, up to a break or the last cell.
        """
        readings: Readings = {}
        down: dict[tuple[int, Channel], bool] = {}
        new, begun = cells, None
        if before is not None:
            readings, down = before.readings.copy(), before.down.copy()
            new, begun = cells[before.count :], before.sums
        sort_of, readers = listed.model.world.sort_of, listed.readers
        stale: set[tuple[int, str]] = set()
        for cell in new:
            part = blinded(cell.channel)
            if part is not None:
                down[cell.service, part] = cell.token == DOWN
            if cell.token in NOTHING_READ:
                continue
            sort = sort_of(cell.channel, cell.slot)
            gain, hidden = _gain(readers[cell.service], sort, cell.start, cell.token)
            if not gain:  # such a reading never shows the sign
                continue
            segment = bisect_left(breaks, cell.start) if breaks else 0
            key = cell.service, base_of(sort)
            if key not in stale:
                stale.add(key)
                readings[key] = list(readings.get(key, ()))  # those before keep their own
            readings[key].append(PooledReading(segment, cell.start, cell.token, gain, hidden))
        return cls(listed, len(breaks), readings, down, edge, len(cells), stale, begun)

    # --- likelihoods -------------------------------------------------------------------

    def table(self, first: int, last: int) -> Longs:
        """The logarithms (n, C) of the likelihoods of conditions that hold for a run of segments.

        From what was read of each service in segments ``first`` to ``last``.
        """
        if (first, last) not in self._tables:
            self._tables[first, last] = self._table(first, last)
        return self._tables[first, last]

    def _table(self, first: int, last: int) -> Longs:
        table = np.zeros((len(self.listed.readers), self.listed.widest), np.int64)
        for (service, _), part in self._parts(self.readings, first, last).items():
            table[service] += part
        return table

    def _parts(
        self, keys: Iterable[tuple[int, str]], first: int, last: int
    ) -> dict[tuple[int, str], Longs]:
        """What the readings of each service and sort say of its conditions (C,)."""
        listed = self.listed
        rows = list(self._rows(keys, first, last))
        if not rows:
            return {}
        most = max(len(row.gains) for row in rows)
        weights = np.zeros((most, len(rows), listed.widest), np.int64)
        gains = np.zeros((most, len(rows), 1), np.int64)
        counts = np.ones((len(rows), listed.widest), np.int64)
        for number, row in enumerate(rows):
            reader = listed.readers[row.service]
            width = len(reader.conditions)
            for place, (token, gain) in enumerate(row.gains.items()):
                weights[place, number, :width] = _column(reader, row.sort, token, row.hidden)
                gains[place, number] = gain
            if row.roots is not None:
                counts[number, :width] = _roots(reader) == row.roots
        logs = LOGS[weights] + gains
        rest = LOGS[FULL - weights.sum(axis=0)]
        pooled = log_sums_of(np.concatenate([rest[np.newaxis], logs])) - _LOG_FULL
        pooled *= counts
        parts: dict[tuple[int, str], Longs] = {}
        for row, part in zip(rows, pooled, strict=True):
            key = row.service, row.sort
            parts[key] = parts[key] + part if key in parts else part
        return parts

    def _rows(self, keys: Iterable[tuple[int, str]], first: int, last: int) -> Iterator["_Row"]:
        for service, sort in keys:
            readings = self.readings[service, sort]
            early: dict[str, int] = {}
            late: dict[str, int] = {}
            for read in readings:
                if first <= read.segment <= last:
                    gains = early if read.hidden else late
                    gains[read.token] = gains.get(read.token, 0) + read.gain
            if not early:
                if late:
                    yield _Row(service, sort, late)
                continue
            tokens = dict.fromkeys((*early, *late))
            every = {token: early.get(token, 0) + late.get(token, 0) for token in tokens}
            yield _Row(service, sort, every, False)
            yield _Row(service, sort, early, True, hidden=True)
            if late:
                yield _Row(service, sort, late, True)

    def whole(self) -> Longs:
        """:meth:`table` of conditions that never change."""
        return self.sums[1]

    @cached_property
    def sums(self) -> Sums:
        """What the readings of each service and sort say if nothing changes, and all of them."""
        new = self._parts(self.stale, 0, self.last)
        if self.begun is None:
            table = np.zeros((len(self.listed.readers), self.listed.widest), np.int64)
            before: dict[tuple[int, str], Longs] = {}
        else:
            before, table = self.begun
            table = table.copy()
        for key, part in new.items():
            table[key[0]] += part - before[key] if key in before else part
        return {**before, **new}, table

    def shown(self, aloof: Longs, fixed: Longs) -> Longs:
        """How likely hypotheses make what the services showed that they reach, as logarithms.

        In the order of ``flat``, each less what ``aloof`` (n,) says of a service out of reach.
        ``fixed`` (H, K) is the segment with which each fault was fixed, or ``UNFIXED``.
        """
        listed = self.listed
        flat, begins = listed.flat
        shown: Longs = (self.whole() - aloof[:, np.newaxis]).ravel()[flat]
        changed = (fixed != UNFIXED).any(axis=1)
        if not changed.any():
            return shown
        rows = np.flatnonzero(changed)
        places = np.stack(list(self._places(rows, fixed[rows])))
        reached = places[0] != NONE
        total = np.zeros(reached.shape, np.int64)
        services = np.broadcast_to(np.arange(reached.shape[1]), reached.shape)
        for first, last in self._runs(places):
            alike = self._is_run(places, first, last) & reached
            if alike.any():
                table = self.table(first, last)
                total[alike] += table[services[alike], places[first][alike]]
        lengths = np.diff(begins, append=len(flat))
        shown[np.repeat(changed, lengths)] = (total - aloof)[reached]
        return shown

    def _places(self, rows: Longs, fixed: Longs) -> Iterator[Longs]:
        """The condition of each service (R, n) in every segment."""
        for segment in range(self.last + 1):
            yield self.listed.left(rows, (fixed != UNFIXED) & (fixed < segment))

    def _runs(self, places: Longs) -> Iterator[tuple[int, int]]:
        """The runs of segments that may be: they end where any condition changes."""
        moved = [0, *(n for n in range(1, len(places)) if (places[n] != places[n - 1]).any())]
        for number, first in enumerate(moved):
            for after in (*moved[number + 1 :], len(places)):
                yield first, after - 1

    @staticmethod
    def _is_run(places: Longs, first: int, last: int) -> Bools:
        """Where a condition holds from segment ``first`` to ``last``, neither before nor after."""
        alike: Bools = (places[first : last + 1] == places[first]).all(axis=0)
        if first:
            alike &= places[first - 1] != places[first]
        if last + 1 < len(places):
            alike &= places[last + 1] != places[first]
        return alike

    def roots(self, service: int) -> Bools:
        """Which conditions (C,) of a service are faults of its own."""
        return _roots(self.listed.readers[service])

    # --- the sign itself ---------------------------------------------------------------

    def gains(self, service: int, sort: str, span: "Span") -> dict[str, int]:
        """What was gained for each token of a sort by the readings of one sign.

        ``span`` says which readings these are.
        """
        gains: dict[str, int] = {}
        for read in self.readings.get((service, sort), ()):
            begun = span.begin <= read.start and (span.end is None or read.start <= span.end)
            if begun and span.hidden in (None, read.hidden):
                gains[read.token] = gains.get(read.token, 0) + read.gain
        return gains


@attrs.frozen
class Span:
    """Which readings of a service and sort show one sign.

    Those that start from tick ``begin`` to ``end`` (None: the last). A root's are either all
    ``hidden`` or all not; those of any other condition (None) are both.
    """

    begin: int
    end: int | None
    hidden: bool | None


@attrs.frozen
class _Row:
    """What was gained for each token seen in a pool: of roots, of all others, or of all (None)."""

    service: int
    sort: str
    gains: dict[str, int]
    roots: bool | None = None
    hidden: bool = False


@lru_cache(maxsize=1 << 16)
def _gain(reader: Reader, sort: str, start: int, token: str) -> tuple[int, bool]:
    setting, place = reader.setting, reader.place
    row = reading(setting, sort, place, start)
    other = row.other[alphabet(setting, sort, place).index(token)]
    return log2(other + row.sign) - log2(other), silent(setting, sort, start)


@lru_cache(maxsize=1 << 16)
def _column(reader: Reader, sort: str, token: str, hidden: bool) -> Longs:
    """The weights (C,) of a sign under each condition of the service."""
    index = alphabet(reader.setting, sort, reader.place).index(token)
    return np.ascontiguousarray(sign_matrix(reader, sort, hidden=hidden)[:, index])


@lru_cache(maxsize=1 << 14)
def sign_matrix(reader: Reader, sort: str, *, hidden: bool) -> Longs:
    """The weights (C, A) of all signs of a sort under each condition of a service.

    ``hidden`` as in :func:`~logtriage.world.signs.sign_weights`.
    """
    setting, place = reader.setting, reader.place
    return np.array(
        [
            sign_weights(setting, sort, place, condition, hidden=hidden)
            for condition in reader.conditions
        ],
        np.int64,
    )


@lru_cache(maxsize=4096)
def _roots(reader: Reader) -> Bools:
    """Which conditions (C,) are faults of the service's own."""
    return np.array([is_root(reader.setting.world, condition) for condition in reader.conditions])
