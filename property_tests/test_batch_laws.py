"""The law of the batch: ``grade_batch`` equals ``grade``, row by row, to the last bit."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import logtriage as lt
from logtriage.actions import SEVERITIES
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import SPLITS, IncidentId
from logtriage.dynamics import play
from logtriage.grading import TRIAGE_3, Criterion, Truths, action_array, grade_batch, truths_of
from logtriage.grading import batch as batch_module
from logtriage.grading import tables as tables_module
from logtriage.grading.batch import CLOSINGS, BatchGrades
from logtriage.grading.rubric import Discount, Gate
from logtriage.grading.tables import DISCOUNTS, GATES, MEASURES
from logtriage.incident import Part
from logtriage.policies import perfect_actions
from property_tests.strategies import (
    COMPOUND_TASKS,
    OF_ONE_WORLD,
    malformed_actions,
    plans,
    topologies,
)
from tests.builders import ROOT_CAUSE_ALONE, SEVEN_SERVICES

if find_spec("numba") is None:
    pytest.skip("needs the extra fast", allow_module_level=True)


@pytest.fixture(autouse=True, scope="module")
def _kernels() -> Iterator[None]:
    """Kernels grade batches of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_module, "WORTH_A_KERNEL", 0)
        yield


@st.composite
def batches(draw: st.DrawFn, max_size: int = 6) -> list[lt.Incident]:
    """Incidents of one topology: drawn ones, benign ones, and some with the truth bent."""
    topology = draw(topologies())
    drawn = draw(st.lists(bent(topology) | plain(topology), min_size=1, max_size=max_size))
    hand_over = st.none() | st.sampled_from((0.3, 0.7, 0.9)) | st.floats(0, 1)
    hand_over = draw(st.sampled_from([st.none(), hand_over]))
    return [attrs.evolve(one, worth_of_hand_over=draw(hand_over)) for one in drawn]


@st.composite
def plain(draw: st.DrawFn, topology: lt.Topology) -> lt.Incident:
    small = len(topology) <= 12  # to weigh sets of faults takes a while on each new topology
    task = draw(st.sampled_from((*OF_ONE_WORLD, *COMPOUND_TASKS) if small else OF_ONE_WORLD))
    number = IncidentId(task, draw(st.sampled_from(SPLITS)), draw(st.integers(0, 1_000_000)))
    return draw_incident(task, number, topology)


@st.composite
def bent(draw: st.DrawFn, topology: lt.Topology) -> lt.Incident:
    """Truths that no task draws: several answers, none, odd horizons and closing rules."""
    incident = draw(plain(topology))
    services, teams = st.sampled_from(topology.names), st.sampled_from(topology.teams)
    remedies = st.tuples(st.sampled_from(SEVEN_SERVICES.remedies), services)
    root_causes = draw(st.frozensets(services, max_size=3))
    truth = attrs.evolve(
        incident.truth, severity=draw(st.none() | st.sampled_from(SEVERITIES)),
        root_causes=root_causes, teams=draw(st.frozensets(teams, max_size=3 if root_causes else 0)),
        remedies=draw(st.frozensets(remedies, max_size=4 if root_causes else 0)), several=(),
    )  # fmt: skip
    part = st.builds(
        Part, st.none(), st.frozensets(services, min_size=1, max_size=2),
        st.frozensets(teams, max_size=2), st.frozensets(remedies, max_size=2),
    )  # fmt: skip
    parts = tuple(draw(st.just([]) | st.lists(part, min_size=1, max_size=4)))
    if parts:
        truth = attrs.evolve(
            truth,
            root_causes=frozenset().union(*(one.root_causes for one in parts)),
            teams=frozenset().union(*(one.teams for one in parts)),
            remedies=frozenset().union(*(one.remedies for one in parts)),
            several=parts,
        )
    return attrs.evolve(
        incident, truth=truth, horizon=draw(st.integers(0, 20) | st.sampled_from([64, 200, 1000])),
        wrong_page_closes=draw(st.booleans()), par=draw(st.integers(0, 20)),
    )  # fmt: skip


@st.composite
def rubrics(draw: st.DrawFn) -> lt.Rubric:
    """Rubrics made of the measures and gates that have kernels, in any mixture."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([ROOT_CAUSE_ALONE, TRIAGE_3]))
    changes: dict[str, Any] = {"id": "law/1"}
    if draw(st.booleans()):
        changes["criteria"] = reweighted(draw, TRIAGE_3.criteria)
        changes["benign"] = reweighted(draw, TRIAGE_3.benign)
    else:
        changes["criteria"] = mixture(draw, "c", 1)
        changes["benign"] = mixture(draw, "b", 0)
    gates = draw(st.lists(st.sampled_from(tuple(GATES)), max_size=3))
    changes["gates"] = tuple(Gate(f"gate{i}", holds) for i, holds in enumerate(gates))
    if draw(st.booleans()):
        penalties = draw(st.lists(st.sampled_from(tuple(MEASURES)), max_size=2))
        weight = st.floats(0, 2)
        changes["penalties"] = tuple(
            Criterion(f"penalty{i}", draw(weight), one) for i, one in enumerate(penalties)
        )
    changes["handed_over"] = draw(st.sampled_from([(), TRIAGE_3.handed_over]))
    discounts = draw(st.lists(st.sampled_from(tuple(DISCOUNTS)), max_size=3))
    changes["discounts"] = tuple(Discount(f"less{i}", one) for i, one in enumerate(discounts))
    low = draw(st.sampled_from([0.0, 0.0, 0.0001, 0.25]))
    changes["bounds"] = (low, draw(st.sampled_from([1.0, 0.9999, 0.5])))
    return attrs.evolve(TRIAGE_3, **changes)


def mixture(draw: st.DrawFn, prefix: str, least: int) -> tuple[Criterion, ...]:
    drawn = draw(st.lists(st.sampled_from(tuple(MEASURES)), min_size=least, max_size=8))
    return reweighted(
        draw, tuple(Criterion(f"{prefix}{i}", 0.0, one) for i, one in enumerate(drawn))
    )


def reweighted(draw: st.DrawFn, rows: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    if not rows:
        return rows
    drawn = [draw(st.floats(0, 1, allow_subnormal=False)) for _ in rows]
    assume(sum(drawn) > 1e-6)
    return tuple(
        attrs.evolve(row, weight=one / sum(drawn)) for row, one in zip(rows, drawn, strict=True)
    )


def graded(
    incidents: Sequence[lt.Incident], lists: Sequence[Sequence[lt.Action]], rubric: lt.Rubric
) -> list[lt.Grade]:
    """What the scalar grader says of each."""
    return [lt.grade(state, rubric, unplayed=left) for state, left in map(play, incidents, lists)]


def assert_equal(grades: BatchGrades, rows: Sequence[lt.Grade]) -> None:
    assert len(grades) == len(rows)
    for row, wanted in enumerate(rows):
        assert float(grades.scores[row]).hex() == wanted.score.hex()
        gate, closing = int(grades.gate[row]), int(grades.closing[row])
        assert (None if gate < 0 else grades.gate_names[gate]) == wanted.gate
        assert (None if closing < 0 else CLOSINGS[closing]) is wanted.closing
        assert int(grades.ticks[row]) == wanted.ticks
        assert int(grades.unplayed[row]) == wanted.unplayed


@st.composite
def thorough_plans(draw: st.DrawFn, incident: lt.Incident) -> list[lt.Action]:
    """Most of the right actions, looks and wrong remedies among them, and the right end."""
    *steps, end = perfect_actions(incident)
    remedy = lt.Remediate(
        draw(st.sampled_from(SEVEN_SERVICES.remedies)), incident.topology.names[0]
    )
    drawn = st.lists(st.sampled_from([*steps, lt.RequestMoreLogs(), remedy, remedy]), max_size=14)
    return [*draw(drawn), draw(st.sampled_from([end, end, lt.HandOver()]))]


def arrays(
    incidents: Sequence[lt.Incident], lists: Sequence[Sequence[lt.Action]]
) -> tuple[Truths, Any]:
    """Truths and actions, with hand-overs if any incident can be handed over."""
    truths = truths_of(incidents)
    some = bool(truths.takes_hand_over.any())
    return truths, action_array(truths.topology, lists, hand_over=some)


@st.composite
def jobs(draw: st.DrawFn) -> tuple[list[lt.Incident], list[list[lt.Action]]]:
    """Incidents of one topology with a list of actions each."""
    incidents = draw(batches())
    longest = draw(st.sampled_from([0, 3, 20, 80]))
    waste = draw(st.sampled_from([0, 0, 0, 70, 300]))
    filler = draw(st.lists(malformed_actions(), max_size=1)) * waste
    return incidents, [
        [*filler, *draw(plans(one, longest) | thorough_plans(one))] for one in incidents
    ]


@given(jobs(), rubrics(), st.booleans())
def test_a_batch_is_graded_as_its_rows_are(
    job: tuple[list[lt.Incident], list[list[lt.Action]]], rubric: lt.Rubric, by_tick: bool
) -> None:
    incidents, lists = job
    truths, actions = arrays(incidents, lists)
    grades = grade_batch(truths, np.asarray(actions, order="F" if by_tick else "C"), rubric)
    assert_equal(grades, graded(incidents, lists, rubric))


@given(jobs())
def test_one_by_one_a_batch_is_graded_alike(
    job: tuple[list[lt.Incident], list[list[lt.Action]]],
) -> None:
    incidents, lists = job
    truths, actions = arrays(incidents, lists)
    kernels = grade_batch(truths, actions, TRIAGE_3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_module, "WORTH_A_KERNEL", 1 << 62)
        found = grade_batch(truths, actions, TRIAGE_3)
    for field in ("scores", "gate", "closing", "ticks", "unplayed"):
        mine, theirs = getattr(found, field), getattr(kernels, field)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs, equal_nan=mine.dtype == np.float64), field


@given(jobs(), st.sampled_from([1, 4, 64, 1 << 20]))
def test_tables_of_any_size_give_the_same_totals(
    job: tuple[list[lt.Incident], list[list[lt.Action]]], size: int
) -> None:
    """Small tables force criteria to be added one by one."""
    incidents, lists = job
    truths, actions = arrays(incidents, lists)
    usual = tables_module.TABLE_SIZE
    tables_module.tables_of.cache_clear()
    try:
        tables_module.TABLE_SIZE = size  # type: ignore[misc]
        grades = grade_batch(truths, actions, TRIAGE_3)
    finally:
        tables_module.TABLE_SIZE = usual  # type: ignore[misc]
        tables_module.tables_of.cache_clear()
    assert_equal(grades, graded(incidents, lists, TRIAGE_3))


@given(jobs())
def test_neither_repeats_nor_padding_nor_type_matter(
    job: tuple[list[lt.Incident], list[list[lt.Action]]],
) -> None:
    incidents, lists = job
    repeat = np.arange(3 * len(incidents)) % len(incidents)
    truths, actions = arrays(incidents, lists)
    truths, actions = truths.take(repeat), actions[repeat]
    padded = np.concatenate([actions, np.full((len(actions), 5), -1)], axis=1).astype(np.int64)
    grades = grade_batch(truths, padded, TRIAGE_3)
    wanted = graded(incidents, lists, TRIAGE_3)
    assert_equal(grades, [wanted[i] for i in repeat])
