"""Find out which calls of a conversation were played, by its screens.

A screen says how many actions were played before it, and what came of the last one. So each is
compared with a replay of the calls before it. Calls that the harness refused are left out. If no
choice of the calls explains a screen, turns were cut or the log belongs to another incident; it is
refused with the first mismatch.
"""

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Final

import attrs

from logtriage._lib.grouping import grouped
from logtriage._lib.printable import counted
from logtriage._lib.unread import short
from logtriage.actions import Action, Malformed
from logtriage.conversations.blocks import Answer
from logtriage.conversations.messages import Message, answers_of, is_from_agent
from logtriage.conversations.screens import (
    Screen,
    closed_after,
    closed_in,
    is_failure,
    is_refusal,
    mismatch,
    screens_in,
)
from logtriage.conversations.wires import Step, calls_of, id_of_call
from logtriage.dynamics import transition
from logtriage.errors import InvalidInput
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.parsing import action_from_wire
from logtriage.parsing.calls import Wire
from logtriage.rendering import render_observation
from logtriage.state import State, initial_state

#: What to do with a row that begins in the middle of a conversation.
JOIN: Final = (
    "join the requests of a conversation to one row, or name it in each by session_id, or in the "
    "Responses API by id and previous_response_id"
)
#: For each screen, at most this many choices of the calls that were played are tried.
MAX_CHOICES: Final = 500


@attrs.frozen
class Played:
    """The steps that were played, and the numbers of steps left out and of screens compared.

    ``is_checked``: no step was played, or an answer to a step tells its tick.
    """

    steps: tuple[Step, ...]
    left_out: int
    screens: int
    is_checked: bool

    @property
    def wires(self) -> tuple[Wire, ...]:
        """The actions of the steps."""
        return tuple(step.wire for step in self.steps)


@attrs.define(eq=False)
class _Pending:
    """A step that no screen has confirmed, and the answer to it, if one has come."""

    step: Step
    action: Action
    answer: Answer | None = None
    screens: Sequence[Screen] = ()

    @property
    def readable(self) -> bool:
        """Whether the step is an action. The agent may have made up what other tools show."""
        return not isinstance(self.action, Malformed)

    @property
    def refused(self) -> bool:
        """Whether the harness says that it did not carry the step out."""
        if self.answer is None or self.screens or self.step.by_shell or closed_in(self.answer.text):
            return False
        return self.answer.refused is True or is_refusal(self.answer.text)

    @property
    def trust(self) -> int:
        """How likely the step was played; steps with the least numbers are left out first."""
        if self.refused:
            return 0
        # By weight: a screen answers the step, nothing answers it, it can be read.
        return 1 + 4 * bool(self.screens) + 2 * (self.answer is None) + self.readable


def played(incident: Incident, messages: Sequence[Message], steps: Sequence[Step]) -> Played:
    """Choose the steps that were played, by the screens and refusals in the messages.

    Raises:
        InvalidInput: naming the message and the first line of a screen that the replay of the calls
            before it does not show.
    """
    replay = _Replay(incident)
    steps_at = grouped((step.place, step) for step in steps)
    answers: list[tuple[str, Answer]] = []
    for place, message in enumerate(messages):
        if is_from_agent(message):
            replay.take(answers)
            answers = []
            replay.called.update(map(id_of_call, calls_of(message)))
            for step in steps_at.get(place, ()):
                replay.pend(step)
        else:
            where = str(message.get("where", f"[{place}]"))
            answers += ((where, answer) for answer in answers_of(message))
    replay.take(answers)
    return replay.end()


class _Replay:
    """A replay of the incident as far as screens confirm it, and the steps that wait for one."""

    def __init__(self, incident: Incident) -> None:
        self.states = [initial_state(incident)]
        self.steps: list[Step] = []
        self.pending: list[_Pending] = []
        self.left_out = self.screens = 0
        #: Whether an answer to a step tells its tick.
        self.is_checked = False
        #: Whether a step was played whose answer is no screen.
        self.quiet = False
        #: Whether answers to calls are screens.
        self.shows = False
        #: The ids of all calls so far; None if the last turn has a call without an id.
        self.called: set[str | None] = set()

    @property
    def state(self) -> State:
        return self.states[-1]

    def pend(self, step: Step) -> None:
        topology = self.state.incident.topology
        self.pending.append(_Pending(step, action_from_wire(step.wire, topology)))

    def take(self, answers: Sequence[tuple[str, Answer]]) -> None:
        """Match the answers between two replies with their steps, and play what they confirm."""
        loose: list[tuple[str, Answer, list[Screen]]] = []
        shown: dict[_Pending, str] = {}
        for place, answer in answers:
            step = self._step_of(answer)
            screens = screens_in(answer.text, self.state.incident)
            if step is not None:
                step.answer, step.screens = answer, screens
                if screens or (step.readable and closed_in(answer.text)):
                    shown[step] = place
            elif not (answer.to_call and answer.id in self.called):
                loose.append((place, answer, screens))
        if answers:
            self.called.discard(None)
        self._sort()
        for step in [step for step in self.pending if step in shown]:
            assert step.answer is not None
            if step.readable or step.screens[0].tick > self.state.tick:
                self.shows = self.shows or (step.readable and bool(step.screens))
                count = self.pending.index(step) + 1
                self._confirm(count, step.screens, step.answer, shown[step])
        for place, answer, screens in loose:
            made_up = any(not step.readable and step.step.by_shell for step in self.pending[-1:])
            if not made_up and (screens or closed_in(answer.text)):
                count = len(self.pending)
                if answer.to_call and screens:  # it answers no call here, and takes none back
                    count = min(count, max(0, screens[0].tick - self.state.tick))
                self._confirm(count, screens, answer, place)
            elif not answer.to_call:
                for step in self.pending:
                    step.answer = step.answer or answer

    def _step_of(self, answer: Answer) -> _Pending | None:
        """The pending step that an answer belongs to; None if it answers no pending call."""
        if not answer.to_call:
            return None
        open_steps = [step for step in self.pending if step.answer is None]
        named = [step for step in open_steps if step.step.id == answer.id]
        unnamed = open_steps if answer.id is None else []
        return next(iter((*named, *unnamed)), None)

    def _sort(self) -> None:
        """Put the pending steps that have screens in the order of their screens' ticks."""
        places = [place for place, step in enumerate(self.pending) if step.screens]
        steps = [self.pending[place] for place in places]
        steps.sort(key=lambda step: step.screens[0].tick)
        for place, step in zip(places, steps, strict=True):
            self.pending[place] = step

    def _confirm(self, count: int, screens: Sequence[Screen], answer: Answer, place: str) -> None:
        """Play as many of the first ``count`` steps as the screens say; compare the screens."""
        group = self.pending[:count]
        if not screens:
            self._close(group, answer.text, place)
            return
        latest, *earlier = screens
        if latest.tick < self.state.tick:  # an earlier screen, shown again
            earlier = list(screens)
        else:
            self._settle(group, latest, place)
        for screen in earlier:
            self._compare(screen, self.states[: screen.tick + 1], place)
        self.screens += len(screens)
        self.is_checked = self.is_checked or latest.tick > 0

    def _close(self, group: Sequence[_Pending], text: str, place: str) -> None:
        """Play a group of steps of which the last one closed the incident, as an answer says."""
        ticks, kept = closed_after(text), self._played_steps(group[:-1])
        if ticks is not None:  # replies that no screen shows and no tick is left for
            surplus = max(0, len(kept) + 1 - (ticks - self.state.tick))
            doubtful = [step for step in kept if not step.readable or step.refused]
            unplayed = sorted(doubtful, key=lambda step: step.trust)[:surplus]
            kept = [step for step in kept if step not in unplayed]
        self._play([*kept, *group[-1:]], len(group))
        closing, now = closed_in(text), self.state
        if closing != str(now.closing):
            calls = counted(len(self.steps), "call")
            raise InvalidInput(
                f"{place}: the log says that the incident is closed ({closing}), and after {calls} "
                f"in the replay it is {now.closing or 'open'}"
            )
        if ticks not in (None, now.tick):
            why = "turns are missing before it" if ticks > now.tick else "some were not played"
            raise InvalidInput(
                f"{place}: the incident was closed after {counted(ticks, 'tick')}, and in the "
                f"replay after {now.tick}: {why}; {JOIN}"
            )
        self.is_checked = self.is_checked or ticks is not None

    def _settle(self, group: Sequence[_Pending], screen: Screen, place: str) -> None:
        """Play those steps of a group after which the replay shows ``screen``."""
        surplus = len(group) - (screen.tick - self.state.tick)
        # A screen of an unknown tool rules out no action: the agent may have made it up.
        by_other_tool = bool(group) and group[-1].step.id is not None and not group[-1].readable
        doubtful = [
            at
            for at, step in enumerate(group)
            if not step.step.by_shell and not (by_other_tool and step.readable)
        ]
        if not 0 <= surplus <= len(doubtful):
            raise InvalidInput(
                f"{place}: a screen of tick {screen.tick} after "
                f"{counted(self.state.tick + len(group), 'call')}: "
                + ("turns are missing before it" if surplus < 0 else "some were not played")
                + ", or it is of another incident"
                + ("" if self.steps or group else f"; {JOIN}")
            )
        problem: InvalidInput | None = None
        likely = sorted(doubtful, key=lambda at: (group[at].trust, at))
        for dropped in islice(combinations(likely, surplus), MAX_CHOICES):
            kept = [step for at, step in enumerate(group) if at not in dropped]
            try:
                self._compare(screen, self._after(kept), place)
            except InvalidInput as error:
                problem = problem or error
            else:
                self._play(kept, len(group))
                return
        assert problem is not None
        raise problem

    def _after(self, steps: Sequence[_Pending]) -> list[State]:
        states = list(self.states)
        for step in steps:
            if not states[-1].is_closed:
                states.append(transition(states[-1], step.action))
        return states

    def _play(self, steps: Sequence[_Pending], count: int) -> None:
        """Play ``steps`` of the first ``count`` pending ones, and leave the others out."""
        self.quiet = self.quiet or any(step.answer and not step.screens for step in steps)
        self.states = self._after(steps)
        self.steps += (step.step for step in steps)
        self.left_out += count - len(steps)
        del self.pending[:count]

    def _compare(self, screen: Screen, states: Sequence[State], place: str) -> None:
        """Raise InvalidInput with the first mismatch of a screen and the last of ``states``."""
        now, incident = states[-1], states[-1].incident
        if screen.tick != now.tick or screen.horizon != incident.horizon:
            raise InvalidInput(
                f"{place}: a screen of tick {screen.tick}/{screen.horizon}, and the replay of "
                f"{counted(now.tick, 'call')} is at {now.tick}/{incident.horizon}"
            )
        before = observe(states[-2]) if len(states) > 1 else None
        expected = render_observation(observe(now), screen.style, before=before)
        wrong = mismatch(screen.text, expected)
        if wrong is not None:
            shown, there = (repr(line[:120]) for line in wrong)
            last = now.actions[-1] if now.actions else None
            why = f" ({short(last.reason)})" if isinstance(last, Malformed) else ""
            raise InvalidInput(
                f"{place}: the screen of tick {screen.tick} says {shown}, and the replay of "
                f"{counted(now.tick, 'call')} on {incident.id} {there}{why}"
            )

    def end(self) -> Played:
        """Play those of the last steps that were played, and return the whole result."""
        self._play(self._played_steps(self.pending), len(self.pending))
        is_checked = self.is_checked or not self.steps
        return Played(tuple(self.steps), self.left_out, self.screens, is_checked)

    def _played_steps(self, steps: Sequence[_Pending]) -> list[_Pending]:
        """Choose the steps that were played from ``steps``, which no screen follows.

        If all calls before were answered by screens, a call with another answer counts as played
        only if it may have closed the incident.
        """
        kept: list[_Pending] = []
        for step in steps:
            answered = step.answer is not None and not step.screens and not step.step.by_shell
            unseen = answered and self.shows and not self.quiet
            is_left_out = step.refused or (unseen and not self._may_close(kept, step))
            if not is_left_out:
                kept.append(step)
        return kept

    def _may_close(self, kept: Sequence[_Pending], step: _Pending) -> bool:
        """Whether a step with an answer that is no screen may have closed the incident."""
        before = self._after(kept)[-1]
        if before.is_closed:  # by an earlier step: what comes after needs no screen
            return True
        assert step.answer is not None
        # The harness notes a failure with None.
        failed = step.answer.refused is None or is_failure(step.answer.text)
        closes = transition(before, step.action).is_closed
        return closes and not failed and step.readable
