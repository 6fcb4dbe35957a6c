"""Graders that are broken in code, not in their rubric: what no data could express.

Each is a few names of :mod:`logtriage.grading` with something else behind them, put in
place for as long as a test runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage.dynamics import play
from logtriage.errors import RubricError
from logtriage.grading import RUBRICS, TRIAGE_3, AppliedDiscount, CriterionScore, transcripts
from logtriage.grading.rubric import Discount
from logtriage.grading.transcripts import grade_actions as real_grade_actions
from logtriage.state import Closing
from tests.audit.planted.mutants import MUTANTS, Mutant

#: The module: the package has a function of that name.
grading: Any = import_module("logtriage.grading.grade")
_Evaluated = tuple[tuple[CriterionScore, ...], tuple[AppliedDiscount, ...], float]
_real_evaluate = grading._evaluate
_real_finish = grading.finish
_real_gate = grading._first_gate
_real_discounts = grading._applied


def _zero_for_errors(state: lt.State, rubric: lt.Rubric) -> _Evaluated:
    try:
        found: _Evaluated = _real_evaluate(state, rubric)
        return found
    except RubricError:
        return ((), (), 0.0)


def _one_more_tick(incident: lt.Incident, actions: Sequence[lt.Action]) -> tuple[lt.State, int]:
    return play(attrs.evolve(incident, horizon=incident.horizon + 1), actions)


def _past_the_end(incident: lt.Incident, actions: Sequence[lt.Action]) -> tuple[lt.State, int]:
    listed = tuple(actions)[: incident.horizon]
    state, _ = play(incident, listed)
    return lt.State(incident, len(listed), tuple(enumerate(listed)), state.closing), 0


def _backwards(incident: lt.Incident, actions: Sequence[lt.Action]) -> tuple[lt.State, int]:
    return play(incident, tuple(actions)[::-1])


def _rounded(rubric: lt.Rubric, total: float) -> float:
    return round(float(_real_finish(rubric, total)), 1)


def _unclipped(rubric: lt.Rubric, total: float) -> float:  # noqa: ARG001
    return total


def _gate_when_closed(state: lt.State, rubric: lt.Rubric) -> tuple[str | None, str | None]:
    found: tuple[str | None, str | None] = _real_gate(state, rubric)
    return found if state.closing is Closing.IGNORED else (None, None)


def _gate_silently(state: lt.State, rubric: lt.Rubric) -> tuple[str | None, str | None]:
    name, _ = _real_gate(state, rubric)
    return name, None


def _discounts_when_closed(
    state: lt.State, rubric: lt.Rubric, rows: tuple[Discount, ...]
) -> Iterator[AppliedDiscount]:
    return _real_discounts(state, rubric, rows) if state.is_closed else iter(())


def _largest_discount_only(
    state: lt.State, rubric: lt.Rubric, rows: tuple[Discount, ...]
) -> Iterator[AppliedDiscount]:
    found = sorted(_real_discounts(state, rubric, rows), key=lambda one: one.factor)
    return iter(found[:1])


def _forgets_unplayed(*args: Any, **kwargs: Any) -> lt.Grade:
    return attrs.evolve(real_grade_actions(*args, **kwargs), unplayed=0)


Patches = Mapping[tuple[Any, str], object]
#: What is wrong, and the names of which modules are replaced by what.
BROKEN: dict[str, Patches] = {
    "errors-are-zero": {(grading, "_evaluate"): _zero_for_errors},
    "horizon-off-by-one": {(transcripts, "play"): _one_more_tick},
    "plays-past-the-end": {(transcripts, "play"): _past_the_end},
    "plays-backwards": {(transcripts, "play"): _backwards},
    "rounds-the-total": {(grading, "finish"): _rounded},
    "off-the-grid": {(grading, "finish"): _unclipped},
    "gates-only-ignore": {(grading, "_first_gate"): _gate_when_closed},
    "gates-without-reason": {(grading, "_first_gate"): _gate_silently},
    "discounts-when-closed": {(grading, "_applied"): _discounts_when_closed},
    "discounts-largest-only": {(grading, "_applied"): _largest_discount_only},
    "forgets-unplayed": {(transcripts, "grade_actions"): _forgets_unplayed},
}
NAMES = (*(mutant.name for mutant in MUTANTS), *BROKEN)
_BY_NAME: dict[str, Mutant] = {mutant.name: mutant for mutant in MUTANTS}


@contextmanager
def broken(name: str, laws: Any) -> Iterator[None]:
    """The grader broken in this way, for everyone, and for a module of ``laws``."""
    with pytest.MonkeyPatch.context() as patch:
        if name in _BY_NAME:
            patch.setitem(RUBRICS, TRIAGE_3.id, _BY_NAME[name].rubric)
        for (module, attribute), new in BROKEN.get(name, {}).items():
            patch.setattr(module, attribute, new)
            if hasattr(laws, attribute):
                patch.setattr(laws, attribute, new)
        yield
