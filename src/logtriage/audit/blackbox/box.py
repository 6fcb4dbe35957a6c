"""A black box: an environment of anybody's, what can be done in it, and one episode of it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import attrs

from logtriage.errors import InvalidInput

#: Keys whose values may differ between two equal episodes: when and under which name.
VOLATILE: Final = frozenset(
    {"episode_id", "session_id", "request_id", "timestamp", "created_at", "elapsed_s", "duration_s"}
)
#: One action after another, the same for the same number.
Actions = Callable[[int], Iterator[Any]]


@attrs.frozen
class Shown:
    """What an environment says after a reset or a step.

    Attributes:
        observation: what the agent reads, as JSON data.
        reward: the reward of the step; None if there is none.
        done: whether the episode has ended.
        beside: what the environment says besides (info, metadata, state), as JSON data.
    """

    observation: Any
    reward: Any = None
    done: bool = False
    beside: Any = None


class Environment(Protocol):
    """One instance of an environment."""

    def reset(self, seed: int) -> Shown:
        """Start the episode of a seed."""

    def step(self, action: Any) -> Shown:
        """Play an action."""

    def close(self) -> None:
        """Let go of everything."""


@attrs.frozen
class BlackBox:
    """An environment to audit.

    Attributes:
        name: what reports call it.
        make: makes a new instance.
        actions: actions to try, as JSON data.
        nulls: by name, actions that are no work: nothing, nonsense, a claim.
        steps: at most so many a played episode.
        best: the return of a perfect episode; None if nobody has said.
    """

    name: str
    make: Callable[[], Environment]
    actions: Sequence[Any]
    nulls: Mapping[str, Any]
    steps: int = 20
    best: float | None = None

    def __attrs_post_init__(self) -> None:
        if not self.actions:
            raise InvalidInput(f"{self.name}: no action to try; name some")
        if self.steps < 1:
            raise InvalidInput(f"{self.name}: steps must be at least 1, got {self.steps}")

    def script(self, number: int) -> Iterator[Any]:
        """A mixed list of the actions: the same for the same number, without an end."""
        count, step = len(self.actions), 0
        while True:
            yield self.actions[(number + step * (1 + number % max(1, count - 1))) % count]
            step += 1


class EnvironmentFailed(Exception):
    """The environment that is audited raised, and in which call."""


@attrs.frozen
class Guarded:
    """An instance whose exceptions say that they are its own."""

    environment: Environment

    def reset(self, seed: int) -> Shown:
        """As the instance's own; raises :class:`EnvironmentFailed`."""
        with _blaming(f"reset(seed={seed})"):
            return self.environment.reset(seed)

    def step(self, action: Any) -> Shown:
        """As the instance's own; raises :class:`EnvironmentFailed`."""
        with _blaming(f"step({short(action)})"):
            return self.environment.step(action)

    def close(self) -> None:
        """As the instance's own; raises :class:`EnvironmentFailed`."""
        with _blaming("close()"):
            self.environment.close()


def instance(box: BlackBox) -> Guarded:
    """A new instance of a black box."""
    with _blaming("making it"):
        return Guarded(box.make())


@contextmanager
def _blaming(call: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # anybody's code may raise anything
        raise EnvironmentFailed(f"{call} raised {type(error).__name__}: {error}") from error


def play(environment: Environment, seed: int, actions: Iterator[Any], steps: int) -> list[Shown]:
    """One episode: what was shown at the reset and after each action, up to its end."""
    shown = [environment.reset(seed)]
    while not shown[-1].done and len(shown) <= steps:
        shown.append(environment.step(next(actions)))
    return shown


def total(shown: Sequence[Shown]) -> float:
    """The return: the rewards of an episode added up; those that are none count as 0."""
    return float(sum(one.reward for one in shown if is_reward(one.reward)))


def is_reward(reward: Any) -> bool:
    """Whether a reward is a number."""
    return isinstance(reward, int | float) and not isinstance(reward, bool)


def first_difference(one: Sequence[Shown], other: Sequence[Shown]) -> str | None:
    """Where two episodes differ first, in words; None where they are the same."""
    for step, (left, right) in enumerate(zip(one, other, strict=False)):
        for part in ("observation", "reward", "done", "beside"):
            found = _differs(getattr(left, part), getattr(right, part), part)
            if found is not None:
                where = "after the reset" if step == 0 else f"after step {step}"
                return f"{found} {where}"
    if len(one) != len(other):
        return f"one ends after {len(one) - 1} steps, the other after {len(other) - 1}"
    return None


def _differs(left: Any, right: Any, path: str) -> str | None:
    """The path to the first difference of JSON data, volatile keys left out."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right} - VOLATILE, key=str):
            found = _differs(left.get(key), right.get(key), f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (a, b) in enumerate(zip(left, right, strict=True)):
            found = _differs(a, b, f"{path}[{number}]")
            if found is not None:
                return found
        return None
    same = left == right or (left != left and right != right)  # NaN is what it is
    return None if same else f"{path} differs ({short(left)}, {short(right)})"


def short(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}…"
