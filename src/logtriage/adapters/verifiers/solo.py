"""One agent: the environment steps the incident on the host, as the user of the conversation."""

from collections.abc import Mapping
from typing import Any

import verifiers.v1 as vf

from logtriage.adapters.episode import Episode
from logtriage.adapters.turns import TextEpisode
from logtriage.adapters.verifiers.rows import TriageTask, incident_of_row


class SoloEnvConfig(vf.EnvConfig):
    """One agent. It runs no code, so it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SoloEnv(vf.Env[SoloEnvConfig]):
    """Plays each call as one action and answers it with the next screen."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """Play one episode, until the incident is closed. A reply without a call costs its tick."""
        await play(Episode(incident_of_row(task.data), style=task.data.style), task, agents)


async def play(episode: TextEpisode, task: vf.Task, agents: vf.Agents) -> None:
    """Step an episode with what the agent says, until one of the two has stopped."""
    async with agents.agent.interaction(task) as interaction:
        segment = await interaction.turn()
        while not segment.terminated:
            turn = episode.step([message.model_dump() for message in segment.messages])
            if turn.done:
                break
            segment = await interaction.turn([_as_message(message) for message in turn.messages])


def _as_message(message: Mapping[str, Any]) -> Any:
    """An answer to the agent as a message of verifiers."""
    if message["role"] == "user":
        return vf.UserMessage(content=message["content"])
    return vf.ToolMessage(tool_call_id=message["tool_call_id"], content=message["content"])
