"""What screens show, read by regular expressions alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.rendering.reader_rules import SORTS, Rules, found, number

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
                for line in lines:
                    self._take_gauges(service, starts(block), line)
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
        text = re.search(r"CHANGES .*?: (.*)", screen)
        told = re.findall(r"(-?\d+) ([\w-]+) (\w+)", text[1] if text else "")
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
        shown = found(r"EDGE: errors ([\d.]+)% .*?, p99 (\d+) ms", screen)
        bands = ["usual", "usual"]
        for name, errors, p99 in self.rules.bands:
            for place, least in enumerate((errors, p99)):
                if float(shown[place + 1]) >= least:
                    bands[place] = name
        self.edge = bands[0], bands[1]

    def _take_gauges(self, service: str, ticks: Sequence[int], line: str) -> None:
        """``CPU 41% 97% (usual 40%)``, or several figures of one gauge."""
        signs: list[set[str]] = [set() for _ in ticks]
        sort = "tier"
        pattern = r"(?:^|, )([A-Za-z ]+?) (\d.*?) \(usual (.*?)\)"
        for label, figures, usual in re.findall(pattern, line):
            sort = label if label in SORTS else sort
            shown = re.findall(FIGURE, figures)
            for place, figure in zip(range(len(ticks)), shown, strict=True):
                signs[place].add(sign_of(label, figure, usual))
        for tick, told in zip(ticks, signs, strict=True):
            self._read(service, sort, tick, next(filter(None, told), ""))

    def _take_trace(self, service: str, sort: str, ticks: Sequence[int], line: str) -> None:
        shown = line.partition(": ")[2].split(" > ")
        for tick, text in zip(ticks, shown * (len(ticks) if len(shown) == 1 else 1), strict=True):
            of = re.search(r"of it in ([\w-]+)|start in (itself)|come from ([\w-]+)", text)
            where = next(filter(None, of.groups()), "") if of else ""
            word = self.rules.trace_words[sort][where != "itself"]
            named = word if where == "itself" else f"{word}:{where}"
            self._read(service, sort, tick, named if where else "")

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


#: The figures of a gauge at one scrape.
FIGURE = r"\d+/s from \d+ clients(?:, \d+ of them new)?|\d+ of \d+|[\d.]+\S*(?: and climbing)?"


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


def sign_of(label: str, figure: str, usual: str) -> str:
    """The word for a figure beside what is usual."""
    value, normal = (float(found(r"[\d.]+", one)[0]) for one in (figure, usual))
    match label:
        case "CPU":
            return "hot" if value > 80 else "idle" if value < 10 else ""
        case "memory":
            return "mem climbs" if "climbing" in figure else "mem high" if value > 80 else ""
        case "workers":
            limit = float(found(r"of (\d+)", figure)[1])
            return "full" if value >= 0.95 * limit else "busy" if value > limit / 2 else ""
        case "requests":
            if "new" in figure:
                return "new clients"
            return "load" if value > 1.5 * normal else ""
        case "buffer hits" | "cache hits":
            return "cold cache" if value < 75 else ""
    return label if value > 5 * normal + 5 else ""
