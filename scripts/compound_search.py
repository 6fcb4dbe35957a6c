"""What the search over sets of faults misplaces on fleets, against wider searches.

python scripts/compound_search.py --incidents 200 > docs/results/compound-failure.md
"""

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

import logtriage as lt
from logtriage.belief import search
from logtriage.belief.model import any_model_of
from logtriage.belief.posterior import Seen
from logtriage.belief.search import searched_posterior
from logtriage.evaluation.statistics import mean_interval
from logtriage.evidence import evidence, simulation_of
from logtriage.registry import make_policy
from logtriage.world.conditions import Hypothesis

#: The width of the searches that stand in for weighing all sets; the last for few incidents.
WIDER: Final = {"singles": 60, "pairs": 200, "anchors": 30}
WIDEST: Final = {"singles": 80, "pairs": 300, "anchors": 60}
#: The first so many incidents are searched at the widest, too.
FIRST: Final = 5
#: States come after 0 to 9 actions.
ACTIONS: Final = 10

TEXT: Final = """\
# What the search misplaces

Written by `python scripts/compound_search.py`. How well several faults are told apart:
[policies on call](oncall.md#several-faults-at-once).

On a fleet there are too many sets to weigh, and the belief
[searches](../tasks.md#several-faults-at-once) them. Here the search stands beside wider ones, on
the first {incidents} incidents of `{task}`, split `{split}`, each after 0 to {most} actions of
`expert`. *Posterior* is the total variation: the share of the probability of sets that lies
elsewhere. *A service* is the largest difference in the probability that a service is a root cause.
Intervals are those of 95 % for the mean.

{table}

The search combines the {singles} likeliest faults with each other and the {pairs} likeliest pairs
with them, and the first {anchors} of both with every fault. The wider one takes {wider}, the
widest {widest}; it ran on the first {few}. One belief takes {seconds} s of CPU in the mean
({machine}).

A wider search leaves sets out, too: the figures are lower bounds of the error. What is misplaced
lies mostly on sets with one more fault, which has shown nothing yet: the search expects {fewer}
faults in the mean, and the wider one {more}.

Where every set can be weighed, on up to ten services or so, the error is known, and a law holds
its mean to {error} %.
"""

Believed = dict[Hypothesis, float]


def state_after(incident: lt.Incident, actions: int) -> lt.State:
    """An open state after so many actions of the expert, or one less that would close it."""
    policy, memory = make_policy("expert")(incident), None
    state = lt.initial_state(incident)
    for _ in range(actions):
        action, memory = policy.act(lt.observe(state), memory)
        after = lt.transition(state, action)
        if after.is_closed:
            break
        state = after
    return state


def searched(state: lt.State, width: dict[str, int]) -> tuple[Believed, float]:
    """The posterior of a search, and the CPU seconds that it took."""
    incident = state.incident
    model = any_model_of(simulation_of(incident).setting, incident.topology, incident.held)
    seen = Seen(incident.directory, evidence(state), state.facts.doings, misrouted=False)
    begin = time.process_time()
    searched = searched_posterior(model, seen, **width)
    seconds = time.process_time() - begin
    total = sum(searched.weights)
    shares = [weight / total for weight in searched.weights]
    return dict(zip(searched.hypotheses, shares, strict=True)), seconds


def roots(one: Believed) -> dict[int, float]:
    """How likely each service is a root cause."""
    found: dict[int, float] = {}
    for hypothesis, share in one.items():
        for service in hypothesis.services:
            found[service] = found.get(service, 0.0) + share
    return found


def distances(one: Believed, other: Believed) -> tuple[float, float]:
    """The total variation, and the largest difference in the probability of a root cause."""
    whole = sum(abs(one.get(row, 0.0) - other.get(row, 0.0)) for row in {*one, *other}) / 2
    first, second = roots(one), roots(other)
    services = {*first, *second}
    return whole, max(abs(first.get(at, 0.0) - second.get(at, 0.0)) for at in services)


def faults(one: Believed) -> float:
    """The expected number of faults."""
    return sum(share * len(row.faults) for row, share in one.items())


def measured(number_and_id: tuple[int, str]) -> dict[str, Any]:
    """The distances of one incident."""
    number, incident_id = number_and_id
    state = state_after(lt.make_incident(incident_id), number % ACTIONS)
    plain, seconds = searched(state, {})
    wider, more = searched(state, WIDER)
    row: dict[str, Any] = {
        "incident": incident_id,
        "actions": state.tick,
        "wider": distances(plain, wider),
        "faults": [faults(plain), faults(wider)],
        "seconds": [seconds, more],
    }
    if number < FIRST:
        widest, most = searched(state, WIDEST)
        row["widest"] = [distances(plain, widest), distances(wider, widest)]
        row["seconds"].append(most)
    return row


def measure(ids: Sequence[str], jobs: int, kept: Path | None = None) -> list[dict[str, Any]]:
    """The distances of incidents; those in the file ``kept`` are not measured again."""
    rows: dict[str, dict[str, Any]] = {}
    if kept is not None and kept.exists():
        for line in kept.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["incident"]] = row
    missing = [(number, one) for number, one in enumerate(ids) if one not in rows]
    with ProcessPoolExecutor(jobs) as pool:
        for row in pool.map(measured, missing):
            rows[row["incident"]] = row
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    return [rows[one] for one in ids]


def section(task: str, split: str, rows: Sequence[dict[str, Any]], machine: str) -> str:
    """What was measured, as Markdown."""
    few = [row["widest"] for row in rows if "widest" in row]
    early = [row["wider"] for row in rows if row["actions"] < ACTIONS // 2]
    late = [row["wider"] for row in rows if row["actions"] >= ACTIONS // 2]
    lines = [
        _line(title, pairs)
        for title, pairs in (
            ("the search, from the wider one", [row["wider"] for row in rows]),
            (f"after less than {ACTIONS // 2} actions", early),
            (f"after {ACTIONS // 2} actions or more", late),
            ("the search, from the widest", [one for one, _ in few]),
            ("the wider one, from the widest", [other for _, other in few]),
        )
        if pairs
    ]
    head = "| | incidents | posterior | median | largest | a service | largest |"
    marks = "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    seconds = [
        fmean(row["seconds"][at] for row in rows if len(row["seconds"]) > at) for at in range(3)
    ]
    return TEXT.format(
        task=task,
        split=split,
        incidents=len(rows),
        most=ACTIONS - 1,
        table="\n".join((head, marks, *lines)),
        singles=search.SINGLES,
        pairs=search.PAIRS,
        anchors=search.ANCHORS,
        wider=_width(WIDER),
        widest=_width(WIDEST),
        few=len(few),
        seconds=", ".join(f"{one:.1f}" for one in seconds[:2]) + f" and {seconds[2]:.1f}",
        machine=machine,
        fewer=f"{fmean(row['faults'][0] for row in rows):.2f}",
        more=f"{fmean(row['faults'][1] for row in rows):.2f}",
        error=round(100 * search.ERROR),
    )


def _width(width: dict[str, int]) -> str:
    return ", ".join(map(str, width.values()))


def _line(title: str, pairs: Sequence[Sequence[float]]) -> str:
    whole, service = zip(*pairs, strict=True)
    interval = mean_interval(whole)
    assert interval is not None
    cells = (
        title,
        str(len(pairs)),
        f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})",
        f"{median(whole):.3f}",
        f"{max(whole):.3f}",
        f"{fmean(service):.3f}",
        f"{max(service):.3f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="compound_fleet-v3")
    parser.add_argument("--split", default="test")
    parser.add_argument("--incidents", type=int, default=200)
    parser.add_argument("--rows", type=Path, help="file that keeps what was measured")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    ids = lt.incident_ids(given.task, given.split, given.incidents)
    print(section(given.task, given.split, measure(ids, given.processes, given.rows), "one core"))


if __name__ == "__main__":
    main()
