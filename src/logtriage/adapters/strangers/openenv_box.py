"""An environment that an OpenEnv server serves, as a black box: each instance a session."""

import json
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
        """Play an action; one that the server refuses ends what is played."""
        try:
            found = self._client.step(action)
        except RuntimeError as error:  # what the client makes of a server's error
            return Shown({"refused": str(error)}, done=True)
        return self._shown(found)

    def _shown(self, found: Any) -> Shown:
        beside = {"state": self._client.state(), "metadata": found.metadata}
        return Shown(found.observation, found.reward, bool(found.done), beside)

    def close(self) -> None:
        """End the session."""
        self._client.close()


def openenv_box(name: str, url: str) -> BlackBox:
    """The black box of a server's address; actions are made from the schema that it gives.

    Raises:
        InvalidInput: if no OpenEnv server answers there.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"{name}: expected openenv:http://… or openenv:https://…")
    try:
        with urlopen(f"{url.rstrip('/')}/schema", timeout=_PATIENCE_S) as answer:
            schema = json.load(answer)["action"]
    except (URLError, TimeoutError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{name}: no OpenEnv server gives a schema there: {error}") from None
    return BlackBox(
        name, lambda: OpenEnvSession(url), examples(schema), nulls_of(schema), best=_BEST
    )
