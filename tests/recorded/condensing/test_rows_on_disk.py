"""Rows on disk: the same as a scan of all rows, whatever the stretches."""

import pytest

from logtriage.recorded.condensing.raw_rows import Call, ChangeRow, LogRow, Rows, Sample, Usage
from logtriage.recorded.condensing.rows_on_disk import CHANGES_MS, RowStore
from logtriage.rng import hash_name


def _row(seed: int, number: int) -> LogRow | Call | Usage | Sample:
    lot = hash_name(f"{seed} {number}")
    at, kind = lot % 1000, lot // 1000 % 4
    if kind == 0:
        return LogRow(at, "a", "INFO", f"m{at}", "e", "t")
    if kind == 1:
        return Call(at, None, "a", at, None, "t", at if at % 2 else None)
    return Usage(at, "a", None, at) if kind == 2 else Sample(at, "b", "queue_milli", -at)


@pytest.mark.parametrize("seed", range(5))
def test_a_store_answers_as_a_scan_does(seed: int) -> None:
    rows = [_row(seed, number) for number in range(6000)]
    stretches = [(at, at + 1 + 37 * seed) for at in (10, 60, 300, 310, 900)]
    every = Rows(
        logs=tuple(one for one in rows if isinstance(one, LogRow)),
        calls=tuple(one for one in rows if isinstance(one, Call)),
        usage=tuple(one for one in rows if isinstance(one, Usage)),
        samples=tuple(one for one in rows if isinstance(one, Sample)),
    )
    with RowStore(stretches) as store:
        for row in rows:
            store.add(row)
        assert store.offered.total() == len(rows)
        for since, until in stretches:
            assert store.between(since, until) == every.between(since, until)
        # Outside of the stretches nothing is kept.
        assert store.between(0, 10) == Rows()


def test_changes_of_the_day_before_are_kept() -> None:
    day = 2 * CHANGES_MS
    rows = [ChangeRow(at, "a", "rollout", "1.2", at) for at in (0, day - CHANGES_MS, day + 1)]
    rows.append(ChangeRow(0, "a", "BackOff", "again", day + 20, 900))
    with RowStore([(day, day + 10)]) as store:
        assert [store.add(row) for row in rows] == [False, True, True, True]
        assert store.between(day, day + 10).changes == tuple(rows[1:])
