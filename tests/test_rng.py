"""Counter-based draws: known values, and independence from order and neighbours."""

import pytest

from logtriage.rng import (
    MASK,
    WIDE,
    WIDE_BITS,
    Stream,
    below,
    between,
    draw,
    hash_name,
    mix,
    subkey,
    weighted,
)

# SplitMix64 as published (Steele, Lea, Flood 2014): a generator seeded with 1234567
# yields these; its n-th output is the finaliser at seed + n * golden gamma.
SPLITMIX64 = (6457827717110365317, 3203168211198807973, 9817491932198370423)


def test_draws_are_splitmix64() -> None:
    assert tuple(draw(1234567, n) for n in (1, 2, 3)) == SPLITMIX64


def test_mix_is_the_finaliser_at_zero_counters() -> None:
    assert draw(987654321) == mix(987654321)


def test_names_hash_alike_everywhere() -> None:
    # BLAKE2b, digest of 8 bytes, little endian; not Python's salted hash.
    assert hash_name("") == int.from_bytes(bytes.fromhex("e4a6a0577479b2b4"), "little")
    assert hash_name("window") != hash_name("window ")


def test_streams_of_one_seed_and_of_neighbours_share_nothing() -> None:
    streams = [hash_name(name) for name in ("truth", "window", "service")]
    keys = [subkey(seed, stream) for seed in range(200) for stream in streams]
    drawn = [draw(key, n) for key in keys for n in range(5)]
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize(
    ("bits", "n", "expected"), [(0, 10, 0), (MASK, 10, 9), (1 << 63, 10, 5), (MASK, 1, 0)]
)
def test_below_maps_the_top_bits(bits: int, n: int, expected: int) -> None:
    assert below(bits, n) == expected


@pytest.mark.parametrize(
    ("bits", "low", "high", "expected"),
    [(0, -3, 3, -3), (MASK, -3, 3, 3), (1 << 63, 0, 9, 5), (MASK, 4, 4, 4)],
)
def test_between_includes_both_ends(bits: int, low: int, high: int, expected: int) -> None:
    assert between(bits, low, high) == expected


def test_chance_and_weights_follow_their_shares() -> None:
    stream, many = Stream(1, hash_name("shares")), range(8_000)
    assert not any(stream.chance(0) for _ in many)
    assert all(stream.chance(1000) for _ in many)
    assert 1_840 <= sum(stream.chance(250) for _ in many) <= 2_160  # 2,000, sigma 39
    picks = [weighted(stream.bits(), (1, 0, 3)) for _ in many]
    assert set(picks) == {0, 2}
    assert 1_840 <= picks.count(0) <= 2_160


def test_a_wide_seed_gives_wide_keys_and_every_bit_of_them_counts() -> None:
    seed, stream = WIDE | 12345, hash_name("truth")
    key = subkey(seed, stream)
    assert key.bit_length() == subkey(key, stream).bit_length() == WIDE_BITS + 1
    assert 0 <= draw(key, 3, 4) <= MASK
    others = [key ^ 1 << bit for bit in range(WIDE_BITS)]
    assert len({draw(one, 3, 4) for one in (key, *others)}) == WIDE_BITS + 1
    seeds = [seed ^ 1 << bit for bit in range(WIDE_BITS)]
    assert len({subkey(one, stream) & MASK for one in (seed, *seeds)}) == WIDE_BITS + 1


def test_draws_of_a_wide_key_differ_by_both_counters() -> None:
    key = subkey(WIDE | 7, hash_name("truth"))
    forth = [draw(key, a, b) for a in range(30) for b in range(30)]
    back = [draw(key, a, b) for a in reversed(range(30)) for b in reversed(range(30))]
    assert forth == back[::-1]
    assert len(set(forth)) == 900
    counts = [0] * 7
    for n in range(14_000):
        counts[below(draw(key, n), 7)] += 1
    assert all(1_850 <= count <= 2_150 for count in counts)  # 2,000, sigma 41
