"""One row of a framework's file becomes a transcript: a conversation and an incident's id."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import attrs

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.actions import Malformed
from logtriage.codec import TRANSCRIPT_FIELDS, structure_transcript
from logtriage.conversations.messages import (
    AGENT_ROLES,
    Message,
    answers_of,
    is_agents,
    messages_of,
    text_of,
)
from logtriage.conversations.naming import named_in
from logtriage.conversations.playing import played
from logtriage.conversations.screens import Screen, mismatch, screens_in
from logtriage.conversations.shapes import INCIDENT_AT, Row, as_row, at, is_teams
from logtriage.conversations.teams import joint_wires
from logtriage.conversations.wires import Style, calls_of, steps_of_conversation
from logtriage.drawing.sealing import incident_of
from logtriage.dynamics import play_parsed
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.grading import Resolver
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import actions_from_wire
from logtriage.rendering import render_observation
from logtriage.roles.splits import get_role_split
from logtriage.state import initial_state
from logtriage.transcript import COMPLETED, Transcript, check_drawn, plays_of

#: Where the conversation may stand.
MESSAGES_AT: Final = (
    *("messages", "conversation", "conversations", "history", "contents", "steps", "completion"),
    *("filtered_resps", "response", "choices", "candidates", "output", "reply", "input"),
)
#: Keys that hold the response of a provider; the first two are fields of the response itself.
_IN_ROW: Final = ("choices", "candidates")
_RESPONSES: Final = (*_IN_ROW, "completion", "response")
#: Roles whose messages show screens; not tools, since an agent may have written their messages.
_SHOWING: Final = ("user", "human", "system", "developer")
_OWN_KEYS: Final = TRANSCRIPT_FIELDS | {"error"}


@attrs.frozen
class Reading:
    """What became of a row.

    ``unread`` are the reasons of the replies that could not be read, ``left_out`` counts calls that
    were not carried out, and ``screens`` those that were compared with the replay; None for a row
    of actions.
    """

    transcript: Transcript
    unread: tuple[str, ...] = ()
    left_out: int = 0
    screens: int | None = None


@attrs.frozen
class Conversation:
    """A row with its messages, and the field that holds them; ``prompt`` was given to the agent."""

    row: Row
    place: str
    messages: tuple[Message, ...]
    prompt: tuple[Message, ...] = ()


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
    :data:`INCIDENT_AT`, or the id itself; ``style`` and ``other_tools`` as in
    :func:`~logtriage.conversations.wires.actions_of_conversation`. A row with an
    ``error`` (or ``errors``) gets it as its status, so that it is not scored. Short
    plain fields of the row are kept. Beside the id, a row of a sealed incident must have ``seal``,
    the fingerprint of its key, and a row of another world than the default one ``world``.

    Where messages show screens, the calls are held against them: calls that the harness did not
    carry out are left out (:func:`logtriage.conversations.playing.played`).

    Raises:
        TranscriptError: naming the field and what was expected, or the first screen that
            contradicts the calls before it.
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another one.
    """
    kept = conversation_of(row)
    return reading_of(kept, incident_at, style, other_tools, resolve).transcript


def conversation_of(row: object) -> Conversation:
    """The messages of a row; none for a transcript, and for an episode of a team.

    Raises:
        TranscriptError: naming the field and what was expected.
    """
    if not isinstance(row, Mapping):
        raise TranscriptError(f"expected a JSON object, got {json_kind(row)}")
    row = as_row(row)
    actions = row.get("actions")
    if is_teams(row) or (isinstance(actions, list) and not _has_messages(row)):
        return Conversation(row, "actions", ())
    place, conversation = _conversation(row)
    try:
        messages = messages_of(conversation)
        prompt = messages_of(row["prompt"]) if isinstance(row.get("prompt"), list) else []
    except InvalidInput as error:
        raise _at_place(place, error) from None
    if isinstance(row.get("prompt"), str):
        prompt = [{"role": "user", "content": row["prompt"], "where": ""}]
    if actions and not any(map(is_agents, messages)):
        return Conversation(row, "actions", ())
    if messages[: len(prompt)] == prompt:
        messages = messages[len(prompt) :]
    given = [{**one, "where": f"prompt{one.get('where', '')}"} for one in prompt]
    return Conversation(row, place, tuple(messages), tuple(given))


def _at_place(place: str, error: InvalidInput) -> TranscriptError:
    if str(error).startswith("prompt"):
        return TranscriptError(str(error))
    joint = "" if str(error).startswith(("[", ".")) else ": "
    return TranscriptError(f"{place}{joint}{error}")


def _has_messages(row: Row) -> bool:
    """Whether a row of actions has messages of the agent, too."""
    return any(isinstance(row.get(key), list) and row[key] for key in ("messages", "completion"))


def reading_of(
    conversation: Conversation,
    incident_at: str | None,
    style: Style | str,
    other_tools: Collection[str],
    resolve: Resolver,
) -> Reading:
    """The transcript of a conversation, as :func:`transcript_of_row` makes it."""
    row, place = conversation.row, conversation.place
    if is_teams(row):
        return Reading(_joint_transcript(row, resolve))
    if place == "actions":
        named = (
            {}
            if "incident" in row
            else {"incident": _incident(conversation, incident_at, resolve).id}
        )
        transcript = structure_transcript({**row, **named})
        if transcript.role_split is not None:  # whose roles share ticks as it allows
            plays_of(transcript, resolve(transcript.incident).topology)
        return Reading(transcript)
    incident = _incident(conversation, incident_at, resolve)
    topology = incident.topology
    try:
        messages = _own(conversation, incident)
        steps = steps_of_conversation(messages, topology, style=style, other_tools=other_tools)
        shown = played(incident, messages, steps)
    except InvalidInput as error:
        raise _at_place(place, error) from None
    if not any(map(is_agents, messages)) and _status(row) == COMPLETED:
        raise TranscriptError(f"{place}: no reply of the agent among {len(messages)} messages")
    _check_alike(row, shown.wires, place)
    extra = {key: value for key, value in row.items() if key != place and _is_kept(key, value)}
    transcript = Transcript(
        *(incident.id, shown.wires, _status(row), _agent(row), extra),
        seal=incident.seal,
        world=incident.world_mark,
    )
    state, _ = play_parsed(incident, actions_from_wire(shown.wires, topology))
    unread = (action.reason for action in state.actions if isinstance(action, Malformed))
    return Reading(transcript, tuple(unread), shown.left_out, shown.screens)


def _check_alike(row: Row, wires: Sequence[Mapping[str, Any]], place: str) -> None:
    """Refuse a row whose ``actions`` are not those of its messages."""
    actions = row.get("actions")
    told = [wire for wire in actions if "action_type" in wire] if isinstance(actions, list) else []
    keys = ("action_type", "value", "confidence")
    pairs = [[tuple(wire.get(key) for key in keys) for wire in side] for side in (told, wires)]
    if told and pairs[0] != pairs[1]:
        both = enumerate(zip(*pairs, strict=False))
        differs = (
            f"actions[{n}] is {one[:2]}, not {two[:2]}" for n, (one, two) in both if one != two
        )
        said = next(differs, f"{len(told)}, not {len(wires)}")
        raise TranscriptError(f"actions: not those of {place}: {said}; leave out one of the two")


def prefixes_of(conversation: Conversation) -> Iterator[bytes]:
    """A digest of the conversation up to each message, the last of the whole of it."""
    digest = blake2b(digest_size=12)
    named = (at(conversation.row, path) for path in INCIDENT_AT)
    digest.update(repr([name for name in named if isinstance(name, str)]).encode())
    for message in (*conversation.prompt, *conversation.messages):
        if is_agents(message):
            calls = [{k: v for k, v in call.items() if k != "type"} for call in calls_of(message)]
            parts: list[Any] = [text_of(message).strip(), calls]
        else:
            parts = [[answer.id, answer.text.strip()] for answer in answers_of(message)]
        if any(parts):
            digest.update(json.dumps(parts, sort_keys=True, default=str).encode())
            yield digest.digest()


def _joint_transcript(row: Mapping[str, Any], resolve: Resolver) -> Transcript:
    """The transcript of a team, put together from the trace of each role."""
    traces = {at(trace, "task.data.role"): trace for trace in row["traces"]}
    incident = _incident(Conversation(row, "traces", ()), None, resolve)
    split = get_role_split(at(row["traces"][0], "task.data.role_split"))
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
    for path in ("agent", "model", "agent.config.model", "model_name", "agent_name"):
        name = at(row, path)
        if isinstance(name, str):
            return name
    return None


def _at(row: Row, path: str) -> Any:
    """What stands at a dotted path. verifiers keeps ``info`` as a text of JSON."""
    field, _, rest = path.partition(".")
    text = row.get(field)
    if rest and isinstance(text, str) and text.startswith("{"):
        try:
            return at(json.loads(text), rest)
        except (ValueError, RecursionError):
            return None
    return at(row, path)


def _incident(conversation: Conversation, incident_at: str | None, resolve: Resolver) -> Incident:
    """The incident of a row, drawn with the key and in the world that the row names beside it."""
    row = conversation.row
    given = incident_at if incident_at is not None and "/" in incident_at else None
    for path in INCIDENT_AT if given or incident_at is None else (incident_at,):
        name = _at(row, path)
        if isinstance(name, str):
            if given not in (None, name):
                raise TranscriptError(
                    f"{path}: the row is of {name!r}, and {given!r} was asked for"
                )
            incident = resolve(name)
            if incident.seal is not None or incident.world_mark is not None:
                beside = _at(row, path.rpartition(".")[0]) if "." in path else row
                marks = (beside.get("seal"), beside.get("world"))
                seal, world = (mark if isinstance(mark, str) else None for mark in marks)
                check_drawn(seal, world, incident)
            return incident
        if not absent(name):
            raise TranscriptError(f"{path}: expected an incident id, got {json_kind(name)}")
    named = given
    if incident_at is None:
        named = named_in((*conversation.prompt, *conversation.messages))
    if named is not None:
        return resolve(named)
    raise TranscriptError(
        f"no incident id at {incident_at or ', '.join(INCIDENT_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}; --incident PATH says where it "
        "stands, --incident ID which it is"
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


def _own(conversation: Conversation, incident: Incident) -> list[Message]:
    """The messages from the incident's first screen on; without one, all.

    The prompt may hold that screen. Turns of the agent before it are examples, of other incidents.

    Raises:
        InvalidInput: if a first screen follows turns of the agent, but is not the only one
            of this incident and the last of all.
    """
    messages = conversation.messages
    places = [number for number, one in enumerate(messages) if _first_screen(one, incident)]
    acted = next((n for n, message in enumerate(messages) if is_agents(message)), len(messages))
    if late := [number for number in places if number > acted]:
        screen = render_observation(observe(initial_state(incident)))
        shown = [(number, _first_screen(messages[number], incident)) for number in places]
        own = [number for number, one in shown if one and mismatch(one.text, screen) is None]
        if own == places[-1:]:
            return list(messages[own[0] :])
        where = messages[late[0]].get("where", f"[{late[0]}]")
        raise InvalidInput(
            f"{where}: a first screen after replies of the agent, which may be examples or play; "
            "leave examples out, or give them as the row's 'prompt'"
        )
    if places:
        return list(messages[places[-1] :])
    prompt = conversation.prompt
    given = [number for number, one in enumerate(prompt) if _first_screen(one, incident)]
    opening = [one for one in prompt[given[-1] :] if not is_agents(one)] if given else []
    return [*opening, *messages]


def _first_screen(message: Message, incident: Incident) -> Screen | None:
    """The first screen of an incident in a message of others, if it holds one."""
    if message.get("role") not in _SHOWING or is_agents(message):
        return None
    screens = screens_in(text_of(message), incident)
    return screens[0] if screens and screens[0].tick == 0 else None


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
