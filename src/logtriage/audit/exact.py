"""The largest grade over *all* lists of actions, by dynamic programming.

A rubric does not read a history but a few facts of it. Two histories with the same
facts (a *situation*) at the same tick have the same score now and after any common
continuation, so the search keeps the first of them. Actions fall into classes as well:
whatever service a wrong remedy struck, it was a wrong remedy.

:data:`logtriage.audit.reads.READS` names the facts of every built-in measure, and a subject may
name those of its own measures; then the search is exact. If a measure has no known facts, a
situation is what the table gives, the score of that measure now, and what was done in the light
of the truth; only some situations of each tick are followed. The search is then a lower bound,
and says so.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import attrs

from logtriage.actions import Action
from logtriage.audit.failing import Blaming, rule_of, score
from logtriage.audit.reads import KNOWN_GATES, READS, Read, itself
from logtriage.audit.vocabulary import IDLE, likeness, vocabulary
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import apply, transition

#: Situations of one tick that are followed where the search is not exact.
BEAM: Final = 800
_NO_READS: Final[Mapping[Any, Read]] = MappingProxyType({})


class Scored(NamedTuple):
    """A state and its score."""

    score: float
    state: State


@attrs.frozen
class Searched:
    """The result of a search of one incident.

    ``best`` has the largest score, ``misrouted`` the largest score with a wrong page somewhere
    (None where no page is wrong). ``nodes`` situations were graded.
    """

    best: Scored
    misrouted: Scored | None
    nodes: int


class Situations:
    """The situations of one incident under one rubric.

    ``exact`` says whether the facts of all measures, gates and discounts are known, from the
    table or from ``reads``; ``unknown`` names the others.
    """

    def __init__(
        self, incident: Incident, rubric: Rubric, reads: Mapping[Any, Read] = _NO_READS
    ) -> None:
        self.incident = incident
        self.rubric = rubric
        known = {**READS, **reads}
        benign = rubric.benign and incident.truth.benign
        rows = (
            *(rubric.benign if benign else rubric.criteria),
            *rubric.penalties,
            *rubric.handed_over,
        )
        scored = {row.name: rule_of(row) for row in rows}
        scored |= {row.name: row.factor for row in rubric.discounts}
        gates = {row.name: row.holds for row in rubric.gates if row.holds not in KNOWN_GATES}
        rules = scored | gates
        self.unknown = tuple(name for name, rule in rules.items() if rule not in known)
        self.exact = not self.unknown
        #: Whether a step may be looked up: reads of the table depend on the order of actions
        #: and on no tick.
        self._timeless = self.exact and all(
            known[rule] is READS.get(rule) for rule in rules.values()
        )
        reads_of_all = [known.get(rule) or itself(rule) for rule in dict.fromkeys(scored.values())]
        reads_of_all += [known.get(rule) or _whether(rule) for rule in gates.values()]
        self._reads: tuple[Read, ...] = tuple(dict.fromkeys(reads_of_all))
        self._likeness: dict[Action, Hashable] = {}

    def of(self, state: State) -> Hashable:
        """Everything that the rubric can tell of a state, except the tick."""
        with Blaming(self.rubric, state):
            read = (
                state.closing,
                state.facts.wrong_pages > 0,
                *(read(state) for read in self._reads),
            )
        return read if self.exact else (read, self._deeds(state))

    def _deeds(self, state: State) -> Hashable:
        """The actions in the light of the truth; twice and more often are the same."""
        done = Counter(map(self._alike, state.actions))
        return frozenset((deed, min(2, number)) for deed, number in done.items())

    def _alike(self, action: Action) -> Hashable:
        if action not in self._likeness:
            self._likeness[action] = likeness(action, self.incident)
        return self._likeness[action]

    def class_of(self, action: Action) -> Hashable:
        """Everything that the rubric can tell of an action, from its effect on an empty history."""
        return self.of(apply(initial_state(self.incident), action))

    @cached_property
    def classes(self) -> Mapping[Hashable, Action]:
        """One action for each class; an action without effect comes first."""
        actions: dict[Hashable, Action] = {}
        for action in (IDLE, *vocabulary(self.incident.topology)):
            actions.setdefault(self.class_of(action), action)
        return actions

    @property
    def kind(self) -> Hashable:
        """Equal for incidents whose searches are alike, step by step (if ``exact``)."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.task_par,
            incident.price_of_hand_over,
            incident.wrong_page_closes,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), read) for read, action in self.classes.items()),
        )

    def search(self, beam: int = BEAM) -> Searched:
        """Follow every class of action from every situation, tick by tick.

        If the search is not exact, follow ``beam`` situations of each tick.
        """
        start = initial_state(self.incident)
        actions, last = tuple(self.classes.values()), self.incident.horizon - 1
        best = Scored(score(start, self.rubric), start)
        layer: _Layer = [(self.of(start), best)]
        misrouted: Scored | None = None
        steps: dict[Hashable, dict[int, Hashable]] = {}
        nodes = 1
        while layer:
            following: dict[Hashable, Scored] = {}
            for here, (_, state) in layer:
                # Time closes what is open after the last tick, so its steps are never reused.
                timeless = self._timeless and state.tick < last
                step = steps.setdefault(here, {}) if timeless else {}
                for number, action in enumerate(actions):
                    after: State | None = None
                    if number not in step:
                        after = transition(state, action)
                        step[number] = self.of(after)
                    there = step[number]
                    if there not in following:
                        after = after or transition(state, action)
                        following[there] = Scored(score(after, self.rubric), after)
            nodes += len(following)
            for scored in following.values():
                if scored.score > best.score:
                    best = scored
                wrong = scored.state.facts.wrong_pages
                if wrong and (misrouted is None or scored.score > misrouted.score):
                    misrouted = scored
            layer = [row for row in following.items() if not row[1].state.is_closed]
            if not self.exact:
                layer = _narrowed(layer, beam)
        return Searched(best, misrouted, nodes)


def _whether(gate: Any) -> Read:
    return lambda state: gate(state) is not None


_Layer = list[tuple[Hashable, Scored]]


def _narrowed(layer: _Layer, beam: int) -> _Layer:
    """So many situations: half of them the best, half spread evenly over the rest."""
    if len(layer) <= beam:
        return layer
    ordered = sorted(layer, key=lambda row: -row[1].score)
    head, rest = ordered[: beam // 2], ordered[beam // 2 :]
    wanted = beam - len(head)
    return [*head, *(rest[place * len(rest) // wanted] for place in range(wanted))]
