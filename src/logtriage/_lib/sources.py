"""The package's sources that kernels and beliefs depend on, and their hash."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

#: Subpackages with kernels, and with code or constants that kernels use, beside the root.
_ROOMS: Final = ("_lib", "beliefs", "drawing", "grading", "vector", "world")
PACKAGE: Final = Path(__file__).parents[1]


def sources(package: Path) -> list[Path]:
    """Every source of the package that a compiled kernel may depend on."""
    rooms = (path for room in _ROOMS for path in (package / room).rglob("*.py"))
    return sorted([*package.glob("*.py"), *rooms])


@lru_cache(maxsize=1)
def digest(package: Path = PACKAGE) -> str:
    """A hash of :func:`sources`."""
    return hash_of(sources(package))


def hash_of(paths: Iterable[Path]) -> str:
    """A hash of the contents of files, in order."""
    mark = blake2b(digest_size=6)
    for path in paths:
        mark.update(path.read_bytes())
    return mark.hexdigest()
