"""JSON in and out, at the edge: transcripts, truths, topologies, role splits, attrs classes.

Every loader names the field that is wrong and what it expected.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin

import attrs
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.actions import TEAM_ACTION_TYPES
from logtriage.errors import InvalidInput, TopologyError, TranscriptError
from logtriage.incident import Incident, Part, Truth
from logtriage.roles import VIEWS, RoleSplit
from logtriage.roles.splits import get_role_split
from logtriage.topology import Service, Topology
from logtriage.transcript import (
    COMPLETED,
    ROLE_SPLIT,
    SCHEMA,
    SPLIT_MARK,
    TICKS,
    WITHOUT_TICKS,
    WORDS,
    Transcript,
    checked_ticks,
)

#: The keys of a transcript's JSON object; any other key is kept in ``extra``.
TRANSCRIPT_FIELDS: Final = frozenset(
    {
        *("schema", "incident", "actions", "status", "agent", TICKS),
        *("seal", "world", ROLE_SPLIT, SPLIT_MARK),
    }
)
_Data = TypeVar("_Data")

_NOT_JSON, _NOT_UTF8, _NO_OBJECT = "not JSON", "not UTF-8", "expected a JSON object"


def decode_transcript(text: str | bytes) -> Transcript:
    """Read one JSON object as a transcript; TranscriptError says what is wrong."""
    return structure_transcript(_decoded(text, TranscriptError))


def _decoded(text: str | bytes, wrong: Callable[[str], InvalidInput]) -> object:
    """The value of a JSON text; ``wrong`` makes the error from a reason."""
    try:
        text = text if isinstance(text, str) else text.decode()
        # Some editors of Windows put a byte order mark first.
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise wrong("JSON nested too deeply") from None
    except UnicodeDecodeError as error:
        raise wrong(f"{_NOT_UTF8}: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        raise wrong(f"{_NOT_JSON}: {error}") from None


def structure_transcript(raw: object) -> Transcript:
    """A transcript from a decoded JSON object, or a TranscriptError that names the field."""
    if not isinstance(raw, dict):
        raise TranscriptError(f"{_NO_OBJECT}, got {json_kind(raw)}")
    schema = raw.get("schema")
    if not absent(schema) and schema != SCHEMA:
        shown = repr(schema) if isinstance(schema, str) and len(schema) < 80 else json_kind(schema)
        raise TranscriptError(f"schema: expected {SCHEMA!r}, got {shown}")
    incident, actions = raw.get("incident"), raw.get("actions")
    if not isinstance(incident, str):
        lacks = ""
        if raw and absent(incident):
            lacks = f"; the keys are {', '.join(map(repr, raw)):.80}"
        raise TranscriptError(
            f"incident: expected an incident id, got {json_kind(incident)}{lacks}"
        )
    if not isinstance(actions, list):
        raise TranscriptError(f"actions: expected a list of wire actions, got {json_kind(actions)}")
    for number, action in enumerate(actions):
        if not isinstance(action, dict):
            raise TranscriptError(f"actions[{number}]: expected an object, got {json_kind(action)}")
    status, agent, seal, split, world, mark = (
        _text(raw, key) for key in ("status", "agent", "seal", ROLE_SPLIT, "world", SPLIT_MARK)
    )
    ticks: tuple[int, ...] | None = None
    if not absent(raw.get(TICKS)):
        try:
            ticks = checked_ticks(raw[TICKS], len(actions), split)
        except InvalidInput as error:
            raise TranscriptError(str(error)) from None
    elif split is not None:
        raise TranscriptError(WITHOUT_TICKS)
    words = raw.get(WORDS)
    if isinstance(words, list) and len(words) != len(actions):
        raise TranscriptError(f"{WORDS}: expected {len(actions)}, one an action, got {len(words)}")
    extra = {key: value for key, value in raw.items() if key not in TRANSCRIPT_FIELDS}
    status = COMPLETED if status is None else status
    return Transcript(  # its fields in order
        *(incident, tuple(actions), status, agent, extra),
        *(ticks, seal, split, world, mark),
    )


def _text(raw: dict[str, Any], key: str) -> str | None:
    """The text of a field, or None; TranscriptError for any other value."""
    value = raw.get(key)
    if not absent(value) and not isinstance(value, str):
        raise TranscriptError(f"{key}: expected a string, got {json_kind(value)}")
    return value if isinstance(value, str) else None


def unstructure_transcript(transcript: Transcript) -> dict[str, Any]:
    """The JSON object of a transcript."""
    optional = {
        "agent": transcript.agent,
        TICKS: None if transcript.ticks is None else list(transcript.ticks),
        "seal": transcript.seal,
        "world": transcript.world,
        ROLE_SPLIT: transcript.role_split,
        SPLIT_MARK: transcript.role_split_mark,
    }
    return {
        **{key: value for key, value in transcript.extra.items() if key not in TRANSCRIPT_FIELDS},
        "schema": SCHEMA,
        "incident": transcript.incident,
        "actions": [dict(action) for action in transcript.actions],
        "status": transcript.status,
        **{key: value for key, value in optional.items() if value is not None},
    }


def encode_transcript(transcript: Transcript) -> str:
    """A transcript as one line of JSON, without a line break."""
    return json.dumps(unstructure_transcript(transcript), ensure_ascii=False)


def truth_to_json(incident: Incident) -> dict[str, Any]:
    """The hidden truth as JSON data, as ``logtriage show --truth --json`` prints it."""
    truth = incident.truth
    data: dict[str, Any] = {"id": incident.id, "task": incident.task, "horizon": incident.horizon}
    if incident.seal is not None:
        data["seal"] = incident.seal
    if incident.worth_of_hand_over is not None:
        for name in ("par", "task_par", "worth_of_hand_over"):
            data[name] = getattr(incident, name)
    data["benign"] = truth.benign
    data["fault"] = None if truth.fault is None else attrs.asdict(truth.fault)
    data["severity"] = None if truth.severity is None else str(truth.severity)
    if truth.several:
        data["faults"] = [
            {
                **({} if part.fault is None else {"kind": part.fault.kind}),
                **_answer(part),
                "secondary": part.secondary,
            }
            for part in truth.several
        ]
    if truth.fault_category is not None:
        data["fault_class"] = str(truth.fault_category)
    return {**data, **_answer(truth), "topology": topology_to_json(incident.topology)}


def _answer(part: Truth | Part) -> dict[str, list[str]]:
    """The accepted root causes, teams and remedies as JSON data."""
    return {
        "root_causes": sorted(part.root_causes),
        "teams": sorted(part.teams),
        "remedies": sorted(f"{remedy}:{service}" for remedy, service in part.remedies),
    }


def topology_to_json(topology: Topology) -> dict[str, Any]:
    """A topology as JSON data; :func:`topology_from_json` reads it back."""
    data: dict[str, Any] = strict_converter().unstructure(topology)
    return data


def topology_from_json(text: str | bytes | Mapping[str, Any], source: str = "topology") -> Topology:
    """A topology from JSON text or decoded JSON; TopologyError names ``source`` and the field."""
    return structured(text, Topology, lambda reason: TopologyError(f"{source}: {reason}"))


def load_topology(path: str | Path) -> Topology:
    """Read a topology from a JSON file; TopologyError names the file and the field."""
    return topology_from_json(Path(path).read_bytes(), source=str(path))


def role_split_to_json(split: RoleSplit) -> dict[str, Any]:
    """A role split as JSON data; :func:`role_split_from_json` reads it back."""
    roles = []
    for role in split.roles:
        data = strict_converter(omit_defaults=True).unstructure(role)
        data["views"] = [view for view in VIEWS if view in role.views]
        data["may"] = [kind for kind in TEAM_ACTION_TYPES if kind in role.may]
        if role.watches:
            data["watches"] = sorted(role.watches)
        roles.append(data)
    return {"name": split.name, "roles": roles}


def role_split_from_json(
    text: str | bytes | Mapping[str, Any], source: str = "role split"
) -> RoleSplit:
    """A role split from JSON text or decoded JSON; InvalidInput names ``source`` and the field."""
    split = structured(text, RoleSplit, lambda reason: InvalidInput(f"{source}: {reason}"))
    try:
        return get_role_split(split)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error}") from None


def load_role_split(path: str | Path) -> RoleSplit:
    """Read a role split from a JSON file, which may be the ``run.json`` or ``team.json`` of a run.

    InvalidInput names the file and the field.
    """
    raw = _decoded(Path(path).read_bytes(), lambda reason: InvalidInput(f"{path}: {reason}"))
    split: Any = raw
    for name in ("split", "role_split"):  # of a trained team, of a run
        if isinstance(raw, Mapping) and isinstance(raw.get(name), Mapping):
            split = raw[name]
    return role_split_from_json(split, source=str(path))


def structured(
    text: str | bytes | Mapping[str, Any], kind: type[_Data], wrong: Callable[[str], InvalidInput]
) -> _Data:
    """A value of the attrs class ``kind`` from JSON text or decoded JSON.

    ``wrong`` makes the error from a text that lists the mistakes with their paths.
    """
    raw = _decoded(text, wrong) if isinstance(text, str | bytes) else text
    if not isinstance(raw, Mapping):
        raise wrong(f"{_NO_OBJECT}, got {json_kind(raw)}")
    try:
        return strict_converter().structure(dict(raw), kind)
    except BaseValidationError as error:
        raise wrong("; ".join(transform_error(error, format_exception=reason_of))) from None


def reason_of(error: BaseException, _: type | None) -> str:
    """The reason of an error of :func:`strict_converter`, without the path."""
    if isinstance(error, KeyError):
        return f"required field {error} is missing"
    if isinstance(error, ForbiddenExtraKeysError):
        known = ", ".join(field.name for field in attrs.fields(error.cl))
        return f"unknown field {', '.join(sorted(error.extra_fields))}; known: {known}"
    return str(error)


@lru_cache(maxsize=2)
def strict_converter(*, omit_defaults: bool = False) -> Converter:
    """JSON to attrs values and back: exact types, no unknown fields; defaults may be left out."""
    converter = Converter(forbid_extra_keys=True, omit_if_default=omit_defaults)
    words = {str: "a string", int: "a whole number", bool: "true or false", float: "a decimal"}
    for kind, expected in words.items():
        converter.register_structure_hook(kind, partial(_exactly, expected=expected))
    converter.register_structure_hook_factory(_is_list, partial(_from_list, converter))
    converter.register_structure_hook_factory(attrs.has, partial(_from_object, converter))
    technology = override(omit_if_default=True)  # recordings have none
    of_service = make_dict_unstructure_fn(Service, converter, technology=technology)
    converter.register_unstructure_hook(Service, of_service)
    paged = override(unstruct_hook=dict)
    of_topology = make_dict_unstructure_fn(Topology, converter, paged=paged)
    converter.register_unstructure_hook(Topology, of_topology)
    return converter


def _exactly(value: object, kind: type, expected: str) -> Any:
    # Not isinstance: True is an int.
    if type(value) is not kind:
        shown = json_kind(value) if value is None else f"{json_kind(value)} {value!r:.60}"
        raise InvalidInput(f"expected {expected}, got {shown}")
    return value


#: The JSON types of items that are taken as they are.
_PLAIN: Final[dict[Any, frozenset[type]]] = {
    str: frozenset({str}),
    int | None: frozenset({int, type(None)}),
}


def _is_list(kind: Any) -> bool:
    """Whether a type is a frozenset of items, or a tuple of any number of items of one type."""
    return get_origin(kind) in (tuple, frozenset) and get_args(kind)[1:] in ((), (...,))


def _from_list(converter: Converter, kind: Any) -> Callable[[Any, Any], Any]:
    make, item = get_origin(kind), get_args(kind)[0]
    list_of: Any = list  # the type of the items is a value here
    plain = _PLAIN.get(item)

    def structure(value: Any, _: Any) -> Any:
        # Else a string would pass for a list of its letters.
        _exactly(value, list, "a list")
        if plain is not None and plain.issuperset(map(type, value)):
            return make(value)  # its items are as they should be; most of a bundle is so
        return make(converter.structure(value, list_of[item]))

    return structure


def _from_object(converter: Converter, kind: Any) -> Callable[[Any, Any], Any]:
    special: dict[str, Any] = {}
    if kind is Topology:
        special["paged"] = override(struct_hook=_teams_by_class)
    fields = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True, **special)

    def structure(value: Any, _: Any) -> Any:
        return fields(_exactly(value, dict, "an object"), kind)

    return structure


def _teams_by_class(value: object, _: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not all(isinstance(team, str) for team in value.values()):
        raise InvalidInput("expected an object: a team by class of faults")
    return tuple(value.items())
