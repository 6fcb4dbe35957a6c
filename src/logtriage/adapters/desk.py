"""Incidents handed to agents that call tools, one to a seat at a time; what they do is kept.

A *desk* holds a run, a *seat* is one agent's place at it. An agent sees rules and screens, and
nothing else: no grade, no id, no directory. :mod:`logtriage.adapters.mcp` serves seats.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol, TypeVar

import attrs

from logtriage.adapters.episode import Episode
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.turns import TextEpisode
from logtriage.conversations.tools import tools_of
from logtriage.evaluation.keeping import Kept, line_of
from logtriage.evaluation.shifts import SHIFTS, keep_shift, kept_shifts, shift_record
from logtriage.evaluation.spec import Cell
from logtriage.evaluation.under_way import UnderWay
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.parsing.calls import Wire, tool_name, wire_from_call
from logtriage.parsing.tools import SHIFT_TOOLS, Tool
from logtriage.shift import make_shift
from logtriage.transcript import Transcript

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
#: Why an episode is unscored whose server died.
STOPPED: Final = "the server stopped while the episode was open"


class Book(Protocol):
    """The episodes of a run, by their names, and where they are kept."""

    @property
    def directory(self) -> Path:
        """The directory of the run."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all its episodes."""

    def left(self) -> list[str]:
        """The episodes that are still to be played, in order."""

    def open(self, name: str) -> Any:
        """An episode at its beginning."""

    def recover(self, name: str, done: Sequence[Any]) -> None:
        """Keep an episode that a dead process left open, by what was done in it."""

    def keep(self, name: str, played: Any, extra: Mapping[str, Any]) -> None:
        """Keep an episode as it was played."""

    def finish(self) -> None:
        """Sum the run up: nothing is left."""


@attrs.frozen(slots=False)
class RunBook:
    """The incidents of a run that is being kept, for its one policy."""

    kept: Kept
    policy: str
    retry_unscored: bool = False

    @property
    def directory(self) -> Path:
        """The directory of the run."""
        return self.kept.directory

    @property
    def firsts(self) -> Iterator[Incident]:
        """An incident of each task: all of a task have the same tools."""
        return (self.kept.incidents(cell.ids[0]) for cell in self.kept.cells)

    def left(self) -> list[str]:
        """The incidents that are still to be played, in order."""
        cells = self.kept.left(retry_unscored=self.retry_unscored)
        return [incident for cell in cells for incident in cell.ids]

    def begin(self, name: str) -> Incident:
        """An incident that is about to be played."""
        self.kept.begin()
        return self.kept.incidents(name)

    def write(self, transcript: Transcript, extra: Mapping[str, Any]) -> None:
        """Append a transcript to its cell."""
        whole = attrs.evolve(transcript, extra={**transcript.extra, **extra})
        self.kept.keep(self._cells[transcript.incident], line_of(whole))

    def finish(self) -> None:
        """Write the summary."""
        self.kept.finish()

    @cached_property
    def _cells(self) -> Mapping[str, Cell]:
        return {incident: cell for cell in self.kept.cells for incident in cell.ids}


@attrs.frozen(slots=False)
class IncidentBook(RunBook):
    """Incidents for a single agent."""

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all its incidents; a choice that some of them have is offered for all."""
        return merged(tool for incident in self.firsts for tool in tools_of(incident))

    def open(self, name: str) -> Episode:
        """An episode at its beginning."""
        return Episode(self.begin(name))

    def recover(self, name: str, done: Sequence[Any]) -> None:
        """Keep what was done; it is unscored, unless the incident was closed."""
        self.keep(name, _played(self.open(name), done), {})

    def keep(self, name: str, played: Episode, extra: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Append the transcript to its cell."""
        self.write(played.transcript(self.policy), extra)


@attrs.frozen
class ShiftBook:
    """Shifts by their ids, kept in ``shifts.jsonl`` of a directory that the caller holds."""

    directory: Path
    policy: str
    ids: tuple[str, ...]

    tools = tuple(SHIFT_TOOLS.values())

    def left(self) -> list[str]:
        """The shifts that are still to be played, in order."""
        done = kept_shifts(self._file, self.policy)
        return [shift for shift in self.ids if shift not in done]

    def open(self, name: str) -> ShiftEpisode:
        """A shift at its beginning."""
        return ShiftEpisode(make_shift(name))

    def recover(self, name: str, done: Sequence[Any]) -> None:
        """Keep what was done; it is unscored, unless the shift was over."""
        self.keep(name, _played(self.open(name), done), {})

    def keep(self, name: str, played: ShiftEpisode, extra: Mapping[str, Any]) -> None:
        """Append the record of a shift to the file."""
        record = shift_record(name, self.policy, played.state, played.error)
        keep_shift(self._file, {**record, **extra})

    def finish(self) -> None:
        """Nothing: the figures of shifts are made when they are asked for."""

    @property
    def _file(self) -> Path:
        return self.directory / SHIFTS


_Played = TypeVar("_Played", bound=TextEpisode)


def _played(episode: _Played, done: Sequence[Wire]) -> _Played:
    """An episode after some actions; it breaks off there if it is still open."""
    for wire in done:
        episode.act(wire)
    if not episode.done:
        episode.fail(STOPPED)
    return episode


def merged(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Each tool once; a parameter has the choices of all tools of that name."""
    known: dict[str, Tool] = {}
    for tool in tools:
        before = known.get(tool.name, tool)
        parameters = (
            attrs.evolve(new, choices=tuple(dict.fromkeys((*old.choices, *new.choices))))
            for old, new in zip(before.parameters, tool.parameters, strict=True)
        )
        known[tool.name] = attrs.evolve(tool, parameters=tuple(parameters))
    return tuple(known.values())


class Desk:
    """Hands out the episodes of a book. What a dead process left open is kept as unscored.

    Raises:
        TranscriptError: naming file and line of what the run did not write.
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
        """All tools that it offers."""
        return (NEXT, *self.book.tools)

    @property
    def then(self) -> str:
        """What to do after an episode."""
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
        """Keep an episode that has ended."""
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
        self._name: str | None = None
        self._episode: TextEpisode | None = None
        self._usage: Usage | None = None
        self._began = 0.0

    async def call(self, tool: str, arguments: object, usage: Usage | None = None) -> str:
        """Play a tool call; returns what the agent reads next.

        A call that cannot be read costs its tick. ``usage`` are the tokens that the client says it
        has spent since its last call.
        """
        if self._name is not None and usage is not None:
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
        """Leave the open episode as it is: what was done so far is graded."""
        if self._name is not None:
            self._desk.keep(self._name, self._episode, self._began, self._usage)
            self._name = None

    def _next(self) -> str:
        if self._name is not None and self._episode is not None:
            rules, _ = (message["content"] for message in self._episode.prompt)
            return f"{STILL_OPEN}\n\n{rules}\n\n{self._episode.screen()}"
        taken = self._desk.take()
        if taken is None:
            return ALL_DONE
        self._name, episode = taken
        self._episode, self._usage, self._began = episode, None, self._desk.clock()
        return "\n\n".join(message["content"] for message in episode.prompt)
