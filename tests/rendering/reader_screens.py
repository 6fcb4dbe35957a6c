"""What screens show, read by regular expressions alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.rendering.reader_rules import SORTS, Rules, found, number

#: A firing alert; the figures of a gauge, each of them.
FIRING = r"(\w+) ([\w-]+) \(tick (-?\d+)\)"
SERIES = r"(?:^|, )([A-Za-z ]+?) (\d.*?) \(usual (.*?)\)"
FIGURE = (
    r"\d[^ ]*(?: (?:of \d+|MB/s|s(?= |$)|and climbing|from \d+ clients(?:, \d+ of them new)?))*"
)
HEADINGS = "TICK|LAST|EDGE|ALERTS|METRICS|TRACES|REQUESTED|LOGS|CHANGES|DIRECTORY|DECLARED|ASK"


@dataclass
class Seen:
    """What screens have shown: signs by tick, by service and sort; alerts by what they watch.

    An alert is the tick since which it fires, or None, as of tick ``now``.
    """

    rules: Rules
    topics: Mapping[str, str]
    readings: dict[tuple[str, str], dict[int, str]] = field(default_factory=dict)
    alerts: dict[tuple[str, str], int | None] = field(default_factory=dict)
    edge: tuple[str, str] | None = None
    now: int = 0

    def _read(self, service: str, sort: str, tick: int, sign: str) -> None:
        self.readings.setdefault((service, sort), {})[tick] = sign

    def take(self, screen: str) -> None:
        """Read one screen more."""
        self.now = int(number(r"TICK (\d+)/", screen))
        self._take_changes(screen)
        firing = found(r"ALERTS: (.*)", screen)[1]
        shown = {(at, title): int(tick) for title, at, tick in re.findall(FIRING, firing)}
        for service in self.rules.calls:
            for title, sort in self.rules.watched.items():
                self.alerts[service, sort] = shown.get((service, title))
        self._take_edge(screen)
        for block, lines in blocks(screen):
            service = block.split(" ")[1] if " " in block else ""
            if block.startswith("METRICS") and lines:
                for line in lines:
                    self._take_gauges(service, starts(block), line)
            elif block.startswith("TRACES") and lines:
                for sort, line in zip(("time", "errors"), lines, strict=True):
                    self._take_trace(service, sort, starts(block), line)
            elif block.startswith(("LOGS", "REQUESTED LOGS")):
                self._take_lines(lines)

    def _take_changes(self, screen: str) -> None:
        last = self.now - self.now % 3
        begun = {}
        for what in re.findall(r"CHANGES .*?: (.*)", screen):
            for minutes, service, kind in re.findall(r"(-?\d+) ([\w-]+) (\w+)", what):
                begun[service] = max(-18, 3 * round(-2 * int(minutes) / 3)), kind
        for service in self.rules.calls:
            since, kind = begun.get(service, (99, ""))
            for tick in range(-18, last + 1, 3):
                self._read(service, "change", tick, kind if tick >= since else "")

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
        for label, figures, usual in re.findall(SERIES, line):
            sort = label if label in SORTS else sort
            for place, figure in enumerate(re.findall(FIGURE, figures)):
                signs[place].add(sign_of(label, figure, usual))
        for tick, shown in zip(ticks, signs, strict=True):
            self._read(service, sort, tick, next(filter(None, shown), ""))

    def _take_trace(self, service: str, sort: str, ticks: Sequence[int], line: str) -> None:
        signs = dict.fromkeys(ticks, "")
        for part in line.partition(": ")[2].split("; "):
            begun = re.match(r"from tick (-?\d+)", part)
            of = re.search(r"of it in ([\w-]+)|start in (itself)|come from ([\w-]+)", part)
            where = next(filter(None, of.groups()), "") if of else ""
            word = self.rules.trace_words[sort][where != "itself"]
            named = word if where == "itself" else f"{word}:{where}"
            for tick in ticks:
                if begun is None or tick >= int(begun[1]):
                    signs[tick] = named if where else ""
        for tick, sign in signs.items():
            self._read(service, sort, tick, sign)

    def _take_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line.startswith("everyday lines: "):
                for service in line.partition(": ")[2].split(", "):
                    self._read(service, "log", self.now - self.now % 3, "")
            elif match := re.match(r"([+-]\d+)s ", line):
                _, _, service, text = line.split(" ", 3)
                # A line is of the 30 seconds before its tick, and says what the last scrape does.
                tick = -(-int(match[1]) // 30)
                self._read(service.rstrip(":"), "log", tick - tick % 3, self.topic_of(text))

    def topic_of(self, text: str) -> str:
        """What a line is about: the word of the runbook, with the service that it names."""
        for word, pattern in self.topics.items():
            match = re.search(pattern, text)
            if match:
                return f"{word}:{next(filter(None, match.groups()))}" if match.groups() else word
        return ""


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
    return [int(one) for one in found(r"at ticks? ([\d -]+)", heading)[1].split()]


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
