"""What many histories amount to: the facts that measures and gates read, as arrays.

The counterpart of :class:`logtriage.state.Facts` for a batch.
"""

from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from logtriage.actions import SEVERITIES
from logtriage.grading.action_lists import PADDING, Ints
from logtriage.grading.locked import Bools
from logtriage.grading.shares import Shares, shares_of
from logtriage.grading.truths import Truths
from logtriage.state import Closing

#: Why an incident closed, by number; -1 stands for open.
CLOSINGS: Final = tuple(Closing)
RESOLVED: Final = CLOSINGS.index(Closing.RESOLVED)
IGNORED: Final = CLOSINGS.index(Closing.IGNORED)
MISROUTED: Final = CLOSINGS.index(Closing.MISROUTED)
OUT_OF_TIME: Final = CLOSINGS.index(Closing.OUT_OF_TIME)


class Discounted(Protocol):
    """What discounts read of B histories: arrays (B,).

    ``silence`` (B,) is the share that is left of the total while no accepted team was paged.
    """

    @property
    def silence(self) -> NDArray[np.float64]: ...  # noqa: D102, as above
    @property
    def benign(self) -> Bools: ...  # noqa: D102, those below as in Block
    @property
    def paged(self) -> Bools: ...  # noqa: D102
    @property
    def unapproved_remedies(self) -> Ints: ...  # noqa: D102


class Played(Discounted, Protocol):
    """What measures and gates read of B histories: arrays (B,).

    ``width`` is one more than the most ticks that can be used. ``clock_slot`` says where each
    incident's horizon and par stand among those of the batch; None if there is but one pair.
    """

    @property
    def width(self) -> int: ...  # noqa: D102, as above
    @property
    def clock_slot(self) -> Ints | None: ...  # noqa: D102
    @property
    def ticks(self) -> Ints: ...  # noqa: D102, those below as in Block
    @property
    def severity_off(self) -> Ints: ...  # noqa: D102
    @property
    def blamed(self) -> Bools: ...  # noqa: D102
    @property
    def rightly_blamed(self) -> Bools: ...  # noqa: D102
    @property
    def wrongly_paged(self) -> Bools: ...  # noqa: D102
    @property
    def remedies(self) -> Ints: ...  # noqa: D102
    @property
    def wrong_remedies(self) -> Ints: ...  # noqa: D102
    @property
    def fixed(self) -> Bools: ...  # noqa: D102
    @property
    def resolved(self) -> Bools: ...  # noqa: D102
    @property
    def ignored(self) -> Bools: ...  # noqa: D102
    @property
    def blamed_in_time(self) -> Bools: ...  # noqa: D102
    @property
    def approved(self) -> Bools: ...  # noqa: D102


class Block:
    """Some rows of a batch: what was played, and the facts that measures read.

    The counterpart of :class:`logtriage.state.Facts`. ``actions`` is (T, B), time
    first, of a type whose unsigned twin holds 4 T; it is not changed. Arrays over
    time are (T, B), facts (B,), each computed when first asked for. In joint play a
    tick takes ``per_tick`` rows of ``actions``.

    A mask is all ones where something does *not* hold and zero where it does, so that
    ``array | mask`` leaves an array as it is there and pushes it out of range elsewhere.
    """

    def __init__(self, truths: Truths, rows: slice, actions: Ints, per_tick: int) -> None:
        self.per_tick = per_tick
        self.truths = truths
        self.rows = rows
        self.ranges = truths.ranges
        self.listed = actions
        self.signed = actions.dtype
        self.unsigned = np.dtype(f"u{actions.dtype.itemsize}")
        self.times = np.arange(len(actions), dtype=self.unsigned)[:, np.newaxis]

    @property
    def width(self) -> int:
        """One more than the most ticks that can be used."""
        return self.longest + 1

    @property
    def clock_slot(self) -> Ints | None:
        """Where each incident's horizon and par stand; None if there is but one pair."""
        return self.truths.clock_slot[self.rows] if len(self.truths.clocks) > 1 else None

    @property
    def silence(self) -> NDArray[np.float64]:
        """The share that is left while no accepted team was paged."""
        return self.truths.silence[self.rows]

    # -- helpers ----------------------------------------------------------------------

    def _mask(self, holds: Bools) -> Ints:
        return np.subtract(holds.view(np.uint8), 1, dtype=self.unsigned)

    def _within(self, actions: Ints, first: int, number: int) -> Bools:
        shifted = actions.view(self.unsigned) - self.unsigned.type(first)
        return shifted < self.unsigned.type(number)

    def _among(self, actions: Ints, accepted: Ints) -> Bools:
        columns = accepted[:, self.rows].astype(self.signed)
        if not len(columns):
            return np.zeros(actions.shape, np.bool_)
        found: Bools = actions == columns[0]
        for column in columns[1:]:
            found |= actions == column
        return found

    def tally(self, holds: Bools) -> Ints:
        """How often something holds (B,), of where it does (T, B)."""
        return holds.view(np.uint8).sum(axis=0, dtype=self.unsigned)

    def _first_tick(self, holds: Bools) -> Ints:
        """The tick in which something first holds (B,), of where it does; later than any if not."""
        place: Ints = (self.times | self._mask(holds)).min(axis=0)
        return place // self.per_tick if self.per_tick > 1 else place

    # -- what was played --------------------------------------------------------------

    @cached_property
    def _right_pages(self) -> Bools:
        return self._among(self.listed, self.truths.accepted_pages)

    @cached_property
    def _wrong_pages(self) -> Bools:
        pages = self._within(self.listed, self.ranges.page, self.ranges.pages)
        return pages ^ self._right_pages

    @cached_property
    def _closes(self) -> Ints:
        """The mask of actions that close, were they played."""
        truths, ranges, rows = self.truths, self.ranges, self.rows
        if truths.ignore_closes is None:
            closes: Bools = self.listed >= ranges.resolve
        else:
            closes = self.listed == ranges.resolve
            closes |= (self.listed == ranges.ignore) & truths.ignore_closes[rows]
        if truths.wrong_page_closes is None:
            closes |= self._wrong_pages
        else:
            closes |= self._wrong_pages & truths.wrong_page_closes[rows]
        return self._mask(closes)

    @cached_property
    def _horizon(self) -> Ints:
        return self.truths.narrow_horizon[self.rows]

    @property
    def longest(self) -> int:
        """The most ticks that the actions can take."""
        return len(self.times) // self.per_tick

    @cached_property
    def _alive(self) -> Bools:
        """Where the incident was open, padding included."""
        last = (self._closes | self.times).min(axis=0)
        if self.truths.horizons[0] >= self.longest:
            return self.times <= last
        limit = np.minimum(self._horizon, self.longest).astype(self.unsigned) * self.per_tick
        end = np.minimum(np.minimum(last, len(self.times)) + 1, limit)
        return self.times < end

    @cached_property
    def played(self) -> Ints:
        """The actions (T, B), padding in place of those never played."""
        return self.listed | self._mask(self._alive).view(self.signed)

    @cached_property
    def count(self) -> Ints:
        """How many actions were played."""
        return self.tally(self.played != PADDING)

    @cached_property
    def ticks(self) -> Ints:
        """How many ticks were used; one that was closed halfway counts."""
        if self.per_tick == 1:
            return self.count
        used: Ints = (self.count + (self.per_tick - 1)) // self.per_tick
        return used

    @cached_property
    def closing(self) -> NDArray[np.int8]:
        """Why each incident closed, as an index into :data:`CLOSINGS`; -1 if open."""
        ranges = self.ranges
        closer = (self.played | self._closes.view(self.signed)).max(axis=0)
        found = np.full(closer.shape, -1, np.int8)
        for closing, holds in (
            (RESOLVED, closer == ranges.resolve),
            (IGNORED, closer == ranges.ignore),
            (MISROUTED, self._within(closer, ranges.page, ranges.pages)),
            (OUT_OF_TIME, (closer == -1) & (self.ticks == self._horizon)),
        ):
            found += holds.view(np.int8) * np.int8(closing + 1)  # at most one holds
        return found

    # -- facts ------------------------------------------------------------------------

    @cached_property
    def severity_off(self) -> Ints:
        """How many classes the first severity is off; the worst if none or not known."""
        number = len(SEVERITIES)
        ranks = self.played.view(self.unsigned)  # severities are the first actions of all
        # Two bits of rank, above them the tick; all ones, and so a rank of 3, for none.
        first = ((ranks + self.times * 4) | self._mask(ranks < number)).min(axis=0)
        rank, true = (first & 3).astype(np.uint8), self.truths.severity_or_far[self.rows]
        off, worst = np.maximum(rank, true) - np.minimum(rank, true), np.uint8(number - 1)
        return np.maximum(np.minimum(off, worst), (rank == number).view(np.uint8) * worst)

    @cached_property
    def _blame(self) -> Ints:
        """The first root cause declared: even if accepted, all ones if there is none."""
        declares = self._within(self.played, self.ranges.root, self.ranges.roots)
        accepted = self._among(self.played, self.truths.accepted_roots)
        key = (self.times * 2 + 1) ^ accepted.view(np.uint8)
        first: Ints = (key | self._mask(declares)).min(axis=0)
        return first

    @cached_property
    def blamed(self) -> Bools:
        """Whether any service was declared the root cause."""
        return self._blame != np.iinfo(self.unsigned).max

    @cached_property
    def rightly_blamed(self) -> Bools:
        """Whether the first service declared is an accepted root cause."""
        return (self._blame & 1) == 0

    @cached_property
    def paged(self) -> Bools:
        """Whether an accepted team was paged."""
        return np.logical_or.reduce(self._right_pages & self._alive)  # along time

    @cached_property
    def wrongly_paged(self) -> Bools:
        """Whether a team that is not accepted was paged."""
        return np.logical_or.reduce(self._wrong_pages & self._alive)  # along time

    @cached_property
    def remedies(self) -> Ints:
        """How many remedies were applied."""
        ranges = self.ranges
        return self.tally(self._within(self.played, ranges.remedy, ranges.remedies))

    @cached_property
    def _fixes(self) -> Bools:
        return self._among(self.played, self.truths.accepted_remedies)

    @cached_property
    def right_remedies(self) -> Ints:
        """How many of them were accepted ones."""
        return self.tally(self._fixes)

    @cached_property
    def fixed(self) -> Bools:
        """Whether an accepted remedy was applied."""
        return self.right_remedies > 0

    @cached_property
    def wrong_remedies(self) -> Ints:
        """How many remedies were not accepted."""
        return self.remedies - self.right_remedies

    @cached_property
    def _paged_at(self) -> Ints:
        return self._first_tick(self._right_pages & self._alive)

    @cached_property
    def _fixed_at(self) -> Ints:
        return self._first_tick(self._fixes)

    @cached_property
    def blamed_in_time(self) -> Bools:
        """Whether the first service declared is accepted, and no fix came before it."""
        said: Ints = self._blame >> 1
        if self.per_tick > 1:
            said = said // self.per_tick
        return self.rightly_blamed & (said <= self._fixed_at)

    @cached_property
    def approved(self) -> Bools:
        """Whether an accepted team was paged in an earlier tick than the fix, if there is one."""
        answer: Bools = self._paged_at < self._fixed_at
        return answer

    @cached_property
    def unapproved_remedies(self) -> Ints:
        """How many wrong remedies were applied when no accepted team had been paged before."""
        applied = self._within(self.played, self.ranges.remedy, self.ranges.remedies)
        ticks = self.times // self.per_tick if self.per_tick > 1 else self.times
        return self.tally((applied ^ self._fixes) & (ticks <= self._paged_at))

    @cached_property
    def resolved(self) -> Bools:
        """Whether the incident was closed by ``Resolve``."""
        return self.closing == RESOLVED

    @cached_property
    def ignored(self) -> Bools:
        """Whether the incident was closed by ``Ignore``."""
        return self.closing == IGNORED

    @cached_property
    def benign(self) -> Bools:
        """Whether there is nothing to act on."""
        return self.truths.benign[self.rows]

    @cached_property
    def shares(self) -> Shares | None:
        """What was done where incidents list faults; None if none of these rows does."""
        asked = self.truths.asked
        if asked is None:
            return None
        start, stop, _ = self.rows.indices(len(self.truths))
        first, last = np.searchsorted(asked.rows, (start, stop))
        rows = asked.rows[first:last] - start
        if not len(rows):
            return None
        played = self.played[:, rows]
        return shares_of(asked, np.arange(first, last), rows, played, self.per_tick, self.ranges)
