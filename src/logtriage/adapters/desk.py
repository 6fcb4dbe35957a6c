"""Hand out incidents to agents that call tools, and keep what they do.

A *desk* hands out the episodes of a run; a *seat* is one agent's place at it. An agent sees only
rules and screens: no grade, id or directory. :mod:`logtriage.adapters.mcp` serves seats.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import attrs

from logtriage.adapters.books import Book
from logtriage.adapters.turns import TextEpisode
from logtriage.evaluation.cell_files import UnderWay
from logtriage.evaluation.usage import Usage
from logtriage.parsing.calls import tool_name, wire_from_call
from logtriage.parsing.tools import Tool

#: The tool that begins an episode.
NEXT: Final = Tool(
    "next_incident",
    "Take the next incident: read its rules and its first screen. Call it first, and again "
    "whenever an incident is closed.",
)
#: What a client is told of the tools.
INSTRUCTIONS: Final = (
    "You are on call. Call next_incident, work on the incident by calling the other tools, and "
    "when it is closed call next_incident again, until it says that all are done."
)
NONE_OPEN: Final = "No incident is open. Call next_incident."
ALL_DONE: Final = "All incidents are done. There is nothing left to do: stop here."
STILL_OPEN: Final = "This incident is still open; work on it until it is closed."
THEN: Final = "Call next_incident."


class Desk:
    """Hands out the episodes of a book. First it keeps those that a dead process left open.

    Raises:
        TranscriptError: naming file and line of a text that the run did not write.
    """

    def __init__(self, book: Book, clock: Callable[[], float] = monotonic) -> None:
        self.book, self.clock = book, clock
        self.under_way = UnderWay(book.directory)
        waiting = book.left()
        for name, done in list(self.under_way.left.items()):
            if name in waiting:
                book.recover(name, done)
            self.under_way.close(name)
        self._waiting = book.left()
        self._open: set[str] = set()
        if not self._waiting:
            book.finish()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools that the desk offers."""
        return (NEXT, *self.book.tools)

    @property
    def then(self) -> str:
        """What an agent is told to do after an episode."""
        return THEN if self._waiting else ALL_DONE

    @property
    def before(self) -> str:
        """The answer to a call before the first episode."""
        return NONE_OPEN if self._waiting else ALL_DONE

    def take(self) -> tuple[str, Any] | None:
        """The next episode with its name; None if all are taken."""
        if not self._waiting:
            return None
        name = self._waiting.pop(0)
        self._open.add(name)
        self.under_way.add(name)
        return name, self.book.open(name)

    def keep(self, name: str, played: Any, began: float, usage: Usage | None) -> None:
        """Keep an episode that has ended. ``began`` is the clock's time at its beginning."""
        spent = {} if usage is None else attrs.asdict(usage)
        self.book.keep(name, played, {"seconds": round(self.clock() - began, 3), **spent})
        self.under_way.close(name)
        self._open.discard(name)
        if not self._open and not self._waiting:
            self.book.finish()

    def seat(self) -> "Seat":
        """A place for one more agent."""
        return Seat(self)


class Seat:
    """The place of one agent, who plays one episode after the other."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._name: str | None = None  # of the open episode
        self._episode: TextEpisode | None = None  # the open one, or the last that was kept
        self._usage: Usage | None = None
        self._began = 0.0

    async def call(self, tool: str, arguments: object, usage: Usage | None = None) -> str:
        """Play a tool call; returns what the agent reads next. An unreadable call costs its tick.

        ``usage`` are the tokens that the client says it has spent since its last call. Those spent
        while nothing is open count for the next episode.
        """
        if usage is not None:
            self._usage = (self._usage or Usage()) + usage
        if tool_name(tool) == NEXT.name:
            return self._next()
        episode, name = self._episode, self._name
        if episode is None:
            return self._desk.before
        if name is None:
            return f"The incident is closed; this had no effect. {self._desk.then}"
        wire = wire_from_call(tool, arguments, [known.name for known in self._desk.book.tools])
        self._desk.under_way.add(name, wire)
        turn = episode.act(wire)
        if not turn.done:
            return turn.text
        self.leave()
        return f"{turn.text} {self._desk.then}"

    def leave(self) -> None:
        """Keep the open episode as it stands, if there is one: what was done so far is graded."""
        if self._name is not None:
            self._desk.keep(self._name, self._episode, self._began, self._usage)
            self._name = self._usage = None

    def _next(self) -> str:
        if self._name is not None and self._episode is not None:
            rules, _ = (message["content"] for message in self._episode.prompt)
            return f"{STILL_OPEN}\n\n{rules}\n\n{self._episode.screen()}"
        taken = self._desk.take()
        if taken is None:
            return ALL_DONE
        self._name, episode = taken
        self._episode, self._began = episode, self._desk.clock()
        return "\n\n".join(message["content"] for message in episode.prompt)
