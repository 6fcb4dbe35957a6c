"""What the expert noted and did, with slips, as conversations with tool calls."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

import attrs

from logtriage.actions import ACTION_TYPES, Action, Escalate
from logtriage.adapters.episode import answer, opening
from logtriage.conversations.tools import call_from_action
from logtriage.incident import Incident
from logtriage.observation import Observation, observe
from logtriage.parsing import action_to_wire
from logtriage.policies import NoisyPolicy
from logtriage.policies.expert import ExpertPolicy
from logtriage.policies.notebook import Notebook
from logtriage.rng import Stream, hash_name, mix
from logtriage.roles import VIEWS, Role
from logtriage.state import initial_state
from logtriage.transition import transition
from training.common.settings import TRAIN_SPLIT
from training.language.sources import Source
from training.tiny.notes import note
from training.tiny.settings import Settings

ASTRAY_STREAM: Final = hash_name("notes that go astray")
#: So many suspects after the first may be named by a note that goes astray.
OTHERS: Final = 8
REWORDED_STREAM: Final = hash_name("log lines in other words")
#: A log line: its time, level and service, and what it says.
_LINES: Final = re.compile(r"(?m)^([+-]\d+s [A-Z]+ [\w.-]+: )(.+)$")
#: It never asks for lines: it could not read them (:func:`without_logs`).
TEACHER: Final = ExpertPolicy(
    Role("unlettered", VIEWS, tuple(one for one in ACTION_TYPES if one != "request_more_logs"))
)
Conversation = list[dict[str, Any]]


def demonstration_ids(
    episodes: int, tasks: Sequence[str], source: Source, skip: int = 0
) -> list[str]:
    """Ids of the split ``train``, evenly from the tasks and in turn, after the first ``skip``."""
    places = (divmod(number, len(tasks)) for number in range(skip, skip + episodes))
    return [source.id_at(tasks[task], TRAIN_SPLIT, index) for index, task in places]


@attrs.frozen
class Turn:
    """What was noted and done, and whether the teacher would have noted and done it, too."""

    note: str
    action: Action
    sound: bool
    meant: bool


def turns(incident: Incident, settings: Settings) -> list[Turn]:
    """An episode of the teacher, who slips in ``slips`` of 1,000 actions, never on a page.

    What to do about a slip is the teacher's decision again. In ``astray`` of 1,000 notes another
    suspect is named, one of the next :data:`OTHERS`.
    """
    own = mix(settings.seed) ^ hash_name(incident.id)
    drawn = Stream(own, ASTRAY_STREAM)
    slipping = NoisyPolicy(TEACHER, settings.slips, own, spared=(Escalate,))
    state, book, played = initial_state(incident), Notebook(), []
    while not state.is_closed:
        observation = without_logs(observe(state))
        meant, _ = TEACHER.act(observation, book)
        action, book = slipping.act(observation, book)
        place = 1 + drawn.below(OTHERS) if drawn.chance(settings.astray) else 0
        written, taught = note(observation, book, place), note(observation, book)
        played.append(Turn(written, action, written == taught, action == meant))
        state = transition(state, action)
    return played


def without_logs(observation: Observation) -> Observation:
    """The same screen to one who cannot read log lines, which each split words in its own way."""
    return attrs.evolve(
        observation,
        window=tuple(attrs.evolve(line, token=None) for line in observation.window),
        inspection=tuple(attrs.evolve(line, token=None) for line in observation.inspection),
    )


def demonstration(incident: Incident, settings: Settings) -> Conversation:
    """An episode as a chat: the rules, the first screen, then notes, calls and their answers.

    In ``reworded`` of 1,000 demonstrations the words of log lines change places.

    It ends with an empty reply of the assistant: there is nothing more to do. The key ``unlearnt``
    says from where on a message is not the teacher's: from its ``suspect`` or its ``call``. From
    there on it counts as a screen does.
    """
    said: Conversation = list(opening(incident, "tools"))
    wires: list[dict[str, Any]] = []
    for turn in turns(incident, settings):
        wires.append(action_to_wire(turn.action))
        said.append(spoken(turn.note, turn.action))
        if not turn.sound:
            said[-1]["unlearnt"] = "suspect"
        elif not turn.meant:
            said[-1]["unlearnt"] = "call"
        called = said[-1]["tool_calls"][0]["function"]["name"]
        said.append({"role": "tool", "name": called, "content": answer(incident, wires)})
    return [*in_other_words(said, incident, settings), {"role": "assistant", "content": ""}]


def teachers_reply(observation: Observation, book: Notebook) -> dict[str, Any]:
    """What the teacher says to a screen; ``book`` has those before it."""
    meant, known = TEACHER.act(observation, book)
    return spoken(note(observation, known), meant)


def spoken(content: str, action: Action) -> dict[str, Any]:
    """The assistant's message: its note, and the action as a call."""
    name, arguments = call_from_action(action)
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def in_other_words(said: Conversation, incident: Incident, settings: Settings) -> Conversation:
    """The same, where ``reworded`` wants it, with screens whose log lines have other words."""
    drawn = Stream(mix(settings.seed) ^ hash_name(incident.id), REWORDED_STREAM)
    if not drawn.chance(settings.reworded):
        return said
    return [
        {**one, "content": reworded(one["content"], drawn)} if one["role"] != "assistant" else one
        for one in said
    ]


def reworded(screen: str, stream: Stream) -> str:
    """The same screen with the words of its log lines in another order, over all of the lines."""
    words = [word for _, message in _LINES.findall(screen) for word in message.split(" ")]
    for place in range(len(words) - 1, 0, -1):
        other = stream.below(place + 1)
        words[place], words[other] = words[other], words[place]
    rest = iter(words)
    return _LINES.sub(lambda line: line[1] + " ".join(islice(rest, line[2].count(" ") + 1)), screen)
