"""Converters of fields that hold arrays: checked by type, and read-only from then on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logtriage.errors import InvalidInput
from logtriage.grading.action_lists import Ints

Bools = NDArray[np.bool_]


def _locked(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view


def bools(value: Any) -> Bools:
    """An array of bool.

    Raises:
        InvalidInput: for any other.
    """
    array = np.asarray(value)
    if array.dtype != np.bool_:
        raise InvalidInput(f"expected an array of bool, got one of {array.dtype}")
    found: Bools = _locked(array)
    return found


def ints(value: Any) -> Ints:
    """An array of integers, of the type that it has.

    Raises:
        InvalidInput: for any other.
    """
    array = np.asarray(value)
    if array.dtype.kind not in ("i", "u"):
        raise InvalidInput(f"expected an array of integers, got one of {array.dtype}")
    found: Ints = _locked(array)
    return found


def floats(value: Any) -> NDArray[np.float64]:
    """An array of numbers as float64.

    Raises:
        InvalidInput: for any other.
    """
    array = np.asarray(value)
    if array.dtype.kind not in ("i", "u", "f"):
        raise InvalidInput(f"expected an array of numbers, got one of {array.dtype}")
    found: NDArray[np.float64] = _locked(array.astype(np.float64))
    return found


def check_shapes(owner: object, wanted: dict[str, tuple[int, ...]], of: str) -> None:
    """Refuse arrays of another shape.

    Raises:
        InvalidInput: naming the first of them.
    """
    for field, shape in wanted.items():
        given = getattr(owner, field).shape
        if given != shape:
            raise InvalidInput(f"{field}: shape {given}, expected {shape} for {of}")
