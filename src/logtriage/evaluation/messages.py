"""What reports tell: bits about the truth, given what the listener knew.

A report that holds tokens (:mod:`logtriage.policies.told_tokens`) is evidence like any
other, and Bayes' rule says what it tells. Words of a numeric agent, such as a fault kind or a
service, may mean anything: how often a speaker says each word under each truth is counted in all
other episodes. Any other report counts as unread.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log2

import attrs

from logtriage.actions import Report
from logtriage.beliefs import Belief
from logtriage.beliefs.beliefs import belief_of
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.evidence import evidence
from logtriage.incident import Incident
from logtriage.joint import hears
from logtriage.policies.told_tokens import read
from logtriage.roles import RoleSplit
from logtriage.roles.words import NO_FAULT, report_words
from logtriage.state import State
from logtriage.world.channels import Evidence
from logtriage.world.conditions import Hypothesis

#: The first scored episodes that are measured.
EPISODES = 50
#: The weight of a speaker's habits beside what was counted under a truth.
PRIOR_COUNT = 2.0
#: A truth that was talked out of all belief counts as this likely.
LEAST = 2.0**-30


@attrs.frozen
class Messages:
    """The reports of some episodes.

    ``each`` is the mean of reports an episode. ``bits`` is what a report told a listener
    whom it reached about the truth, the mean over ``read`` of ``heard`` such pairs: those
    whose words could be read. Bits are negative where a report misled.
    """

    episodes: int
    each: float
    heard: int
    read: int
    bits: Interval | None


@attrs.frozen
class Heard:
    """A report that reached a listener while the incident was open.

    It was made in tick ``when``, and came up on the listener's screen of tick ``at``. ``bits``
    is what it told the listener about the truth; None if its words could not be read.
    """

    when: int
    report: Report
    listener: str
    at: int
    bits: float | None = None


def messages_of(
    states: Sequence[State], split: RoleSplit, episodes: int = EPISODES
) -> Messages | None:
    """The messages in the first ``episodes`` that a team of ``split`` has played.

    None for a team of one, where nobody may report, where no probabilities are known, and
    where several faults may be the truth at once: sets of them have no words.
    """
    reader = Reader.of(states, split, episodes)
    if reader is None:
        return None
    first = reader.states
    heard = [row for state in first for row in reader.heard(state)]
    bits = [row.bits for row in heard if row.bits is not None]
    each = sum(len(state.facts.reports) for state in first) / len(first)
    return Messages(len(first), each, len(heard), len(bits), mean_interval(bits))


def deliveries(state: State, split: RoleSplit) -> Iterator[Heard]:
    """Every report with each listener that it reached while the incident was open."""
    for when, report in state.facts.reports:
        for role in split.roles:
            if report.by == role.name or "reports" not in role.views:
                continue
            at = when + 1 + role.delay
            if at < state.tick and hears(_until(state, at), role, when, report):
                yield Heard(when, report, role.name, at)


@attrs.frozen(eq=False)
class Reader:
    """Values the reports of a team; words get their meaning from these ``states``."""

    states: tuple[State, ...]
    split: RoleSplit
    codes: "_Codes"

    @classmethod
    def of(
        cls, states: Iterable[State], split: RoleSplit, episodes: int = EPISODES
    ) -> "Reader | None":
        """The reader of the first ``episodes`` of a team; None as :func:`messages_of`."""
        first = tuple(
            state
            for state in islice(states, episodes)
            if state.history
            and (setting := state.incident.setting) is not None
            and not setting.several
        )
        if len(split) < 2 or not first or not any("report" in role.may for role in split.roles):
            return None
        return cls(first, split, _Codes(first))

    def heard(self, state: State) -> Iterator[Heard]:
        """:func:`deliveries` of an episode with their bits; it need not be one of ``states``."""
        for delivery in deliveries(state, self.split):
            bits = self._bits(delivery, _until(state, delivery.at))
            yield attrs.evolve(delivery, bits=bits)

    def _bits(self, delivery: Heard, state: State) -> float | None:
        """The bits of a report about the truth, for its listener, in the state where it came up."""
        world, listener = state.incident.simulation, self.split.role(delivery.listener)
        assert world is not None  # others were left out
        cells = {each.cell: each for each in evidence(state, listener)}
        for when, report in state.facts.reports:
            if when < delivery.when and hears(state, listener, when, report):
                for each in _tokens(state, when, report):
                    cells.setdefault(each.cell, each)
        before = belief_of(state, tuple(cells.values()), listener)
        tokens = _tokens(state, delivery.when, delivery.report)
        place = before.hypotheses.index(world.truth)
        if tokens:
            after = {each.cell: each for each in tokens} | cells
            now = belief_of(state, tuple(after.values()), listener)
            was = max(before.probabilities[place], LEAST)
            return log2(max(now.probabilities[place], LEAST) / was)
        return self.codes.bits(state.incident, delivery.report, before, place)


def _until(state: State, tick: int) -> State:
    """The state at the beginning of a tick."""
    return State(state.incident, tick, tuple(row for row in state.history if row[0] < tick))


def _tokens(state: State, when: int, report: Report) -> tuple[Evidence, ...]:
    setting = state.incident.setting
    assert setting is not None  # others were left out
    return read(report.message, state.incident.topology, setting, when)


class _Codes:
    """How often each speaker says a word under a truth, counted over episodes."""

    def __init__(self, states: Sequence[State]) -> None:
        self._counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._own: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for state in states:
            world = state.incident.simulation
            assert world is not None  # others were left out
            for _, report in state.facts.reports:
                for sort, word in _named(report.message, state.incident):
                    truth = _about(sort, world.truth, state.incident.topology.names)
                    key = f"{report.by} {sort}", truth
                    self._counts[key][word] += 1
                    self._own[*key, state.incident.id][word] += 1

    def bits(self, incident: Incident, report: Report, before: Belief, place: int) -> float | None:
        """The bits of a report about the truth at a place, by its speaker's words elsewhere."""
        names = incident.topology.names
        words = _named(report.message, incident)
        if not words:
            return None
        likely = [1.0] * len(before.hypotheses)
        for sort, word in words:
            speaker = f"{report.by} {sort}"
            row: dict[str, float] = {}
            for at, hypothesis in enumerate(before.hypotheses):
                about = _about(sort, hypothesis, names)
                if about not in row:
                    row[about] = self._share(speaker, about, word, incident.id)
                likely[at] *= row[about]
        whole = sum(p * share for p, share in zip(before.probabilities, likely, strict=True))
        return log2(likely[place] / whole)

    def _share(self, speaker: str, about: str, word: str, incident: str) -> float:
        """How often a speaker says a word under a truth, without this episode."""

        def others(truth: str) -> Counter[str]:
            counts = Counter(self._counts[speaker, truth])
            counts.subtract(self._own.get((speaker, truth, incident), Counter()))
            return counts

        usual: Counter[str] = Counter()
        for name, truth in self._counts:
            if name == speaker:
                usual.update(others(truth))
        words = len(usual) + 1
        habit = (usual[word] + 1.0) / (usual.total() + words)
        mine = others(about) if (speaker, about) in self._counts else Counter[str]()
        return (mine[word] + PRIOR_COUNT * habit) / (mine.total() + PRIOR_COUNT)


def _named(message: str, incident: Incident) -> list[tuple[str, str]]:
    """The words of numeric agents in a report, by what they are about, if it says nothing else.

    What is seen of a service (``cpu_high``) is about the kind of the fault.
    """
    names, setting = incident.topology.names, incident.setting
    assert setting is not None  # others were left out
    kinds = frozenset((*report_words(setting.world), *setting.world.board_words))
    words = message.split(" ")
    if not all(word in kinds or word in names for word in words):
        return []
    return [("kind" if word in kinds else "service", word) for word in words]


def _about(sort: str, truth: Hypothesis, names: Sequence[str]) -> str:
    """The subject of a word under a truth: the kind of the fault, or its service."""
    if not truth.faults:
        return NO_FAULT
    kind, service = truth.faults[0]
    return kind if sort == "kind" else names[service]
