"""An environment that an OpenEnv server serves, as a black box: each instance a session."""

import json
from functools import partial
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

from logtriage.adapters.strangers.schemas import examples, nulls_of
from logtriage.audit.blackbox import BlackBox, Shown
from logtriage.errors import InvalidInput, MissingExtra

try:
    from openenv.core import GenericEnvClient
except ModuleNotFoundError as error:
    if error.name != "openenv":
        raise
    raise MissingExtra("logtriage audit --env openenv:", "openenv") from None

_PATIENCE_S: Final = 10.0
#: RFC 008 takes rewards to lie between 0 and 1 unless a package declares another range.
_BEST: Final = 1.0


class OpenEnvSession:
    """One session of a server, by the library's own client."""

    def __init__(self, url: str) -> None:
        self._client = GenericEnvClient(base_url=url).sync()
        self._client.connect()

    def reset(self, seed: int) -> Shown:
        """Start the episode of a seed."""
        return self._shown(self._client.reset(seed=seed, episode_id=f"audit-{seed}"))

    def step(self, action: Any) -> Shown:
        """Play an action; an action that the server refuses ends the episode."""
        try:
            answer = self._client.step(action)
        except RuntimeError as error:  # the client's name for a server's error
            return Shown({"refused": str(error)}, done=True)
        return self._shown(answer)

    def _shown(self, answer: Any) -> Shown:
        beside = {"state": self._client.state(), "metadata": answer.metadata}
        return Shown(answer.observation, answer.reward, bool(answer.done), beside)

    def close(self) -> None:
        """End the session."""
        self._client.close()


def box(name: str, url: str) -> BlackBox:
    """The black box of a server's address; actions are made from the schema that it gives."""
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"{name}: expected openenv:http://… or openenv:https://…")
    try:
        with urlopen(f"{url.rstrip('/')}/schema", timeout=_PATIENCE_S) as answer:
            schema = json.load(answer)["action"]
    except (URLError, TimeoutError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{name}: no OpenEnv server gives a schema there: {error}") from None
    make = partial(OpenEnvSession, url)
    return BlackBox(name, make, examples(schema), nulls_of(schema), best=_BEST)
