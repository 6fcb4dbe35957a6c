"""What was seen of histories (:mod:`logtriage.world.histories`), and how likely conditions make it.

An *outcome* is all that was seen of one history while a condition lasted: the last instant at which
it was still usual, its token and the first instant at which that was seen; for a half of a trace
also when its alert was quiet and when it fired. Evidence may narrow an outcome in any order.
The likelihood of an outcome is a sum over the histories, and the rules of alerts, that fit it.

A remedy that changes a condition begins a new history. *Segments* are the ticks between remedies. A
*run* of segments in which a service keeps its condition has one history of each sort.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import attrs
import numpy as np

from logtriage.beliefs.fixedpoint import NEVER as LOG_OF_0
from logtriage.beliefs.fixedpoint import ONE, Longs, log2s
from logtriage.beliefs.model import NONE, UNFIXED, Bools, Listed, Reader, shared_reader
from logtriage.world.channels import DOWN, Channel, Evidence, about, named_service
from logtriage.world.histories import (
    NEVER,
    Part,
    blinded,
    coincidences,
    fires_from,
    instant_of,
    lasting,
    onsets,
    part_of,
    rule_weights,
    sign_weights,
)
from logtriage.world.setting import FULL
from logtriage.world.tables import alphabet

#: Masses of histories have 32 bits, weights of rules 20 more.
RULE_BITS: Final = 20
MASS_BITS: Final = 32 + RULE_BITS


class Outcome(NamedTuple):
    """What was seen of a history, in instants.

    ``after`` is the last instant at which it was usual (-1: none), ``token`` its token (empty: none
    seen) and ``until`` the first instant at which that was seen. ``quiet`` and ``fired`` are the
    last instant without its alert (-1: none) and the first with it (``NEVER``: none). ``torn``: it
    showed two tokens. ``begin`` is the first tick of its segment, 0 for the first segment.
    """

    after: int = -1
    token: str = ""
    until: int = NEVER
    quiet: int = -1
    fired: int = NEVER
    torn: bool = False
    begin: int = 0

    @property
    def is_seen(self) -> bool:
        """Whether anything was seen of the history."""
        return self[:6] != UNSEEN[:6]  # all but ``begin``

    def read(self, instant: int, token: str) -> "Outcome":
        """The outcome after a token was read at an instant; "" stands for the ordinary token."""
        if not token:
            return self if self.after >= instant else Outcome(instant, *self[1:])
        if token == self.token and self.until <= instant:
            return self
        torn = self.torn or (self.token not in ("", token))
        return self._replace(token=token, until=min(self.until, instant), torn=torn)

    def heard(self, instant: int, fires: bool) -> "Outcome":
        """The outcome after the alert was seen at an instant, firing or quiet."""
        if fires:
            return self if self.fired <= instant else self._replace(fired=instant)
        return self if self.quiet >= instant else self._replace(quiet=instant)

    def to(self, reader: Reader) -> "Outcome":
        """The outcome for the reader's :func:`shared_reader`, which numbers the callees."""
        service = named_service(self.token)
        if service is None:
            return self
        name, _, _ = self.token.partition(":")
        return self._replace(token=about(name, reader.place.calls.index(service)))

    def then(self, other: "Outcome") -> "Outcome":
        """This outcome joined with that of a later segment of the same run."""
        token = self.token or other.token
        return Outcome(
            after=max(self.after, other.after),
            token=token,
            until=min(self.until, other.until),
            quiet=max(self.quiet, other.quiet),
            fired=min(self.fired, other.fired),
            torn=self.torn or other.torn or other.token not in ("", token),
            begin=self.begin,
        )


#: Nothing was seen.
UNSEEN: Final = Outcome()


@attrs.frozen(eq=False)
class Outcomes:
    """What was seen of the services' histories, by service and sort, and by segment.

    ``down`` has whether each (service, channel) that was asked is down, ``edge`` the panels of the
    edge, ``breaks`` the ticks of remedies. ``count`` is the number of cells read.
    """

    listed: Listed
    breaks: tuple[int, ...]
    seen: dict[tuple[int, str], dict[int, Outcome]]
    down: dict[tuple[int, Channel], bool]
    edge: Sequence[Evidence]
    count: int
    _tables: dict[tuple[int, int], Longs] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(
        cls,
        listed: Listed,
        breaks: Sequence[int],
        cells: Sequence[Evidence],
        edge: Sequence[Evidence],
        before: "Outcomes | None" = None,
    ) -> "Outcomes":
        """What cells of services tell; ``breaks`` are the ticks of remedies, in order.

        ``before`` is what the first of these cells told: only the others are read.
        """
        seen: dict[tuple[int, str], dict[int, Outcome]] = {}
        down: dict[tuple[int, Channel], bool] = {}
        new = cells
        if before is not None:
            seen, down, new = before.seen.copy(), before.down.copy(), cells[before.count :]
        world = listed.model.world
        ordinary, quiet, sort_of = world.ordinary, world.tokens.alert.ordinary, world.sort_of
        fresh: set[tuple[int, str]] = set()
        for channel, service, slot, start, token in new:
            part = blinded(channel)
            if part is not None:
                down[service, part] = token == DOWN
                if token == DOWN:
                    continue
            sort = sort_of(channel, slot)
            key = service, sort
            if key not in fresh:
                fresh.add(key)
                seen[key] = seen[key].copy() if key in seen else {}  # ``before`` stays as it is
            # No remedy takes a change back, so a change belongs to the first segment.
            segment = bisect_left(breaks, start) if breaks and channel is not Channel.CHANGE else 0
            rows = seen[key]
            outcome = rows.get(segment)
            if outcome is None:
                outcome = UNSEEN._replace(begin=breaks[segment - 1] + 1) if segment else UNSEEN
            instant = instant_of(start)
            if channel is Channel.ALERT:
                rows[segment] = outcome.heard(instant, token != quiet)
            else:
                rows[segment] = outcome.read(instant, "" if token == ordinary[sort] else token)
        made = cls(listed, tuple(breaks), seen, down, edge, len(cells))
        # In tables of the same runs, only what was told of anew changes.
        if before is not None and (before.listed, before.breaks) == (listed, made.breaks):
            for run, table in before._tables.items():
                made._tables[run] = table.copy()
                before._add(made._tables[run], run, fresh, sign=-1)
                made._add(made._tables[run], run, fresh)
        return made

    # --- likelihoods -------------------------------------------------------------------

    @property
    def last(self) -> int:
        """The number of the last segment."""
        return len(self.breaks)

    def outcome(self, service: int, sort: str, first: int, last: int) -> Outcome:
        """What was seen of a service's history of a sort in a run of segments."""
        by_segment = self.seen.get((service, sort))
        outcome = UNSEEN._replace(begin=self.breaks[first - 1] + 1) if first else UNSEEN
        if by_segment is None:
            return outcome
        if first in by_segment:
            outcome = by_segment[first]
        for segment in range(first + 1, last + 1):
            if segment in by_segment:
                outcome = outcome.then(by_segment[segment])
        return outcome

    def table(self, first: int, last: int) -> Longs:
        """The log-likelihoods (n, C) of each service's C conditions in a run of segments.

        They rest on what was seen of the service in segments ``first`` to ``last``.
        """
        known = self._tables.get((first, last))
        if known is None:
            known = np.zeros((len(self.listed.readers), self.listed.widest), np.int64)
            self._add(known, (first, last), self.seen)
            self._tables[first, last] = known
        known.setflags(write=False)
        return known

    def _add(
        self, table: Longs, run: tuple[int, int], keys: Iterable[tuple[int, str]], sign: int = 1
    ) -> None:
        """Add the log-likelihoods of some histories (service, sort) to ``table``, times ``sign``.

        ``run`` is (first segment, last segment).
        """
        for service, sort in keys:
            outcome = self.outcome(service, sort, *run)
            if outcome.is_seen:
                column = likelihoods(self.listed.readers[service], sort, outcome)
                table[service, : len(column)] += sign * column

    def shown(self, aloof: Longs, fixed: Longs) -> Longs:
        """The log-likelihoods of what reached services showed, in the order of ``Listed.flat``.

        ``aloof`` (n,), the log-likelihood of each service out of reach, is subtracted. ``fixed``
        (H, K) is the last segment before the fix of each fault, or ``UNFIXED``.
        """
        listed = self.listed
        flat, begins = listed.flat
        shown: Longs = (self.table(0, self.last) - aloof[:, np.newaxis]).ravel()[flat]
        changed = (fixed != UNFIXED).any(axis=1)
        if not changed.any():
            return shown
        rows = np.flatnonzero(changed)
        when = fixed[rows]
        segments = range(self.last + 1)
        # The condition of each service in each segment (segments, rows, n).
        places = np.stack([listed.left(rows, (when != UNFIXED) & (when < s)) for s in segments])
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

    def _runs(self, places: Longs) -> Iterator[tuple[int, int]]:
        """All runs (first, last) of segments; they begin and end where any condition changes."""
        moved = [0, *(n for n in range(1, len(places)) if (places[n] != places[n - 1]).any())]
        for number, first in enumerate(moved):
            for after in (*moved[number + 1 :], len(places)):
                yield first, after - 1

    @staticmethod
    def _is_run(places: Longs, first: int, last: int) -> Bools:
        """Where a condition holds from segment ``first`` to ``last``, but not next to them."""
        alike: Bools = (places[first : last + 1] == places[first]).all(axis=0)
        if first:
            alike &= places[first - 1] != places[first]
        if last + 1 < len(places):
            alike &= places[last + 1] != places[first]
        return alike


# --- tables ----------------------------------------------------------------------------


@lru_cache(maxsize=1 << 16)
def likelihoods(reader: Reader, sort: str, outcome: Outcome) -> Longs:
    """The log-likelihoods (C,) of an outcome under each of a service's C conditions."""
    general, places = shared_reader(reader, (sort,))
    column: Longs = _likelihoods(general, sort, outcome.to(reader))[places]
    column.setflags(write=False)
    return column


@lru_cache(maxsize=1 << 16)
def _likelihoods(reader: Reader, sort: str, outcome: Outcome) -> Longs:
    """:func:`likelihoods` of a shared reader."""
    sums = fitting(reader, sort, outcome).sum(axis=(1, 2))
    logs = np.where(sums > 0, log2s(sums) - MASS_BITS * ONE, LOG_OF_0)
    logs.setflags(write=False)
    return logs


def fitting(reader: Reader, sort: str, outcome: Outcome) -> Longs:
    """The masses (C, A, I) of the histories of a sort that fit an outcome, in units of 2**-52.

    Axes are C conditions, A tokens and I onsets; the ordinary token's masses are at onset 0. In a
    later segment a token shows at once: all masses are at onset 0.
    """
    is_later, after = outcome.begin > 0, outcome.after
    masses = _segment_masses(reader, sort) if is_later else masses_of(reader, sort)
    fits = np.zeros(masses.shape[1:], np.bool_)
    onset = np.arange(masses.shape[2])
    if outcome.torn or (is_later and outcome.token and after >= 0):
        return np.zeros_like(masses)
    if outcome.token:
        index = alphabet(reader.setting, sort, reader.place).index(outcome.token)
        fits[index] = is_later or (after < onset) & (onset <= outcome.until)
    else:
        fits[0, 0] = True
        fits[1:] = after < 0 if is_later else after < onset
    return masses * fits * _rules(reader, masses.shape[1:], outcome)


def _rules(reader: Reader, shape: tuple[int, ...], outcome: Outcome) -> Longs:
    """The weights (C, A, I) of the alert rules under which each history fits an outcome."""
    quiet, fired = outcome.quiet, outcome.fired
    if quiet < 0 and fired == NEVER:
        return np.full((1, 1, 1), 1 << RULE_BITS, np.int64)
    setting = reader.setting
    (_, works), (_, misses), (_, noisy) = rule_weights(setting.world)
    by_chance = onsets(setting, Part.ANY)
    chance = sum(w for onset, w in enumerate(by_chance) if quiet < onset <= fired)
    finer = (1 << RULE_BITS) // FULL
    unrelated = (misses * finer if fired == NEVER else 0) + noisy * chance * finer // FULL
    begins = (instant_of(outcome.begin),) if outcome.begin else tuple(range(shape[1]))
    fires = np.full((len(reader.conditions), *shape), NEVER, np.int64)
    fires[:, 1:] = _fires(reader, begins)[:, np.newaxis]
    return works * finer * ((quiet < fires) & (fires <= fired)) + unrelated


@lru_cache(maxsize=4096)
def _fires(reader: Reader, begins: tuple[int, ...]) -> Longs:
    """The instants (C, I) from which an alert whose rule works fires, for onsets ``begins``."""
    rows = reader.conditions
    return np.array([[fires_from(reader.setting, row, onset) for onset in begins] for row in rows])


@lru_cache(maxsize=1 << 14)
def masses_of(reader: Reader, sort: str) -> Longs:
    """Masses (C, A, I) of a service's histories by condition, token and onset, each below 2**32."""
    setting, place = reader.setting, reader.place
    fog = setting.fog_weight
    by_chance = np.outer(
        np.array(coincidences(setting, sort, place), np.int64),
        np.array(onsets(setting, Part.ANY), np.int64),
    )
    signs = [sign_weights(setting, sort, place, condition) for condition in reader.conditions]
    begins = [onsets(setting, part_of(setting, sort, each)) for each in reader.conditions]
    masses: Longs = np.array(signs)[:, :, np.newaxis] * np.array(begins)[:, np.newaxis]
    masses = ((FULL - fog) * masses + fog * by_chance) // FULL
    ordinary = masses[:, 0].sum(axis=1)
    masses[:, 0] = 0
    masses[:, 0, 0] = ordinary  # usual from any onset: one history
    masses.setflags(write=False)
    return masses


@lru_cache(maxsize=1 << 14)
def _segment_masses(reader: Reader, sort: str) -> Longs:
    """The masses (C, A, 1) below 2**32 of the tokens of a segment that a remedy began."""
    setting, place = reader.setting, reader.place
    rows = [lasting(setting, sort, place, condition) for condition in reader.conditions]
    masses = np.array(rows, np.int64)[:, :, np.newaxis] * FULL
    masses.setflags(write=False)
    return masses
