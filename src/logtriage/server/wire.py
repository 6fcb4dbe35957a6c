"""What travels: a typed observation as JSON and back, and a served step as a client sees it.

A *view* is the structured form of an :class:`Observation`. What never changes within
an episode (topology, directory, recent changes) is in the first one alone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import attrs

from logtriage._lib.printable import spelled_data
from logtriage.actions import Action, Severity
from logtriage.codec import topology_from_json, topology_to_json
from logtriage.errors import InvalidInput
from logtriage.observation import Observation
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.state import Closing
from logtriage.tasks import as_world
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

T = TypeVar("T")

#: The fields of a view that only the first one of an episode holds.
STATIC: Final = (
    "topology",
    "horizon",
    "open_loop",
    "changes",
    "directory",
    "price_of_hand_over",
)

#: What leaves the server of each, by name: a field that is added to one stays.
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


def _row(value: Any) -> dict[str, Any] | None:
    """One flat attrs value as JSON data, or None for None."""
    return None if value is None else {name: getattr(value, name) for name in _COLUMNS[type(value)]}


def view_of(observation: Observation, *, first: bool) -> dict[str, Any]:
    """The structured form of an observation; ``first`` of its episode or a later one."""
    view: dict[str, Any] = {
        "tick": observation.tick,
        "closing": None if observation.closing is None else str(observation.closing),
        "alerts": [_row(one) for one in observation.alerts],
        "slo": _row(observation.slo),
        "edge": _row(observation.edge),
        "window": [_row(one) for one in observation.window],
        "inspection": [_row(one) for one in observation.inspection],
        "health": [_row(one) for one in observation.health],
        "metrics": [_row(one) for one in observation.metrics],
        "traces": [_row(one) for one in observation.traces],
        "notes": [_row(one) for one in observation.notes],
        "effects": [list(one) for one in observation.effects],
        "severity": None if observation.severity is None else str(observation.severity),
        "root_cause": observation.root_cause,
        "root_causes": None if observation.root_causes is None else list(observation.root_causes),
        "pages": list(observation.pages),
        "remedies": [list(one) for one in observation.remedies],
        "last_actions": [action_to_wire(one) for one in observation.last_actions],
    }
    if first:
        view |= {
            "topology": topology_to_json(observation.topology),
            "horizon": observation.horizon,
            "open_loop": observation.open_loop,
            "changes": [_row(one) for one in observation.changes],
            "directory": list(observation.directory),
            "price_of_hand_over": observation.price_of_hand_over,
        }
    return view


def observation_of(
    view: Mapping[str, Any], before: Observation | None = None, world: World | None = None
) -> Observation:
    """Read a view back; ``before`` is an earlier observation of the same episode.

    ``world`` is that of its incident; by default that of ``before``, or the default one.

    Texts in it are made printable: the server may be anybody's, and they stand on screens.

    Raises:
        InvalidInput: if the view is damaged, or a later one comes without ``before``.
    """
    # Actions are our own, and make themselves printable.
    view = {**spelled_data(view), "last_actions": view.get("last_actions")}
    if before is None and any(name not in view for name in STATIC):
        raise InvalidInput("view: the first one of an episode must hold what never changes")
    try:
        if before is None:
            topology = topology_from_json(view["topology"])
            horizon, open_loop = int(view["horizon"]), bool(view["open_loop"])
            changes = _many(Change, view["changes"])
            directory = tuple(view["directory"])
            hand_over = view["price_of_hand_over"]
        else:
            topology, horizon, open_loop = before.topology, before.horizon, before.open_loop
            changes, directory = before.changes, before.directory
            hand_over = before.price_of_hand_over
            world = before.world
        return Observation(
            topology,
            int(view["tick"]),
            horizon,
            None if view["closing"] is None else Closing(view["closing"]),
            open_loop,
            _many(Alert, view["alerts"]),
            _one(Reading, view["slo"]),
            _many(LogLine, view["window"]),
            _many(LogLine, view["inspection"]),
            tuple(_one(Reading, one) for one in view["health"]),
            changes,
            directory,
            None if view["severity"] is None else Severity(view["severity"]),
            view["root_cause"],
            tuple(view["pages"]),
            tuple((remedy, service) for remedy, service in view["remedies"]),
            tuple(action_from_wire(one, topology) for one in view["last_actions"]),
            edge=_one(EdgePanel, view["edge"]),
            metrics=_series(Gauge, view["metrics"]),
            traces=_series(Trace, view["traces"]),
            notes=_many(Note, view["notes"]),
            effects=tuple(
                (remedy, service, bool(eased)) for remedy, service, eased in view["effects"]
            ),
            world=None if open_loop else as_world(world),
            root_causes=_names(view["root_causes"]),
            price_of_hand_over=hand_over,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"view: cannot be read: {type(error).__name__}: {error}") from None


def _names(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _one(kind: Callable[..., T], row: Mapping[str, Any] | None) -> T | None:
    return None if row is None else kind(**row)


def _series(kind: Callable[..., T], rows: Iterable[Mapping[str, Any]]) -> tuple[T, ...]:
    """Rows of which some fields are tuples, which JSON has as lists."""
    return tuple(
        kind(**{name: tuple(one) if isinstance(one, list) else one for name, one in row.items()})
        for row in rows
    )


def _many(kind: Callable[..., T], rows: Iterable[Mapping[str, Any]]) -> tuple[T, ...]:
    return tuple(kind(**row) for row in rows)


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
        names = [one.name for one in attrs.fields(Served) if one.name not in ("reward", "done")]
        return Served(
            reward=payload["reward"], done=payload["done"], **{name: seen[name] for name in names}
        )
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"not an observation of a logtriage server: no {error}") from None


def action_payload(action: Action | Mapping[str, Any] | str) -> dict[str, Any]:
    """The ``data`` of a step: of an action, a wire action, or what a model wrote."""
    if isinstance(action, str):
        return {"text": action}
    return dict(action) if isinstance(action, Mapping) else action_to_wire(action)
