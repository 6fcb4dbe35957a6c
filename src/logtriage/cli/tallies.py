"""Sums of grades: net values beside always handing over, and what could not be read."""

from collections.abc import Iterator, Mapping, Sequence
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
from logtriage.evaluation.statistics import bound_of, mean_of_attempts
from logtriage.grading import Graded


@attrs.define
class _Agent:
    """The scores of an agent, and the worth of handing the same incidents over."""

    #: By incident: scores of graded attempts, 0 for each unscored one, worth of a hand-over if any.
    scores: dict[str, list[float]] = attrs.field(factory=dict)
    lost: dict[str, list[float]] = attrs.field(factory=dict)
    worths: dict[str, float] = attrs.field(factory=dict)


@attrs.define
class Tally:
    """Grades so far, by agent; the number of bad lines; reasons why actions were unread."""

    bad: int = 0
    actions: int = 0
    unread: list[str] = attrs.field(factory=list)
    seals: set[str] = attrs.field(factory=set)
    agents: dict[str | None, _Agent] = attrs.field(factory=dict)

    @property
    def graded(self) -> int:
        """The number of lines with a score."""
        return sum(_count(agent.scores) for agent in self.agents.values())

    @property
    def unscored(self) -> int:
        """The number of lines without a score, bad lines left out."""
        return sum(_count(agent.lost) for agent in self.agents.values())

    @property
    def lines(self) -> int:
        """The number of all lines."""
        return self.graded + self.unscored + self.bad

    def add(self, graded: Graded, worth: float | None) -> None:
        """Count a grade; ``worth`` is what handing its incident over is worth."""
        agent = self.agents.setdefault(graded.agent, _Agent())
        if graded.seal is not None:
            self.seals.add(graded.seal)
        if worth is not None:
            agent.worths[graded.incident] = worth
        attempts = agent.lost if graded.score is None else agent.scores
        attempts.setdefault(graded.incident, []).append(graded.score or 0.0)
        if graded.score is not None:
            self.actions += len(graded.actions)
            self.unread += graded.unread

    def summary(self) -> Iterator[str]:
        """The lines of the summary, for people."""
        yield f"{self.graded} graded; {self.unscored} unscored; {counted(self.bad, 'bad line')}"
        alone = len(self.agents) == 1
        for name, agent in self.agents.items():
            of = "" if alone else f"{name or UNNAMED}: "
            yield from (of + line for line in _lines(agent, self.bad if alone else 0))
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
                _to_json(name, agent, self.bad if len(self.agents) == 1 else 0)
                for name, agent in self.agents.items()
            ],
            "actions": self.actions,
            "unread": [
                {"count": count, "first_reason": reason} for count, reason in kinds_of(self.unread)
            ],
        }


def _lines(agent: _Agent, bad: int) -> Iterator[str]:
    """Lines on the net value and mean grade of an agent; ``bad`` lines count as its own."""
    if not agent.scores:
        return
    net, handed_over, bound = _net(agent), _handed_over(agent), _bound(agent, bad)
    if net is not None:
        less = _net(agent, lost=True) if agent.lost else None
        with_lost = f" ({number(less.mean)} with what is unscored as 0)" if less else ""
        yield f"net value {estimate(net).plain}{with_lost}; always handing over 0"
    else:
        yield "no net value: these incidents have no worth of handing over"
    lost = bad or agent.lost
    lines = " or bad" if bad else ""
    with_lost = f" ({number(bound)} with what is unscored{lines} as 0)" if lost else ""
    baseline = "" if handed_over is None else f"; always handing over {number(handed_over)}"
    yield f"mean grade {estimate(_grade(agent)).plain}{with_lost}{baseline}"


def _to_json(name: str | None, agent: _Agent, bad: int) -> dict[str, Any]:
    grade, net = _grade(agent), _net(agent)
    return {
        "agent": name,
        "graded": _count(agent.scores),
        "unscored": _count(agent.lost),
        "grade": grade and attrs.asdict(grade),
        "bound": _bound(agent, bad),
        "net_value": net and attrs.asdict(net),
        "with_worth": sum(len(each) for name, each in agent.scores.items() if name in agent.worths),
        "always_handing_over": {
            "grade": _handed_over(agent),
            "net_value": None if net is None else 0.0,
        },
    }


def _count(attempts: Mapping[str, Sequence[float]]) -> int:
    return sum(map(len, attempts.values()))


def _grade(agent: _Agent) -> Interval | None:
    """The mean grade of scored attempts, with an interval over incidents."""
    return mean_of_attempts(agent.scores[name] for name in in_order(agent.scores))


def _bound(agent: _Agent, bad: int) -> float | None:
    """The mean grade if each unscored attempt and each ``bad`` line counts 0."""
    names = dict.fromkeys((*agent.scores, *agent.lost))
    every = [[*agent.scores.get(name, ()), *agent.lost.get(name, ())] for name in names]
    bound, lines = bound_of(map(fmean, every), len(every)), sum(map(len, every))
    return bound and bound * lines / (lines + bad)  # nobody knows which incidents bad lines are of


def _net(agent: _Agent, *, lost: bool = False) -> Interval | None:
    """The net value, with an interval over incidents; with ``lost``, unscored attempts count 0."""
    every = [
        (
            [*agent.scores.get(name, ()), *(agent.lost.get(name, ()) if lost else ())],
            agent.worths[name],
        )
        for name in in_order(agent.worths)
    ]
    return net_value_of_attempts(pair for pair in every if pair[0])


def _handed_over(agent: _Agent) -> float | None:
    """The mean grade of always handing over: the mean worth of the scored incidents."""
    worths = [agent.worths[name] for name in agent.scores if name in agent.worths]
    return fmean(worths) if worths else None
