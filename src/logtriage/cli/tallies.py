"""The sum of some grades: net value beside always handing over, and what could not be read."""

from collections.abc import Iterator, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

import attrs

from logtriage._lib.printable import counted
from logtriage._lib.unread import kinds_of
from logtriage.cli.figures import estimate
from logtriage.cli.screens import number
from logtriage.grading import Graded

if TYPE_CHECKING:
    from logtriage.evaluation import Interval


@attrs.define
class _Agent:
    """What an agent has earned, and what handing the same incidents over is worth."""

    scores: list[float] = attrs.field(factory=list)
    #: (score, worth) where an incident has a worth; of lost episodes with score 0.
    pairs: list[tuple[float, float]] = attrs.field(factory=list)
    lost: list[tuple[float, float]] = attrs.field(factory=list)
    unscored: int = 0


@attrs.define
class Tally:
    """Grades so far, by agent; bad lines, and the reasons of actions that could not be read."""

    bad: int = 0
    actions: int = 0
    unread: list[str] = attrs.field(factory=list)
    seals: set[str] = attrs.field(factory=set)
    agents: dict[str | None, _Agent] = attrs.field(factory=dict)

    @property
    def graded(self) -> int:
        """How many lines have a score."""
        return sum(len(agent.scores) for agent in self.agents.values())

    @property
    def unscored(self) -> int:
        """How many lines have none."""
        return sum(agent.unscored for agent in self.agents.values())

    @property
    def lines(self) -> int:
        """How many lines there were."""
        return self.graded + self.unscored + self.bad

    def add(self, graded: Graded, worth: float | None) -> None:
        """Count a grade; ``worth`` is what handing its incident over is worth."""
        agent = self.agents.setdefault(graded.agent, _Agent())
        if graded.seal is not None:
            self.seals.add(graded.seal)
        if graded.score is None:
            agent.unscored += 1
            agent.lost += [] if worth is None else [(0.0, worth)]
            return
        agent.scores.append(graded.score)
        agent.pairs += [] if worth is None else [(graded.score, worth)]
        self.actions += len(graded.actions)
        self.unread += graded.unread

    def told(self) -> Iterator[str]:
        """The sum in words, for people."""
        yield f"{self.graded} graded; {self.unscored} unscored; {counted(self.bad, 'bad line')}"
        alone = len(self.agents) == 1
        for name, agent in self.agents.items():
            of = "" if alone else f"{name or 'unnamed'}: "
            yield from (of + line for line in _told(agent, self.bad if alone else 0))
        if self.unread:
            yield f"{len(self.unread)} of {self.actions} actions could not be read:"
            yield from (f"  {count}: {reason}" for count, reason in kinds_of(self.unread))
        yield from (f"seal {seal}" for seal in sorted(self.seals))

    def to_json(self) -> dict[str, Any]:
        """The sum as JSON."""
        return {
            "graded": self.graded,
            "unscored": self.unscored,
            "bad_lines": self.bad,
            "agents": [_to_json(name, agent) for name, agent in self.agents.items()],
            "actions": self.actions,
            "unread": [
                {"count": count, "first_reason": reason} for count, reason in kinds_of(self.unread)
            ],
        }


def _told(agent: _Agent, bad: int) -> Iterator[str]:
    """The worth of an agent in words; ``bad`` lines may have been its own."""
    from logtriage.evaluation.statistics import bound_of, mean_interval

    if not agent.scores:
        return
    net, handed_over = _net(agent.pairs), _handed_over(agent.pairs)
    if net is not None:
        less = _net([*agent.pairs, *agent.lost]) if agent.lost else None
        with_lost = f" ({number(less.mean)} with what is unscored as 0)" if less else ""
        yield f"net value {estimate(net).plain}{with_lost}; always handing over 0"
    else:
        yield "no net value: these incidents have no worth of handing over"
    lines = len(agent.scores) + agent.unscored + bad
    bound = number(bound_of(agent.scores, lines))
    with_lost = f" ({bound} with what is unscored or bad as 0)" if lines > len(agent.scores) else ""
    baseline = "" if handed_over is None else f"; always handing over {number(handed_over)}"
    yield f"mean grade {estimate(mean_interval(agent.scores)).plain}{with_lost}{baseline}"


def _to_json(name: str | None, agent: _Agent) -> dict[str, Any]:
    from logtriage.evaluation.statistics import mean_interval

    grade, net = mean_interval(agent.scores), _net(agent.pairs)
    return {
        "agent": name,
        "graded": len(agent.scores),
        "unscored": agent.unscored,
        "grade": grade and attrs.asdict(grade),
        "net_value": net and attrs.asdict(net),
        "with_worth": len(agent.pairs),
        "always_handing_over": {
            "grade": _handed_over(agent.pairs),
            "net_value": None if net is None else 0.0,
        },
    }


def _net(pairs: Sequence[tuple[float, float]]) -> "Interval | None":
    from logtriage.evaluation import net_value

    return net_value(pairs)


def _handed_over(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The mean grade of always handing over: the mean worth."""
    return fsum(worth for _, worth in pairs) / len(pairs) if pairs else None
