"""The harness: one model call with the tools for each step, made by this process itself."""

import ssl
from functools import cache
from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from logtriage.adapters.episode import reply_in
from logtriage.adapters.verifiers.rows import RoleData, TriageData, incident_of_row
from logtriage.conversations.tools import openai_tools
from logtriage.grading.offered import useful_actions
from logtriage.roles.splits import get_role_split


@cache
def _tls() -> ssl.SSLContext:
    """The context of TLS; making it takes longer than the rest of a step."""
    return ssl.create_default_context()


class TriageHarnessConfig(vf.HarnessConfig):
    """A configuration without options."""


class TriageHarness(vf.Harness[TriageHarnessConfig]):
    """One model call for each segment, without a program, a container or a download."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,  # noqa: ARG002 (verifiers' signature)
        runtime: vf.Runtime,  # noqa: ARG002
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model for its next message; verifiers puts the reply onto the trace."""
        rules, prompt = self.resolve_prompt(data)
        messages: list[Any] = [] if rules is None else [{"role": "system", "content": rules}]
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or ()]
        tools = _tools(data)
        offered = {"tools": tools} if tools else {}
        # No timeout: how long an episode may take is a setting of verifiers.
        async with httpx.AsyncClient(verify=_tls(), timeout=None) as client:
            reply = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages, **offered},
            )
        reply.raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def _tools(data: vf.TaskData) -> list[dict[str, Any]]:
    """The tools of a row's incident or role; none for rows of another taskset or in notation."""
    if isinstance(data, RoleData):
        role, incident = get_role_split(data.role_split).role(data.role), incident_of_row(data)
        return openai_tools(incident, useful_actions(incident, role))
    if isinstance(data, TriageData) and reply_in(data.style) == "tools":
        return openai_tools(incident_of_row(data))
    return []
