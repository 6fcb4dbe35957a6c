"""Turn a row of a framework's file, a conversation of an incident, into a transcript."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from logtriage.actions import Malformed
from logtriage.codec import structure_transcript
from logtriage.conversations.blocks import at, objects
from logtriage.conversations.counts import Counts, Spent
from logtriage.conversations.failures import failed, failed_request, status_of, status_once_closed
from logtriage.conversations.fields import (
    COUNTS,
    Conversation,
    at_place,
    conversation_of,
    extra_of,
    last_branch,
)
from logtriage.conversations.incidents import incident_in, openings_in, own_messages
from logtriage.conversations.messages import is_from_agent, text_of
from logtriage.conversations.names import Row, agent_of
from logtriage.conversations.playing import played
from logtriage.conversations.screens import closed_after, text_screens
from logtriage.conversations.shapes import is_team_row
from logtriage.conversations.teams import joint_transcript
from logtriage.conversations.wires import Style, steps_of_conversation, turns_of
from logtriage.conversations.words import kept, words_beside
from logtriage.drawing.sealing import incident_of
from logtriage.dynamics import play_parsed
from logtriage.errors import InvalidInput, TranscriptError
from logtriage.grading import Resolver
from logtriage.parsing import actions_from_wire
from logtriage.roles.splits import get_role_split
from logtriage.transcript import Transcript, plays_of


@attrs.frozen
class Reading:
    """The transcript of a row, and how it was read.

    ``unread`` are the reasons why replies could not be read, ``left_out`` counts calls that were
    not carried out, ``screens`` the screens compared with the replay (None for a row of actions).
    ``partly_counted``: tokens or costs of some requests are known, and left out. ``rows`` counts
    the rows that were joined, ``is_closed`` says whether the actions end the incident, and
    ``is_checked`` whether an answer tells the tick of an action, and ``last`` counts the actions of
    the last turn. ``played`` has the type and value of each action, without those of bad texts.
    """

    transcript: Transcript
    unread: tuple[str, ...] = ()
    left_out: int = 0
    screens: int | None = None
    partly_counted: bool = False
    rows: int = 1
    is_closed: bool = False
    is_checked: bool = True
    last: int = 0
    played: tuple[tuple[str, object], ...] = ()

    def counting(self, total: tuple[Counts, bool]) -> "Reading":
        """The reading with the counts of the whole conversation in its transcript."""
        counts, partly = total
        extra = {key: value for key, value in self.transcript.extra.items() if key not in COUNTS}
        transcript = attrs.evolve(self.transcript, extra={**extra, **counts})
        return attrs.evolve(self, transcript=transcript, partly_counted=partly)


def spent_on(conversation: Conversation) -> Spent:
    """What the requests of a conversation note of their tokens and costs."""
    messages = conversation.messages
    turns = ([messages[place] for place in turn] for turn, _ in turns_of(messages))
    is_failed = failed_request(conversation.row) and not (messages and is_from_agent(messages[-1]))
    return Spent.of(turns, conversation.counts, is_failed)


def transcript_of_row(
    row: object,
    *,
    incident_at: str | None = None,
    style: Style | str = Style.AUTO,
    other_tools: Collection[str] = (),
    resolve: Resolver = incident_of,
) -> Transcript:
    """The transcript of one row.

    ``incident_at`` is the dotted path to the incident's id, if it is none of :data:`INCIDENT_AT`,
    or the id itself; ``style`` and ``other_tools`` are as in
    :func:`~logtriage.conversations.wires.actions_of_conversation`. A row with an ``error`` (or
    ``errors``), or a ``status`` that is no normal end, gets it as its status, so that it is not
    scored. Numbers and short texts are kept. Beside the id, a row of a sealed incident must have
    ``seal``, the fingerprint of its key, and a row of a world other than the default must have
    ``world``. Calls are left out if the screens show that they were not carried out
    (:func:`logtriage.conversations.playing.played`).

    Raises:
        TranscriptError: naming the field and what was expected, or the first screen that
            contradicts the calls before it.
        UnknownName, InvalidInput: for an incident id that does not exist.
        SealError: for a sealed incident without its key, or with another one.
    """
    conversation = conversation_of(row)
    return reading_of(conversation, incident_at, style, other_tools, resolve).transcript


def reading_of(
    conversation: Conversation,
    incident_at: str | None,
    style: Style | str,
    other_tools: Collection[str],
    resolve: Resolver,
) -> Reading:
    """The transcript of a conversation, as :func:`transcript_of_row` makes it."""
    row, place = conversation.row, conversation.place
    if is_team_row(row):
        return Reading(_joint_transcript(row, resolve))
    if place == "actions":
        if "incident" not in row:
            row = {**row, "incident": incident_in(conversation, incident_at, resolve).id}
        transcript = structure_transcript(dict(row))
        if transcript.role_split is not None:  # check that roles share ticks as the split allows
            plays_of(transcript, resolve(transcript.incident).topology)
        return Reading(transcript)
    incident = incident_in(conversation, incident_at, resolve)
    topology = incident.topology
    try:
        messages = own_messages(conversation, incident)
        steps = steps_of_conversation(messages, topology, style=style, other_tools=other_tools)
        texts = [text_of(messages[step.place]).strip() for step in steps]
        is_unread = {step.wire["action_type"] for step in steps} == {"malformed"}
        if is_unread and all(map(_is_shown, texts)):
            raise InvalidInput("what the environment shows, and no reply of the agent")
        shown = played(incident, messages, steps)
    except InvalidInput as error:
        openings = {screen.text for screen in openings_in(conversation.messages)}
        if len(openings) > 1:
            what = (
                f"first screens of {len(openings)} incidents; split them, or take the transcripts"
            )
            error = InvalidInput(f"{error}; it has {what} of a run of logtriage mcp")
        raise at_place(place, error) from None
    if not any(map(is_from_agent, messages)) and not failed(row):
        raise TranscriptError(f"{place}: no reply of the agent among {len(messages)} messages")
    _check_alike(row, shown.wires, place)
    extra = {**extra_of(conversation), **kept(words_beside(messages, shown.steps))}
    state, _ = play_parsed(incident, actions_from_wire(shown.wires, topology))
    status = status_once_closed(row) if state.is_closed else status_of(row)
    transcript = Transcript(
        *(incident.id, shown.wires, status, agent_of(row), extra),
        seal=incident.seal,
        world=incident.world_mark,
    )
    last = next(reversed([turn for turn, _ in turns_of(messages)]), [])
    unread = (action.reason for action in state.actions if isinstance(action, Malformed))
    reading = Reading(
        *(transcript, tuple(unread), shown.left_out, shown.screens),
        is_closed=state.is_closed,
        is_checked=shown.is_checked,
        last=sum(step.place in last for step in shown.steps),
        played=tuple(map(_played, shown.wires)),
    )
    return reading.counting(spent_on(conversation).total())


def _is_shown(text: str) -> bool:
    """Whether a text is one screen, or says that the incident is closed."""
    return closed_after(text) is not None or [screen.text for screen in text_screens(text)] == [
        text
    ]


def _played(wire: Mapping[str, Any]) -> tuple[str, object]:
    kind = str(wire["action_type"])
    return kind, None if kind == "malformed" else wire.get("value")


def _check_alike(row: Row, wires: Sequence[Mapping[str, Any]], place: str) -> None:
    """Raise TranscriptError if the ``actions`` of a row are not those of its messages."""
    keys = ("action_type", "value", "confidence")
    actions = [wire for wire in objects(row.get("actions")) if "action_type" in wire]
    noted = [tuple(map(wire.get, keys)) for wire in actions]
    read = [tuple(map(wire.get, keys)) for wire in wires]
    if noted and noted != read:
        what = f"{len(noted)}, not {len(read)}"
        for number, (one, other) in enumerate(zip(noted, read, strict=False)):
            if one != other:
                what = f"actions[{number}] is {one[:2]}, not {other[:2]}"
                break
        raise TranscriptError(f"actions: not those of {place}: {what}; leave out one of the two")


def _joint_transcript(row: Mapping[str, Any], resolve: Resolver) -> Transcript:
    """The transcript of a team, put together from the trace of each role."""
    traces = {at(trace, "task.data.role"): trace for trace in row["traces"]}
    incident = incident_in(Conversation(row, "traces", ()), None, resolve)
    split = get_role_split(at(row["traces"][0], "task.data.role_split"))
    messages = {name: last_branch(trace["nodes"]) for name, trace in traces.items()}
    agents = {name: agent_of(trace) for name, trace in traces.items()}
    agent = ",".join(f"{role}={agents[role]}" for role in split.names if agents.get(role))
    return joint_transcript(messages, split, incident, agent or None, status_of(row))
