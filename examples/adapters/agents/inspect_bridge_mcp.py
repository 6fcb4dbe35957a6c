"""Inspect's agent bridge triages ten incidents by `logtriage mcp`; the grades are in runs/.

Needs the extras mcp and agents, and a key in OPENAI_API_KEY. Put in your own model.
"""

from agents import Agent, OpenAIChatCompletionsModel, Runner
from agents.mcp import MCPServerStdio
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import AgentState, agent, agent_bridge
from inspect_ai.dataset import Sample
from openai import AsyncOpenAI

SERVE = ["mcp", "--task", "cascading_failure-v4", "--episodes", "10", "--out", "runs/inspect"]


@agent
def on_call():
    async def execute(state: AgentState) -> AgentState:
        command = {"command": "logtriage", "args": SERVE}
        async with (
            agent_bridge(state) as bridge,
            MCPServerStdio(command, client_session_timeout_seconds=60) as oncall,
        ):
            model = OpenAIChatCompletionsModel("inspect", AsyncOpenAI())
            mine = Agent("on call", mcp_servers=[oncall], model=model)
            await Runner.run(mine, state.messages[-1].text, max_turns=500)
            return bridge.state

    return execute


sample = Sample("You are on call. Triage all incidents.")
evaluate(Task([sample], solver=on_call()), model="openai/gpt-5.2", display="none")
