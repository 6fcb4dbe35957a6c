"""``grade_batch``: cells computed by hand, refusals, and the shape of what comes back."""

import re
import subprocess
import sys
from typing import Any

import attrs
import numpy as np
import pytest

import logtriage as lt
from logtriage.actions import action_id
from logtriage.grading import RECORDED, TRIAGE_3, Criterion, action_array, grade_batch, truths_of
from logtriage.grading import batch as batch_module
from logtriage.grading.batch import CLOSINGS
from logtriage.grading.rubric import Discount, Gate
from logtriage.grading.tables import Span
from logtriage.incident import Fault, Truth
from tests.builders import OWNERS, SEVEN_SERVICES, real_incident, with_actions

BASE = attrs.evolve(
    lt.make_incident("cascading_failure-v4/test/42"), topology=SEVEN_SERVICES, directory=OWNERS,
    par=5, worth_of_hand_over=0.7,
)  # fmt: skip
REAL = attrs.evolve(
    BASE,
    horizon=12,
    truth=Truth(
        fault=Fault("slow_query", "user-db"),
        severity=lt.Severity.P1,
        root_causes=frozenset({"user-db"}),
        teams=frozenset({"dba-team"}),
        remedies=frozenset({("kill-query", "user-db")}),
    ),
)
BENIGN = attrs.evolve(
    BASE,
    horizon=12,
    par=2,
    truth=Truth(None, lt.Severity.P3, frozenset(), frozenset(), frozenset()),
)
FIX = lt.Remediate("kill-query", "user-db")
WRONG = lt.Remediate("restart", "api-gateway")
PERFECT: list[lt.Action] = [
    lt.ClassifySeverity("P1"), lt.IdentifyRootCause("user-db"), lt.Escalate("dba-team"), FIX,
    lt.Resolve(),
]  # fmt: skip
LOOK = lt.RequestMoreLogs(None)


def refused(message: str, error: type[lt.InvalidInput] = lt.InvalidInput) -> Any:
    """An error that says this, word for word."""
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def graded(
    incidents: list[lt.Incident], lists: list[list[lt.Action]], rubric: Any = TRIAGE_3
) -> Any:
    actions = action_array(SEVEN_SERVICES, lists, hand_over=True)
    return grade_batch(truths_of(incidents), actions, rubric)


@pytest.mark.usefixtures("either_way")
def test_shapes_types_and_names() -> None:
    grades = graded([REAL, BENIGN], [PERFECT, [lt.Ignore()]])
    assert len(grades) == 2
    assert grades.scores.shape == (2,)
    assert grades.scores.dtype == np.float64
    assert grades.gate_names == ("wrong_escalation", "ignored_incident")
    assert (grades.gate.dtype, grades.closing.dtype) == (np.int8, np.int8)
    assert (grades.ticks.dtype, grades.unplayed.dtype) == (np.int32, np.int32)
    assert repr(grades) == "<2 grades by logtriage/3>"


@pytest.mark.usefixtures("either_way")
def test_closing_rules_of_the_incident_are_kept() -> None:
    lenient = attrs.evolve(REAL, wrong_page_closes=False)
    plan: list[lt.Action] = [lt.Escalate("sre-team"), FIX, lt.Ignore()]
    grades = graded([REAL, lenient], [plan] * 2)
    assert grades.ticks.tolist() == [1, 3]
    assert [CLOSINGS[i] for i in grades.closing] == ["misrouted", "ignored"]
    assert grades.gate.tolist() == [0, 0]


def test_incidents_that_differ_in_any_answer_ask_for_no_kernel_of_their_own() -> None:
    """Kernels are compiled for types, and to be read-only is one: that took seconds more."""
    numba = pytest.importorskip("numba")
    from logtriage.grading.block_grades import _answers

    span = Span(3, truths_of([REAL]).clocks)
    incidents = [attrs.evolve(REAL, wrong_page_closes=closes) for closes in (False, True)]
    answers = [_answers(truths_of([incident]), span, np.uint8) for incident in incidents]
    assert len({numba.typeof(row) for row in answers}) == 1


def test_a_fault_accepts_as_many_actions_as_the_most_of_any() -> None:
    """The others are filled up with what equals no action, in the types of the kernels."""
    pytest.importorskip("numba")
    from logtriage.grading.block_grades import _answers

    two = attrs.evolve(REAL.truth, root_causes=frozenset({"user-db", "auth-service"}))
    truths = truths_of([BENIGN, attrs.evolve(REAL, truth=two), REAL])
    answers = _answers(truths, Span(12, truths.clocks), np.uint16)
    both = [lt.IdentifyRootCause("auth-service"), lt.IdentifyRootCause("user-db")]
    named = [action_id(action, SEVEN_SERVICES) for action in both]
    others = [action_id(action, SEVEN_SERVICES) for action in (lt.Escalate("dba-team"), FIX)]
    none = 65_533
    accepted = [[none] * 4, [*named, *others], [named[1], *others, none]]
    assert answers.accepted.transpose(0, 2, 1).tolist() == [accepted]
    assert answers.severity.tolist() == [2, 0, 0]
    unknown = truths_of([real_incident(None)])
    assert _answers(unknown, Span(12, unknown.clocks), np.uint8).severity.tolist() == [255]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("waste", [60, 62, 63, 64, 130, 300])
def test_long_histories(waste: int) -> None:
    """Ticks and counts beyond what eight bits hold, and first declarations far apart."""
    patient = attrs.evolve(REAL, horizon=1000)
    late: list[lt.Action] = [lt.ClassifySeverity("P2"), lt.IdentifyRootCause("api-gateway")]
    lists = [
        [*[LOOK] * waste, *PERFECT],
        [*[LOOK] * waste, *late, *PERFECT],
        [*[FIX] * waste, *[WRONG] * 3, *PERFECT],
        [*PERFECT[:2], *[WRONG] * waste, *PERFECT[:-1], *late],
    ]
    grades = graded([patient] * 4, lists)
    for row, listed in enumerate(lists):
        wanted = lt.grade_actions(patient, listed)
        assert grades.scores[row] == wanted.score
        assert grades.ticks[row] == wanted.ticks


@pytest.mark.usefixtures("either_way")
def test_another_rubric_of_the_same_measures() -> None:
    assert graded([REAL], [PERFECT[:2]], RECORDED).scores.tolist() == [1.0]
    bare = attrs.evolve(TRIAGE_3, id="acme/bare-1", gates=())
    grades = graded([REAL], [[*PERFECT[:4], lt.Ignore()]], bare)
    assert grades.scores[0] == pytest.approx(0.9)
    assert (grades.gate.tolist(), grades.gate_names) == ([-1], ())


def thrift(_: Any) -> tuple[float, str]:
    return 0.0, ""


def late(state: lt.State) -> str | None:
    return "late" if state.tick > 4 else None


def slow(state: lt.State) -> tuple[float, str] | None:
    return (0.5, "slow") if state.tick > 3 else None


@pytest.mark.parametrize("part", ["criteria", "benign", "penalties"])
def test_a_measure_without_kernel_is_graded_one_by_one(part: str) -> None:
    rows: Any = {part: (Criterion("thrift", 1.0, thrift),)}
    custom = attrs.evolve(TRIAGE_3, id="acme/1", **rows)
    incidents = [REAL, BENIGN]
    lists: list[list[lt.Action]] = [PERFECT, [lt.Ignore()]]
    found = graded(incidents * 40, lists * 40, custom)
    for row, incident in enumerate(incidents):
        wanted = lt.grade_actions(incident, lists[row], custom)
        assert found.scores[row::2].tolist() == [wanted.score] * 40


def test_a_gate_and_a_discount_without_kernel_are_applied_one_by_one() -> None:
    gates, discounts = (Gate("late", late),), (Discount("slow", slow),)
    custom = attrs.evolve(TRIAGE_3, id="acme/1", gates=gates, discounts=discounts)
    found = graded([REAL] * 3, [PERFECT, PERFECT[:4], PERFECT[:3]], custom)
    assert found.scores.tolist() == pytest.approx([0.0, 0.45, 0.65])
    assert found.gate.tolist() == [0, -1, -1]


def test_so_many_lists_are_graded_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")

    def refuse(*_: object) -> None:
        raise AssertionError("one by one")

    monkeypatch.setattr(batch_module, "_grade_one_by_one", refuse)
    count = batch_module.WORTH_A_KERNEL
    assert graded([REAL] * count, [PERFECT] * count).scores.tolist() == [1.0] * count
    with pytest.raises(AssertionError, match="one by one"):
        graded([REAL] * (count - 1), [PERFECT] * (count - 1))


def test_without_numba_many_are_graded_one_by_one_with_one_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in [one for one in sys.modules if one.startswith("logtriage.grading.")]:
        if name.endswith(("blocks", "block_grades", "kernels")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "logtriage._lib.jit", raising=False)
    batch_module._advise.cache_clear()
    with pytest.warns(UserWarning, match=r"one by one; to grade them at once needs .*pip install"):
        found = graded([REAL] * 70, [PERFECT] * 70)
    assert found.scores.tolist() == [1.0] * 70
    graded([REAL] * 70, [PERFECT] * 70)  # a second warning would be an error


OUT_OF_RANGE = (
    "topology 'seven-services' has actions 0 to 73, -1 is padding and -2 a malformed action"
)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([[0.0], [1.0]], "actions: expected integers, got an array of float64"),
        ([0, 1], "actions: shape (2,), expected (2, T) for 2 incidents"),
        ([[0], [1], [2]], "actions: shape (3, 1), expected (2, T) for 2 incidents"),
        ([[0, 1], [2, 74]], f"actions: tick 1 of incident 1 is 74; {OUT_OF_RANGE}"),
        ([[74, 1], [2, 74]], f"actions: tick 0 of incident 0 is 74; {OUT_OF_RANGE}"),
        ([[72, -2], [2, 74]], f"actions: tick 1 of incident 1 is 74; {OUT_OF_RANGE}"),
        ([[72, -2], [-3, 1]], f"actions: tick 0 of incident 1 is -3; {OUT_OF_RANGE}"),
        ([[0, -3], [2, 1]], f"actions: tick 1 of incident 0 is -3; {OUT_OF_RANGE}"),
        ([[0, 1, 1], [2, -1, 4]],
         "actions: tick 1 of incident 1 is padding (-1), but an action follows it; "
         "padding comes last, -2 is a malformed action"),
        ([[-1, 1, -1, 1], [2, -1, -1, 4]],
         "actions: tick 0 of incident 0 is padding (-1), but an action follows it; "
         "padding comes last, -2 is a malformed action"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("either_way")
def test_arrays_that_are_no_actions(actions: Any, message: str) -> None:
    with refused(message):
        grade_batch(truths_of([REAL, BENIGN]), np.array(actions))


@pytest.mark.usefixtures("either_way")
def test_the_row_of_misplaced_padding_is_that_of_the_batch() -> None:
    with pytest.raises(lt.InvalidInput, match=r"^actions: tick 0 of incident 2 is padding"):
        grade_batch(truths_of([REAL] * 3), [[0, 1], [0, -1], [-1, 3]])


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("topology", "ticks"),
    [
        (SEVEN_SERVICES, 63), (SEVEN_SERVICES, 64), (SEVEN_SERVICES, 16_383),
        (SEVEN_SERVICES, 16_384), (with_actions(128), 1), (with_actions(129), 1),
    ],
)  # fmt: skip
def test_the_last_action_of_the_longest_list_counts(topology: lt.Topology, ticks: int) -> None:
    """Where a number of 8 or 16 bits, and kernels, come to their end."""
    incident = real_incident(None, ticks, root_causes=(), teams=(), remedies=(), topology=topology)
    listed = np.full((1, ticks), -2, np.int64)
    listed[0, -1] = len(lt.all_actions(topology)) - 1
    grades = grade_batch(truths_of([incident]), listed)
    assert grades.ticks.tolist() == [ticks]
    assert CLOSINGS[grades.closing[0]] == "ignored"


def test_numpy_is_loaded_when_asked_for() -> None:
    probe = (
        "import sys, logtriage.grading as g; early = 'numpy' in sys.modules; g.grade_batch; "
        "assert (early, 'numpy' in sys.modules) == (False, True)"
    )
    subprocess.run([sys.executable, "-c", probe], check=True)


@pytest.mark.usefixtures("either_way")
def test_no_incidents_no_grades() -> None:
    none = truths_of([REAL]).take(slice(0, 0))
    grades = grade_batch(none, np.zeros((0, 12), np.int8))
    assert len(grades) == 0


def test_incidents_of_several_rubrics_are_refused_without_one() -> None:
    other = attrs.evolve(REAL, rubric="recorded/3")
    with refused(
        "these incidents are graded by several rubrics (logtriage/3, recorded/3): grade them "
        "apart, or pass the rubric"
    ):
        grade_batch(truths_of([REAL, other]), [[0], [0]])
    assert len(grade_batch(truths_of([REAL, other]), [[0], [0]], TRIAGE_3)) == 2
    for row, rubric in enumerate((TRIAGE_3, RECORDED)):
        assert grade_batch(truths_of([REAL, other]).take([row]), [[0]]).rubric is rubric
