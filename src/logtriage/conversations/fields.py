"""Find the messages in a row, and the fields that its transcript keeps."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import Any, Final

import attrs

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.codec import TRANSCRIPT_FIELDS
from logtriage.conversations.blocks import Answer, at
from logtriage.conversations.counts import Counts, noted, usage_in, whole
from logtriage.conversations.dialects import messages_of
from logtriage.conversations.failures import failed, failure_of_message
from logtriage.conversations.messages import Message, answers_of, is_from_agent
from logtriage.conversations.names import Row
from logtriage.conversations.requests import UNREAD, response_in
from logtriage.conversations.sessions import is_message
from logtriage.conversations.shapes import as_row, is_team_row
from logtriage.errors import InvalidInput, TranscriptError

#: Keys that may hold the conversation; the first that is present counts.
MESSAGES_AT: Final = (
    *("messages", "conversation", "conversations", "history", "contents", "steps", "completion"),
    *("filtered_resps", "response", "choices", "candidates", "output", "reply", "input"),
    *("values", "state"),
)
#: Keys that hold a provider's response; with one of the first two, the row is the response.
_IN_ROW: Final = ("choices", "candidates")
_RESPONSES: Final = (*_IN_ROW, "completion", "response")
#: Fields of a transcript that a row does not set; its ranking is a list.
_OWN_KEYS: Final = TRANSCRIPT_FIELDS | {"error", "ranking"}
_COUNTS: Final = frozenset({"requests", "prompt_tokens", "completion_tokens", "cut_off", "retries"})
#: The counts of a transcript, and its cost; ``logtriage.evaluation`` reads them.
COUNTS: Final = _COUNTS | {"cost"}


@attrs.frozen
class Conversation:
    """A row with its messages, the field that holds them, and the prompt given to the agent.

    ``counts`` are of the row itself; messages have those of their requests.
    """

    row: Row
    place: str
    messages: tuple[Message, ...]
    prompt: tuple[Message, ...] = ()
    counts: Counts = attrs.field(factory=dict)

    def shown_first(self) -> list[Answer]:
        """What was shown before the agent's first reply."""
        messages = (*self.prompt, *self.messages)
        before = takewhile(lambda message: not is_from_agent(message), messages)
        return [answer for message in before for answer in answers_of(message)]


def conversation_of(row: object) -> Conversation:
    """The prompt and messages of a row; a TranscriptError names the field.

    Team episodes, and rows whose ``actions`` come without agent messages, are transcripts: their
    ``messages`` are empty.
    """
    if not isinstance(row, Mapping):
        raise TranscriptError(f"expected a JSON object, got {json_kind(row)}")
    row = as_row(row)
    if UNREAD in row:
        raise TranscriptError(row[UNREAD])
    actions = row.get("actions")
    if is_team_row(row) or (isinstance(actions, list) and not _has_messages(row)):
        return Conversation(row, "actions", ())
    place, conversation, counts = _conversation(row)
    messages = _messages_at(place, conversation)
    prompt = _messages_at("prompt", row["prompt"]) if isinstance(row.get("prompt"), list) else []
    row, messages = _without_errors(row, messages)
    if isinstance(row.get("prompt"), str):
        prompt = [{"role": "user", "content": row["prompt"], "where": ""}]
    if actions and not any(map(is_from_agent, messages)):
        return Conversation(row, "actions", ())
    if messages[: len(prompt)] == prompt:  # their places count from 0 in both
        messages = messages[len(prompt) :]
    prompt = [{**message, "where": f"prompt{message.get('where', '')}"} for message in prompt]
    return Conversation(row, place, tuple(messages), tuple(prompt), counts)


def _without_errors(row: Row, messages: list[dict[str, Any]]) -> tuple[Row, list[dict[str, Any]]]:
    """The messages without replies that the server marks as errors; at the end, the row failed."""

    def error_in(message: Message) -> object:
        is_reply = is_from_agent(message) and message.get("role")  # an item has none
        return failure_of_message(message) if is_reply else None

    last: Message = next(filter(is_from_agent, reversed(messages)), {})
    error = error_in(last)
    if error and not failed(row):
        row = {**row, "error": error}
    return row, [message for message in messages if not error_in(message)]


def _messages_at(place: str, value: object) -> list[dict[str, Any]]:
    """The messages in a field of a row; a TranscriptError names the field."""
    try:
        return messages_of(value)
    except InvalidInput as error:
        raise at_place(place, error) from None


def at_place(place: str, error: InvalidInput) -> TranscriptError:
    """Turn an error in a row's messages into one that names the field ``place``, too."""
    if str(error).startswith("prompt"):
        return TranscriptError(str(error))
    joint = "" if str(error).startswith(("[", ".")) else ": "
    return TranscriptError(f"{place}{joint}{error}")


def _has_messages(row: Row) -> bool:
    """Whether a row with ``actions`` has messages, too; if those are none, in any known field."""
    keys = ("messages", "completion") if row["actions"] else ("nodes", *MESSAGES_AT)
    kinds = list if row["actions"] else list | str | Mapping
    return any(isinstance(row.get(key), kinds) and bool(row[key]) for key in keys)


def _conversation(row: Mapping[str, Any]) -> tuple[str, Any, Counts]:
    """(name of the field that holds the conversation, the conversation, counts of the row)."""
    counts = {**usage_in(row), **{key: value for key, value in _kept(row) if key in COUNTS}}
    if isinstance(row.get("nodes"), list):
        return "nodes", last_branch(row["nodes"]), counts
    keys = [key for key in MESSAGES_AT if not absent(row.get(key))]
    if not keys and is_message(row):
        return "the row", row, counts
    if not keys and failed(row):
        return "messages", [], counts  # it failed before there were any
    if not keys:
        raise TranscriptError(
            f"no conversation at nodes, {', '.join(MESSAGES_AT)}; "
            f"the row has: {', '.join(map(str, row)) or 'nothing'}; "
            "--messages PATH says where it is"
        )
    key, *others = keys
    messages = response_in(row[key])
    if key == "filtered_resps" and isinstance(messages, list) and len(messages) == 1:
        messages = messages[0]  # a sample of lm-evaluation-harness
    if key in _RESPONSES:
        return key, row if key in _IN_ROW else messages, counts
    replies = [other for other in others if other in _RESPONSES]
    if isinstance(messages, list) and replies:
        reply = row if replies[0] in _IN_ROW else response_in(row[replies[0]])
        return key, _with_reply(messages, reply, counts), {}
    return key, messages, counts


def _with_reply(messages: list[Any], reply: Any, counts: Counts) -> list[Any]:
    """Append the reply to the messages of a request, unless they end with a reply already.

    The row's ``counts`` are of this request.
    """
    own = usage_in(reply) if isinstance(reply, Mapping) else {}
    last = messages[-1] if messages else None
    if isinstance(last, Mapping) and is_from_agent(last):
        return [*messages[:-1], *noted([last], {**counts, **own}, key="")]
    return [*messages, *noted(messages_of(reply), {**counts, **own}, key="")]


def last_branch(nodes: Sequence[Any]) -> list[Any]:
    """The messages that lead to the last message of a verifiers trace, which is a tree.

    Messages of role ``assistant`` that were not sampled are left out: the agent did not write them.
    """
    messages: list[Any] = []
    position: int | None = len(nodes) - 1
    while position is not None and position >= 0:
        node = nodes[position]
        message = at(node, "message")
        if not isinstance(message, Mapping):
            raise TranscriptError(f"nodes[{position}].message: expected an object")
        if message.get("role") != "assistant" or node.get("sampled", True):
            messages.append(message)
        parent = node.get("parent")
        if parent is not None and not (isinstance(parent, int) and 0 <= parent < position):
            raise TranscriptError(f"nodes[{position}].parent: expected an earlier node")
        position = parent
    return messages[::-1]


def extra_of(conversation: Conversation) -> dict[str, Any]:
    """The short plain fields of a row that a transcript keeps.

    Its counts and its cost are kept only if their values fit.
    """
    return {key: value for key, value in _kept(conversation.row) if key != conversation.place}


def _kept(row: Row) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        kept: Any = None
        if key in _COUNTS:
            kept = whole(value)
        elif key == "cost":
            kept = value if type(value) in (int, float) and 0 <= value < inf else None
        elif key not in _OWN_KEYS:
            is_short = isinstance(value, str) and len(value) <= 100
            kept = value if is_short or isinstance(value, int | float) else None
        if not absent(kept):
            yield key, kept
