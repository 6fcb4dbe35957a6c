"""One shift, text in and text out, like :class:`~logtriage.adapters.episode.Episode` for incidents.

>>> from logtriage.shift import make_shift
>>> episode = ShiftEpisode(make_shift("quiet_shift-v1/test/0"))
>>> call = {"name": "wait", "arguments": {"ticks": 3}}
>>> turn = episode.step({"role": "assistant", "tool_calls": [call]})
>>> turn.text.splitlines()[0], turn.reward, turn.done
('SHIFT TICK 3/200', 0.0, False)
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from logtriage.adapters.turns import ERROR, Message, TextEpisode, named_in
from logtriage.conversations.tools import as_openai
from logtriage.errors import InvalidInput
from logtriage.parsing.calls import Wire
from logtriage.parsing.tools import SHIFT_TOOLS
from logtriage.rendering import Reply
from logtriage.shift.grades import ShiftGrade, grade, score
from logtriage.shift.screens import observe, render, shift_prompt
from logtriage.shift.shifts import Shift, make_shift
from logtriage.shift.states import begin
from logtriage.shift.wires import take, wire_in

#: The ``stop`` of an episode whose shift is over.
OVER: Final = "over"


class ShiftEpisode(TextEpisode):
    """One shift, played by the replies of one agent.

    Args:
        shift: the shift.
        reply: how the agent answers: ``tools`` (each call is an action) or ``json``.
        screens: how many of the latest screens :attr:`messages` shows; None for all. The
            agent's own replies always stay.

    Raises:
        InvalidInput: if ``shift`` is not a shift, or ``screens`` is below 1.
    """

    _tools = SHIFT_TOOLS

    def __init__(self, shift: Shift, reply: Reply = "tools", *, screens: int | None = None) -> None:
        #: The state of the shift, its truths included: for the host alone.
        self.state = begin(shift)
        if screens is not None and screens < 1:
            raise InvalidInput(f"screens must be at least 1, got {screens}")
        self.reply, self._screens = reply, screens
        self.prompt = (
            {"role": "system", "content": shift_prompt(shift, reply)},
            {"role": "user", "content": self.screen()},
        )
        self._score = self._graded()

    @classmethod
    def of_row(
        cls, row: Mapping[str, Any], reply: Reply = "tools", *, screens: int | None = None
    ) -> Self:
        """The episode of a row's shift; UnknownName or InvalidInput if ``shift`` names none."""
        return cls(make_shift(named_in(row, "shift")), reply, screens=screens)

    def play(self, messages: Iterable[Message]) -> Self:
        """Play the agent's messages of a whole conversation, until the shift is over."""
        for message in messages:
            if message.get("role") == "assistant" and not self.done:
                self.step(message)
        return self

    def _wires_in(self, text: str) -> list[Wire]:
        return [wire_in(text)]

    def _play(self, wire: Wire) -> str:
        if self.state.is_over:
            return "The shift is over; this had no effect."
        self.state = take(self.state, wire)
        return self.screen()

    def _graded(self) -> float:
        return score(self.state)

    def screen(self) -> str:
        """The present screen."""
        return render(observe(self.state))

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the agent is to be offered, as OpenAI's chat API takes them."""
        return as_openai(SHIFT_TOOLS.values())

    @property
    def stop(self) -> str | None:
        """Why the episode has stopped, ``over`` or ``error``; None while it goes on."""
        if self.error is not None:
            return ERROR
        return OVER if self.state.is_over else None

    @property
    def grade(self) -> ShiftGrade:
        """The grade with its reasons, of what was played so far."""
        return grade(self.state)

    @property
    def reward(self) -> float | None:
        """The score so far, in [0, 1]; None after an error."""
        return None if self.error is not None else self._score
