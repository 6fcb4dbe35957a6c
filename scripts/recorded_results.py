"""The results on recorded incidents as Markdown: the Nezha and the PetShop data set.

python scripts/recorded_results.py NEZHA_DIR PETSHOP_DIR docs/results/recorded.md [PROCESSES]
"""

import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import attrs
from recorded_calm import calm_part
from recorded_models import models_part, undone

from logtriage._lib.files import replacing
from logtriage.evaluation import Located, RunSpec, evaluate, hit_at, locate, record_episode
from logtriage.evaluation.localisation import ranking_of
from logtriage.incident import Incident
from logtriage.policies import METHODS, Method, RankingPolicy, standardised
from logtriage.policies.ranking import Score
from logtriage.recorded import (
    RecordedIncident,
    as_incident,
    events,
    import_nezha,
    import_petshop,
    load_bundle,
    load_records,
    measure,
    open_bundle,
    spread,
)
from logtriage.recorded.figures import FIRST_TICK
from logtriage.recorded.measure import record
from logtriage.recorded.records import Recording
from logtriage.recorded.rows import Rows
from logtriage.registry import make_policy
from logtriage.world.telemetry import Signal

#: The tick of a sample before the symptom was seen; before that, issues have no samples.
EARLY = -2
POLICIES = (*METHODS, "expert", "first_error", "random")

IMPORT = """
import json, resource, sys, time
from logtriage.recorded import dump_bundle, import_nezha
begin, busy = time.perf_counter(), time.process_time()
notes = []
incidents = import_nezha(sys.argv[1], note=notes.append)
dump_bundle(incidents, sys.argv[2])
seconds, busy = time.perf_counter() - begin, time.process_time() - busy
print(json.dumps({
    "seconds": seconds,
    "busy": busy,
    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "incidents": len(incidents),
    "notes": notes,
}))
"""

HEAD = """\
# Results on recorded incidents

Scripted baselines play {incidents} incidents recorded on TrainTicket (the
[Nezha data set](../recorded.md#importing-nezha)) and {petshop} incidents of the
[PetShop data set](../recorded.md#importing-petshop). This command imports the directories, plays
every policy on every incident, and writes the page:

    python scripts/recorded_results.py NEZHA_DIR PETSHOP_DIR docs/results/recorded.md

Two commands make the first table:

    logtriage import nezha NEZHA_DIR --out nezha.jsonl.gz
    logtriage eval {policies} --bundle nezha.jsonl.gz
"""

READING = """\
AC@k is the share of incidents with the root cause among the first k of {services} services, Avg@5
the mean of AC@1 to AC@5; ties count by expectation. The last columns are AC@1 by fault kind, with
the number of incidents. The last three policies give no ranking: the service that they
declare counts as first. `baro` equals `n_sigma` here, because no signal of these recordings has
quartiles. The interval (bootstrap, 95 %) is of the mean grade, which differs from AC@1 in ties.

[`combined`](../policies.md#baselines-of-root-cause-analysis) reads four signals of the dashboard
and takes the largest, each in units of its spread. No number in it was fitted to the answers:
spreads come from the fault-free baseline alone, and it watches until the horizon. But its choices,
and those of `combined_v2`, were made with these incidents at hand: no incident of Nezha is held
back.

The next table has AC@1 with a single choice undone at a time:

{ablations}

Without a floor of a point of CPU a steady figure strays by dozens of spreads at every flicker.
The mean over the screens counts, because a fault lasts and a spike does not. A kind of line is a
symptom only in the direction in which a fault moves it (ERROR more often, INFO more rarely),
because some requests fail in the only fault-free minute of a day and work later.

The published versions of the two simplest baselines look at rises alone, and take the largest:

{simple}

Worse telemetry lowers AC@1:

{harmed}

Traces tell requests apart. If most lines of a service name a trace, the other lines are left out
of its shares. If few requests left a span, requests that lines name count as well.
"""

PETSHOP_TEXT = """\
## PetShop

PetShop has metrics of some forty components every five minutes: latency, requests, availability;
no logs, no traces. The published *train* split has {incidents} issues. The choices of `combined_v2`
were made on the issues with an even number in their scenario ({choice}); the others ({result})
were played once, afterwards.

{table}

Three facts limit the table.

- **The root cause is the same component in all {incidents}** (`{root}`). A constant answer is right
  every time, so no table of this split shows that a method finds root causes in general. It shows
  how high a method ranks this component by its figures.
- {without} issues have no fault-free metrics in the copy at hand. Without a usual value no ranking
  says anything, and these issues count as chance.
- The fault-free metrics are of another season than the issues, so quiet components stray by dozens
  of spreads. `n_sigma` and `baro` suffer from this.

The next table has the half for choices, with a single choice of `combined_v2` undone at a time:

{ablations}

`n_sigma` and `baro` on the same half:

{simple}

**The target metric.** PetShop's own methods get the metric that broke its objective, and the
component. An agent sees both in the alert. `combined_v2` reads the metric: if the alert is about
latency, it counts the latency of every component, else the availability, and nothing else that
callers show as well. This choice was made with all {incidents} issues at hand: no half is held back
for it. It changes no rank of a root cause on TrainTicket. Here it puts the root cause first in 0.05
more of the issues, and among the first three in 0.05 fewer. `n_sigma` gains more. Another choice
failed: to rank first the services that the alerting component reaches by calls lowered AC@1 of
`combined_v2` from 0.912 to 0.853 on TrainTicket, where new errors of other services raise no alert,
and changed nothing here, where it reaches nearly all.

**For the right reasons?** The cause is always the same service, so a ranking may put it high in any
case. The next table compares the sample of ten minutes before the symptom with the sample of the
symptom:

{early}

Before the symptom no ranking puts the cause first. `n_sigma` without the target metric seldom
does so with the symptom: it follows the season. The others follow the issue, as far as a
sample tells.

**Strengths and weaknesses.** `combined_v2` is as good as `combined` on TrainTicket, where it has
logs, traces and CPU, and unlike `combined` it sees something in metrics alone. There it
puts the root among the first three more often than `n_sigma` and `baro`, but seldom first: latency
alone does not tell a caller from the service that the caller waits for. To leave out a caller whose
callee strays made it worse on the half for choices, because callers stray in more figures. With a
single faulty service and steady traffic over minutes `n_sigma` and `baro` are
strong: on Online Boutique the authors of RCAEval report Avg@5 of 0.97, 1.00, 0.91, 0.98 and 0.67
for `baro` on CPU, memory, disk, delay and loss (L. Pham et al., ASE 2024, table 5, as quoted in the
benchmark's own README). They take the largest of all samples since the injection, over metrics of
every second; this page sees a few screens.
"""

PUBLISHED = """\
## Beside published figures

Nezha's paper reports AS@1 86.67 % and AS@3 97.78 % for its own method on TrainTicket, over 45
faults (G. Yu et al., ESEC/FSE 2023, at the level of services). AS@k is AC@k but for ties, which
count in the method's favour there and by expectation here. The figures are near each other, but
not comparable to the digit:

- This page has {incidents} of the 45 faults. An incident is worth {share} points.
- The method reads the raw traces, logs and metrics of the third minute. `combined` sees the
  condensed signals that an agent sees, over the two minutes after the injection.
- Only {roots} services have faults. The best constant answer, `{best}`, is right in
  {constant:.3f} of the incidents; a constant answer drawn by lot is right in {chance:.3f}.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    marks = ["---", *["---:"] * (len(head) - 1)]
    lines = [head, marks, *rows]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in lines)


def by_policy(bundle: Path) -> str:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        spec = RunSpec(POLICIES, ["recorded"], episodes=10_000)
        for row in evaluate(spec, folder, bundle=bundle):
            assert row.unscored == 0
            assert row.grade is not None
            overall, *kinds = row.located
            interval = f"[{row.grade.low:.3f}, {row.grade.high:.3f}]"
            figures = [
                f"{one:.3f}" for one in (overall.ac1, overall.ac3, overall.ac5, overall.avg5)
            ]
            rows.append(
                (
                    f"`{row.policy}`",
                    figures[0],
                    interval,
                    *figures[1:],
                    *(f"{one.ac1:.3f}" for one in kinds),
                )
            )
            faults = [f"`{one.kind}` ({one.incidents})" for one in kinds]
    head = ("policy", "AC@1", "interval", "AC@3", "AC@5", "Avg@5", *faults)
    return table(head, rows)


def located(incidents: Sequence[Incident], method: Method) -> Located:
    """What a method makes of incidents, all kinds together."""
    ranked = []
    for incident in incidents:
        transcript = record_episode(incident, lambda _: RankingPolicy(method), "method")
        fault = incident.truth.fault
        assert fault is not None
        ranking = ranking_of(transcript.extra, incident.topology.names, None)
        ranked.append((fault.kind, ranking, incident.truth.root_causes))
    return locate(ranked)[0]


def nezha_ablations(data: Path, bundle: Path) -> str:
    """`combined` and `combined_v2` with one choice undone at a time, as a table of AC@1."""
    incidents = load_bundle(bundle)
    both = [METHODS["combined"], METHODS["combined_v2"]]
    rows = [("as it is", *(f"{located(incidents, one).ac1:.3f}" for one in both))]
    for title, module, name, value in (
        ("a floor of a hundredth of a point for CPU", spread, "FLOOR_CPU_BP", 1),
        ("a floor of 1 ms for latencies", spread, "FLOOR_MS", 1),
        ("events in both directions", events, "_symptom", lambda _, more: abs(more)),
    ):
        with undone(module, name, value):
            others = [as_incident(one) for one in import_nezha(data)]
        rows.append((title, *(f"{located(others, one).ac1:.3f}" for one in both)))
    largest = [attrs.evolve(one, over=max) for one in both]
    rows.append(
        (
            "the largest value over the screens, not the mean",
            *(f"{located(incidents, one).ac1:.3f}" for one in largest),
        )
    )
    return table(("", "`combined`", "`combined_v2`"), rows)


def harmed(data: Path) -> str:
    """Rankings where telemetry is worse than it was recorded, as a table of AC@1."""

    def untraced(rows: Rows) -> Rows:
        return attrs.evolve(
            rows,
            logs=tuple(
                attrs.evolve(one, trace="") if crc32(f"{one}".encode()) % 100 == 0 else one
                for one in rows.logs
            ),
        )

    def sampled(rows: Rows) -> Rows:
        kept = tuple(one for one in rows.calls if crc32(one.trace.encode()) % 10 == 0)
        return attrs.evolve(rows, calls=kept)

    harms = {
        "as recorded": lambda rows: rows,
        "one log line in a hundred names no trace": untraced,
        "one trace in ten is kept": sampled,
    }
    worse: dict[str, list[Recording]] = {name: [] for name in harms}

    def recording(rows: Rows, usual: Rows, **others: Any) -> Recording:
        for name, harm in harms.items():
            worse[name].append(record(harm(rows), harm(usual), **others))
        return worse["as recorded"][-1]

    with undone(measure, "record", recording):
        records = import_nezha(data)
    names = ("combined", "combined_v2", "n_sigma")
    rows = []
    for title, made in worse.items():
        pairs = zip(records, made, strict=True)
        incidents = [as_incident(attrs.evolve(one, recording=other)) for one, other in pairs]
        found = (located(incidents, METHODS[name]) for name in names)
        rows.append((title, *(f"{one.ac1:.3f}" for one in found)))
    return table(("", *(f"`{name}`" for name in names)), rows)


def rises(score: Callable[[Signal], float]) -> Score:
    """The furthest stray upwards alone, of what ``score`` makes of a signal."""
    return lambda signals: max((score(one) for one in signals.values()), default=0.0)


def simple_ablations(incidents: Sequence[Incident]) -> str:
    """`n_sigma` and `baro` with one choice undone at a time, as a table of AC@1 and AC@5."""
    sigma, quartiles = METHODS["n_sigma"], METHODS["baro"]
    upwards = Method(rises(lambda one: one.stray), over=max)
    rows = []
    for title, methods in (
        ("as it is", (sigma, quartiles)),
        ("rises alone", (upwards, Method(rises(upward_quartiles), over=max))),
        (
            "the mean over the screens, not the largest",
            (attrs.evolve(sigma, over=fmean), attrs.evolve(quartiles, over=fmean)),
        ),
        (
            "the metric that broke its objective",
            (attrs.evolve(sigma, targeted=True), attrs.evolve(quartiles, targeted=True)),
        ),
    ):
        found = [located(incidents, one) for one in methods]
        rows.append((title, *(f"{x:.3f}" for one in found for x in (one.ac1, one.ac5))))
    return table(("", "`n_sigma` AC@1", "AC@5", "`baro` AC@1", "AC@5"), rows)


def upward_quartiles(signal: Signal) -> float:
    """What ``baro`` makes of a signal that rises; 0 of one that falls."""
    return standardised.baro({signal.name: signal}) if signal.stray > 0 else 0.0


def number_of(issue: Path) -> int:
    return int(issue.name.rpartition("_")[2])


def petshop_halves(data: Path) -> tuple[list[Incident], list[Incident]]:
    """The issues of even number, looked at for choices, and those of odd number."""
    even = set()
    for target in data.glob("*/train/issue_*/target.json"):
        if number_of(target.parent) % 2 == 0:
            seen = json.loads(target.read_bytes())["target"]["timestamp"]
            even.add(f"petshop/{datetime.fromtimestamp(seen, tz=UTC):%Y-%m-%dT%H%M%S}")
    incidents = [as_incident(one) for one in import_petshop(data)]
    return (
        [one for one in incidents if one.id in even],
        [one for one in incidents if one.id not in even],
    )


def early(data: Path) -> str:
    """Rankings by one sample before the symptom was seen, and by the one at which it was seen."""
    records = import_petshop(data)
    v2, sigma = METHODS["combined_v2"], METHODS["n_sigma"]
    rows = []
    for title, method in (
        ("`combined_v2`", v2),
        ("the same, every metric", attrs.evolve(v2, targeted=False)),
        ("`n_sigma`", sigma),
        ("the same, the metric that broke its objective", attrs.evolve(sigma, targeted=True)),
    ):
        found = [
            located([as_incident(at_sample(one, tick)) for one in records], method)
            for tick in (EARLY, 0)
        ]
        rows.append((title, *(f"{x:.3f}" for one in found for x in (one.ac1, one.ac3))))
    return table(("", "before AC@1", "AC@3", "when seen AC@1", "AC@3"), rows)


def at_sample(record: RecordedIncident, tick: int) -> RecordedIncident:
    """A record of which every screen shows the sample of one tick alone."""
    place = tick - FIRST_TICK
    services = tuple(
        attrs.evolve(
            one,
            metrics=tuple(
                attrs.evolve(metric, value=metric.value[place : place + 1] * (1 - FIRST_TICK))
                for metric in one.metrics
            ),
        )
        for one in record.recording.services
    )
    return attrs.evolve(record, recording=attrs.evolve(record.recording, services=services))


def petshop_part(data: Path) -> tuple[int, str]:
    """How many incidents there are, and the section about them."""
    choice, result = petshop_halves(data)
    rows = []
    for name, method in METHODS.items():
        figures = [located(half, method) for half in (choice, result)]
        rows.append(
            (
                f"`{name}`",
                *(f"{one:.3f}" for half in figures for one in (half.ac1, half.ac3, half.ac5)),
            )
        )
    v2 = METHODS["combined_v2"]
    ablations = []
    for title, method in (
        ("as it is", v2),
        ("own signals alone", attrs.evolve(v2, weaker=None)),
        ("what callers show alone", Method(standardised.inherited, fresh=True)),
        ("old screens count again", attrs.evolve(v2, fresh=False)),
        ("the largest value over the screens, not the mean", attrs.evolve(v2, over=max)),
        ("every metric, whatever the alert is about", attrs.evolve(v2, targeted=False)),
    ):
        one = located(choice, method)
        ablations.append((title, f"{one.ac1:.3f}", f"{one.ac3:.3f}", f"{one.ac5:.3f}"))
    everything = [*choice, *result]
    roots = {name for one in everything for name in one.truth.root_causes}
    assert len(roots) == 1
    without = [one for one in everything if one.telemetry.recording.baseline == "none"]  # type: ignore[union-attr]
    text = PETSHOP_TEXT.format(
        incidents=len(everything),
        choice=len(choice),
        result=len(result),
        root=next(iter(roots)),
        without=len(without),
        table=table(
            ("policy", "choices AC@1", "AC@3", "AC@5", "results AC@1", "AC@3", "AC@5"), rows
        ),
        ablations=table(("", "AC@1", "AC@3", "AC@5"), ablations),
        simple=simple_ablations(choice),
        early=early(data),
    )
    return len(everything), text


def watching(incidents: Sequence[Incident], screens: int) -> Located:
    """`combined` with so many screens to look at before it must answer."""
    ranked = []
    for incident in incidents:
        shorter = attrs.evolve(incident, horizon=screens + 1)
        transcript = record_episode(shorter, make_policy("combined"), "combined")
        fault = incident.truth.fault
        assert fault is not None
        ranking = ranking_of(transcript.extra, incident.topology.names, None)
        ranked.append((fault.kind, ranking, incident.truth.root_causes))
    return locate(ranked)[0]


def opening(bundle: Path) -> tuple[float, float]:
    """CPU seconds to open a bundle, and to make all of its incidents: the best of 15."""

    def seconds(function: object) -> float:
        assert callable(function)
        begin = time.process_time()
        function(bundle)
        return time.process_time() - begin

    return (
        min(seconds(open_bundle) for _ in range(15)),
        min(seconds(load_bundle) for _ in range(15)),
    )


def looks(bundle: Path) -> str:
    """What `combined` finds with few screens and more."""
    incidents = load_bundle(bundle)
    rows = [(screens, watching(incidents, screens)) for screens in range(1, 8)]
    return table(
        ("screens", "AC@1", "AC@3", "AC@5", "Avg@5"),
        [
            (screens, *(f"{one:.3f}" for one in (row.ac1, row.ac3, row.ac5, row.avg5)))
            for screens, row in rows
        ],
    )


def main(data: Path, petshop: Path, target: Path, processes: int = 1) -> None:
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(processes) as pool:
        of_petshop, calm = pool.submit(petshop_part, petshop), pool.submit(calm_part, data, petshop)
        worse = pool.submit(harmed, data)
        bundle = Path(folder) / "nezha.jsonl.gz"
        told = subprocess.run(
            [sys.executable, "-c", IMPORT, str(data), str(bundle)],
            check=True,
            stdout=subprocess.PIPE,
        )
        cost = json.loads(told.stdout)
        ablations = pool.submit(nezha_ablations, data, bundle)
        policies, watched = pool.submit(by_policy, bundle), pool.submit(looks, bundle)
        incidents, records = load_bundle(bundle), load_records(bundle)
        models = pool.submit(models_part, records)
        opened, loaded = opening(bundle)
        size = bundle.stat().st_size
        simple = simple_ablations(incidents)
        petshop_count, petshop_text = of_petshop.result()
        models_text, calm_text, policies_text = models.result(), calm.result(), policies.result()
        ablations_text, harmed_text, looks_text = (
            one.result() for one in (ablations, worse, watched)
        )
    names = sorted({name for one in incidents for name in one.topology.names})
    constants = {
        name: fmean(hit_at(1, ((name,),), one.truth.root_causes) for one in incidents)
        for name in names
    }
    best = max(constants, key=constants.__getitem__)
    parts = [
        HEAD.format(
            incidents=cost["incidents"], petshop=petshop_count, policies=" ".join(POLICIES)
        ),
        "## Baselines\n",
        policies_text + "\n",
        READING.format(
            services=len(names),
            ablations=ablations_text,
            simple=simple,
            harmed=harmed_text,
        ),
        "How long `combined` watches, in screens half a minute apart, the first of them a minute "
        "after\nthe injection:\n",
        looks_text + "\n",
        PUBLISHED.format(
            incidents=cost["incidents"],
            share=f"{100 / cost['incidents']:.1f}",
            roots=len({name for one in incidents for name in one.truth.root_causes}),
            best=best,
            constant=constants[best],
            chance=fmean(constants.values()),
        ),
        models_text,
        petshop_text,
        calm_text,
        "## Cost\n",
        table(
            ("", "measured"),
            [
                ("import", f"{cost['seconds']:.1f} s ({cost['busy']:.1f} s of CPU)"),
                ("memory at the peak", f"{cost['peak_mib']:.0f} MiB"),
                ("bundle", f"{size:,} bytes, gzip"),
                ("`open_bundle`", f"{1000 * opened:.0f} ms of CPU (incidents made when asked for)"),
                ("`load_bundle`", f"{1000 * loaded:.0f} ms of CPU (all incidents)"),
            ],
        )
        + "\n",
        f"One core, Python {platform.python_version()}, {platform.machine()}, of a machine that "
        "others used\nheavily at the time: mind the CPU and not the clock. The two last are the "
        "best of 15.\n",
        "## Left out\n",
        ("\n".join(f"- `{note}`" for note in cost["notes"]) or "Nothing.") + "\n",
    ]
    with replacing(target) as file:
        file.write("\n".join(parts).encode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), *map(int, sys.argv[4:]))
