"""What screens in notation show, read back into evidence by whoever knows the public rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from logtriage import RequestMoreLogs, State, initial_state, observe, render_observation, transition
from logtriage.evidence import simulation_of
from logtriage.world.channels import DOWN, NO_NEWS, Channel, about, about_kind
from logtriage.world.schedule import edge_starts, scrapes
from logtriage.world.vocabulary import CHANGE, LOG

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
        self.edge = ""
        #: By service and rule, the tick since which an alert fires.
        self.firing: dict[tuple[str, str], int] = {}
        #: By service, its change and the minutes before tick 0.
        self.changed: dict[str, tuple[str, int]] = {}

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
        silent: set[str] = set()
        read = scrapes(now, self.state.facts.doings)
        for heading, told in self._sections(words):
            match heading:
                case "edge":
                    (self.edge,) = told
                case "alert":
                    self.firing = {
                        (service, rule): int(since)
                        for rule, row in self._listed(told, self._alerts)
                        for service, since in [row.split("@")]
                    }
                case "change":
                    for token, row in self._listed(told, self._words(CHANGE)):
                        service, minutes = row.split("@")
                        self.changed[service] = token, int(minutes)
                case "log":
                    self._lines(Channel.WINDOW, self._listed(told, self._words(LOG)), now)
                case "asked":
                    rows = list(self._listed(told, self._words(LOG)))
                    self._lines(Channel.OVERVIEW, rows, read[-1])
                    silent = set(self.names) - {service for _, service in rows}
                    silent -= self._asked_alone(now)
                case "down":
                    self._lines(Channel.OVERVIEW, [(DOWN, one) for one in told], read[-1])
                    silent -= set(told)
                case "logs" | "metrics" | "traces":
                    self._readings(Channel(heading), told, read)
                case "note":
                    self._add(Channel.NOTE, "", now, self._note(told[1:]))
                case "eases" | "no_change":
                    self._add(Channel.EFFECT, "", now, heading)
                case _:
                    assert heading in OTHER, f"no heading that is known: {heading}: {told}"
        # Of a look at all services each that is not named has an everyday line.
        everyday = self.world.ordinary[LOG]
        self._lines(Channel.OVERVIEW, [(everyday, one) for one in silent], read[-1])
        self._add(Channel.EDGE, "", edge_starts(now, self.state.facts.doings)[-1], self.edge)
        if not now or read[-1] == now:
            self._panels(read if not now else read[-1:])

    def _panels(self, ticks: Sequence[int]) -> None:
        """Alerts and changes at scrapes, as they stand on the screen."""
        quiet, unchanged = self.world.tokens.alert.ordinary, self.world.ordinary[CHANGE]
        for name in self.names:
            change, minutes = self.changed.get(name, (unchanged, 0))
            for tick in ticks:
                for rule in self.world.alerts:
                    since = self.firing.get((name, rule))
                    token = quiet if since is None or tick < since else rule
                    self._add(Channel.ALERT, name, tick, token, rule)
                begun = minutes >= -tick // 2
                self._add(Channel.CHANGE, name, tick, change if begun else unchanged)

    def _asked_alone(self, now: int) -> set[str]:
        """The services of which somebody asked for all lines in the last tick."""
        return {
            action.service
            for when, action in self.state.history
            if when == now - 1 and isinstance(action, RequestMoreLogs) and action.service
        }

    @property
    def _alerts(self) -> dict[str, str]:
        return {rule: rule for rule in self.world.alerts}

    def _sections(self, words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """The headings of a screen, each with the words behind it."""
        signs = {
            f"{word.replace(' ', '_')}:"
            for row in self.world.words.values()
            for word in row.values()
        }
        signs |= {f"{rule}:" for rule in self.world.alerts}
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

    def _listed(self, told: Iterable[str], words: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Tokens with the services that show them, as often as they do."""
        token, last = self.world.ordinary[LOG], ""
        for word in told:
            match word[0], word[-1]:
                case _, ":":
                    token = self._token(words, word[:-1])
                case ">", _:
                    token = about(token.partition(":")[0], self.names.index(word[1:]))
                case "*", _:
                    yield from [(token, last)] * (int(word[1:]) - 1)
                case _:
                    last = word
                    yield token, word

    def _readings(self, channel: Channel, told: Sequence[str], ticks: Sequence[int]) -> None:
        service, *rows = told
        sorts = self.world.slots.get(channel, (LOG,))
        down = rows == [DOWN]
        shown = {sort: DOWN if down else self.world.ordinary[sort] for sort in sorts}
        changes: dict[int, list[str]] = {}
        for word in () if down else rows:
            if word.startswith("@"):
                row = changes[int(word[1:])] = []
            else:
                row.append(word)
        assert set(changes) <= set(ticks)
        for tick in ticks:
            if tick in changes:
                shown = self._shown(sorts, changes[tick])
            for sort, token in shown.items():
                self._add(channel, service, tick, token, sort)

    def _shown(self, sorts: Iterable[str], words: Iterable[str]) -> dict[str, str]:
        """The tokens that words say, by their sort; of the others the ordinary ones."""
        shown, sort = {sort: self.world.ordinary[sort] for sort in sorts}, ""
        for word in words:
            if word.startswith(">"):
                shown[sort] = about(shown[sort], self.names.index(word[1:]))
            elif word != "usual":
                sort = next(one for one in shown if word[0] == "=" or word in self._words(one))
                shown[sort] = self._token(self._words(sort), word)
        return shown

    def _note(self, told: Sequence[str]) -> str:
        if told == [NO_NEWS]:
            return NO_NEWS
        service, sign, *named = told
        token = self._token(self._words(LOG), sign)
        token = about(token, self.names.index(named[0][1:])) if named else token
        return f"{self.names.index(service)}:{token}"

    def _words(self, sort: str) -> dict[str, str]:
        return {text.replace(" ", "_"): token for token, text in self.world.words[sort].items()}

    def _token(self, words: dict[str, str], word: str) -> str:
        return about_kind(word[1:]) if word.startswith("=") else words[word]

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
