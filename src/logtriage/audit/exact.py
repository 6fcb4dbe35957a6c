"""The largest grade over *all* lists of actions, by dynamic programming.

A rubric does not read a history but a few facts of it. Two histories with the same
facts (a *situation*) at the same tick have the same score now and after any common
continuation, so it is enough to keep one of them. Actions fall into classes as well:
whatever service a wrong remedy struck, it was a wrong remedy.

For every built-in measure :data:`logtriage.audit.reads.READS` names its facts, and a
subject may name those of its own measures; then the search is exact. With a measure of
which nobody says what it reads, a situation is what the table gives, what that measure
says now, and what was done in the light of the truth; of each tick only some situations
are followed. The search is then a lower bound, and says so.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import attrs

from logtriage.actions import Action
from logtriage.audit.failing import Blaming, rule_of, score
from logtriage.audit.reads import KNOWN_GATES, READS, Read, itself
from logtriage.audit.vocabulary import IDLE, asking, likeness, vocabulary
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import apply, transition

#: Situations of one tick that are followed where the search is not exact.
BEAM: Final = 800
_NO_READS: Final[Mapping[Any, Read]] = MappingProxyType({})


@attrs.frozen
class Searched:
    """What the search of one incident found.

    ``best`` is the largest score, of ``plan``; ``misrouted`` the largest with a wrong
    page somewhere, of ``misrouted_plan`` (None where no page is wrong). ``risen`` is the
    largest rise of the score by an action that changed no fact, with the plan that ends in
    it: facts only pile up, so every cycle consists of such actions. ``nodes`` situations
    were graded.
    """

    best: float
    plan: tuple[Action, ...]
    misrouted: float | None
    misrouted_plan: tuple[Action, ...]
    risen: tuple[float, tuple[Action, ...]]
    nodes: int


class Situations:
    """The situations of one incident under one rubric.

    ``exact`` says whether of all measures, gates and discounts it is known what they
    read, from the table or from ``reads``; ``unknown`` names the others.
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
        gates = [one for one in rubric.gates if one.holds not in KNOWN_GATES]
        scored = {row.name: rule_of(row) for row in rows}
        scored |= {one.name: one.factor for one in rubric.discounts}
        ruled = {gate.name: gate.holds for gate in gates}
        self.unknown = tuple(name for name, rule in (scored | ruled).items() if rule not in known)
        self.exact = not self.unknown
        #: Whether a step may be looked up: what the reads in the table say depends on the
        #: order of what was done, and on no tick.
        self._timeless = self.exact and all(
            known[rule] is READS.get(rule) for rule in (scored | ruled).values()
        )
        self._reads: tuple[Read, ...] = tuple(
            dict.fromkeys(
                [
                    *(known.get(rule) or itself(rule) for rule in dict.fromkeys(scored.values())),
                    *(known.get(rule) or _whether(rule) for rule in ruled.values()),
                ]
            )
        )
        self._likeness: dict[Action, Hashable] = {}
        self._asking = frozenset(asking(incident.topology))

    def of(self, state: State) -> Hashable:
        """What the rubric can tell of a state, but the tick."""
        with Blaming(self.rubric, state):
            told = (
                state.closing,
                state.facts.wrong_pages > 0,
                *(read(state) for read in self._reads),
            )
        return told if self.exact else (told, self._deeds(state))

    def _deeds(self, state: State) -> Hashable:
        """What was done, in the light of the truth; twice and more often are the same."""
        done = Counter(map(self._alike, state.actions))
        return frozenset((one, min(2, number)) for one, number in done.items())

    def _alike(self, action: Action) -> Hashable:
        if action not in self._likeness:
            self._likeness[action] = likeness(action, self.incident)
        return self._likeness[action]

    def class_of(self, action: Action) -> Hashable:
        """What the rubric can tell of one action, by what it does to an empty history."""
        return self.of(apply(initial_state(self.incident), action))

    @cached_property
    def classes(self) -> Mapping[Hashable, Action]:
        """One action for each class; what does nothing first."""
        found: dict[Hashable, Action] = {}
        for action in (IDLE, *vocabulary(self.incident.topology)):
            found.setdefault(self.class_of(action), action)
        return found

    @property
    def kind(self) -> Hashable:
        """Equal for incidents whose searches are alike, step by step (if ``exact``)."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.task_par,
            incident.price_of_hand_over,
            incident.closing,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), told) for told, action in self.classes.items()),
        )

    def facts(self, state: State) -> Hashable:
        """What was declared, done and looked at, whether or not it matters to the rubric."""
        if self.exact:
            return self.of(state)
        facts = state.facts
        return (
            state.closing,
            facts.severity,
            facts.root_cause,
            facts.root_causes if self.incident.truth.several else None,
            frozenset(team for _, team in facts.pages),
            frozenset((remedy, service) for _, remedy, service in facts.remedies),
            self._asking.intersection(state.actions),
        )

    def search(self, beam: int = BEAM) -> Searched:
        """Follow every class of action from every situation, tick by tick.

        Where it is not exact, from ``beam`` situations of each tick.
        """
        start = initial_state(self.incident)
        actions, last = tuple(self.classes.values()), self.incident.horizon - 1
        layer = [(self.of(start), start, score(start, self.rubric))]
        best = layer[0][1:]
        misrouted: tuple[State, float] | None = None
        risen: tuple[float, tuple[Action, ...]] = (0.0, ())
        steps: dict[Hashable, dict[int, Hashable]] = {}
        nodes = 1
        while layer:
            following: dict[Hashable, tuple[State, float]] = {}
            for here, state, before in layer:
                # Time closes what is open after the last tick: that step is no other's.
                timeless = self._timeless and state.tick < last
                step = steps.setdefault(here, {}) if timeless else {}
                for number, action in enumerate(actions):
                    after: State | None = None
                    if number not in step:
                        after = transition(state, action)
                        step[number] = self.of(after)
                    there = step[number]
                    found = following.get(there)
                    if found is None:
                        after = after or transition(state, action)
                        found = following[there] = (after, score(after, self.rubric))
                    if found[1] > before + risen[0] and (there == here or not self.exact):
                        after = after or transition(state, action)
                        if self.facts(after) == self.facts(state):
                            risen = (found[1] - before, after.actions)
            nodes += len(following)
            for state, value in following.values():
                if value > best[1]:
                    best = state, value
                if state.facts.wrong_pages and (misrouted is None or value > misrouted[1]):
                    misrouted = state, value
            layer = [(key, *one) for key, one in following.items() if not one[0].is_closed]
            if not self.exact:
                layer = _narrowed(layer, beam)
        return Searched(
            best[1],
            best[0].actions,
            None if misrouted is None else misrouted[1],
            () if misrouted is None else misrouted[0].actions,
            risen,
            nodes,
        )


def _whether(gate: Any) -> Read:
    return lambda state: gate(state) is not None


_Layer = list[tuple[Hashable, State, float]]


def _narrowed(layer: _Layer, beam: int) -> _Layer:
    """So many situations: half of them the best, half spread evenly over the rest."""
    if len(layer) <= beam:
        return layer
    ordered = sorted(layer, key=lambda one: -one[2])
    head, rest = ordered[: beam // 2], ordered[beam // 2 :]
    wanted = beam - len(head)
    return [*head, *(rest[place * len(rest) // wanted] for place in range(wanted))]
