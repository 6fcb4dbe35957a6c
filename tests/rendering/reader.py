"""A reader who knows the rules and the screens alone: regular expressions, and Bayes' rule.

It imports nothing of logtriage. What it knows beyond the text is English: which words are about the
same reading, and what a log line is about.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: A sign, or "" for what is as usual.
Shares = Mapping[str, float]
#: By sort, the shares of its signs.
Row = Mapping[str, Shares]
#: What is the matter, and where: of a kind, or of a benign one.
Suspect = tuple[str, str]

#: Which words are about the same reading.
SORTS = {
    "alert": r"error alert|latency alert",
    "time": r"own time|time in call|call time",
    "errors": r"own errors|errors from call|call errors",
    "change": r"(release|config|traffic)( after)?",
    "CPU": r"idle|hot",
    "memory": r"mem high|mem climbs",
    "workers": r"busy|full",
    "requests": r"load|new clients",
}
#: Words of gauges that only some tiers have.
AT = {"lock waits": "d", "disk reads": "d", "replica lag": "d", "backlog": "q", "redeliveries": "q"}
AT["cold cache"] = "esd"
NAMING = ("time in call", "call time", "errors from call", "call errors", "~call failed")

HEADINGS = "TICK|LAST|EDGE|ALERTS|METRICS|TRACES|REQUESTED|LOGS|CHANGES|DIRECTORY|DECLARED|ASK"


def sort_of(word: str) -> str:
    """The sort of a sign's word."""
    if word.startswith("~"):
        return "log"
    return next((sort for sort, words in SORTS.items() if re.fullmatch(words, word)), "tier")


def found(pattern: str, text: str) -> re.Match[str]:
    """The one match of a pattern."""
    match = re.search(pattern, text)
    assert match is not None, pattern
    return match


def number(pattern: str, text: str, missing: float | None = None) -> float:
    """The figure that a pattern captures; ``missing`` where the text may not say it."""
    match = re.search(pattern, text)
    if match is None and missing is not None:
        return missing
    assert match is not None, pattern
    return float(match[1])


@dataclass
class Rules:
    """What the system prompt says."""

    text: str
    tiers: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    #: Of each kind: its class, the initials of its tiers, and whether errors lead.
    kinds: dict[str, tuple[str, str, bool]] = field(default_factory=dict)
    #: The initials of the tiers of each benign kind; "" for all.
    benign: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = self.text
        for part in found(r"SERVICES \(-> calls\)\. (.*)\.", text)[1].split(". "):
            tier, _, names = part.partition(": ")
            for row in names.split("; "):
                name, _, calls = row.partition(" -> ")
                self.tiers[name], self.calls[name] = tier, calls.split(", ") if calls else []
        self.fault = number(r"([\d.]+)% have one fault", text) / 100
        self.called_only = "one fault at any service that others call" in text
        listed = found(r"its class (.*?)% \(of", text)[1]
        self.classes = {
            name: float(share) for name, share in re.findall(r"([\w-]+) ([\d.]+)", listed)
        }
        pouring = re.search(r"under (.*?), all it calls", text)
        self.pouring = pouring[1].split(" or ") if pouring else []
        other = found(r"Others: (.*?)\.\n", text)[1]
        self.others = {
            name: float(share) / 100 for share, name in re.findall(r"([\d.]+)% (\w+)(?=,|$)", other)
        }
        self.minor = number(r"([\d.]+)% a minor fault", other, 0) / 100
        self.spared = found(r"not (\w+); signs", other)[1]
        self.clear = number(r"A reading shows it in ([\d.]+)%", text) / 100
        self.about = number(r"a log line in ([\d.]+)%", text) / 100
        self.gaps = number(r"no data in ([\d.]+)%", text) / 100
        self.noise = number(r"random services, ([\d.]+)% noise", text) / 100
        self.silent = int(number(r"Before tick (\d+) ALERTS and LOGS", text, 0))
        self._edge()
        self._runbook()

    def _edge(self) -> None:
        text = found(r"EDGE .*", self.text)[0]
        self.severities = [float(one) / 100 for one in re.findall(r"P\d ([\d.]+)%", text)[:3]]
        leads = found(r"alone ([\d.]+)%, both ([\d.]+)%, p99 alone ([\d.]+)%", text).groups()
        self.leads = [float(one) / 100 for one in leads]
        self.unmoved = number(r"P3: usual ([\d.]+)%", text) / 100
        self.calm = number(r"Benign: usual ([\d.]+)%", text) / 100
        slight = found(r"slight: ([\d.]+)-[\d.]+%, (\d+)-", text).groups()
        rule = re.findall(r"(P\d) from ([\d.]+)% or (\d+) ms", text)
        rule.append(("slight", *slight))
        self.bands = [(name, float(errors), float(p99)) for name, errors, p99 in reversed(rule)]

    # --- the runbook -------------------------------------------------------------------

    def _runbook(self) -> None:
        text, part, current = self.text.partition("\nRUNBOOK")[2], "", ""
        self.pairs = {
            letter: (first, second)
            for letter, first, second in re.findall(r"(\w) a/b: ([\w ]+), ([\w ]+)\.", text)
        }
        typical = re.search(r"Unless said, ! (.*?); others (.*?)\.", text)
        usual = typical.groups() if typical else ("", "")
        for line in text.splitlines()[1:]:
            name, _, signs = line.partition(": ")
            if re.fullmatch(r"[\w-]+ \(page .*\):", line):
                part, current = "kinds", line.partition(" (")[0]
            elif line.endswith(":"):
                part = "benign" if line.startswith("benign") else "other"
            elif part == "kinds":
                title, tiers, _ = name.split(" ")
                self.kinds[title.strip("!*")] = current, tiers, "!" in title
                shown = self._signs(usual["!" not in title]) | self._signs(signs)
                self.rows[title.strip("!*")] = grouped(shown)
            elif line.startswith("ANSWER"):
                break
            else:
                title, _, tiers = name.partition(" ")
                if part == "benign" and name not in ("all, else", "ANY"):
                    self.benign[title], name = tiers, title
                self.rows[name] = grouped(self._signs(signs))
        common = self.rows.pop("all, else", {})
        self.rows.setdefault("healthy", {})
        for name, row in self.rows.items():
            if name != "ANY":
                changes = {**common.get("change", {}), **row.get("change", {})}
                self.rows[name] = {**row, "change": changes}
        self._spread_rarer(text)
        words = [word for row in self.rows.values() for shares in row.values() for word in shares]
        self.trace_words = {
            "time": (
                "own time",
                next(one for one in words if re.fullmatch("time in call|call time", one)),
            ),
            "errors": (
                "own errors",
                next(one for one in words if re.fullmatch("errors from call|call errors", one)),
            ),
        }

    def _spread_rarer(self, text: str) -> None:
        """All that is said of rarer signs is from where to where their shares go."""
        self.rarer = {}
        for least, most, what in re.findall(r", (\d+)(?:-(\d+))? each other (sign|topic)", text):
            self.rarer[what] = (float(least) + float(most or least)) / 200
        for sort in (*SORTS, "tier", "log"):
            known = {word for row in self.rows.values() for word in row.get(sort, {})}
            share = self.rarer.get("topic" if sort == "log" else "sign", 0.0)
            shares = dict.fromkeys(known, share) | dict(self.rows["ANY"].get(sort, {}))
            self.rows["ANY"] = {**self.rows["ANY"], sort: shares}

    def _signs(self, text: str) -> dict[str, float]:
        """Signs with their shares: ``72 release, 25 hot, full, E 60/72``."""
        text = re.sub(r", [\d-]+ each other (sign|topic)", "", text)
        shown: dict[str, float] = {}
        for column, mark in zip(text.split("; "), ("", "~"), strict=False):
            shown |= {f"{mark}{word}": share for word, share in self._column(column).items()}
        return shown

    def _column(self, text: str) -> dict[str, float]:
        """Signs of one column: gauges and the like come first, then log topics."""
        shown: dict[str, float] = {}
        share = 0.0
        for part in filter(None, text.split(", ")):
            pair = re.fullmatch(r"(\w) (\d+)/(\d+)", part)
            if pair:
                for word, one in zip(self.pairs[pair[1]], pair.groups()[1:], strict=True):
                    shown[word] = float(one) / 100
                continue
            head, _, word = part.partition(" ")
            if head.isdigit():
                share = float(head) / 100
            shown[word if head.isdigit() else part] = share
        return shown

    def benign_at(self, service: str) -> list[str]:
        """The benign kinds that can look ill at a service."""
        initial = self.tiers[service][0]
        return [kind for kind, tiers in self.benign.items() if not tiers or initial in tiers]

    def kinds_at(self, service: str) -> list[str]:
        """The kinds that can strike a service."""
        initial = self.tiers[service][0]
        return [
            kind for kind, (_, tiers, _) in self.kinds.items() if tiers == "any" or initial in tiers
        ]


def grouped(signs: Mapping[str, float]) -> Row:
    """Signs by their sort."""
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for word, share in signs.items():
        rows[sort_of(word)][word] = share
    return rows


# --- what screens show ---------------------------------------------------------------------


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


# --- Bayes' rule ---------------------------------------------------------------------------


@dataclass
class Reader:
    """Weighs everything that the rules allow by what was seen."""

    seen: Seen

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.seen.rules

    def posterior(self, only: Sequence[str] = ()) -> dict[Suspect, float]:
        """The probability of every suspect, from readings of some sorts alone if ``only``."""
        rules = self.rules
        weights = {}
        alone = {service: self._unaffected(service, only) for service in rules.calls}
        for suspect, prior in self._prior():
            log = math.log(prior)
            if not only:
                log += math.log(self._edge(suspect))
            for service, (row, sick) in self._reached(suspect).items():
                log += math.log(self._shown(service, row, sick, only)) - math.log(alone[service])
            weights[suspect] = log
        top = max(weights.values())
        parts = {suspect: math.exp(log - top) for suspect, log in weights.items()}
        whole = sum(parts.values())
        return {suspect: part / whole for suspect, part in parts.items()}

    def _prior(self) -> Iterator[tuple[Suspect, float]]:
        rules = self.rules
        called = {one for calls in rules.calls.values() for one in calls}
        places = [one for one in rules.calls if one in called or not rules.called_only]
        for service in places:
            kinds = rules.kinds_at(service)
            classes = {rules.kinds[kind][0] for kind in kinds}
            share = sum(rules.classes[one] for one in classes)
            for kind in kinds:
                own = rules.kinds[kind][0]
                alike = sum(rules.kinds[one][0] == own for one in kinds)
                weight = rules.classes[own] / share / alike
                yield (kind, service), rules.fault * weight / len(places)
        benign = [(kind, one) for one in rules.calls for kind in rules.benign_at(one)]
        for suspect in benign:
            yield suspect, (1 - rules.fault) / len(benign)

    def _reached(self, suspect: Suspect) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The rows of the services that a suspect reaches, each with the sick ones it calls."""
        kind, root = suspect
        rows: dict[str, tuple[str, tuple[str, ...]]] = {root: (kind, ())}
        if kind in self.rules.benign:
            return rows
        calls = self.rules.calls
        sick = {root}
        while more := {one for one, called in calls.items() if sick.intersection(called)} - sick:
            sick |= more
        for one in sick - {root}:
            rows[one] = "waiting", tuple(name for name in calls[one] if name in sick)
        below = set(calls[root]) if kind in self.rules.pouring else set()
        while more := {one for name in below for one in calls[name]} - below:
            below |= more
        rows.update(dict.fromkeys(below, ("loaded", ())))
        return rows

    def _unaffected(self, service: str, only: Sequence[str]) -> float:
        rules = self.rules
        mixed = dict(rules.others)
        if rules.tiers[service] != rules.spared:
            kinds = rules.kinds_at(service)
            mixed |= dict.fromkeys(kinds, rules.minor / len(kinds))
        mixed["healthy"] = 1 - sum(mixed.values())
        likely = (share * self._shown(service, row, (), only) for row, share in mixed.items())
        return math.fsum(likely)

    def _shown(self, service: str, row: str, sick: tuple[str, ...], only: Sequence[str]) -> float:
        """How likely all readings of a service are under a row of the runbook."""
        likely = 1.0
        for (at, sort), cells in self.seen.readings.items():
            if at != service or (only and sort not in only):
                continue
            apart = [cell for cell in cells.values() if cell[0].startswith("silent")]
            silent = apart if row in self.rules.kinds else []
            rest = [cell for cell in cells.values() if cell not in silent]
            for group, name in ((rest, row), (silent, "healthy")):
                if group:
                    likely *= self._pooled(service, sort, name, sick, group)
        return likely

    def _pooled(
        self,
        service: str,
        sort: str,
        row: str,
        sick: tuple[str, ...],
        cells: Sequence[tuple[str, str]],
    ) -> float:
        """One sign that nobody saw, and readings that show it or what any service might."""
        initial = self.rules.tiers[service][0]
        signs = spread(self._there(row, sort, initial), sick)
        other = spread(self._there("ANY", sort, initial), self.rules.calls[service])
        readings = [(self._how(sort, how), sign) for how, sign in cells]
        total = 0.0
        for sign, share in signs.items():
            for (clear, rest, noise), shown in readings:
                share *= (
                    clear * (shown == sign)
                    + rest * other.get(shown, self.rules.rarer.get("topic", 0.0))
                    + noise * (not shown)
                )
            total += share
        return total

    def _there(self, row: str, sort: str, initial: str) -> Shares:
        """The signs of a row that a tier has."""
        shares = self.rules.rows[row].get(sort, {})
        return {word: one for word, one in shares.items() if initial in AT.get(word, initial)}

    def _how(self, sort: str, how: str) -> tuple[float, float, float]:
        """How often a reading shows its sign, what any service might, and noise."""
        rules = self.rules
        if sort == "log":
            noise = rules.noise if how.endswith("window") else 0.0
            return rules.about * (1 - noise), (1 - rules.about) * (1 - noise), noise
        gaps = 0.0 if sort in ("alert", "change") else rules.gaps
        return rules.clear, 1 - rules.clear - gaps, 0.0

    def _edge(self, suspect: Suspect) -> float:
        rules, shown = self.rules, self.seen.edge
        if suspect[0] in rules.benign:
            return rules.calm if shown == ("usual", "usual") else (1 - rules.calm) / 3 + 1e-12
        errors, both, p99 = rules.leads if rules.kinds[suspect[0]][2] else rules.leads[::-1]
        likely = 0.0
        for name, share in zip(("P1", "P2"), rules.severities, strict=False):
            for calm in ("usual", "slight"):
                likely += share * errors / 2 * (shown == (name, calm))
                likely += share * p99 / 2 * (shown == (calm, name))
            likely += share * both * (shown == (name, name))
        pictures = ((("slight", "usual"), errors), (("slight", "slight"), both))
        mild = sum(share * (shown == one) for one, share in pictures)
        mild += p99 * (shown == ("usual", "slight"))
        mild = rules.unmoved * (shown == ("usual", "usual")) + (1 - rules.unmoved) * mild
        return likely + rules.severities[2] * mild + 1e-12


def spread(shares: Shares, named: Sequence[str]) -> dict[str, float]:
    """Shares with what is as usual, signs that name a service spread evenly over ``named``."""
    signs: dict[str, float] = {}
    for word, share in shares.items():
        if word in NAMING and named:
            signs |= {f"{word}:{one}": share / len(named) for one in named}
        elif word not in NAMING:
            signs[word] = share
    return signs | {"": 1 - sum(signs.values())}
