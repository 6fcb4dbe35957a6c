"""Draws of what might be seen next, given a belief: for expectations that no table holds.

Draws are counter-based: the same state, action and number of draws give the same
samples on every machine. Nothing here reads an incident's truth.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

from logtriage.beliefs.edges import kept_row
from logtriage.beliefs.fixedpoint import exp2
from logtriage.beliefs.model import NONE, reader_of
from logtriage.beliefs.outcomes import UNSEEN, Outcome, fitting
from logtriage.beliefs.posterior import Posterior
from logtriage.rng import draw, hash_name, subkey
from logtriage.world.channels import DOWN, Channel, Evidence
from logtriage.world.conditions import Condition, errors_first
from logtriage.world.edge import edge_signs, read_edge
from logtriage.world.histories import (
    NEVER,
    Part,
    Rule,
    blinded,
    fires_from,
    instant_of,
    onsets,
    rule_weights,
)
from logtriage.world.outcomes import edge_state, elsewhere, fixed_at, spell
from logtriage.world.schedule import Cell, Doings
from logtriage.world.setting import FULL, Setting
from logtriage.world.tables import Place, alphabet

IMAGINED: Final = hash_name("imagined")


class Imagination:
    """A stream of draws, keyed by a name and counters."""

    def __init__(self, name: str, *counters: int) -> None:
        self._key = subkey(hash_name(name), IMAGINED)
        for counter in counters:
            self._key = subkey(self._key, counter)
        self._count = 0

    def point(self) -> int:
        """A whole number below 65,536."""
        self._count += 1
        return draw(self._key, self._count) >> 48

    def pick(self, row: Iterable[int]) -> int:
        """A random index, drawn in proportion to ``row``, a row of whole-number weights."""
        return self.fall(list(accumulate(row)))

    def fall(self, steps: Sequence[int]) -> int:
        """A random index like :meth:`pick`, from cumulative weights ``steps``; 0 if all are 0."""
        self._count += 1
        point = draw(self._key, self._count) * steps[-1] >> 64
        return bisect_right(steps, point) if steps[-1] else 0


def imagine(
    held: Posterior, place: int, cells: Iterable[Cell], doings: Doings, chance: Imagination
) -> list[Evidence]:
    """The cells with tokens drawn under the hypothesis at ``place`` in the posterior."""
    imagined = _Imagined(held, place, doings, chance)
    return [Evidence(*cell, imagined.token(cell)) for cell in cells]


class _Imagined:
    """Histories drawn under one hypothesis: each once, given what was seen of it."""

    def __init__(self, held: Posterior, place: int, doings: Doings, chance: Imagination) -> None:
        self._held, self._seen, self._listed = held, held.outcomes, held.listed
        self._model, self._doings, self._chance = held.model, doings, chance
        self._hypothesis = held.hypothesis(place)
        reached = held.listed.place[held.rows[place]].tolist()
        self._conditions = [
            chance.pick(weights) if condition == NONE else condition
            for condition, weights in zip(reached, held.own.tolist(), strict=True)
        ]
        self._severity = chance.pick(held.severities[place].tolist())
        self._fixed = fixed_at(held.model.world, held.model.topology, self._hypothesis, doings)
        self._edges: dict[int, int] = {}
        self._drawn: dict[tuple[int, str, int], tuple[str, int, int]] = {}
        self._down: dict[tuple[int, Channel], bool] = dict(held.outcomes.down)

    def token(self, cell: Cell) -> str:
        """The token that a cell holds."""
        channel, service, _, start = cell
        if channel is Channel.EDGE:
            return self._panel(start)
        if service >= 0:
            return self._read(cell)
        model, directory = self._model, self._held.directory
        tokens, row = elsewhere(
            model.setting, model.topology, directory, self._hypothesis, cell, self._doings
        )
        return tokens[self._chance.pick(row)]

    def _read(self, cell: Cell) -> str:
        """The token of a service's cell."""
        channel, service, slot, start = cell
        model, world = self._model, self._model.world
        if self._is_down(service, channel):
            return DOWN
        sort, begin, end = world.sort_of(channel, slot), 0, None
        condition = self._listed.conditions[service][self._conditions[service]]
        if channel is not Channel.CHANGE:
            condition, begin, end = spell(
                world, model.topology, self._hypothesis, self._doings, start, service, condition
            )
        key = service, sort, begin
        if key not in self._drawn:
            outcome = self._outcome(service, sort, begin, end)
            self._drawn[key] = self._history(service, sort, condition, outcome)
        token, onset, fires = self._drawn[key]
        instant = instant_of(start)
        if channel is Channel.ALERT:
            alert = world.tokens.alert
            return alert.tokens[slot].name if instant >= fires else alert.ordinary
        return token if instant >= onset else world.ordinary[sort]

    def _outcome(self, service: int, sort: str, begin: int, end: int | None) -> Outcome:
        """What was seen of a history from tick ``begin`` to ``end`` (None: it still lasts)."""
        seen = self._seen
        if begin and begin - 1 not in seen.breaks:  # it begins with the imagined remedy
            return UNSEEN._replace(begin=begin)
        last = seen.last if end is None else bisect_left(seen.breaks, end)
        return seen.outcome(service, sort, bisect_left(seen.breaks, begin), last)

    def _history(
        self, service: int, sort: str, condition: Condition, outcome: Outcome
    ) -> tuple[str, int, int]:
        """A history that fits ``outcome``: (token, onset, instant from which its alert fires)."""
        reader, setting = self._listed.readers[service], self._model.setting
        steps, width = _steps(setting, reader.place, sort, condition, outcome)
        index, onset = divmod(self._chance.fall(steps), width)
        if not index:  # the ordinary token: usual all along
            onset = NEVER
        elif outcome.begin:
            onset = instant_of(outcome.begin)
        by_chance = _noisy_steps(setting, outcome.quiet, outcome.fired)
        fires = {
            Rule.WORKS: fires_from(setting, condition, onset),
            Rule.MISSES: NEVER,
            Rule.NOISY: self._chance.fall(by_chance),
        }
        rules = rule_weights(setting.world)
        weights = []
        for rule, weight in rules:
            fits = outcome.quiet < fires[rule] <= outcome.fired
            weights.append(weight * fits * (by_chance[-1] if rule is Rule.NOISY else FULL))
        if not any(weights):
            weights = [weight for _, weight in rules]
        rule, _ = rules[self._chance.pick(weights)]
        return alphabet(setting, sort, reader.place)[index], onset, fires[rule]

    def _is_down(self, service: int, channel: Channel) -> bool:
        part = blinded(channel)
        if part is None:
            return False
        if (service, part) not in self._down:
            point = self._chance.point()
            self._down[service, part] = point < self._model.setting.blind_weight
        return self._down[service, part]

    def _panel(self, start: int) -> str:
        setting = self._model.setting
        severity, begin = edge_state(self._hypothesis, self._severity, self._fixed, start)
        first = errors_first(setting.world, self._hypothesis)
        if begin not in self._edges:
            panels = []  # those of the same token
            for panel in self._seen.edge:
                _, since = edge_state(self._hypothesis, self._severity, self._fixed, panel.start)
                if since == begin:
                    panels.append(panel)
            logs = kept_row(setting, severity, first, panels)
            self._edges[begin] = self._chance.pick(exp2(logs - logs.max()).tolist())
        tokens, _ = edge_signs(setting, severity, first)
        sign = tokens[self._edges[begin]]
        return read_edge(setting, severity, sign, start, self._chance.point())


@lru_cache(maxsize=1 << 11)
def _steps(
    setting: Setting, place: Place, sort: str, condition: Condition, outcome: Outcome
) -> tuple[Sequence[int], int]:
    """(cumulative masses of the histories that fit, by token, then onset; number of onsets)."""
    masses = fitting(reader_of(setting, place, (condition,)), sort, outcome)[0]
    return array("q", masses.cumsum().tobytes()), masses.shape[1]


@lru_cache(maxsize=1 << 12)
def _noisy_steps(setting: Setting, quiet: int, fired: int) -> tuple[int, ...]:
    """Cumulative weights of the instants, in (quiet, fired], from which a noisy alert may fire."""
    weights = enumerate(onsets(setting, Part.ANY))
    return tuple(accumulate(weight * (quiet < at <= fired) for at, weight in weights))
