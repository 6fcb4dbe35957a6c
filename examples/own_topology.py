"""Incidents on a system of one's own, read from bookshop.json.

python examples/own_topology.py
"""

from pathlib import Path

import logtriage as lt
from logtriage.codec import load_topology, topology_from_json, topology_to_json
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import parse_incident_id
from logtriage.errors import TopologyError, UnknownName
from logtriage.grading import grade_transcript

BOOKSHOP = load_topology(Path(__file__).with_name("bookshop.json"))
TASKS = ("single_crash-v4", "cascading_failure-v4", "silent_degradation-v4")


def draw(incident_id: str) -> lt.Incident:
    """`<task>/<split>/<index>@bookshop-1`; a plain id means the default topology."""
    plain, _, name = incident_id.partition("@")
    if name != BOOKSHOP.name:
        raise UnknownName("topology", name, (BOOKSHOP.name,))
    parsed = parse_incident_id(plain)
    return draw_incident(parsed.task, parsed, BOOKSHOP)


def play(incident: lt.Incident) -> lt.Transcript:
    return lt.transcript_of(lt.play(incident, "expert"), agent="expert")


def main() -> None:
    first = draw(f"cascading_failure-v4/val/0@{BOOKSHOP.name}")
    print(lt.render_observation(lt.observe(lt.initial_state(first))))
    print(f"\n{len(lt.all_actions(BOOKSHOP))} actions; the expert, 20 incidents a task:")
    for task in TASKS:
        ids = [f"{one}@{BOOKSHOP.name}" for one in lt.incident_ids(task, "val", 20)]
        grades = [grade_transcript(play(draw(one)), resolve=draw) for one in ids]
        mean = sum(grade.score for grade in grades) / len(grades)
        print(f"  {task:24} mean grade {mean:.3f}")

    print("\nwhat is wrong with a topology is said with the place:")
    broken = topology_to_json(BOOKSHOP)
    broken["services"][0]["calls"] = ["katalog"]
    try:
        topology_from_json(broken)
    except TopologyError as error:
        print(f"  {error}")


if __name__ == "__main__":
    main()
