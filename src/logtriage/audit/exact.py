"""The largest grade over *all* lists of actions, by dynamic programming.

A rubric does not read a history but a few facts of it. Two histories with the same
facts (a *situation*) at the same tick have the same score now and after any common
continuation, so it is enough to keep one of them. Actions fall into classes as well:
whatever service a wrong remedy struck, it was a wrong remedy.

For every built-in measure the tables of :mod:`logtriage.audit.reads` name its facts. With
these measures the search is exact. With a measure of one's own, a situation is what the
tables give plus what that measure says now: the search is then a lower bound, and says so.
"""

from collections.abc import Hashable, Mapping
from typing import Final

import attrs

from logtriage.actions import Action, Malformed, all_actions
from logtriage.audit.reads import DISCOUNT_READS, READS, factor_itself, itself
from logtriage.grading import Rubric, criteria, score
from logtriage.incident import Incident
from logtriage.state import State, initial_state
from logtriage.transition import apply, transition

#: The most situations of one tick that are kept where measures are unknown.
_WIDEST: Final = 800
_IDLE: Final = Malformed("", "stands for every action that does nothing")


#: Gates whose facts are always part of a situation: wrong pages, and the closing.
_KNOWN_GATES: Final = (criteria.wrong_escalation, criteria.ignored_incident)


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

    ``exact`` says whether all measures, gates and discounts are known; ``unknown`` names
    those that are not.
    """

    def __init__(self, incident: Incident, rubric: Rubric) -> None:
        self.incident = incident
        self.rubric = rubric
        benign = rubric.benign and incident.truth.benign
        rows = (*(rubric.benign if benign else rubric.criteria), *rubric.penalties)
        measures = tuple(dict.fromkeys(row.measure for row in rows))
        discounts = tuple(
            DISCOUNT_READS.get(one.factor, factor_itself(one)) for one in rubric.discounts
        )
        self._reads = tuple(
            dict.fromkeys(
                (*(READS.get(measure, itself(measure)) for measure in measures), *discounts)
            )
        )
        self.unknown = (
            *(row.name for row in rows if row.measure not in READS),
            *(gate.name for gate in rubric.gates if gate.holds not in _KNOWN_GATES),
            *(one.name for one in rubric.discounts if one.factor not in DISCOUNT_READS),
        )
        self._gates = tuple(gate.holds for gate in rubric.gates if gate.holds not in _KNOWN_GATES)
        self.exact = not self.unknown
        self.classes = self._classes()

    def of(self, state: State) -> Hashable:
        """What the rubric can tell of a state, but the tick."""
        return (
            state.closing,
            state.facts.wrong_pages > 0,
            *(read(state) for read in self._reads),
            *(holds(state) is not None for holds in self._gates),
        )

    def class_of(self, action: Action) -> Hashable:
        """What the rubric can tell of one action, by what it does to an empty history.

        Where a measure is unknown, actions of two types are never the same.
        """
        told = self.of(apply(initial_state(self.incident), action))
        return told if self.exact else (type(action), told)

    def _classes(self) -> Mapping[Hashable, Action]:
        found: dict[Hashable, Action] = {}
        for action in (_IDLE, *all_actions(self.incident.topology)):
            found.setdefault(self.class_of(action), action)
        return found

    @property
    def kind(self) -> Hashable:
        """Equal for incidents whose searches are alike, step by step (if ``exact``)."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.price_of_silence,
            incident.closing,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), told) for told, action in self.classes.items()),
        )

    def facts(self, state: State) -> Hashable:
        """What was declared and done, whether or not it matters to the rubric."""
        if self.exact:
            return self.of(state)
        facts = state.facts
        pages = sorted(team for _, team in facts.pages)
        remedies = sorted((str(remedy), service) for _, remedy, service in facts.remedies)
        return (
            state.closing,
            facts.severity,
            facts.root_cause,
            tuple(pages),
            tuple(remedies),
        )

    def search(self) -> Searched:
        """Follow every class of action from every situation, tick by tick."""
        start = initial_state(self.incident)
        layer = [(start, score(start, self.rubric))]
        best = layer[0]
        misrouted: tuple[State, float] | None = None
        risen: tuple[float, tuple[Action, ...]] = (0.0, ())
        nodes = 1
        while layer:
            following: dict[Hashable, tuple[State, float]] = {}
            for state, before in layer:
                same = self.facts(state)
                for action in self.classes.values():
                    after = transition(state, action)
                    situation = self.of(after)
                    found = following.get(situation)
                    if found is None:
                        found = following[situation] = (after, score(after, self.rubric))
                    if found[1] > before + risen[0] and self.facts(after) == same:
                        risen = (found[1] - before, after.actions)
            nodes += len(following)
            for state, value in following.values():
                if value > best[1]:
                    best = state, value
                if state.facts.wrong_pages and (misrouted is None or value > misrouted[1]):
                    misrouted = state, value
            layer = [one for one in following.values() if not one[0].is_closed]
            if not self.exact:
                layer = layer[:_WIDEST]
        return Searched(
            best[1],
            best[0].actions,
            None if misrouted is None else misrouted[1],
            () if misrouted is None else misrouted[0].actions,
            risen,
            nodes,
        )
