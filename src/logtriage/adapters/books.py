"""Books: each holds the episodes of a run that agents play by tool calls, and keeps the results."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from logtriage.actions import Action, Wait
from logtriage.adapters.episode import Episode
from logtriage.adapters.shift_episode import ShiftEpisode
from logtriage.adapters.team_episode import TeamEpisode
from logtriage.adapters.turns import TextEpisode
from logtriage.conversations.tools import tools_of
from logtriage.errors import InvalidInput
from logtriage.evaluation.cell_files import SHIFTS
from logtriage.evaluation.keeping import Kept, line_of
from logtriage.evaluation.shifts import keep_shift, kept_shifts, shift_record
from logtriage.evaluation.spec import Cell
from logtriage.evaluation.usage import Usage
from logtriage.grading.offered import useful_actions
from logtriage.incident import Incident
from logtriage.observation import Observation
from logtriage.parsing.calls import Wire
from logtriage.parsing.tools import SHIFT_TOOLS, Tool
from logtriage.policies import Memory, TeamFactory, TeamPolicy
from logtriage.registry import make_team
from logtriage.replaying import replay
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import splits_with
from logtriage.shift import make_shift
from logtriage.transcript import Transcript

#: The cause of an unscored episode whose server died.
STOPPED: Final = "the server stopped while the episode was open"


@attrs.frozen(slots=False)
class RunBook:
    """The incidents of a run and its one policy. ``kept`` is the run, open for writing."""

    kept: Kept
    policy: str
    retry_unscored: bool = False

    @property
    def directory(self) -> Path:
        """The directory of the run."""
        return self.kept.directory

    @property
    def firsts(self) -> Iterator[Incident]:
        """One incident of each task, since all incidents of a task have the same tools."""
        return (self.kept.incidents(cell.ids[0]) for cell in self.kept.cells)

    def left(self) -> list[str]:
        """The incidents that are still to be played, in order."""
        cells = self.kept.left(retry_unscored=self.retry_unscored)
        return [incident for cell in cells for incident in cell.ids]

    def begin(self, name: str) -> Incident:
        """Mark the run as unfinished, and return the incident of this id."""
        self.kept.begin()
        return self.kept.incidents(name)

    def write(self, transcript: Transcript, extra: Mapping[str, Any]) -> None:
        """Append a transcript to the file of its cell (one policy on one task)."""
        with_extra = attrs.evolve(transcript, extra={**transcript.extra, **extra})
        self.kept.keep(self._cells[transcript.incident], line_of(with_extra))

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
        """The tools of all incidents; each tool offers every choice that any incident has."""
        return merged(tool for incident in self.firsts for tool in tools_of(incident))

    def open(self, name: str) -> Episode:
        """An episode at its beginning."""
        return Episode(self.begin(name))

    def recover(self, name: str, done: Sequence[Any]) -> None:
        """Keep an episode whose server died after ``done``; unscored unless that closed it."""
        self.keep(name, _play_actions(self.open(name), done), extra={})

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
        """Keep a shift whose server died after ``done``; unscored unless the shift was over."""
        self.keep(name, _play_actions(self.open(name), done), extra={})

    def keep(self, name: str, played: ShiftEpisode, extra: Mapping[str, Any]) -> None:
        """Append the record of a shift to the file."""
        record = shift_record(name, self.policy, played.state, played.error)
        keep_shift(self._file, {**record, **extra})

    def finish(self) -> None:
        """Do nothing: the figures of shifts are made when they are asked for."""

    @property
    def _file(self) -> Path:
        return self.directory / SHIFTS


_Played = TypeVar("_Played", bound=TextEpisode)


def _play_actions(episode: _Played, done: Sequence[Wire]) -> _Played:
    """Play the actions of a dead server; returns the episode, failed unless they ended it."""
    for wire in done:
        episode.act(wire)
    if not episode.done:
        episode.fail(STOPPED)
    return episode


def merged(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Each tool once; a parameter has the choices that it has in any tool of that name."""
    known: dict[str, Tool] = {}
    for tool in tools:
        before = known.get(tool.name, tool)
        parameters = (
            attrs.evolve(new, choices=tuple(dict.fromkeys((*old.choices, *new.choices))))
            for old, new in zip(before.parameters, tool.parameters, strict=True)
        )
        known[tool.name] = attrs.evolve(tool, parameters=tuple(parameters))
    return tuple(known.values())


@attrs.define
class _Hand:
    """A policy that plays the action which an agent at the desk has called."""

    action: Action = attrs.Factory(Wait)

    def act(self, _: Observation, memory: Memory) -> tuple[Action, Memory]:
        return self.action, memory


@attrs.define(eq=False)
class Round:
    """An incident that a team is playing. ``calls`` has the calls of this tick so far, by role."""

    name: str
    episode: TeamEpisode
    team: TeamPolicy
    hands: Mapping[str, _Hand]
    memory: Memory = None
    calls: dict[str, Action] = attrs.Factory(dict)
    ticked: asyncio.Event = attrs.Factory(asyncio.Event)
    usage: Usage | None = None


def team_of(split: RoleSplit, agent: str, roles: Sequence[str], others: str | None) -> str:
    """The name of a team in which ``agent`` plays ``roles``, and the policy ``others`` the rest.

    Raises:
        UnknownName, InvalidInput: for an unknown role, no role, or nobody for the other roles.
    """
    for role in roles:
        split.role(role)
    if not roles:
        raise InvalidInput(f"role: which of {', '.join(split.names)} does an agent play?")
    left = [name for name in split.names if name not in roles]
    if left and others is None:
        raise InvalidInput(f"others: who plays {', '.join(left)}? Name a policy, such as expert")
    return ",".join(f"{name}={agent if name in roles else others}" for name in split.names)


@attrs.frozen(slots=False)
class TeamBook(RunBook):
    """Incidents for the team ``policy`` (see :func:`team_of`); ``agent`` plays at the desk."""

    agent: str = attrs.field(kw_only=True)
    split: RoleSplit = attrs.field(kw_only=True)

    def __attrs_post_init__(self) -> None:
        self._factory({})  # refuses a wrong policy before anything is played

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all roles."""
        return tuple(
            dict.fromkeys(tool for role in self.split.names for tool in self.tools_of_role(role))
        )

    def tools_of_role(self, role: str) -> tuple[Tool, ...]:
        """The tools that a role is offered."""
        player = self.split.role(role)
        offers = (tools_of(first, useful_actions(first, player)) for first in self.firsts)
        return merged(tool for tools in offers for tool in tools)

    def open(self, name: str) -> Round:
        """A round at its beginning."""
        incident, hands = self.begin(name), dict[str, _Hand]()
        team = self._factory(hands)(incident)  # fills the hands
        return Round(name, TeamEpisode(incident, self.split), team, hands)

    def recover(self, name: str, done: Sequence[Any]) -> None:
        """Keep a round whose server died after ``done``; unscored unless that closed it."""
        incident = self.kept.incidents(name)
        transcript = Transcript(
            name,
            tuple(wire for _, wire in done),
            agent=self.policy,
            ticks=tuple(tick for tick, _ in done),
            seal=incident.seal,
            role_split=self.split.name,
            world=incident.world_mark,
            role_split_mark=self.split.fingerprint,
        )
        states = replay(transcript, resolve=self.kept.incidents, splits=splits_with(self.split))
        if not states[-1].is_closed:
            transcript = attrs.evolve(transcript, status=f"error: {STOPPED}")
        self.write(transcript, extra={})

    def keep(self, name: str, played: Round, extra: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Append the transcript to its cell."""
        self.write(played.episode.transcript(self.policy), extra)

    def _factory(self, hands: dict[str, _Hand]) -> TeamFactory:
        def make(_: Incident, __: RoleSplit, role: Role) -> _Hand:
            return hands.setdefault(role.name, _Hand())

        return make_team(self.policy, self.split, roles={self.agent: make})


#: A book of any kind.
Book = IncidentBook | ShiftBook | TeamBook
