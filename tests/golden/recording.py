"""Golden transcripts: what a task version promised, written down once.

    python -m tests.golden.recording cascading_failure-v4

writes the file of a *new* task version, or of all that have none yet. It never overwrites one:
behaviour that changes is a new version, with a reason in the task's history.
"""

import json
import sys
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import logtriage as lt
from logtriage.codec import truth_to_json
from logtriage.drawing.ids import SPLITS
from logtriage.evaluation import Incidents
from logtriage.parsing import action_from_wire, action_to_wire
from logtriage.recorded import HISTORY, shipped_incidents
from logtriage.recorded.bundle import task_id
from logtriage.registry import make_policy
from logtriage.tasks import BENCHMARK_FOG, TASKS, TaskSpec

FOLDER = Path(__file__).parent
#: (split, incidents, policies): one that plays well, one that gives up, one that does anything.
EPISODES = (
    *((split, 1, ("top_suspect:1", "random:1")) for split in SPLITS if split != "test"),
    ("test", 2, ("top_suspect:2", "expert", "constant:hand_over", "random:1")),
)
#: Of the other levels of fog, which play by the tables of a task that is recorded.
FEW_EPISODES = (("test", 1, ("top_suspect:1", "constant:hand_over", "random:1")),)
#: The recorded incidents that are shipped, and who plays them.
RECORDED = task_id("recorded_trainticket")
RECORDED_AGENTS = ("combined", "expert", "random:1")
find = Incidents()


def path_of(task: str) -> Path:
    return FOLDER / f"{task}.json"


def episodes_of(task: TaskSpec) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """(split, incidents, policies) that are recorded of a task."""
    return EPISODES if task.fog == BENCHMARK_FOG else FEW_EPISODES


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def graded(state: lt.State) -> dict[str, Any]:
    """The parts of a grade that a version fixes: not its wording."""
    one: lt.Grade = lt.grade(state)
    return {
        "score": one.score, "criteria": {row.name: row.score for row in one.criteria},
        "gate": one.gate, "closing": None if one.closing is None else str(one.closing),
        "ticks": one.ticks, "rubric": one.rubric, "digest": one.digest,
    }  # fmt: skip


def opened(incident_id: str) -> dict[str, Any]:
    """What is recorded of an incident before anybody acts."""
    incident = find(incident_id)
    truth = truth_to_json(incident)
    topology = digest(json.dumps(truth.pop("topology")))
    first = lt.render_observation(lt.observe(lt.initial_state(incident)))
    return {
        "incident": incident_id,
        "truth": truth,
        "topology": topology,
        "first_screen": first.splitlines(),
    }


def replay(incident_id: str, wires: list[dict[str, Any]]) -> dict[str, Any]:
    """What is recorded of an episode, from its incident and actions."""
    incident = find(incident_id)
    state = lt.initial_state(incident)
    screens = []
    for wire in wires:
        state = lt.transition(state, action_from_wire(wire, incident.topology))
        screens.append(digest(lt.render_observation(lt.observe(state))))
    return {"actions": wires, "screens": screens, "grade": graded(state)}


def record(task: str) -> Path:
    path = path_of(task)
    if path.exists():
        raise SystemExit(f"{path.name} exists: changed behaviour needs a new task version")
    history = HISTORY if task == RECORDED else lt.get_task(task).history
    lines = [json.dumps({"task": task, "history": list(history)}, ensure_ascii=False)]
    for incident_id, pairs in groupby(_pairs(task), key=lambda pair: pair[0]):
        lines.append(json.dumps(opened(incident_id), ensure_ascii=False))
        for _, agent in pairs:
            incident = find(incident_id)
            actions = [
                action_to_wire(one)
                for one in lt.play(incident, make_policy(agent)(incident)).actions
            ]
            lines.append(json.dumps({"agent": agent, **replay(incident_id, actions)}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _pairs(task: str) -> list[tuple[str, str]]:
    """Incidents and agents, in the order in which they are played."""
    if task == RECORDED:
        return [(one.id, agent) for one in shipped_incidents() for agent in RECORDED_AGENTS]
    return [
        (incident_id, agent)
        for split, count, agents in episodes_of(lt.get_task(task))
        for incident_id in lt.incident_ids(task, split, count)
        for agent in agents
    ]


if __name__ == "__main__":
    missing = (
        name for name in (*(task.id for task in TASKS), RECORDED) if not path_of(name).exists()
    )
    for name in sys.argv[1:] or missing:
        print(record(name))
