"""Measures the log lines of simulated and recorded incidents, and writes docs/results/realism.md.

python scripts/realism.py docs/results/realism.md
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

import logtriage as lt
from logtriage.recorded import shipped_incidents, shipped_records
from logtriage.recorded.records import RecordedLine
from logtriage.world.channels import DOWN
from logtriage.world.loading import load_world
from logtriage.world.simulation import Simulation
from logtriage.world.telemetry import LogLine

#: The incidents that are asked: a split of each task, in turn.
TASKS: Final = (
    "single_crash-v4", "cascading_failure-v4", "silent_degradation-v4", "fleet_outage-v4",
)  # fmt: skip
SPLITS: Final = ("train", "test", "ood")
COUNTS: Final = (1_000, 10_000)
#: Services whose logs are requested in an incident: spread over the topology.
SERVICES: Final = 6

HEAD: Final = """\
# Realism

Log lines of simulated incidents beside recorded ones. `Of 1,000` and `of 10,000` are the templates
that [drain3](https://github.com/logpai/Drain3) finds with its default settings in so many messages,
with their frames. The lines are those that `request_more_logs` shows of six services an incident of
{tasks}.
Words stand between white space on a whole line as it is displayed: time, level, service, message.
The recorded lines ship: {recorded:,} of [Nezha](../recorded.md), of one technology.
[PetShop](../recorded.md) has no logs.

Written by `scripts/realism.py`.

## Log lines

| lines | of 1,000 | of 10,000 | words a line | characters a line |
|---|---|---|---|---|
"""

TECHNOLOGIES: Final = """
## Technologies

The lines above, by what wrote them. More lines show more templates. `redis` and `node` are held
out: they occur in split `ood` alone.

| technology | lines | templates | words a line | characters a line |
|---|---|---|---|---|
"""
SERIES: Final = """
## Series

A reading *jumps and returns* if it lies 30 % or more from the reading before it, and the next lies
within 10 % of that one again; below, per cent of all triples of neighbouring readings of at least
20 units. Requests *agree* if a service has the sum of its callers' requests within 10 %: per cent
of all services that have callers and traffic. Simulated are gauges and traces of {incidents}
incidents of split `test` of each task, one service after the other; recorded are all signals of the
shipped incidents, tick by tick. In a recorded system one request makes several calls.

| series | triples | jump and return | requests agree |
|---|---|---|---|
"""
#: Incidents of each task whose series are read.
INCIDENTS: Final = 40
#: Figures below it are too small for shares of them.
LEAST: Final = 20
#: A line: the technology that wrote it, its message, and all of it as displayed.
Line = tuple[str, str, str]


def main(page: Path) -> None:
    """Measure, and write the page."""
    recorded = list(recorded_lines())
    ours = {split: list(simulated_lines(split, COUNTS[-1])) for split in SPLITS}
    text = HEAD.format(tasks=", ".join(f"`{task}`" for task in TASKS), recorded=len(recorded))
    rows = {f"simulated, `{split}`": lines for split, lines in ours.items()}
    for title, lines in {**rows, "recorded, Nezha": recorded}.items():
        found = [templates(message for _, message, _ in lines[:count]) for count in COUNTS]
        shown = [f"{n:,}" if len(lines) >= count else f"{n:,} (of {len(lines):,})"
                 for n, count in zip(found, COUNTS, strict=True)]  # fmt: skip
        text += f"| {title} | {' | '.join(shown)} | {lengths(lines)} |\n"
    text += TECHNOLOGIES
    every = [line for lines in ours.values() for line in lines]
    for technology in load_world("oncall").technology_names:
        own = [line for line in every if line[0] == technology]
        found_here = templates(message for _, message, _ in own)
        text += f"| {technology} | {len(own):,} | {found_here:,} | {lengths(own)} |\n"
    text += SERIES.format(incidents=INCIDENTS)
    text += "| simulated |" + series_row(*simulated_series())
    for source, title in (("trainticket", "recorded, Nezha"), ("petshop", "recorded, PetShop")):
        text += f"| {title} |" + series_row(*recorded_series(source))
    page.write_text(text)


def series_row(series: list[Sequence[int]], rates: list[tuple[int, int]]) -> str:
    """The cells of a row: triples, the share that jumps and returns, rates that agree."""
    triples = [
        three for one in series for three in zip(one, one[1:], one[2:], strict=False)
        if min(three) >= LEAST
    ]  # fmt: skip
    back = sum(abs(b - a) >= 0.3 * a and abs(c - a) <= 0.1 * a for a, b, c in triples)
    agree = sum(abs(own - sent) <= 0.1 * sent for own, sent in rates)
    shown = f"{100 * agree / len(rates):.0f} %" if rates else "no rates"
    return f" {len(triples):,} | {100 * back / max(len(triples), 1):.1f} % | {shown} |\n"


def simulated_series() -> tuple[list[Sequence[int]], list[tuple[int, int]]]:
    """Series of gauges and traces, and pairs of a service's requests and its callers'."""
    series: list[Sequence[int]] = []
    rates: list[tuple[int, int]] = []
    for task in TASKS:
        for name in lt.incident_ids(task, "test", INCIDENTS):
            incident = lt.make_incident(name)
            begin, names, known = lt.initial_state(incident), incident.topology.names, {}
            for service in names:
                for ask in (lt.RequestMetrics, lt.RequestTraces):
                    seen = lt.observe(lt.transition(begin, ask(service)))
                    panels: Sequence[Any] = (*seen.metrics, *seen.traces)
                    for told in panels:
                        series += [row.values for row in told.rows]
                        if told.name == "traffic" and told.rows:
                            known[service] = told.rows[0].values[-1]
            rates += _rates(incident, known)
    return series, rates


def recorded_series(source: str) -> tuple[list[Sequence[int]], list[tuple[int, int]]]:
    """The same of the recorded incidents of a source, signal by signal."""
    series: list[Sequence[int]] = []
    rates: list[tuple[int, int]] = []
    for incident in shipped_incidents(source):
        rows: dict[tuple[int, str], list[int]] = defaultdict(list)
        for tick in range(incident.horizon):
            assert not isinstance(incident.telemetry, Simulation)
            signals = incident.telemetry.signals(tick)
            known = {}
            for service, row in enumerate(signals):
                for one in row:
                    rows[service, one.name].append(one.value)
                    if one.name == "calls":
                        known[incident.topology.names[service]] = one.value
            rates += _rates(incident, known)
        series += rows.values()
    return series, rates


def _rates(incident: lt.Incident, known: dict[str, int]) -> Iterator[tuple[int, int]]:
    """A service's requests beside the sum of its callers', where all are known."""
    topology = incident.topology
    for service, name in enumerate(topology.names):
        callers = [
            topology.names[caller]
            for caller, called in enumerate(topology.calls)
            if service in called
        ]
        if callers and known.get(name) and all(known.get(one) for one in callers):
            yield known[name], sum(known[one] for one in callers)


def simulated_lines(split: str, count: int) -> Iterator[Line]:
    """``count`` lines that somebody who asks is shown, incident by incident."""
    start = left = 0
    while left < count:
        for task in TASKS:
            incident = lt.make_incident(lt.incident_ids(task, split, 1, start=start)[0])
            for line in asked_for(incident):
                if left < count:
                    left += 1
                    yield line
        start += 1


def asked_for(incident: lt.Incident) -> Iterator[Line]:
    """The lines of some services; each is asked for once, in a state of its own."""
    world, topology = load_world("oncall"), incident.topology
    for service in topology.services[:: max(1, len(topology) // SERVICES)]:
        state = lt.transition(lt.initial_state(incident), lt.RequestMoreLogs(service.name))
        technology = world.technology_of(service)
        assert technology is not None  # every tier of oncall has one
        for line in lt.observe(state).inspection:
            if line.token != DOWN:
                yield technology.name, line.message, displayed(line)


def recorded_lines() -> Iterator[Line]:
    """The lines of the shipped recordings, each once a window."""
    for record in shipped_records("trainticket"):
        for window in record.recording.windows:
            for line in window.lines:
                yield "java", line.message, displayed(line)


def displayed(line: LogLine | RecordedLine) -> str:
    return f"{line.second:+d}s {line.level} {line.service}: {line.message}"


def templates(messages: Iterable[str]) -> int:
    """How many distinct templates drain3 finds in messages."""
    miner = TemplateMiner(config=TemplateMinerConfig())
    for message in messages:
        miner.add_log_message(message)
    return len(miner.drain.clusters)


def lengths(lines: list[Line]) -> str:
    """Mean words and characters of displayed lines, as two cells of a table."""
    count = max(len(lines), 1)
    words = sum(len(line.split()) for _, _, line in lines) / count
    return f"{words:.1f} | {sum(len(line) for _, _, line in lines) / count:.0f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
