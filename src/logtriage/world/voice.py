"""Turn tokens into text and figures, without the truth.

Everything is a function of the public topology, the seed, the phrasing group and the tokens.
Figures depend on (service, token). The frame of a message (pod, request, repetitions) depends on
the service, the tick and the line, never on the token.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeVar

import attrs

from logtriage.rng import MASK, below, between, draw, hash_name, subkey
from logtriage.world.channels import DOWN, EARLIEST, NAMES, NO_NEWS, Channel, Evidence
from logtriage.world.figures import NOT_COLLECTED
from logtriage.world.model import World
from logtriage.world.schema.forms import pieces, said
from logtriage.world.schema.parts import Technology
from logtriage.world.spans import Spans
from logtriage.world.telemetry import LEVELS, TICK_SECONDS, Alert, Change, LogLine, Note

_Choice = TypeVar("_Choice")
VOICE_STREAM: Final = hash_name("voice")
_LINE_KEYS: Final = {channel: hash_name(f"lines {channel}") for channel in Channel}
#: The streams of the frames of messages: request names, and what stays the same for a service.
_TRACES: Final = hash_name("requests of a scrape")
_PLACES: Final = hash_name("where services run")
#: Requests in flight at a tick, shared by the lines of all services.
_IN_FLIGHT: Final = 24
#: One line in _REPEATED stands for several events, at most _REPEATS.
_REPEATED: Final = 8
_REPEATS: Final = 20
#: Placeholders that differ between events: lines with them do not stand for several.
_UNIQUE: Final = frozenset({"id", "ip", "ms", "fast"})
#: Words of a frame that a process keeps in all its lines.
_SESSION: Final = frozenset({"user", "db"})
_POD_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
#: The most minutes before the earliest scrape at which a change is listed.
_LONG_AGO: Final = 100
#: The numbers of changes, least and most.
_NUMBERS: Final = (1000, 9999)


class Wording(NamedTuple):
    """A way to say a topic: its level, the pieces of its text, and a hash of the text."""

    level: str
    text: tuple[str, ...]
    key: int


@attrs.frozen(cache_hash=True)
class Voice(Spans):
    """Makes words of one incident's tokens; ``phrasing`` is the index of the group of texts."""

    phrasing: int

    @cached_property
    def _lines(self) -> int:
        return subkey(self.seed, VOICE_STREAM)

    # --- lines -----------------------------------------------------------------------

    def lines(self, cells: Sequence[Evidence]) -> list[LogLine]:
        """The log lines of cells, each within the 30 seconds before its tick."""
        names = self.topology.names
        lines: list[LogLine] = []
        for channel, service, slot, start, token in cells:
            if token == DOWN:
                if not lines or lines[-1].token != DOWN or lines[-1].service != names[service]:
                    lines.append(LogLine(0, names[service], LEVELS[0], NOT_COLLECTED, DOWN))
                continue
            key = subkey(self._lines, _LINE_KEYS[channel])
            bits = draw(key, service + 1 << 20 | slot, start - EARLIEST)
            phrase = self._phrase(service, token, bits)
            text = self._fill(phrase, service, token, bits)
            message = self._framed(phrase, service, start, text, bits)
            bare = None if self._technologies[service] is None else text
            second = (start - 1) * TICK_SECONDS + 1 + below(bits << 32 & MASK, TICK_SECONDS - 1)
            lines.append(LogLine(second, names[service], phrase.level, message, token, bare))
        return sorted(lines, key=lambda line: line.second)

    def _fill(self, phrase: Wording, service: int, token: str, bits: int) -> str:
        """The text of a wording, with values that ``bits`` decide in place of placeholders."""
        words = list(phrase.text)
        for place in range(1, len(words), 2):
            words[place] = str(self._word(words[place], place, service, token, bits))
        return "".join(words)

    def _framed(self, phrase: Wording, service: int, start: int, text: str, bits: int) -> str:
        """A message in the frame of the service's technology; the bare text if it has none."""
        technology = self._technologies[service]
        if technology is None:
            return text
        more = draw(bits, 0, 1)
        if not below(more, _REPEATED) and not _UNIQUE.intersection(phrase.text[1::2]):
            text = f"{text} (x{between(more << 16 & MASK, 2, _REPEATS)})"
        of_wording = draw(self._places, service + 1, phrase.key)
        words = list(self._frame(service, technology))
        for place in range(1, len(words), 2):
            match words[place]:
                case "text":
                    words[place] = text
                case "level":
                    words[place] = technology.levels[phrase.level]
                case "trace":
                    words[place] = self._request(start, below(more << 32 & MASK, _IN_FLIGHT))
                case name:
                    choices = technology.words[name]
                    kept = draw(self._places, service + 1) if name in _SESSION else of_wording
                    words[place] = choices[below(kept << 4 * place & MASK, len(choices))]
        return "".join(words)

    def _request(self, start: int, number: int) -> str:
        """The id of the request of this number that is in flight at a tick."""
        return f"{draw(self._requests_key, start - EARLIEST, number) >> 32:08x}"

    @cached_property
    def _requests_key(self) -> int:
        return subkey(self._lines, _TRACES)

    @cached_property
    def _technologies(self) -> tuple[Technology | None, ...]:
        return tuple(map(self.world.technology_of, self.topology.services))

    @cached_property
    def _frames(self) -> dict[int, tuple[str, ...]]:
        return {}

    def _frame(self, service: int, technology: Technology) -> tuple[str, ...]:
        """The pieces of the frame of a service, with its pod and process filled in."""
        if service not in self._frames:
            line = technology.line
            for name in ("pod", "pid"):
                bits = draw(self._places, service + 1, hash_name(name))
                line = line.replace(f"{{{name}}}", _pod_or_pid(name, bits))
            self._frames[service] = pieces(line)
        return self._frames[service]

    @cached_property
    def _places(self) -> int:
        return subkey(self._lines, _PLACES)

    def _word(self, name: str, place: int, service: int, token: str, bits: int) -> int | str:
        """The value of placeholder ``{name}`` in a line."""
        ranges = self.world.tokens.line_figures
        match name:
            case "n" | "ms" | "fast" | "pct" | "mb" | "bytes":
                return between(draw(bits, place), *getattr(ranges, name))
            case "id":
                return f"{draw(bits, place) >> 40:06x}"
            case "ip":
                own = draw(bits, place)
                return f"10.{own >> 56}.{own >> 48 & 255}.{1 + (own >> 40 & 255) % 254}"
            case "v":
                return self.version(service, f"version {token}")
            case "dep":
                return self.dependency(token)
            case "cause":
                return self._past_cause(service, token)
        technology = self._technologies[service]
        assert technology is not None  # only texts of technologies have other placeholders
        words = technology.words[name]
        return words[below(draw(bits, place), len(words))]

    def _phrase(self, service: int, token: str, bits: int) -> Wording:
        """The wording of a token at a service that ``bits`` pick."""
        texts = self._phrases.get((service, token))
        if texts is None:
            texts = _wordings(self.world, token, self._technologies[service], self.phrasing)
            self._phrases[service, token] = texts
        return texts[below(bits, len(texts))]

    @cached_property
    def _phrases(self) -> dict[tuple[int, str], tuple[Wording, ...]]:
        return {}

    def _past_cause(self, service: int, token: str) -> str:
        """The name of a past fault: of any kind at the service's tier, drawn for the token."""
        kinds = self.world.kinds_at(self.topology.services[service].tier)
        kind = self._one_of(kinds, service, f"past {token}")
        return self._one_of(kind.past.groups[self.phrasing], service, f"past text {token}")

    def _one_of(self, choices: Sequence[_Choice], service: int, key: str) -> _Choice:
        return choices[self.figure(service, key, 0, len(choices) - 1)]

    # --- panels ----------------------------------------------------------------------

    def alerts(self, cells: Sequence[Evidence]) -> tuple[Alert, ...]:
        """The alerts that fire at the last scrape, since when; ``cells`` are in order of ticks."""
        rules, names = self.world.tokens.alert.tokens, self.topology.names
        firing: dict[tuple[int, int], int | None] = {}
        for _, service, slot, start, token in cells:
            if token != rules[slot].name:
                firing[service, slot] = None
            elif firing.get((service, slot)) is None:
                firing[service, slot] = start
        alerts = [
            Alert(names[service], rules[slot].title, since)
            for (service, slot), since in firing.items()
            if since is not None
        ]
        return tuple(sorted(alerts, key=lambda alert: alert.since))

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
            author = self._one_of(authors, service, f"author {cell.token}")
            about = self._one_of(change.about.groups[self.phrasing], service, f"about {cell.token}")
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
        words = self._fill(self._phrase(service, token, bits), service, token, bits)
        name = self.topology.names[service]
        return Note(f"{team}: we see this at {name}: {words}", team, name, token)


def _pod_or_pid(name: str, bits: int) -> str:
    """The end of a pod's name, or a process id if ``name`` is ``pid``."""
    if name == "pid":
        return str(1 + below(bits, 32_000))
    letters = (_POD_LETTERS[(bits >> 8 * at) % len(_POD_LETTERS)] for at in range(5))
    return "".join(letters)


@lru_cache(maxsize=4096)
def _wordings(
    world: World, token: str, technology: Technology | None, phrasing: int
) -> tuple[Wording, ...]:
    """The wordings of lines with a token, in a group of phrasings."""
    name = token.partition(":")[0]
    about = token if name == NAMES else name  # the words of a cause depend on its kind
    texts = world.phrases(about, technology)[phrasing]
    return tuple([Wording(level, pieces(text), hash_name(text)) for level, text in texts])


#: One voice words every screen of an incident and keeps the keys of its streams.
voice_of: Final = lru_cache(maxsize=4096)(Voice)
#: The same change feed stands on every screen of an incident.
_changes: Final = lru_cache(maxsize=4096)(Voice._worded_changes)
