"""Teams whose roles are agents of a framework, each with a conversation of its own.

Each reply of a role is its action in one tick, so joint play can be put together from the
conversations that a framework saved.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest

from logtriage.actions import Action, Malformed, signed
from logtriage.conversations.dialects import messages_of
from logtriage.conversations.messages import Message, is_from_agent, text_of
from logtriage.conversations.wires import calls_of, no_call, wire_of
from logtriage.conversations.words import Words, kept, own_words
from logtriage.incident import Incident
from logtriage.joint import observe_role
from logtriage.parsing import action_to_wire, actions_from_wire
from logtriage.parsing.tools import TEAM_TOOLS
from logtriage.rendering import render_observation, system_prompt
from logtriage.roles import Role, RoleSplit, as_allowed, is_request
from logtriage.state import State, initial_state
from logtriage.topology import Topology
from logtriage.transcript import COMPLETED, Transcript


def role_opening(incident: Incident, split: RoleSplit, role: Role) -> list[dict[str, str]]:
    """The messages that open a role's conversation: its rules, and its first screen."""
    rules = system_prompt(incident, "tools", split=split, role=role.name)
    return [
        {"role": "system", "content": rules},
        {"role": "user", "content": role_screen(initial_state(incident), split, role)},
    ]


def role_screen(state: State, split: RoleSplit, role: Role) -> str:
    """The screen of a role in a state."""
    return render_observation(observe_role(state, split, role))


def role_action(
    reply: Sequence[Message], role: Role, topology: Topology, left: int | None = None
) -> Action:
    """The action of a role in its tick: the tool call in the messages of its reply.

    The action is malformed, and the role loses its turn, if the reply has no call, several
    different calls, or a call that the role may not make: of a tool or a service that is not its
    own, or a request when none is ``left`` (None: there is no limit).
    """
    tools = role.kinds.intersection(TEAM_TOOLS)
    wires = [wire_of(call, tools) for message in reply for call in calls_of(message)]
    actions = actions_from_wire(wires, topology, role.kinds)
    if not actions:
        silent = no_call("\n".join(map(text_of, reply)))
        return Malformed(silent["value"], silent["reason"], role.name)
    if any(action != actions[0] for action in actions[1:]):
        reason = f"{len(actions)} different calls in one reply; make exactly one"
        return Malformed(", ".join(map(str, wires)), reason, role.name)
    return as_allowed(signed(actions[0], role.name), role, topology, left)


def joint_transcript(
    conversations: Mapping[str, Sequence[Message]],
    split: RoleSplit,
    incident: Incident,
    agent: str | None = None,
    status: str = COMPLETED,
) -> Transcript:
    """The joint play of a team, from the messages of each role by its name.

    A tick counts if every role has answered in it. Requests beyond a role's budget are malformed,
    as they were in play. An InvalidInput names a value that is no message.
    """
    own = {name: messages_of(conversations.get(name, ())) for name in split.names}
    played = (_actions(own[role.name], role, incident.topology) for role in split.roles)
    rounds = list(zip(*played, strict=False))
    wires = [action_to_wire(action) for actions in rounds for action in actions]
    ticks = tuple(tick for tick, actions in enumerate(rounds) for _ in actions)
    said = {name: [own_words([one]) for one in own[name] if is_from_agent(one)] for name in own}
    extra = kept(joint_words(said, split, len(wires)))
    return Transcript(
        *(incident.id, tuple(wires), status, agent, extra, ticks, incident.seal, split.name),
        world=incident.world_mark,
        role_split_mark=split.fingerprint,
    )


def joint_words(said: Mapping[str, Iterable[str | None]], split: RoleSplit, actions: int) -> Words:
    """The words beside each of the ``actions`` of joint play.

    ``said`` has the own words of each role by its name, tick by tick; a role may be missing.
    """
    rounds = zip_longest(*(said.get(name, ()) for name in split.names))
    return tuple(chain.from_iterable(rounds))[:actions]


def _actions(messages: Sequence[Message], role: Role, topology: Topology) -> list[Action]:
    actions: list[Action] = []
    left = role.budget
    for message in filter(is_from_agent, messages):
        action = role_action((message,), role, topology, left)
        if left is not None and is_request(action):
            left -= 1
        actions.append(action)
    return actions
