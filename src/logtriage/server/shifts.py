"""Shifts by the OpenEnv protocol, each session a shift of its own.

    HOST=127.0.0.1 python -m logtriage.server.shifts

The guard, the limits and the variables are those of :mod:`logtriage.server.launch`.
"""

from typing import Any, Final

from fastapi import FastAPI
from openenv.core.env_server import Action, Environment, Observation, State
from pydantic import ConfigDict, Field

from logtriage.errors import InvalidInput
from logtriage.server.app import guarded_app
from logtriage.server.launch import main
from logtriage.server.messages import Kinds, check_fields
from logtriage.server.settings import Settings
from logtriage.shift import (
    ShiftState,
    begin,
    grade,
    make_shift,
    observe,
    render,
    reward,
    shift_grade_to_json,
    shift_prompt,
    take,
    wire_in,
)

RESET_FIELDS: Final = ("seed", "episode_id", "task", "split")
#: The messages of a session.
KINDS: Final[Kinds] = {"reset": RESET_FIELDS, "step": ("text",), "state": None, "close": None}


class ShiftStep(Action):
    """What to do in a tick: the text that a model wrote, with one JSON action in it."""

    model_config = ConfigDict(strict=True)

    text: str = Field(max_length=16_000, description="A reply with one action as JSON in it")


class ShiftSeen(Observation):
    """What the engineer sees, and at the end the grade."""

    screen: str = Field(description="What the engineer sees, as text")
    prompt: str | None = Field(default=None, description="The public rules; after a reset only")
    grade: dict[str, Any] | None = Field(default=None, description="The grade; once it is over")


class ShiftEnvironment(Environment[ShiftStep, ShiftSeen, State]):
    """One session: a shift at a time."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state: ShiftState | None = None
        self._episode: str | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str = "quiet_shift-v1",
        split: str = "train",
        **unknown: Any,
    ) -> ShiftSeen:
        """Begin the shift of a task and a split whose index is ``seed`` (0 if there is none).

        Raises:
            UnknownName, InvalidInput: naming the field, or the task or split that is unknown.
        """
        check_fields(unknown, RESET_FIELDS)
        shift = make_shift(f"{task}/{split}/{seed or 0}")
        self._state, self._episode = begin(shift), episode_id
        return self._seen(0.0, shift_prompt(shift))

    def step(self, action: ShiftStep, timeout_s: float | None = None, **_: Any) -> ShiftSeen:  # noqa: ARG002
        """Play a reply; what cannot be read costs its tick.

        Raises:
            InvalidInput: before the first reset.
            EpisodeOver: if the shift is over.
        """
        if self._state is None:
            raise InvalidInput("no shift yet: send a reset first")
        before = self._state
        self._state = take(before, wire_in(action.text))
        return self._seen(reward(before, self._state))

    async def reset_async(self, *args: Any, **named: Any) -> ShiftSeen:
        """As :meth:`reset`, on the event loop, where sessions take turns."""
        return self.reset(*args, **named)

    async def step_async(
        self, action: ShiftStep, timeout_s: float | None = None, **more: Any
    ) -> ShiftSeen:
        """As :meth:`step`."""
        return self.step(action, timeout_s, **more)

    def _seen(self, earned: float, prompt: str | None = None) -> ShiftSeen:
        assert self._state is not None
        over, graded = self._state.is_over, None
        if over:
            graded = shift_grade_to_json(grade(self._state))
        screen = render(observe(self._state))
        return ShiftSeen(done=over, reward=earned, screen=screen, prompt=prompt, grade=graded)

    @property
    def state(self) -> State:
        """How many ticks were played; nothing of the truth."""
        played = 0 if self._state is None else self._state.tick
        return State(episode_id=self._episode, step_count=played)


def shift_app(settings: Settings) -> FastAPI:
    """The ASGI application."""
    models = ShiftStep, ShiftSeen, State
    return guarded_app(ShiftEnvironment, models, KINDS, settings)


if __name__ == "__main__":
    main(shift_app)
