"""Find the incident of a row, and the messages that are about it.

A row names its incident, or the agent was shown its first screen (tick 0).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from logtriage._lib.jsonvalues import absent, json_kind
from logtriage.conversations.blocks import at, text_at
from logtriage.conversations.fields import Conversation
from logtriage.conversations.messages import Message, answers_of, is_from_agent, text_of
from logtriage.conversations.names import INCIDENT_AT
from logtriage.conversations.screens import Screen, mismatch, screens_in, screens_of
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import SPLITS, incident_ids
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.grading import Resolver
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import initial_state
from logtriage.tasks import DEFAULT_TASKS, get_task
from logtriage.transcript import check_drawn

#: Roles that may show a first screen. Tools may not: the agent may have written their messages.
_SHOWING: Final = ("user", "human", "system", "developer")
#: A row without an id is searched for by its first screen, in this many incidents of each task
#: and in this split.
_SEARCHED: Final = 1_000
_SPLIT: Final = "test"
_TASKS: Final = tuple(task for task in DEFAULT_TASKS if "-fog" not in task)
_ID: Final = re.compile(
    rf"(?<![\w/-])[a-z][\w:+.-]*-v\d+(?:-fog\d)?/(?:{'|'.join(SPLITS)})/\d+(?![\w/])"
)


def incident_in(conversation: Conversation, incident_at: str | None, resolve: Resolver) -> Incident:
    """The incident of a row. Its key and world must be those that the row names beside its id."""
    row = conversation.row
    wanted = incident_at if incident_at is not None and "/" in incident_at else None  # else a path
    for path in INCIDENT_AT if wanted or incident_at is None else (incident_at,):
        name = at(row, path)
        if isinstance(name, str):
            if wanted not in (None, name):
                raise TranscriptError(
                    f"{path}: the row is of {name!r}, and {wanted!r} was asked for"
                )
            incident = resolve(name)
            if incident.seal is not None or incident.world_mark is not None:
                beside = "".join(path.rpartition(".")[:2])
                seal, world = (text_at(row, [f"{beside}{mark}"]) for mark in ("seal", "world"))
                check_drawn(seal, world, incident)
            return incident
        if not absent(name):
            raise TranscriptError(f"{path}: expected an incident id, got {json_kind(name)}")
    named = _named_in(conversation) if incident_at is None else wanted
    if named is not None:
        return resolve(named)
    raise TranscriptError(
        f"no incident id at {incident_at or ', '.join(INCIDENT_AT)}; "
        f"the row has: {', '.join(map(str, row)) or 'nothing'}; --incident PATH says where it "
        "stands, --incident ID which it is"
    )


def own_messages(conversation: Conversation, incident: Incident) -> list[Message]:
    """The messages from the last opening screen (tick 0) on.

    Replies before an opening screen may be examples. Then the last opening screen, and no other,
    must be this incident's; else InvalidInput. If only the prompt holds one, the messages follow
    what the prompt shows from its last one on.
    """
    messages = conversation.messages
    found = [_opening(message, incident) for message in messages]
    openings = {number: screen for number, screen in enumerate(found) if screen is not None}
    places = list(openings)
    replies = (number for number, message in enumerate(messages) if is_from_agent(message))
    first_reply = next(replies, len(messages))
    if late := [number for number in places if number > first_reply]:
        wanted = render_observation(observe(initial_state(incident)))
        own = [n for n, screen in openings.items() if mismatch(screen.text, wanted) is None]
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
    starts = [number for number, turn in enumerate(prompt) if _opening(turn, incident)]
    shown = [turn for turn in prompt[starts[-1] :] if not is_from_agent(turn)] if starts else []
    return [*shown, *messages]


def _opening(message: Message, incident: Incident) -> Screen | None:
    """The first screen (tick 0) of any incident in a message to the agent; None without one."""
    if message.get("role") not in _SHOWING or is_from_agent(message):
        return None
    screens = screens_in(text_of(message), incident)
    return screens[0] if screens and screens[0].tick == 0 else None


def _named_in(conversation: Conversation) -> str | None:
    """The id that stands before the agent's first message; else that of the first screen shown.

    None if several ids stand there, or if no incident searched has that screen.
    """
    shown = conversation.shown_first()
    named = {name for answer in shown for name in _ID.findall(answer.text)}
    if named:
        return named.pop() if len(named) == 1 else None
    openings = openings_in((*conversation.prompt, *conversation.messages))
    return _id_by_screen(openings[0]) if openings else None


def openings_in(messages: Sequence[Message]) -> list[Screen]:
    """The first screens (tick 0) that others than the agent show in messages."""
    others = (message for message in messages if not is_from_agent(message))
    shown = screens_of(answer for message in others for answer in answers_of(message))
    return [screen for screen in shown if screen.tick == 0]


def _id_by_screen(first: Screen) -> str | None:
    """The id of the incident searched whose first screen this is; None if no one's is."""
    for task in _TASKS:
        if get_task(task).horizon == first.horizon:
            for text, name in _ids_by_first_screen(task).items():
                if text in first.text:
                    return name
    return None


@lru_cache(maxsize=len(_TASKS))
def _ids_by_first_screen(task: str) -> Mapping[str, str]:
    return {
        render_observation(observe(initial_state(make_incident(name)))): name
        for name in incident_ids(task, _SPLIT, _SEARCHED)
    }
