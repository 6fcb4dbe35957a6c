"""What the clients play: episodes whose actions and grades are known beforehand."""

from functools import lru_cache
from typing import Any, NamedTuple

from benchmarks.workload import GROUP, SMALL, play
from logtriage import incident_ids, make_incident
from logtriage.grading import grade_actions, grade_to_json
from logtriage.parsing import action_to_wire
from logtriage.registry import make_policy
from logtriage.server.episode import listed_grade


class Plan(NamedTuple):
    """An episode: its incident, the actions on the wire, and the grade they must get."""

    incident: str
    actions: tuple[dict[str, Any], ...]
    grade: dict[str, Any]


@lru_cache(maxsize=4)
def plans(incidents: int, group: int = GROUP) -> tuple[Plan, ...]:
    """``group`` attempts, by the expert and by random agents, at each of so many incidents.

    Attempts at one incident are neighbours, as in training by groups.
    """
    made = []
    for number in range(incidents):
        task = SMALL[number % len(SMALL)]
        incident = incident_ids(task, "train", 1, number)[0]
        for attempt in range(group):
            policy = make_policy(f"random:{attempt}" if attempt % 2 else "expert")
            if attempt % 4 == 2:
                policy = make_policy("first_error")
            steps = play(policy(make_incident(incident)), incident)
            actions = tuple(action_to_wire(action) for _, action in steps)
            graded = grade_to_json(grade_actions(incident, actions))
            made.append(Plan(incident, actions, listed_grade(graded, with_reasons=True)))
    return tuple(made)
