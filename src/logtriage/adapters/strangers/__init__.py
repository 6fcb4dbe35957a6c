"""Environments of others, as black boxes for :mod:`logtriage.audit.blackbox`.

>>> from logtriage.adapters.strangers import box_of
>>> box_of("gymnasium:FrozenLake-v1").name
'gymnasium:FrozenLake-v1'
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from logtriage.audit.blackbox import BlackBox
from logtriage.errors import InvalidInput, UnknownName


def _gymnasium(name: str, place: str) -> BlackBox:
    from logtriage.adapters.strangers.gymnasium_box import gymnasium_box

    return gymnasium_box(name, place)


def _openenv(name: str, place: str) -> BlackBox:
    from logtriage.adapters.strangers.openenv_box import openenv_box

    return openenv_box(name, place)


_KINDS: Final[dict[str, Callable[[str, str], BlackBox]]] = {
    "gymnasium": _gymnasium,
    "openenv": _openenv,
}


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
        steps: at most so many an episode.

    Raises:
        UnknownName: for another kind.
        InvalidInput: for an environment that is not there, or whose actions cannot be told.
        MissingExtra: if its library is not installed.
    """
    kind, separator, place = reference.partition(":")
    if kind not in _KINDS:
        raise UnknownName("kind of environment", kind, _KINDS)
    if not separator or not place:
        raise InvalidInput(f"--env {reference!r}: expected {kind}: and where the environment is")
    box = _KINDS[kind](reference, place)
    changed: dict[str, Any] = {}
    if actions:
        changed["actions"] = tuple(actions)
    if best is not None:
        changed["best"] = best
    if steps is not None:
        changed["steps"] = steps
    return attrs.evolve(box, **changed)
