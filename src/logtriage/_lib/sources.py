"""The sources of the package that facts come from, and their hash."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

#: Rooms of kernels and of the sources that they take facts from, besides the package's root.
_ROOMS: Final = ("_lib", "beliefs", "drawing", "grading", "vector", "world")
PACKAGE: Final = Path(__file__).parents[1]


def sources(package: Path) -> list[Path]:
    """Every source of the package that a kernel may have taken a fact from."""
    rooms = (path for room in _ROOMS for path in (package / room).rglob("*.py"))
    return sorted([*package.glob("*.py"), *rooms])


@lru_cache(maxsize=1)
def digest(package: Path = PACKAGE) -> str:
    """A hash of these sources."""
    return hash_of(sources(package))


def hash_of(paths: Iterable[Path]) -> str:
    """A hash of some files."""
    mark = blake2b(digest_size=6)
    for path in paths:
        mark.update(path.read_bytes())
    return mark.hexdigest()
