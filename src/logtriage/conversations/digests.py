"""Digests by which the rows of a log of requests are found to go on from each other.

A client seldom sends a reply back as it came: it writes the arguments of calls anew, drops thoughts
and the text beside a call. So a reply is digested in one form: its calls, or else its text without
thoughts.
"""

import json
from hashlib import blake2b
from typing import Any

import attrs

from logtriage.conversations.blocks import opened
from logtriage.conversations.fields import Conversation
from logtriage.conversations.messages import Message, answers_of, is_from_agent, text_of
from logtriage.conversations.wires import arguments_of, calls_of, id_of_call, name_of
from logtriage.parsing.replies import spoken


@attrs.frozen
class Digests:
    """The digests of a conversation up to each message; messages that hold nothing are passed.

    ``before`` is the one before the last reply, ``reply`` the one at its end, and ``ends`` are of
    the whole, with and without the ids of the calls in the last message: some servers give ids that
    no client sends back.
    """

    prefixes: tuple[bytes, ...] = ()
    before: bytes | None = None
    reply: bytes | None = None
    ends: tuple[bytes, ...] = ()

    @property
    def end(self) -> bytes | None:
        """The digest of the whole conversation."""
        return self.ends[0] if self.ends else None


def digests_of(conversation: Conversation) -> Digests:
    """The digests of a conversation, from its prompt on."""
    prefixes: list[bytes] = []
    before = reply = None
    ends: tuple[bytes, ...] = ()
    was_reply = False
    digest = blake2b(digest_size=12)
    for turn in (*conversation.prompt, *conversation.messages):
        is_reply = is_from_agent(turn)
        parts = _reply(turn) if is_reply else [[a.id, a.text.strip()] for a in answers_of(turn)]
        if not parts:
            continue
        nameless = [[*part[:2], None] for part in parts] if is_reply else parts
        without_ids = digest.copy()
        without_ids.update(_text(nameless))
        digest.update(_text(parts))
        ends = digest.digest(), without_ids.digest()
        if is_reply and not was_reply:
            before = prefixes[-1] if prefixes else None
        if is_reply:
            reply = ends[0]
        was_reply = is_reply
        prefixes.append(ends[0])
    return Digests(tuple(prefixes), before, reply, ends)


def _reply(message: Message) -> list[Any]:
    """A message of the agent in one form: (tool, arguments, id) of each call, or else its text."""
    calls = [
        [name_of(call), opened(arguments_of(call)) or {}, id_of_call(call)]
        for call in calls_of(message)
    ]
    answer, _ = spoken(text_of(message))
    return calls or ([["", answer.strip(), None]] if answer.strip() else [])


def _text(parts: object) -> bytes:
    return json.dumps(parts, sort_keys=True, default=str).encode()
