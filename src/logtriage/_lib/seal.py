"""The key of sealed incidents: without it, no truth can be computed from an id.

The key is never shown, only its fingerprint: a keyed hash that tells keys apart and reveals
nothing else. Seeds are a keyed hash in another domain.
"""

from hashlib import blake2b
from typing import Any, Final, NoReturn, Self

from logtriage.errors import SealError
from logtriage.rng import WIDE, WIDE_BITS

#: The environment variable that holds the key.
SEAL_VARIABLE: Final = "LOGTRIAGE_SEAL"
#: Bytes of the shortest key, and of the longest (a longer file is likely a wrong file).
MIN_KEY: Final = 16
MAX_KEY: Final = 1024
# The domains, as BLAKE2b's personalisation.
_KEY, _SEED, _FINGERPRINT = b"logtriage key", b"logtriage seed", b"logtriage print"


class Seal:
    """A secret key, to draw the incidents of split ``sealed`` with.

    It is shown, compared, hashed and pickled by its ``fingerprint`` alone.

    Args:
        key: at least :data:`MIN_KEY` secret bytes; ``logtriage seal new`` makes them.

    Raises:
        SealError: for a key that is too short, too long, or not of bytes.
    """

    __slots__ = ("_digest", "fingerprint")
    _digest: bytes | None
    #: Sixteen hex digits.
    fingerprint: str

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes):
            raise SealError(f"key: expected bytes, got {type(key).__name__}")
        if not MIN_KEY <= len(key) <= MAX_KEY:
            raise SealError(
                f"key: expected {MIN_KEY} to {MAX_KEY} bytes, got {len(key)}; "
                "`logtriage seal new PATH` makes one"
            )
        self._set(blake2b(key, person=_KEY).digest())

    def _set(self, digest: bytes) -> None:
        mark = blake2b(key=digest, digest_size=8, person=_FINGERPRINT).hexdigest()
        object.__setattr__(self, "_digest", digest)
        object.__setattr__(self, "fingerprint", mark)

    def seed(self, incident_id: str) -> int:
        """The seed, of 257 bits, of the sealed incident ``<task>/sealed/<index>``.

        Raises:
            SealError: if the key was left behind in another process.
        """
        if self._digest is None:
            raise SealError(
                f"seal {self.fingerprint}: a pickle does not hold its key; give the key in this "
                "process, too"
            )
        drawn = blake2b(
            incident_id.encode(), key=self._digest, digest_size=WIDE_BITS // 8, person=_SEED
        )
        return WIDE | int.from_bytes(drawn.digest(), "little")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a seal does not change: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a seal does not change: {name}")

    def __repr__(self) -> str:
        return f"<seal {self.fingerprint}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seal) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _without_key, (self.fingerprint,)


def _without_key(fingerprint: str) -> Seal:
    seal = Seal.__new__(Seal)
    object.__setattr__(seal, "_digest", None)
    object.__setattr__(seal, "fingerprint", fingerprint)
    return seal


def _with_key(digest: bytes) -> Seal:
    seal = Seal.__new__(Seal)
    seal._set(digest)
    return seal


def reduce_with_key(seal: Seal) -> tuple[Any, ...]:
    """Pickle a seal with its key, for a pipe to a process of our own and never for a file."""
    digest = seal._digest
    return seal.__reduce__() if digest is None else (_with_key, (digest,))
