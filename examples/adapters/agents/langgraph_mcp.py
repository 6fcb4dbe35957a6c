"""LangGraph triages ten incidents by `logtriage mcp`; the grades are in runs/.

Needs the extras mcp and agents, and a key in OPENAI_API_KEY. Put in your own model.
"""

import asyncio

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

SERVE = ["mcp", "--task", "cascading_failure-v4", "--episodes", "10", "--out", "runs/langgraph"]


async def main():
    command = {"transport": "stdio", "command": "logtriage", "args": SERVE}
    async with MultiServerMCPClient({"oncall": command}).session("oncall") as session:
        agent = create_agent("openai:gpt-5.2", await load_mcp_tools(session))
        start = {"messages": [("user", "You are on call. Triage all incidents.")]}
        await agent.ainvoke(start, {"recursion_limit": 1000})


asyncio.run(main())
