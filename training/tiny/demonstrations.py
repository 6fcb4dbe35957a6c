"""What a noisy expert did, as conversations with tool calls."""

from collections.abc import Sequence
from typing import Any, Final

import attrs

import logtriage as lt
from logtriage.actions import Action
from logtriage.adapters.episode import answer, opening
from logtriage.adapters.tools import call_from_action
from logtriage.evaluation import play_episode
from logtriage.observation import Observation
from logtriage.parsing import action_to_wire
from logtriage.policies import Memory, NoisyPolicy, Policy
from logtriage.policies.expert import ExpertPolicy
from logtriage.rng import Stream, hash_name, mix
from logtriage.tasks import FIRST_WORLD
from training.common.settings import TRAIN_SPLIT

SHY_STREAM: Final = hash_name("shy-expert")
Conversation = list[dict[str, Any]]


def demonstration_ids(episodes: int, tasks: Sequence[str] = FIRST_WORLD) -> list[str]:
    """Ids of the split ``train``, evenly from the tasks and in turn."""
    each = -(-episodes // len(tasks))
    drawn = [lt.incident_ids(task, TRAIN_SPLIT, each) for task in tasks]
    return [one for ids in zip(*drawn, strict=True) for one in ids][:episodes]


@attrs.frozen
class PagesNobody:
    """Plays as another policy that believes it has paged somebody already."""

    policy: Policy

    def act(self, observation: Observation, memory: Memory) -> tuple[Action, Memory]:
        """The other policy's action."""
        paged = observation.pages or observation.topology.teams[:1]
        return self.policy.act(attrs.evolve(observation, pages=paged), memory)


def demonstration(incident_id: str, slips: int, shy: int, seed: int) -> Conversation:
    """An episode as a chat: the rules, the first screen, then calls and their answers.

    It ends with an empty reply of the assistant: there is nothing more to do. The expert
    slips in ``slips`` of 1,000 actions, and pages nobody in ``shy`` of 1,000 episodes; in
    which of them hangs on ``seed`` and the id.
    """
    incident = lt.make_incident(incident_id)
    own = mix(seed) ^ hash_name(incident_id)
    expert: Policy = ExpertPolicy()
    if Stream(own, SHY_STREAM).chance(shy):
        expert = PagesNobody(expert)
    policy = NoisyPolicy(expert, slips, own)
    said: Conversation = list(opening(incident, "tools"))
    wires = []
    for action in play_episode(incident, policy).actions:
        name, arguments = call_from_action(action)
        arguments.pop("confidence", None)  # the expert's, and no imitator's
        wires.append(action_to_wire(action))
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        said.append({"role": "assistant", "content": "", "tool_calls": [call]})
        said.append({"role": "tool", "name": name, "content": answer(incident, wires)})
    return [*said, {"role": "assistant", "content": ""}]
