"""Find the key of sealed incidents in a file or the environment, for ids from outside."""

import os
import secrets
from os import PathLike
from pathlib import Path
from typing import Final

from logtriage._lib.files import open_here
from logtriage._lib.seal import MAX_KEY, SEAL_VARIABLE, Seal
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import SEALED, is_sealed
from logtriage.errors import SealError
from logtriage.incident import Incident
from logtriage.world.loading import WorldLike

#: Random bytes of a new key, which is written as twice as many hex digits.
_NEW_KEY: Final = 32
HOW: Final = f"set {SEAL_VARIABLE}, or give --seal-file PATH (in Python, seal=Seal(key))"


def _seal(source: str, key: bytes) -> Seal:
    """The seal of a key; a SealError names the source of the key."""
    try:
        return Seal(key.strip())
    except SealError as error:
        raise SealError(f"{source}: {error}") from None


def seal_of_environment() -> Seal | None:
    """The seal of the key in ``LOGTRIAGE_SEAL``; None if unset, SealError if that is no key."""
    key = os.environ.get(SEAL_VARIABLE)
    if not key:
        return None
    if os.path.isfile(key):  # noqa: PTH113 - Path.is_file raises, and the error shows the key
        raise SealError(
            f"{SEAL_VARIABLE}: holds the name of a file, but must hold the key itself; "
            "use --seal-file for a file"
        )
    return _seal(SEAL_VARIABLE, os.fsencode(key))


def read_seal(path: str | PathLike[str]) -> Seal:
    """The seal whose key is in a file; a SealError names a file without one."""
    with Path(path).open("rb") as file:
        return _seal(str(path), file.read(MAX_KEY + 1))


def new_seal(path: str | PathLike[str]) -> Seal:
    """Write a new random key to a new file that nobody else may read (mode 0600)."""
    key = secrets.token_hex(_NEW_KEY).encode()
    descriptor = open_here(Path(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key + b"\n")
    return Seal(key)


def seal_at_hand(path: str | PathLike[str] | None = None) -> Seal | None:
    """The seal in the file ``path``; for None that of the environment, or None if it has none."""
    return seal_of_environment() if path is None else read_seal(path)


def seal_for(split: str, own: Seal | None = None) -> Seal | None:
    """``own`` or the environment's seal for split ``sealed`` (SealError if neither); else None."""
    if split != SEALED:
        return None
    seal = seal_of_environment() if own is None else own
    if seal is None:
        raise SealError(f"split {SEALED!r}: its incidents are drawn with a secret key; {HOW}")
    return seal


def seal_of_run(fingerprint: str | None, own: Seal | None, where: str) -> Seal | None:
    """The seal of a record's ``fingerprint``, None without one; SealError names ``where``."""
    if fingerprint is None:
        return None
    seal = seal_of_environment() if own is None else own
    if seal is None:
        raise SealError(f"{where}: sealed by {fingerprint!r:.40}; {HOW}")
    if seal.fingerprint != fingerprint:
        raise SealError(
            f"{where}: sealed by {fingerprint!r:.40}, and the seal given here is "
            f"{seal.fingerprint!r}; nothing is graded by another key"
        )
    return seal


def incident_of(
    incident_id: str, seal: Seal | None = None, world: WorldLike | None = None
) -> Incident:
    """:func:`make_incident`; a sealed incident needs ``seal`` or the seal of the environment."""
    if seal is None and is_sealed(incident_id):
        seal = seal_of_environment()
    return make_incident(incident_id, seal=seal, world=world)
