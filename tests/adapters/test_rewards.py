"""A grade by criterion: shares that add up, and none where nothing is scored."""

import attrs
import pytest

import logtriage as lt
from logtriage.adapters.rewards import REST, by_criterion, metrics_of, reward_names
from logtriage.grading import DEFAULT, TRIAGE_3, Criterion, Grade
from logtriage.grading.criteria import severity
from logtriage.policies import perfect_actions

INCIDENT = lt.make_incident("single_crash-v4/test/0")


def played(*actions: lt.Action) -> Grade:
    return lt.grade(lt.play(INCIDENT, actions))


def test_shares_are_what_each_criterion_added_to_the_grade() -> None:
    grade = played(*perfect_actions(INCIDENT))
    shares = by_criterion(grade)
    assert shares == pytest.approx(
        {**{criterion.name: criterion.weight for criterion in grade.criteria}, REST: 0}
    )
    assert sum(shares.values()) == grade.score == 1.0


def test_discounts_and_gates_are_in_the_shares() -> None:
    right = perfect_actions(INCIDENT)
    late = played(lt.RequestMoreLogs(None), lt.RequestMoreLogs(None), *right[:2])
    assert sum(by_criterion(late).values()) == late.score
    wrong = next(team for team in INCIDENT.topology.teams if team not in INCIDENT.truth.teams)
    gated = played(right[0], lt.Escalate(wrong))
    assert gated.gate is not None
    assert set(by_criterion(gated).values()) == {0.0}
    assert metrics_of(gated)["gated"] == 1.0
    assert metrics_of(gated)[right_name(gated)] == 1.0  # earned, and lost at the gate


def right_name(grade: Grade) -> str:
    return next(row.name for row in grade.criteria if row.score == 1.0)


def test_names_are_those_of_every_incident_of_the_rubric() -> None:
    assert reward_names(TRIAGE_3)[-1] == REST
    assert set(by_criterion(played(lt.Resolve()))) <= set(reward_names(TRIAGE_3))
    taken = attrs.evolve(
        DEFAULT, id="mine/1", criteria=(Criterion(REST, 1.0, severity),), benign=()
    )
    with pytest.raises(lt.InvalidInput, match="'rest' is what bounds and rounding add"):
        reward_names(taken)
    with pytest.raises(lt.InvalidInput, match="a criterion called 'rest'"):
        by_criterion(lt.grade(lt.initial_state(INCIDENT), taken))
