"""A reader who knows the rules and the screens alone: Bayes' rule over what the text says."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.rendering.reader_rules import AT, NAMING, SORTS, Rules, Shares
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
                log += math.log(self._shown(service, row, sick, only, True)) - math.log(
                    alone[service]
                )
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
        likely = (
            share * self._shown(service, row, (), only, False) for row, share in mixed.items()
        )
        return math.fsum(likely)

    def _shown(
        self, service: str, row: str, sick: tuple[str, ...], only: Sequence[str], along: bool
    ) -> float:
        """How likely all that was seen of a service is under a row of the runbook.

        ``along``: the trouble reaches the service.
        """
        likely = 1.0
        for sort in (*SORTS, "tier", "log"):
            if not only or sort in only:
                likely *= self._history(service, sort, row, sick, along, alerts=not only)
        return likely

    def _history(
        self, service: str, sort: str, row: str, sick: tuple[str, ...], along: bool, alerts: bool
    ) -> float:
        """One history that nobody saw whole, and what was seen of it and of its alert."""
        rules, initial = self.rules, self.rules.tiers[service][0]
        seen = self.seen.readings.get((service, sort), {})
        watched = alerts and (service, sort) in self.seen.alerts
        if not seen and not watched:
            return 1.0
        root = along and row in rules.kinds
        part = "change" if sort == "change" else "late" if root and sort == "log" else "with"
        total = 0.0
        for share, signs, onsets in (
            (
                1 - rules.fog,
                spread(self._there(row, sort, initial), sick),
                part if along else "any",
            ),
            (rules.fog, spread(self._there("ANY", sort, initial), rules.calls[service]), "any"),
        ):
            known = {sign: one for sign, one in signs.items() if sign}
            for sign, one in known.items():
                for onset, chance in rules.onsets[onsets].items():
                    fits = all(
                        shown == (sign if tick >= onset else "") for tick, shown in seen.items()
                    )
                    if fits:
                        alert = self._alert(service, sort, onset, root) if watched else 1.0
                        total += share * one * chance * alert
            rare = rules.rarer.get("topic", 0.0) if onsets == "any" and sort == "log" else 0.0
            odd = [shown for shown in seen.values() if shown and shown not in signs]
            total += share * rare * bool(odd)
            if not any(seen.values()):
                alert = self._alert(service, sort, None, root) if watched else 1.0
                total += share * signs[""] * alert
        return total

    def _alert(self, service: str, sort: str, onset: int | None, root: bool) -> float:
        """How likely an alert is what it is, if what it watches began at a tick, or never."""
        rules, since, now = self.rules, self.seen.alerts[service, sort], self.seen.now
        if onset is not None and root:
            onset = max(onset, rules.silent)
        by_chance = rules.onsets["any"]
        if since is None:
            chance = sum(share for tick, share in by_chance.items() if tick > now)
            works = onset is None or onset > now
        else:
            chance, works = by_chance.get(since, 0.0), onset == since
        quiet = rules.missed if since is None else 0.0
        return (1 - rules.missed - rules.noisy) * works + quiet + rules.noisy * chance

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
