"""What screens show, read by regular expressions alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.rendering.reader_rules import Rules, found, number

HEADINGS = "TICK|LAST|EDGE|ALERTS|METRICS|TRACES|REQUESTED|LOGS|CHANGES|DIRECTORY|DECLARED|ASK"


#: The rule that watches a half of a trace.
RULES = {"HighErrorRate": "errors", "HighLatency": "time"}


@dataclass
class Seen:
    """What screens have shown: signs by their ticks, by service and sort; and alerts.

    ``alerts`` has for each service and half of a trace the tick since which its alert fires, None
    if it is quiet. ``now`` is the tick of the latest screen.
    """

    rules: Rules
    readings: dict[tuple[str, str], dict[int, str]] = field(default_factory=dict)
    alerts: dict[tuple[str, str], int | None] = field(default_factory=dict)
    edge: tuple[str, str] | None = None
    now: int = 0

    def _read(self, service: str, sort: str, tick: int, sign: str) -> None:
        known = self.readings.setdefault((service, sort), {})
        assert known.setdefault(tick, sign) == sign, "two readings of a scrape differ"

    def take(self, screen: str, topics: Mapping[str, str]) -> None:
        """Read one screen more; ``topics`` says what lines in plain English are about."""
        self.now = int(number(r"TICK (\d+)/", screen))
        self._take_changes(screen)
        self._take_alerts(screen)
        self._take_edge(screen)
        for block, lines in blocks(screen):
            service = block.split(" ")[1].rstrip(":") if " " in block else ""
            if block.startswith("METRICS") and lines:
                self._take_gauges(service, starts(block), lines)
            elif block.startswith("TRACES") and lines:
                for sort, line in zip(("time", "errors"), lines, strict=True):
                    self._take_trace(service, sort, starts(block), line)
            elif block.startswith(("LOGS", "REQUESTED LOGS")):
                self._take_lines(block.startswith("LOGS"), lines, topics)

    @property
    def every(self) -> Iterator[tuple[str, str]]:
        """The services and sorts of which anything was seen."""
        yield from self.readings
        yield from self.alerts

    @property
    def scrape(self) -> int:
        """The latest scrape."""
        return max(tick for tick in self.rules.scrapes if tick <= self.now)

    def _take_changes(self, screen: str) -> None:
        told = re.findall(r"^(-?\d+)  ([\w-]+)  (\w+)", screen, re.MULTILINE)
        changed = {service: (kind, int(minutes)) for minutes, service, kind in told}
        for service in self.rules.calls:
            kind, minutes = changed.get(service, ("", 0))
            for tick in self.rules.scrapes:
                if tick <= self.now:
                    self._read(service, "change", tick, kind if minutes >= -tick // 2 else "")

    def _take_alerts(self, screen: str) -> None:
        told = re.findall(r"(\w+) ([\w-]+) \(tick (-?\d+)", found(r"ALERTS: (.*)", screen)[1])
        firing = {(service, RULES[rule]): int(since) for rule, service, since in told}
        for service in self.rules.calls:
            for half in RULES.values():
                self.alerts[service, half] = firing.get((service, half))

    def _take_edge(self, screen: str) -> None:
        now = r"errors %  (?:[\d.]+ )*?([\d.]+) \(.*?p99 ms  (?:\d+ )*?(\d+) \("
        shown = found(f"EDGE: {now}", screen)
        bands = ["usual", "usual"]
        for name, errors, p99 in self.rules.bands:
            for place, least in enumerate((errors, p99)):
                if float(shown[place + 1]) >= least:
                    bands[place] = name
        self.edge = bands[0], bands[1]

    def _take_gauges(self, service: str, ticks: Sequence[int], lines: Iterable[str]) -> None:
        """``cpu %  41 97 (usual 40)``, a row a line; a gauge may have several."""
        signs: dict[str, list[str]] = {}
        for line in lines:
            label, figures, usual = found(ROW, line).groups()
            sort, shown = sort_of_row(label), [float(one) for one in figures.split()]
            told = signs.setdefault(sort, [""] * len(ticks))
            before = ""
            for place, figure in zip(range(len(ticks)), shown, strict=True):
                # A leak begins below what is high, and may climb up to it.
                before = sign_of(label, figure, float(usual), before)
                told[place] = before or told[place]
        for sort, row in signs.items():
            for tick, told_then in zip(ticks, row, strict=True):
                self._read(service, sort, tick, told_then)

    def _take_trace(self, service: str, sort: str, ticks: Sequence[int], line: str) -> None:
        """``sampled requests, slowest ms  57 390 (usual 57); since tick 0, ms: own 58, db 332``."""
        _, figures, usual = found(ROW, line).groups()
        goes = {}
        for since, parts in re.findall(r"since tick (-?\d+), \S+: ([^;]*)", line):
            shares = {name: int(share) for name, share in re.findall(r"([\w-]+) (\d+)", parts)}
            goes[int(since)] = max(shares, key=lambda name: shares[name])
        for tick, figure in zip(ticks, figures.split(), strict=True):
            told = ""
            if float(figure) > 1.4 * float(usual) + 0.1:
                where = goes[max(since for since in goes if since <= tick)]
                word = self.rules.trace_words[sort][where != "own"]
                told = word if where == "own" else f"{word}:{where}"
            self._read(service, sort, tick, told)

    def _take_lines(self, window: bool, lines: Iterable[str], topics: Mapping[str, str]) -> None:
        for line in lines:
            if line.startswith("everyday lines: "):
                for service in line.partition(": ")[2].split(", "):
                    self._read(service, "log", self.scrape, "")
            elif re.match(r"[+-]\d+s ", line):
                second, _, service, text = line.split(" ", 3)
                # A line is of the tick that it ends; one of the window may lie between scrapes.
                tick = self.scrape if window else -(-int(second[:-1]) // 30)
                self._read(service.rstrip(":"), "log", tick, topics[text])


#: A row of figures: label, figures, what is usual.
ROW = r"^(\D.*?)  ([\d. ]+?)(?: [a-z]+)? \(usual ([\d.]+)\)"


def blocks(screen: str) -> Iterator[tuple[str, list[str]]]:
    """The blocks of a screen: a heading, and the lines that belong to it."""
    heading = ""
    lines: list[str] = []
    for line in screen.splitlines():
        if re.match(rf"({HEADINGS})\b", line):
            yield heading, lines
            heading, lines = line, []
        else:
            lines.append(line)
    yield heading, lines


def starts(heading: str) -> list[int]:
    """The ticks of the readings below a heading."""
    return [int(one) for one in found(r"at ticks? ([-\d ]+)", heading)[1].split()]


def sort_of_row(label: str) -> str:
    """What a row is about."""
    name = re.split(r"[ /]", label)[0]
    known = {"cpu": "CPU", "memory": "memory", "workers": "workers"}
    return "requests" if name in ("requests", "clients") else known.get(name, "tier")


def sign_of(label: str, value: float, usual: float, before: str) -> str:
    """The word for a figure beside what is usual, and the word for the figure ``before``."""
    match re.split(r"[ /]", label)[0]:
        case "cpu":
            return "hot" if value > 80 else "idle" if value < 10 else ""
        case "memory":
            return "" if value < 65 else before or ("mem high" if value > 80 else "mem climbs")
        case "workers":
            limit = float(found(r"of (\d+)", label)[1])
            return "full" if value >= 0.95 * limit else "busy" if value > limit / 2 else ""
        case "requests":
            return "load" if value > 1.1 * usual else ""
        case "clients":
            return "new clients" if value > 1.8 * usual else ""
        case "buffer" | "cache":
            return "cold cache" if value < 75 else ""
    word = found(r"^([a-z ]+?)(?:[ /](?:s|MB/s|min))?$", label)[1]
    return word if value > 5 * usual + 5 else ""
