"""Several faults in a batch: what their arrays refuse, and what shares come to by hand."""

from typing import Any

import numpy as np
import pytest

import logtriage as lt
from logtriage.dynamics import play
from logtriage.grading import action_array, grade_batch, truths_of
from logtriage.policies import perfect_actions
from tests.drawing.test_compound import incident_with

INCIDENTS = [incident_with(faults) for faults in (0, 1, 2, 3)]


def responses(incident: lt.Incident) -> list[list[lt.Action]]:
    """Whole and half responses: late pages, late names, wrong ones, services named twice."""
    *steps, end = perfect_actions(incident)
    names, wrong = incident.topology.names, lt.Remediate("restart", "email-queue")
    roots = [one for one in steps if isinstance(one, lt.IdentifyRootCause)]
    pages = [one for one in steps if isinstance(one, lt.Escalate)]
    fixes = [one for one in steps if isinstance(one, lt.Remediate)]
    bad = [lt.IdentifyRootCause(one) for one in names if one not in incident.truth.root_causes]
    return [
        [*steps, end],
        [*steps[:-1], end],
        [*fixes, *pages, *roots, end],
        [*roots[:1], *roots[:1], *bad[:1], *roots[1:], *pages[:1], *fixes, lt.Resolve()],
        [wrong, *pages, wrong, *fixes[:1], *roots, wrong, *fixes],
        [*steps, wrong, wrong, wrong, end],
        [*fixes, end, *pages],
        [*bad, *roots, *pages],
        [],
    ]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("order", ["C", "F"])
def test_shares_are_those_of_the_scalar_grader(order: Any) -> None:
    rows = [(one, actions) for one in INCIDENTS for actions in responses(one)]
    truths = truths_of([one for one, _ in rows])
    lists = [listed for _, listed in rows]
    actions = action_array(INCIDENTS[0].topology, lists, hand_over=True)
    found = grade_batch(truths, np.asarray(actions, order=order))
    for row, (incident, listed) in enumerate(rows):
        wanted = lt.grade(play(incident, listed)[0])
        assert found.scores[row] == wanted.score, (incident.id, listed)
    assert len(set(found.scores.tolist())) > 15


def test_the_scalar_grader_says_whose_team_was_paged() -> None:
    found = (lt.make_incident(f"compound_failure-v4/test/{number}") for number in range(100))
    incident = next(one for one in found if len(one.truth.parts) == len(one.truth.teams) == 2)
    first, second = (min(part.teams) for part in incident.truth.parts)

    def told(*teams: str) -> tuple[float, str]:
        escalation = lt.grade(play(incident, [lt.Escalate(one) for one in teams])[0]).criterion(
            "escalation"
        )
        return escalation.score, escalation.reason

    assert told() == (0.0, f"{first}, {second} never paged")
    assert told(second) == (0.5, f"the team of 1 of 2 faults paged; {first} never paged")
    assert told(second, first) == (1.0, f"every team to page was: {second}, {first}")
    wrong = next(team for team in incident.topology.teams if team not in incident.truth.teams)
    assert told(second, first, wrong) == told(second, first)
    kinds = [part.fault.kind for part in incident.truth.parts if part.fault is not None]
    assert lt.grade(play(incident, [])[0]).fault_kind == " + ".join(kinds)


def test_no_incidents_with_several_faults_list_none() -> None:
    none = truths_of(INCIDENTS).take(slice(0, 0))
    assert none.most_faults == 0
    assert len(grade_batch(none, np.zeros((0, 12), np.int8))) == 0


def test_a_batch_without_such_incidents_asks_for_no_fault_apart() -> None:
    truths = truths_of(INCIDENTS[:2])
    assert (truths.faults, truths.most_faults) == (None, 0)
    several = truths_of(INCIDENTS)
    assert several.faults is not None
    assert several.faults.count.dtype == np.int8
    assert several.fault_count.tolist() == [1, 1, 2, 3]
    assert (several.most_faults, several.take([0, 1, 1]).most_faults) == (3, 0)
