"""One agent: the environment steps the incident on the host, as the user of the conversation."""

from typing import Any

import verifiers.v1 as vf

from logtriage.adapters.conversations import calls_of, wire_of
from logtriage.adapters.episode import answer, state_after
from logtriage.adapters.tools import Wire
from logtriage.adapters.verifiers.rows import INCIDENTS, TriageTask

_REMINDER = "Call one of the tools. A second reply without a tool call ends the episode."


class TriageEnvConfig(vf.EnvConfig):
    """One agent. It runs no code, so it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TriageEnv(vf.Env[TriageEnvConfig]):
    """Plays each call as one action and answers it with the next screen."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """One episode: until the incident is closed, or two replies in a row call nothing."""
        incident = INCIDENTS(task.data.incident)
        wires: list[Wire] = []
        silent = 0
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                answers: list[Any] = []
                for message in segment.messages:
                    for call in calls_of(message.model_dump()):
                        wires.append(wire_of(call))
                        told = answer(incident, wires)
                        answers.append(vf.ToolMessage(tool_call_id=call["id"], content=told))
                silent = 0 if answers else silent + 1
                if silent == 2 or state_after(incident, wires)[0].is_closed:
                    break
                segment = await interaction.turn(answers or _REMINDER)
