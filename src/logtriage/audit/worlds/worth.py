"""What the observer and the expert are worth in a world, and whether the price c binds there."""

from collections.abc import Callable, Sequence
from statistics import fmean

import attrs

from logtriage.audit.probing import decision
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER, price_of_hand_over
from logtriage.evaluation.net_values import NetValue, net_value_of, on_grid
from logtriage.evaluation.playing import play
from logtriage.evaluation.statistics import Interval, ratio_interval
from logtriage.grading import TRIAGE_3, grade
from logtriage.grading.priced import hand_over_worth
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
        price_of_silence=None,
    )


def net_value(
    incidents: Sequence[Incident], policy: str, on_progress: Callable[[], None]
) -> NetValue:
    """The net value of a policy that plays priced incidents; at least one of them."""
    played = []
    for one in incidents:
        state = play(one, policy)
        score = grade(state).score
        assert score is not None, "drawn incidents have every label"
        played.append((state, score))
        on_progress()
    found = net_value_of(played)
    assert found is not None, "the incidents have a price"
    return found


@attrs.frozen
class AtBar:
    """At one price c: the share handed over, and what heeding c gains, in points of grade."""

    price: float
    handed_over: float
    gained: float


@attrs.frozen
class Binding:
    """What an observer loses, in net value, that decides without looking at c.

    Of an observer that asks as if nobody took incidents over: V is the expected grade of its best
    plan once it asks no more. Who heeds c hands over where that is worth more than V.

    ``ignored`` is lost by never handing over, ``fixed`` by handing over where V is below one bar
    whatever c is, the best bar of all. Expectations, each incident at every price.
    """

    incidents: int
    ignored: Interval
    fixed: float
    by_price: tuple[AtBar, ...]


def binding(incidents: Sequence[Incident], on_progress: Callable[[], None]) -> Binding:
    """Whether the price of a hand-over changes what an observer should do in these incidents."""
    rows: list[tuple[float, list[float]]] = []
    for one in incidents:
        rows.append(_decided(attrs.evolve(one, price_of_hand_over=None)))
        on_progress()
    gains = [[max(worth - value, 0.0) for worth in over] for value, over in rows]
    whole = fmean(1.0 - price for price in PRICES_OF_HAND_OVER)
    heeded = fmean(map(fmean, gains))
    at_bar = max(
        fmean(fmean(over) - value if value < bar else 0.0 for value, over in rows)
        for bar in (0.0, *(value for value, _ in rows), 2.0)
    )
    ignored = ratio_interval(
        [on_grid(fmean(row)) for row in gains], [on_grid(whole) for _ in gains]
    )
    assert ignored is not None, "there are incidents"
    return Binding(
        len(rows),
        ignored,
        (heeded - at_bar) / whole,
        tuple(
            AtBar(
                price,
                fmean(over[place] > value for value, over in rows),
                fmean(row[place] for row in gains),
            )
            for place, price in enumerate(PRICES_OF_HAND_OVER)
        ),
    )


def _decided(incident: Incident) -> tuple[float, list[float]]:
    """V where the observer asks no more, and what a hand-over is worth there at each price."""
    held = decision(incident)
    if held is None:  # out of time, where a hand-over is worth nothing, either
        return 0.0, [0.0] * len(PRICES_OF_HAND_OVER)
    used, horizon, par = held.standing.tick + 1, incident.horizon, incident.task_par
    over = [hand_over_worth(price, used, horizon, par) for price in PRICES_OF_HAND_OVER]
    return held.best().value, over
