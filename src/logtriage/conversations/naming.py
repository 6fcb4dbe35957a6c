"""Which incident a conversation is of, where no field of its row says so."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from logtriage.conversations.messages import Message, answers_of, is_from_agent
from logtriage.conversations.screens import Screen, text_screens
from logtriage.drawing.generator import make_incident
from logtriage.drawing.ids import SPLITS, incident_ids
from logtriage.observation import observe
from logtriage.rendering import render_observation
from logtriage.state import initial_state
from logtriage.tasks import DEFAULT_TASKS, get_task

#: A first screen is looked for among this many incidents of each task of the benchmark ...
SEARCHED: Final = 1_000
#: ... and of this split.
SPLIT: Final = "test"
_TASKS: Final = tuple(task for task in DEFAULT_TASKS if "-fog" not in task)
_ID: Final = re.compile(
    rf"(?<![\w/-])[a-z][\w:+.-]*-v\d+(?:-fog\d)?/(?:{'|'.join(SPLITS)})/\d+(?![\w/])"
)


def named_in(messages: Sequence[Message]) -> str | None:
    """The incident that is named before the agent's first message, or that its screen shows.

    None if several are named, or none, and no first screen is that of an incident searched.
    """
    texts: list[str] = []
    for message in messages:
        if is_from_agent(message):
            break
        texts += (answer.text for answer in answers_of(message))
    named = {name for text in texts for name in _ID.findall(text)}
    if named:
        return named.pop() if len(named) == 1 else None
    others = (message for message in messages if not is_from_agent(message))
    shown = (answer.text for message in others for answer in answers_of(message))
    screens = (screen for text in shown for screen in text_screens(text))
    first = next((screen for screen in screens if screen.tick == 0), None)
    return None if first is None else _shown_by(first)


def _shown_by(first: Screen) -> str | None:
    for task in _TASKS:
        if get_task(task).horizon == first.horizon:
            for text, name in _first_screens(task).items():
                if text in first.text:
                    return name
    return None


@lru_cache(maxsize=len(_TASKS))
def _first_screens(task: str) -> Mapping[str, str]:
    names = incident_ids(task, SPLIT, SEARCHED)
    states = (initial_state(make_incident(name)) for name in names)
    return {
        render_observation(observe(state)): name for state, name in zip(states, names, strict=True)
    }
