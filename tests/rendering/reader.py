"""A reader who knows the rules and the screens alone: Bayes' rule over what the text says."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.rendering.reader_rules import AT, NAMING, Rules, Shares
from tests.rendering.reader_screens import Seen

#: What is the matter, and where: of a kind, or of a benign one.
Suspect = tuple[str, str]


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
