"""What happened on the held-out incidents, by the scalar core: grades and who knew what.

The batched engine played them; here they are played once more from the actions alone,
one at a time, and graded criterion by criterion.
"""

from collections.abc import Iterator

import attrs

from logtriage.grading import grade
from logtriage.roles import role_actions
from logtriage.roles.words import NO_FAULT
from logtriage.state import State, initial_state
from logtriage.transition import transition_jointly
from training.common.tasks import incident_of
from training.marl.evaluate import Played
from training.marl.settings import Settings

#: Stands for the fault class, kind and team of an incident without a fault.
BENIGN = "benign"


@attrs.frozen
class Episode:
    """One held-out incident.

    ``criteria`` by name, before gates. ``depth``: calls from the edge down to the root
    cause, -1 if benign. ``declared``, ``severity`` and ``told``: the declaration was right,
    the kind of the fault (or that there is none) was among the ``words`` reported.
    ``paged`` is ``no``, ``right`` or ``wrong``.
    """

    incident: str
    score: float
    criteria: dict[str, float]
    closing: str
    ticks: int
    fault_class: str
    kind: str
    depth: int
    team: str
    declared: bool
    severity: bool
    told: bool
    words: tuple[str, ...]
    paged: str
    fixed: bool
    wrong_remedies: int


def states_of(played: Played, settings: Settings) -> Iterator[State]:
    """The last state of every incident, played by the scalar core."""
    split = settings.roles
    for row, (incident, ticks) in enumerate(zip(played.ids, played.ticks, strict=True)):
        state = initial_state(incident_of(settings.task, incident))
        topology = state.incident.topology
        choices = [role_actions(role, topology, hand_over=True) for role in split.roles]
        for chosen in played.actions[:ticks, :, row]:
            state = transition_jointly(
                state, [mine[one] for mine, one in zip(choices, chosen, strict=True)]
            )
        yield state


def review(state: State) -> Episode:
    """What became of one incident."""
    incident, facts, graded = state.incident, state.facts, grade(state)
    truth, topology = incident.truth, incident.topology
    fault, setting = truth.fault, incident.setting
    assert setting is not None  # teams are trained on drawn incidents
    words = tuple(dict.fromkeys(report.message for _, report in facts.reports))
    assert graded.score is not None
    assert state.closing is not None
    return Episode(
        incident=incident.id,
        score=graded.score,
        criteria={one.name: one.score for one in graded.criteria},
        closing=state.closing.value,
        ticks=graded.ticks,
        fault_class=BENIGN if fault is None else setting.world.kind(fault.kind).fault_class,
        kind=BENIGN if fault is None else fault.kind,
        depth=-1 if fault is None else topology.depth[topology.index(fault.service)],
        team=" or ".join(sorted(truth.teams)) or BENIGN,
        declared=facts.root_cause in truth.root_causes,
        severity=facts.severity is truth.severity,
        told=(NO_FAULT if fault is None else fault.kind) in words,
        words=words,
        paged="wrong" if facts.wrong_pages else "right" if facts.pages else "no",
        fixed=facts.fixed_at is not None,
        wrong_remedies=facts.wrong_remedies,
    )
