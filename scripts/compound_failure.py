"""Measures ``compound_failure-v2``: grades, exact sets of root causes, and how they were lost.

    python scripts/compound_failure.py --episodes 1000 --out compound.json

The targets stand in :data:`TARGETS`; what misses one is marked and the script exits with 1.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import attrs

import logtriage as lt
from logtriage.evaluation.statistics import mean_interval
from logtriage.grading import grade
from logtriage.grading.impact import impact_of
from logtriage.registry import make_policy

#: By policy: the least and the most mean grade, and share of exact root sets.
TARGETS: Final[dict[str, dict[str, float]]] = {
    "oracle": {"grade_least": 1.0},
    "observer": {"grade_least": 0.80, "exact_least": 0.60},
    "expert": {"grade_most": 0.60},
    "chain": {"exact_most": 0.10},
}


#: The end of a policy's name that makes it report how the damage spread.
REPORTING: Final = "+path"


def episode(task: tuple[str, str]) -> dict[str, Any]:
    """One episode of a policy: what it earned, and whether it named the whole set."""
    policy_name, incident_id = task
    incident = lt.make_incident(incident_id)
    policy, memory = make_policy(policy_name.removesuffix(REPORTING))(incident), None
    if policy_name.endswith(REPORTING):
        policy = attrs.evolve(policy, reports=True)
    state = lt.initial_state(incident)
    while not state.is_closed:
        action, memory = policy.act(lt.observe(state), memory)
        state = lt.transition(state, action)
    graded, truth = grade(state), incident.truth
    named = {service for _, service in state.facts.root_causes}
    impact = impact_of(state)
    return {
        "incident": incident_id,
        "faults": len(truth.parts),
        "secondary": any(part.secondary for part in truth.parts),
        "grade": graded.score,
        "exact": impact.exact_roots,
        "some": bool(named & truth.root_causes),
        "gate": graded.gate,
        "ticks": graded.ticks,
        "node_f1": impact.node_f1,
        "edge_f1": impact.edge_f1,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over episodes; exact sets of the incidents with a fault."""
    real = [one for one in rows if one["faults"]]
    interval = mean_interval([one["grade"] for one in rows])
    if interval is None:
        raise SystemExit("no episodes were played: --episodes wants at least 1")
    found: dict[str, Any] = {
        "episodes": len(rows),
        "grade": interval.mean,
        "interval": [interval.low, interval.high],
        "exact": mean(one["exact"] for one in real),
        "some": mean(one["some"] for one in real),
        "gated": mean(one["gate"] is not None for one in rows),
        "ticks": mean(one["ticks"] for one in rows),
        "node_f1": mean(one["node_f1"] for one in real if one["node_f1"] is not None),
        "edge_f1": mean(one["edge_f1"] for one in real if one["edge_f1"] is not None),
        "by_faults": {},
    }
    for count in sorted({one["faults"] for one in rows}):
        some = [one for one in rows if one["faults"] == count]
        found["by_faults"][str(count)] = {
            "episodes": len(some),
            "grade": mean(one["grade"] for one in some),
            "exact": mean(one["exact"] for one in some) if count else None,
        }
    return found


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def missed(policy: str, row: dict[str, Any]) -> list[str]:
    """The targets that a policy misses, in words."""
    found = []
    for name, wanted in TARGETS.get(policy, {}).items():
        figure, side = name.rsplit("_", 1)
        value = row[figure]
        if value is not None and (value < wanted if side == "least" else value > wanted):
            found.append(f"{policy}: {figure} is {value:.3f}, wanted at {side} {wanted}")
    return found


def main() -> int:
    """Play, sum up, write, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="compound_failure-v2")
    parser.add_argument("--split", default="test")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--policies", nargs="+", default=list(TARGETS))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    ids = lt.incident_ids(given.task, given.split, given.episodes, given.start)
    report: dict[str, Any] = {"task": given.task, "split": given.split, "policies": {}}
    lacking: list[str] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for policy in given.policies:
            rows = list(pool.map(episode, ((policy, one) for one in ids), chunksize=4))
            row = report["policies"][policy] = summary(rows)
            lacking += missed(policy, row)
            print(policy, json.dumps(row), flush=True)
    if given.out is not None:
        given.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lacking) or "every target is met")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
