"""Environments of others, as black boxes for :mod:`logtriage.audit.blackbox`.

>>> from logtriage.adapters.strangers import box_of
>>> box_of("gymnasium:FrozenLake-v1").name
'gymnasium:FrozenLake-v1'
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import attrs

from logtriage.audit.blackbox import BlackBox
from logtriage.errors import InvalidInput, UnknownName

#: Kinds of environments; the module ``<kind>_box`` makes the black box.
KINDS: Final = ("gymnasium", "openenv")


def box_of(
    reference: str,
    *,
    actions: Sequence[Any] = (),
    best: float | None = None,
    steps: int | None = None,
) -> BlackBox:
    """The black box behind ``openenv:URL`` or ``gymnasium:ID``.

    Args:
        reference: kind and place. An id of Gymnasium may name a module to import
            (``gymnasium:my_package:Mine-v0``): that runs it.
        actions: actions to try, in place of those that its schema or space suggests.
        best: the return of a perfect episode, if the environment does not say.
        steps: the most steps of an episode.

    Raises:
        UnknownName: for another kind.
        InvalidInput: for an environment that is not there, or that has no actions to try.
        MissingExtra: if its library is not installed.
    """
    kind, separator, place = reference.partition(":")
    if kind not in KINDS:
        raise UnknownName("kind of environment", kind, KINDS)
    if not separator or not place:
        raise InvalidInput(f"--env {reference!r}: expected {kind}: and where the environment is")
    box: BlackBox = import_module(f"{__name__}.{kind}_box").box(reference, place)
    settings: dict[str, Any] = {"actions": tuple(actions) or None, "best": best, "steps": steps}
    return attrs.evolve(box, **{key: value for key, value in settings.items() if value is not None})
