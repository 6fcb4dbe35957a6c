"""What the observer and the expert are worth in a world, and whether the price c binds there."""

from collections.abc import Callable, Sequence
from statistics import fmean

import attrs

from logtriage.audit.handing_over import (
    decision_of,
    handed_over,
    lost_by_a_bar,
    lost_by_ignoring,
)
from logtriage.drawing.incidents import price_of_hand_over
from logtriage.evaluation.net_values import NetValue, net_value_of
from logtriage.evaluation.playing import play
from logtriage.evaluation.statistics import Interval, mean_interval
from logtriage.grading import TRIAGE_3, grade
from logtriage.incident import Incident


def priced(incident: Incident) -> Incident:
    """The incident under rubric ``logtriage/3``, with a price of hand-over."""
    if incident.price_of_hand_over is not None:
        return incident
    world = incident.simulation
    assert world is not None, "only incidents whose probabilities are known are priced"
    return attrs.evolve(
        incident,
        rubric=TRIAGE_3.id,
        price_of_hand_over=price_of_hand_over(world.seed),
    )


def net_value(
    incidents: Sequence[Incident], policy: str, on_progress: Callable[[], None]
) -> NetValue:
    """The net value of a policy that plays priced incidents; at least one of them."""
    played = []
    for incident in incidents:
        state = play(incident, policy)
        score = grade(state).score
        assert score is not None, "drawn incidents have every label"
        played.append((state, score))
        on_progress()
    value = net_value_of(played)
    assert value is not None, "the incidents have a price"
    return value


@attrs.frozen
class AtPrice:
    """At one price c: the share better handed over, and what heeding c gains in points of grade."""

    price: float
    handed_over: float
    gained: float


@attrs.frozen
class Binding:
    """What an observer loses, in net value, that decides without looking at c.

    ``ignored`` is lost by never handing over, ``fixed`` by handing over below the best fixed bar
    whatever c is (:mod:`logtriage.audit.handing_over`). Each incident counts at every price.
    """

    incidents: int
    ignored: Interval
    fixed: float
    by_price: tuple[AtPrice, ...]


def binding(incidents: Sequence[Incident], on_progress: Callable[[], None]) -> Binding:
    """Whether the price of a hand-over changes what an observer should do in these incidents."""
    decisions = []
    for incident in incidents:
        decisions.append(decision_of(incident))
        on_progress()
    ignored = mean_interval(lost_by_ignoring(decisions))
    assert ignored is not None, "there are incidents"
    return Binding(
        len(decisions),
        ignored,
        fmean(lost_by_a_bar(decisions)[1]),
        tuple(
            AtPrice(
                price,
                share,
                fmean(max(0.0, decision.prices[place] - decision.value) for decision in decisions),
            )
            for place, (price, share) in enumerate(handed_over(decisions).items())
        ),
    )
