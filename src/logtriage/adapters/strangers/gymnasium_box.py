"""An environment of Gymnasium as a black box."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from logtriage.adapters.strangers.schemas import NOTHING
from logtriage.audit.blackbox import BlackBox, Shown
from logtriage.errors import InvalidInput, MissingExtra

try:
    import gymnasium
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    raise MissingExtra("logtriage audit --env gymnasium:", "env") from None

from gymnasium import spaces

#: All of so many actions are tried; of a larger space, so many samples.
_ALL: Final = 16
_SOME: Final = 8


class GymnasiumEnvironment:
    """One instance, its values as JSON data."""

    def __init__(self, env_id: str) -> None:
        self._env = gymnasium.make(env_id, disable_env_checker=True)

    def reset(self, seed: int) -> Shown:
        """Start the episode of a seed."""
        observation, info = self._env.reset(seed=seed)
        return Shown(plain(observation), beside=plain(info))

    def step(self, action: Any) -> Shown:
        """Play an action."""
        observation, reward, ended, cut, info = self._env.step(action)
        return Shown(plain(observation), plain(reward), bool(ended or cut), plain(info))

    def close(self) -> None:
        """Close it."""
        self._env.close()


def box(name: str, env_id: str) -> BlackBox:
    """The black box of an id; its ``reward_threshold`` is the best return, if it has one."""
    try:
        env = gymnasium.make(env_id, disable_env_checker=True)
    except gymnasium.error.Error as error:
        raise InvalidInput(f"{name}: {error}") from None
    space, threshold = env.action_space, None if env.spec is None else env.spec.reward_threshold
    env.close()
    nulls: Mapping[str, Any] = NOTHING if isinstance(space, spaces.Text) else {}
    if isinstance(space, spaces.Box):
        nulls = {"zeros": 0 * space.sample()}
    make = partial(GymnasiumEnvironment, env_id)
    return BlackBox(name, make, _actions(space), nulls, best=threshold)


def _actions(space: spaces.Space[Any]) -> list[Any]:
    if isinstance(space, spaces.Discrete) and space.n <= _ALL:
        return [int(space.start + n) for n in range(int(space.n))]
    space.seed(0)
    return [space.sample() for _ in range(_SOME)]


def plain(value: Any) -> Any:
    """Arrays, tuples and numbers of NumPy as JSON data."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
