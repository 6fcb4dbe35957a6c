"""Incidents handed to the roles of a team, each an agent that calls tools.

As :mod:`logtriage.adapters.desk`, for joint play: a tick passes when every role at the desk has
called a tool. Scripted policies play the roles that are not at the desk.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

import attrs

from logtriage.actions import Action, Wait
from logtriage.adapters.desk import ALL_DONE, NEXT, NONE_OPEN, STILL_OPEN, STOPPED, THEN, merged
from logtriage.adapters.episode import closed
from logtriage.conversations.teams import role_action, role_opening, role_screen
from logtriage.conversations.tools import Tool, tools_of
from logtriage.dynamics import transition_jointly
from logtriage.errors import InvalidInput
from logtriage.evaluation.keeping import Kept, line_of
from logtriage.evaluation.under_way import UnderWay
from logtriage.evaluation.usage import Usage
from logtriage.incident import Incident
from logtriage.joint import observe_roles, requests_left
from logtriage.observation import Observation
from logtriage.parsing import action_to_wire
from logtriage.parsing.calls import tool_name
from logtriage.playing import failure_of
from logtriage.policies import Memory, RoleFailure, TeamPolicy, as_taken
from logtriage.registry import roles_of
from logtriage.replaying import replay
from logtriage.roles import Role, RoleSplit
from logtriage.roles.splits import splits_with
from logtriage.state import State, initial_state
from logtriage.trained import make_team
from logtriage.transcript import COMPLETED, Transcript, transcript_of

#: Seconds that a tick waits for a role that says nothing; then the role waits in that tick.
PATIENCE: Final = 300.0
_BROKE_OFF: Final = "The incident broke off, and not for a reason of yours."


@attrs.define
class _Hand:
    """The player of a role at the desk: it does what its agent has just called."""

    action: Action = attrs.Factory(Wait)

    def act(self, _: Observation, memory: Memory) -> tuple[Action, Memory]:
        return self.action, memory


@attrs.define(eq=False)
class Round:
    """An incident being played, with the calls of the tick so far, by role."""

    name: str
    state: State
    team: TeamPolicy
    hands: Mapping[str, _Hand]
    began: float
    memory: Memory = None
    said: dict[str, Action] = attrs.Factory(dict)
    ticked: asyncio.Event = attrs.Factory(asyncio.Event)
    usage: Usage | None = None
    error: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing more can be done."""
        return self.error is not None or self.state.is_closed


def team_of(split: RoleSplit, agent: str, roles: Sequence[str], others: str | None) -> str:
    """The team in which ``agent`` plays ``roles``, and the policy ``others`` the others.

    Raises:
        UnknownName: for a role that the split does not have.
        InvalidInput: if nobody plays the other roles, or no role is left to an agent.
    """
    for role in roles:
        split.role(role)
    if not roles:
        raise InvalidInput(f"role: which of {', '.join(split.names)} does an agent play?")
    left = [name for name in split.names if name not in roles]
    if left and others is None:
        raise InvalidInput(f"others: who plays {', '.join(left)}? Name a policy, such as expert")
    return ",".join(f"{name}={agent if name in roles else others}" for name in split.names)


class TeamDesk:
    """Hands out the incidents of a run of teams, which it keeps.

    Args:
        kept: the run.
        team: its one policy, as :func:`team_of` writes it.
        agent: the name in ``team`` of those who sit at the desk.
        split: the roles.
        patience: seconds that a tick waits for an agent.

    Raises:
        UnknownName: for a policy of another role that does not exist.
    """

    def __init__(
        self,
        kept: Kept,
        team: str,
        agent: str,
        split: RoleSplit,
        *,
        retry_unscored: bool = False,
        patience: float = PATIENCE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.split, self.roles = split, tuple(name for name, who in roles_of(team) if who == agent)
        self._kept, self._team, self._agent, self._clock = kept, team, agent, clock
        self._patience, self._retry = patience, retry_unscored
        self._cells = {incident: cell for cell in kept.cells for incident in cell.ids}
        make_team(team, split, roles={agent: _made({})})  # refuses a wrong policy before play
        self._under_way = UnderWay(kept.directory)
        self._recover()
        self._waiting = self._left()
        self._round: Round | None = None
        self._seated: set[str] = set()
        if not self._waiting:
            kept.finish()

    def tools(self, role: str) -> tuple[Tool, ...]:
        """The tools that a role is offered."""
        may = self.split.role(role).kinds
        firsts = (self._kept.incidents(cell.ids[0]) for cell in self._kept.cells)
        return (NEXT, *merged(tool for first in firsts for tool in tools_of(first, may)))

    def seat(self, role: str) -> "TeamSeat":
        """The place of a role.

        Raises:
            InvalidInput: if somebody sits there.
        """
        if role in self._seated:
            raise InvalidInput(f"role {role!r} is taken")
        self._seated.add(role)
        return TeamSeat(self, self.split.role(role))

    def leave(self, role: str) -> None:
        """A role has gone: it waits from now on. When all have gone, the incident is left open."""
        self._seated.discard(role)
        now = self._round
        if now is None or now.done:
            return
        if self._seated:
            self._tick_if_all_called(now)
        else:
            self._keep(now)
            self._round = None

    @property
    def then(self) -> str:
        """What to do after an incident."""
        return THEN if self._waiting else ALL_DONE

    def after(self, last: Round | None) -> Round | None:
        """The round after ``last``: the present one, or a new one; None if all are done."""
        if self._round is not None and self._round is not last and not self._round.done:
            return self._round
        if not self._waiting:
            return None
        name = self._waiting.pop(0)
        incident, hands = self._kept.incidents(name), dict[str, _Hand]()
        self._kept.begin()
        self._under_way.add(name)
        make = make_team(self._team, self.split, roles={self._agent: _made(hands)})
        state = initial_state(incident)
        self._round = Round(name, state, make(incident), hands, self._clock())
        return self._round

    async def say(self, now: Round, role: str, action: Action) -> None:
        """Take the call of a role, and wait until the tick has passed."""
        now.said[role] = action
        ticked = now.ticked
        self._tick_if_all_called(now)
        with suppress(TimeoutError):
            await asyncio.wait_for(ticked.wait(), self._patience)
        if not ticked.is_set():
            self._tick(now)

    def _tick_if_all_called(self, now: Round) -> None:
        if now.said and self._seated <= now.said.keys():
            self._tick(now)

    def _tick(self, now: Round) -> None:
        state = now.state
        for role, hand in now.hands.items():
            hand.action = now.said.get(role, Wait())
        try:
            actions, now.memory = now.team.act(observe_roles(state, self.split), now.memory)
        except RoleFailure as failure:
            cause = RuntimeError(f"{self.split.names[failure.number]}: {failure.cause}")
            now.error = failure_of(state, cause).cause
        else:
            taken = as_taken(actions, self.split, state)
            plays = [[state.tick, action_to_wire(action)] for action in taken]
            self._under_way.add(now.name, *plays)
            now.state = transition_jointly(state, taken)
        if now.done:
            self._keep(now)
        ticked, now.ticked, now.said = now.ticked, asyncio.Event(), {}
        ticked.set()

    def _left(self) -> list[str]:
        cells = self._kept.left(retry_unscored=self._retry)
        return [incident for cell in cells for incident in cell.ids]

    def _keep(self, played: Round) -> None:
        spent = {} if played.usage is None else attrs.asdict(played.usage)
        transcript = transcript_of(
            played.state,
            agent=self._team,
            status=played.error or COMPLETED,
            extra={"seconds": round(self._clock() - played.began, 3), **spent},
            role_split=self.split,
        )
        self._kept.keep(self._cells[played.name], line_of(transcript))
        self._under_way.close(played.name)
        if not self._waiting:
            self._kept.finish()

    def _recover(self) -> None:
        """Keep what a dead process left open, unscored unless it was closed."""
        waiting = self._left()
        for name, plays in list(self._under_way.left.items()):
            if name in waiting:
                incident = self._kept.incidents(name)
                transcript = self._transcript(incident, plays)
                last = replay(
                    transcript, resolve=self._kept.incidents, splits=splits_with(self.split)
                )[-1]
                if not last.is_closed:
                    transcript = attrs.evolve(transcript, status=f"error: {STOPPED}")
                self._kept.keep(self._cells[name], line_of(transcript))
            self._under_way.close(name)

    def _transcript(self, incident: Incident, plays: Sequence[Any]) -> Transcript:
        ticks = tuple(tick for tick, _ in plays)
        wires = tuple(wire for _, wire in plays)
        return Transcript(
            incident.id,
            wires,
            agent=self._team,
            ticks=ticks,
            seal=incident.seal,
            role_split=self.split.name,
            world=incident.world_mark,
        )


def _made(hands: dict[str, _Hand]) -> Callable[[Incident, RoleSplit, Role], _Hand]:
    """Makes the players of the roles at the desk, and puts them into ``hands``."""

    def make(_: Incident, __: RoleSplit, role: Role) -> _Hand:
        hands[role.name] = _Hand()
        return hands[role.name]

    return make


class TeamSeat:
    """The place of a role."""

    def __init__(self, desk: TeamDesk, role: Role) -> None:
        self._desk, self._role = desk, role
        self._round: Round | None = None

    async def call(self, tool: str, arguments: object, usage: Usage | None = None) -> str:
        """Play a tool call of the role; returns its next screen, once the tick has passed.

        A call that cannot be read, or that the role may not make, loses the role's turn.
        """
        now, role, split = self._round, self._role, self._desk.split
        if now is not None and not now.done and usage is not None:
            now.usage = (now.usage or Usage()) + usage
        if tool_name(tool) == NEXT.name:
            return "\n\n".join(self._next())
        if now is None:
            return NONE_OPEN if self._desk.then == THEN else ALL_DONE
        if now.done:
            return f"The incident is closed; this had no effect. {self._desk.then}"
        if role.name in now.said:
            return "You have acted in this tick already: one call a tick. This had no effect."
        call = {"role": "assistant", "tool_calls": [{"name": tool, "arguments": arguments}]}
        left = requests_left(now.state, split, role)
        action = role_action(call, role, now.state.incident.topology, left)
        await self._desk.say(now, role.name, action)
        return self._answer(now)

    def _answer(self, now: Round) -> str:
        screen = role_screen(now.state, self._desk.split, self._role)
        if not now.done:
            return screen
        end = closed(now.state, too_late=False) if now.error is None else _BROKE_OFF
        return f"{screen}\n{end} {self._desk.then}"

    def leave(self) -> None:
        """Give the place up; the role waits from now on."""
        self._desk.leave(self._role.name)

    def _next(self) -> Iterator[str]:
        still_open = self._round is not None and not self._round.done
        now = self._round if still_open else self._desk.after(self._round)
        if now is None:
            yield ALL_DONE
            return
        self._round = now
        if still_open:
            yield STILL_OPEN
        rules, _ = role_opening(now.state.incident, self._desk.split, self._role)
        yield rules["content"]
        yield role_screen(now.state, self._desk.split, self._role)
