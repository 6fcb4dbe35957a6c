"""Sums of grades: net values beside always handing over, and what could not be read."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import attrs

from logtriage._lib.printable import counted
from logtriage._lib.unread import kinds_of
from logtriage.cli.figures import estimate
from logtriage.cli.screens import number
from logtriage.evaluation import Interval
from logtriage.evaluation.incidents import in_order
from logtriage.evaluation.keeping import UNNAMED
from logtriage.evaluation.net_values import net_value_of_attempts
from logtriage.evaluation.statistics import bound_of, mean_known, mean_of_attempts
from logtriage.grading import Graded


@attrs.define
class _Agent:
    """The scores of an agent's attempts at each incident (None: unscored).

    ``worths`` is what handing the incidents over is worth, if anything.
    """

    attempts: dict[str, list[float | None]] = attrs.field(factory=dict)
    worths: dict[str, float] = attrs.field(factory=dict)

    @property
    def scores(self) -> dict[str, list[float]]:
        """The scores of each incident that has one, in the order of a run."""
        known = {
            name: [score for score in self.attempts[name] if score is not None]
            for name in in_order(self.attempts)
        }
        return {name: scores for name, scores in known.items() if scores}

    @property
    def with_lost(self) -> dict[str, list[float]]:
        """The scores of each incident, 0 for each unscored attempt, in the order of a run."""
        return {
            name: [score or 0.0 for score in self.attempts[name]]
            for name in in_order(self.attempts)
        }

    @property
    def lost(self) -> int:
        """The number of unscored attempts."""
        return sum(scores.count(None) for scores in self.attempts.values())


@attrs.define
class Tally:
    """Grades so far, by agent; numbers of lines; reasons why actions were unread."""

    graded: int = 0
    unscored: int = 0
    bad: int = 0
    actions: int = 0
    unread: list[str] = attrs.field(factory=list)
    seals: set[str] = attrs.field(factory=set)
    agents: dict[str | None, _Agent] = attrs.field(factory=dict)

    @property
    def lines(self) -> int:
        """The number of all lines."""
        return self.graded + self.unscored + self.bad

    @property
    def _bad_of_agent(self) -> int:
        """The bad lines that count for each agent: nobody knows whose they are, if of several."""
        return self.bad if len(self.agents) == 1 else 0

    def add(self, graded: Graded, worth: float | None) -> None:
        """Count a grade; ``worth`` is what handing its incident over is worth."""
        agent = self.agents.setdefault(graded.agent, _Agent())
        agent.attempts.setdefault(graded.incident, []).append(graded.score)
        if worth is not None:
            agent.worths[graded.incident] = worth
        if graded.seal is not None:
            self.seals.add(graded.seal)
        if graded.score is None:
            self.unscored += 1
        else:
            self.graded += 1
            self.actions += len(graded.actions)
            self.unread += graded.unread

    def summary(self) -> Iterator[str]:
        """The lines of the summary, for people."""
        yield f"{self.graded} graded; {self.unscored} unscored; {counted(self.bad, 'bad line')}"
        for name, agent in self.agents.items():
            of = "" if len(self.agents) == 1 else f"{name or UNNAMED}: "
            yield from (of + line for line in _lines(agent, self._bad_of_agent))
        if self.bad and len(self.agents) > 1:
            lines = counted(self.bad, "bad line")
            yield f"{lines} count for no agent, since none could be read there"
        if self.unread:
            yield f"{len(self.unread)} of {self.actions} actions could not be read:"
            yield from (f"  {count}: {reason}" for count, reason in kinds_of(self.unread))
        yield from (f"seal {seal}" for seal in sorted(self.seals))

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON data."""
        return {
            "graded": self.graded,
            "unscored": self.unscored,
            "bad_lines": self.bad,
            "agents": [
                {"agent": name, **_to_json(agent, self._bad_of_agent)}
                for name, agent in self.agents.items()
            ],
            "actions": self.actions,
            "unread": [
                {"count": count, "first_reason": reason} for count, reason in kinds_of(self.unread)
            ],
        }


def _lines(agent: _Agent, bad: int) -> Iterator[str]:
    """Lines on the net value and mean grade of an agent; ``bad`` lines count as its own."""
    grade = mean_of_attempts(agent.scores.values())
    if grade is None:
        return
    net, handed_over = _net(agent, agent.scores), _handed_over(agent)
    if net is not None:
        less = _net(agent, agent.with_lost) if agent.lost else None
        with_lost = f" ({number(less.mean)} with what is unscored as 0)" if less else ""
        yield f"net value {estimate(net).plain}{with_lost}; always handing over 0"
    else:
        yield "no net value: these incidents have no worth of handing over"
    lines = " or bad" if bad else ""
    bound = f" ({number(_bound(agent, bad))} with what is unscored{lines} as 0)"
    baseline = "" if handed_over is None else f"; always handing over {number(handed_over)}"
    yield f"mean grade {estimate(grade).plain}{bound if bad or agent.lost else ''}{baseline}"


def _to_json(agent: _Agent, bad: int) -> dict[str, Any]:
    scores = agent.scores
    grade, net = mean_of_attempts(scores.values()), _net(agent, scores)
    return {
        "graded": sum(map(len, scores.values())),
        "unscored": agent.lost,
        "grade": grade and attrs.asdict(grade),
        "bound": _bound(agent, bad),
        "net_value": net and attrs.asdict(net),
        "with_worth": sum(len(scores[name]) for name in scores if name in agent.worths),
        "always_handing_over": {
            "grade": _handed_over(agent),
            "net_value": None if net is None else 0.0,
        },
    }


def _bound(agent: _Agent, bad: int) -> float | None:
    """The mean grade if each unscored attempt and each ``bad`` line counts 0."""
    every = agent.with_lost.values()
    bound, lines = bound_of(map(fmean, every)), sum(map(len, every))
    return bound and bound * lines / (lines + bad)  # nobody knows which incidents bad lines are of


def _net(agent: _Agent, scores: dict[str, list[float]]) -> Interval | None:
    """The net value of scores by incident, with an interval over incidents."""
    worths = agent.worths
    return net_value_of_attempts((scores[name], worths[name]) for name in scores if name in worths)


def _handed_over(agent: _Agent) -> float | None:
    """The mean grade of always handing over: the mean worth of the scored incidents."""
    return mean_known(agent.worths.get(name) for name in agent.scores)
