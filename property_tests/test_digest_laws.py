"""Law of digests: rubrics that grade differently have different ones, or are refused."""

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from logtriage import State, grade, initial_state
from logtriage.errors import RubricError
from logtriage.grading import Criterion, Rubric
from tests.builders import real_incident

STATE = initial_state(real_incident())
SCALE: Any = 0.0
Measure = Callable[[State], tuple[float, str]]


@attrs.frozen
class Field:
    scale: Any = attrs.field(eq=False, repr=False)

    def __call__(self, _: State) -> tuple[float, str]:
        return self.scale, ""


class Attribute:
    scale: Any = 0.0

    def __call__(self, _: State) -> tuple[float, str]:
        return self.scale, ""


class Own:
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, _: State) -> tuple[float, str]:
        return self.scale, ""


class Part(partial[Any]):
    scale: Any

    def __call__(self, /, *_: Any, **__: Any) -> tuple[float, str]:
        return self.scale, ""


def scaled(scale: Any, _: State) -> tuple[float, str]:
    return scale, ""


def by_default(scale: Any) -> Measure:
    def measure(_: State, by: Any = scale) -> tuple[float, str]:
        return by, ""

    return measure


def by_global(scale: Any) -> Measure:
    global SCALE
    SCALE = scale
    return lambda _: (SCALE, "")


def by_attribute(scale: Any) -> Measure:
    def measure(_: State) -> tuple[float, str]:
        return measure.scale, ""  # type: ignore[attr-defined]

    measure.scale = scale  # type: ignore[attr-defined]
    return measure


def by_class(scale: Any) -> Measure:
    Attribute.scale = scale
    return Attribute()


def by_part(scale: Any) -> Measure:
    made = Part(scaled, 0.0)
    made.scale = scale
    return made


def by_both(scale: Any) -> Measure:
    def through(one: Measure, state: State) -> tuple[float, str]:
        return one(state)

    return partial(through, by_global(scale))


MAKERS: tuple[Callable[[Any], Measure], ...] = (
    lambda scale: lambda _: (scale, ""),
    by_default,
    lambda scale: partial(scaled, scale),
    *(by_global, by_attribute, by_class, by_part, Field, Own),
    lambda scale: Field(scale).__call__,
    by_both,
)


def told(make: Callable[[Any], Measure], scale: float) -> tuple[str, float | None] | None:
    """The digest of a rubric and the score of a state; None where the rubric is refused."""
    try:
        rubric = Rubric("mine/1", (Criterion("one", 1.0, make(scale)),))
    except RubricError:
        return None
    return rubric.digest, grade(STATE, rubric).score


@given(st.sampled_from(MAKERS), st.floats(0, 1), st.floats(0, 1))
def test_rubrics_that_grade_differently_never_share_a_digest(
    make: Callable[[Any], Measure], one: float, other: float
) -> None:
    first, second = told(make, one), told(make, other)
    assert (first is None) == (second is None) == (make in (by_part, Own))
    if first is not None and second is not None:
        assert (first[0] == second[0]) == (repr(one) == repr(other))
        assert first[0] != second[0] or first[1] == second[1]
        assert told(make, one) == first
