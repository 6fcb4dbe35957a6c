"""Compile the kernels, so that no worker of a test run compiles its own."""

import attrs
import numpy as np

from logtriage import Incident, Report, initial_state, make_incident
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.grading import grade_batch, truths_of
from logtriage.grading.batch import WORTH_A_KERNEL
from logtriage.roles import role_actions
from logtriage.roles.splits import TRIO
from logtriage.tasks import get_task
from logtriage.vector import BatchedTeam, BatchedTriage, BeliefScreens, belief_batch
from logtriage.world.topologies import random_topology


def main() -> None:
    compile_teams()
    batch = BatchedTriage("cascading_failure-v4")
    batch.reset("test", [0])
    BeliefScreens(batch).begin(batch.look())
    batch.step([0])
    incident = make_incident("cascading_failure-v4/test/0")
    belief_batch([initial_state(incident)]).logs()
    # Actions are integers of one byte, or of two on a large topology; a batch has either layout.
    for one in (incident, on_large_topology()):
        truths = truths_of([one] * WORTH_A_KERNEL)
        listed = [[0, 0]] * WORTH_A_KERNEL
        grade_batch(truths, listed)
        grade_batch(truths, np.array(listed, order="F"))


def compile_teams() -> None:
    """Compile what roles that talk need beside the kernels of single agents."""
    late = tuple(attrs.evolve(role, loss=50) for role in TRIO.roles)
    team = BatchedTeam("cascading_failure-v4", attrs.evolve(TRIO, name="late", roles=late))
    team.reset("test", [0])
    world = team.engine.setting.public.world
    choices = [role_actions(role, team.topology, world, hand_over=True) for role in late]
    reports = [[isinstance(choice, Report) for choice in mine].index(True) for mine in choices]
    team.step([[place] for place in reports])


def on_large_topology() -> Incident:
    task = get_task("single_crash-v4")
    return draw_incident(task, IncidentId(task, "train", 0), random_topology(0, 40))


if __name__ == "__main__":
    main()
