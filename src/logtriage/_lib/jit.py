"""Compilation of kernels: at their first call, cached, to run without the interpreter's lock.

Numba reuses a cached kernel while the kernel's own file is unchanged. But a kernel holds constants
and functions of many files, so its name has a digest of them all. Needs the extra ``fast`` (numba).
"""

import sys
from collections.abc import Callable
from typing import Any, Final, TextIO, TypeVar, cast

from logtriage._lib.sources import digest
from logtriage.errors import MissingExtra

try:
    import numba
    from numba.core import event
    from numba.extending import register_jitable
except ModuleNotFoundError as error:
    if error.name != "numba":
        raise
    raise MissingExtra(
        "to play, believe or grade many incidents at once (BatchedTriage, BatchedTeam, "
        "TriageVectorEnv, BeliefBatch, belief_batch, grade_batch)",
        "fast",
    ) from None

Function = TypeVar("Function", bound=Callable[..., Any])

#: ``_nrt`` is Numba's memory management. Kernels allocate nothing, and counting references to some
#: forty arrays at every call took ten times as long as all the rest. ``no_cfunc_wrapper``: no
#: kernel is called from C, and the wrappers for it took 7 % of the time to compile.
_OPTIONS: Final[dict[str, Any]] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

#: Numba's name for the event that a function is compiled.
COMPILING: Final = "numba:compile"


class Progress(event.Listener):
    """Writes once that kernels of this package are being compiled, which takes up to a minute."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._said = stream, False

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function that its cache does not have."""
        module: str = event.data["dispatcher"].py_func.__module__
        if not self._said and module.startswith("logtriage."):
            self._said = True
            self._stream.write("logtriage: compiling kernels, once for each version ...\n")
            self._stream.flush()

    def on_end(self, event: Any) -> None:
        """Write nothing when a function is compiled."""


if sys.stderr is not None and sys.stderr.isatty():
    event.register(COMPILING, Progress(sys.stderr))  # type: ignore[no-untyped-call]


def kernel(function: Function) -> Function:
    """Compile ``function`` for the types of its arguments, when it is called.

    Arithmetic is the machine's: no reordering of floats, no checks of bounds. A kernel may not
    allocate memory: its caller passes the arrays that it needs.
    """
    function.__qualname__ = f"{function.__qualname__}_{digest()}"
    return cast(Function, numba.njit(**_OPTIONS)(function))


def callable_by_kernels(*functions: Callable[..., Any]) -> None:
    """Let kernels call these functions, which stay plain Python for all other callers."""
    options = {name: value for name, value in _OPTIONS.items() if name != "cache"}
    for function in functions:
        register_jitable(**options)(function)
