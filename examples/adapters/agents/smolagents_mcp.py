"""smolagents triages ten incidents by `logtriage mcp`; the grades are in runs/.

Needs the extras mcp and agents, and a key in OPENAI_API_KEY. Put in your own model.
"""

from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIModel, ToolCallingAgent

SERVE = ["mcp", "--task", "cascading_failure-v4", "--episodes", "10", "--out", "runs/smolagents"]
oncall = StdioServerParameters(command="logtriage", args=SERVE)
with MCPClient(oncall, adapter_kwargs={"connect_timeout": 60}, structured_output=False) as tools:
    agent = ToolCallingAgent(tools, OpenAIModel("gpt-5.2"), max_steps=500)
    agent.run("You are on call. Triage all incidents.")
