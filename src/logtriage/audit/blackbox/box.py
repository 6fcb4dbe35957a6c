"""A black box: anybody's environment, its actions and its episodes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import attrs

from logtriage.audit.failing import AuditedCodeFailed, in_words
from logtriage.errors import InvalidInput

#: Keys whose values may differ between two equal episodes: when and under which name.
VOLATILE: Final = frozenset(
    {"episode_id", "session_id", "request_id", "timestamp", "created_at", "elapsed_s", "duration_s"}
)


@attrs.frozen
class Shown:
    """The reply of an environment to a reset or a step.

    Attributes:
        observation: what the agent reads, as JSON data.
        reward: the reward of the step; None if there is none.
        done: whether the episode has ended.
        beside: everything else that is returned (info, metadata, state), as JSON data.
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
        name: its name in reports.
        make: makes a new instance.
        actions: actions to try, as JSON data.
        nulls: by name, actions that are no work: nothing, nonsense, a claim.
        steps: the most steps of an episode.
        best: the return of a perfect episode; None if unknown.
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

    def instance(self) -> Environment:
        """A new instance; its calls raise :class:`AuditedCodeFailed` for its exceptions."""
        with _blaming("making it"):
            return _Guarded(self.make())

    def played(self, seed: int, actions: Iterator[Any] | None = None) -> list[Shown]:
        """One episode in an instance of its own, by default of the seed's script."""
        environment = self.instance()
        try:
            return play(environment, seed, actions or self.script(seed), self.steps)
        finally:
            environment.close()


@attrs.frozen
class _Guarded:
    environment: Environment

    def reset(self, seed: int) -> Shown:
        with _blaming(f"reset(seed={seed})"):
            return self.environment.reset(seed)

    def step(self, action: Any) -> Shown:
        with _blaming(f"step({short(action)})"):
            return self.environment.step(action)

    def close(self) -> None:
        with _blaming("close()"):
            self.environment.close()


@contextmanager
def _blaming(call: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # anybody's code may raise anything
        raise AuditedCodeFailed(call, in_words(error)) from error


def play(environment: Environment, seed: int, actions: Iterator[Any], steps: int) -> list[Shown]:
    """The replies of an episode: to the reset and to each action, up to its end."""
    shown = [environment.reset(seed)]
    while not shown[-1].done and len(shown) <= steps:
        shown.append(environment.step(next(actions)))
    return shown


def total(shown: Sequence[Shown]) -> float:
    """The return: the sum of the rewards of an episode; anything else counts as 0."""
    return float(sum(screen.reward for screen in shown if is_reward(screen.reward)))


def is_reward(reward: Any) -> bool:
    """Whether a reward is a number."""
    return isinstance(reward, int | float) and not isinstance(reward, bool)


def first_difference(left: Sequence[Shown], right: Sequence[Shown]) -> str | None:
    """The first difference of two episodes, in words; None if they are the same."""
    for step, (mine, theirs) in enumerate(zip(left, right, strict=False)):
        for part in ("observation", "reward", "done", "beside"):
            difference = _differs(getattr(mine, part), getattr(theirs, part), part)
            if difference is not None:
                return f"{difference} {f'after step {step}' if step else 'after the reset'}"
    if len(left) != len(right):
        return f"one ends after {len(left) - 1} steps, the other after {len(right) - 1}"
    return None


def _differs(left: Any, right: Any, path: str) -> str | None:
    """The path to the first difference of JSON data, volatile keys left out."""
    pairs: list[tuple[Any, Any, str]]
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys = sorted({*left, *right} - VOLATILE, key=str)
        pairs = [(left.get(key), right.get(key), f"{path}.{key}") for key in keys]
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = [(*both, f"{path}[{n}]") for n, both in enumerate(zip(left, right, strict=True))]
    else:
        same = left == right or (left != left and right != right)  # NaN equals NaN here
        return None if same else f"{path} differs ({short(left)}, {short(right)})"
    differences = (_differs(*pair) for pair in pairs)
    return next((difference for difference in differences if difference is not None), None)


def short(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}…"
