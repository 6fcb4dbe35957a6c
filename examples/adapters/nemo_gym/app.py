"""NeMo Gym's resources server: a session is an episode, a tool call is an action."""

from typing import Any

from fastapi import Body, FastAPI, Request
from fastapi.responses import PlainTextResponse
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import PrivateAttr

import logtriage as lt
from logtriage.adapters.episode import Episode, row_of


def row(incident_id: str) -> dict[str, Any]:
    """A row of a data set: the request to the model, and the incident's id beside it."""
    episode = Episode(lt.make_incident(incident_id))
    tools = [{"type": "function", "strict": False, **one["function"]} for one in episode.tools]
    asked = {"input": list(episode.prompt), "tools": tools, "parallel_tool_calls": False}
    return {"responses_create_params": asked, **row_of(episode.incident)}


class TriageServer(SimpleResourcesServer):
    """Every route that is not NeMo Gym's own is a tool; an unknown tool costs its tick."""

    config: BaseResourcesServerConfig
    _episodes: dict[str, Episode] = PrivateAttr(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/{tool}")(self.call)
        return app

    async def seed_session(self, request: Request, row: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        self._episodes.setdefault(request.session[SESSION_ID_KEY], Episode.of_row(row))
        return {}

    async def call(self, tool: str, request: Request) -> PlainTextResponse:
        called = {"name": tool, "arguments": await request.json()}
        episode = self._episodes[request.session[SESSION_ID_KEY]]
        return PlainTextResponse(episode.step({"role": "assistant", "tool_calls": [called]}).text)

    async def verify(self, request: Request, body: BaseVerifyRequest) -> BaseVerifyResponse:
        """The grade of the session's episode."""
        episode = self._episodes.pop(request.session[SESSION_ID_KEY])
        return BaseVerifyResponse(**body.model_dump(), reward=episode.reward)


if __name__ == "__main__":
    TriageServer.run_webserver()
