"""Who says what of each recording left out: the rows behind the page on fitted worlds."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import attrs

import logtriage as lt
from logtriage.beliefs import belief
from logtriage.beliefs.fitting import Fit, Recorded, left_out
from logtriage.drawing.incidents import PRICES_OF_HAND_OVER
from logtriage.errors import BundleError
from logtriage.evaluation import play_episode, record_episode
from logtriage.evaluation.localisation import hit_at, ranking_of
from logtriage.policies import METHODS, ConstantPolicy, Policy, RankingPolicy
from logtriage.policies.base import Ranking
from logtriage.policies.inquiry import fault_class
from logtriage.policies.recorded_observer import RESERVE, RecordedObserverPolicy
from logtriage.recorded import as_incident, priced
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.state import State
from logtriage.world.model import World

#: The methods that rank by the dashboard.
COMMONEST: Final = "commonest answer"
RANKINGS: Final = ("combined_v2", "n_sigma", "baro")
#: The level of fog at which the shipped world is asked.
ZERO_SHOT_FOG: Final = 2


@attrs.frozen
class Row:
    """One method on one recording.

    ``probability`` is that of the true services, ``top`` that of the likeliest; empty for methods
    that say none. ``grades`` are those under ``recorded/3`` at each price; none where the class
    of the fault is not known.
    """

    method: str
    incident: str
    kind: str
    group: str
    ac1: float
    ac3: float
    probability: float | None = None
    top: float | None = None
    grades: tuple[float, ...] = ()


def at_prices(row: Recorded, policy_of: Callable[[lt.Incident], Policy]) -> tuple[float, ...]:
    """The grades of a policy under ``recorded/3``, at each price of hand-over."""
    try:
        incident = as_incident(priced(row.record))
    except BundleError:  # no class is known of its kind of fault
        return ()
    grades = []
    for price in PRICES_OF_HAND_OVER:
        one = attrs.evolve(incident, price_of_hand_over=price)
        score = lt.grade(play_episode(one, policy_of(one))).score
        assert score is not None
        grades.append(score)
    return tuple(grades)


def observed(method: str) -> Callable[[World, Recorded], Row]:
    """What the observer makes of a recording by a world: as late as it looks."""

    def read(world: World, row: Recorded) -> Row:
        incident = row.state.incident
        state = State(incident, tick=incident.horizon - RESERVE)
        causes = belief(state, world=world).root_causes
        names = sorted(incident.topology.names, key=lambda name: -causes.get(name, 0.0))
        ranking = tuple(
            tuple(one for one in names if causes.get(one, 0.0) == share)
            for share in dict.fromkeys(causes.get(name, 0.0) for name in names)
        )
        return attrs.evolve(
            _ranked(method, row, ranking),
            probability=sum(causes.get(name, 0.0) for name in row.record.truth.root_causes),
            top=max(causes.values()),
            grades=at_prices(row, lambda one: RecordedObserverPolicy(one, world)),
        )

    return read


def _ranked(method: str, row: Recorded, ranking: Ranking) -> Row:
    truth = row.record.truth
    first, third = (hit_at(k, ranking, set(truth.root_causes)) for k in (1, 3))
    return Row(method, row.record.id, truth.kind, "/".join(row.group), first, third)


def ranked(name: str, rows: Sequence[Recorded]) -> Iterator[Row]:
    """A ranking, which names its first service and the class of its furthest stray."""
    for row in rows:
        incident = as_incident(attrs.evolve(row.record, rubric="recorded/1"))
        transcript = record_episode(incident, lambda _: RankingPolicy(METHODS[name]), name)
        ranking = ranking_of(transcript.extra, incident.topology.names, None)
        best = ranking[0][0]
        telemetry = incident.telemetry
        assert isinstance(telemetry, RecordedTelemetry)
        figures = telemetry.figures(incident.horizon - RESERVE)[incident.topology.index(best)]
        yield attrs.evolve(
            _ranked(name, row, ranking),
            grades=at_prices(row, answering(best, fault_class(figures))),
        )


def answering(service: str, of: lt.actions.FaultCategory) -> Callable[[lt.Incident], Policy]:
    """A policy that gives one answer."""
    actions = (lt.IdentifyRootCause(service), lt.ClassifyFault(of), lt.Resolve())
    return lambda _: ConstantPolicy(actions)


def commonest(rows: Sequence[Recorded]) -> Iterator[Row]:
    """The commonest service and class of all other groups, as a constant answer."""
    for row in rows:
        others = [one.record.truth for one in rows if one.group != row.group]
        service = Counter(name for one in others for name in one.root_causes).most_common(1)[0][0]
        of = Counter(one.category for one in others).most_common(1)[0][0]
        found = _ranked(COMMONEST, row, ((service,),))
        grades = () if of is None else at_prices(row, answering(service, of))
        yield attrs.evolve(found, grades=grades)


def with_bar(rows: Sequence[Row]) -> Iterator[Row]:
    """A method that hands over at prices above its mean grade on all other groups."""
    for row in rows:
        others = [one.grades[0] for one in rows if one.group != row.group]
        mean = sum(others) / len(others)
        grades = tuple(
            price if price > mean else grade
            for price, grade in zip(PRICES_OF_HAND_OVER, row.grades, strict=True)
        )
        yield attrs.evolve(row, method=f"{row.method}, handing over by its mean", grades=grades)


def of_group(row: Recorded) -> object:
    """Its group: what is left out since injections repeat."""
    return row.group


def of_kind(row: Recorded) -> str:
    """The kind of its fault: what is left out where a kind is unknown."""
    return row.record.truth.kind


def fitted(
    method: str, rows: Sequence[Recorded], fit: Fit, by: Callable[[Recorded], object]
) -> list[Row]:
    """The observer by a world of all groups but the recording's own, chosen without it, too."""
    return left_out(rows, partial(chosen, fit), observed(method), by)


def chosen(fit: Fit, rows: Sequence[Recorded]) -> World:
    """The world of some recordings, smoothed by what holds on groups left out."""
    return fit.world(rows, fit.choose(rows))


def transferred(method: str, make: Callable[[], World], rows: Sequence[Recorded]) -> list[Row]:
    """The observer by a world that was fitted to another data set, or to none."""
    world = make()
    return [observed(method)(world, row) for row in rows]
