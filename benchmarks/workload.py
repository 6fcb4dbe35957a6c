"""What the benchmarks run on: expert episodes over test incidents, half a file of groups."""

from functools import lru_cache

from logtriage import (
    Action,
    State,
    incident_ids,
    initial_state,
    make_incident,
    observe,
    transcript_of,
    transition,
)
from logtriage.codec import encode_transcript
from logtriage.policies import Policy
from logtriage.registry import make_policy
from logtriage.tasks import DRAWN_TASKS, get_task

#: The benchmark's tasks whose incidents share a topology.
SMALL = tuple(task for task in DRAWN_TASKS if get_task(task).topology)
#: Attempts per incident in the transcript file, as in a GRPO group or a pass@8 evaluation.
GROUP = 8


def play(policy: Policy, incident_id: str) -> list[tuple[State, Action]]:
    """The steps of an episode: each state with the action taken in it."""
    state, memory = initial_state(make_incident(incident_id)), None
    steps = []
    while not state.is_closed:
        action, memory = policy.act(observe(state), memory)
        steps.append((state, action))
        state = transition(state, action)
    return steps


@lru_cache(maxsize=1)
def expert_steps(per_task: int = 100) -> tuple[tuple[State, Action], ...]:
    """Steps of expert episodes over these tasks."""
    expert = make_policy("expert")
    return tuple(
        step
        for task in SMALL
        for one in incident_ids(task, "test", per_task)
        for step in play(expert(make_incident(one)), one)
    )


@lru_cache(maxsize=4)
def transcript_lines(per_task: int = 60, group: int = GROUP) -> tuple[str, ...]:
    """Transcripts of ``group`` attempts per incident: the expert and random agents."""
    specs = ["expert", *(f"random:{seed}" for seed in range(group - 1))]
    lines = []
    for task in SMALL:
        for one in incident_ids(task, "test", per_task):
            for spec in specs:
                state, action = play(make_policy(spec)(make_incident(one)), one)[-1]
                lines.append(
                    encode_transcript(transcript_of(transition(state, action), agent=spec))
                )
    return tuple(lines)
