"""Expectations by a belief: W of what is known, Q of a step, H of everything at once.

What no table holds is a mean over imagined continuations.
"""

import attrs

from logtriage.actions import (
    Escalate,
)
from logtriage.belief.beliefs import Belief, Standing, believed
from logtriage.belief.imagining import Imagination, imagine, imagine_conditions
from logtriage.belief.model import Model
from logtriage.belief.planner import Planner
from logtriage.belief.plans import closed_values
from logtriage.belief.set_case import SetCase
from logtriage.belief.set_plans import NEGLIGIBLE, best_set_plan
from logtriage.belief.stakes import UNIT
from logtriage.evidence import cells_on, evidence
from logtriage.state import Closing, State, facts_of
from logtriage.world.channels import GAUGES, LINES, SERIES, SPANS, Channel, Evidence
from logtriage.world.schedule import Cell, Doings, alert_starts, epoch_starts


def value_of_belief(held: Belief) -> float:
    """W: the expected final grade of the best plan."""
    if held.model.setting.several:
        return best_set_plan(held).value
    planner = Planner(held)
    return planner.value / UNIT / planner.total


def expected_after(held: Belief, now: State, after: State, samples: int) -> float:
    """Q: the expected W after the step, by the belief before it."""
    incident = now.incident
    action = after.history[-1][1]
    share = 1.0
    if isinstance(action, Escalate):
        # A wrong page is worth 0; what follows a right one is imagined.
        share = held.teams.get(action.team, 0.0)
        if not share:
            return 0.0
    closing = after.closing
    if closing is Closing.MISROUTED:  # had it been right, the incident would be open
        closing = Closing.OUT_OF_TIME if after.tick >= incident.horizon else None
    if closing is not None:
        return share * _closed(held, now, after, closing)
    return share * _imagined(held, now, after, samples)


def _restricted(held: Belief, after: State) -> list[int]:
    """The weights of the hypotheses under which the step leaves the incident open."""
    action = after.history[-1][1]
    if not isinstance(action, Escalate):
        return list(held.weights)
    return [
        weight if action.team in held.teams_of(place) else 0
        for place, weight in enumerate(held.weights)
    ]


def _standing(held: Belief, now: State, after: State) -> Standing:
    """Where the episode stands after the step, as the belief sees it."""
    facts = facts_of(now.incident, after.history)
    return Standing.of(now.tick + 1, held.standing.stakes, facts, None)


def _closed(held: Belief, now: State, after: State, closing: Closing) -> float:
    """The expected grade of an incident that closes with this step."""
    row = _restricted(held, after)
    found = attrs.evolve(held.posterior, weights=tuple(row))
    if held.model.setting.several:
        action = (after.history[-1][1],)
        left = Belief(held.model, held.directory, found, held.standing)
        return SetCase.of(left, negligible=NEGLIGIBLE).value(action) / UNIT
    planner = Planner(Belief(held.model, held.directory, found, _standing(held, now, after)))
    values = closed_values(
        planner.case,
        after.tick,
        resolved=closing is Closing.RESOLVED,
        ignored=closing is Closing.IGNORED,
    )
    return float((planner.weights * values).sum()) / UNIT / planner.total


def _imagined(held: Belief, now: State, after: State, samples: int) -> float:
    """The mean of W over imagined screens after the step."""
    model, row = held.model, _restricted(held, after)
    standing = _standing(held, now, after)
    doings, tick = standing.doings, now.tick + 1
    fresh = [
        cell for cell in cells_on(now.incident, tick, doings) if cell not in held.posterior.seen
    ]
    shown = evidence(now)
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, now.tick, number)
        place = chance.pick(row)
        conditions, severity = imagine_conditions(held, place, chance)
        drawn = imagine(model, held.directory, place, conditions, severity, fresh, doings, chance)
        total += value_of_belief(_updated(held, now, (*shown, *drawn), standing))
    return total / samples


def _updated(
    held: Belief, now: State, evidence: tuple[Evidence, ...], standing: Standing
) -> Belief:
    """The belief that all of the evidence gives, where the episode stands then."""
    model, found = believed(held.model.setting, now.incident, evidence, standing.doings)
    return Belief(model, held.directory, found, standing)


def with_everything(held: Belief, now: State, tick: int, samples: int) -> float:
    """H: the expected W if every channel of every service had been read at the closing tick."""
    model, standing = held.model, held.standing
    doings = standing.doings
    shown = evidence(now)
    wanted = [cell for cell in _everything(model, tick) if cell not in held.posterior.seen]
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, 1 << 20, number)
        place = chance.pick(held.weights)
        conditions, severity = imagine_conditions(held, place, chance)
        drawn = imagine(model, held.directory, place, conditions, severity, wanted, doings, chance)
        total += value_of_belief(_updated(held, now, (*shown, *drawn), standing))
    return total / samples


def _everything(model: Model, tick: int) -> list[Cell]:
    """What every request would show at a tick, and every alert until then."""
    nothing = Doings()
    epochs = epoch_starts(tick, nothing)[-SERIES:]
    alerts = alert_starts(model.setting, tick, nothing)
    found: list[Cell] = [(Channel.EDGE, -1, 0, epochs[-1])]
    for service in range(len(model.topology)):
        found.extend((Channel.ALERT, service, 0, start) for start in alerts)
        found.extend((Channel.LOGS, service, line, tick) for line in range(LINES))
        for channel, slots in ((Channel.METRICS, GAUGES), (Channel.TRACES, SPANS)):
            found.extend(
                (channel, service, slot, start) for slot in range(len(slots)) for start in epochs
            )
    return found
