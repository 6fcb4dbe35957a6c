"""A served step as a client sees it, and the data of a step message."""

from collections.abc import Mapping
from typing import Any

import attrs

from logtriage.actions import Action
from logtriage.errors import InvalidInput
from logtriage.parsing import action_to_wire


@attrs.frozen
class Served:
    """One step as a client receives it.

    Attributes:
        tick: ticks that have passed.
        horizon: the step budget.
        screen: what the agent sees, as text.
        reward: what the last action earned; None after a reset.
        done: whether the episode is closed.
        closing: why, or None while it is open.
        prompt: the public rules as text; after a reset only.
        error: why the last action was not understood, or None.
        grade: the grade with all its reasons, as JSON data; once closed.
    """

    tick: int
    horizon: int
    screen: str
    reward: float | None
    done: bool
    closing: str | None = None
    prompt: str | None = None
    error: str | None = None
    grade: dict[str, Any] | None = None


def served_of(payload: Mapping[str, Any]) -> Served:
    """Read the ``data`` of an OpenEnv observation message.

    Raises:
        InvalidInput: if it is not from a logtriage server of this version.
    """
    try:
        seen = payload["observation"]
        fields = (field.name for field in attrs.fields(Served))
        values = {name: seen[name] for name in fields if name not in ("reward", "done")}
        return Served(reward=payload["reward"], done=payload["done"], **values)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"not an observation of a logtriage server: no {error}") from None


def action_payload(action: Action | Mapping[str, Any] | str) -> dict[str, Any]:
    """The ``data`` of a step: of an action, a wire action, or what a model wrote."""
    if isinstance(action, str):
        return {"text": action}
    return dict(action) if isinstance(action, Mapping) else action_to_wire(action)
