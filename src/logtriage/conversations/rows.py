"""One row of a framework's file becomes a transcript: a conversation and an incident's id."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.codec import structure_transcript
from logtriage.conversations.atif import is_atif, row_of_trajectory
from logtriage.conversations.examples import without_examples, without_prompt
from logtriage.conversations.messages import AGENT_ROLES, is_agents, messages_of
from logtriage.conversations.teams import joint_wires
from logtriage.conversations.wires import Style, actions_of_conversation
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.grading import Resolver
from logtriage.incident import Incident
from logtriage.roles.splits import get_role_split
from logtriage.transcript import COMPLETED, ROLE_SPLIT, TICKS, Transcript, check_drawn, plays_of

#: Where the id of the incident may stand, in the order in which it is looked for.
INCIDENT_AT: Final = (
    "incident",
    "incident_id",
    "metadata.incident",
    "info.incident",
    "task.data.incident",
    "task.incident",
    "doc.incident",
    "extra.incident",
)
#: Where the conversation may stand.
MESSAGES_AT: Final = (
    "messages",
    "conversation",
    "contents",
    "completion",
    "filtered_resps",
    "response",
    "choices",
    "candidates",
    "output",
    "reply",
)
#: Those of them that hold what a provider answered; the first ones are the row's own fields.
_IN_ROW: Final = ("choices", "candidates")
_RESPONSES: Final = (*_IN_ROW, "completion", "response")
_OWN_KEYS: Final = frozenset(
    {
        "schema",
        "incident",
        "actions",
        "status",
        "agent",
        "error",
        "seal",
        "world",
        ROLE_SPLIT,
        TICKS,
    }
)


def transcript_of_row(
    row: object,
    *,
    incident_at: str | None = None,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
    resolve: Resolver = incident_of,
) -> Transcript:
    """The transcript of one row.

    ``incident_at`` is the dotted path to the incident's id, if it is none of
    :data:`INCIDENT_AT`; ``style`` and ``other_tools`` as in
    :func:`~logtriage.conversations.wires.actions_of_conversation`. A row with an
    ``error`` (or ``errors``) gets it as its status, so that it is not scored. Short
    plain fields of the row are kept. A row of a sealed incident must have ``seal``, the
    fingerprint of its key, beside the id; one of another world than the default one ``world``.

    Raises:
        TranscriptError: naming the field and what was expected.
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another one.
    """
    if not isinstance(row, Mapping):
        raise TranscriptError(f"expected a JSON object, got {json_kind(row)}")
    if is_atif(row):
        row = row_of_trajectory(row)
    if isinstance(row.get("actions"), list) and incident_at is None:
        return _checked(structure_transcript(dict(row)), resolve)
    if _is_teams(row):
        return _joint_transcript(row, resolve)
    incident = _incident(row, incident_at, resolve)
    place, given = _conversation(row)
    try:
        messages = without_examples(without_prompt(messages_of(given), row), incident)
        wires = actions_of_conversation(
            messages, incident.topology, style=style, other_tools=other_tools
        )
    except InvalidInput as error:
        joint = "" if str(error).startswith(("[", ".")) else ": "
        raise TranscriptError(f"{place}{joint}{error}") from None
    if not any(map(is_agents, messages)) and _status(row) == COMPLETED:
        raise TranscriptError(f"{place}: no reply of the agent among {len(messages)} messages")
    extra = {key: value for key, value in row.items() if key != place and _is_kept(key, value)}
    return Transcript(
        incident.id,
        tuple(wires),
        _status(row),
        _agent(row),
        extra,
        seal=incident.seal,
        world=incident.world_mark,
    )


def rows_of(row: object) -> list[object]:
    """A row as it is; of an episode of verifiers each trace, but a team's is one row.

    An episode that failed before its first trace is one row without a word.
    """
    traces = row.get("traces") if isinstance(row, Mapping) else None
    if not isinstance(row, Mapping) or not isinstance(traces, list) or _is_teams(row):
        return [row]
    if not traces:
        return [{**row, "messages": []}]
    return traces


def _is_teams(row: Mapping[str, Any]) -> bool:
    """Whether a row is an episode of verifiers in which agents played the roles of a team."""
    traces = row.get("traces")
    return (
        isinstance(traces, list)
        and bool(traces)
        and all(
            isinstance(one, Mapping)
            and isinstance(one.get("nodes"), list)
            and isinstance(_at(one, "task.data.role"), str)
            for one in traces
        )
    )


def _joint_transcript(row: Mapping[str, Any], resolve: Resolver) -> Transcript:
    """The transcript of a team, put together from the trace of each role."""
    traces = {_at(trace, "task.data.role"): trace for trace in row["traces"]}
    incident = _incident(row, None, resolve)
    split = get_role_split(_at(row["traces"][0], "task.data.role_split"))
    said = {name: _last_branch(trace["nodes"]) for name, trace in traces.items()}
    wires, ticks = joint_wires(said, split, incident.topology)
    agents = {name: _agent(trace) for name, trace in traces.items()}
    agent = ",".join(f"{role}={agents[role]}" for role in split.names if agents.get(role))
    return Transcript(
        incident.id,
        tuple(wires),
        _status(row),
        agent or None,
        ticks=ticks,
        seal=incident.seal,
        role_split=split.name,
        world=incident.world_mark,
    )


def _checked(transcript: Transcript, resolve: Resolver) -> Transcript:
    """A transcript whose roles share ticks only as their split allows."""
    if transcript.role_split is not None:
        plays_of(transcript, resolve(transcript.incident).topology)
    return transcript


def _agent(row: Mapping[str, Any]) -> str | None:
    """Who played: ``agent`` or ``model``, or the model in the agent's settings."""
    for path in ("agent", "model", "agent.config.model"):
        found = _at(row, path)
        if isinstance(found, str):
            return found
    return None


def _at(row: Mapping[str, Any], path: str) -> Any:
    found: Any = row
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _incident(row: Mapping[str, Any], incident_at: str | None, resolve: Resolver) -> Incident:
    """The incident of a row: of the very key, and in the very world, that the row says."""
    path, found = _incident_id(row, incident_at)
    incident = resolve(found)
    if incident.seal is not None or incident.world_mark is not None:
        beside = path.rpartition(".")[0]
        said = (_at(row, f"{beside}.{name}".removeprefix(".")) for name in ("seal", "world"))
        seal, world = (one if isinstance(one, str) else None for one in said)
        check_drawn(seal, world, incident)
    return incident


def _incident_id(row: Mapping[str, Any], incident_at: str | None) -> tuple[str, str]:
    """Where the id of a row's incident stands, and the id."""
    for path in INCIDENT_AT if incident_at is None else (incident_at,):
        found = _at(row, path)
        if isinstance(found, str):
            return path, found
        if not absent(found):
            raise TranscriptError(f"{path}: expected an incident id, got {json_kind(found)}")
    raise TranscriptError(
        f"no incident id at {incident_at or ', '.join(INCIDENT_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}"
    )


def _conversation(row: Mapping[str, Any]) -> tuple[str, Any]:
    """Where the conversation stands, and the conversation."""
    if isinstance(row.get("nodes"), list):
        return "nodes", _last_branch(row["nodes"])
    found = [(key, row[key]) for key in MESSAGES_AT if not absent(row.get(key))]
    if not found and row.get("role") in AGENT_ROLES and "content" in row:
        return "the row", row  # a response of Anthropic's
    if not found:
        raise TranscriptError(
            f"no conversation at nodes, {', '.join(MESSAGES_AT)}; "
            f"the row has: {', '.join(map(str, row)) or 'nothing'}"
        )
    key, given = found[0]
    if key == "filtered_resps" and isinstance(given, list) and len(given) == 1:
        given = given[0]  # a sample of lm-evaluation-harness
    if key in _RESPONSES:
        return key, row if key in _IN_ROW else given
    replies = [other for other, _ in found[1:] if other in _RESPONSES]
    if isinstance(given, list) and replies:
        given = _answered(given, row if replies[0] in _IN_ROW else row[replies[0]])
    return key, given


def _answered(messages: list[Any], reply: Any) -> list[Any]:
    """The messages of a request with the reply to it, unless they end with a reply already."""
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and is_agents(last):
        return messages
    return [*messages, *messages_of(reply)]


def _last_branch(nodes: Sequence[Any]) -> list[Any]:
    """The messages that lead to the last one of a verifiers trace, which is a tree.

    What stands there in the agent's name but was not sampled was given to it.
    """
    messages: list[Any] = []
    position: int | None = len(nodes) - 1
    while position is not None and position >= 0:
        node = nodes[position]
        message = node.get("message") if isinstance(node, Mapping) else None
        if not isinstance(message, Mapping):
            raise TranscriptError(f"nodes[{position}].message: expected an object")
        if message.get("role") != "assistant" or node.get("sampled", True):
            messages.append(message)
        parent = node.get("parent")
        if parent is not None and not (isinstance(parent, int) and 0 <= parent < position):
            raise TranscriptError(f"nodes[{position}].parent: expected an earlier node")
        position = parent
    return messages[::-1]


def _status(row: Mapping[str, Any]) -> str:
    """Why a row must not be scored, from what frameworks note of failures.

    verifiers keeps the errors of attempts that were made again, and says ``ok``.
    """
    if row.get("ok") is True:
        return COMPLETED
    errors = row.get("errors")
    error = errors[0] if isinstance(errors, list) and errors else row.get("error")
    if absent(error) or error in ("", False):
        return COMPLETED
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or "error"
    return f"error: {error}" if isinstance(error, str) else "error"


def _is_kept(key: str, value: object) -> bool:
    plain = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 100)
    return plain and key not in _OWN_KEYS and not absent(value)
