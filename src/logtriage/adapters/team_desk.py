"""Hand out incidents to the roles of a team, each an agent that calls tools.

This is :mod:`logtriage.adapters.desk` for joint play: a tick passes when every role at the desk
has called a tool. Scripted policies play the roles that are not at the desk.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Final

from logtriage.actions import Action, Wait
from logtriage.adapters.books import Round, TeamBook
from logtriage.adapters.desk import ALL_DONE, NEXT, STILL_OPEN, Desk
from logtriage.adapters.episode import closing_answer
from logtriage.errors import InvalidInput
from logtriage.evaluation.usage import Usage
from logtriage.joint import observe_roles
from logtriage.parsing import action_to_wire
from logtriage.parsing.calls import tool_name
from logtriage.parsing.tools import Tool
from logtriage.playing import failure_of
from logtriage.policies import RoleFailure, as_taken
from logtriage.registry import roles_of
from logtriage.roles import Role

#: Seconds that a tick waits for the call of a role; after that, the role's action is to wait.
PATIENCE: Final = 300.0
_BROKE_OFF: Final = "The incident broke off, and not for a reason of yours."


class TeamDesk:
    """Hands out the incidents of a book to the roles at the desk, who play together.

    ``patience`` is how many seconds a tick waits for an agent.
    """

    def __init__(
        self, book: TeamBook, clock: Callable[[], float] = monotonic, *, patience: float = PATIENCE
    ) -> None:
        self.book, self.split = book, book.split
        self.roles = tuple(name for name, who in roles_of(book.policy) if who == book.agent)
        self.desk = Desk(book, clock)
        self._patience, self._began = patience, 0.0
        self._round: Round | None = None
        self._seated: set[str] = set()

    def tools(self, role: str) -> tuple[Tool, ...]:
        """All tools of a role."""
        return (NEXT, *self.book.tools_of_role(role))

    def seat(self, role: str) -> "TeamSeat":
        """The place of a role; InvalidInput if it is taken."""
        if role in self._seated:
            raise InvalidInput(f"role {role!r} is taken")
        self._seated.add(role)
        return TeamSeat(self, self.split.role(role))

    def leave(self, role: str) -> None:
        """Let a role wait from now on. When all roles have left, the incident stays open."""
        self._seated.discard(role)
        playing = self._round
        if playing is None or playing.episode.done:
            return
        if self._seated:
            self._tick_if_all_called(playing)
        else:
            self._keep(playing)
            self._round = None

    def after(self, last: Round | None) -> Round | None:
        """The round after ``last``: the present one, or a new one; None if all are done."""
        playing = self._round
        if playing is not None and playing is not last and not playing.episode.done:
            return playing
        taken = self.desk.take()
        if taken is None:
            return None
        _, self._round = taken
        self._began = self.desk.clock()
        return self._round

    async def say(self, playing: Round, role: str, action: Action) -> None:
        """Take the call of a role, and wait until the tick has passed."""
        playing.calls[role] = action
        ticked = playing.ticked
        self._tick_if_all_called(playing)
        with suppress(TimeoutError):
            await asyncio.wait_for(ticked.wait(), self._patience)
        if not ticked.is_set():
            self._tick(playing)

    def _tick_if_all_called(self, playing: Round) -> None:
        if playing.calls and self._seated <= playing.calls.keys():
            self._tick(playing)

    def _tick(self, playing: Round) -> None:
        """Play one tick, in which a role without a call waits, and wake the seats."""
        state = playing.episode.state
        for role, hand in playing.hands.items():
            hand.action = playing.calls.get(role, Wait())
        seen = observe_roles(state, self.split)
        try:
            actions, playing.memory = playing.team.act(seen, playing.memory)
        except RoleFailure as failure:
            cause = f"{self.split.names[failure.number]}: {failure.cause}"
            # Worded as in a run: with the tick.
            playing.episode.fail(failure_of(state, cause).cause)
        else:
            taken = as_taken(actions, self.split, state)
            plays = [[state.tick, action_to_wire(action)] for action in taken]
            self.desk.under_way.add(playing.name, *plays)
            playing.episode.play(taken)
        if playing.episode.done:
            self._keep(playing)
        ticked = playing.ticked  # for which the seats wait
        playing.ticked, playing.calls = asyncio.Event(), {}
        ticked.set()

    def _keep(self, playing: Round) -> None:
        self.desk.keep(playing.name, playing, self._began, playing.usage)


class TeamSeat:
    """The place of one role, whose agent plays one incident after the other."""

    def __init__(self, desk: TeamDesk, role: Role) -> None:
        self._desk, self._role = desk, role
        self._round: Round | None = None
        self._usage: Usage | None = None

    async def call(self, tool: str, arguments: object, usage: Usage | None = None) -> str:
        """Play a tool call of the role; returns its next screen, once the tick has passed."""
        playing, role = self._round, self._role
        if usage is not None:
            self._usage = (self._usage or Usage()) + usage
        self._count_usage()
        if tool_name(tool) == NEXT.name:
            return "\n\n".join(self._next())
        if playing is None:
            return self._desk.desk.before
        if playing.episode.done:
            return f"The incident is closed; this had no effect. {self._desk.desk.then}"
        if role.name in playing.calls:
            return "You have acted in this tick already: one call a tick. This had no effect."
        call = {"role": "assistant", "tool_calls": [{"name": tool, "arguments": arguments}]}
        await self._desk.say(playing, role.name, playing.episode.read(role, call))
        episode, screen = playing.episode, playing.episode.screen(role)
        if not episode.done:
            return screen
        end = closing_answer(episode.state, too_late=False) if episode.error is None else _BROKE_OFF
        return f"{screen}\n{end} {self._desk.desk.then}"

    def leave(self) -> None:
        """Give the place up; the role waits from now on."""
        self._desk.leave(self._role.name)

    def _next(self) -> Iterator[str]:
        still_open = self._round is not None and not self._round.episode.done
        playing = self._round if still_open else self._desk.after(self._round)
        if playing is None:
            yield ALL_DONE
            return
        self._round = playing
        self._count_usage()
        if still_open:
            yield STILL_OPEN
        rules, _ = playing.episode.prompts[self._role.name]
        yield rules["content"]
        yield playing.episode.screen(self._role)

    def _count_usage(self) -> None:
        """Add what was spent to the open incident; without one it is kept for the next."""
        playing = self._round
        if playing is not None and not playing.episode.done and self._usage is not None:
            playing.usage, self._usage = (playing.usage or Usage()) + self._usage, None
