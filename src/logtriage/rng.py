"""Counter-based random numbers: a draw is a function of its coordinates.

``draw(key, a, b)`` is the SplitMix64 finaliser [1]_ applied to a Weyl-style combination of a
64-bit key and two counters, in Python's integers or NumPy's ``uint64``. Keys come from
:func:`subkey`, one for each named stream: streams share nothing.

Public ids have seeds of 64 bits, which give keys of 64 bits. Sealed incidents have wider seeds,
which give keys of :data:`WIDE_BITS` bits. Draws under a wide key are a keyed hash, so no search
over 64 bits finds the key from draws that everybody sees.

.. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
   generators", OOPSLA 2014, doi:10.1145/2660193.2660195 (the variant "Mix13").
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from struct import Struct
from typing import Final

MASK: Final = (1 << 64) - 1
#: Bits of a wide seed or key, and the bit above them, which is always set in it.
WIDE_BITS: Final = 256
WIDE: Final = 1 << WIDE_BITS
#: Odd multipliers that spread the two counters; the first is 2**64 / golden ratio.
GAMMA_A: Final = 0x9E3779B97F4A7C15
GAMMA_B: Final = 0xD1342543DE82EF95
MIX_1: Final = 0xBF58476D1CE4E5B9
MIX_2: Final = 0x94D049BB133111EB


@lru_cache(maxsize=8192)
def hash_name(name: str) -> int:
    """A stable 64-bit integer for a string (BLAKE2b, not Python's salted hash)."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


def mix(value: int) -> int:
    """Scramble a 64-bit integer; a bijection on ``range(2**64)``."""
    value = ((value ^ (value >> 30)) * MIX_1) & MASK
    value = ((value ^ (value >> 27)) * MIX_2) & MASK
    return value ^ (value >> 31)


def subkey(seed: int, stream: int) -> int:
    """The key of one stream of a seed, as wide as the seed; ``stream`` is from :func:`hash_name`.

    For a wide seed it is a keyed hash: the key reveals neither the seed nor another key.
    """
    if seed > MASK:
        return WIDE | _keyed(seed, stream, 0, WIDE_BITS // 8, b"logtriage stream")
    return mix((seed + _mixed(stream)) & MASK)


#: :func:`mix` with a cache, for the few streams: names of this package, and small numbers.
_mixed: Final = lru_cache(maxsize=4096)(mix)


def draw(key: int, a: int = 0, b: int = 0) -> int:
    """Sixty-four random bits for the counters ``(a, b)`` of a stream."""
    if key > MASK:
        return _keyed(key, a, b, 8, b"logtriage draw")
    value = (key + a * GAMMA_A + b * GAMMA_B) & MASK  # then mix, without the cost of a call
    value = ((value ^ (value >> 30)) * MIX_1) & MASK
    value = ((value ^ (value >> 27)) * MIX_2) & MASK
    return value ^ (value >> 31)


@lru_cache(maxsize=256)
def _lanes(count: int) -> tuple[Struct, int, int, int]:
    """A layout of ``count`` lanes of 128 bits in one integer, and three integers of that layout.

    64-bit products stay within their lane. Lane n of the three has 64 ones; 1; ``n * GAMMA_B``.
    """
    form = Struct("<" + count * "Q8x")
    step = [n * GAMMA_B & MASK for n in range(count)]
    lanes = ([MASK] * count, [1] * count, step)
    masks, ones, steps = (int.from_bytes(form.pack(*row), "little") for row in lanes)
    return form, masks, ones, steps


def draws(key: int, first: Sequence[int], second: int = 0, step: int = 0) -> Sequence[int]:
    """:func:`draw` for many counters at once: lanes of one integer are faster than a loop.

    The n-th draw has the counters ``(first[n], second + n * step)``; ``step`` is 0 or 1.
    """
    if key > MASK:
        return [draw(key, a, second + n * step) for n, a in enumerate(first)]
    form, masks, ones, steps = _lanes(len(first))
    value = int.from_bytes(form.pack(*first), "little") * GAMMA_A
    value += (key + second * GAMMA_B & MASK) * ones
    value = (value + steps if step else value) & masks
    value = (value ^ (value >> 30 & masks)) * MIX_1 & masks
    value = (value ^ (value >> 27 & masks)) * MIX_2 & masks
    return form.unpack(((value ^ value >> 31) & masks).to_bytes(form.size, "little"))


def _keyed(key: int, a: int, b: int, size: int, domain: bytes) -> int:
    """A hash of two counters of 64 bits, ``size`` bytes long, under a wide key."""
    counters = (a & MASK | (b & MASK) << 64).to_bytes(16, "little")
    secret = key.to_bytes((key.bit_length() + 7) // 8, "little")
    drawn = blake2b(counters, key=secret, digest_size=size, person=domain)
    return int.from_bytes(drawn.digest(), "little")


def below(bits: int, n: int) -> int:
    """Map the top 32 of 64 random bits to ``range(n)`` (``n`` up to 2**16: bias < 2**-16)."""
    return ((bits >> 32) * n) >> 32


def between(bits: int, low: int, high: int) -> int:
    """Map 64 random bits to an integer in ``[low, high]``, both ends included."""
    return low + (((bits >> 32) * (high - low + 1)) >> 32)


def weighted(bits: int, weights: Sequence[int]) -> int:
    """Map 64 random bits to an index, in proportion to integer ``weights``."""
    return bisect_right(tuple(accumulate(weights)), below(bits, sum(weights)))


class Stream:
    """Successive draws of one stream, for code that does not know how many it needs."""

    __slots__ = ("_count", "_key")

    def __init__(self, seed: int, stream: int) -> None:
        self._key = subkey(seed, stream)
        self._count = 0

    def bits(self) -> int:
        """The next 64 random bits."""
        self._count += 1
        return draw(self._key, self._count)

    def below(self, n: int) -> int:
        """The next integer in ``range(n)``."""
        return below(self.bits(), n)

    def chance(self, permille: int) -> bool:
        """True in ``permille`` of 1,000 cases."""
        return below(self.bits(), 1000) < permille
