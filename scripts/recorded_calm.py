"""The section on stretches without a fault of the results on recorded incidents.

python scripts/recorded_calm.py NEZHA_DIR PETSHOP_DIR
"""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import NormalDist, fmean, median

import attrs

import logtriage as lt
from logtriage.errors import BundleError
from logtriage.evaluation import play_episode
from logtriage.policies import METHODS, RankingPolicy, inquiry, standardised
from logtriage.policies.ranking import RESERVE, Method
from logtriage.recorded import RecordedIncident, RecordedTruth, as_incident, nezha, petshop
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.left_out import LeftOut
from logtriage.recorded.measure import condensed, record
from logtriage.recorded.names import Names
from logtriage.recorded.nezha import Source, milliseconds
from logtriage.recorded.parts import ENOUGH
from logtriage.recorded.reading import find_csv
from logtriage.recorded.records import RUBRICS
from logtriage.recorded.rows import Rows
from logtriage.recorded.truth import NO_FAULT
from logtriage.registry import make_policy
from logtriage.world.telemetry import TICK_SECONDS

#: The samples of an incident of PetShop: before its opening, and one for each tick.
SAMPLES = petshop.HORIZON - FIRST_TICK
#: From so many spreads on the dashboard shows a figure, and `inquiry` sees a fault.
LIMITS = (3, 10, 30)

TEXT = """\
## Stretches without a fault

How often does a policy see a fault in hours without a fault? TrainTicket
has CPU, p99 and load of each service every minute, logs and traces of a single minute a day. Two
scenarios of PetShop have latency, requests and availability every five minutes for two days. The
first half sets the usual values. The second half is cut into incidents of `recorded/2` that do not
overlap, {nezha} of TrainTicket and {petshop} of PetShop. All are held back: no choice in any policy
used them.

{played}

*False alarms* is the share of incidents in which a service is blamed, or that are not closed as
nothing to act on, with its interval (Wilson, 95 %). To `ignore` at once is right
every time here, and earns nothing in an incident with a fault.

A ranking always names a service. The next table has the share of incidents in which its highest
score, over all services and screens, reaches a limit, with the dashboard of the other tables:

{scores}

- `inquiry` sees a fault from {limit} spreads on. Without an alert or an error line
  it asks a few services in the order of names, and does not see the others stray.
- On PetShop `inquiry` can raise no alarm. Latency and availability, which callers show as well, are
  squeezed below {squeezed:.0f} spreads, and nothing else is measured. PetShop's issues have an
  alert.
- `combined` reads no signal of PetShop.
- `n_sigma` and `baro` take the furthest of some hundreds of figures on several screens, and one
  strays far in most incidents. Their scores rank services; they do not detect.
- These incidents have no logs and no traces, so false alarms by new error lines are not measured.
"""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in lines)


def share(hits: Sequence[bool]) -> tuple[str, str]:
    """A share and its interval by Wilson, which knows that none of a few is not none of all."""
    count, mean, z = len(hits), fmean(hits), NormalDist().inv_cdf(0.975)
    middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
    half = z * sqrt(mean * (1 - mean) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return f"{mean:.3f}", f"[{max(0.0, middle - half):.3f}, {min(1.0, middle + half):.3f}]"


def alarmed(incident: lt.Incident, name: str) -> tuple[bool, float]:
    """Whether a policy sees a fault where there is none, and its grade."""
    state = play_episode(incident, make_policy(name)(incident))
    score = lt.grade(state).score
    assert score is not None
    return score < 1.0, score


def with_dashboard(record: RecordedIncident) -> lt.Incident:
    """The stretch with the dashboard of ``recorded/1``; the root cause is none, and not read."""
    truth = RecordedTruth((record.recording.services[0].name,), "window")
    return as_incident(attrs.evolve(record, rubric="recorded/1", truth=truth))


def highest(incident: lt.Incident, method: Method) -> float:
    """The highest score of any service when the ranking answers."""
    policy, memory = RankingPolicy(method), None
    state = lt.initial_state(incident)
    while state.tick <= incident.horizon - RESERVE:
        action, memory = policy.act(lt.observe(state), memory)
        if not isinstance(action, lt.RequestMoreLogs):
            break
        state = lt.transition(state, action)
    scores = [method.over(column) for column in zip(*memory, strict=True)]
    if method.weaker is not None:
        half = len(scores) // 2
        pairs = zip(scores[:half], scores[half:], strict=True)
        scores = [standardised.weighed(mine, shared) for mine, shared in pairs]
    return max(scores)


def nezha_calm(data: Path) -> list[RecordedIncident]:
    """The resource use of TrainTicket far from any fault, cut into incidents."""
    dates = sorted(one.name for one in (data / "construct_data").iterdir() if one.is_dir())
    injected = [
        milliseconds(datetime.fromisoformat(entry["inject_time"]).replace(tzinfo=UTC))
        for path in data.glob("rca_data/*/*-fault_list.json")
        for hour in json.loads(path.read_bytes()).values()
        for entry in hour
    ]
    source = Source(data, LeftOut(data), injected)
    tick, found = 1000 * TICK_SECONDS, []
    for date in dates:
        rows = source.usual(date)
        times = sorted({one.at for one in rows.usage})
        middle = times[len(times) // 2]
        usual = attrs.evolve(rows, **dict.fromkeys(("usage", "edge_usage"), ()))
        early = rows.between(0, middle)
        usual = attrs.evolve(usual, usage=early.usage, edge_usage=early.edge_usage)
        start = middle
        while start + (nezha.HORIZON - FIRST_TICK) * tick <= times[-1]:
            end, opened = start + (nezha.HORIZON - FIRST_TICK) * tick, start - FIRST_TICK * tick
            inside = [one for one in times if start <= one <= end]
            gaps = pairwise(inside)
            if any(after - before > 90_000 for before, after in gaps) or len(inside) < ENOUGH:
                start = next(one for one in times if one > start)
                continue
            here = rows.between(start, end)
            found.append(
                RecordedIncident(
                    id=f"nezha-calm/{date}-{opened // 1000}",
                    opened=f"{datetime.fromtimestamp(opened // 1000, tz=UTC):%Y-%m-%dT%H:%M:%SZ}",
                    recording=record(
                        attrs.evolve(here, logs=(), calls=(), graph=tuple(known(rows))),
                        usual,
                        opened=opened,
                        horizon=nezha.HORIZON,
                        baseline="fault-free",
                    ),
                    truth=RecordedTruth((), NO_FAULT),
                    horizon=nezha.HORIZON,
                    rubric="recorded/2",
                )
            )
            start = end
    return found


def petshop_calm(root: Path) -> list[RecordedIncident]:
    """The second half of each scenario's fault-free metrics, cut into incidents."""
    return [
        record
        for scenario in sorted(root.glob("*/"))
        if find_csv(root, scenario / "noissue", "metrics") is not None
        for record in _calm(root, scenario)
    ]


def _calm(root: Path, scenario: Path) -> Iterator[RecordedIncident]:
    names = Names()
    whole = Rows(
        samples=tuple(petshop.samples(root, scenario / "noissue", names, lambda _: None)),
        graph=tuple(petshop.calls(root, scenario, names)),
    )
    times = sorted({row.at for row in whole.samples})
    half, where = len(times) // 2, f"{scenario.relative_to(root)}/noissue/metrics.csv"
    if len(times) - half < SAMPLES:
        raise BundleError(
            f"{where}: no incident without a fault: it takes {2 * SAMPLES} samples, "
            f"there are {len(times)}"
        )
    usual = whole.between(times[0], times[half])
    for first in range(half, len(times) - SAMPLES + 1, SAMPLES):
        opened, last = times[first - FIRST_TICK], times[first + SAMPLES - 1]
        if last - times[first] > (SAMPLES - 1) * 1000 * petshop.TICK_SECONDS:
            continue  # some samples are missing
        hashed = blake2b(f"{scenario.name}\n{opened}".encode(), digest_size=6).hexdigest()
        yield condensed(
            whole.between(times[first], last + 1),
            usual,
            RecordedTruth((), NO_FAULT),
            where=where,
            name=f"petshop-models/{hashed}",
            opened=opened,
            baseline="fault-free",
            task="recorded_petshop_models",
            rubric=RUBRICS[1],
            horizon=petshop.HORIZON,
            origin=petshop.ORIGIN,
            tick_seconds=petshop.TICK_SECONDS,
        )


def known(rows: Rows) -> Iterator[tuple[str, str]]:
    """Who called whom in the minute of traces."""
    yield from {(one.caller, one.callee) for one in rows.calls if one.caller is not None}


def calm_part(data: Path, scenarios: Path) -> str:
    """The section, of the Nezha and the PetShop data set."""
    sets = (nezha_calm(data), petshop_calm(scenarios))
    played = []
    for name in ("inquiry", "random"):
        cells: list[str] = []
        for records in sets:
            alarms, grades = zip(*(alarmed(as_incident(one), name) for one in records), strict=True)
            cells += (*share(alarms), f"{fmean(grades):.3f}")
        played.append((f"`{name}`", *cells))
    shown = [[with_dashboard(one) for one in records] for records in sets]
    scores = []
    for name in ("combined", "n_sigma", "baro", "combined_v2"):
        cells = []
        for incidents in shown:
            found = [highest(one, METHODS[name]) for one in incidents]
            cells += (share([one >= limit for one in found])[0] for limit in LIMITS)
            cells.append(f"{median(found):.1f}")
        scores.append((f"`{name}`", *cells))
    limits = [*(f"{limit} spreads" for limit in LIMITS), "median score"]
    half = ["false alarms", "interval", "grade"]
    return TEXT.format(
        nezha=len(sets[0]),
        petshop=len(sets[1]),
        limit=f"{inquiry.STRAYS:.0f}",
        squeezed=standardised.LESS_THAN,
        played=table(("", *_both(half)), played),
        scores=table(("", *_both(limits)), scores),
    )


def _both(columns: Sequence[str]) -> list[str]:
    """The same columns for each data set, whose name stands in the first."""
    first, *others = columns
    return [f"TrainTicket {first}", *others, f"PetShop {first}", *others]


if __name__ == "__main__":
    print(calm_part(*map(Path, sys.argv[1:3])))
