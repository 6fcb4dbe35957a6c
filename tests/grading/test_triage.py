"""Rubric ``logtriage/2`` by hand: totals, and every reason word for word."""

import attrs
import pytest

from logtriage import (
    Action,
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Ignore,
    Incident,
    Remediate,
    Remedy,
    Resolve,
    RubricError,
    grade,
    initial_state,
)
from logtriage.grading import TRIAGE_2, grade_actions, triage
from logtriage.state import Play, State
from logtriage.transition import play_jointly
from tests.builders import (
    FIX,
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


def priced(incident: Incident, price: float | None = 0.4, par: int = 5) -> Incident:
    return attrs.evolve(incident, rubric="logtriage/2", price_of_silence=price, par=par)


REAL = priced(real_incident())
BENIGN = priced(benign_incident(), par=3)
TWO_TEAMS = priced(real_incident(teams=("sre-team", "dba-team")))
END = Resolve()


def joint(*plays: Play, incident: Incident = REAL) -> State:
    return play_jointly(incident, plays)[0]


def test_what_can_be_earned_without_a_page() -> None:
    assert triage.MOST_UNPAGED == 0.625
    assert sum(triage.WEIGHTS.values()) == 1.0
    silent = played(REAL, RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END)
    assert grade(silent, attrs.evolve(TRIAGE_2, id="x", discounts=())).score == 0.625


@pytest.mark.parametrize(
    ("plan", "total"),
    [
        ((), 0.0),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, END), 1.0),
        ((RIGHT_PAGE, END), 0.25),
        ((RIGHT_SEVERITY, END), 0.15 * 0.64),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END), 0.4),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, FIX, RIGHT_PAGE, END), 0.875),
        ((RIGHT_SEVERITY, RIGHT_PAGE, FIX, RIGHT_CAUSE, END), 0.75),
        ((RIGHT_SEVERITY, FIX, RIGHT_CAUSE, RIGHT_PAGE, END), 0.625),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, WRONG_REMEDY, FIX), 0.65 + 0.25 * 0.6),
        ((RIGHT_PAGE, *(WRONG_REMEDY,) * 3, FIX), 0.25),
        ((WRONG_REMEDY, RIGHT_PAGE, FIX), 0.7 * (0.25 + 0.25 * 0.6)),
        ((WRONG_REMEDY, WRONG_REMEDY, FIX), 0.49 * 0.64 * 0.25 * 0.5 * 0.2),
        ((RIGHT_PAGE, FIX, WRONG_REMEDY), 0.25 + 0.25 * 0.6),
        ((FIX, WRONG_REMEDY, RIGHT_PAGE, FIX), 0.7 * (0.25 + 0.25 * 0.5 * 0.6)),
        ((RIGHT_PAGE, FIX, *waits(4), END), 0.25 + 0.25 + 0.10 * 5 / 7),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, WRONG_PAGE), 0.0),
        ((RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, Ignore()), 0.0),
    ],
)
def test_a_real_fault(plan: tuple[Action, ...], total: float) -> None:
    assert grade(played(REAL, *plan)).score == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("plan", "total"),
    [
        ((ClassifySeverity(P3), Ignore()), 1.0),
        ((ClassifySeverity(P3), WAIT, Ignore()), 1.0),  # par is 3 here
        ((ClassifySeverity(P3), WAIT, WAIT, Ignore()), 0.9 + 0.1 * 11 / 12),
        ((Ignore(),), 0.8),
        ((WRONG_REMEDY, Ignore()), 0.7 * 0.8 + 0.1),
        ((RIGHT_CAUSE, Ignore()), 0.0),
        ((ClassifySeverity(P3), WRONG_PAGE), 0.0),
        ((ClassifySeverity(P3), Resolve()), 0.2),
    ],
)
def test_a_benign_incident(plan: tuple[Action, ...], total: float) -> None:
    for price in (0.2, None):  # nothing is to be paged, so silence has no price
        state = played(attrs.evolve(BENIGN, price_of_silence=price), *plan)
        assert grade(state).score == pytest.approx(total, abs=1e-12)
        assert grade(state).discounts == ()


@pytest.mark.parametrize(
    ("state", "criterion", "reason"),
    [
        (played(REAL), "root_cause", "no root cause identified"),
        (played(REAL, RIGHT_CAUSE, FIX), "root_cause", "user-db is the root cause"),
        (
            played(REAL, IdentifyRootCause("auth-service"), FIX, RIGHT_CAUSE),
            "root_cause",
            "auth-service is not the root cause; it was user-db",
        ),
        (
            played(REAL, FIX, WAIT, RIGHT_CAUSE),
            "root_cause",
            "user-db is the root cause, but it was declared in tick 3, after the fix in tick 1: "
            "recovery is no diagnosis",
        ),
        (joint((0, FIX), (0, RIGHT_CAUSE)), "root_cause", "user-db is the root cause"),
        (played(REAL), "remediation", "no accepted remedy applied (kill-query:user-db)"),
        (played(REAL, RIGHT_PAGE, FIX), "remediation", "fixed in tick 2"),
        (
            played(REAL, RIGHT_PAGE, WRONG_REMEDY, FIX),
            "remediation",
            "fixed in tick 3, but 1 wrong remedy was applied",
        ),
        (
            played(TWO_TEAMS, WRONG_REMEDY, FIX, WRONG_REMEDY, RIGHT_PAGE),
            "remediation",
            "fixed in tick 2, but 2 wrong remedies were applied; halved, since dba-team or "
            "sre-team had not been paged before that tick",
        ),
        (
            joint((0, RIGHT_PAGE), (0, FIX)),
            "remediation",
            "fixed in tick 1; halved, since dba-team had not been paged before that tick",
        ),
        (played(REAL, FIX), "closure", "not resolved"),
        (played(REAL, FIX, Ignore()), "closure", "closed as ignored, not resolved"),
        (played(REAL, END), "closure", "resolved while the fault was still there"),
        (played(REAL, FIX, END), "closure", "resolved in 2 ticks (par is 5, the horizon 12)"),
        (played(BENIGN), "dismissal", "not dismissed"),
        (played(BENIGN, Ignore()), "dismissal", "rightly dismissed"),
        (
            played(BENIGN, FIX, WRONG_REMEDY, Ignore()),
            "dismissal",
            "dismissed, but 2 remedies were applied where nothing was broken",
        ),
        (
            played(BENIGN, RIGHT_CAUSE, Ignore()),
            "dismissal",
            "dismissed, but user-db was blamed",
        ),
        (played(BENIGN, Ignore()), "closure", "dismissed in 1 tick (par is 3, the horizon 15)"),
        (played(BENIGN, RIGHT_CAUSE, Ignore()), "closure", "not dismissed"),
    ],
)
def test_reasons_of_criteria(state: State, criterion: str, reason: str) -> None:
    assert grade(state).criterion(criterion).reason == reason


def test_reasons_of_discounts() -> None:
    state = played(TWO_TEAMS, WRONG_REMEDY, WRONG_REMEDY, FIX)
    assert [(one.name, one.factor, one.reason) for one in grade(state).discounts] == [
        (
            "unescalated",
            0.4 / 0.625,
            "dba-team or sre-team never paged: a perfect response without the page would be "
            "worth 0.4 instead of 0.625",
        ),
        (
            "unapproved",
            0.7**2,
            "2 wrong remedies were applied before dba-team or sre-team had been paged: each "
            "leaves 0.7 of the rest",
        ),
    ]


def test_approval_takes_an_earlier_tick() -> None:
    probe = Remediate(Remedy.SCALE, "auth-service")
    together = joint((0, RIGHT_PAGE), (0, probe), (1, probe), (1, FIX))
    assert together.facts.unapproved_remedies == 1
    assert together.facts.paged_at == 0
    assert triage.approved(together)
    assert not triage.approved(joint((0, FIX), (0, RIGHT_PAGE)))
    assert not triage.approved(initial_state(REAL))


def test_repeating_what_came_too_late_restores_nothing() -> None:
    state = played(REAL, FIX, RIGHT_PAGE, FIX, Escalate("dba-team"), RIGHT_CAUSE, FIX)
    assert grade(state).criterion("remediation").score == 0.5
    assert grade(state).criterion("root_cause").score == 0.0


@pytest.mark.parametrize("price", [None, -0.2, 0.63, float("nan")])
def test_a_fault_without_a_price_is_no_zero(price: float | None) -> None:
    message = (
        "incident 'hand-made/test/0': price_of_silence must be a number from 0 to 0.625 under "
        f"rubric 'logtriage/2', got {price!r}"
    )
    with pytest.raises(RubricError) as caught:
        grade_actions(priced(real_incident(), price), (RIGHT_PAGE,))
    assert str(caught.value) == message


def test_a_price_of_nothing_leaves_nothing() -> None:
    free = priced(real_incident(), 0.0)
    assert grade(played(free, RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END)).score == 0.0


def test_a_price_of_all_that_silence_earns_leaves_all_of_it() -> None:
    dear = priced(real_incident(), 0.625)
    assert grade(played(dear, RIGHT_SEVERITY, RIGHT_CAUSE, FIX, END)).score == 0.625


def test_a_wrong_root_cause_after_the_fix_is_wrong_and_not_late() -> None:
    graded = grade(played(REAL, RIGHT_PAGE, FIX, IdentifyRootCause("auth-service")))
    reason = graded.criterion("root_cause").reason
    assert reason == "auth-service is not the root cause; it was user-db"
