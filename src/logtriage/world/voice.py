"""Tokens become text and figures here. What renders knows no truth.

Everything is a function of the public topology, the seed, the phrasing group and the
tokens: hypotheses that give the same tokens give the same bytes. Figures belong to
(service, token), so that what is said twice is the same twice.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final

import attrs

from logtriage.rng import MASK, below, between, draw, hash_name, subkey
from logtriage.world.channels import DOWN, EARLIEST, NAMES, NO_NEWS, Channel, Evidence
from logtriage.world.figures import NOT_COLLECTED
from logtriage.world.liveliness import Reading
from logtriage.world.model import World
from logtriage.world.schema.forms import Source, filled, pieces, said
from logtriage.world.schema.tokens import AlertToken
from logtriage.world.spans import Spans
from logtriage.world.telemetry import LEVELS, TICK_SECONDS, Alert, Change, LogLine, Note

#: The levels of lines, and the pieces of their texts.
Phrases = tuple[tuple[str, tuple[str, ...]], ...]
VOICE_STREAM: Final = hash_name("voice")
_LINE_KEYS: Final = {channel: hash_name(f"lines {channel}") for channel in Channel}
#: Minutes before the window up to which changes are listed.
_LONG_AGO: Final = 100
#: The numbers of changes, least and most.
_NUMBERS: Final = (1000, 9999)


@attrs.frozen(cache_hash=True)
class Voice(Spans):
    """Words one incident's tokens. ``phrasing`` is the index of the group of texts."""

    phrasing: int

    @cached_property
    def _lines(self) -> int:
        return subkey(self.seed, VOICE_STREAM)

    # --- lines -----------------------------------------------------------------------

    def lines(self, cells: Sequence[Evidence]) -> list[LogLine]:
        """The log lines of cells, each within the 30 seconds before its tick."""
        names, counts = self.topology.names, self.world.tokens.line_figures.n
        lines: list[LogLine] = []
        for channel, service, slot, start, token in cells:
            if token == DOWN:
                if not lines or lines[-1].token != DOWN or lines[-1].service != names[service]:
                    lines.append(LogLine(0, names[service], LEVELS[0], NOT_COLLECTED, DOWN))
                continue
            key = subkey(self._lines, _LINE_KEYS[channel])
            bits = draw(key, service + 1 << 20 | slot, start - EARLIEST)
            level, text = self._phrase(service, token, bits)
            message = text[0]
            if len(text) > 1:
                source, words = Reading(self, bits, start), list(text)
                for place in range(1, len(text), 2):
                    name = text[place]
                    if name == "n":
                        words[place] = str(between(bits << 16 & MASK, *counts))
                    else:
                        words[place] = str(self.said(name, service, token, source))
                message = "".join(words)
            second = (start - 1) * TICK_SECONDS + 1 + below(bits << 32 & MASK, TICK_SECONDS - 1)
            lines.append(LogLine(second, names[service], level, message, token))
        return sorted(lines, key=lambda line: line.second)

    def said(self, name: str, service: int, token: str, source: Source) -> int | str:
        """What stands in a text where it has ``{name}``."""
        ranges = self.world.tokens.line_figures
        match name:
            case "ms":
                return source.figure(service, token, *ranges.ms)
            case "pct":
                return source.figure(service, f"{token}%", *ranges.pct)
            case "mb":
                return source.figure(service, f"{token}mb", *ranges.mb)
            case "v":
                return self.version(service, f"version {token}")
            case "dep":
                return self.dependency(token)
            case "cause":
                return self._past_cause(service, token)
        raise KeyError(name)

    def _phrase(self, service: int, token: str, bits: int) -> tuple[str, tuple[str, ...]]:
        """The level of a line, and the pieces of its text."""
        texts = self._phrases.get((service, token))
        if texts is None:
            tier = self.topology.services[service].tier
            texts = _phrases(self.world, token, tier, self.phrasing)
            self._phrases[service, token] = texts
        return texts[below(bits, len(texts))]

    @cached_property
    def _phrases(self) -> dict[tuple[int, str], Phrases]:
        return {}

    def _past_cause(self, service: int, token: str) -> str:
        """A cause that is over: any kind of the service's tier, by a hash."""
        kinds = self.world.kinds_at(self.topology.services[service].tier)
        kind = kinds[self.figure(service, f"past {token}", 0, len(kinds) - 1)]
        texts = kind.past.groups[self.phrasing]
        return texts[self.figure(service, f"past text {token}", 0, len(texts) - 1)]

    # --- panels ----------------------------------------------------------------------

    def alerts(self, cells: Sequence[Evidence]) -> tuple[Alert, ...]:
        """The alerts that fire at the latest scrape, and the tick since when they do."""
        firing: dict[tuple[int, str], int | None] = {}
        for cell in cells:
            rule = self._rules[cell.slot].name
            if cell.token != rule:
                firing[cell.service, rule] = None
            elif firing.get((cell.service, rule)) is None:
                firing[cell.service, rule] = cell.start
        titles, names = self.world.alerts, self.topology.names
        alerts = [
            Alert(names[service], titles[rule].title, since)
            for (service, rule), since in firing.items()
            if since is not None
        ]
        return tuple(sorted(alerts, key=lambda alert: alert.since))

    @cached_property
    def _rules(self) -> tuple[AlertToken, ...]:
        return self.world.tokens.alert.tokens

    def changes(self, cells: Sequence[Evidence]) -> tuple[Change, ...]:
        """The change feed, newest first. Minutes count back from tick 0."""
        return _changes(self, tuple(cells))

    def _worded_changes(self, cells: tuple[Evidence, ...]) -> tuple[Change, ...]:
        rows, known, sort = [], self.world.changes, self.world.tokens.change
        authors = sort.authors.groups[self.phrasing]
        begun: dict[int, Evidence] = {}
        for cell in cells:
            if cell.token in known:
                begun.setdefault(cell.service, cell)
        for service, cell in begun.items():
            change = known[cell.token]
            ago = -cell.start * TICK_SECONDS // 60
            if cell.start == EARLIEST:
                ago += self.figure(service, cell.token, 0, _LONG_AGO)
            detail = said(pieces(change.says), sort.figures, self, service, cell.token)
            number = self.figure(service, f"number {cell.token}", *_NUMBERS)
            author = authors[self.figure(service, f"author {cell.token}", 0, len(authors) - 1)]
            texts = change.about.groups[self.phrasing]
            about = texts[self.figure(service, f"about {cell.token}", 0, len(texts) - 1)]
            detail = f"{detail} #{number} by {author}: {about}"
            rows.append(Change(self.topology.names[service], change.kind, ago, detail, cell.token))
        return tuple(sorted(rows, key=lambda row: (row.minutes_ago, row.service)))

    # --- notes -----------------------------------------------------------------------

    def note(self, cell: Evidence, team: str) -> Note:
        """What the responders of a paged team write."""
        if cell.token == NO_NEWS:
            return Note(f"{team}: we are on it, nothing to add yet", team)
        number, _, token = cell.token.partition(":")
        service = int(number)
        bits = draw(self._lines, service + 1, hash_name(f"note {token}"))
        _, text = self._phrase(service, token, bits)
        count = self.figure(service, "note n", *self.world.tokens.line_figures.n)
        words = filled(
            text, lambda name: count if name == "n" else self.said(name, service, token, self)
        )
        name = self.topology.names[service]
        return Note(f"{team}: we see this at {name}: {words}", team, name, token)


@lru_cache(maxsize=4096)
def _phrases(world: World, token: str, tier: str, phrasing: int) -> Phrases:
    """The levels and the texts of lines with a token."""
    about = token if ":" not in token or token.startswith(NAMES) else token.partition(":")[0]
    return tuple([(level, pieces(text)) for level, text in world.phrases[about, tier][phrasing]])


#: One voice words every screen of an incident and keeps the keys of its streams.
voice_of: Final = lru_cache(maxsize=4096)(Voice)
#: The same change feed stands on every screen of an incident.
_changes: Final = lru_cache(maxsize=4096)(Voice._worded_changes)
