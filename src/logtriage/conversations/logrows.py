"""The rows of a log, and the attempt that each is of, as far as names tell.

A session or a trace is of one attempt, whatever file a row stands in and whatever model it names:
servers answer with another name of the model, and a request may fall back to another model. Numbers
of attempts count in one file, for each model.
"""

from collections.abc import Mapping, Sequence

import attrs

from logtriage._lib.grouping import grouped
from logtriage.conversations.counts import Spent
from logtriage.conversations.digests import Digests, digests_of
from logtriage.conversations.fields import Conversation
from logtriage.conversations.messages import is_from_agent, text_of
from logtriage.conversations.names import Names
from logtriage.conversations.rows import Reading, spent_on
from logtriage.conversations.screens import screens_of
from logtriage.conversations.wires import calls_of, name_of
from logtriage.errors import TranscriptError
from logtriage.parsing.tools import SOLO_TOOLS

Result = Reading | TranscriptError


@attrs.frozen(eq=False)
class LogRow:
    """A row of a file: its place, its transcript or error, and what it names.

    ``conversation`` is kept of rows that may be a part of a conversation. Before the first reply a
    row shows its ``opening``, the first screen (tick 0), and later screens if it ``is_late``; it
    ``begins_late`` if its first messages are later ones of a conversation. ``plays_nothing``: it is
    a request from the beginning, with one reply at most, and holds no action. ``number`` counts the
    rows of all files; ``log`` tells files of several rows apart, and ``whose`` (from the incident
    on) attempts, as far as names can. ``trace`` is the row's trace if that has several rows.
    """

    place: str
    line: int | None
    result: Result
    names: Names = attrs.field(factory=Names)
    digests: Digests = attrs.field(factory=Digests)
    spent: Spent = attrs.field(factory=Spent)
    conversation: Conversation | None = None
    opening: str = ""
    is_late: bool = False
    begins_late: bool = False
    plays_nothing: bool = False
    number: int = 0
    log: int | None = None
    whose: tuple[object, ...] = ()
    trace: str | None = None

    @property
    def turns(self) -> int:
        """How many replies it holds."""
        return len(self.spent.turns)

    @property
    def is_named(self) -> bool:
        """Whether it names its attempt or session."""
        return bool(self.names.attempt)

    @property
    def is_closed(self) -> bool:
        """Whether its actions end the incident."""
        return isinstance(self.result, Reading) and self.result.is_closed

    @property
    def is_cut(self) -> bool:
        """Whether it is a request that failed, with the incident open."""
        return isinstance(self.result, Reading) and self.spent.is_failed and not self.is_closed

    @property
    def is_request(self) -> bool:
        """Whether it ends with a reply, or with a request that failed."""
        return self.spent.is_failed or self.digests.reply in self.digests.ends[:1]

    @property
    def is_fragment(self) -> bool:
        """Whether it begins in the middle of a conversation."""
        return self.begins_late or self.digests.before is None or not self.turns

    def cut_by(self, status: str) -> "LogRow":
        """The row with a request after it that failed; a closed incident needs none."""
        if not isinstance(self.result, Reading) or self.is_closed:
            return self
        transcript = attrs.evolve(self.result.transcript, status=status)
        return attrs.evolve(self, result=attrs.evolve(self.result, transcript=transcript))

    @property
    def actions(self) -> tuple[tuple[str, object], ...]:
        """What its actions are. Texts that cannot be read are all alike."""
        return self.result.played if isinstance(self.result, Reading) else ()

    def refused(self, reason: str) -> "LogRow":
        """The row as a bad one."""
        error = TranscriptError(reason, source=self.place, line=self.line)
        return attrs.evolve(self, result=error, conversation=None)

    def __str__(self) -> str:
        return self.place if self.line is None else f"{self.place}:{self.line}"


def row_of_conversation(
    place: str, line: int | None, conversation: Conversation, result: Result, names: Names
) -> LogRow:
    """The row of a conversation and its transcript, or the error in it."""
    digests, spent = digests_of(conversation), spent_on(conversation)
    shown = conversation.shown_first()
    screens = screens_of(shown)
    opening = next((screen.text for screen in screens if screen.tick == 0), "")
    begins_late = not opening and (bool(screens) or any(answer.to_call for answer in shown))
    turns = len(spent.turns)
    may_be_part = bool(conversation.messages or spent.is_failed) and (turns < 2 or begins_late)
    is_short = digests.before is not None if turns == 1 else spent.is_failed and not turns
    is_whole = is_short and bool(digests.prefixes) and not begins_late
    return LogRow(
        *(place, line, result, names, digests, spent),
        conversation=conversation if may_be_part else None,
        opening=opening,
        is_late=len({screen.tick for screen in screens}) > 1,
        begins_late=begins_late,
        plays_nothing=is_whole and not _plays(conversation, result),
    )


def _plays(conversation: Conversation, result: Result) -> bool:
    """Whether a conversation holds an action."""
    if isinstance(result, Reading):
        return len(result.transcript.actions) > len(result.unread)
    replies = [message for message in conversation.messages if is_from_agent(message)]
    calls = [call for reply in replies for call in calls_of(reply)]
    in_text = any("action_type" in text_of(reply) for reply in replies)
    return in_text or any(name_of(call) in SOLO_TOOLS for call in calls)


def identified(rows: Sequence[LogRow]) -> list[LogRow]:
    """The rows with ``whose`` and ``trace``, by what all of them name.

    A failed request often names less than the others, or the model only as it was asked for. It is
    of the attempt whose replies it holds, if there is one.
    """
    in_trace = grouped((row.names.trace, row) for row in rows)
    in_trace.pop(None, None)
    rows = [_identified(row, in_trace.get(row.names.trace, ())) for row in rows]
    owners = grouped((end, row) for row in rows for end in {*row.digests.ends})
    return [_adopted(row, owners) if row.spent.is_failed else row for row in rows]


def _identified(row: LogRow, of_trace: Sequence[LogRow]) -> LogRow:
    names = row.names
    trace = names.trace if len(of_trace) > 1 else None
    if trace is not None:  # any row of a trace may name agent, attempt and session
        agents = {one.names.agent for one in of_trace} - {None}
        attempts = {(one.names.attempt, one.names.is_session) for one in of_trace} - {((), False)}
        if names.agent is None and len(agents) == 1:
            names = attrs.evolve(names, agent=agents.pop())
        if not names.attempt and len(attempts) == 1:
            attempt, is_session = attempts.pop()
            names = attrs.evolve(names, attempt=attempt, is_session=is_session)
    within = () if names.is_session or trace is not None else (row.log, names.model)
    told = row.result
    incident = told.transcript.incident if isinstance(told, Reading) else names.incident
    whose = (incident, names.agent, *names.attempt, *within)
    return attrs.evolve(row, names=names, whose=whose, trace=trace)


def _adopted(row: LogRow, owners: Mapping[bytes, Sequence[LogRow]]) -> LogRow:
    """The failed request as a row of the attempt whose last reply it repeats, if just one fits."""
    reply = row.digests.reply
    fitting = {
        (one.whose, one.trace): one
        for one in (() if reply is None else owners.get(reply, ()))
        if row.names.fit(one.names) and row.trace in (None, one.trace)
    }
    if len(fitting) != 1 or (row.whose, row.trace) in fitting:
        return row
    ((whose, trace), owner) = next(iter(fitting.items()))
    own = row.names
    names = attrs.evolve(owner.names, thread=own.thread, id=own.id, previous=own.previous)
    return attrs.evolve(row, names=names, whose=whose, trace=trace)
