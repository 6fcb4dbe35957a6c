"""Expectations by a belief: Q of a step, H of everything at once.

Where no table holds an expectation, it is a mean over imagined continuations.
"""

from collections.abc import Sequence

import attrs
import numpy as np

from logtriage.actions import Escalate
from logtriage.beliefs.beliefs import Belief, believed
from logtriage.beliefs.cases import Standing
from logtriage.beliefs.imagining import Imagination, imagine
from logtriage.dynamics import closing_after
from logtriage.evidence import cells_on, evidence
from logtriage.facts import facts_of
from logtriage.state import Closing, State
from logtriage.world.channels import Channel, Evidence
from logtriage.world.schedule import Cell, Doings, scrapes
from logtriage.world.vocabulary import LOG


def expected_after(held: Belief, now: State, after: State, samples: int) -> float:
    """Q: the expected W after the step, by the belief before it."""
    incident = now.incident
    action = after.history[-1][1]
    share, weights = 1.0, held.posterior.weights
    if isinstance(action, Escalate):
        # A wrong page is worth 0; what follows a right page is imagined.
        share = held.teams.get(action.team, 0.0)
        if not share:
            return 0.0
        theirs = [action.team in held.teams_of(hypothesis) for hypothesis in held.hypotheses]
        weights = weights * np.array(theirs)
    closing = after.closing
    if closing is Closing.MISROUTED:  # had it been right, the incident would be open
        closing = closing_after(None, after.tick, incident)
    facts = facts_of(incident, after.history)
    right = attrs.evolve(held.posterior, weights=weights)
    then = Belief(right, Standing.of(now.tick + 1, held.standing.stakes, facts, None))
    if closing is not None:
        return share * then.planner().closed(after.tick, action)
    cells = cells_on(incident, now.tick + 1, facts.doings)
    return share * _mean_value(then, now, cells, now.tick, samples)


def _mean_value(held: Belief, now: State, cells: Sequence[Cell], key: int, samples: int) -> float:
    """The mean of W over what some cells might show beside what was shown."""
    standing, values = held.standing, dict[tuple[Evidence, ...], float]()
    fresh = [cell for cell in cells if cell not in held.posterior.seen]
    shown, before = evidence(now), held.posterior.outcomes  # what was shown is read once
    total = 0.0
    for number in range(samples):
        chance = Imagination(now.incident.id, key, number)
        place = chance.pick(held.weights)
        drawn = tuple(imagine(held.posterior, place, fresh, standing.doings, chance))
        if drawn not in values:
            kept = {before.listed.model: before}
            updated = believed(now.incident, (*shown, *drawn), standing.doings, kept=kept)
            values[drawn] = Belief(updated, standing).value()
        total += values[drawn]
    return total / samples


def with_everything(held: Belief, now: State, tick: int, samples: int) -> float:
    """H: the expected W if every channel of every service had been read at the closing tick."""
    return _mean_value(held, now, _all_cells(held, tick), 1 << 20, samples)


def _all_cells(held: Belief, tick: int) -> list[Cell]:
    """What every request would show at a tick, and every alert until then."""
    every = scrapes(tick, Doings())
    cells: list[Cell] = [(Channel.EDGE, -1, 0, every[-1])]
    slots = {Channel.LOGS: (LOG,), **held.world.slots}
    for service in range(len(held.topology)):
        for channel, sorts in slots.items():
            cells.extend(
                (channel, service, slot, start) for slot in range(len(sorts)) for start in every
            )
    return cells
