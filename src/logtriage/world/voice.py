"""Tokens become text and figures here. What renders knows no truth.

Everything is a function of the public topology, the seed, the phrasing group and the
tokens: hypotheses that give the same tokens give the same bytes. Figures belong to
(service, token), so that what is said twice is the same twice.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs

from logtriage.faults import FAULT_KINDS
from logtriage.rng import between, draw, hash_name, subkey
from logtriage.telemetry import TICK_SECONDS, Alert, Change, EdgePanel, Gauge, LogLine, Trace
from logtriage.topology import Topology
from logtriage.world.channels import (
    BANDS,
    EVERYDAY,
    GAUGES,
    ITSELF,
    NAMES,
    NO_NEWS,
    NONE,
    NOWHERE,
    SPANS,
    TIMEOUT,
    USUAL,
    Evidence,
    named_service,
)
from logtriage.world.phrases import CAUSES, LOGS
from logtriage.world.phrases import EVERYDAY as CHATTER
from logtriage.world.phrases import NAMES as NAMED
from logtriage.world.phrases import TIMEOUT as COMPLAINTS

VOICE_STREAM: Final = hash_name("voice")
FIGURE_STREAM: Final = hash_name("figure")
#: Alerts by token.
ALERTS: Final = {"errors": "HighErrorRate", "latency": "HighLatency"}
#: Milliseconds that each call below a service adds to its latency; jitter is smaller.
STEP: Final = 24
#: What a figure is of, if its gauge does not say so, and its value.
Figure = tuple[str, str]
#: p99 (ms) where the band begins: of the slowest requests of one service, and of the edge.
_BASE: Final = {NOWHERE: 30, "slow": 900}
#: Least and most error rate (basis points) and p99 (ms) of the edge by band.
_EDGE_ERRORS: Final = {"usual": (4, 18), "slight": (35, 80), "P2": (130, 420), "P1": (600, 2900)}
_EDGE_P99: Final = {"slight": (250, 620), "P2": (900, 1850), "P1": (2150, 6800)}


@attrs.frozen(cache_hash=True)
class Voice:
    """Words one incident's tokens. ``phrasing`` is the index of the group of texts."""

    topology: Topology
    seed: int
    phrasing: int
    onset: int

    @cached_property
    def _figures(self) -> int:
        return subkey(self.seed, FIGURE_STREAM)

    @cached_property
    def _lines(self) -> int:
        return subkey(self.seed, VOICE_STREAM)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The most calls, one after the other, below each service."""
        calls = self.topology.calls
        heights = [0] * len(calls)
        for _ in calls:  # a longest path has no more calls than there are services
            higher = [max((heights[c] + 1 for c in row), default=0) for row in calls]
            if higher == heights:
                break
            heights = [min(one, len(calls)) for one in higher]
        return tuple(heights)

    def figure(self, service: int, token: str, low: int, high: int) -> int:
        """A figure in [low, high] that belongs to a service and a token."""
        return between(draw(self._figures, service + 1, hash_name(token)), low, high)

    # --- lines -----------------------------------------------------------------------

    def line(self, cell: Evidence, now: int, order: int) -> LogLine:
        """The log line of a cell; ``order`` is its place on the screen."""
        bits = draw(self._lines, (cell.service + 1) << 20 | cell.slot, cell.start << 8 | order)
        level, text = self._phrase(cell.service, cell.token, bits)
        figures = {
            "n": between(bits << 16 & (1 << 64) - 1, 2, 40),
            "ms": self.figure(cell.service, cell.token, 120, 2400),
            "pct": self.figure(cell.service, f"{cell.token}%", 6, 90),
            "mb": self.figure(cell.service, f"{cell.token}mb", 40, 900),
            "v": self._version(cell.service, cell.token),
            "dep": self._dependency(cell.token),
            "cause": self._past_cause(cell.service, cell.token),
        }
        second = now * TICK_SECONDS - TICK_SECONDS + 1 + order * (TICK_SECONDS - 2) // 8
        return LogLine(
            second,
            self.topology.names[cell.service],
            level,
            text.format_map(figures),
            cell.token,
        )

    def _phrase(self, service: int, token: str, bits: int) -> tuple[str, str]:
        name, _, kind = token.partition(":")
        if token == EVERYDAY:
            groups = CHATTER[self.topology.services[service].tier]
        elif name == TIMEOUT:
            groups = COMPLAINTS
        elif name == NAMES:
            groups = NAMED[kind]
        else:
            groups = LOGS[token]
        texts = groups[self.phrasing]
        return texts[between(bits, 0, len(texts) - 1)]

    def _version(self, service: int, token: str) -> str:
        bits = draw(self._figures, service + 1, hash_name(f"version {token}"))
        return f"{1 + bits % 9}.{(bits >> 8) % 30}.{(bits >> 16) % 10}"

    def _dependency(self, token: str) -> str:
        service = named_service(token)
        return "" if service is None else self.topology.names[service]

    def _past_cause(self, service: int, token: str) -> str:
        """A cause that is over: any kind of the service's tier, by a hash."""
        tier = self.topology.services[service].tier
        kinds = [kind.name for kind in FAULT_KINDS if tier in kind.tiers]
        kind = kinds[self.figure(service, f"past {token}", 0, len(kinds) - 1)]
        texts = CAUSES[kind][self.phrasing]
        return texts[self.figure(service, f"past text {token}", 0, len(texts) - 1)]

    # --- panels ----------------------------------------------------------------------

    def alerts(self, cells: Sequence[Evidence]) -> tuple[Alert, ...]:
        """The alerts that fire by the newest judgement of each service, and since when."""
        rows: dict[int, list[Evidence]] = {}
        for one in cells:
            rows.setdefault(one.service, []).append(one)
        found = []
        for service, judged in rows.items():
            token = judged[-1].token
            if token == NONE:
                continue
            since = judged[-1].start
            for one in reversed(judged):
                if one.token != token:
                    break
                since = one.start
            found.append(Alert(self.topology.names[service], ALERTS[token], since))
        return tuple(sorted(found, key=lambda one: one.since))

    def edge(self, cell: Evidence) -> EdgePanel:
        """The edge panel beside its usual figures."""
        errors, p99 = cell.token.split("/")
        usual_errors = self.figure(-1, "usual errors", *_EDGE_ERRORS["usual"])
        height = max(self.heights[edge] for edge in self.topology.edges)
        usual_p99 = _BASE[NOWHERE] + height * STEP + self.figure(-1, "usual p99", 0, STEP - 1)
        return EdgePanel(
            usual_errors if errors == BANDS[0] else self.figure(-1, errors, *_EDGE_ERRORS[errors]),
            usual_p99 if p99 == BANDS[0] else self.figure(-1, f"p99 {p99}", *_EDGE_P99[p99]),
            usual_errors,
            usual_p99,
            cell.token,
        )

    def changes(self, cells: Sequence[Evidence]) -> tuple[Change, ...]:
        """The change feed, newest first; decoys included, before and after the onset.

        Minutes count back from tick 0.
        """
        rows = []
        for one in cells:
            if one.token == NONE:
                continue
            kind, _, when = one.token.partition("_")
            if when == "before":
                ago = self.onset + self.figure(one.service, one.token, 1, 110)
            else:
                ago = self.figure(one.service, one.token, 1, self.onset - 1)
            version = self._version(one.service, one.token)
            detail = {
                "release": f"release {version}",
                "config": f"config r{self.figure(one.service, 'revision', 100, 999)}",
                "traffic": f"traffic +{self.figure(one.service, 'growth', 15, 80)}%",
            }[kind]
            name = self.topology.names[one.service]
            rows.append(Change(name, kind, ago, detail, one.token))
        return tuple(sorted(rows, key=lambda one: (one.minutes_ago, one.service)))

    # --- asked for -------------------------------------------------------------------

    def gauges(self, cells: Sequence[Evidence]) -> tuple[Gauge, ...]:
        """The gauges of the services asked for, each as a short series."""
        return tuple(
            Gauge(self.topology.names[service], GAUGES[slot], *self._series(row, GAUGES[slot]))
            for (service, slot), row in _by_slot(cells).items()
        )

    def _series(
        self, row: Sequence[Evidence], gauge: str
    ) -> tuple[tuple[int, ...], tuple[str, ...], str]:
        tokens = tuple(one.token for one in row)
        readings = [self._reading(row[0].service, gauge, one) for one in (USUAL, *tokens)]
        figures = (_figure(column) for column in zip(*readings, strict=True))
        return tuple(one.start for one in row), tokens, ", ".join(figures)

    def _reading(self, service: int, gauge: str, token: str) -> tuple[Figure, ...]:
        """The figures of a gauge: one, but of datastores and queues several."""
        match gauge:
            case "cpu":
                ranges = {USUAL: (22, 48), "low": (2, 9), "high": (88, 99)}
                return (("", f"{self.figure(service, f'cpu {token}', *ranges[token])}%"),)
            case "memory":
                ranges = {USUAL: (42, 62), "high": (84, 95), "climbing": (70, 88)}
                text = f"{self.figure(service, f'memory {token}', *ranges[token])}%"
                return (("", f"{text} and climbing" if token == "climbing" else text),)
            case "workers":
                ranges = {USUAL: (4, 11), "busy": (19, 27), "full": (32, 32)}
                busy = self.figure(service, f"workers {token}", *ranges[token])
                return (("", f"{busy} of 32"),)
            case "traffic":
                return (("", self._traffic(service, token)),)
            case _:
                return self._tier_gauge(service, token)

    def _traffic(self, service: int, token: str) -> str:
        rate = self.figure(service, "rate", 90, 400)
        clients = self.figure(service, "clients", 8, 40)
        if token == USUAL:
            return f"{rate}/s from {clients} clients"
        if token == "more":
            rate = rate * self.figure(service, "rate more", 170, 290) // 100
            return f"{rate}/s from {clients} clients"
        rate = rate * self.figure(service, "rate new", 115, 165) // 100
        new = self.figure(service, "new clients", 20, 90)
        return f"{rate}/s from {clients + new} clients, {new} of them new"

    def _tier_gauge(self, service: int, token: str) -> tuple[Figure, ...]:
        def either(name: str, calm: tuple[int, int], odd: tuple[int, int]) -> int:
            return self.figure(
                service, f"{name} {token == name}", *(odd if token == name else calm)
            )

        hits = either("cold_cache", (92, 99), (31, 58))
        match self.topology.services[service].tier:
            case "datastore":
                return (
                    ("lock waits ", f"{either('lock_waits', (0, 2), (24, 90))}/s"),
                    ("disk reads ", f"{either('disk_reads', (4, 16), (140, 480))} MB/s"),
                    ("replica lag ", f"{either('replica_lag', (0, 2), (60, 900))} s"),
                    ("buffer hits ", f"{hits}%"),
                )
            case "queue":
                return (
                    ("backlog ", f"{either('backlog', (4, 30), (900, 8000))}"),
                    ("redeliveries ", f"{either('redeliveries', (0, 2), (30, 140))}/min"),
                )
            case _:
                return (("cache hits ", f"{hits}%"),)

    def traces(self, cells: Sequence[Evidence]) -> tuple[Trace, ...]:
        """Where the services asked for spend their time, and where their errors start."""
        found = []
        for (service, slot), row in _by_slot(cells).items():
            tokens = tuple(one.token for one in row)
            texts = [self._span(service, SPANS[slot], token) for token in tokens]
            shown = texts[0] if len(set(texts)) == 1 else " > ".join(texts)
            starts = tuple(one.start for one in row)
            name = self.topology.names[service]
            found.append(Trace(name, SPANS[slot], starts, tokens, shown))
        return tuple(found)

    def _span(self, service: int, span: str, token: str) -> str:
        dependency = self._dependency(token)
        if span == "errors":
            if token == NOWHERE:
                return "none"
            return "start in itself" if token == ITSELF else f"come from {dependency}"
        total = self.latency(service, token)
        if token == NOWHERE:
            return f"{total} ms, spread as usual"
        share = self.figure(service, f"share {token}", 62, 94)
        where = "itself" if token == ITSELF else dependency
        return f"{total} ms, {share}% of it in {where}"

    def latency(self, service: int, token: str) -> int:
        """Milliseconds of a service's slowest requests.

        A band, a step for each call below it and a jitter smaller than a step, so that
        within a band no caller is faster than what it waits for.
        """
        band = NOWHERE if token == NOWHERE else "slow"
        jitter = self.figure(service, f"jitter {band}", 0, STEP - 1)
        return _BASE[band] + self.heights[service] * STEP + jitter

    # --- notes -----------------------------------------------------------------------

    def note(self, cell: Evidence, team: str) -> str:
        """What the responders of a paged team write."""
        if cell.token == NO_NEWS:
            return f"{team}: we are on it, nothing to add yet"
        service, _, token = cell.token.partition(":")
        bits = draw(self._lines, int(service) + 1, hash_name(f"note {token}"))
        _, text = self._phrase(int(service), token, bits)
        told = text.format_map(
            {
                "n": self.figure(int(service), "note n", 2, 40),
                "ms": self.figure(int(service), token, 120, 2400),
                "pct": self.figure(int(service), f"{token}%", 6, 90),
                "mb": self.figure(int(service), f"{token}mb", 40, 900),
                "v": self._version(int(service), token),
            }
        )
        return f"{team}: we see this at {self.topology.names[int(service)]}: {told}"


def _by_slot(cells: Sequence[Evidence]) -> dict[tuple[int, int], list[Evidence]]:
    """Cells by service and slot, each row in the order of time."""
    rows: dict[tuple[int, int], list[Evidence]] = {}
    for one in cells:
        row = rows.setdefault((one.service, one.slot), [])
        if one not in row:
            row.append(one)
    return {key: rows[key] for key in sorted(rows)}


def _figure(column: Sequence[Figure]) -> str:
    """A figure over its readings beside what is usual, which comes first in its column.

    Of readings that agree one is shown.
    """
    (label, usual), *rest = column
    values = [value for _, value in rest]
    if set(values) == {usual}:
        return f"{label}{usual} (as usual)"
    shown = values[:1] if len(set(values)) == 1 else values
    return f"{label}{' > '.join(shown)} (usual {usual})"
