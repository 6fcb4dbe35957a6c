"""The oracle: full marks everywhere, in the fewest ticks."""

import pytest

import logtriage as lt
from logtriage.drawing.ids import SPLITS
from logtriage.grading import RECORDED, grade
from logtriage.playing import play
from logtriage.policies import OraclePolicy, perfect_actions
from logtriage.tasks import TaskSpec
from tests.builders import P1, P3, SMALL_TASKS, benign_incident, played, real_incident


@pytest.mark.parametrize("task", SMALL_TASKS, ids=lambda task: task.id)
@pytest.mark.parametrize("split", SPLITS)
def test_the_oracle_scores_1_everywhere(task: TaskSpec, split: str) -> None:
    for one in lt.incident_ids(task.id, split, 40):
        graded = grade(play(lt.make_incident(one), OraclePolicy))
        assert graded.score == 1.0, graded
        assert graded.ticks <= 5


def test_perfect_actions_by_hand() -> None:
    assert perfect_actions(real_incident()) == (
        lt.ClassifySeverity(P1), lt.IdentifyRootCause("user-db", 1.0), lt.Escalate("dba-team"),
        lt.Remediate("kill-query", "user-db"), lt.Resolve(),
    )  # fmt: skip
    assert perfect_actions(benign_incident()) == (lt.ClassifySeverity(P3), lt.Ignore())


def test_what_a_recording_does_not_know_is_left_out() -> None:
    incident = real_incident(None, teams=(), remedies=())
    actions = perfect_actions(incident)
    assert actions == (lt.IdentifyRootCause("user-db", 1.0), lt.Resolve())
    assert grade(played(incident, *actions), RECORDED).score == 1.0
