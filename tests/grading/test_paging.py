"""Rubric ``logtriage/3`` by hand: totals, factors, and every reason word for word."""

import attrs
import numpy as np
import pytest

import logtriage as lt
from logtriage.actions import action_id
from logtriage.dynamics import play
from logtriage.errors import InvalidInput, RubricError
from logtriage.grading import TRIAGE_3, grade_batch, paging, truths_of
from logtriage.grading.batch import CLOSINGS, PADDING
from logtriage.policies.oracle import perfect_actions
from logtriage.state import Closing, State
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    WRONG_REMEDY,
    benign_incident,
    played,
    real_incident,
    with_hand_over,
)

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


@pytest.mark.parametrize(
    ("plan", "score", "discounts"),
    [
        (
            (RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END),
            0.75 * 0.32 * 0.7,
            {"unescalated": 0.32, "unapproved_fix": 0.7},
        ),
        (
            (WRONG_REMEDY, WRONG_REMEDY, RIGHT_PAGE, FIX, END),
            0.3**2 * (0.25 + 0.05 + 0.1),
            {"unapproved": 0.3**2},
        ),
        ((RIGHT_PAGE, lt.HandOver()), 0.25, {}),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, lt.HandOver()), 1.0, {}),
        ((lt.HandOver(),), 0.7, {}),
        ((RIGHT_CAUSE, lt.HandOver()), 0.7, {}),
    ],
)
def test_totals_of_a_fault(
    plan: tuple[object, ...], score: float, discounts: dict[str, float]
) -> None:
    found = lt.grade(played(REAL, *plan))  # type: ignore[arg-type]
    assert found.score == pytest.approx(score, abs=1e-12)
    assert {one.name: one.factor for one in found.discounts} == pytest.approx(discounts)


@pytest.mark.parametrize(
    ("plan", "score"),
    [
        ((WRONG_REMEDY, WRONG_REMEDY, lt.Ignore()), 0.09 * 0.8),
        ((WRONG_REMEDY, lt.HandOver()), 0.0),
        ((lt.HandOver(),), 0.7),
    ],
)
def test_totals_of_a_benign_incident(plan: tuple[object, ...], score: float) -> None:
    assert lt.grade(played(BENIGN, *plan)).score == pytest.approx(score, abs=1e-12)  # type: ignore[arg-type]


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
def test_a_batch_is_graded_by_its_own_rubric_and_hands_over() -> None:
    incidents = [
        with_hand_over(lt.make_incident(f"single_crash-v4/val/{number}")) for number in range(70)
    ]
    draws = np.random.default_rng(3)
    lists = draws.integers(0, 75, (70, 8))
    lists[::5, 0] = 74
    lists[:, 6:] = PADDING
    found = grade_batch(truths_of(incidents), lists)
    assert found.rubric is TRIAGE_3
    for row, incident in enumerate(incidents):
        known = lt.all_actions(incident.topology, hand_over=True)
        wanted = lt.grade(play(incident, [known[one] for one in lists[row, :6]])[0])
        assert found.scores[row] == wanted.score
    assert (found.scores[::5] > 0).all()


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


def test_worth_of_a_hand_over() -> None:
    assert paging.hand_over_worth(0.8, 3, 10, 5) == 0.8
    assert paging.hand_over_worth(0.8, 10, 10, 5) == pytest.approx(0.72)
