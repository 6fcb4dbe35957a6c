"""What in a conversation was given to the agent and not done by it: few-shot examples."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from logtriage.conversations.messages import Message, is_agents, messages_of, text_of
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import initial_state

_FIRST: Final = re.compile(r"^TICK 0/\d+", re.MULTILINE)
#: Whose messages show screens; a tool's are left out, since an agent may have written them.
_SHOWING: Final = ("user", "human", "system", "developer")


def without_prompt(messages: Sequence[Message], row: Mapping[str, Any]) -> Sequence[Message]:
    """The messages without those of the row's ``prompt``, if they begin with these."""
    prompt = row.get("prompt")
    if not isinstance(prompt, list):
        return messages
    given = messages_of(prompt)
    return messages[len(given) :] if list(messages[: len(given)]) == given else messages


def without_examples(messages: Sequence[Message], incident: Incident) -> Sequence[Message]:
    """The messages from the incident's first screen on, if turns of the agent stand before it.

    Such turns are examples: they are of other incidents.

    Raises:
        InvalidInput: if a first screen follows turns of the agent, but is not the only one
            of this incident and the last of all.
    """
    firsts, late = [], []
    acted = False
    for number, message in enumerate(messages):
        if is_agents(message):
            acted = True
        elif message.get("role") in _SHOWING and _FIRST.search(text_of(message)):
            firsts.append(number)
            if acted:
                late.append(number)
    if not late:
        return messages
    screen = render_observation(observe(initial_state(incident))).strip()
    own = [number for number in firsts if screen in text_of(messages[number])]
    if own == firsts[-1:]:
        return messages[own[0] :]
    raise InvalidInput(
        f"[{late[0]}]: a first screen after replies of the agent, which may be examples or play; "
        "leave examples out, or give them as the row's 'prompt'"
    )
