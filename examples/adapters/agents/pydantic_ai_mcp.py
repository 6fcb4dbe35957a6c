"""pydantic-ai triages ten incidents by `logtriage mcp`; the grades are in runs/.

Needs the extras mcp and agents, and a key in OPENAI_API_KEY. Put in your own model.
"""

import asyncio

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.mcp import MCPToolset

SERVE = ["mcp", "--task", "cascading_failure-v4", "--episodes", "10", "--out", "runs/pydantic-ai"]


async def main():
    oncall = MCPToolset(StdioTransport("logtriage", SERVE), init_timeout=60)
    agent = Agent("openai:gpt-5.2", toolsets=[oncall], instructions="You are on call.")
    await agent.run("Triage all incidents.", usage_limits=UsageLimits(request_limit=500))


asyncio.run(main())
