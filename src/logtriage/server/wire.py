"""Observations as JSON and back, and a served step as a client sees it.

A *view* is the structured form of an :class:`Observation`. What never changes within
an episode (topology, directory, recent changes) is in the first one alone.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from logtriage._lib.printable import spelled_data
from logtriage.actions import Action
from logtriage.codec import topology_from_json, topology_to_json
from logtriage.errors import InvalidInput
from logtriage.observation import Observation
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.tasks import as_world
from logtriage.topology import Topology
from logtriage.world.model import World
from logtriage.world.telemetry import (
    Alert,
    Change,
    EdgePanel,
    Gauge,
    LogLine,
    Note,
    Reading,
    Trace,
)

#: The fields of an observation that every view holds, beside its ``last_actions``.
FIELDS: Final = (
    *("tick", "closing", "alerts", "slo", "edge", "window", "inspection", "health", "metrics"),
    *("traces", "notes", "effects", "severity", "root_cause", "root_causes", "pages", "remedies"),
)
#: The fields that only the first view of an episode holds.
STATIC: Final = (
    "topology",
    "horizon",
    "open_loop",
    "changes",
    "directory",
    "price_of_hand_over",
)
#: The fields of each part that leave the server. A new field stays until it is added here.
_COLUMNS: Final[dict[type, tuple[str, ...]]] = {
    Alert: ("service", "name", "since"),
    Change: ("service", "kind", "minutes_ago", "detail", "token"),
    EdgePanel: ("error_bp", "p99_ms", "usual_error_bp", "usual_p99_ms", "token"),
    Gauge: ("service", "name", "starts", "tokens", "text"),
    LogLine: ("second", "service", "level", "message", "token"),
    Note: ("text", "by", "service", "token"),
    Reading: ("error_bp", "p99_ms", "earlier_p99_ms"),
    Trace: ("service", "name", "starts", "tokens", "text"),
}
_TYPES: Final[dict[str, Any]] = {field.name: field.type for field in attrs.fields(Observation)}


@cache
def _converter() -> Converter:
    converter = Converter(detailed_validation=False)
    for kind, names in _COLUMNS.items():
        fields = (field.name for field in attrs.fields(kind))
        left_out: dict[str, Any] = {
            name: override(omit=True) for name in fields if name not in names
        }
        converter.register_unstructure_hook(
            kind, make_dict_unstructure_fn(kind, converter, **left_out)
        )
        converter.register_structure_hook(kind, make_dict_structure_fn(kind, converter, **left_out))
    converter.register_unstructure_hook(Topology, topology_to_json)
    converter.register_structure_hook(Topology, lambda data, _: topology_from_json(data))
    return converter


def view_of(observation: Observation, *, first: bool) -> dict[str, Any]:
    """The structured form of an observation; ``first`` of its episode or a later one."""
    unstructure = _converter().unstructure
    return {
        **{
            name: unstructure(getattr(observation, name), _TYPES[name])
            for name in (FIELDS + STATIC if first else FIELDS)
        },
        "last_actions": [action_to_wire(action) for action in observation.last_actions],
    }


def observation_of(
    view: Mapping[str, Any], before: Observation | None = None, world: World | None = None
) -> Observation:
    """Read a view back; ``before`` is an earlier observation of the same episode.

    ``world`` is that of its incident; by default that of ``before``, or the default one. Texts are
    made printable: the server may be anybody's, and they stand on screens.

    Raises:
        InvalidInput: if the view is damaged, or a later one comes without ``before``.
    """
    if before is None and any(name not in view for name in STATIC):
        raise InvalidInput("view: the first one of an episode must hold what never changes")
    shown, structure = spelled_data(view), _converter().structure
    try:
        values = {
            name: structure(shown[name], _TYPES[name])
            for name in (FIELDS + STATIC if before is None else FIELDS)
        }
        topology = values["topology"] if before is None else before.topology
        values["last_actions"] = tuple(
            action_from_wire(action, topology) for action in view["last_actions"]
        )
        if before is not None:
            return attrs.evolve(before, **values)
        return Observation(**values, world=None if values["open_loop"] else as_world(world))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"view: cannot be read: {type(error).__name__}: {error}") from None


@attrs.frozen
class Served:
    """One step as a client receives it.

    Attributes:
        incident: the incident's id if the reset asked for it with ``show_id``, else a name
            made for this episode.
        tick: ticks that have passed.
        horizon: the step budget.
        screen: what the agent sees, as text.
        reward: what the last action earned; None after a reset.
        done: whether the episode is closed.
        closing: why, or None while it is open.
        prompt: the public rules as text; after a reset only.
        error: why the last action was not understood, or None.
        grade: the grade with all its reasons, as JSON data; once closed.
        view: what the agent sees, structured; if the reset asked for it.
    """

    incident: str
    tick: int
    horizon: int
    screen: str
    reward: float | None
    done: bool
    closing: str | None = None
    prompt: str | None = None
    error: str | None = None
    grade: dict[str, Any] | None = None
    view: dict[str, Any] | None = None


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
