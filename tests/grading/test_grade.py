"""Totals: weights, gates, open states, unscored episodes, digests, rewards, broken measures."""

import math
from hashlib import blake2b
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.dynamics import play_jointly
from logtriage.errors import RubricError, UnknownName
from logtriage.grading import (
    DEFAULT,
    RECORDED,
    TRIAGE_3,
    AppliedDiscount,
    Criterion,
    Discount,
    Gate,
    Measured,
    Rubric,
    get_rubric,
    rubric_of,
    score,
    unscored,
)
from logtriage.state import Closing
from tests.builders import (
    FIX,
    RIGHT_CAUSE,
    RIGHT_PAGE,
    RIGHT_SEVERITY,
    WAIT,
    WRONG_PAGE,
    WRONG_REMEDY,
    benign_incident,
    named,
    played,
    real_incident,
    waits,
)

PERFECT = (RIGHT_SEVERITY, RIGHT_CAUSE, RIGHT_PAGE, FIX, lt.Resolve())


def scores(one: lt.Grade) -> dict[str, float]:
    return {row.name: row.score for row in one.criteria}


def test_every_criterion_comes_with_its_score_weight_and_reason() -> None:
    one = lt.grade(
        played(real_incident(), RIGHT_SEVERITY, WRONG_REMEDY, FIX, *waits(4), lt.Resolve())
    )
    assert [(row.name, row.score, row.weight) for row in one.criteria] == [
        ("severity", 1.0, 0.15), ("root_cause", 0.0, 0.25), ("escalation", 0.0, 0.25),
        ("remediation", pytest.approx(0.6), 0.25), ("closure", pytest.approx(4 / 7), 0.10),
    ]  # fmt: skip
    assert all(row.reason for row in one.criteria)
    assert one.criterion("closure").reason == "resolved in 8 ticks (par is 5, the horizon 12)"
    with pytest.raises(UnknownName, match="unknown criterion 'speed'; known: severity, root"):
        one.criterion("speed")


MISPAGED = ("wrong_escalation", "sre-team was paged; dba-team was right", Closing.MISROUTED)
IGNORED = ("ignored_incident", "a real fault was ignored", Closing.IGNORED)
ALL_BUT_CLOSURE = ("severity", "root_cause", "escalation", "remediation")


@pytest.mark.parametrize(
    ("actions", "gate", "earned"),
    [
        ((WRONG_PAGE,), MISPAGED, ()),
        ((RIGHT_PAGE, WRONG_PAGE), MISPAGED, ("escalation",)),
        ((*PERFECT[:4], WRONG_PAGE), MISPAGED, ALL_BUT_CLOSURE),
        ((*PERFECT[:4], lt.Ignore()), IGNORED, ALL_BUT_CLOSURE),
    ],
)
def test_a_gate_zeroes_the_total_but_not_the_criteria(
    actions: tuple[lt.Action, ...], gate: tuple[str, str, Closing], earned: tuple[str, ...]
) -> None:
    one = lt.grade(played(real_incident(), *actions))
    assert (one.score, one.gate, one.gate_reason, one.closing) == (0.0, *gate)
    assert scores(one) == {**dict.fromkeys((*ALL_BUT_CLOSURE, "closure"), 0.0),
                           **dict.fromkeys(earned, 1.0)}  # fmt: skip


def test_a_grade_says_what_was_graded() -> None:
    one = lt.grade(played(real_incident(), *PERFECT), unplayed=3, agent="me")
    assert (one.incident, one.task) == ("hand-made/test/0", "hand-made")
    assert (one.rubric, one.rubric_digest) == ("logtriage/3", TRIAGE_3.digest)
    assert one.actions == PERFECT
    assert (one.closing, one.ticks, one.unplayed) == (Closing.RESOLVED, 5, 3)
    assert (one.cause, one.agent) == (None, "me")
    assert one.fault_kind == "slow_query"
    assert lt.grade(played(benign_incident())).fault_kind is None


def test_an_unscored_episode_has_no_score_at_all() -> None:
    one = unscored(real_incident(), "the model server is down", actions=PERFECT[:2], agent="me")
    assert one.score is None
    assert one.criteria == ()
    assert (one.cause, one.agent, one.gate) == ("the model server is down", "me", None)
    assert (one.rubric, one.incident, one.actions) == (
        "logtriage/3",
        "hand-made/test/0",
        PERFECT[:2],
    )


def test_the_task_decides_on_the_rubric_unless_one_is_given() -> None:
    assert rubric_of(lt.make_incident("single_crash-v4/test/0")) is DEFAULT is TRIAGE_3
    other = attrs.evolve(lt.make_incident("single_crash-v4/test/0"), rubric="recorded/3")
    assert rubric_of(other) is RECORDED
    assert lt.grade(lt.initial_state(other)).rubric == "recorded/3"
    assert lt.grade(lt.initial_state(other), TRIAGE_3).rubric == "logtriage/3"
    with pytest.raises(UnknownName, match="unknown rubric 'x'; known: logtriage/3, recorded/3"):
        get_rubric("x")


def digest(
    *actions: lt.Action, incident: lt.Incident | None = None, rubric: Rubric | None = None
) -> str:
    return lt.grade(played(incident or real_incident(), *actions), rubric).digest


def hashed(*lines: str) -> str:
    return blake2b("\n".join(lines).encode("utf-8"), digest_size=8).hexdigest()


def test_the_digest_is_that_of_these_lines() -> None:
    """Digests are stored beside grades: they must not change with the code."""
    lines = [
        TRIAGE_3.digest, "hand-made/test/0", "remediate kill-query:user-db None",
        "classify_severity P1 None", "identify_root_cause user-db 0.75", "malformed '?\\n'",
        "resolve None None",
    ]  # fmt: skip
    sure = lt.IdentifyRootCause("user-db", 0.75)
    actions = (FIX, RIGHT_SEVERITY, sure, lt.Malformed("?\n", "why"), lt.Resolve())
    assert digest(*actions) == hashed(*lines)
    state, _ = play_jointly(real_incident(), list(zip((0, 0, 1, 1, 2), actions, strict=True)))
    assert lt.grade(state).digest == hashed(*lines, "ticks (0, 0, 1, 1, 2)")


def constant(value: float) -> Any:
    def measure(state: lt.State) -> Measured:  # noqa: ARG001
        return value, "constant"

    return named(measure)


def rubric_of_measures(*values: float, **changes: Any) -> Rubric:
    rows = tuple(
        Criterion(f"c{number}", 1 / len(values), constant(value))
        for number, value in enumerate(values)
    )
    return Rubric("mine/1", rows, **changes)


STATE = lt.initial_state(real_incident())


def test_penalties_are_subtracted_and_shown_with_their_sign() -> None:
    penalties = (Criterion("p", 0.3, constant(0.5)), Criterion("q", 0.1, constant(0.0)))
    one = lt.grade(STATE, rubric_of_measures(1.0, 0.5, penalties=penalties))
    assert one.score == pytest.approx(0.75 - 0.15)
    assert scores(one) == {"c0": 1.0, "c1": 0.5, "p": -0.5, "q": 0.0}
    assert one.criterion("p").weight == 0.3


@pytest.mark.parametrize(
    ("value", "bounds", "expected"),
    [
        (1.0, (0.1, 0.9), 0.9), (0.0, (0.1, 0.9), 0.1), (0.5, (0.1, 0.9), 0.5),
        (7.0, (0.0, 1.0), 1.0), (-7.0, (0.0, 1.0), 0.0),
    ],
)  # fmt: skip
def test_the_total_is_kept_within_bounds(
    value: float, bounds: tuple[float, float], expected: float
) -> None:
    assert lt.grade(STATE, rubric_of_measures(value, bounds=bounds)).score == pytest.approx(
        expected
    )


def test_a_gate_sets_exactly_zero_even_below_the_bounds() -> None:
    gates = (
        Gate("no", named(lambda _: None)),
        Gate("stop", named(lambda _: "because")),
        Gate("too", named(lambda _: "")),
    )
    one = lt.grade(STATE, rubric_of_measures(1.0, gates=gates, bounds=(0.2, 0.9)))
    assert (one.score, one.gate, one.gate_reason) == (0.0, "stop", "because")
    assert scores(one) == {"c0": 1.0}


def discount(name: str, factor: float | None) -> Discount:
    return Discount(
        name, named(lambda _: None if factor is None else (factor, f"because of {name}"))
    )


def test_discounts_multiply_what_was_earned_and_are_listed() -> None:
    rows = (discount("half", 0.5), discount("none", None), discount("fifth", 0.2))
    one = lt.grade(STATE, rubric_of_measures(1.0, 0.5, discounts=rows))
    assert one.score == pytest.approx(0.75 * 0.5 * 0.2)
    assert scores(one) == {"c0": 1.0, "c1": 0.5}
    assert one.discounts == (
        AppliedDiscount("half", 0.5, "because of half"),
        AppliedDiscount("fifth", 0.2, "because of fifth"),
    )
    assert score(STATE, rubric_of_measures(1.0, 0.5, discounts=rows)) == one.score


@pytest.mark.parametrize("factor", [math.nan, math.inf, -0.1, 1.0000001])
def test_a_factor_outside_the_unit_interval_raises(factor: float) -> None:
    rubric = rubric_of_measures(1.0, discounts=(discount("odd", factor),))
    for judge in (lt.grade, score):
        with pytest.raises(
            RubricError, match=r"'mine/1': the factor of 'odd' must lie in \[0, 1\]"
        ):
            judge(STATE, rubric)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", ["criteria", "benign", "penalties"])
def test_a_measure_that_returns_no_number_raises(value: float, place: str) -> None:
    row = Criterion("odd", 1.0, constant(value))
    fields: dict[str, Any] = {"criteria": (Criterion("c", 1.0, constant(1.0)),), place: (row,)}
    rubric = Rubric("mine/1", **fields)
    state = lt.initial_state(benign_incident() if place == "benign" else real_incident())
    message = r"rubric 'mine/1': .*\bodd'? .*(nan|inf)"
    for judge in (lt.grade, score):
        with pytest.raises(RubricError, match=message):
            judge(state, rubric)
    with pytest.raises(RubricError, match=message):
        lt.reward(state, lt.transition(state, WAIT), rubric)


@pytest.mark.parametrize("found", [0.5, (0.5,), ("1", "x"), ("x", "y"), (0.5, None)])
@pytest.mark.parametrize("place", ["criteria", "penalties", "discounts"])
def test_what_is_no_number_with_a_reason_raises(found: Any, place: str) -> None:
    row = (
        Discount("odd", named(lambda _: found))
        if place == "discounts"
        else Criterion("odd", 1.0, named(lambda _: found))
    )
    fields: dict[str, Any] = {"criteria": (Criterion("c", 1.0, constant(1.0)),), place: (row,)}
    with pytest.raises(RubricError, match="rubric 'mine/1': 'odd': expected a number and its re"):
        lt.grade(STATE, Rubric("mine/1", **fields))


@pytest.mark.parametrize("found", [False, True, 0, 1.0])
def test_a_gate_that_returns_no_reason_raises(found: Any) -> None:
    rubric = rubric_of_measures(1.0, gates=(Gate("stop", named(lambda _: found)),))
    for judge in (lt.grade, score):
        with pytest.raises(RubricError, match="'mine/1': gate 'stop': expected the reason in wo"):
            judge(STATE, rubric)


class BrokenGraderError(Exception):
    pass


def broken(state: lt.State) -> Any:
    raise BrokenGraderError(state.incident.id)


@pytest.mark.parametrize("place", ["criteria", "penalties", "gates"])
def test_a_broken_measure_is_not_a_zero(place: str) -> None:
    row = Gate("broken", broken) if place == "gates" else Criterion("broken", 1.0, broken)
    fields: dict[str, Any] = {"criteria": (Criterion("c", 1.0, constant(1.0)),), place: (row,)}
    for judge in (lt.grade, score):
        with pytest.raises(BrokenGraderError, match="hand-made/test/0"):
            judge(STATE, Rubric("mine/1", **fields))
