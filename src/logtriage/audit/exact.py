"""The largest grade over *all* lists of actions, by dynamic programming.

A rubric does not read a history but a few facts of it. Two histories with the same
facts (a *situation*) at the same tick have the same score now and after any common
continuation, so the search keeps the first of them. Actions fall into classes as well:
whatever service a wrong remedy struck, it was a wrong remedy.

:data:`logtriage.audit.reads.READS` names the facts of every built-in measure. Under a rubric with
any other measure nothing is searched.
"""

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import NamedTuple

from logtriage.actions import Action
from logtriage.audit.failing import Blaming, rules_of, score
from logtriage.audit.reads import KNOWN_GATES, READS
from logtriage.audit.vocabulary import IDLE, vocabulary
from logtriage.dynamics import apply, transition
from logtriage.grading import Rubric
from logtriage.incident import Incident
from logtriage.state import State, initial_state


class Scored(NamedTuple):
    """A state and its score."""

    score: float
    state: State


class Searched(NamedTuple):
    """The result of a search of one incident.

    ``best`` has the largest score, ``misrouted`` the largest score with a wrong page somewhere
    (None where no page is wrong). ``nodes`` situations were graded.
    """

    best: Scored
    misrouted: Scored | None
    nodes: int


class Situations:
    """The situations of one incident under one rubric.

    ``unknown`` names the measures, gates and discounts whose facts nobody knows. If there are any,
    situations say nothing.
    """

    def __init__(self, incident: Incident, rubric: Rubric) -> None:
        self.incident = incident
        self.rubric = rubric
        rules = {(kind, name): rule for kind, name, rule in rules_of(rubric, incident)}
        known = {*READS, *KNOWN_GATES}
        self.unknown = tuple(name for (_, name), rule in rules.items() if rule not in known)
        self._reads = tuple(dict.fromkeys(READS[rule] for rule in rules.values() if rule in READS))

    def of(self, state: State) -> Hashable:
        """Everything that the rubric can tell of a state, except the tick."""
        with Blaming(self.rubric, state):
            return (
                state.closing,
                state.facts.wrong_pages > 0,
                *(read(state) for read in self._reads),
            )

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
        """Equal for incidents whose searches are alike, step by step."""
        incident = self.incident
        return (
            incident.horizon,
            incident.par,
            incident.task_par,
            incident.worth_of_hand_over,
            incident.wrong_page_closes,
            incident.truth.severity,
            incident.truth.benign,
            frozenset((type(action), read) for read, action in self.classes.items()),
        )

    def search(self) -> Searched:
        """Follow every class of action from every situation, tick by tick."""
        start = initial_state(self.incident)
        actions, last = tuple(self.classes.values()), self.incident.horizon - 1
        best = Scored(score(start, self.rubric), start)
        layer: list[tuple[Hashable, Scored]] = [(self.of(start), best)]
        misrouted: Scored | None = None
        steps: dict[Hashable, dict[int, Hashable]] = {}
        nodes = 1
        while layer:
            following: dict[Hashable, Scored] = {}
            for here, (_, state) in layer:
                # A step is the same in every tick but the last, when time closes what is open.
                step = steps.setdefault(here, {}) if state.tick < last else {}
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
        return Searched(best, misrouted, nodes)
