"""Measures tasks with several faults: grades, exact sets of root causes, how they were lost.

    python scripts/compound_failure.py --episodes oracle=1000 observer+path=100 \\
        --fleet oracle=100 observer+path=40 --search 200 \\
        --rows build/compound --page docs/results/compound-failure.md

Each policy plays the first incidents of the split; episodes in the folder of ``--rows`` are not
played again. ``--fleet`` plays the task on fleets, ``--search`` compares the search over sets
with wider ones there (:mod:`compound_search`). The targets stand in :data:`TARGETS`; what misses
one is marked on the page, and the script exits with 1.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import attrs
import compound_search

import logtriage as lt
from logtriage.evaluation.statistics import mean_interval
from logtriage.grading import grade
from logtriage.grading.impact import impact_of
from logtriage.registry import make_policy

#: By policy: the least and the most mean grade, and share of exact root sets; ``exact_several``
#: is that of incidents with two faults or three.
TARGETS: Final[dict[str, dict[str, float]]] = {
    "oracle": {"grade_least": 1.0},
    "observer+path": {"grade_least": 0.80, "exact_least": 0.60, "exact_several_least": 0.60},
    "expert": {"grade_most": 0.60},
    "chain": {"exact_several_most": 0.10},
}


#: The page of results; the script fills in the figures.
PAGE: Final = """\
# Several faults at once

`{task}`, the first incidents of split `{split}`, rubric `logtriage/2`. Written by

    {command}

Intervals are those of 95 % for the mean. *Exact set*: of the incidents with a fault, the share in
which the services declared are the root causes, all of them and no others; *of several*: the same
of those with two faults or three; *some root*: at least one of them was declared. `observer+path`
is the observer that reports how the damage spread before it resolves, which costs it a tick.
{fewer}How the task is made: [tasks](../tasks.md#several-faults-at-once).

{grades}

## By the number of faults

Grade, share of exact sets, and incidents in brackets.

{sizes}

## The path of the damage

{paths}.

## Targets

Exact sets are held to a target where there are several faults. Of one fault the exact set is one
name, which `chain` looks for and nothing else, and 30 % of the incidents with a fault have one:
over all of them its share measures that task, and not this one.

{goals}

{targets}
"""

#: The section about fleets.
FLEET: Final = """
## On fleets

`{task}`, split `{split}`: the same on 20 to 60 services, a topology for each incident. No target
is stated for it.
{fewer}
{grades}

{sizes}

The path of the damage: {paths}.

"""


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
    several = [one for one in rows if one["faults"] > 1]
    interval = mean_interval([one["grade"] for one in rows])
    if interval is None:
        raise SystemExit("no episodes were played: --episodes wants at least 1")
    found: dict[str, Any] = {
        "episodes": len(rows),
        "grade": interval.mean,
        "interval": [interval.low, interval.high],
        "exact": mean(one["exact"] for one in real),
        "exact_several": mean(one["exact"] for one in several),
        "exact_several_interval": _interval([one["exact"] for one in several]),
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


def _interval(values: Sequence[float]) -> list[float] | None:
    """The bounds of the interval of a mean; None of nothing."""
    found = mean_interval([float(one) for one in values])
    return None if found is None else [found.low, found.high]


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


def played(policy: str, ids: Sequence[str], kept: Path | None, jobs: int) -> list[dict[str, Any]]:
    """The episodes of a policy, a line each in a file of the folder ``kept``, if one is given.

    Incidents of several tasks may stand in one file.
    """
    rows: dict[str, dict[str, Any]] = {}
    file = None if kept is None else kept / f"{policy}.jsonl"
    if file is not None and file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["incident"]] = row
    missing = [(policy, one) for one in ids if one not in rows]
    with ProcessPoolExecutor(jobs) as pool, ExitStack() as stack:
        out = None if file is None else stack.enter_context(file.open("a", encoding="utf-8"))
        for row in pool.map(episode, missing):
            rows[row["incident"]] = row
            if out is not None:
                out.write(json.dumps(row) + "\n")
                out.flush()
    return [rows[one] for one in ids]


def tables(found: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Grades, grades by the number of faults, paths, and who played fewer incidents."""
    head = ("policy", "incidents", "grade", "exact set", "of several", "some root", "mis-paged",
            "ticks")  # fmt: skip
    counts = ("benign", "one fault", "two", "three")
    rows, sizes = [], []
    for policy, one in found.items():
        low, high = one["interval"]
        rows.append(
            (
                f"`{policy}`",
                f"{one['episodes']:,}",
                f"{one['grade']:.3f} ({low:.3f} to {high:.3f})",
                _percent(one["exact"]),
                _percent(one["exact_several"], one["exact_several_interval"]),
                *(_percent(one[name]) for name in ("some", "gated")),
                f"{one['ticks']:.1f}",
            )
        )
        by = [one["by_faults"].get(str(size)) for size in range(4)]
        sizes.append((f"`{policy}`", *(_cell(row) for row in by)))
    paths = [
        f"`{policy}`: F1 of nodes {one['node_f1']:.3f}, of edges {one['edge_f1']:.3f}"
        for policy, one in found.items()
        if one["node_f1"] is not None
    ]
    most = max(one["episodes"] for one in found.values())
    few = [
        f"`{policy}` {one['episodes']:,}" for policy, one in found.items() if one["episodes"] < most
    ]
    return {
        "fewer": f"Fewer incidents than {most:,} were played by: {', '.join(few)}.\n"
        if few
        else "",
        "grades": _table(head, rows),
        "sizes": _table(("policy", *counts), sizes),
        "paths": "; ".join(paths) or "nobody reported one",
    }


def page(task: str, split: str, found: Mapping[str, dict[str, Any]], command: str) -> str:
    """The results as Markdown."""
    lacking = [text for policy, one in found.items() for text in missed(policy, one)]
    return PAGE.format(
        goals=_goals(),
        task=task,
        split=split,
        command=command,
        **tables(found),
        targets="\n".join(["Missed:\n", *(f"- {one}" for one in lacking)])
        if lacking
        else "Every target is met.",
    )


def _goals() -> str:
    """The targets as a table."""
    words = {"grade": "grade", "exact": "exact set", "exact_several": "exact set of several"}
    rows = []
    for policy, wanted in TARGETS.items():
        for name, value in wanted.items():
            figure, side = name.rsplit("_", 1)
            shown = f"{value:.2f}" if figure == "grade" else _percent(value)
            rows.append((f"`{policy}`", words[figure], f"at {side} {shown}"))
    return _table(("policy", "figure", "target"), rows)


def _percent(share: float | None, interval: Sequence[float] | None = None) -> str:
    if share is None:
        return "–"
    bounds = ""
    if interval is not None:
        bounds = f" ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
    return f"{100 * share:.1f} %{bounds}"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    exact = "" if row["exact"] is None else f", exact {_percent(row['exact'])}"
    return f"{row['grade']:.3f}{exact} ({row['episodes']})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def main() -> int:
    """Play, sum up, write, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="compound_failure-v3")
    parser.add_argument("--split", default="test")
    parser.add_argument(
        "--episodes",
        nargs="+",
        default=[f"{name}=1000" for name in TARGETS],
        metavar="POLICY=COUNT",
        help=f"add {REPORTING} to the observer to have it report how the damage spread",
    )
    parser.add_argument("--fleet-task", default="compound_fleet-v3")
    parser.add_argument("--fleet", nargs="+", default=[], metavar="POLICY=COUNT")
    parser.add_argument("--search", type=int, default=0, metavar="COUNT")
    parser.add_argument("--rows", type=Path, help="folder that keeps the episodes played")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    if given.rows is not None:
        given.rows.mkdir(parents=True, exist_ok=True)

    def plays(task: str, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for one in wanted:
            policy, _, count = one.rpartition("=")
            if not policy or not count.isdigit():
                parser.error(f"{one}: expected POLICY=COUNT, such as expert=1000")
            ids = lt.incident_ids(task, given.split, int(count))
            found[policy] = summary(played(policy, ids, given.rows, given.processes))
            print(task, policy, json.dumps(found[policy]), flush=True)
        return found

    found, fleet = plays(given.task, given.episodes), plays(given.fleet_task, given.fleet)
    command = f"python scripts/compound_failure.py --episodes {' '.join(given.episodes)}"
    command += f" --fleet {' '.join(given.fleet)}" if fleet else ""
    command += f" --search {given.search}" if given.search else ""
    text = page(given.task, given.split, found, command)
    if fleet:
        text += FLEET.format(task=given.fleet_task, split=given.split, **tables(fleet))
    if given.search:
        ids = lt.incident_ids(given.fleet_task, given.split, given.search)
        kept = None if given.rows is None else given.rows / "search.jsonl"
        rows = compound_search.measure(ids, given.processes, kept)
        machine = f"Python {platform.python_version()}, one core, {platform.machine()}"
        text += compound_search.section(given.fleet_task, given.split, rows, machine)
    if given.page is not None:
        given.page.write_text(text, encoding="utf-8")
    lacking = [text for policy, row in found.items() for text in missed(policy, row)]
    print("\n".join(lacking) or "every target is met")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
