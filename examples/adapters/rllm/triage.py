"""rLLM's two halves for incidents: a flow that plays the incident of a row, and its evaluator.

rLLM runs the flow beside its model gateway, which records the tokens of each request.
"""

from typing import Any

import rllm
from openai import AsyncOpenAI
from rllm.eval.types import EvalOutput, Signal
from rllm.types import AgentConfig, Episode, Step, Task, Trajectory

from logtriage.adapters.episode import Episode as Incident
from logtriage.adapters.rewards import metrics_of
from logtriage.evaluation import Incidents


@rllm.rollout(name="triage")
async def triage_flow(task: Task, config: AgentConfig) -> Episode:
    """Play an incident; an error of the endpoint passes through, and rLLM tries again."""
    incident = Incident.of_row(task.metadata, resolve=Incidents())
    client, tools = AsyncOpenAI(base_url=config.base_url, api_key="EMPTY"), incident.tools
    messages: list[dict[str, Any]] = list(incident.prompt)
    steps = []
    while not incident.done:
        answer = await client.chat.completions.create(
            model=config.model, messages=messages, tools=tools
        )
        said = answer.choices[0].message.model_dump(exclude_none=True)
        turn = incident.step(said)
        steps.append(
            Step(
                chat_completions=[*messages, said],
                model_response=said.get("content") or "",
                action=list(turn.actions),
                reward=turn.reward,
                done=turn.done,
            )
        )
        messages += [said, *turn.messages]
    grade = incident.grade
    shares = {f"reward/{name}": share for name, share in incident.by_criterion.items()}
    return Episode(
        trajectories=[Trajectory(name="triage", steps=steps)],
        artifacts={"grade": grade.score, "signals": {**metrics_of(grade), **shares}},
    )


@rllm.evaluator
def triage_evaluator(task: Any, episode: Episode) -> EvalOutput:  # noqa: ARG001 (rLLM's signature)
    """The grade that the flow has found; an episode without one is an error, never a 0."""
    grade = episode.artifacts["grade"]
    signals = [Signal(name, float(one)) for name, one in episode.artifacts["signals"].items()]
    return EvalOutput(reward=grade, is_correct=grade == 1.0, signals=signals)
