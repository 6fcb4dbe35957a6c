"""What the system prompt says, read by regular expressions alone.

Nothing of logtriage is imported. What a reader knows beyond the text is English: which words are
about the same reading.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: A sign, or "" for what is as usual.
Shares = Mapping[str, float]
#: By sort, the shares of its signs.
Row = Mapping[str, Shares]

#: Which words are about the same reading.
SORTS = {
    "time": r"own time|time in call|call time",
    "errors": r"own errors|errors from call|call errors", "change": r"release|config|traffic",
    "CPU": r"idle|hot", "memory": r"mem high|mem climbs", "workers": r"busy|full",
    "requests": r"load|new clients",
}  # fmt: skip
#: Words of gauges, and topics, that only some tiers have.
AT = {
    **dict.fromkeys(("lock waits", "disk reads", "replica lag"), "d"),
    **dict.fromkeys(("backlog", "redeliveries"), "q"),
    "cold cache": "esd",
    # topics
    **dict.fromkeys(("~slow read", "~locks", "~lag"), "d"),
    **dict.fromkeys(("~no conn", "~miss", "~odd login"), "esd"),
    "~retried": "q",
    "~pause": "esq",
}
SCRAPES = r"Scrapes: every (\d+) ticks from (-?\d+)"
NAMING = ("time in call", "call time", "errors from call", "call errors", "~call failed")


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
    #: Kinds that are only minor faults.
    minor_alone: set[str] = field(default_factory=set)
    #: The initials of the tiers of each benign kind; "" for all.
    benign: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = self.text
        for part in found(r"SERVICES \(.*?-> calls\)\. (.*)\.", text)[1].split(". "):
            tier, _, names = part.partition(": ")
            for row in names.split("; "):
                name, _, calls = re.sub(r"^\(\S+\) ", "", row).partition(" -> ")
                self.tiers[name], self.calls[name] = tier, calls.split(", ") if calls else []
        self.fault = number(r"([\d.]+)% have one fault", text) / 100
        self.called_only = "one fault at any service that others call" in text
        listed = found(r"of class (.*?)% \(of", text)[1]
        self.classes = {
            name: float(share) for name, share in re.findall(r"([\w-]+) ([\d.]+)", listed)
        }
        pouring = re.search(r"under (.*?), all that it calls", text)
        self.pouring = pouring[1].split(" or ") if pouring else []
        other = found(r"Others, each: (.*?)\.\n", text)[1]
        self.others: dict[str, float] = {}
        for share, names in re.findall(r"([\d.]+)% ((?:\w+, )*\w+)(?=;|$)", other):
            self.others |= dict.fromkeys(names.split(", "), float(share) / 100)
        self.minor = number(r"([\d.]+)% a minor fault", other, 0) / 100
        self.spared = found(r"not (\w+); signs", other)[1]
        self.fog = number(r"([\d.]+)% are coincidences", text) / 100
        assert "name its cause" not in text, "the reader knows no lines that name a cause"
        self._onsets()
        self.missed = number(r"([\d.]+)% never", text) / 100
        self.noisy = number(r"([\d.]+)% by chance at any time", text) / 100
        self._edge()
        self._runbook()

    def _onsets(self) -> None:
        """How likely a history begins at each tick, by what the service has to do with it."""
        text = found(r"ONSETS\. .*", self.text)[0]
        apart, first = (int(one) for one in found(SCRAPES, self.text).groups())
        long_before = number(r"coincidences too: ([\d.]+)% before tick", text) / 100
        latest = int(number(r"else any scrape to (\d+)\.", text))
        self.scrapes = range(first, latest + 1, apart)
        self.onsets = {"any": even(self.scrapes, 1 - long_before)}
        self.onsets["any"][first] += long_before
        shares = re.search(r"loaded: ([\d.%, ]+) at ticks ([-\d, ]+);", text)
        if shares:
            along, ticks = (re.findall(r"-?[\d.]+", one) for one in shares.groups())
            self.onsets["along"] = {
                int(tick): float(share) / 100 for tick, share in zip(ticks, along, strict=True)
            }
        else:
            begin, end = found(r"each at any scrape from tick (-?\d+) to (\d+)", text).groups()
            self.onsets["along"] = even(range(int(begin), int(end) + 1, apart))
        changes = found(r"changes there (-?\d+) or (-?\d+)\.", text).groups()
        self.onsets["change"] = even([int(one) for one in changes])
        late = re.search(r"own topic begins at tick (\d+) or (\d+), .* from (\d+) on", text)
        self.silent = int(late[3]) if late else None
        if late:
            self.onsets["late"] = even([int(one) for one in late.groups()[:2]])

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
        usual = {
            mark: signs
            for told in re.findall(r"Unless said, (.*?)\.", text)
            for mark, signs in re.findall(r"(!|others): ([^;]*)", told)
        }
        for line in text.splitlines()[1:]:
            name, _, signs = line.partition(": ")
            if re.fullmatch(r"[\w-]+ \(page .*\):", line):
                part, current = "kinds", line.partition(" (")[0]
            elif line.endswith(":"):
                part = "benign" if line.startswith("benign") else "other"
            elif part == "kinds":
                title, tiers, _ = name.split(" ")
                self.minor_alone |= {title.strip("!*")} if "*" in title else set()
                self.kinds[title.strip("!*")] = current, tiers, "!" in title
                shown = self._signs(usual.get("!" if "!" in title else "others", "")) | self._signs(
                    signs
                )
                self.rows[title.strip("!*")] = grouped(shown)
            elif line.startswith("ANSWER"):
                break
            else:
                title, _, tiers = name.partition(" ")
                if part == "benign" and name not in ("any service, else", "ANY"):
                    self.benign[title], name = tiers, title
                self.rows[name] = grouped(self._signs(signs))
        common = self.rows.pop("any service, else", {})
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
        rarer = text.partition(", other ")[2].partition("\n")[0]
        for what, least, most in re.findall(r"(sign|topic)s (\d+)(?:-(\d+))?", rarer):
            self.rarer[what] = (float(least) + float(most or least)) / 200
        for sort in (*SORTS, "tier", "log"):
            known = {word for row in self.rows.values() for word in row.get(sort, {})}
            share = self.rarer.get("topic" if sort == "log" else "sign", 0.0)
            shares = dict.fromkeys(known, share) | dict(self.rows["ANY"].get(sort, {}))
            self.rows["ANY"] = {**self.rows["ANY"], sort: shares}

    def _signs(self, text: str) -> dict[str, float]:
        """Signs with their shares: ``72 release, 25 hot, full``."""
        text = text.partition(", other ")[0]
        shown: dict[str, float] = {}
        for column, mark in zip(text.split("; "), ("", "~"), strict=False):
            shown |= {f"{mark}{word}": share for word, share in self._column(column).items()}
        return shown

    def _column(self, text: str) -> dict[str, float]:
        """Signs of one column: gauges and the like come first, then log topics."""
        shown: dict[str, float] = {}
        share = 0.0
        for part in filter(None, text.split(", ")):
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


def even(ticks: Iterable[int], whole: float = 1.0) -> dict[int, float]:
    """A whole in equal parts over ticks."""
    every = list(ticks)
    return dict.fromkeys(every, whole / len(every))


def grouped(signs: Mapping[str, float]) -> Row:
    """Signs by their sort."""
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for word, share in signs.items():
        rows[sort_of(word)][word] = share
    return rows
