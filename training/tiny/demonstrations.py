"""What a policy of the second world did, with slips, as conversations with tool calls."""

from collections.abc import Sequence
from typing import Any, Final

from logtriage.actions import Action, ClassifySeverity, Escalate, IdentifyRootCause
from logtriage.adapters.episode import answer, opening, state_after
from logtriage.adapters.tools import call_from_action
from logtriage.evaluation import play_episode
from logtriage.incident import Incident
from logtriage.parsing import action_to_wire
from logtriage.policies import NoisyPolicy
from logtriage.registry import make_policy
from logtriage.rng import Stream, hash_name, mix
from training.common.settings import TRAIN_SPLIT
from training.language.sources import Source
from training.tiny.settings import Settings

SHY_STREAM: Final = hash_name("shy-expert")
Conversation = list[dict[str, Any]]


def demonstration_ids(
    episodes: int, tasks: Sequence[str], source: Source, skip: int = 0
) -> list[str]:
    """Ids of the split ``train``, evenly from the tasks and in turn, after the first ``skip``."""
    places = (divmod(number, len(tasks)) for number in range(skip, skip + episodes))
    return [source.id_at(tasks[task], TRAIN_SPLIT, index) for index, task in places]


def demonstration(incident: Incident, settings: Settings) -> Conversation:
    """An episode as a chat: the rules, the first screen, then calls and their answers.

    It ends with an empty reply of the assistant: there is nothing more to do. The teacher
    slips in ``slips`` of 1,000 actions, never on a page; from ``shy`` of 1,000 episodes its
    pages are left out; which of them depends on ``seed`` and the id.
    """
    said: Conversation = list(opening(incident, "tools"))
    wires: list[dict[str, Any]] = []
    for action in demonstrated(incident, settings):
        if wires and state_after(incident, wires)[0].is_closed:
            break
        name, arguments = call_from_action(action)
        arguments.pop("confidence", None)  # the teacher's, and no imitator's
        wires.append(action_to_wire(action))
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        said.append({"role": "assistant", "content": "", "tool_calls": [call]})
        said.append({"role": "tool", "name": name, "content": answer(incident, wires)})
    return [*said, {"role": "assistant", "content": ""}]


def demonstrated(incident: Incident, settings: Settings) -> tuple[Action, ...]:
    """The actions of a demonstration.

    A page that slipped would teach that pages are wrong. What is left out of a shy one is
    nothing but its pages: the others stay as the teacher took them.
    """
    own = mix(settings.seed) ^ hash_name(incident.id)
    teacher = make_policy(settings.teacher)(incident)
    policy = NoisyPolicy(teacher, settings.slips, own, spared=(Escalate,))
    actions = cause_first(play_episode(incident, policy).actions)
    if not Stream(own, SHY_STREAM).chance(settings.shy):
        return actions
    return tuple(one for one in actions if not isinstance(one, Escalate))


def cause_first(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The same actions with pages after the root cause, where nothing but words is between.

    The teacher knows all at once and pages first. An imitator writes its answers one after
    the other: with the cause on the screen, its owner is one look-up away. Grades are the
    same, since a page counts for what comes after it, and that is the remedy.
    """
    cause = next((n for n, one in enumerate(actions) if isinstance(one, IdentifyRootCause)), None)
    if cause is None:
        return tuple(actions)
    first = cause
    while first and isinstance(actions[first - 1], Escalate | ClassifySeverity):
        first -= 1
    words = actions[first : cause + 1]
    pages = [one for one in words if isinstance(one, Escalate)]
    rest = [one for one in words if not isinstance(one, Escalate)]
    return (*actions[:first], *rest, *pages, *actions[cause + 1 :])
