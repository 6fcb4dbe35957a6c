"""A reader who knows the rules and the screens alone: Bayes' rule over what the text says."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.rendering.reader_rules import AT, NAMING, Rules, Shares
from tests.rendering.reader_screens import Seen

#: What is the matter, and where: of a kind, or of a benign one.
Suspect = tuple[str, str]
#: Before the name of a kind: a fault that nobody waits for.
MINOR = "minor "
#: The onset of what never shows.
NEVER = math.inf


@dataclass
class Reader:
    """Weighs everything that the rules allow by what was seen."""

    seen: Seen

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.seen.rules

    def posterior(self, only: Sequence[str] = ()) -> dict[Suspect, float]:
        """The probability of every suspect, from histories of some sorts alone if ``only``."""
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
            kinds = [kind for kind in rules.kinds_at(service) if kind not in rules.minor_alone]
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
            mixed |= dict.fromkeys((f"{MINOR}{kind}" for kind in kinds), rules.minor / len(kinds))
        mixed["healthy"] = 1 - sum(mixed.values())
        likely = (share * self._shown(service, row, (), only) for row, share in mixed.items())
        return math.fsum(likely)

    def _shown(self, service: str, row: str, sick: tuple[str, ...], only: Sequence[str]) -> float:
        """How likely all that a service shows is under a row of the runbook."""
        likely = 1.0
        for sort in dict.fromkeys(sort for at, sort in self.seen.every if at == service):
            if not only or sort in only:
                likely *= self._fits(service, sort, row, sick)
        return likely

    def _fits(self, service: str, sort: str, row: str, sick: tuple[str, ...]) -> float:
        """How likely a history fits its readings and, of a half of a trace, its alert."""
        initial = self.rules.tiers[service][0]
        signs = spread(self._there(row.removeprefix(MINOR), sort, initial), sick)
        other = spread(self._there("ANY", sort, initial), self.rules.calls[service])
        total = 0.0
        for fog, shares, onsets in (
            (1 - self.rules.fog, signs, self._begins(sort, row)),
            (self.rules.fog, other, self.rules.onsets["any"]),
        ):
            for sign, share in shares.items():
                for onset, weight in onsets.items() if sign else ((NEVER, 1.0),):
                    if self._agrees(service, sort, sign, onset):
                        alerts = self._alerts(service, sort, row, onset)
                        total += fog * share * weight * alerts
        return total

    def _begins(self, sort: str, row: str) -> dict[int, float]:
        """When a history begins that shows a sign of a row."""
        rules = self.rules
        if row.startswith(MINOR) or row == "healthy" or row in rules.others:
            return rules.onsets["any"]
        if sort == "change":
            return rules.onsets["change"]
        late = rules.silent is not None and sort == "log" and row in rules.kinds
        return rules.onsets["late" if late else "along"]

    def _agrees(self, service: str, sort: str, sign: str, onset: float) -> bool:
        """Whether a history shows what was read."""
        read = self.seen.readings.get((service, sort), {})
        return all(shown == (sign if tick >= onset else "") for tick, shown in read.items())

    def _alerts(self, service: str, sort: str, row: str, onset: float) -> float:
        """How likely an alert of a service fires since when it does, given what it watches."""
        seen, rules = self.seen, self.rules
        if (service, sort) not in seen.alerts:
            return 1.0
        since = seen.alerts[service, sort]
        if rules.silent is not None and row in rules.kinds:
            onset = max(onset, rules.silent)
        by_chance = rules.onsets["any"]
        if since is None:
            late = sum(share for tick, share in by_chance.items() if tick > seen.now)
            works = 1 - rules.missed - rules.noisy
            return works * (onset > seen.now) + rules.missed + rules.noisy * late
        works = 1 - rules.missed - rules.noisy
        return works * (since == onset) + rules.noisy * by_chance.get(since, 0.0)

    def _there(self, row: str, sort: str, initial: str) -> Shares:
        """The signs of a row that a tier has."""
        shares = self.rules.rows[row].get(sort, {})
        return {word: one for word, one in shares.items() if initial in AT.get(word, initial)}

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
