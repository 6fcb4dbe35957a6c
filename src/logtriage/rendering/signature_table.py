"""The signature table as people read it: by condition and sort of cell, all shares."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from logtriage.world.signatures import (
    AFFECTED,
    BACKGROUND,
    BENIGN,
    DISTRACTIONS,
    HEALTHY,
    HEALTHY_SIGNATURE,
    KINDS,
    ORDINARY,
    Signature,
)

#: Every signature, in groups with a heading.
GROUPS: Final[Mapping[str, Mapping[str, Signature]]] = MappingProxyType(
    {
        "roots and minor faults": KINDS,
        "affected by a root": AFFECTED,
        "benign": BENIGN,
        "unaffected": {HEALTHY: HEALTHY_SIGNATURE, **DISTRACTIONS},
        "fog": {"background": BACKGROUND},
    }
)


def shares_of(signature: Signature) -> Iterator[tuple[str, dict[str, int]]]:
    """The shares of every token by sort, per cent; the ordinary one last, with the rest.

    Sorts of which a signature says nothing of its own are left out.
    """
    for sort, ordinary in ORDINARY.items():
        shares = dict(signature.get(sort, {}))
        if shares:
            shares[ordinary] = 100 - sum(shares.values())
            yield sort, shares


def told_shares(shares: Mapping[str, int]) -> str:
    """Shares in words, such as ``errors 60, latency 15, none 25``."""
    return ", ".join(f"{token.replace('_', ' ')} {share}" for token, share in shares.items())
