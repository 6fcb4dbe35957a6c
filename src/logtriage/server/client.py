"""The typed client for those who use the OpenEnv library anyway (extra ``openenv``).

>>> async with LogTriageClient("http://127.0.0.1:8000") as env:  # doctest: +SKIP
...     seen = (await env.reset(incident="cascading_failure-v3/test/42")).observation
...     seen = (await env.step({"action_type": "request_more_logs"})).observation

``LogTriageClient(url).sync()`` is the same without ``await``. For a client that needs
nothing but websockets see :class:`logtriage.server.RemoteEnv`.
"""

from collections.abc import Mapping
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from logtriage.actions import Action
from logtriage.server.wire import Served, action_payload, served_of


class LogTriageClient(EnvClient[Action | Mapping[str, Any] | str, Served, dict[str, Any]]):
    """Plays on a server. Arguments are those of the library's ``EnvClient``.

    ``reset`` takes ``incident``, or ``task``, ``split`` and ``index`` (or ``seed``); ``step`` an
    action of the core, a wire action, or what a model wrote.
    """

    def _step_payload(self, action: Action | Mapping[str, Any] | str) -> dict[str, Any]:
        return action_payload(action)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Served]:
        served = served_of(payload)
        return StepResult(observation=served, reward=served.reward, done=served.done)

    def _parse_state(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload
