"""Which backend computes a batch: NumPy, or kernels that Numba compiles (extra ``fast``)."""

from importlib.util import find_spec
from typing import Final, Literal, get_args

from logtriage.errors import MissingExtra, UnknownName

BackendName = Literal["auto", "numpy", "numba"]
BACKENDS: Final = get_args(BackendName)


def chosen_backend(name: str, user: str) -> Literal["numpy", "numba"]:
    """What a name stands for: ``auto`` takes Numba where it is installed.

    ``user`` names who asks, for the message.

    Raises:
        UnknownName: for an unknown name.
        MissingExtra: for ``numba`` where it is not installed.
    """
    if name not in BACKENDS:
        raise UnknownName("backend", name, BACKENDS)
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise MissingExtra(f"backend 'numba' of {user}", "fast")
    return "numba" if installed and name != "numpy" else "numpy"
