"""Golden transcripts: what a task version promised, written down once.

    python -m tests.golden.recording cascading_failure-v2

writes the file of a *new* task version. It never overwrites one: behaviour that
changes is a new version, with a reason in the task's history.
"""

import json
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from logtriage import (
    TaskSpec,
    get_task,
    grade,
    incident_ids,
    initial_state,
    observe,
    render_observation,
    transition,
)
from logtriage.codec import truth_to_json
from logtriage.evaluation import Incidents
from logtriage.grading import Grade
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.recorded import HISTORY, shipped_incidents
from logtriage.recorded.version import task_id
from logtriage.registry import make_policy
from logtriage.state import State
from logtriage.tasks import DRAWN_TASKS

FOLDER = Path(__file__).parent
#: (split, incidents, policies): the expert plays well, the random one everywhere else.
EPISODES = (("test", 6, ("expert", "random:1")), ("ood", 4, ("expert", "first_error")))
#: Of the other levels of fog, which play by the tables of a task that is recorded.
FEW_EPISODES = (("test", 1, ("oracle", "expert", "random:1")),)
#: Fog 0 of the benchmark, where lines may name their cause, is recorded as fully as the tasks.
IN_FULL = (*DRAWN_TASKS, "cascading_failure-v2-fog0")
#: The recorded incidents that are shipped, and who plays them.
RECORDED = task_id("recorded_trainticket")
RECORDED_AGENTS = ("combined", "expert", "random:1")
find = Incidents()


def path_of(task: str) -> Path:
    return FOLDER / f"{task}.json"


def episodes_of(task: TaskSpec) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """(split, incidents, policies) that are recorded of a task."""
    return EPISODES if task.fog is None or task.id in IN_FULL else FEW_EPISODES


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def graded(state: State) -> dict[str, Any]:
    """The parts of a grade that a version fixes: not its wording."""
    one: Grade = grade(state)
    return {
        "score": one.score,
        "criteria": {row.name: row.score for row in one.criteria},
        "gate": one.gate,
        "closing": None if one.closing is None else str(one.closing),
        "ticks": one.ticks,
        "rubric": one.rubric,
        "digest": one.digest,
    }


def replay(incident_id: str, wires: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything a golden episode records, from its incident and actions."""
    incident = find(incident_id)
    state = initial_state(incident)
    screens = [render_observation(observe(state))]
    for wire in wires:
        state = transition(state, action_from_wire(wire, incident.topology))
        screens.append(render_observation(observe(state)))
    truth = truth_to_json(incident)
    del truth["topology"]
    return {
        "incident": incident_id,
        "truth": truth,
        "topology": digest(json.dumps(truth_to_json(incident)["topology"])),
        "first_screen": screens[0].splitlines(),
        "screens": [digest(screen) for screen in screens],
        "actions": wires,
        "grade": graded(state),
    }


def play(incident_id: str, agent: str) -> list[dict[str, Any]]:
    incident = find(incident_id)
    policy, state, memory = make_policy(agent)(incident), initial_state(incident), None
    while not state.is_closed:
        action, memory = policy.act(observe(state), memory)
        state = transition(state, action)
    return [action_to_wire(action) for action in state.actions]


def record(task: str) -> Path:
    path = path_of(task)
    if path.exists():
        raise SystemExit(f"{path.name} exists: changed behaviour needs a new task version")
    episodes = [
        {"agent": agent, **replay(incident_id, play(incident_id, agent))}
        for incident_id, agent in _pairs(task)
    ]
    history = HISTORY if task == RECORDED else get_task(task).history
    golden = {"task": task, "history": list(history), "episodes": episodes}
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _pairs(task: str) -> list[tuple[str, str]]:
    """Incidents and agents, in the order in which they are played."""
    if task == RECORDED:
        return [(one.id, agent) for one in shipped_incidents() for agent in RECORDED_AGENTS]
    return [
        (incident_id, agent)
        for split, count, agents in episodes_of(get_task(task))
        for incident_id in incident_ids(task, split, count)
        for agent in agents
    ]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(record(name))
