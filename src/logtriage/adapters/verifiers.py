"""verifiers: a taskset of incidents, and the environment and harness that play them.

verifiers finds a taskset by the name of a top-level module, so this one is found as
``logtriage-verifiers``: ``vf-eval logtriage-verifiers``. Needs the extra ``verifiers``.

The environment steps the incident on the host, as the user of the conversation; the
harness is one model call with the tools for each step, so that no program, container or
download is needed. Rewards and metrics are computed from the calls on the trace.
"""

import ssl
from collections.abc import Iterator
from functools import cache
from typing import Any

from logtriage.errors import MissingExtra

try:
    import verifiers.v1 as vf
except ModuleNotFoundError as error:
    if error.name not in ("verifiers", "verifiers.v1"):
        raise
    raise MissingExtra("logtriage.adapters.verifiers", "verifiers") from None

import httpx
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from logtriage.adapters.conversations import actions_of_conversation, calls_of, wire_of
from logtriage.adapters.episode import answer, opening, state_after
from logtriage.adapters.tools import Wire, openai_tools
from logtriage.evaluation import RECORDED_TASK, Incidents
from logtriage.grading import Grade, grade_actions
from logtriage.tasks import TASKS, get_task, incident_ids

__all__ = ["TriageEnv", "TriageHarness", "TriageTaskset"]

_INCIDENTS = Incidents()
_REMINDER = "Call one of the tools. A second reply without a tool call ends the episode."


class TriageData(vf.TaskData):
    """A row: the incident's id, the rules and the first screen. The truth is not in it."""

    incident: str


def grade_of(incident_id: str, trace: vf.Trace) -> Grade:
    """The grade of what the model called, as it stands on a trace."""
    incident = _INCIDENTS(incident_id)
    messages = [message.model_dump() for message in trace.assistant_messages]
    return grade_actions(incident, actions_of_conversation(messages, incident.topology))


class TriageTask(vf.Task[TriageData, vf.State, vf.TaskConfig]):
    """One incident; its reward is the grade."""

    @property
    def key(self) -> str:
        """The incident's id, which names it in every run."""
        return self.data.incident

    @vf.reward
    async def grade(self, trace: vf.Trace) -> float:
        """The grade, from 0 to 1."""
        score = grade_of(self.data.incident, trace).score
        assert score is not None  # a list of actions is always scored
        return score

    @vf.metric
    async def criteria(self, trace: vf.Trace) -> dict[str, float]:
        """Every criterion, whether a gate held, ticks used, calls after the closing one."""
        grade = grade_of(self.data.incident, trace)
        return {
            **{row.name: row.score for row in grade.criteria},
            "gated": float(grade.gate is not None),
            "ticks": float(grade.ticks),
            "unplayed": float(grade.unplayed),
        }


class TriageConfig(vf.TasksetConfig):
    """Which incidents: ``episodes`` of each of the ``tasks``, from ``start`` on."""

    tasks: list[str] = Field(default_factory=lambda: [t.id for t in TASKS if not t.original])
    split: str = "train"
    episodes: int = 100
    start: int = 0


class TriageTaskset(vf.Taskset[TriageTask, TriageConfig]):
    """Incidents of logtriage's tasks, one row each."""

    def load(self) -> Iterator[TriageTask]:
        """The rows, task by task.

        Raises:
            UnknownName, InvalidInput: for a task or split that does not exist.
        """
        config = self.config
        for name in config.tasks:
            if name == RECORDED_TASK:
                ids = list(_INCIDENTS.recorded())[config.start : config.start + config.episodes]
            else:
                count = 1 if get_task(name).original else config.episodes
                ids = list(incident_ids(name, config.split, count, config.start))
            for one in ids:
                rules, screen = opening(_INCIDENTS(one), "tools")
                data = TriageData(
                    id=one,
                    name=one,
                    incident=one,
                    system_prompt=rules["content"],
                    prompt=screen["content"],
                )
                yield TriageTask(data, config.task)


@cache
def _tls() -> ssl.SSLContext:
    """Made once, since it takes longer than all else in a step."""
    return ssl.create_default_context()


class TriageHarnessConfig(vf.HarnessConfig):
    """The harness has no options of its own."""


class TriageHarness(vf.Harness[TriageHarnessConfig]):
    """One model call for each segment, with the tools, made by this process itself."""

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
        # No timeout: how long an episode may take is a setting of verifiers.
        async with httpx.AsyncClient(verify=_tls(), timeout=None) as client:
            reply = await client.post(
                f"{endpoint.rstrip('/')}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages, "tools": openai_tools()},
            )
        reply.raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class TriageEnvConfig(vf.EnvConfig):
    """One agent. It runs no code, so it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class TriageEnv(vf.Env[TriageEnvConfig]):
    """Plays each call as one action and answers it with the next screen."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """One episode: until the incident is closed, or two replies in a row call nothing."""
        incident = _INCIDENTS(task.data.incident)
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
