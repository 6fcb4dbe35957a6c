"""What was recorded and what was not."""

from logtriage.recorded.condensing.coverage import Coverage


def test_a_long_silence_is_a_gap_and_a_short_one_is_not() -> None:
    covered = Coverage.of([70_000, 0, 30_000, 100_500])
    assert covered.stretches == ((0, 30_000), (70_000, 70_000), (100_500, 100_500))
    assert Coverage.of([0, 30_000, 60_000]).stretches == ((0, 60_000),)


def test_overlap_length_and_membership() -> None:
    covered = Coverage(((0, 10), (50, 70)))
    assert covered.length == 30
    assert covered.overlap(5, 60) == 15
    assert covered.overlap(10, 50) == 0
    assert [at in covered for at in (0, 10, 11, 49, 70, 71)] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]
    assert covered.until == 70


def test_nothing_recorded() -> None:
    nothing = Coverage.of([])
    assert nothing.length == nothing.overlap(0, 100) == 0
    assert nothing.until is None
    assert 0 not in nothing
