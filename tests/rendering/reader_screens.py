"""What screens show, read by regular expressions alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.rendering.reader_rules import SORTS, Rules, found, number

HEADINGS = "TICK|LAST|EDGE|ALERTS|METRICS|TRACES|REQUESTED|LOGS|CHANGES|DIRECTORY|DECLARED|ASK"


@dataclass
class Seen:
    """What screens have shown: readings as (how they came about, sign), by service and sort."""

    rules: Rules
    topics: Mapping[str, str]
    readings: dict[tuple[str, str], dict[Any, tuple[str, str]]] = field(default_factory=dict)
    edge: tuple[str, str] | None = None

    def _read(self, service: str, sort: str, cell: Any, how: str, sign: str) -> None:
        self.readings.setdefault((service, sort), {})[cell] = how, sign

    def take(self, screen: str) -> None:
        """Read one screen more."""
        now = int(number(r"TICK (\d+)/", screen))
        if not now:
            self._take_changes(screen)
        self._take_alerts(screen, now)
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
                self._take_lines("window" if block.startswith("LOGS") else "asked", now, lines)

    def _take_changes(self, screen: str) -> None:
        for service in self.rules.calls:
            self._read(service, "change", 0, "sign", "")
        for when, what in re.findall(r"CHANGES (since|before).*?: (.*)", screen):
            for service, kind in re.findall(r"\d+ ([\w-]+) (\w+)", what):
                after = " after" if when == "since" else ""
                self._read(service, "change", 0, "sign", f"{kind}{after}")

    def _take_alerts(self, screen: str, now: int) -> None:
        judged = found(r"judged at ticks ([\d, ]+);", self.rules.text)[1]
        if str(now) not in judged.split(", "):
            return
        firing = found(r"ALERTS: (.*)", screen)[1]
        words = {"HighErrorRate": "error alert", "HighLatency": "latency alert"}
        shown = {at: words[title] for title, at in re.findall(r"(\w+) ([\w-]+) \(tick", firing)}
        how = "silent" if now < self.rules.silent else "sign"
        for service in self.rules.calls:
            self._read(service, "alert", now, how, shown.get(service, ""))

    def _take_edge(self, screen: str) -> None:
        shown = found(r"EDGE: errors ([\d.]+)% .*?, p99 (\d+) ms", screen)
        bands = ["usual", "usual"]
        for name, errors, p99 in self.rules.bands:
            for place, least in enumerate((errors, p99)):
                if float(shown[place + 1]) >= least:
                    bands[place] = name
        self.edge = bands[0], bands[1]

    def _take_gauges(self, service: str, ticks: Sequence[int], line: str) -> None:
        """``CPU 41% > 97% (usual 40%)``, or several figures of one gauge."""
        signs: list[set[str]] = [set() for _ in ticks]
        sort, told = "tier", False
        pattern = r"(?:^|, )([A-Za-z ]+?) ((?:\d|no data).*?) \(usual (.*?)\)"
        for label, figures, usual in re.findall(pattern, line):
            sort, told = label if label in SORTS else sort, True
            for place, figure in enumerate(figures.split(" > ")):
                signs[place].add(figure if figure == "no data" else sign_of(label, figure, usual))
        for tick, shown in zip(ticks, signs, strict=True):
            if told and "no data" not in shown:
                self._read(service, sort, tick, "sign", next(filter(None, shown), ""))

    def _take_trace(self, service: str, sort: str, ticks: Sequence[int], line: str) -> None:
        shown = line.partition(": ")[2].split(" > ")
        for tick, text in zip(ticks, shown * (len(ticks) if len(shown) == 1 else 1), strict=True):
            if text == "no data":
                continue
            of = re.search(r"of it in ([\w-]+)|start in (itself)|come from ([\w-]+)", text)
            where = next(filter(None, of.groups()), "") if of else ""
            word = self.rules.trace_words[sort][where != "itself"]
            named = word if where == "itself" else f"{word}:{where}"
            self._read(service, sort, tick, "sign", named if where else "")

    def _take_lines(self, how: str, now: int, lines: Iterable[str]) -> None:
        for place, line in enumerate(lines):
            if line.startswith("everyday lines: "):
                for service in line.partition(": ")[2].split(", "):
                    self._read(service, "log", (how, now, "everyday"), how, "")
            elif re.match(r"[+-]\d+s ", line):
                _, _, service, text = line.split(" ", 3)
                sign = self.topic_of(text)
                shown = "silent" if how == "window" and now < self.rules.silent else ""
                self._read(service.rstrip(":"), "log", (how, now, place), shown + how, sign)

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
    return [int(one) for one in found(r"read at ticks? ([\d >]+)", heading)[1].split(" > ")]


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
