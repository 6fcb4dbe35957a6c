"""The trials of a trained agent: held-out incidents at every level of fog, and split ``ood``."""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

import attrs
import numpy as np

from logtriage.actions import all_actions
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.grading import score
from logtriage.grading.batch import CLOSINGS
from logtriage.incident import Incident
from logtriage.observation import observe
from logtriage.state import State, initial_state
from logtriage.tasks import TaskSpec
from logtriage.topology import Topology
from logtriage.transition import transition
from logtriage.vector import BatchedTriage, Step, action_mask, encode_tokens
from training.common.tasks import sheet_of
from training.ppo.acting import Acts, mask_of
from training.ppo.curriculum import with_fog
from training.ppo.evaluate import Played, play_held_out

#: Incidents of split ``ood`` are played one by one by the scalar core: that many.
OOD_INCIDENTS = 300


def trials(agent: Acts, task: str | TaskSpec, incidents: int, ood_incidents: int) -> dict[str, Any]:
    """Figures by trial: ``fog0`` and each further level of fog on split ``test``, and ``ood``.

    Each has those of :class:`training.ppo.evaluate.Result`, and ``teams``: for each team of
    the directory the number of its faults, and the share in which it was paged.
    """
    found: dict[str, Any] = {}
    for fog in range(len(sheet_of(task).world.rules.fog)):
        played = play_held_out(agent, with_fog(task, fog), incidents)
        found[f"fog{fog}"] = _figures(played)
    found["ood"] = _figures(play_ood(agent, task, ood_incidents))
    return found


def _figures(played: Played) -> Mapping[str, Any]:
    teams = {
        team: {"faults": faults, "paged": paged}
        for team, (faults, paged) in played.by_team().items()
    }
    return {**attrs.asdict(played.result()), "teams": teams}


def ood_incidents(task: str | TaskSpec, topology: Topology) -> Iterator[Incident]:
    """The incidents of split ``ood`` that lie on a topology, in order.

    About half do; the others have one each, with as many services as it happens, and
    networks of a fixed width cannot read those.
    """
    sheet = sheet_of(task)
    every = (draw_incident(sheet, IncidentId(sheet, "ood", index)) for index in count())
    return (one for one in every if one.topology == topology)


def play_ood(agent: Acts, task: str | TaskSpec, incidents: int) -> Played:
    """Play the first incidents of split ``ood`` that lie on the task's own topology, greedily."""
    sheet = sheet_of(task)
    batch = BatchedTriage(sheet)
    inputs = agent.reader(batch, ood=True)
    choices = all_actions(batch.topology)
    chosen = list(islice(ood_incidents(task, batch.topology), incidents))
    states = [initial_state(one) for one in chosen]
    screen, none = _screen(states), np.zeros(0, np.int64)
    seen, taken = inputs.begin(screen), []
    while (screen.closing < 0).any():
        actions = agent.act(seen, mask_of(screen)).numpy()
        taken.append(actions)
        states = [
            one if one.is_closed else transition(one, choices[action])
            for one, action in zip(states, actions.tolist(), strict=True)
        ]
        screen = _screen(states)
        seen = inputs.read(screen, actions, none)
    return Played(
        sheet,
        tuple(one.id for one in chosen),
        np.stack(taken),
        screen.tick,
        screen.score,
        screen.closing,
        np.asarray(screen.observation[:, batch.layout["paged"]].any(axis=1)),
    )


def _screen(states: list[State]) -> Step:
    """What the batched engine would show of scalar states."""
    return Step(
        np.stack([encode_tokens(one) for one in states]),
        np.stack([action_mask(observe(one)) for one in states]),
        np.zeros(len(states)),
        np.array([-1 if one.closing is None else CLOSINGS.index(one.closing) for one in states]),
        np.array([score(one) for one in states]),
        np.array([one.tick for one in states]),
    )
