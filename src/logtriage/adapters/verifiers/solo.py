"""One agent: the environment steps the incident on the host, as the user of the conversation."""

from typing import Any

import verifiers.v1 as vf

from logtriage.adapters.conversations import calls_of, no_call, wire_of
from logtriage.adapters.episode import answer, state_after
from logtriage.adapters.messages import text_of
from logtriage.adapters.tools import Wire
from logtriage.adapters.verifiers.rows import TriageTask, incident_of_row


class TriageEnvConfig(vf.EnvConfig):
    """One agent. It runs no code, so it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TriageEnv(vf.Env[TriageEnvConfig]):
    """Plays each call as one action and answers it with the next screen."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """One episode: until the incident is closed. A reply without a call costs its tick."""
        incident = incident_of_row(task.data)
        wires: list[Wire] = []
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                replies = [message.model_dump() for message in segment.messages]
                calls = [call for reply in replies for call in calls_of(reply)]
                answers: list[Any] = []
                for call in calls:
                    wires.append(wire_of(call))
                    told = answer(incident, wires)
                    number = call.get("id")  # none, if it stands in the text
                    answers.append(
                        vf.UserMessage(content=told)
                        if number is None
                        else vf.ToolMessage(tool_call_id=number, content=told)
                    )
                if not calls:
                    wires.append(no_call("\n".join(map(text_of, replies))))
                if state_after(incident, wires)[0].is_closed:
                    break
                segment = await interaction.turn(answers or answer(incident, wires))
