"""How kernels are compiled: when first called, without the interpreter's lock, and cached.

Numba takes a cached kernel for fresh as long as the one file that it stands in is. But a
kernel holds constants and functions of many files. So its name carries a digest of them
all, and a kernel of other sources is never found.
"""

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

#: ``_nrt`` is Numba's own memory management. Kernels allocate nothing, and counting the
#: references to some forty arrays at every call took ten times as long as all the rest.
_OPTIONS: Final[dict[str, Any]] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "_nrt": False,
}


#: Where kernels, and what they take facts from, are kept; besides the root of the package.
_ROOMS: Final = ("belief", "grading", "vector", "world")


@lru_cache(maxsize=1)
def _digest() -> str:
    """Of every source that a kernel may have taken a fact from."""
    package = Path(__file__).parent
    rooms = (path for room in _ROOMS for path in (package / room).rglob("*.py"))
    found = blake2b(digest_size=6)
    for path in sorted([*package.glob("*.py"), *rooms]):
        found.update(path.read_bytes())
    return found.hexdigest()


def kernel(function: Function) -> Function:
    """Compile ``function`` for the types of its arguments, when it is called.

    Arithmetic is that of the machine: no reordering of floats, no checks of bounds. A kernel
    may allocate nothing: what room it needs, it is given.
    """
    function.__qualname__ = f"{function.__qualname__}_{_digest()}"
    return cast(Function, numba.njit(**_OPTIONS)(function))
