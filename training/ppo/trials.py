"""The trials of a trained agent: held-out incidents at every level of fog, and split ``ood``."""

from collections.abc import Mapping
from typing import Any

import attrs

from logtriage.tasks import TaskSpec
from training.common.tasks import sheet_of
from training.ppo.acting import Acts
from training.ppo.curriculum import with_fog
from training.ppo.evaluate import Played, play_held_out

#: Incidents of split ``ood`` are looked for one by one: that many.
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
    found["ood"] = _figures(play_held_out(agent, task, ood_incidents, split="ood"))
    return found


def _figures(played: Played) -> Mapping[str, Any]:
    teams = {
        team: {"faults": faults, "paged": paged}
        for team, (faults, paged) in played.by_team().items()
    }
    return {**attrs.asdict(played.result()), "teams": teams}
