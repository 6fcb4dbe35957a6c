"""The environment of an episode in training, timed.

Its public methods are the model's tools, so what is added here is private.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any

from logtriage.adapters.episode import state_after
from logtriage.adapters.trl import NotationEnv, Playing, TriageEnv
from logtriage.drawing.sealing import incident_of
from logtriage.grading import Resolver, Rubric
from logtriage.state import State


class Stopwatch:
    """Seconds spent inside of ``with``; one inside of another of the same counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._since = time.perf_counter()
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._since

    def taken(self) -> float:
        """The seconds so far; from zero again."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


class _Timed(Playing):
    """An environment whose calls are timed, and that knows where replies begin.

    ``_turns`` holds the number of actions before each reply of the model, which may play
    none, one or several. Actions are those that reached the environment.
    """

    def __init__(
        self,
        clock: Stopwatch,
        rubric: Rubric | None = None,
        resolve: Resolver = incident_of,
    ) -> None:
        super().__init__(rubric, resolve)
        self._clock = clock
        self._turns: list[int] = []

    def reset(self, **row: Any) -> str:
        """Start the incident of a row; see :meth:`Playing.reset`."""
        with self._clock:
            self._turns = []
            return super().reset(**row)

    def _call(self, called: Mapping[str, Any]) -> str:
        with self._clock:
            return super()._call(called)

    def _begin_turn(self) -> None:
        self._turns.append(len(self.actions))

    def _after(self, count: int | None = None) -> State:
        """The state after the first so many actions; None for all."""
        return state_after(self.episode.state.incident, self.actions[:count])[0]


class TrainingEnv(_Timed, TriageEnv):
    """The environment of a model that calls tools."""

    def get_reward(self) -> float:
        """The grade of what was played; see :meth:`TriageEnv.get_reward`."""
        with self._clock:
            return super().get_reward()


class NotationTrainingEnv(_Timed, NotationEnv):
    """The environment of a model of notation."""

    def get_reward(self) -> float:
        """The grade of what was played; see :meth:`NotationEnv.get_reward`."""
        with self._clock:
            return super().get_reward()


class EveryTool(dict[str, Callable[..., str]]):
    """The tools of an environment by name, and what plays a call of any other name.

    TRL answers a call of a tool that does not exist itself, so that it would cost no tick:
    training would pay for what held-out play counts as malformed.
    """

    def __init__(self, tools: Mapping[str, Callable[..., str]], env: _Timed) -> None:
        super().__init__(tools)
        self._env = env

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[..., str]:
        return partial(self._play, name)

    def _play(self, name: str, /, **arguments: Any) -> str:
        return self._env._call({"name": name, "arguments": arguments})
