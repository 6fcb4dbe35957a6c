"""NeMo Gym's resources server: each session is an episode, each tool call an action."""

from typing import Any, ClassVar

from logtriage._lib.extras import imports_of
from logtriage.adapters.episode import Episode
from logtriage.adapters.nemo_gym import INCIDENTS, reward_of, verified
from logtriage.transcript import check_drawn

with imports_of("nemo-gym", "logtriage.adapters.nemo_gym.server", "nemo_gym"):
    import nemo_gym  # noqa: F401

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse
from nemo_gym.base_resources_server import (
    BaseMultiRewardVerifyResponse,
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    ReverifyMode,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import ConfigDict, PrivateAttr


class TriageServerConfig(BaseResourcesServerConfig):
    """A verification reads the stored calls alone, so stored rollouts can be verified again."""

    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.STATELESS


class TriageVerifyRequest(BaseVerifyRequest):
    """A rollout, and the incident of its row."""

    model_config = ConfigDict(extra="allow")

    incident: str
    seal: str | None = None
    world: str | None = None


class TriageVerifyResponse(BaseMultiRewardVerifyResponse):
    """The grade, its share by criterion, and the metrics as fields of their own."""

    model_config = ConfigDict(extra="allow")


class TriageServer(SimpleResourcesServer):
    """Plays incidents for NeMo Gym's ``simple_agent``.

    Every route that is not the server's own is a tool. A call of an unknown tool is a malformed
    action and costs its tick, as everywhere.
    """

    ray_enabled = False
    config: TriageServerConfig
    _episodes: dict[str, Episode] = PrivateAttr(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        """Register the server's own routes, then the tools."""
        app = super().setup_webserver()
        app.post("/{tool}")(self.call)
        return app

    async def seed_session(self, request: Request, row: dict[str, Any] = Body()) -> dict[str, Any]:  # noqa: B008
        """Open the episode of the row's incident, unless the session has an episode."""
        session = request.session[SESSION_ID_KEY]
        if session not in self._episodes:
            self._episodes[session] = Episode.of_row(row, resolve=INCIDENTS)
        return {}

    async def call(self, tool: str, request: Request) -> PlainTextResponse:
        """Play a tool call; returns the answer to it."""
        episode = self._episodes.get(request.session[SESSION_ID_KEY])
        if episode is None:
            raise HTTPException(409, "no session: post a row to /seed_session first")
        called = {"name": tool, "arguments": await request.json()}
        return PlainTextResponse(episode.step({"role": "assistant", "tool_calls": [called]}).text)

    async def verify(self, request: Request, body: TriageVerifyRequest) -> TriageVerifyResponse:
        """Grade a rollout by its calls, and end its session."""
        self._episodes.pop(request.session.get(SESSION_ID_KEY), None)
        incident = INCIDENTS(body.incident)
        check_drawn(body.seal, body.world, incident)
        output = [item.model_dump() for item in body.response.output]
        rewards = reward_of(incident, verified(incident, output))
        return TriageVerifyResponse(**body.model_dump(), **rewards)
