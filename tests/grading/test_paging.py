"""Rubric ``logtriage/3`` by hand: totals, factors, and every reason word for word."""

import attrs
import pytest

import logtriage as lt
from logtriage.actions import action_id
from logtriage.errors import InvalidInput, RubricError
from logtriage.grading import grade_batch, truths_of
from logtriage.grading.batch import CLOSINGS
from logtriage.policies.oracle import perfect_actions
from logtriage.state import Closing, State
from tests.builders import benign_incident, played, real_incident, with_hand_over

END = lt.Resolve()


def with_worth(incident: lt.Incident, worth: float | None = 0.7) -> lt.Incident:
    return attrs.evolve(incident, rubric="logtriage/3", worth_of_hand_over=worth)


REAL = with_worth(attrs.evolve(real_incident(), par=6))
BENIGN = with_worth(attrs.evolve(benign_incident(), par=4))
SEVERAL = next(
    one
    for number in range(50)
    if len(
        (one := with_hand_over(lt.make_incident(f"compound_failure-v4/val/{number}"))).truth.several
    )
    == 2
)


def _reasons(state: State) -> dict[str, str]:
    found = lt.grade(state)
    told = {one.name: one.reason for one in found.criteria}
    return told | {one.name: one.reason for one in found.discounts}


def test_each_of_several_fixes_before_the_first_page_counts() -> None:
    parts = SEVERAL.truth.several
    pages = [lt.Escalate(next(iter(part.teams))) for part in parts]
    fixes = [one for one in perfect_actions(SEVERAL) if isinstance(one, lt.Remediate)]
    teams = " or ".join(sorted(SEVERAL.truth.teams))
    assert pages[0] != pages[1]

    def told(*plan: object) -> dict[str, tuple[float, str]]:
        found = lt.grade(played(SEVERAL, *plan))  # type: ignore[arg-type]
        return {one.name: (one.factor, one.reason) for one in found.discounts}

    assert told(fixes[0], *pages)["unapproved_fix"] == (
        0.7,
        f"1 of 2 faults fixed before {teams} had been paged: each leaves 0.7 of the rest",
    )
    assert told(*fixes, *pages)["unapproved_fix"][0] == pytest.approx(0.7**2)
    assert told(fixes[1], pages[0], fixes[0], pages[1])["unapproved_fix"][0] == 0.7
    for page in pages:
        assert "unapproved_fix" not in told(page, *fixes)
    reasons = _reasons(played(SEVERAL, fixes[0], *pages))
    assert reasons["remediation"].startswith("1 of 2 faults fixed; not applied: ")


@pytest.mark.parametrize("worth", [None, -0.1, 1.5])
def test_a_hand_over_needs_a_worth(worth: float | None) -> None:
    incident = with_worth(REAL, worth)
    state = State(incident, 1, ((0, lt.HandOver()),), Closing.HANDED_OVER)
    with pytest.raises(RubricError, match=r"worth_of_hand_over from 0 to 1, got"):
        lt.grade(state)


@pytest.mark.usefixtures("either_way")
def test_a_hand_over_is_an_action_where_any_incident_has_its_worth() -> None:
    free = with_worth(REAL, None)
    resolve = action_id(lt.Resolve(), REAL.topology)
    hand_over = action_id(lt.HandOver(), REAL.topology, hand_over=True)
    found = grade_batch(truths_of([REAL, free]), [[hand_over, resolve]] * 2)
    assert found.scores.tolist() == [pytest.approx(0.7), 0.0]
    assert [CLOSINGS[one] for one in found.closing] == [Closing.HANDED_OVER, Closing.RESOLVED]
    with pytest.raises(InvalidInput, match=f"is {hand_over}; .* has actions 0 to {hand_over - 1}"):
        grade_batch(truths_of([free]), [[hand_over]])


@pytest.mark.usefixtures("either_way")
def test_a_worth_out_of_range_is_refused_in_a_batch_where_it_counts() -> None:
    truths = truths_of([REAL, with_worth(REAL, 1.5)])
    assert len(grade_batch(truths, [[0], [0]])) == 2
    with pytest.raises(RubricError, match="worth_of_hand_over from 0 to 1, got"):
        grade_batch(truths, [[0], [truths.action_count - 1]])
