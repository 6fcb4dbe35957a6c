"""One row of a framework's file becomes a transcript: a conversation and an incident's id."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.codec import TRANSCRIPT_FIELDS, structure_transcript
from logtriage.conversations.atif import is_atif, row_of_trajectory
from logtriage.conversations.messages import (
    AGENT_ROLES,
    Message,
    is_agents,
    messages_of,
    text_of,
)
from logtriage.conversations.teams import joint_wires
from logtriage.conversations.wires import Style, acts_of_conversation
from logtriage.conversations.words import kept
from logtriage.drawing.sealing import incident_of
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.grading import Resolver
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.roles.splits import get_role_split
from logtriage.state import initial_state
from logtriage.transcript import COMPLETED, Transcript, check_drawn, plays_of

#: Where the id of the incident may stand; the first that is there counts.
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
#: Keys that hold the response of a provider; the first two are fields of the response itself.
_IN_ROW: Final = ("choices", "candidates")
_RESPONSES: Final = (*_IN_ROW, "completion", "response")
_FIRST: Final = re.compile(r"^TICK 0/\d+", re.MULTILINE)
#: Roles whose messages show screens; not tools, since an agent may have written their messages.
_SHOWING: Final = ("user", "human", "system", "developer")
_OWN_KEYS: Final = TRANSCRIPT_FIELDS | {"error"}


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
    plain fields of the row are kept. Beside the id, a row of a sealed incident must have ``seal``,
    the fingerprint of its key, and a row of another world than the default one ``world``.

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
        transcript = structure_transcript(dict(row))
        if transcript.role_split is not None:  # whose roles share ticks as it allows
            plays_of(transcript, resolve(transcript.incident).topology)
        return transcript
    if _is_teams(row):
        return _joint_transcript(row, resolve)
    incident = _incident(row, incident_at, resolve)
    place, conversation = _conversation(row)
    try:
        messages = _without_examples(_without_prompt(messages_of(conversation), row), incident)
        acts = acts_of_conversation(
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
        tuple(wire for wire, _ in acts),
        _status(row),
        _agent(row),
        {**extra, **kept([words for _, words in acts])},
        seal=incident.seal,
        world=incident.world_mark,
    )


def rows_of(row: object) -> list[object]:
    """The row, or the traces of a verifiers episode; an episode of a team stays one row.

    An episode that failed before its first trace is one row without messages.
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
    if not isinstance(traces, list) or not traces:
        return False
    return all(
        isinstance(trace, Mapping)
        and isinstance(trace.get("nodes"), list)
        and isinstance(_at(trace, "task.data.role"), str)
        for trace in traces
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


def _agent(row: Mapping[str, Any]) -> str | None:
    """Who played: ``agent`` or ``model``, or the model in the agent's settings."""
    for path in ("agent", "model", "agent.config.model"):
        name = _at(row, path)
        if isinstance(name, str):
            return name
    return None


def _at(row: Mapping[str, Any], path: str) -> Any:
    value: Any = row
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _incident(row: Mapping[str, Any], incident_at: str | None, resolve: Resolver) -> Incident:
    """The incident of a row, drawn with the key and in the world that the row names beside it."""
    for path in INCIDENT_AT if incident_at is None else (incident_at,):
        name = _at(row, path)
        if isinstance(name, str):
            incident = resolve(name)
            if incident.seal is not None or incident.world_mark is not None:
                beside = _at(row, path.rpartition(".")[0]) if "." in path else row
                marks = (beside.get("seal"), beside.get("world"))
                seal, world = (mark if isinstance(mark, str) else None for mark in marks)
                check_drawn(seal, world, incident)
            return incident
        if not absent(name):
            raise TranscriptError(f"{path}: expected an incident id, got {json_kind(name)}")
    raise TranscriptError(
        f"no incident id at {incident_at or ', '.join(INCIDENT_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}"
    )


def _conversation(row: Mapping[str, Any]) -> tuple[str, Any]:
    """Where the conversation stands, and the conversation."""
    if isinstance(row.get("nodes"), list):
        return "nodes", _last_branch(row["nodes"])
    keys = [key for key in MESSAGES_AT if not absent(row.get(key))]
    if not keys and row.get("role") in AGENT_ROLES and "content" in row:
        return "the row", row  # a response of Anthropic's
    if not keys:
        raise TranscriptError(
            f"no conversation at nodes, {', '.join(MESSAGES_AT)}; "
            f"the row has: {', '.join(map(str, row)) or 'nothing'}"
        )
    key, *others = keys
    messages = row[key]
    if key == "filtered_resps" and isinstance(messages, list) and len(messages) == 1:
        messages = messages[0]  # a sample of lm-evaluation-harness
    if key in _RESPONSES:
        return key, row if key in _IN_ROW else messages
    replies = [other for other in others if other in _RESPONSES]
    if isinstance(messages, list) and replies:
        messages = _answered(messages, row if replies[0] in _IN_ROW else row[replies[0]])
    return key, messages


def _without_prompt(messages: Sequence[Message], row: Mapping[str, Any]) -> Sequence[Message]:
    """The messages without those of the row's ``prompt``, if they begin with these."""
    prompt = messages_of(row["prompt"]) if isinstance(row.get("prompt"), list) else []
    return messages[len(prompt) :] if list(messages[: len(prompt)]) == prompt else messages


def _without_examples(messages: Sequence[Message], incident: Incident) -> Sequence[Message]:
    """The messages from the incident's first screen on, if turns of the agent stand before it.

    Such turns are examples: they are of other incidents.

    Raises:
        InvalidInput: if a first screen follows turns of the agent, but is not the only one
            of this incident and the last of all.
    """
    first_screens = [
        number
        for number, message in enumerate(messages)
        if message.get("role") in _SHOWING
        and not is_agents(message)
        and _FIRST.search(text_of(message))
    ]
    acted = next((n for n, message in enumerate(messages) if is_agents(message)), len(messages))
    late = [number for number in first_screens if number > acted]
    if not late:
        return messages
    screen = render_observation(observe(initial_state(incident))).strip()
    own = [number for number in first_screens if screen in text_of(messages[number])]
    if own == first_screens[-1:]:
        return messages[own[0] :]
    raise InvalidInput(
        f"[{late[0]}]: a first screen after replies of the agent, which may be examples or play; "
        "leave examples out, or give them as the row's 'prompt'"
    )


def _answered(messages: list[Any], reply: Any) -> list[Any]:
    """The messages of a request with the reply to it, unless they end with a reply already."""
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and is_agents(last):
        return messages
    return [*messages, *messages_of(reply)]


def _last_branch(nodes: Sequence[Any]) -> list[Any]:
    """The messages that lead to the last one of a verifiers trace, which is a tree.

    Messages of role ``assistant`` that were not sampled are left out: the agent was given them.
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
    """The status of a row, from the errors that frameworks note.

    verifiers keeps the errors of repeated attempts beside ``ok``.
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
