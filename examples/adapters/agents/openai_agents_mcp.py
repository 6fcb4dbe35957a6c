"""The OpenAI Agents SDK triages ten incidents by `logtriage mcp`; the grades are in runs/.

Needs the extras mcp and agents, and a key in OPENAI_API_KEY. Put in your own model.
"""

import asyncio

from agents import Agent, Runner
from agents.mcp import MCPServerStdio

SERVE = ["mcp", "--task", "cascading_failure-v4", "--episodes", "10", "--out", "runs/openai-agents"]


async def main():
    command = {"command": "logtriage", "args": SERVE}
    async with MCPServerStdio(command, client_session_timeout_seconds=60) as oncall:
        agent = Agent("on call", "You are on call.", mcp_servers=[oncall], model="gpt-5.2")
        await Runner.run(agent, "Triage all incidents.", max_turns=500)


asyncio.run(main())
