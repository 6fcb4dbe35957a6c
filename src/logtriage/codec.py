"""JSON in and out, at the edge: transcripts, truths, topologies and role splits (cattrs).

Every loader names the field that is wrong and what was expected; nothing is
executed or unpickled.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, get_origin

import attrs
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.v import format_exception

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage._lib.printable import spelled
from logtriage.actions import TEAM_ACTION_TYPES
from logtriage.errors import InvalidInput, TopologyError, TranscriptError
from logtriage.incident import Incident, Part
from logtriage.roles import VIEWS, Role, RoleSplit
from logtriage.topology import Service, Tier, Topology
from logtriage.transcript import (
    COMPLETED,
    ROLE_SPLIT,
    SCHEMA,
    TICKS,
    WITHOUT_TICKS,
    Transcript,
    checked_ticks,
)

_FIELDS: Final = frozenset(
    {"schema", "incident", "actions", "status", "agent", TICKS, "seal", ROLE_SPLIT, "world"}
)
_Data = TypeVar("_Data", Topology, RoleSplit)


class Record(NamedTuple):
    """The fields of a transcript's JSON object, checked but not yet wrapped."""

    incident: str
    actions: list[dict[str, Any]]
    status: str
    agent: str | None
    ticks: tuple[int, ...] | None
    seal: str | None
    role_split: str | None
    world: str | None


_NOT_JSON, _NOT_UTF8, _NO_OBJECT = "not JSON", "not UTF-8", "expected a JSON object"


def is_no_object(error: TranscriptError) -> bool:
    """Whether what was refused is no JSON object at all, rather than a wrong one."""
    return error.reason.startswith((_NOT_JSON, _NOT_UTF8, _NO_OBJECT))


def decode_transcript(text: str | bytes) -> Transcript:
    """Read one JSON object as a transcript.

    Raises:
        TranscriptError: if it is not JSON, has another schema, or a field is wrong.
    """
    return structure_transcript(_decode_json(text))


def decode_record(text: str | bytes) -> Record:
    """As :func:`decode_transcript`, without what grading does not read."""
    return _record(_decode_json(text))


def _decode_json(text: str | bytes) -> object:
    try:
        return json.loads(_unmarked(text if isinstance(text, str) else text.decode()))
    except RecursionError:
        raise TranscriptError("JSON nested too deeply") from None
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{_NOT_UTF8}: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        raise TranscriptError(f"{_NOT_JSON}: {error}") from None


def _unmarked(text: str) -> str:
    """Text without the byte order mark that some editors of Windows put first."""
    return text.removeprefix("\ufeff")


def _record(raw: object) -> Record:
    """Check the fields that a transcript must have.

    Raises:
        TranscriptError: naming the field and what was expected.
    """
    if not isinstance(raw, dict):
        raise TranscriptError(f"{_NO_OBJECT}, got {json_kind(raw)}")
    schema = raw.get("schema")
    if not absent(schema) and schema != SCHEMA:
        given = repr(schema) if isinstance(schema, str) and len(schema) < 80 else json_kind(schema)
        raise TranscriptError(f"schema: expected {SCHEMA!r}, got {given}")
    incident, actions = raw.get("incident"), raw.get("actions")
    if not isinstance(incident, str):
        raise TranscriptError(f"incident: expected an incident id, got {json_kind(incident)}")
    if not isinstance(actions, list):
        raise TranscriptError(f"actions: expected a list of wire actions, got {json_kind(actions)}")
    for number, action in enumerate(actions):
        if not isinstance(action, dict):
            raise TranscriptError(f"actions[{number}]: expected an object, got {json_kind(action)}")
    status, agent, seal, split, world = (
        _text(raw, key) for key in ("status", "agent", "seal", ROLE_SPLIT, "world")
    )
    # One line each, whoever wrote them: they go into tables, logs and messages.
    status = COMPLETED if status is None else spelled(status)
    agent = None if agent is None else spelled(agent)
    ticks: tuple[int, ...] | None = None
    if not absent(raw.get(TICKS)):
        try:
            ticks = checked_ticks(raw[TICKS], len(actions), split)
        except InvalidInput as error:
            raise TranscriptError(str(error)) from None
    elif split is not None:
        raise TranscriptError(WITHOUT_TICKS)
    return Record(incident, actions, status, agent, ticks, seal, split, world)


def _text(raw: dict[str, Any], key: str) -> str | None:
    value = raw.get(key)
    if absent(value):
        return None
    if not isinstance(value, str):
        raise TranscriptError(f"{key}: expected a string, got {json_kind(value)}")
    return value


def structure_transcript(raw: Any) -> Transcript:
    """A transcript from a decoded JSON object; unknown keys are kept in ``extra``.

    Raises:
        TranscriptError: naming the field and what was expected.
    """
    incident, actions, status, agent, ticks, seal, split, world = _record(raw)
    extra = {key: value for key, value in raw.items() if key not in _FIELDS}
    return Transcript(incident, tuple(actions), status, agent, extra, ticks, seal, split, world)


def unstructure_transcript(transcript: Transcript) -> dict[str, Any]:
    """The JSON object of a transcript."""
    raw: dict[str, Any] = {
        "schema": SCHEMA,
        "incident": transcript.incident,
        "actions": [dict(action) for action in transcript.actions],
        "status": transcript.status,
    }
    if transcript.agent is not None:
        raw["agent"] = transcript.agent
    if transcript.ticks is not None:
        raw[TICKS] = list(transcript.ticks)
    if transcript.seal is not None:
        raw["seal"] = transcript.seal
    if transcript.world is not None:
        raw["world"] = transcript.world
    if transcript.role_split is not None:
        raw[ROLE_SPLIT] = transcript.role_split
    extra = {key: value for key, value in transcript.extra.items() if key not in _FIELDS}
    return {**extra, **raw}


def encode_transcript(transcript: Transcript) -> str:
    """One line of JSON, without a line break."""
    return json.dumps(unstructure_transcript(transcript), ensure_ascii=False)


# -- truths, topologies, role splits ----------------------------------------------


def truth_to_json(incident: Incident) -> dict[str, Any]:
    """The hidden truth of an incident, as ``logtriage show --truth --json`` prints it."""
    truth = incident.truth
    priced: dict[str, Any] = {}
    if incident.price_of_hand_over is not None:
        priced = {
            "par": incident.par,
            "task_par": incident.task_par,
            "price_of_hand_over": incident.price_of_hand_over,
        }
    return {
        "id": incident.id,
        "task": incident.task,
        "horizon": incident.horizon,
        **({} if incident.seal is None else {"seal": incident.seal}),
        **priced,
        "benign": truth.benign,
        "fault": None
        if truth.fault is None
        else {"kind": truth.fault.kind, "service": truth.fault.service},
        "severity": None if truth.severity is None else str(truth.severity),
        **({"faults": [_part_to_json(one) for one in truth.several]} if truth.several else {}),
        "root_causes": sorted(truth.root_causes),
        # Where it counts.
        **({} if truth.fault_category is None else {"fault_class": str(truth.fault_category)}),
        "teams": sorted(truth.teams),
        "remedies": sorted(f"{remedy}:{service}" for remedy, service in truth.remedies),
        "topology": topology_to_json(incident.topology),
    }


def _part_to_json(part: Part) -> dict[str, Any]:
    """One of several faults, and what it asks for."""
    kind = {} if part.fault is None else {"kind": part.fault.kind}
    return {
        **kind,
        "root_causes": sorted(part.root_causes),
        "teams": sorted(part.teams),
        "remedies": sorted(f"{remedy}:{service}" for remedy, service in part.remedies),
        "secondary": part.secondary,
    }


def topology_to_json(topology: Topology) -> dict[str, Any]:
    """A topology as JSON data; :func:`topology_from_json` reads it back."""
    data: dict[str, Any] = _converter().unstructure(topology)
    return data


def topology_from_json(text: str | bytes | Mapping[str, Any], source: str = "topology") -> Topology:
    """A topology from JSON text or decoded JSON.

    Raises:
        TopologyError: naming ``source``, the field and what was expected.
    """
    return _data_from_json(text, source, Topology, TopologyError)


def role_split_to_json(split: RoleSplit) -> dict[str, Any]:
    """A role split as JSON data; :func:`role_split_from_json` reads it back."""
    return {
        "name": split.name,
        "roles": [
            {
                "name": role.name,
                "views": [view for view in VIEWS if view in role.views],
                "may": [kind for kind in TEAM_ACTION_TYPES if kind in role.may],
                **_settings(role),
            }
            for role in split.roles
        ],
    }


def _settings(role: Role) -> dict[str, Any]:
    """What a role's settings are, where they are not the usual ones."""
    found: dict[str, Any] = {
        "watches": sorted(role.watches),
        "words": list(role.words),
        "delay": role.delay,
        "loss": role.loss,
        "budget": role.budget,
    }
    usual = attrs.fields_dict(Role)
    return {
        name: value for name, value in found.items() if getattr(role, name) != usual[name].default
    }


def role_split_from_json(
    text: str | bytes | Mapping[str, Any], source: str = "role split"
) -> RoleSplit:
    """A role split from JSON text or decoded JSON.

    Raises:
        InvalidInput: naming ``source``, the field and what was expected.
    """
    return _data_from_json(text, source, RoleSplit, InvalidInput)


def _data_from_json(
    text: str | bytes | Mapping[str, Any],
    source: str,
    kind: type[_Data],
    wrong: type[InvalidInput],
) -> _Data:
    raw: object = text
    if isinstance(text, str | bytes):
        try:
            # Of bytes the decoder itself drops a mark.
            raw = json.loads(_unmarked(text) if isinstance(text, str) else text)
        except (ValueError, RecursionError) as error:
            raise wrong(f"{source}: not JSON: {error}") from None
    if not isinstance(raw, Mapping):
        raise wrong(f"{source}: expected a JSON object, got {json_kind(raw)}")
    try:
        return _converter().structure(raw, kind)
    except BaseValidationError as error:
        reasons = transform_error(error, format_exception=_reason)
        raise wrong(f"{source}: {'; '.join(reasons)}") from None


_OBJECTS: Final = (Service, Tier, Topology, Role, RoleSplit)


def _reason(error: BaseException, kind: type | None) -> str:
    """One of the converter's exceptions in our words."""
    if isinstance(error, InvalidInput):
        return str(error)
    if isinstance(error, KeyError):
        return f"required field {error} is missing"
    if isinstance(error, AttributeError | TypeError) and kind in _OBJECTS:
        return "expected an object"
    if isinstance(error, TypeError) and get_origin(kind) is tuple:
        return "expected a list"
    return format_exception(error, kind)


def load_topology(path: str | Path) -> Topology:
    """Read a topology from a JSON file.

    Raises:
        TopologyError: naming the file and the field.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    return topology_from_json(path.read_bytes(), source=str(path))


def load_role_split(path: str | Path) -> RoleSplit:
    """Read a role split from a JSON file.

    Raises:
        InvalidInput: naming the file and the field.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    return role_split_from_json(path.read_bytes(), source=str(path))


@lru_cache(maxsize=1)
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)

    def strict_string(value: object, _: object) -> str:
        if not isinstance(value, str):
            raise InvalidInput(f"expected a string, got {json_kind(value)}")
        return value

    def strings(value: object, _: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidInput("expected a list of strings")
        return tuple(value)

    def strict_integer(value: object, _: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidInput(f"expected a whole number, got {json_kind(value)}")
        return value

    def strict_boolean(value: object, _: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidInput(f"expected true or false, got {json_kind(value)}")
        return value

    def teams_by_class(value: object, _: object) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, Mapping) or not all(
            isinstance(one, str) for one in value.values()
        ):
            raise InvalidInput("expected an object: a team by class of faults")
        return tuple(value.items())

    converter.register_structure_hook(str, strict_string)
    converter.register_structure_hook(int, strict_integer)
    converter.register_structure_hook(bool, strict_boolean)
    converter.register_structure_hook_func(
        lambda kind: kind in (tuple[str, ...], frozenset[str]), strings
    )
    converter.register_structure_hook(
        Topology,
        make_dict_structure_fn(Topology, converter, paged=override(struct_hook=teams_by_class)),
    )
    converter.register_unstructure_hook(
        Topology, make_dict_unstructure_fn(Topology, converter, paged=override(unstruct_hook=dict))
    )
    return converter
