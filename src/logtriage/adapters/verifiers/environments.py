"""Environments that step an incident on the host, for one agent or a team of three.

Each role has its own prompt, screen and conversation. In each tick every role is shown its screen
and answers once; then time passes. The team shares the grade, which every trace gets as its reward.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Literal

import verifiers.v1 as vf

from logtriage.adapters.episode import Episode
from logtriage.adapters.rewards import metrics_of
from logtriage.adapters.team_episode import TeamEpisode
from logtriage.adapters.verifiers.rows import RoleData, TriageTask, incident_of_row, shares_of
from logtriage.conversations.teams import joint_transcript
from logtriage.errors import InvalidInput
from logtriage.grading import Graded, grade_transcript
from logtriage.roles import Role
from logtriage.roles.splits import get_role_split

_SECOND = "A role acts once in a tick; see the first call."  # to a second call


class SoloEnvConfig(vf.EnvConfig):
    """One agent. It runs no code, so it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class SoloEnv(vf.Env[SoloEnvConfig]):
    """Plays each call as one action and answers it with the next screen."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """Play one episode, until the incident is closed. A reply without a call costs its tick."""
        episode = Episode(incident_of_row(task.data), style=task.data.style)
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                turn = episode.step([message.model_dump() for message in segment.messages])
                if turn.done:
                    break
                segment = await interaction.turn(list(map(_as_message, turn.messages)))


def _as_message(message: Mapping[str, Any]) -> Any:
    """An answer to the agent as a message of verifiers."""
    if message["role"] == "user":
        return vf.UserMessage(content=message["content"])
    return vf.ToolMessage(tool_call_id=message["tool_call_id"], content=message["content"])


class TeamEnvConfig(vf.EnvConfig):
    """The three roles of ``trio``, with or without the board."""

    triage: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    escalation: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    remediation: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    role_split: Literal["trio", "trio_without_board"] = "trio"


def team_grade(traces: Iterable[vf.Trace]) -> Graded:
    """The grade of a team, from the calls on the traces of its roles."""
    by_role = {trace.task.data.role: trace for trace in traces}
    data = next(iter(by_role.values())).task.data
    incident, split = incident_of_row(data), get_role_split(data.role_split)
    replies = {
        name: [message.model_dump() for message in trace.assistant_messages]
        for name, trace in by_role.items()
    }
    played = joint_transcript(replies, split, incident)
    return grade_transcript(played, resolve=lambda _: incident)


def credit_of(traces: Iterable[vf.Trace]) -> dict[str, float]:
    """By role, the grade that it added over waiting; these need not add up to the team's grade."""
    by_role = {trace.task.data.role: trace for trace in traces}
    data = next(iter(by_role.values())).task.data
    split = get_role_split(data.role_split)
    episode = TeamEpisode(incident_of_row(data), split)
    replies = [
        [message.model_dump() for message in by_role[name].assistant_messages]
        for name in split.names
    ]
    for tick in zip(*replies, strict=False):  # a role may lack a reply in the last tick
        if not episode.done:
            episode.step(dict(zip(split.names, tick, strict=True)))
    return episode.by_agent


class TeamEnv(vf.Env[TeamEnvConfig]):
    """Plays an incident with three agents, tick by tick."""

    async def run(self, task: TriageTask, agents: vf.Agents) -> None:
        """Play one episode, until the incident is closed or an agent is out of turns."""
        incident = incident_of_row(task.data)
        if task.config.rubric is not None:
            raise InvalidInput("task.rubric: a team is graded by the rubric of its incident's task")
        if task.data.style != "text":
            raise InvalidInput(f"style {task.data.style}: a team plays by tools, in style text")
        split = get_role_split(self.config.role_split)
        episode = TeamEpisode(incident, split)
        async with AsyncExitStack() as open_seats:
            seats = [
                await open_seats.enter_async_context(
                    getattr(agents, role.name).interaction(_seat(task, episode, role))
                )
                for role in split.roles
            ]
            # The permits of verifiers decide how many of these run side by side.
            segments = await asyncio.gather(*(seat.turn() for seat in seats))
            while not any(segment.terminated for segment in segments):
                replies = dict(zip(split.names, map(_reply, segments), strict=True))
                turn = episode.step(replies)
                if turn.done:
                    break
                answers = [_answers(reply, turn.screens[name]) for name, reply in replies.items()]
                turns = (seat.turn(each) for seat, each in zip(seats, answers, strict=True))
                segments = await asyncio.gather(*turns)

    async def finalize(self, task: vf.Task, episode: vf.Episode) -> None:  # noqa: ARG002
        """Record the team's grade on every trace; none if an agent failed."""
        lost = [trace.agent.name for trace in episode.traces if not trace.ok]
        if lost:
            raise RuntimeError(f"no grade, since these agents failed: {', '.join(lost)}")
        grade, credit = team_grade(episode.traces), credit_of(episode.traces)
        assert grade.score is not None  # a completed transcript is always scored
        for trace in episode.traces:
            trace.record_reward("grade", grade.score)
            trace.record_metrics({**metrics_of(grade), **shares_of(grade)})
            trace.record_metric("by_agent", credit[trace.task.data.role])


def _seat(task: TriageTask, episode: TeamEpisode, role: Role) -> vf.Task:
    """The task of one role: the row's incident with the role's own rules and first screen."""
    incident, split = episode.state.incident, episode.split
    rules, screen = episode.prompts[role.name]
    data = RoleData(
        idx=task.data.idx,
        name=f"{task.data.incident} {role.name}",
        incident=task.data.incident,
        role=role.name,
        role_split=split.name,
        bundle=task.data.bundle,
        seal=incident.seal,
        world=incident.world_mark,
        system_prompt=rules["content"],
        prompt=screen["content"],
    )
    return vf.Task(data)


def _reply(segment: vf.Segment) -> dict[str, Any]:
    (message,) = segment.messages
    reply: dict[str, Any] = message.model_dump()
    return reply


def _answers(reply: dict[str, Any], screen: str) -> str | list[Any]:
    """The screen as the answer to the first call of a reply, or as text if it has no call."""
    calls = reply.get("tool_calls") or ()
    messages = [
        vf.ToolMessage(tool_call_id=call["id"], content=_SECOND if number else screen)
        for number, call in enumerate(calls)
    ]
    return messages or screen
