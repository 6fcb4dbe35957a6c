"""What an incident costs that the observer plays, and where the time goes, in ``extra_info``.

Each round plays the same incidents; the shares are those of a profile of a further round.
"""

from cProfile import Profile
from pstats import Stats
from time import thread_time
from typing import Any, Final

import pytest

from benchmarks.workload import play
from logtriage import incident_ids, make_incident
from logtriage.registry import make_policy

Benchmark = Any
#: Incidents that are played of each task.
EPISODES: Final = {"single_crash-v4": 10, "cascading_failure-v4": 10, "compound_failure-v4": 3}
#: Functions whose time is told, by the end of their file and their name.
PARTS: Final = {
    "posterior": ("beliefs/beliefs.py", "belief"),
    "what requests may show": ("beliefs/questions.py", "_tables"),
    "plans after each answer": ("beliefs/questions.py", "worths"),
    "the best plan": ("beliefs/beliefs.py", "best"),
    "screen": ("logtriage/observation.py", "observe"),
    "transition": ("logtriage/dynamics.py", "transition"),
}


@pytest.mark.benchmark(group="observer")
@pytest.mark.parametrize("task", EPISODES)
def bench_observer(benchmark: Benchmark, task: str) -> None:
    observer, ids = make_policy("observer"), incident_ids(task, "val", EPISODES[task])

    def run() -> None:
        for one in ids:
            play(observer(make_incident(one)), one)

    run()
    benchmark(run)
    profile = Profile(thread_time)
    profile.runcall(run)
    benchmark.extra_info["calls_per_round"] = len(ids)
    benchmark.extra_info["shares"] = shares_of(Stats(profile))


def shares_of(stats: Any) -> dict[str, float]:
    """The share of the time that each part takes with all that it calls, and the rest.

    KeyError for a part whose function is not called: it has another name by now.
    """
    shares = dict[str, float]()
    for (file, _, name), row in stats.stats.items():
        for part, (end, called) in PARTS.items():
            if name == called and file.endswith(end):
                shares[part] = round(row[3] / stats.total_tt, 3)
    rest = round(1 - sum(shares[part] for part in PARTS), 3)
    return {**{part: shares[part] for part in PARTS}, "the rest": rest}
