"""``belief_batch``: the posteriors of many scalar states at once.

>>> import logtriage as lt
>>> from logtriage.vector import belief_batch
>>> ids = lt.incident_ids("cascading_failure-v4", "test", 100)
>>> batch = belief_batch([lt.initial_state(lt.make_incident(id)) for id in ids])
>>> batch.teams().shape
(100, 5)
"""

from collections.abc import Sequence

import numpy as np

from logtriage._lib.grouping import grouped
from logtriage.actions import Escalate, Remediate, action_id
from logtriage.beliefs.model import Model, model_of
from logtriage.errors import InvalidInput
from logtriage.evidence import evidence
from logtriage.roles import Role
from logtriage.roles.splits import SplitLike
from logtriage.state import Closing, State
from logtriage.tasks import UNSEEN_TASKS
from logtriage.topology import Topology
from logtriage.vector.arrays import padded
from logtriage.vector.beliefs import BeliefBatch


def belief_batch(states: Sequence[State], role: Role | SplitLike | None = None) -> BeliefBatch:
    """The posteriors of states (N,), given all evidence shown so far, or all shown to ``role``.

    For a split, the evidence shown to any of its roles counts. To follow an engine, use
    :class:`logtriage.vector.BeliefScreens` or :class:`logtriage.vector.TeamBeliefs` instead.

    Raises:
        InvalidInput: for no states, for states that differ in topology, setting or prior (worlds of
            one pool may differ), and for an incident that no task draws.
        MissingExtra: where Numba is not installed.
    """
    models = _models_of(states)
    every = tuple(dict.fromkeys(models))
    incidents = [state.incident for state in states]
    horizon = max(max(state.incident.horizon, state.tick) for state in states)
    batch = BeliefBatch(*every, count=len(states), horizon=horizon)
    batch.reset(
        [
            [incident.topology.teams.index(team) for team in incident.directory]
            for incident in incidents
        ],
        worlds=[every.index(model) for model in models],
    )
    shown = [evidence(state, role) for state in states]
    done = [_done(state, state.incident.topology) for state in states]
    # Each cell is taken in at its own tick; the order does not change the posterior. The last round
    # is for actions of a tick that has not passed yet (:func:`logtriage.dynamics.apply`).
    for now in range(max(state.tick for state in states) + 2):
        rows = [
            row for row, state in enumerate(states) if now <= state.tick or now - 1 in done[row]
        ]
        if not rows:
            continue
        cells = [[item for item in shown[row] if max(item.start, 0) == now] for row in rows]
        acted = [done[row].get(now - 1, []) for row in rows]
        wrong = [
            states[row].closing is Closing.MISROUTED and now - 1 == states[row].history[-1][0]
            for row in rows
        ]
        batch.update(
            batch.numbers(cells, rows), padded(acted, fill=-1), misrouted=np.array(wrong), rows=rows
        )
    return batch


def _done(state: State, topology: Topology) -> dict[int, list[int]]:
    """The canonical integers of the pages and remedies in each tick, in order."""
    return grouped(
        (tick, action_id(action, topology))
        for tick, action in state.history
        if isinstance(action, Escalate | Remediate)
    )


def _models_of(states: Sequence[State]) -> list[Model]:
    """The model of each state; InvalidInput for states that do not fit in one batch."""
    if not states:
        raise InvalidInput("a batch of beliefs needs at least one state")
    first, models = states[0].incident, []
    for row, state in enumerate(states):
        incident = state.incident
        if incident.setting is None:
            raise InvalidInput(f"{incident.id}: a belief needs an incident that a task draws")
        pooled = incident.task == first.task and incident.task in UNSEEN_TASKS
        alike = ("held",) if pooled else ("setting", "topology", "held")
        for name in alike:
            if getattr(incident, name) != getattr(first, name):
                raise InvalidInput(
                    f"states[{row}] ({incident.id}) has another {name} than states[0] "
                    f"({first.id}); a batch has one"
                )
        models.append(model_of(incident.setting, incident.topology, incident.held))
    return models
