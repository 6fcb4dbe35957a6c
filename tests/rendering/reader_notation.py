"""What screens in notation show, read back into evidence by whoever knows the public rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from logtriage import RequestMoreLogs, State, initial_state, observe, render_observation, transition
from logtriage.evidence import simulation_of
from logtriage.world.channels import DOWN, GAP, LINES, NO_NEWS, SERIES, Channel, about, about_kind
from logtriage.world.schedule import alert_starts, epoch_starts
from logtriage.world.vocabulary import ALERT, CHANGE, LOG

#: A piece of evidence without its slot, which no screen shows: channel, service, start, token.
Piece = tuple[Channel, str, int, str]
#: Headings that hold no evidence.
OTHER = {"own", "closed", "severity", "cause", "paged"}


class NotationReader:
    """Reads the screens of an episode in order; of ``state`` it uses what is public alone."""

    def __init__(self, state: State) -> None:
        self.setting = simulation_of(state.incident).setting
        self.world = self.setting.world
        self.names = state.incident.topology.names
        self.state = state
        self.cells: dict[tuple[Channel, str, int, object], str] = {}
        self.edge, self.firing = "", dict.fromkeys(self.names, "none")

    @property
    def pieces(self) -> Counter[Piece]:
        """All that was read."""
        return Counter(
            (channel, service, start, token)
            for (channel, service, start, _), token in self.cells.items()
        )

    def take(self, screen: str) -> None:
        """Read one screen more."""
        head, *words = screen.split()
        now = int(head.partition("/")[0])
        last = [action for when, action in self.state.history if when == now - 1]
        asked = Channel.OVERVIEW if RequestMoreLogs(None) in last else Channel.LOGS
        silent = set(self.names) if asked is Channel.OVERVIEW else set()
        for heading, told in self._sections(words):
            match heading:
                case "edge":
                    (self.edge,) = told
                case "alert":
                    firing = {service: token for token, service in self._listed(told, ALERT)}
                    self.firing = {one: firing.get(one, "none") for one in self.names}
                case "change":
                    shown = {service: token for token, service in self._listed(told, CHANGE)}
                    for one in self.names:
                        self._add(Channel.CHANGE, one, 0, shown.get(one, "none"))
                case "log":
                    self._lines(Channel.WINDOW, self._listed(told, LOG), now)
                case "asked":
                    rows = list(self._listed(told, LOG))
                    self._lines(asked, rows, now)
                    silent -= {service for _, service in rows}
                case "down":
                    times = 1 if asked is Channel.OVERVIEW else LINES
                    self._lines(asked, [(DOWN, one) for one in told] * times, now)
                    silent -= set(told)
                case "metrics" | "traces":
                    self._readings(Channel(heading), told, now)
                case "note":
                    self._add(Channel.NOTE, "", now, self._note(told[1:]))
                case "eases" | "no_change":
                    self._add(Channel.EFFECT, "", now, heading)
                case _:
                    assert heading in OTHER, f"no heading that is known: {heading}: {told}"
        # Of a look at all services each that is not named has an everyday line.
        self._lines(asked, [(self.world.ordinary[LOG], one) for one in silent], now)
        doings = self.state.facts.doings
        self._add(Channel.EDGE, "", epoch_starts(now, doings)[-1], self.edge)
        if now in alert_starts(self.setting, now, doings):
            for one in self.names:
                self._add(Channel.ALERT, one, now, self.firing[one])

    def _sections(self, words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """The headings of a screen, each with the words behind it."""
        signs = {
            f"{word.replace(' ', '_')}:"
            for row in self.world.words.values()
            for word in row.values()
        }
        signs |= {f"{team}:" for team in self.state.incident.topology.teams}
        heading: str = ""
        told: list[str] = []
        for word in words:
            if word.endswith(":") and word not in signs and not word.startswith("="):
                yield from [(heading, told)] if heading else []
                heading, told = word[:-1], []
            else:
                told.append(word)
        yield heading, told

    def _listed(self, told: Iterable[str], sort: str) -> Iterator[tuple[str, str]]:
        """Tokens with the services that show them, as often as they do."""
        token, last = self.world.ordinary[sort], ""
        for word in told:
            match word[0], word[-1]:
                case _, ":":
                    token = self._token(sort, word[:-1])
                case ">", _:
                    token = about(token.partition(":")[0], self.names.index(word[1:]))
                case "*", _:
                    yield from [(token, last)] * (int(word[1:]) - 1)
                case _:
                    last = word
                    yield token, word

    def _readings(self, channel: Channel, told: Sequence[str], now: int) -> None:
        service, *rows = told
        sorts = self.world.slots[channel]
        starts = epoch_starts(now, self.state.facts.doings)[-SERIES:]
        usual = DOWN if rows == [DOWN] else None
        for start in starts:
            for sort in sorts:
                self._add(channel, service, start, usual or self.world.ordinary[sort], sort)
        start, sort, token = 0, "", ""
        for word in () if usual else rows:
            if word.startswith("@"):
                start = int(word[1:])
                assert start in starts
            elif word.startswith(">"):
                token = about(token, self.names.index(word[1:]))
                self._add(channel, service, start, token, sort)
            elif word.endswith("?"):
                self._add(channel, service, start, GAP, word[:-1])
            else:
                sort = next(one for one in sorts if word in self._words(one))
                token = self._token(sort, word)
                self._add(channel, service, start, token, sort)

    def _note(self, told: Sequence[str]) -> str:
        if told == [NO_NEWS]:
            return NO_NEWS
        service, sign, *named = told
        token = self._token(LOG, sign)
        token = about(token, self.names.index(named[0][1:])) if named else token
        return f"{self.names.index(service)}:{token}"

    def _words(self, sort: str) -> dict[str, str]:
        return {text.replace(" ", "_"): token for token, text in self.world.words[sort].items()}

    def _token(self, sort: str, word: str) -> str:
        return about_kind(word[1:]) if word.startswith("=") else self._words(sort)[word]

    def _lines(self, channel: Channel, rows: Iterable[tuple[str, str]], now: int) -> None:
        for token, service in rows:
            self._add(channel, service, now, token, len(self.cells))

    def _add(
        self, channel: Channel, service: str, start: int, token: str, part: object = None
    ) -> None:
        self.cells[channel, service, start, part] = token


def read_in_notation(states: Sequence[State]) -> NotationReader:
    """What the screens of an episode show, each of which says only what is new."""
    reader, before = NotationReader(states[-1]), None
    for state in states:
        seen = observe(state)
        reader.take(render_observation(seen, "notation", before=before))
        before = seen
    return reader


def in_notation(states: Sequence[State]) -> list[str]:
    """The screens of states in order, each with what is new since the one before it."""
    seen = [observe(state) for state in states]
    return [
        render_observation(one, "notation", before=before)
        for one, before in zip(seen, [None, *seen], strict=False)
    ]


def states_of(state: State) -> list[State]:
    """The states that led to one, from the first on."""
    states = [initial_state(state.incident)]
    for _, action in state.history:
        states.append(transition(states[-1], action))
    return states
