"""Rubric ``logtriage/3`` by hand: cells, totals, and every reason word for word."""

import attrs
import pytest

import logtriage as lt
from logtriage.grading import paging, triage
from tests.builders import (
    FIX,
    P1,
    P2,
    P3,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    WAIT,
    WRONG_PAGE,
    WRONG_REMEDY,
    benign_incident,
    played,
    real_incident,
    waits,
)

REAL = real_incident()
BENIGN = attrs.evolve(benign_incident(), par=3)
END = lt.Resolve()
PERFECT = (RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, END)
WRONG_CAUSE = lt.IdentifyRootCause("auth-service")


@pytest.mark.parametrize("first", [(RIGHT_PAGE,), (WAIT,)], ids=["paged", "unpaged"])
@pytest.mark.parametrize(("wrong", "left"), {0: 1.0, 1: 0.6, 2: 0.2, 3: 0.0, 4: 0.0}.items())
def test_remediation_with_wrong_remedies_before_and_after_the_fix(
    wrong: int, left: float, first: tuple[lt.Action, ...]
) -> None:
    for before in range(wrong + 1):
        rest = (*(WRONG_REMEDY,) * before, FIX, *(WRONG_REMEDY,) * (wrong - before))
        score, reason = paging.remediation(played(REAL, *first, *rest))
        assert score == pytest.approx(left, abs=1e-12)
        assert f"fixed in tick {before + 1}" in reason
        assert ("wrong remed" in reason) == bool(wrong)


def test_remediation_an_accepted_remedy_again_is_not_wrong() -> None:
    incident = real_incident(remedies=(("kill-query", "user-db"), ("restart", "user-db")))
    both = played(incident, RIGHT_PAGE, lt.Remediate("restart", "user-db"), FIX, FIX)
    assert paging.remediation(both)[0] == 1.0


#: (horizon, par) -> {ticks used when closed: score}
PROMPT: dict[tuple[int, int], dict[int, float]] = {
    (8, 5): {2: 1, 4: 1, 5: 1, 6: 2 / 3, 7: 1 / 3, 8: 0},
    (12, 5): {2: 1, 5: 1, 6: 6 / 7, 7: 5 / 7, 8: 4 / 7, 11: 1 / 7, 12: 0},
    (15, 9): {2: 1, 9: 1, 10: 5 / 6, 11: 4 / 6, 14: 1 / 6, 15: 0},
    (8, 2): {2: 1, 3: 5 / 6, 4: 4 / 6, 7: 1 / 6, 8: 0},
    (5, 5): {2: 1, 5: 1},
    (2, 5): {2: 1},
}
PROMPT_CELLS = [(*key, used, score) for key, row in PROMPT.items() for used, score in row.items()]


@pytest.mark.parametrize(("horizon", "par", "used", "score"), PROMPT_CELLS)
def test_closure_by_ticks_used(horizon: int, par: int, used: int, score: float) -> None:
    incident = attrs.evolve(real_incident(horizon=horizon), par=par)
    for fix_at in {0, used - 2}:
        acts: list[lt.Action] = [*waits(used - 1), END]
        acts[fix_at] = FIX
        assert triage.closure(played(incident, *acts))[0] == pytest.approx(score, abs=1e-12)
    calm = attrs.evolve(benign_incident(horizon), par=par)
    dismissed = played(calm, *waits(used - 1), lt.Ignore())
    assert triage.benign_closure(dismissed)[0] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("plan", "total"),
    [
        ((), 0.0),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, END), 1.0),
        ((RIGHT_PAGE, END), 0.25),
        ((RIGHT_SEVERITY, END), 0.15 * 0.32),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END), 0.75 * 0.7 * 0.32),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, FIX, RIGHT_PAGE, END), 0.7),
        ((RIGHT_SEVERITY, RIGHT_PAGE, FIX, RIGHT_CAUSE, END), 0.75),
        ((RIGHT_SEVERITY, FIX, RIGHT_CAUSE, RIGHT_PAGE, END), 0.7 * 0.75),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, WRONG_REMEDY, FIX), 0.65 + 0.25 * 0.6),
        ((RIGHT_PAGE, *(WRONG_REMEDY,) * 3, FIX), 0.25),
        ((WRONG_REMEDY, RIGHT_PAGE, FIX), 0.3 * (0.25 + 0.25 * 0.6)),
        ((WRONG_REMEDY, WRONG_REMEDY, FIX), 0.09 * 0.7 * 0.32 * 0.25 * 0.2),
        ((RIGHT_PAGE, FIX, WRONG_REMEDY), 0.25 + 0.25 * 0.6),
        ((FIX, WRONG_REMEDY, RIGHT_PAGE, FIX), 0.7 * 0.3 * (0.25 + 0.25 * 0.6)),
        ((RIGHT_PAGE, FIX, *waits(4), END), 0.25 + 0.25 + 0.10 * 5 / 7),
        ((WAIT, *PERFECT), 0.90 + 0.10 * 6 / 7),
        ((*PERFECT[:4], *waits(7), END), 0.90),
        ((*PERFECT[:4], *waits(8)), 0.90),  # out of time
        (waits(12), 0.0),
        ((END,), 0.0),
        ((WRONG_REMEDY, END), 0.0),
        ((lt.ClassifySeverity(P2), RIGHT_PAGE), 0.15 * 0.25 + 0.25),
        ((lt.ClassifySeverity(P3), RIGHT_PAGE), 0.25),
        ((RIGHT_CAUSE, END), 0.25 * 0.32),
        ((WRONG_CAUSE, RIGHT_PAGE), 0.25),
        ((RIGHT_SEVERITY, WRONG_CAUSE, RIGHT_CAUSE, RIGHT_PAGE, FIX, END), 0.65 + 0.6 / 7),
        ((RIGHT_PAGE, RIGHT_PAGE, RIGHT_PAGE), 0.25),
        ((RIGHT_PAGE, FIX, FIX, FIX, END), 0.60),
        ((RIGHT_SEVERITY, RIGHT_SEVERITY, RIGHT_PAGE), 0.40),
        ((*(lt.Malformed("?", "unreadable"),) * 4, RIGHT_PAGE, FIX, END), 0.50 + 0.5 / 7),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, WRONG_PAGE), 0.0),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, lt.Ignore()), 0.0),
    ],
)
def test_a_real_fault(plan: tuple[lt.Action, ...], total: float) -> None:
    assert lt.grade(played(REAL, *plan)).score == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("plan", "total"),
    [
        ((lt.ClassifySeverity(P3), lt.Ignore()), 1.0),
        ((lt.ClassifySeverity(P3), WAIT, lt.Ignore()), 1.0),  # par is 3 here
        ((lt.ClassifySeverity(P3), WAIT, WAIT, lt.Ignore()), 0.9 + 0.1 * 11 / 12),
        ((lt.Ignore(),), 0.8),
        ((lt.ClassifySeverity(P2), lt.Ignore()), 0.85),
        ((lt.ClassifySeverity(P1), lt.Ignore()), 0.80),
        ((lt.ClassifySeverity(P3), *waits(13), lt.Ignore()), 0.90),
        ((*(WRONG_REMEDY,) * 5, lt.Ignore()), 0.3**5 * (0.7 + 0.10 * 9 / 12)),
        ((lt.ClassifySeverity(P3), RIGHT_CAUSE, lt.Ignore()), 0.2),
        ((lt.ClassifySeverity(P3), *waits(14)), 0.2),
        ((lt.ClassifySeverity(P3),), 0.2),
        ((), 0.0),
        ((WRONG_REMEDY, lt.Ignore()), 0.3 * 0.8),
        ((RIGHT_CAUSE, lt.Ignore()), 0.0),
        ((lt.ClassifySeverity(P3), WRONG_PAGE), 0.0),
        ((lt.ClassifySeverity(P3), lt.Resolve()), 0.2),
    ],
)
def test_a_benign_incident(plan: tuple[lt.Action, ...], total: float) -> None:
    graded = lt.grade(played(BENIGN, *plan))
    assert graded.score == pytest.approx(total, abs=1e-12)
    assert [one.name for one in graded.discounts] == ["unapproved"] * (WRONG_REMEDY in plan)


def test_a_wrong_root_cause_after_the_fix_is_wrong_and_not_late() -> None:
    graded = lt.grade(played(REAL, RIGHT_PAGE, FIX, lt.IdentifyRootCause("auth-service")))
    reason = graded.criterion("root_cause").reason
    assert reason == "auth-service is not the root cause; it was user-db"
